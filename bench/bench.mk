# bench/: programs that measure; none runs in `make check`.
EXTRA_PROGRAMS += bench/bench_engine
bench_bench_engine_SOURCES = bench/bench_engine.c
bench_bench_engine_LDADD = libfanout_core.la

.PHONY: bench
bench: bench/bench_engine
	bench/bench_engine
CLEANFILES += bench/bench_engine
