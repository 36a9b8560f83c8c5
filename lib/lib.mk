# lib/: libfanout, the simulator as a C library for other people's programs.
lib_LTLIBRARIES += libfanout.la
libfanout_la_SOURCES = \
	lib/collective.c \
	lib/guard.c \
	lib/include/fanout/sim.h \
	lib/internal.h \
	lib/job.c \
	lib/memory.c \
	lib/message.c \
	lib/place.c \
	lib/results.c \
	lib/simulator.c
# Of the core what is needed, and no more, as a program has it; libtool would take a convenience library whole.
libfanout_la_LIBADD = .libs/libfanout_core.a $(libfanout_core_la_LIBADD)
libfanout_la_DEPENDENCIES = libfanout_core.la $(srcdir)/lib/fanout.map
libfanout_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,--version-script=$(srcdir)/lib/fanout.map
fanoutinclude_HEADERS += lib/include/fanout/sim.h
EXTRA_DIST += lib/README.md lib/fanout.map lib/libfanout.pc.in lib/FanoutConfig.cmake.in
