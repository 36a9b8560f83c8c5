# tests/: CMocka programs, one per file under test, in folders like those of the sources.
TESTS += $(check_PROGRAMS)
TEST_LDADD = libfanout_core.la $(CMOCKA_LIBS)
LDADD = $(TEST_LDADD)
EXTRA_DIST += tests/named.sh tests/cli/mistakes.txt tests/cli/columns.list tests/cli/columns.sh tests/model/rows.list
EXTRA_DIST += tests/ptx/fabric_forms.py tests/ptx/fabric_forms.txt
EXTRA_DIST += tests/plain.sh tests/wire/program.sh tests/api/client.sh tests/api/endpoint_client.sh tests/summary.sh tests/README.md
noinst_HEADERS = tests/api/cuda_bad.h tests/api/cuda_model.h tests/api/cuda_test.h tests/api/endpoint_test.h tests/device/device_world.h tests/device/kernel/fabric_kernels.h tests/device/kernel/fabric_operations.h tests/device/kernel/kernel_world.h tests/ptx/flat_host.h tests/ptx/matrix_kernels.h tests/ptx/reference.h tests/ptx/tensor_cases.h tests/ptx/tensor_maps.h tests/coll/coll_machine.h tests/measured.h \
	tests/model/link_ends.h tests/model/model_test.h tests/ptx/drawn_matrix.h tests/ptx/scalar_matrix.h \
	tests/fuzz.h tests/lib/draw.h tests/model/warp_test.h tests/report_cells.h tests/test.h tests/traces/fuzz_seeds.h tests/traces/trace_test.h

# Tests that are scripts: exit 0 passed, 77 skipped, anything else failed.
dist_check_SCRIPTS = \
	tests/api/test_cuda_abi.sh \
	tests/api/test_cuda_bindings.sh \
	tests/api/test_cuda_bounds.sh \
	tests/api/test_cuda_clients.sh \
	tests/api/test_clock.sh \
	tests/api/test_incast.sh \
	tests/wire/test_quiet.sh \
	tests/wire/test_messages.sh \
	tests/wire/test_waits.sh \
	tests/wire/test_names.sh \
	tests/wire/test_mpi.sh \
	tests/api/test_nvml.sh \
	tests/api/test_trays.sh \
	tests/api/test_cuda_example.sh \
	tests/api/test_cuda_kernels.sh \
	tests/api/test_cuda_probe.sh \
	tests/api/test_cuda_ranks.sh \
	tests/api/test_cuda_endpoint_bad.sh \
	tests/api/test_cuda_endpoint_ranks.sh \
	tests/api/test_cuda_fabric_busy.sh \
	tests/api/test_cuda_fabric_each.sh \
	tests/api/test_cuda_fabric_kernels.sh \
	tests/api/test_cuda_report.sh \
	tests/api/test_cuda_sentences.sh \
	tests/api/test_ptx_trace.sh \
	tests/api/test_report_groups.sh \
	tests/api/test_report_rows.sh \
	tests/api/test_report_waits.sh \
	tests/clients/test_ptx_clients.sh \
	tests/clients/test_torch.sh \
	tests/cli/test_cli.sh \
	tests/coll/test_columns.sh \
	tests/cli/test_cli_coll.sh \
	tests/cli/test_closed.sh \
	tests/cli/test_limits.sh \
	tests/cli/test_cli_files.sh \
	tests/cli/test_cli_views.sh \
	tests/cli/test_reference.sh \
	tests/cli/test_doctor.sh \
	tests/cli/test_fabric.sh \
	tests/cli/test_found.sh \
	tests/cli/test_advise.sh \
	tests/cli/test_advise_settings.sh \
	tests/cli/test_answer_numbers.sh \
	tests/cli/test_answers.sh \
	tests/cli/test_cli_live.sh \
	tests/cli/test_monitor.sh \
	tests/cli/test_timeline_files.sh \
	tests/cli/test_table.sh tests/web/test_web.sh tests/web/test_web_look.sh \
	tests/cli/test_cli_mistakes.sh \
	tests/cli/test_cli_words.sh \
	tests/cli/test_cli_page.sh \
	tests/cli/test_cli_page_axe.sh \
	tests/cli/test_cli_page_browser.sh \
	tests/cli/test_cli_page_scene.sh \
	tests/cli/test_cli_stats.sh \
	tests/cli/test_cli_stats_pandas.sh \
	tests/cli/test_cli_walk.sh \
	tests/cli/test_cli_ptx.sh \
	tests/cli/test_columns.sh \
	tests/cli/test_columns_choices.sh \
	tests/cli/test_columns_named.sh \
	tests/cli/test_columns_published.sh \
	tests/ptx/test_fabric_forms.sh \
	tests/cli/test_policy.sh \
	tests/model/test_component.sh \
	tests/cli/test_topologies.sh \
	tests/cli/test_cores.sh \
	tests/cli/test_largest.sh \
	tests/explore/test_compare.sh \
	tests/explore/test_ideas.sh \
	tests/explore/test_pandas.sh \
	tests/explore/test_plot.sh \
	tests/explore/test_ranks.sh \
	tests/explore/test_search.sh \
	tests/explore/test_sweep.sh \
	tests/determinism/test_determinism.sh \
	tests/docs/test_grade.sh \
	tests/docs/test_lab_program.sh \
	tests/docs/test_labs.sh \
	tests/docs/test_first_steps.sh \
	tests/docs/test_questions.sh \
	tests/docs/test_site.sh \
	tests/golden/golden.sh \
	tests/golden/rows.sh \
	tests/install/test_install.sh \
	tests/routes/check.sh \
	tests/lib/test_astra_examples.sh \
	tests/lib/test_astra_sim.sh \
	tests/lib/test_example.sh \
	tests/python/test_notebook.sh \
	tests/python/test_planner.sh \
	tests/python/test_python.sh \
	tests/python/test_torch_backend.sh \
	tests/python/test_wheel.sh \
	tests/schema/test_schema.sh \
	tests/style/format.sh \
	tests/style/links.sh \
	tests/style/test_globals.sh \
	tests/style/test_hardening.sh \
	tests/style/test_summary.sh \
	tests/style/tidy.sh \
	tests/style/tidy_selftest.sh \
	tests/bench/test_bench_flow.sh \
	tests/bench/test_speed.sh \
	tests/traces/test_flight.sh \
	tests/traces/test_inputs.sh \
	tests/traces/test_nsight.sh \
	tests/traces/test_replay.sh \
	tests/traces/test_replay_best.sh \
	tests/traces/test_replay_faults.sh \
	tests/traces/test_replay_record.sh \
	tests/validate/test_fidelity.sh \
	tests/validate/test_witness.sh \
	tests/validate/test_validate.sh \
	tests/wire/test_arrivals.sh \
	tests/wire/test_long_sleeps.sh \
	tests/wire/test_seats.sh \
	tests/wire/test_timers.sh \
	tests/wire/test_ending.sh tests/wire/test_parting.sh \
	tests/wire/test_spinner.sh \
	tests/wire/test_bad_jobs.sh \
	tests/wire/test_death.sh \
	tests/wire/test_fuzz_wire.sh \
	tests/wire/test_random_job.sh \
	tests/wire/test_registered.sh \
	tests/clients/test_field.sh \
	tests/model/test_rows_named.sh
