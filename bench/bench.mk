# bench/: programs that measure; none runs in `make check`.
EXTRA_PROGRAMS += bench/bench_engine
bench_bench_engine_SOURCES = bench/bench_engine.c
bench_bench_engine_LDADD = libfanout_core.la

EXTRA_PROGRAMS += bench/bench_fabric
bench_bench_fabric_SOURCES = bench/bench_fabric.c
bench_bench_fabric_LDADD = libfanout_core.la

.PHONY: bench
bench: bench/bench_engine bench/bench_fabric
	bench/bench_engine
	bench/bench_fabric
CLEANFILES += bench/bench_engine bench/bench_fabric
