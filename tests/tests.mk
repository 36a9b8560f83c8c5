# tests/: CMocka programs, one per file under test.
TESTS += $(check_PROGRAMS)
TEST_LDADD = libfanout_core.la $(CMOCKA_LIBS)
LDADD = $(TEST_LDADD)
EXTRA_DIST += tests/summary.sh
noinst_HEADERS = tests/cuda_bad.h tests/cuda_test.h tests/link_ends.h tests/model_test.h tests/test.h tests/trace_test.h tests/warp_test.h

# Tests that are scripts: exit 0 passed, 77 skipped, anything else failed.
dist_check_SCRIPTS = \
	tests/golden.sh \
	tests/test_cli.sh \
	tests/test_cli_coll.sh \
	tests/test_cuda_abi.sh \
	tests/test_cuda_bindings.sh \
	tests/test_cuda_clients.sh \
	tests/test_cuda_example.sh \
	tests/test_cuda_probe.sh \
	tests/test_cuda_ranks.sh \
	tests/test_cuda_report.sh \
	tests/test_cores.sh \
	tests/test_globals.sh \
	tests/test_replay.sh \
	tests/test_summary.sh \
	tests/test_validate.sh \
	tests/tidy.sh \
	tests/tidy_selftest.sh
TESTS += $(dist_check_SCRIPTS)
EXTRA_DIST += tests/cli_test.sh tests/tidy.allow tests/validate.recorded

# Flow against packet fidelity, every collective.
.PHONY: check-flow
check-flow: tests/test_flow
	FANOUT_FLOW_ALL=1 tests/test_flow

