# device/kernel/: kernels of PTX on simulated SMs.
libfanout_core_la_SOURCES += \
	device/kernel/account.c \
	device/kernel/block.c \
	device/kernel/bulk.c \
	device/kernel/code_cache.c \
	device/kernel/cost.c \
	device/kernel/dependents.c \
	device/kernel/fabric.c \
	device/kernel/fit.c \
	device/kernel/heap.c \
	device/kernel/host.c \
	device/kernel/internal.h \
	device/kernel/issue.c \
	device/kernel/kernel.h \
	device/kernel/l1.c \
	device/kernel/launch.c \
	device/kernel/load.c \
	device/kernel/poll.c \
	device/kernel/poll_state.h \
	device/kernel/poll_watch.c \
	device/kernel/round.c \
	device/kernel/still.c \
	device/kernel/trace.c \
	device/kernel/trace.h \
	device/kernel/warp.c
