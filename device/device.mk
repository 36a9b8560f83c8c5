# device/: device programs on the model (ld, st, red, atom, multimem.*), bulk loops as flows, kernels of PTX.
libfanout_core_la_SOURCES += \
	device/calls.c \
	device/calls.h \
	device/check.c \
	device/device.h \
	device/flow/cost.c \
	device/flow/cost.h \
	device/flow/cost_hbm.c \
	device/flow/loop_flow.c \
	device/flow/queue_share.c \
	device/flow/queue_share.h \
	device/flow/sm_share.c \
	device/flow/sm_share.h \
	device/launch.c \
	device/launch_time.c \
	device/launch_time.h \
	device/ll.c \
	device/ll_exchange.c \
	device/loop.c \
	device/operations.c \
	device/poll.c \
	device/fabric_stream.c \
	device/fabric_stream.h \
	device/queue.c \
	device/registers.c
EXTRA_DIST += device/README.md
