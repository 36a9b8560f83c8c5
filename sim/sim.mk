# sim/: the engine. What a GPU is, it never knows.
libfanout_core_la_SOURCES += \
	sim/engine/background.c \
	sim/engine/calendar.c \
	sim/engine/calendar.h \
	sim/engine/domain.c \
	sim/engine/drain.c \
	sim/engine/domain.h \
	sim/engine/event.h \
	sim/engine/foreign.h \
	sim/engine/internal.h \
	sim/engine/kernel.h \
	sim/engine/kernel_systemc.cpp \
	sim/engine/prefetch.h \
	sim/engine/process.c \
	sim/engine/sim.c \
	sim/engine/sim.h \
	sim/engine/simtime.h \
	sim/engine/stack.c \
	sim/engine/stack.h \
	sim/engine/trace.c \
	sim/engine/trace.h \
	sim/engine/systemc_calendar.c \
	sim/engine/tlm_port.cpp \
	sim/engine/tlm_port.h \
	sim/log.c \
	sim/hist.h \
	sim/host_clock.h \
	sim/log.h \
	sim/param/ini.c \
	sim/param/internal.h \
	sim/param/nearest.c \
	sim/param/nearest.h \
	sim/param/param.c \
	sim/param/param.h \
	sim/param/size.c \
	sim/param/size.h \
	sim/param/value.c \
	sim/param/whole.c \
	sim/param/whole.h \
	sim/report/chart.c \
	sim/report/chart_axis.c \
	sim/report/chart_parts.h \
	sim/report/csv.c \
	sim/report/file.c \
	sim/report/figures.h \
	sim/report/file.h \
	sim/report/format.c \
	sim/report/gtkw.c \
	sim/report/gtkw.h \
	sim/report/histogram.c \
	sim/report/html.c \
	sim/report/json.c \
	sim/report/markup.c \
	sim/report/json.h \
	sim/report/parts.h \
	sim/report/report.c \
	sim/report/report.h \
	sim/report/scene.c \
	sim/report/scene.h \
	sim/report/stack.c \
	sim/report/stream.c \
	sim/report/stream.h \
	sim/report/table.c \
	sim/report/text.c \
	sim/report/timeline.c \
	sim/report/timeline.h \
	sim/report/vcd.c \
	sim/report/vcd.h \
	sim/report/words.c \
	sim/report/words.h \
	sim/rng.c \
	sim/ring.h \
	sim/rng.h \
	sim/stat.c \
	sim/stat.h
# The page's style and scripts, as a resource.
nodist_libfanout_core_la_SOURCES = sim/report/page.gen.c sim/report/page.gen.h
page_parts = sim/report/page.gresource.xml sim/report/page.css sim/report/map.js sim/report/scene.js
EXTRA_DIST += $(page_parts)
BUILT_SOURCES += sim/report/page.gen.c sim/report/page.gen.h
sim/report/html.lo: sim/report/page.gen.h
CLEANFILES += sim/report/page.gen.c sim/report/page.gen.h
sim/report/page.gen.c: $(page_parts)
	$(AM_V_GEN)$(MKDIR_P) sim/report && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-source \
	  --internal --c-name page --sourcedir=$(srcdir)/sim/report $(srcdir)/sim/report/page.gresource.xml
sim/report/page.gen.h: $(page_parts)
	$(AM_V_GEN)$(MKDIR_P) sim/report && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-header \
	  --internal --c-name page --sourcedir=$(srcdir)/sim/report $(srcdir)/sim/report/page.gresource.xml
EXTRA_DIST += sim/README.md
