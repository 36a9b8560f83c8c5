# api/: files of this folder
libfanout_core_la_SOURCES += \
	api/bench.c \
	api/bench.h \
	api/bench_coll.c \
	api/bench_copy.c \
	api/bench_flow.c \
	api/bench_foot.c \
	api/bench_latency.c \
	api/bench_loaded.c \
	api/bench_multicast.c \
	api/bench_world.c \
	api/bench_world.h \
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
	api/traffic.h \
	api/validate.c \
	api/validate.h \
	api/validate_coll.c \
	api/validate_csv.c \
	api/validate_summary.c
