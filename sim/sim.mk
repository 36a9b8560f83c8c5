# sim/: the engine. What a GPU is, it never knows.
libfanout_core_la_SOURCES += \
	sim/event.h \
	sim/log.h \
	sim/param.h \
	sim/report.c \
	sim/report.h \
	sim/report_csv.c \
	sim/report_html.c \
	sim/report_json.c \
	sim/report_parts.h \
	sim/report_text.c \
	sim/rng.h \
	sim/sim.h \
	sim/simtime.h \
	sim/stat.h \
	sim/nearest.c \
	sim/nearest.h \
	sim/size.c \
	sim/size.h
