# api/: files of this folder
libfanout_core_la_SOURCES += \
	api/coll.h \
	api/device.c \
	api/device.h \
	api/device_loop.c \
	api/device_op.c \
	api/include/fanout/device.h \
	api/ptx.c \
	api/ptx.h
