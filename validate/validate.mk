# validate/: rows of measurements, simulated and compared.
libfanout_core_la_SOURCES += \
	validate/collective.c \
	validate/collective.h \
	validate/csv.c \
	validate/fidelity.c \
	validate/journal.c \
	validate/error_model.c \
	validate/error_model.h \
	validate/kriging.c \
	validate/kriging.h \
	validate/planner.c \
	validate/summary.c \
	validate/timing.c \
	validate/validate.c \
	validate/validate.h

# What the model was off on published rows, for the uncertainties of `fanout table`; `make fidelity` writes it anew.
nodist_libfanout_core_la_SOURCES += validate/errors.gen.c validate/errors.gen.h
BUILT_SOURCES += validate/errors.gen.c validate/errors.gen.h
CLEANFILES += validate/errors.gen.c validate/errors.gen.h
ERRORS = validate/errors.gresource.xml validate/reference/errors.csv
EXTRA_DIST += $(ERRORS)
validate/error_model.lo: validate/errors.gen.h
validate/errors.gen.c: $(ERRORS)
	$(AM_V_GEN)$(MKDIR_P) validate && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-source \
	  --internal --c-name errors --sourcedir=$(srcdir)/validate/reference $(srcdir)/validate/errors.gresource.xml
validate/errors.gen.h: $(ERRORS)
	$(AM_V_GEN)$(MKDIR_P) validate && $(GLIB_COMPILE_RESOURCES) --target=$@ --generate-header \
	  --internal --c-name errors --sourcedir=$(srcdir)/validate/reference $(srcdir)/validate/errors.gresource.xml

# The reference tables that come with Fanout, in the order of the README's table.
REFERENCE = \
	validate/reference/h200/bandwidth.csv \
	validate/reference/h200/contention.csv \
	validate/reference/h200/mixed.csv \
	validate/reference/h200/footprint.csv \
	validate/reference/h200/latency.csv \
	validate/reference/h200/loaded_latency.csv \
	validate/reference/h200/collectives.csv \
	validate/reference/h200/nccl.csv \
	validate/reference/published/validate.csv
# Tables that nothing was calibrated on when they came; half of their rows may be since (docs/fidelity.md).
FIDELITY = \
	validate/reference/published/aic.csv \
	validate/reference/published/nvl72.csv \
	validate/reference/published/nccl_versions.csv \
	validate/reference/published/nvl72_wide.csv
EXTRA_DIST += $(REFERENCE) $(FIDELITY) validate/reference/README.md validate/reference/neighbours.py \
	validate/reference/witness.py

# Every row of them simulated and compared; fails when a group is worse than recorded.
VALIDATE_FLAGS =
.PHONY: validate
validate: fanout
	./fanout validate $(VALIDATE_FLAGS) --record $(top_srcdir)/tests/validate/validate.recorded \
	  --html validate.html $(REFERENCE:%=$(top_srcdir)/%)

# Published rows, large ones as flows: the table of targets, and what each version of NCCL is worth. `make fidelity`
# simulates FIDELITY_SAMPLE rows at most of each group, of the half that judges, and fails when a group is worse than
# recorded; `make fidelity-all` all rows of both halves, in more than an hour of two cores. What that leaves in
# fidelity-errors.csv becomes validate/reference/errors.csv when the model has changed.
FIDELITY_FLAGS =
FIDELITY_SAMPLE = 20
FIDELITY_RUN = ./fanout validate --fidelity auto --crossings 200000 $(FIDELITY_FLAGS) --html fidelity.html
FIDELITY_ROWS = $(top_srcdir)/validate/reference/published/validate.csv $(FIDELITY:%=$(top_srcdir)/%)
.PHONY: fidelity fidelity-all
fidelity: fanout
	$(FIDELITY_RUN) --half judge --sample $(FIDELITY_SAMPLE) \
	  --record $(top_srcdir)/tests/validate/fidelity_drawn.recorded $(FIDELITY_ROWS)
fidelity-all: fanout
	$(FIDELITY_RUN) --errors fidelity-errors.csv --record $(top_srcdir)/tests/validate/fidelity.recorded \
	  $(FIDELITY_ROWS)
CLEANFILES += validate.html fidelity.html fidelity-errors.csv
EXTRA_DIST += validate/README.md
