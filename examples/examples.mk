# examples/: files of this folder

# Built only when asked for: make examples/tlm_dma
EXTRA_PROGRAMS += examples/tlm_dma
examples_tlm_dma_SOURCES = examples/tlm_dma.cpp
examples_tlm_dma_LDADD = libfanout_core.la
CLEANFILES += examples/tlm_dma
# examples/: programs that a user would write and a newcomer would copy. Each is plain driver API plus
# device programs, linked with Fanout's libcuda; each checks its result and is run by `make check`.
example_programs = \
	examples/flag_barrier \
	examples/ll_push \
	examples/multicast_store \
	examples/switch_reduction \
	examples/twoshot_allreduce
noinst_PROGRAMS += $(example_programs)
TESTS += $(example_programs)

example_team = examples/team.c examples/team.h
examples_flag_barrier_SOURCES = examples/flag_barrier.c $(example_team)
examples_flag_barrier_LDADD = libcuda.la
examples_ll_push_SOURCES = examples/ll_push.c $(example_team)
examples_ll_push_LDADD = libcuda.la
examples_multicast_store_SOURCES = examples/multicast_store.c $(example_team)
examples_multicast_store_LDADD = libcuda.la
examples_switch_reduction_SOURCES = examples/switch_reduction.c $(example_team)
examples_switch_reduction_LDADD = libcuda.la
examples_twoshot_allreduce_SOURCES = examples/twoshot_allreduce.c $(example_team)
examples_twoshot_allreduce_LDADD = libcuda.la
# examples/: programs as a user would write them; run them with `fanout exec`.
noinst_PROGRAMS += examples/multicast_allreduce
examples_multicast_allreduce_SOURCES = examples/multicast_allreduce.c
examples_multicast_allreduce_LDADD = libcuda.la
# Two senders to one GPU, as threads and as processes; tests/api/test_incast.sh runs it.
noinst_PROGRAMS += examples/incast
examples_incast_SOURCES = examples/incast.c
examples_incast_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/api/include/fanout
examples_incast_LDADD = libcuda.la -lpthread
# One process for each GPU; tests/api/test_cuda_ranks.sh runs it.
noinst_PROGRAMS += examples/multicast_ranks
examples_multicast_ranks_SOURCES = examples/multicast_ranks.c
examples_multicast_ranks_LDADD = libcuda.la
EXTRA_DIST += examples/job.trace examples/tags.ini examples/policy.c examples/tlm_switch.cpp examples/ideas/merge.ini \
	examples/ideas/merge-least.ini examples/ideas/named.ini examples/ideas/exchange.ini examples/ideas/plots.sh
# The simulator as a library, beside the driver's: docs/library.md has what it prints.
noinst_PROGRAMS += examples/library
examples_library_SOURCES = examples/library.c
examples_library_LDADD = libfanout.la
