# sim/: the engine. What a GPU is, it never knows.
libfanout_core_la_SOURCES += \
	sim/simtime.h \
	sim/nearest.c \
	sim/nearest.h \
	sim/size.c \
	sim/size.h
