# bench/: how fast and how right the simulator is; nothing here runs in `make check`.

# The simulator's own speed, beside two yardsticks in the same process: as text, and as JSON in bench.json; then every
# figure that has a target, with the target: minutes.
.PHONY: bench
bench: fanout
	./fanout bench speed --format json >bench.json
	./fanout bench speed --record $(top_srcdir)/tests/speed.recorded
	./fanout bench targets
CLEANFILES += bench.json

# The cost of a hop from 2 to 256 GPUs and from 1 MiB to 1 GiB: minutes.
.PHONY: bench-growth
bench-growth: fanout
	./fanout bench growth --runs 1 --html growth.html
CLEANFILES += growth.html

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
EXTRA_DIST += bench/plot_growth.py
