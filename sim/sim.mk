# sim/: the engine. What a GPU is, it never knows.
libfanout_core_la_SOURCES += \
	sim/calendar.c \
	sim/calendar.h \
	sim/domain.c \
	sim/domain.h \
	sim/event.h sim/fetch.h \
	sim/foreign.h \
	sim/kernel.h \
	sim/kernel_systemc.cpp \
	sim/log.c \
	sim/log.h \
	sim/nearest.c \
	sim/nearest.h \
	sim/param.c \
	sim/param.h \
	sim/param_ini.c \
	sim/param_internal.h \
	sim/param_value.c \
	sim/process.c \
	sim/reference.c \
	sim/report.c \
	sim/report.h \
	sim/report_chart.c \
	sim/report_csv.c \
	sim/report_html.c \
	sim/report_json.c \
	sim/report_parts.h \
	sim/report_text.c \
	sim/rng.c \
	sim/rng.h \
	sim/sim.c \
	sim/sim.h \
	sim/sim_internal.h \
	sim/simtime.h \
	sim/size.c \
	sim/size.h \
	sim/stack.c \
	sim/stack.h \
	sim/stat.c \
	sim/stat.h \
	sim/timeline.c \
	sim/timeline.h \
	sim/tlm_port.cpp \
	sim/tlm_port.h \
	sim/vcd.c \
	sim/vcd.h
