# api/: files of this folder
libfanout_core_la_SOURCES += \
	api/coll.h \
	api/coll.c \
	api/coll.h \
	api/coll_barrier.c \
	api/coll_buffer.c \
	api/coll_check.c \
	api/coll_choice.c \
	api/coll_direct.c \
	api/coll_internal.h \
	api/coll_nvls.c \
	api/coll_prim.c \
	api/coll_prim.h \
	api/coll_ring.c \
	api/coll_table.c \
	api/coll_tree.c \
	api/device.c \
	api/device.h \
	api/device_ll.c \
	api/device_loop.c \
	api/device_op.c \
	api/include/fanout/device.h \
	api/ptx.c \
	api/ptx.h
libfanout_core_la_SOURCES += \
	api/traffic.c \
	api/traffic.h
