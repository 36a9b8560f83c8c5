# api/: files of this folder
libfanout_core_la_SOURCES += \
	api/ptx.c \
	api/ptx.h
