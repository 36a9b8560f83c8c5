# api/: files of this folder
libfanout_core_la_SOURCES += \
	api/bench.c \
	api/bench.h \
	api/bench_coll.c \
	api/bench_copy.c \
	api/bench_flow.c \
	api/bench_foot.c \
	api/bench_latency.c \
	api/bench_loaded.c \
	api/bench_multicast.c \
	api/bench_nccl.c \
	api/bench_world.c \
	api/bench_world.h \
	api/coll.c \
	api/coll.h \
	api/coll_barrier.c \
	api/coll_buffer.c \
	api/coll_check.c \
	api/coll_choice.c \
	api/coll_direct.c \
	api/coll_flow.c \
	api/coll_internal.h \
	api/coll_nvls.c \
	api/coll_nvls_buffered.c \
	api/coll_plan.c \
	api/coll_prim.c \
	api/coll_prim.h \
	api/coll_p2p.c \
	api/coll_ring.c \
	api/coll_sym.c \
	api/coll_sym_choice.c \
	api/coll_table.c \
	api/coll_tree.c \
	api/coll_tune.c \
	api/cuda_error.c \
	api/cuda_fail.c \
	api/cuda_fail.h \
	api/cuda_spec.c \
	api/cuda_spec.h \
	api/device.c \
	api/device.h \
	api/device_cost.c \
	api/device_cost.h \
	api/device_exchange.c \
	api/device_flow.c \
	api/device_queue.c \
	api/device_queue.h \
	api/device_sm.c \
	api/device_sm.h \
	api/device_ll.c \
	api/device_loop.c \
	api/device_op.c \
	api/device_poll.c \
	api/ptx.c \
	api/ptx.h \
	api/traffic.c \
	api/traffic.h \
	api/validate.c \
	api/validate.h \
	api/validate_coll.c \
	api/validate_coll.h \
	api/validate_csv.c \
	api/validate_summary.c \
	api/validate_time.c

# The CUDA driver front end: everything in one convenience library, so that tests can see its inside.
cuda_files = \
	api/cuda_bind.c \
	api/cuda_class.c \
	api/cuda_class.h \
	api/cuda_copy.c \
	api/cuda_copy.h \
	api/cuda_copy_batch.c \
	api/cuda_copy_peer.c \
	api/cuda_ctx.c \
	api/cuda_ctx.h \
	api/cuda_ctx_query.c \
	api/cuda_device.c \
	api/cuda_event.c \
	api/cuda_handle.c \
	api/cuda_handle.h \
	api/cuda_host.c \
	api/cuda_host_cost.c \
	api/cuda_init.c \
	api/cuda_manager.c \
	api/cuda_map.c \
	api/cuda_launch.c \
	api/cuda_mem.c \
	api/cuda_mem.h \
	api/cuda_memset.c \
	api/cuda_multicast.c \
	api/cuda_multicast.h \
	api/cuda_phys.c \
	api/cuda_phys.h \
	api/cuda_pointer.c \
	api/cuda_pool.c \
	api/cuda_pool_alloc.c \
	api/cuda_primary.c \
	api/cuda_procaddress.c \
	api/cuda_process.c \
	api/cuda_process.h \
	api/cuda_range.c \
	api/cuda_range.h \
	api/cuda_report.c \
	api/cuda_report.h \
	api/cuda_report_status.h \
	api/cuda_share.c \
	api/cuda_stream.c \
	api/cuda_stream_op.c \
	api/cuda_symbols.h \
	api/cuda_team.c \
	api/cuda_team.h \
	api/cuda_team_sync.c \
	api/cuda_vmm.c \
	api/cuda_vmm.h \
	api/engine.c \
	api/engine.h \
	api/engine_faults.c \
	api/engine_internal.h \
	api/engine_memory.c \
	api/engine_run.c \
	api/engine_stats.c \
	api/engine_timeline.c \
	api/engine_work.c
cuda_public = \
	api/include/fanout/cuda.h \
	api/include/fanout/cuda_attribute.h \
	api/include/fanout/cuda_names.h \
	api/include/fanout/cuda_result.h \
	api/include/fanout/cuda_types.h \
	api/include/fanout/fanout.h
EXTRA_DIST += api/cuda_symbols.awk api/cuda_symbols.list
nodist_libcuda_la_SOURCES = api/cuda_symbols.gen.c
api/cuda_symbols.gen.c: $(srcdir)/api/cuda_symbols.awk $(srcdir)/api/cuda_symbols.list
	$(AM_V_GEN)$(MKDIR_P) api && $(AWK) -f $(srcdir)/api/cuda_symbols.awk \
		$(srcdir)/api/cuda_symbols.list > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += api/cuda_symbols.gen.c
CLEANFILES += api/cuda_symbols.gen.c

# Drop-in for the real driver: the field's name and SONAME, kept apart from the system's own.
pkglib_LTLIBRARIES += libcuda.la libfanout_exit.la
libcuda_la_SOURCES = $(cuda_files) $(cuda_public)
libcuda_la_LIBADD = libfanout_core.la -ldl
libcuda_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:0 -export-symbols-regex '^(cu|fo_|sc_main)'
libfanout_exit_la_SOURCES = api/exit_hook.c
libfanout_exit_la_LDFLAGS = -module -avoid-version

fanoutincludedir = $(includedir)/fanout
fanoutinclude_HEADERS = $(cuda_public) api/include/fanout/device.h