TESTS += $(dist_check_SCRIPTS)
EXTRA_DIST += tests/cli/stream_requests.c tests/cli/timeline_checks.py
EXTRA_DIST += tests/cli/monitor_checks.py tests/cli/monitor_page_checks.py tests/cli/monitor_run.py
EXTRA_DIST += tests/cli/cli_test.sh tests/cli/browser.py tests/cli/page_audit.js tests/cli/page_checks.py \
	tests/cli/page_axe.py tests/cli/pages.sh \
	tests/cli/page_map_checks.py tests/cli/page_scene_checks.py tests/style/circles.list tests/style/tidy.allow tests/validate/validate.recorded
EXTRA_DIST += tests/docs/console.sh tests/cli/inputs.sh tests/cli/views.py \
	tests/validate/fidelity.ids tests/validate/fidelity.recorded tests/validate/fidelity_drawn.recorded tests/validate/fidelity.sample

EXTRA_DIST += tests/install/device_program.c tests/install/driver_program.c tests/install/installcheck.sh

# Flow against packet fidelity, every collective.
.PHONY: check-flow
check-flow: tests/model/test_flow
	FANOUT_FLOW_ALL=1 tests/model/test_flow

# A sweep of a thousand points that is killed twenty times: minutes.
.PHONY: check-sweep
check-sweep: fanout
	@$(AM_TESTS_ENVIRONMENT) SWEEP_POINTS=1000 $(SHELL) $(top_srcdir)/tests/explore/test_sweep.sh

# The fast engine against the reference engine: two thousand drawn loads, some of them on two and three cores.
.PHONY: check-engines
check-engines: tests/model/test_engines
	FANOUT_ENGINE_RUNS=1000 tests/model/test_engines

# Twenty thousand random device programs against their oracle.
.PHONY: check-random
check-random: tests/random/test_random_programs
	FANOUT_PROGRAMS=20000 tests/random/test_random_programs

# Random driver calls of four threads against a model.
.PHONY: check-calls
check-calls: tests/api/test_cuda_random
	FANOUT_CALLS=200000 tests/api/test_cuda_random

