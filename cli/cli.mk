# cli/: the fanout command. A verb is one file here and one line in cli/verb/verbs.h.
bin_PROGRAMS += fanout
fanout_SOURCES = \
	cli/advise_args.c \
	cli/advise_args.h \
	cli/coll_args.c \
	cli/coll_args.h \
	cli/coll_auto.c \
	cli/coll_auto.h \
	cli/coll_table.c \
	cli/coll_views.c \
	cli/coll_table.h \
	cli/coll_views.h \
	cli/frame_table.c \
	cli/frame_table.h \
	cli/libraries.c \
	cli/libraries.h \
	cli/command.c \
	cli/command.h \
	cli/grid.c \
	cli/grid.h \
	cli/interrupt.c \
	cli/interrupt.h \
	cli/live.c \
	cli/live.h \
	cli/machine.c \
	cli/machine.h \
	cli/main.c \
	cli/options.c \
	cli/options.h \
	cli/options_check.c \
	cli/pace.c \
	cli/pace.h \
	cli/monitor/args.c \
	cli/monitor/http_functions.h \
	cli/monitor/internal.h \
	cli/monitor/monitor.c \
	cli/monitor/monitor.h \
	cli/monitor/server.c \
	cli/monitor/status.c \
	cli/replay_args.c \
	cli/replay_args.h \
	cli/replay_live.c \
	cli/replay_live.h \
	cli/progress.c \
	cli/progress.h \
	cli/replay_place.c \
	cli/replay_place.h \
	cli/replay_views.c \
	cli/replay_views.h \
	cli/reference/about.c \
	cli/reference/about.h \
	cli/reference/choices.c \
	cli/reference/complete.c \
	cli/reference/internal.h \
	cli/reference/list.c \
	cli/reference/manual.c \
	cli/reference/model.c \
	cli/reference/reference.c \
	cli/reference/reference.h \
	cli/run.c \
	cli/run.h \
	cli/samples.c \
	cli/samples.h \
	cli/samples_check.c \
	cli/self/cores.c \
	cli/self/cost.c \
	cli/self/cost.h \
	cli/self/kernels.c \
	cli/self/sides.c \
	cli/self/speed.c \
	cli/self/speed.h \
	cli/self/targets.c \
	cli/self/yardstick.c \
	cli/system.c \
	cli/system.h \
	cli/table_args.c \
	cli/table_args.h \
	cli/table_rows.c \
	cli/table_rows.h \
	cli/trace_args.c \
	cli/trace_args.h \
	cli/validate_table.c \
	cli/validate_table.h \
	cli/verb/advise.c \
	cli/walk_timeline.c \
	cli/walk_timeline.h \
	cli/verb/bench.c \
	cli/verb/coll.c \
	cli/verb/compare.c \
	cli/verb/convert.c \
	cli/verb/doctor.c \
	cli/verb/exec.c \
	cli/verb/plot.c \
	cli/verb/ptx.c \
	cli/verb/replay.c \
	cli/verb/sweep.c \
	cli/verb/systems.c \
	cli/verb/table.c \
	cli/verb/validate.c \
	cli/verb/verb.h \
	cli/verb/verbs.h \
	cli/verb/walk.c
fanout_LDADD = libfanout_explore.la libfanout_core.la -ldl
# The page of --monitor, as a resource.
nodist_fanout_SOURCES = cli/monitor/page.gen.c cli/monitor/page.gen.h
monitor_parts = cli/monitor/page.gresource.xml cli/monitor/page.html
EXTRA_DIST += $(monitor_parts)
BUILT_SOURCES += cli/monitor/page.gen.c cli/monitor/page.gen.h
CLEANFILES += cli/monitor/page.gen.c cli/monitor/page.gen.h
cli/monitor/server.$(OBJEXT): cli/monitor/page.gen.h
cli/monitor/page.gen.c: $(monitor_parts)
	$(AM_V_GEN)$(MKDIR_P) cli/monitor && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-source \
	  --internal --c-name monitor --sourcedir=$(srcdir)/cli/monitor $(srcdir)/cli/monitor/page.gresource.xml
cli/monitor/page.gen.h: $(monitor_parts)
	$(AM_V_GEN)$(MKDIR_P) cli/monitor && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-header \
	  --internal --c-name monitor --sourcedir=$(srcdir)/cli/monitor $(srcdir)/cli/monitor/page.gresource.xml

# What README.md shows: the first result, in one minute.
EXTRA_DIST += examples/demo.sh
demo: fanout
	@$(SHELL) $(srcdir)/examples/demo.sh ./fanout
