# coll/: collectives on device programs; coll/algo/ has one algorithm a file.
libfanout_core_la_SOURCES += \
	coll/algo/barrier.c \
	coll/algo/direct.c \
	coll/algo/endpoint.c \
	coll/algo/lamport.c \
	coll/algo/moe.c \
	coll/algo/nvls.c \
	coll/algo/nvls_buffered.c \
	coll/algo/p2p.c \
	coll/algo/primitives.c \
	coll/algo/primitives.h \
	coll/algo/ring.c \
	coll/algo/symmetric.c \
	coll/algo/symmetric_cost.c \
	coll/algo/tree.c \
	coll/algorithms.h \
	coll/best.c \
	coll/buffer.c \
	coll/check.c \
	coll/choice.c \
	coll/coll.c \
	coll/coll.h \
	coll/flow.c \
	coll/group.c \
	coll/internal.h \
	coll/library.c \
	coll/limits.c \
	coll/nccl.c \
	coll/plan.c \
	coll/room.c \
	coll/run.c \
	coll/table.c \
	coll/tune.c \
	coll/words.c \
	coll/explain.c
EXTRA_DIST += coll/README.md

# NCCL's versions: a data file for each that changed something, in ascending order.
nodist_libfanout_core_la_SOURCES += coll/nccl.gen.c
BUILT_SOURCES += coll/nccl.gen.c
CLEANFILES += coll/nccl.gen.c
NCCL_VERSIONS = \
	coll/nccl/2.23.ini \
	coll/nccl/2.25.ini \
	coll/nccl/2.27.ini \
	coll/nccl/2.28.ini \
	coll/nccl/2.29.ini \
	coll/nccl/2.29.7.ini
EXTRA_DIST += $(NCCL_VERSIONS) coll/nccl/nccl.awk
coll/nccl.gen.c: coll/nccl/nccl.awk $(NCCL_VERSIONS)
	$(AM_V_GEN)$(MKDIR_P) coll && $(AWK) -f $(srcdir)/coll/nccl/nccl.awk $(NCCL_VERSIONS:%=$(srcdir)/%) >$@.part && \
	  mv $@.part $@
