# model/: the hardware, in the order a packet meets it.
libfanout_core_la_SOURCES += \
	model/mcobject.c \
	model/mcobject.h \
	model/memory.c \
	model/memory.h \
	model/numeric.c \
	model/numeric.h \
	model/numeric_convert.c \
	model/numeric_convert.h \
	model/vas.c \
	model/vas.h
