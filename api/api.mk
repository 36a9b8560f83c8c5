# api/: what programs are written against: device programs, and the CUDA driver front end.
libfanout_core_la_SOURCES += api/cuda/first_versions.c

# The CUDA driver front end: everything in one convenience library, so that tests can see its inside.
cuda_files = \
	api/cuda/context/ctx.c \
	api/cuda/context/ctx.h \
	api/cuda/context/ctx_query.c \
	api/cuda/context/device.c \
	api/cuda/context/error_text.c \
	api/cuda/context/diagnose.c \
	api/cuda/context/handle.c \
	api/cuda/context/handle.h \
	api/cuda/context/host.c \
	api/cuda/context/host_cost.c \
	api/cuda/context/init.c \
	api/cuda/context/machine.c \
	api/cuda/context/manager_state.c \
	api/cuda/context/machine.h \
	api/cuda/context/part.c \
	api/cuda/context/part.h \
	api/cuda/context/parts.c \
	api/cuda/context/primary.c \
	api/cuda/context/procaddress.c \
	api/cuda/context/process.c \
	api/cuda/context/process.h \
	api/cuda/context/registered.c \
	api/cuda/context/report.c \
	api/cuda/context/report.h \
	api/cuda/context/report_status.h \
	api/cuda/context/signals.c \
	api/cuda/context/signals.h \
	api/cuda/endpoint/clique.c \
	api/cuda/endpoint/endpoint.c \
	api/cuda/endpoint/endpoint.h \
	api/cuda/endpoint/endpoint_bind.c \
	api/cuda/endpoint/endpoint_share.c \
	api/cuda/endpoint/fabric_copy.c \
	api/cuda/graph/any_node.c \
	api/cuda/graph/build.c \
	api/cuda/graph/capture.c \
	api/cuda/graph/capture.h \
	api/cuda/graph/capture_api.c \
	api/cuda/graph/edges.c \
	api/cuda/graph/exec.c \
	api/cuda/graph/graph.c \
	api/cuda/graph/graph.h \
	api/cuda/graph/graph_handle.c \
	api/cuda/graph/node.c \
	api/cuda/graph/recapture.c \
	api/cuda/graph/recapture.h \
	api/cuda/graph/run.c \
	api/cuda/graph/user_object.c \
	api/cuda/memory/managed.c \
	api/cuda/memory/array.c \
	api/cuda/memory/array.h \
	api/cuda/memory/host_maps.c \
	api/cuda/memory/host_maps.h \
	api/cuda/memory/ipc.c \
	api/cuda/memory/map.c \
	api/cuda/memory/mem.c \
	api/cuda/memory/mem.h \
	api/cuda/memory/phys.c \
	api/cuda/memory/phys.h \
	api/cuda/memory/pointer.c \
	api/cuda/memory/pool.c \
	api/cuda/memory/pool_alloc.c \
	api/cuda/memory/range.c \
	api/cuda/memory/range.h \
	api/cuda/memory/share.c \
	api/cuda/memory/robust_lock.c \
	api/cuda/memory/robust_lock.h \
	api/cuda/memory/shared_file.c \
	api/cuda/memory/shared_file.h \
	api/cuda/memory/vmm.c \
	api/cuda/memory/vmm.h \
	api/cuda/module/device_runtime.h \
	api/cuda/module/fatbinary.c \
	api/cuda/module/function.c \
	api/cuda/module/jit.c \
	api/cuda/module/jit.h \
	api/cuda/module/launch.c \
	api/cuda/module/launch_attribute.c \
	api/cuda/module/library.c \
	api/cuda/module/link.c \
	api/cuda/module/module.c \
	api/cuda/module/module.h \
	api/cuda/module/object.c \
	api/cuda/module/occupancy.c \
	api/cuda/module/program.c \
	api/cuda/module/program.h \
	api/cuda/module/settings.c \
	api/cuda/module/unit.c \
	api/cuda/memory/tensor_map.c \
	api/cuda/multicast/bind.c \
	api/cuda/multicast/bind.h \
	api/cuda/multicast/manager.c \
	api/cuda/multicast/multicast.c \
	api/cuda/multicast/unbind.c \
	api/cuda/multicast/team.c \
	api/cuda/multicast/team.h \
	api/cuda/multicast/team_sync.c \
	api/cuda/stream/attribute.c \
	api/cuda/stream/attribute.h \
	api/cuda/stream/copy.c \
	api/cuda/stream/copy.h \
	api/cuda/stream/copy_3d.c \
	api/cuda/stream/copy_array.c \
	api/cuda/stream/copy_batch.c \
	api/cuda/stream/copy_peer.c \
	api/cuda/stream/event.c \
	api/cuda/stream/event_handle.c \
	api/cuda/stream/event_ipc.c \
	api/cuda/stream/launch.c \
	api/cuda/stream/memset.c \
	api/cuda/stream/recorder.h \
	api/cuda/stream/stream.c \
	api/cuda/stream/stream_op.c \
	api/cuda/stream/submit.c \
	api/cuda/stream/submit.h \
	api/cuda/symbols.h
