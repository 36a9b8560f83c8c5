# observe/: what watches a run and never changes it: statistics in time, one packet told in words.
libfanout_core_la_SOURCES += \
	observe/recording.c \
	observe/recording.h \
	observe/series/causes.c \
	observe/series/ctas.c \
	observe/series/map.c \
	observe/series/packets.c \
	observe/series/points.c \
	observe/series/points.h \
	observe/series/roles.c \
	observe/series/roles.h \
	observe/series/stats_file.c \
	observe/series/stats_file.h \
	observe/series/sum.c \
	observe/series/sum.h \
	observe/series/tables.c \
	observe/series/tables.h \
	observe/series/tracks.c \
	observe/series/tracks.h \
	observe/series/tracks_parts.h \
	observe/series/use.h \
	observe/series/watch.c \
	observe/series/watch.h \
	observe/series/latency_breakdown.c \
	observe/series/latency_breakdown.h \
	observe/series/latency_breakdown_find.c \
	observe/series/latency_breakdown_parts.h \
	observe/series/latency_breakdown_tables.c \
	observe/walk/film.c \
	observe/walk/film.h \
	observe/walk/internal.h \
	observe/walk/picture.c \
	observe/walk/recorder.c \
	observe/walk/recorder.h \
	observe/walk/recorder_parts.h \
	observe/walk/recorder_switch.c \
	observe/walk/steps.c \
	observe/walk/text.c \
	observe/walk/wait.c \
	observe/walk/walk.c \
	observe/walk/walk.h
EXTRA_DIST += observe/README.md