# How fast the simulator is: alone, when nothing else runs.
EXTRA_DIST += tests/test_speed.sh tests/speed.recorded
.PHONY: check-speed
speed_test = tests/test_speed.sh
check-speed: fanout
	@$(MKDIR_P) tests; $(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/build-aux/test-driver --test-name $(speed_test) \
	  --log-file $(speed_test).log --trs-file $(speed_test).trs --color-tests no --expect-failure no -- \
	  $(SHELL) $(top_srcdir)/$(speed_test); grep -q '^:test-result: PASS' $(speed_test).trs || \
	  { cat $(speed_test).log; exit 1; }
CLEANFILES += $(speed_test).log $(speed_test).trs
EXTRA_DIST += tests/cuda_errors.list tests/cuda_undefined.c

# Tests find the shared reference files here, and skip with a message where there are none.
AM_TESTS_ENVIRONMENT = FANOUT_SHARED="$${FANOUT_SHARED:-$(abs_top_srcdir)/../shared}"; \
	export FANOUT_SHARED; FANOUT=$(abs_top_builddir)/fanout; export FANOUT; \
	TOP_SRCDIR=$(abs_top_srcdir); export TOP_SRCDIR; \
	CC='$(CC)'; export CC; SANITIZE='$(enable_sanitize)'; export SANITIZE;

# One line for the whole of the last `make check`.
check-summary:
	@$(SHELL) $(top_srcdir)/tests/summary.sh $(TEST_LOGS) $$(ls $(speed_test).log 2>/dev/null)

# The CMocka programs, sorted, one a line: tests/test_x is made of tests/test_x.c and linked with $(LDADD)
# unless it says otherwise below.
check_PROGRAMS += \
	tests/fuzz_trace \
	tests/test_analytic \
	tests/test_calendars \
	tests/test_coll \
	tests/test_conservation \
	tests/test_copy \
	tests/test_cuda_bad_input \
	tests/test_cuda_bad_memory \
	tests/test_cuda_bad_work \
	tests/test_cuda_errors \
	tests/test_cuda_rules_1 \
	tests/test_cuda_rules_2 \
	tests/test_cuda_rules_3 \
	tests/test_cuda_rules_4 \
	tests/test_cuda_rules_5 \
	tests/test_cuda_streams \
	tests/test_device \
	tests/test_domains \
	tests/test_event \
	tests/test_fault \
	tests/test_gpu \
	tests/test_guest \
	tests/test_flow \
	tests/test_hash \
	tests/test_hbm \
	tests/test_inbox \
	tests/test_link \
	tests/test_link_lane \
	tests/test_link_log \
	tests/test_load_share \
	tests/test_log \
	tests/test_loop \
	tests/test_mcobject \
	tests/test_mctable \
	tests/test_memory \
	tests/test_nearest \
	tests/test_numeric \
	tests/test_options \
	tests/test_param \
	tests/test_poll \
	tests/test_device_sm \
	tests/test_port_hold \
	tests/test_port_share \
	tests/test_preset \
	tests/test_process \
	tests/test_ptx \
	tests/test_reduction \
	tests/test_report \
	tests/test_rng \
	tests/test_sim \
	tests/test_size \
	tests/test_sm \
	tests/test_sm_play \
	tests/test_stat \
	tests/test_switch \
	tests/test_timeline \
	tests/test_told \
	tests/test_txn \
	tests/test_tlm_port \
	tests/test_trace_chakra \
	tests/test_trace_convert \
	tests/test_trace_goal \
	tests/test_trace_kineto \
	tests/test_trace_match \
	tests/test_trace_nccl_log \
	tests/test_trace_plan \
	tests/test_trace_pytorch_et \
	tests/test_trace_replay \
	tests/test_trace_simai \
	tests/test_trace_text \
	tests/test_train \
	tests/test_two_runs \
	tests/test_usage \
	tests/test_vas \
	tests/test_vcd \
	tests/test_walk \
	tests/test_warp

tests_fuzz_trace_SOURCES = tests/fuzz_trace.c
tests_test_options_SOURCES = tests/test_options.c cli/options.c
tests_test_tlm_port_SOURCES = tests/test_tlm_port.cpp

# The CUDA front end: against the shared library, as its users meet it.
CUDA_TEST_LDADD = libcuda.la $(GLIB_LIBS) $(CMOCKA_LIBS)
tests_test_cuda_bad_input_LDADD = $(CUDA_TEST_LDADD)
tests_test_cuda_bad_memory_LDADD = $(CUDA_TEST_LDADD)
tests_test_cuda_bad_work_LDADD = $(CUDA_TEST_LDADD)
tests_test_cuda_errors_LDADD = $(CUDA_TEST_LDADD)
tests_test_cuda_rules_1_LDADD = $(CUDA_TEST_LDADD)
tests_test_cuda_rules_2_LDADD = $(CUDA_TEST_LDADD)
tests_test_cuda_rules_3_LDADD = $(CUDA_TEST_LDADD)
tests_test_cuda_rules_4_LDADD = $(CUDA_TEST_LDADD)
tests_test_cuda_rules_5_LDADD = $(CUDA_TEST_LDADD)
tests_test_cuda_streams_LDADD = $(CUDA_TEST_LDADD)

# What fanout prints, byte for byte; golden-update rewrites the files after a change that was meant.
GOLDEN = \
	tests/golden/walk-atomic \
	tests/golden/walk-csv \
	tests/golden/walk-json \
	tests/golden/walk-load \
	tests/golden/walk-multimem.ld_reduce \
	tests/golden/walk-multimem.red \
	tests/golden/walk-multimem.st \
	tests/golden/walk-store
EXTRA_DIST += $(GOLDEN:=.args) $(GOLDEN:=.expected)
.PHONY: golden-update
golden-update: fanout
	@cd $(srcdir) && UPDATE=1 TOP_SRCDIR=. FANOUT=$(abs_top_builddir)/fanout $(SHELL) tests/golden.sh
EXTRA_DIST += \
	tests/clients/bindings.py \
	tests/clients/client.h \
	tests/clients/cutile_rs.c \
	tests/clients/flashinfer.c \
	tests/clients/fuser.c \
	tests/clients/mscclpp.c \
	tests/clients/nccl.c \
	tests/clients/nvloom.c \
	tests/clients/nvshmem.c \
	tests/clients/pytorch_symm_mem.c \
	tests/clients/thunderkittens.c \
	tests/clients/torchcomms.c \
	tests/clients/ucc.c

check_PROGRAMS += tests/test_cuda_launch
tests_test_cuda_launch_SOURCES = tests/test_cuda_launch.c tests/cuda_test.h tests/test.h
tests_test_cuda_launch_LDADD = $(CUDA_TEST_LDADD)

# What tests/test_cuda_bindings.sh installs once for a build folder.
distclean-local:
	rm -rf cuda-bindings-venv tsan asan

# What has threads alone, the CUDA front end and several domains; in a sanitized build too. `make tsan` and `make asan`
# make one from a copy of the sources, since a source folder that is configured cannot be built elsewhere.
.PHONY: check-cuda tsan asan
check-cuda: $(BUILT_SOURCES)
	@programs=`echo $(check_PROGRAMS) | tr ' ' '\n' | grep -E '^tests/test_(cuda_|domains)' | tr '\n' ' '`; \
	$(MAKE) $(AM_MAKEFLAGS) $$programs && $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$$programs"
SANITIZED = rm -rf $@ && $(MAKE) $(AM_MAKEFLAGS) distdir distdir=$@ && cd $@ && \
	FANOUT_SHARED=$${FANOUT_SHARED:-$(abs_top_srcdir)/../shared} && export FANOUT_SHARED && \
	./configure --quiet
tsan:
	$(SANITIZED) --enable-sanitize=thread && $(MAKE) $(AM_MAKEFLAGS) check-cuda
asan:
	$(SANITIZED) --enable-sanitize && $(MAKE) $(AM_MAKEFLAGS) check-cuda
