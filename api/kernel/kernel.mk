# api/kernel/: kernels of PTX on simulated SMs.
libfanout_core_la_SOURCES += \
	api/kernel/account.c \
	api/kernel/bulk.c \
	api/kernel/code_cache.c \
	api/kernel/cost.c \
	api/kernel/dependents.c \
	api/kernel/heap.c \
	api/kernel/host.c \
	api/kernel/internal.h \
	api/kernel/issue.c \
	api/kernel/kernel.h \
	api/kernel/l1.c \
	api/kernel/launch.c \
	api/kernel/poll.c \
	api/kernel/trace.c \
	api/kernel/trace.h \
	api/kernel/warp.c
