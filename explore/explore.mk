# explore/: sweeps, their databases, comparison and plots. Not in the core: libcuda.so.1 needs no database.
noinst_LTLIBRARIES += libfanout_explore.la
libfanout_explore_la_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(MPI_CFLAGS)
libfanout_explore_la_LIBADD = $(SQLITE_LIBS) $(MPI_LIBS)
libfanout_explore_la_SOURCES = \
	explore/compare.c \
	explore/side.c \
	explore/side.h \
	explore/compare.h \
	explore/frame.c \
	explore/frame.h \
	explore/hub.c \
	explore/hub.h \
	explore/latin.c \
	explore/latin.h \
	explore/lines.c \
	explore/lines.h \
	explore/peer.c \
	explore/peer.h \
	explore/plot.c \
	explore/plot.h \
	explore/plot_draw.c \
	explore/plot_parts.h \
	explore/plot_script.c \
	explore/plot_script.h \
	explore/plot_series.c \
	explore/points.c \
	explore/points.h \
	explore/ranks.c \
	explore/ranks.h \
	explore/result.c \
	explore/result.h \
	explore/spec.c \
	explore/spec.h \
	explore/spec_load.c \
	explore/spec_parts.h \
	explore/spec_search.c \
	explore/sql.c \
	explore/sql.h \
	explore/store.c \
	explore/store.h \
	explore/store_finish.c \
	explore/store_parts.h \
	explore/store_write.c \
	explore/sweep.c \
	explore/sweep.h \
	explore/values.c \
	explore/values.h \
	explore/wire.c \
	explore/wire.h \
	explore/worker.c \
	explore/worker.h \
	explore/workload.c \
	explore/workload.h
EXTRA_DIST += examples/sweep.sbatch
EXTRA_DIST += examples/search/README.md examples/search/cheapest.sql examples/search/plots.sh \
	examples/search/nvswitch-8.ini examples/search/nvswitch-72.ini examples/search/nvswitch-8.db \
	examples/search/nvswitch-72.db examples/search/nvswitch-576.ini \
	examples/search/nvswitch-576.db examples/search/front-576.svg examples/search/front-8.svg \
	examples/search/front-72.svg \
	examples/search/tags-8.svg examples/search/tags-72.svg examples/search/tags-576.svg
EXTRA_DIST += explore/README.md
