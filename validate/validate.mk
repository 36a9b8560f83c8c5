# validate/: rows of measurements, simulated and compared.
libfanout_core_la_SOURCES += \
	validate/collective.c \
	validate/collective.h \
	validate/csv.c \
	validate/summary.c \
	validate/timing.c \
	validate/validate.c \
	validate/validate.h

# Every shared reference file, simulated and compared; fails when a group is worse than recorded.
VALIDATE_FLAGS =
.PHONY: validate
validate: fanout
	shared="$${FANOUT_SHARED:-$(abs_top_srcdir)/../shared}/reference"; \
	./fanout validate $(VALIDATE_FLAGS) --record $(top_srcdir)/tests/validate/validate.recorded \
	  --html validate.html "$$shared"/h200/bandwidth.csv "$$shared"/h200/contention.csv \
	  "$$shared"/h200/mixed.csv "$$shared"/h200/footprint.csv "$$shared"/h200/latency.csv \
	  "$$shared"/h200/loaded_latency.csv "$$shared"/h200/collectives.csv "$$shared"/h200/nccl.csv \
	  "$$shared"/published/validate.csv
CLEANFILES += validate.html
