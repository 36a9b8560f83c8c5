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

# Every shared reference file, simulated and compared; fails when a group is worse than recorded.
VALIDATE_FLAGS =
.PHONY: validate
validate: fanout
	shared="$${FANOUT_SHARED:-$(abs_top_srcdir)/../shared}/reference"; \
	./fanout validate $(VALIDATE_FLAGS) --record $(top_srcdir)/tests/validate.recorded \
	  --html validate.html "$$shared"/h200/bandwidth.csv "$$shared"/h200/contention.csv \
	  "$$shared"/h200/mixed.csv "$$shared"/h200/footprint.csv "$$shared"/h200/latency.csv \
	  "$$shared"/h200/loaded_latency.csv "$$shared"/h200/collectives.csv "$$shared"/h200/nccl.csv \
	  "$$shared"/published/validate.csv
CLEANFILES += validate.html