cuda_public = \
	api/include/fanout/cuda.h \
	api/include/fanout/cuda_attribute.h \
	api/include/fanout/cuda_array.h \
	api/include/fanout/cuda_endpoint.h \
	api/include/fanout/cuda_tensor.h \
	api/include/fanout/cuda_graph.h \
	api/include/fanout/cuda_module.h \
	api/include/fanout/cuda_names.h \
	api/include/fanout/cuda_result.h \
	api/include/fanout/cuda_types.h \
	api/include/fanout/fanout.h
EXTRA_DIST += api/cuda/symbols.awk api/cuda/symbols.list
nodist_libcuda_la_SOURCES = api/cuda/symbols.gen.c
api/cuda/symbols.gen.c: $(srcdir)/api/cuda/symbols.awk $(srcdir)/api/cuda/symbols.list
	$(AM_V_GEN)$(MKDIR_P) api/cuda && $(AWK) -f $(srcdir)/api/cuda/symbols.awk \
		$(srcdir)/api/cuda/symbols.list > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += api/cuda/symbols.gen.c
CLEANFILES += api/cuda/symbols.gen.c

# Drop-in for the real driver: the field's name and SONAME, kept apart from the system's own.
pkglib_LTLIBRARIES += libcuda.la libfanout_exit.la libfanout_clock.la libfanout_wait.la libfanout_tray.la \
	libfanout_find.la
libcuda_la_SOURCES = $(cuda_files) $(cuda_public)
libcuda_la_LIBADD = libfanout_core.la -ldl
libcuda_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:0 -export-symbols-regex '^(cu|fo_|sc_main)'
libfanout_exit_la_SOURCES = api/cuda/exit_hook.c
libfanout_exit_la_CFLAGS = $(AM_CFLAGS) $(preloaded_cflags)
libfanout_exit_la_LDFLAGS = $(preloaded_ldflags)
libfanout_clock_la_SOURCES = api/cuda/clock_hook.c
libfanout_clock_la_CFLAGS = $(AM_CFLAGS) $(preloaded_cflags)
libfanout_clock_la_LDFLAGS = $(preloaded_ldflags)
# An auditor has libraries of its own, and this one none: a C library beside the program's would cost each process.
libfanout_find_la_SOURCES = api/cudart/find_hook.c
libfanout_find_la_CFLAGS = $(AM_CFLAGS) -ffreestanding -fno-tree-loop-distribute-patterns -fno-sanitize=all
libfanout_find_la_LDFLAGS = $(FO_LDHARDEN) -module -avoid-version -XCClinker -nostdlib -Wl,-z,defs

fanoutincludedir = $(includedir)/fanout
fanoutinclude_HEADERS = $(cuda_public) api/include/fanout/device.h model/shared/policy.h model/switch/component.h
EXTRA_DIST += api/README.md
