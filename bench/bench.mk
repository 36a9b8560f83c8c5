# bench/: micro-benchmarks and traffic on the model, and `make bench`: how fast the simulator is.
libfanout_core_la_SOURCES += \
	bench/bandwidth.c \
	bench/bandwidth.h \
	bench/bench.c \
	bench/bench.h \
	bench/collective.c \
	bench/contention.c \
	bench/copy.c \
	bench/footprint.c \
	bench/latency.c \
	bench/loaded_latency.c \
	bench/exchange.c \
	bench/shared_loads.c \
	bench/multicast.c \
	bench/nccl.c \
	bench/traffic.c \
	bench/traffic.h \
	bench/world.c \
	bench/world.h

# The simulator's own speed, beside two yardsticks in the same process: as text, and as JSON in bench.json; then every
# figure that has a target, with the target: minutes.
.PHONY: bench
bench: fanout
	./fanout bench speed --format json >bench.json
	./fanout bench speed
	./fanout bench targets
CLEANFILES += bench.json

# The cost of a hop from 2 to 256 GPUs and from 1 MiB to 1 GiB: minutes.
.PHONY: bench-growth
bench-growth: fanout
	./fanout bench growth --runs 1 --html growth.html
CLEANFILES += growth.html

EXTRA_DIST += bench/plot_growth.py
EXTRA_DIST += bench/README.md