# Every parameter at both bounds on every preset, with fifty programs each, and pairs of them.
.PHONY: check-bounds
check-bounds: tests/random/test_bounds fanout
	FANOUT_BOUNDS=50 tests/random/test_bounds
	FANOUT_BOUNDS=50; export FANOUT_BOUNDS; $(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/tests/api/test_cuda_bounds.sh

# The same bytes of compilers, of how much they optimize, and of where it runs.
EXTRA_DIST += tests/determinism/builds.sh tests/determinism/outputs.sh
.PHONY: check-determinism
check-determinism: fanout
	rm -rf determinism && $(MAKE) $(AM_MAKEFLAGS) distdir distdir=determinism/sources
	$(SHELL) $(top_srcdir)/tests/determinism/builds.sh determinism/sources determinism
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/tests/determinism/test_determinism.sh
# Two levels of switches under full load: a thousand drawn systems, and a thousand draws of the examples.
.PHONY: check-levels
check-levels: tests/model/test_levels
	FANOUT_LEVEL_SEEDS=1000 tests/model/test_levels

# Kernels: 20,000 random programs and 2,000 products of matrices against references, and whole kernels against an H100.
.PHONY: check-ptx
check-ptx: tests/ptx/test_ptx_random tests/ptx/test_ptx_drawn tests/device/kernel/test_kernel_rows
	FANOUT_PTX_PROGRAMS=20000 tests/ptx/test_ptx_random
	FANOUT_PTX_MATRICES=2000 tests/ptx/test_ptx_drawn
	$(AM_TESTS_ENVIRONMENT) FANOUT_KERNEL_ROWS=all tests/device/kernel/test_kernel_rows

EXTRA_DIST += tests/bench/instructions.recorded
EXTRA_DIST += tests/api/cuda_errors.list tests/api/cuda_sentences.list tests/api/cuda_kernels.c tests/api/cuda_undefined.c tests/wire/waits.c \
	tests/wire/messages.c
EXTRA_DIST += tests/api/cuda_errors.list tests/api/cuda_kernels.c tests/api/cuda_undefined.c tests/api/report_groups.c tests/api/report_rows.c tests/api/report_rows.expected tests/api/report_waits.c tests/wire/random_job.c \
	tests/wire/allocator.c tests/wire/arrivals.c tests/wire/waits.c tests/wire/long_sleeps.c tests/wire/seats.c tests/wire/timers.c \
	tests/wire/ending.c tests/wire/spinner.c tests/wire/costs.c tests/wire/costs.sh

# Tests find the shared reference files here, and skip with a message where there are none. What the address sanitizer
# keeps of freed memory is kept small, or memory seems to grow where tests look at it.
AM_TESTS_ENVIRONMENT = FANOUT_SHARED="$${FANOUT_SHARED:-$(abs_top_srcdir)/../shared}"; \
	export FANOUT_SHARED; FANOUT_QUIET=1; export FANOUT_QUIET; FANOUT=$(abs_top_builddir)/fanout; export FANOUT; \
	TOP_SRCDIR=$(abs_top_srcdir); export TOP_SRCDIR; \
	CC='$(CC)'; export CC; FANOUT_CFLAGS='$(CFLAGS)'; export FANOUT_CFLAGS; \
	SANITIZE='$(enable_sanitize)'; export SANITIZE; \
	ASAN_OPTIONS=$${ASAN_OPTIONS-allocator_may_return_null=1:quarantine_size_mb=16:verify_asan_link_order=0}; export ASAN_OPTIONS; \
	LSAN_OPTIONS=$${LSAN_OPTIONS-suppressions=$(abs_top_srcdir)/tests/leaks.supp:print_suppressions=0}; export LSAN_OPTIONS; \
	TSAN_OPTIONS=$${TSAN_OPTIONS-allocator_may_return_null=1}; export TSAN_OPTIONS;

# A test that waits for ever must not take all others with it: what is longer than this is ended and has failed.
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/limited.sh
EXTRA_DIST += tests/leaks.supp tests/limited.sh tests/web/commands.list tests/web/first_run.py tests/web/keys.py tests/web/labs.py tests/cli/find_axe.sh

# Each skip of the last `make check` with its reason, and one line for the whole. BEFORE=FOLDER: with what ran in that
# build folder, of which this one only ran what was skipped there (.ci/run).
BEFORE =
check-summary:
	@$(SHELL) $(top_srcdir)/tests/summary.sh $(BEFORE:%=--before %) $(TEST_LOGS)

# The CMocka programs, sorted, one a line: tests/ROOM/test_x is made of tests/ROOM/test_x.c and linked with $(LDADD)
# unless it says otherwise below.
check_PROGRAMS += \
	tests/api/test_cuda_bad_input \
	tests/api/test_cuda_bad_memory \
	tests/api/test_cuda_bad_work \
	tests/api/test_cuda_errors \
	tests/api/test_cuda_module_leak \
	tests/api/test_cuda_random \
	tests/api/test_cuda_rules_1 \
	tests/api/test_cuda_rules_2 \
	tests/api/test_cuda_rules_3 \
	tests/api/test_cuda_rules_4 \
	tests/api/test_cuda_rules_5 \
	tests/api/test_cuda_endpoints \
	tests/api/test_cuda_endpoint_binds \
	tests/api/test_cuda_endpoint_share \
	tests/api/test_cuda_multicast_next \
	tests/api/test_cuda_newer \
	tests/api/test_cuda_endpoint_random \
	tests/api/test_cuda_sizes \
	tests/api/test_cuda_streams \
	tests/api/test_cuda_sync \
	tests/api/test_cuda_peer_copies \
	tests/api/test_cuda_graphs \
	tests/api/test_cuda_trust \
	tests/api/test_tree_packets \
	tests/device/test_device \
	tests/device/test_device_late \
	tests/device/test_device_loads \
	tests/device/test_device_misuse \
	tests/device/test_device_fence \
	tests/device/test_device_sm \
	tests/device/test_halves \
	tests/device/test_launch_time \
	tests/device/kernel/test_kernel \
	tests/device/kernel/test_kernel_account \
	tests/device/kernel/test_kernel_atomics \
	tests/device/kernel/test_kernel_code \
	tests/device/kernel/test_kernel_lsu \
	tests/device/kernel/test_kernel_engines \
	tests/device/kernel/test_kernel_fabric \
	tests/device/kernel/test_kernel_fabric_drawn \
	tests/device/kernel/test_kernel_fabric_status \
	tests/device/kernel/test_kernel_fabric_tensor \
	tests/device/kernel/test_kernel_fabric_wrong \
	tests/device/kernel/test_kernel_rows \
	tests/device/kernel/test_kernel_still \
	tests/device/kernel/test_kernel_stream \
	tests/device/kernel/test_kernel_tensor \
	tests/device/kernel/test_matrix_times \
	tests/device/kernel/test_row_times \
	tests/ptx/fuzz_ptx \
	tests/ptx/test_ptx_drawn \
	tests/ptx/test_ptx_fatbin \
	tests/ptx/test_ptx_golden \
	tests/ptx/test_ptx_load \
	tests/ptx/test_ptx_matrix \
	tests/ptx/test_ptx_tensor \
	tests/ptx/test_ptx_tensor_drawn \
	tests/ptx/test_ptx_random \
	tests/ptx/test_ptx_branches \
	tests/ptx/test_ptx_video \
	tests/ptx/test_ptx_run \
	tests/ptx/test_forms \
	tests/cli/test_options \
	tests/coll/test_coll \
	tests/coll/test_library \
	tests/coll/test_nccl \
	tests/coll/test_turns \
	tests/coll/test_trays \
	tests/coll/test_p2p \
	tests/coll/test_slots \
	tests/coll/test_where \
	tests/validate/test_error_model \
	tests/validate/test_groups \
	tests/explore/test_explore \
	tests/model/test_analytic \
	tests/model/test_conservation \
	tests/model/test_copy \
	tests/model/test_domains \
	tests/model/test_fault \
	tests/model/test_fault_time \
	tests/model/test_flow \
	tests/model/test_gpu \
	tests/model/test_external_initiator \
	tests/model/test_hash \
	tests/model/test_hbm \
	tests/model/test_levels \
	tests/model/test_link \
	tests/model/test_load_share \
	tests/model/test_loop \
	tests/model/test_endpoint \
	tests/model/test_mcobject \
	tests/model/test_mctable \
	tests/model/test_memory \
	tests/model/test_numeric \
	tests/model/test_merge \
	tests/model/test_named_members \
	tests/model/test_policy \
	tests/model/test_poll \
	tests/model/test_port_hold \
	tests/model/test_port_share \
	tests/model/test_preset \
	tests/model/test_reduction \
	tests/model/test_engine_rows \
	tests/model/test_request_times \
	tests/model/test_sm_rows \
	tests/model/test_sm \
	tests/model/test_issue_rate \
	tests/model/test_switch \
	tests/model/test_topology \
	tests/model/test_trunk_rows \
	tests/model/test_arrival_queue \
	tests/model/test_engines \
	tests/model/test_usage \
	tests/model/test_vas \
	tests/observe/test_series_sum \
	tests/observe/test_walk \
	tests/model/test_warp \
	tests/random/test_bounds \
	tests/random/test_random_programs \
	tests/sim/test_calendars \
	tests/sim/test_event \
	tests/sim/test_log \
	tests/sim/test_nearest \
	tests/sim/test_param \
	tests/sim/test_process \
	tests/sim/test_report \
	tests/sim/test_rng \
	tests/sim/test_sim \
	tests/sim/test_size \
	tests/sim/test_stat \
	tests/sim/test_timeline \
	tests/sim/test_tlm_port \
	tests/sim/test_two_runs \
	tests/sim/test_vcd \
	tests/traces/fuzz_door \
	tests/traces/fuzz_trace \
	tests/traces/test_jobs \
	tests/traces/test_plan_packets \
	tests/traces/test_replay_report \
	tests/traces/test_trace_chakra \
	tests/traces/test_trace_convert \
	tests/traces/test_trace_goal \
	tests/traces/test_trace_inspector \
	tests/traces/test_trace_kineto \
	tests/traces/test_trace_kineto_names \
	tests/traces/test_trace_large \
	tests/traces/test_trace_match \
	tests/traces/test_trace_nccl_log \
	tests/traces/test_trace_nccl_ranks \
	tests/traces/test_trace_plan \
	tests/traces/test_trace_pytorch_et \
	tests/traces/test_trace_memo \
	tests/traces/test_trace_replay \
	tests/traces/test_trace_replicate \
	tests/traces/test_trace_simai \
	tests/traces/test_trace_text \
	tests/validate/fuzz_param

random_programs = tests/random/child.c tests/random/draw.c tests/random/oracle.c tests/random/program.h tests/random/run.c
tests_random_test_bounds_SOURCES = tests/random/test_bounds.c $(random_programs)
tests_random_test_bounds_LDADD = $(TEST_LDADD) -lm
tests_random_test_random_programs_SOURCES = tests/random/test_random_programs.c $(random_programs)
tests_random_test_random_programs_LDADD = $(TEST_LDADD) -lm
tests_traces_fuzz_trace_SOURCES = tests/traces/fuzz_trace.c
tests_traces_fuzz_trace_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
tests_traces_fuzz_trace_LDADD = $(TEST_LDADD) $(SQLITE_LIBS)
tests_traces_fuzz_door_SOURCES = tests/traces/fuzz_door.c
tests_traces_fuzz_door_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
tests_traces_fuzz_door_LDADD = $(TEST_LDADD) $(SQLITE_LIBS)
tests_validate_fuzz_param_SOURCES = tests/validate/fuzz_param.c
tests_explore_test_explore_LDADD = libfanout_explore.la $(TEST_LDADD)
tests_cli_test_options_SOURCES = tests/cli/test_options.c tests/cli/no_reference.c cli/options.c cli/hints.c cli/hints_word.c \
	cli/hints_value.c \
	cli/command.c cli/options_check.c cli/options_hint.c cli/words.c cli/live/samples_check.c cli/live/monitor/args.c
tests_sim_test_tlm_port_SOURCES = tests/sim/test_tlm_port.cpp

# The PTX executor on flat memory.
tests_ptx_fuzz_ptx_SOURCES = tests/ptx/fuzz_ptx.c tests/ptx/flat_host.c
tests_ptx_test_ptx_drawn_SOURCES = tests/ptx/test_ptx_drawn.c tests/ptx/drawn_matrix.c \
	tests/ptx/scalar_matrix.c tests/ptx/flat_host.c
tests_ptx_test_ptx_drawn_LDADD = $(LDADD) -lm
tests_ptx_test_ptx_fatbin_LDADD = $(TEST_LDADD) $(LZ4_LIBS) $(ZSTD_LIBS)
tests_ptx_test_ptx_golden_SOURCES = tests/ptx/test_ptx_golden.c tests/ptx/flat_host.c
tests_ptx_test_ptx_matrix_SOURCES = tests/ptx/test_ptx_matrix.c tests/ptx/matrix_kernels.c tests/ptx/flat_host.c
tests_ptx_test_ptx_tensor_SOURCES = tests/ptx/test_ptx_tensor.c tests/ptx/tensor_cases.c tests/ptx/flat_host.c
tests_ptx_test_ptx_tensor_drawn_SOURCES = tests/ptx/test_ptx_tensor_drawn.c tests/ptx/tensor_cases.c tests/ptx/flat_host.c
tests_device_kernel_test_kernel_tensor_SOURCES = tests/device/kernel/test_kernel_tensor.c tests/ptx/tensor_cases.c
tests_ptx_test_ptx_random_SOURCES = tests/ptx/test_ptx_random.c tests/ptx/reference.c \
	tests/ptx/flat_host.c
tests_ptx_test_ptx_random_LDADD = $(LDADD) -lm
tests_ptx_test_ptx_run_SOURCES = tests/ptx/test_ptx_run.c tests/ptx/flat_host.c
tests_ptx_test_ptx_branches_SOURCES = tests/ptx/test_ptx_branches.c tests/ptx/flat_host.c
tests_ptx_test_ptx_video_SOURCES = tests/ptx/test_ptx_video.c tests/ptx/flat_host.c

# libfanout: against the shared library and its public header.
LIB_TEST_LDADD = libfanout.la $(GLIB_LIBS) $(CMOCKA_LIBS)
check_PROGRAMS += tests/lib/fuzz_library tests/lib/test_library tests/lib/test_misuse tests/lib/test_send_cost
EXTRA_DIST += tests/python/checks.py tests/python/notebook.py tests/python/planner.py \
	tests/python/torch_profile.py \
	tests/python/torch_ranks.py tests/schema/check.py
tests_lib_fuzz_library_SOURCES = tests/lib/fuzz_library.c tests/lib/draw.c sim/rng.c
tests_lib_fuzz_library_CFLAGS = $(AM_CFLAGS) # objects of its own
tests_lib_fuzz_library_LDADD = $(LIB_TEST_LDADD) -lstdc++
tests_lib_test_library_LDADD = $(LIB_TEST_LDADD)
tests_lib_test_send_cost_LDADD = $(LIB_TEST_LDADD)
tests_lib_test_misuse_LDADD = $(LIB_TEST_LDADD) -lstdc++ # which throws, for a program that does

# The CUDA front end: against the shared library, as its users meet it.
CUDA_TEST_LDADD = libcuda.la $(GLIB_LIBS) $(CMOCKA_LIBS)
tests_api_test_cuda_bad_input_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_bad_memory_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_bad_work_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_errors_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_module_leak_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_random_SOURCES = tests/api/test_cuda_random.c tests/api/model_calls.c tests/api/model_copies.c
tests_api_test_cuda_random_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_rules_1_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_rules_2_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_rules_3_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_rules_4_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_rules_5_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_endpoints_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_endpoint_binds_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_endpoint_share_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_multicast_next_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_newer_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_endpoint_random_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_sizes_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_streams_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_sync_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_peer_copies_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_graphs_LDADD = $(CUDA_TEST_LDADD)
tests_api_test_cuda_trust_LDADD = $(CUDA_TEST_LDADD)

# What fanout prints, byte for byte; golden-update rewrites the files after a change that was meant.
GOLDEN = \
	tests/golden/coll-readme \
	tests/golden/walk-atomic \
	tests/golden/walk-background \
	tests/golden/walk-csv \
	tests/golden/walk-json \
	tests/golden/walk-load \
	tests/golden/walk-multimem.ld_reduce \
	tests/golden/walk-multimem.red \
	tests/golden/walk-multimem.st \
	tests/golden/walk-store
EXTRA_DIST += $(GOLDEN:=.args) $(GOLDEN:=.expected) tests/golden/rows.expected tests/golden/rows.list tests/golden/step.trace
.PHONY: golden-update
golden-update: fanout
	@cd $(srcdir) && for script in golden rows; do \
	  UPDATE=1 TOP_SRCDIR=. FANOUT=$(abs_top_builddir)/fanout $(SHELL) tests/golden/$$script.sh || exit 1; done
EXTRA_DIST += \
	tests/clients/bindings.py \
	tests/clients/ranks.py \
	tests/clients/py/core_saxpy.py \
	tests/clients/py/torch_cuda.py \
	tests/clients/py/torch_multimem.py \
	tests/clients/py/small_cases.py tests/clients/py/torch_block.py tests/clients/py/torch_ddp.py \
	tests/clients/py/torch_eager.py \
	tests/clients/py/torch_ranks.py \
	tests/clients/runtime.cu \
	tests/clients/runtime_groups.cu \
	tests/clients/runtime_peer.cu \
	tests/clients/suite.sh \
	tests/clients/py/numba_sum.py \
	tests/clients/py/nvrtc_saxpy.py \
	tests/clients/py/triton_add.py \
	tests/clients/client.h \
	tests/clients/clock.c \
	tests/clients/codes.c \
	tests/clients/cooperative.c \
	tests/clients/dependent.c \
	tests/clients/endless.c \
	tests/clients/cudart.c \
	tests/clients/cutile_rs.c \
	tests/clients/faults.c \
	tests/clients/flashinfer.c \
	tests/clients/fuser.c \
	tests/clients/graphs.c \
	tests/clients/arrays.c \
	tests/clients/events.c \
	tests/clients/fabric.c \
	tests/clients/ipc.c \
	tests/clients/mscclpp.c \
	tests/clients/endpoints.c \
	tests/clients/endpoints_bad.c \
	tests/clients/endpoint_ranks.h \
	tests/clients/fabric_boxes.c \
	tests/clients/fabric_busy.c \
	tests/clients/fabric_each.c \
	tests/clients/fabric_kernels.c \
	tests/clients/nccl.c \
	tests/clients/nvloom.c \
	tests/clients/nvml.c \
	tests/clients/nvml_ranks.c \
	tests/clients/py/nvml_topology.py \
	tests/clients/nvshmem.c \
	tests/clients/packets.c \
	tests/clients/parts.c \
	tests/clients/pytorch_symm_mem.c \
	tests/clients/thunderkittens.c \
	tests/clients/trays.c \
	tests/clients/torchcomms.c \
	tests/clients/twoshot.c \
	tests/clients/ucc.c

check_PROGRAMS += tests/api/test_cuda_captures
tests_api_test_cuda_captures_SOURCES = tests/api/test_cuda_captures.c tests/api/cuda_test.h tests/test.h
tests_api_test_cuda_captures_LDADD = $(CUDA_TEST_LDADD)
check_PROGRAMS += tests/api/test_cuda_graph_time
tests_api_test_cuda_graph_time_SOURCES = tests/api/test_cuda_graph_time.c tests/api/cuda_test.h tests/test.h
tests_api_test_cuda_graph_time_LDADD = $(CUDA_TEST_LDADD)
check_PROGRAMS += tests/api/test_cuda_first_versions
tests_api_test_cuda_first_versions_SOURCES = tests/api/test_cuda_first_versions.c tests/api/cuda_test.h tests/test.h
tests_api_test_cuda_first_versions_LDADD = $(CUDA_TEST_LDADD)
check_PROGRAMS += tests/api/test_cuda_registered
tests_api_test_cuda_registered_SOURCES = tests/api/test_cuda_registered.c tests/api/cuda_test.h tests/test.h
tests_api_test_cuda_registered_LDADD = $(CUDA_TEST_LDADD)
# Which files a store, a bind, a load, a launch, a replayed operation and a sweep's point pass: a build whose functions tell
# when they are entered runs them, and what ran is compared with tests/routes/recorded, or recorded anew. Minutes.
EXTRA_DIST += tests/routes/budgets tests/routes/host tests/routes/program.c tests/routes/record.sh tests/routes/recorder.c \
	tests/routes/replayed.trace tests/routes/route.py tests/routes/routes tests/routes/sweep.ini \
	tests/routes/recorded/bind tests/routes/recorded/launch tests/routes/recorded/load tests/routes/recorded/replay \
	tests/routes/recorded/store tests/routes/recorded/sweep
.PHONY: routes routes-update
ROUTES_BUILD = rm -rf routes && $(MAKE) $(AM_MAKEFLAGS) distdir distdir=routes && cd routes && \
	./configure --quiet CFLAGS='-g -O0 -finstrument-functions' CXXFLAGS='-g -O0' && \
	$(MAKE) $(AM_MAKEFLAGS) -s validate/errors.gen.h && $(MAKE) $(AM_MAKEFLAGS) -s fanout$(EXEEXT) libcuda.la && cd .. && \
	CC='$(CC)' $(SHELL) $(abs_top_srcdir)/tests/routes/record.sh routes routes
routes:
	$(ROUTES_BUILD)
routes-update:
	$(ROUTES_BUILD) update

# What the scripts of tests/wire run below `fanout exec`: no tests by themselves.
noinst_PROGRAMS += tests/wire/answers tests/wire/ranks tests/wire/fuzz_wire tests/wire/parting
tests_wire_answers_SOURCES = tests/wire/answers.c
tests_wire_answers_LDADD = libcuda.la
tests_wire_ranks_SOURCES = tests/wire/ranks.c
tests_wire_ranks_LDADD = libcuda.la
tests_wire_fuzz_wire_SOURCES = tests/wire/fuzz_wire.c machine/wire/dial.c machine/wire/message.c
tests_wire_fuzz_wire_CFLAGS = $(AM_CFLAGS) # objects of its own
tests_wire_fuzz_wire_LDADD = $(GLIB_LIBS)
tests_wire_parting_SOURCES = tests/wire/parting.c machine/wire/dial.c machine/wire/message.c
tests_wire_parting_CFLAGS = $(AM_CFLAGS)
tests_wire_parting_LDADD = $(GLIB_LIBS)
check_PROGRAMS += tests/api/test_cuda_launch
tests_api_test_cuda_launch_SOURCES = tests/api/test_cuda_launch.c tests/api/cuda_test.h tests/test.h
tests_api_test_cuda_launch_LDADD = $(CUDA_TEST_LDADD)

# What tests/api/test_cuda_bindings.sh installs once for a build folder.
distclean-local:
	rm -rf cuda-bindings-venv determinism tsan asan mutants mutants-reach mutants-*.log mutants-*.drawn routes

# What has threads alone, the CUDA front end and several domains; under the race checker by `make tsan`. All of `make
# check` under the address and undefined-behaviour sanitizers by `make asan`, a part of it with ASAN_PART=2/7. Both build
# a copy of the sources, since a source folder that is configured cannot be built elsewhere.
.PHONY: check-cuda tsan asan
check-cuda: $(BUILT_SOURCES)
	@programs=`echo $(check_PROGRAMS) | tr ' ' '\n' | grep -E '^tests/[a-z]*/test_(cuda_|domains)' | tr '\n' ' '`; \
	$(MAKE) $(AM_MAKEFLAGS) $$programs && $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$$programs"
SANITIZED = rm -rf $@ && $(MAKE) $(AM_MAKEFLAGS) distdir distdir=$@ && cd $@ && \
	FANOUT_SHARED=$${FANOUT_SHARED:-$(abs_top_srcdir)/../shared} && export FANOUT_SHARED && \
	./configure --quiet
tsan:
	$(SANITIZED) --enable-sanitize=thread && $(MAKE) $(AM_MAKEFLAGS) check-cuda
ASAN_PART =
asan:
	$(SANITIZED) --enable-sanitize && if test -n '$(ASAN_PART)'; then $(MAKE) $(AM_MAKEFLAGS) -k check-part PART=$(ASAN_PART); \
	else $(MAKE) $(AM_MAKEFLAGS) -k check; status=$$?; $(MAKE) $(AM_MAKEFLAGS) -s check-summary && exit $$status; fi

# One part of the tests: PART=2/7 is every seventh, from the second one on. All first and then the programs, since `all` is
# a make of its own here, and two of them beside each other would write the same objects.
PART = 1/1
.PHONY: check-part
check-part: $(BUILT_SOURCES)
	@tests=`echo $(TESTS) | tr ' ' '\n' | awk -v part=$(PART) 'BEGIN { split(part, p, "/") } NR % p[2] == p[1] % p[2]' | \
	  tr '\n' ' '`; programs=`echo $$tests | tr ' ' '\n' | grep -v '\.sh$$' | tr '\n' ' '`; \
	$(MAKE) $(AM_MAKEFLAGS) all && $(MAKE) $(AM_MAKEFLAGS) $$programs && \
	{ $(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$$tests" check_PROGRAMS="$$programs"; status=$$?; \
	  $(SHELL) $(top_srcdir)/tests/summary.sh `printf '%s.log ' $$tests` && exit $$status; }

# One-line faults, drawn and planted one by one, and whether the tests notice: tests/mutants/run.py, whose first lines say
# what FAULTS may be. A second call goes on where the first one was ended; `make mutants-clean` begins anew.
EXTRA_DIST += tests/mutants/draw.py tests/mutants/equivalent tests/mutants/list tests/mutants/reach.c \
	tests/mutants/run.py
FAULTS =
.PHONY: mutants mutants-clean
mutants: mutants/Makefile
	$(PYTHON3) $(top_srcdir)/tests/mutants/run.py $(top_srcdir) mutants $(FAULTS)
PYTHON3 = python3
mutants/Makefile:
	rm -rf mutants && $(MAKE) $(AM_MAKEFLAGS) distdir distdir=mutants && cd mutants && ./configure --quiet
mutants-clean:
	rm -rf mutants mutants-reach mutants-*.log mutants-*.drawn

# Every parser, and libfanout's interface, FUZZ_SECONDS of processor time, from seeds and the files in FUZZ_CORPUS (tests/fuzz.h); make check has a few
# hundred inputs of each.
FUZZ_SECONDS = 600
fuzz: tests/traces/fuzz_trace tests/traces/fuzz_door tests/validate/fuzz_param tests/ptx/fuzz_ptx tests/lib/fuzz_library
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/traces/fuzz_trace
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/traces/fuzz_door
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/validate/fuzz_param
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/ptx/fuzz_ptx
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/lib/fuzz_library
.PHONY: fuzz

# NCCL and nccl-tests, built from their sources, which are no part of this one: docs/nccl.md. NCCL=DIR NCCL_TESTS=DIR
EXTRA_DIST += tests/nccl/check_nccl.sh tests/nccl/collectives.c
.PHONY: check-nccl
check-nccl: all
	FANOUT='$(abs_builddir)/fanout' TOP_SRCDIR='$(abs_srcdir)' CC='$(CC)' NCCL='$(NCCL)' NCCL_TESTS='$(NCCL_TESTS)' \
	  $(if $(CUDA_HOME),CUDA_HOME='$(CUDA_HOME)') ONLY='$(ONLY)' SYSTEM='$(SYSTEM)' \
	  $(SHELL) $(srcdir)/tests/nccl/check_nccl.sh

# The Python packages that tests/clients/test_ptx_clients.sh, tests/explore/test_pandas.sh and others would run, and the
# CUDA compiler for their programs, into a virtual environment of the build tree. Some 2 GB.
.PHONY: client-packages
CLIENT_PACKAGES = cuda-bindings cuda-core numba-cuda triton 'numpy<2.5' pandas nvidia-ml-py nvidia-cuda-nvrtc \
	nvidia-nvvm nvidia-cuda-cccl nvidia-cuda-runtime nvidia-cuda-nvcc nvidia-cuda-crt pytest psutil cffi ml-dtypes \
	filecheck
client-packages:
	python3 -m venv clients-venv
	clients-venv/bin/pip install --quiet $(CLIENT_PACKAGES)

check_PROGRAMS += tests/api/test_cuda_attributes
tests_api_test_cuda_attributes_SOURCES = tests/api/test_cuda_attributes.c tests/api/cuda_test.h
tests_api_test_cuda_attributes_LDADD = $(CUDA_TEST_LDADD)
check_PROGRAMS += tests/api/test_cuda_tensor
tests_api_test_cuda_tensor_SOURCES = tests/api/test_cuda_tensor.c tests/ptx/tensor_cases.c tests/api/cuda_test.h
tests_api_test_cuda_tensor_LDADD = $(CUDA_TEST_LDADD)
