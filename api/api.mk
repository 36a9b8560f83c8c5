# api/: what programs are written against: device programs, and the CUDA driver front end.
libfanout_core_la_SOURCES += \
	api/cuda/first_versions.c \
	api/cuda/context/class.c \
	api/cuda/context/class.h \
	api/cuda/context/error.c \
	api/cuda/context/fail.c \
	api/cuda/context/fail.h \
	api/machine/machine.c \
	api/machine/machine.h \
	api/machine/make.c \
	api/cuda/options.c \
	api/cuda/options.h \
	api/cuda/run_report.c \
	api/cuda/run_report.h \
	api/cuda/spec.c \
	api/cuda/spec.h

# What the owner's processes and the library that is preloaded into programs both have.
wire_talk = \
	api/wire/dial.c \
	api/wire/message.c

# The engine, which libcuda.so.1 has in a program alone and `fanout exec` for a job, and the wire between the two.
libfanout_core_la_SOURCES += \
	api/engine/alarm.c \
	api/engine/alarm.h \
	api/engine/arrivals.c \
	api/engine/call.c \
	api/engine/control.c \
	api/engine/dependents.c \
	api/engine/engine.c \
	api/engine/endpoint.c \
	api/engine/endpoint.h \
	api/engine/endpoint_copy.c \
	api/engine/engine.h \
	api/engine/faults.c \
	api/engine/gate.c \
	api/engine/gate.h \
	api/engine/groups.c \
	api/engine/host_memory.c \
	api/engine/idle.c \
	api/engine/internal.h \
	api/engine/kernel.c \
	api/engine/kernel.h \
	api/engine/launches.c \
	api/engine/launches.h \
	api/engine/memory.c \
	api/engine/proc_stat.c \
	api/engine/proc_stat.h \
	api/engine/program.c \
	api/engine/queue.c \
	api/engine/rounds.c \
	api/engine/rounds.h \
	api/engine/shared_event.c \
	api/engine/skip.c \
	api/engine/skip.h \
	api/engine/slice.c \
	api/engine/standstill.c \
	api/engine/stats.c \
	api/engine/stream.c \
	api/engine/stream_number.c \
	api/engine/stuck.c \
	api/engine/timeline.c \
	api/engine/transfer.c \
	api/engine/tree.c \
	api/engine/tree.h \
	api/engine/tree_packets.c \
	api/engine/tree_parts.h \
	api/engine/tree_read.c \
	api/engine/value.c \
	api/engine/wait.c \
	api/engine/watch.c \
	api/engine/woken.c \
	api/engine/work.c \
	api/wire/arena.c \
	api/wire/ask.c \
	api/wire/client.c \
	api/wire/client.h \
	api/wire/client_parts.h \
	api/wire/connection.c \
	api/wire/connection.h \
	$(wire_talk) \
	api/wire/cut.c \
	api/wire/cut.h \
	api/wire/drop.c \
	api/wire/control.c \
	api/wire/control.h \
	api/wire/control_client.c \
	api/wire/modules.c \
	api/wire/owner.c \
	api/wire/owner.h \
	api/wire/program.h \
	api/wire/program_calls.c \
	api/wire/program_client.c \
	api/wire/program_client.h \
	api/wire/program_cta.h \
	api/wire/programs.c \
	api/wire/registered.c \
	api/wire/registered.h \
	api/wire/sealed.c \
	api/wire/sealed.h \
	api/wire/server.c \
	api/wire/server.h \
	api/wire/server_parts.h \
	api/wire/session.c \
	api/wire/session_memory.c \
	api/wire/session_time.c \
	api/wire/session_parts.h \
	api/wire/shared.c \
	api/wire/tray.c \
	api/wire/tray.h \
	api/wire/upload.c \
	api/wire/wire.h

# The CUDA driver front end: everything in one convenience library, so that tests can see its inside.
cuda_files = \
	api/cuda/context/ctx.c \
	api/cuda/context/ctx.h \
	api/cuda/context/ctx_query.c \
	api/cuda/context/device.c \
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
# What is preloaded is there from the beginning. What its threads have of their own is then laid out with them: taken
# at the first use it would be asked of the program's allocator, which may be what asks for the time, with its lock
# taken.
# Under a sanitizer they are as they always are, or no other program could be run with them.
preloaded_cflags = -ftls-model=initial-exec -fno-sanitize=all
preloaded_ldflags = $(FO_LDHARDEN) -XCClinker -fno-sanitize=all -module -avoid-version
libfanout_clock_la_SOURCES = api/cuda/clock_hook.c
libfanout_clock_la_CFLAGS = $(AM_CFLAGS) $(preloaded_cflags)
libfanout_clock_la_LDFLAGS = $(preloaded_ldflags)
# Part of every process of a job: the C library alone.
libfanout_wait_la_SOURCES = $(wire_talk) \
	api/wire/wait.h \
	api/wire/wait_clock_hook.c \
	api/wire/wait_condition_hook.c \
	api/wire/wait_hook.c \
	api/wire/wait_host_hook.c \
	api/wire/wait_name_hook.c \
	api/wire/wait_socket_hook.c \
	api/wire/wait_spin_hook.c \
	api/wire/wait_talk.c \
	api/wire/wait_timer.c \
	api/wire/wait_timer.h \
	api/wire/wait_timerfd_hook.c \
	api/wire/wait_word_hook.c
libfanout_wait_la_CFLAGS = $(AM_CFLAGS) $(preloaded_cflags)
libfanout_wait_la_LDFLAGS = $(preloaded_ldflags) \
	-export-symbols-regex '^(nanosleep|clock_nanosleep|usleep|sleep|thrd_sleep|poll|ppoll|select|pselect|epoll_wait|epoll_pwait|epoll_pwait2|sched_yield|clock_gettime|gettimeofday|time|timespec_get|fo_clock_hook|syscall|pthread_mutex_(timed|clock)lock|mtx_timedlock|pthread_rwlock_(timed|clock)(rd|wr)lock|pthread_(timed|clock)join_np|pthread_cond_timedwait|pthread_cond_clockwait|cnd_timedwait|sem_timedwait|sem_clockwait|timerfd_create|timerfd_settime|timerfd_gettime|recv|recvfrom|recvmsg|send|sendmsg|socket|accept|accept4|getaddrinfo|getnameinfo|gethostby(name|name2|addr)(_r)?)$$'
libfanout_wait_la_LIBADD = -ldl -lpthread
libfanout_tray_la_SOURCES = api/wire/tray_hook.c api/wire/tray.c api/wire/tray.h api/wire/dial.c api/wire/message.c
libfanout_tray_la_CFLAGS = $(AM_CFLAGS) $(preloaded_cflags)
libfanout_tray_la_LDFLAGS = $(preloaded_ldflags) -export-symbols-regex '^(gethostname|uname)$$'
# An auditor has libraries of its own, and this one none: a C library beside the program's would cost each process.
libfanout_find_la_SOURCES = api/cudart/find_hook.c
libfanout_find_la_CFLAGS = $(AM_CFLAGS) -ffreestanding -fno-tree-loop-distribute-patterns -fno-sanitize=all
libfanout_find_la_LDFLAGS = $(FO_LDHARDEN) -module -avoid-version -XCClinker -nostdlib -Wl,-z,defs

fanoutincludedir = $(includedir)/fanout
fanoutinclude_HEADERS = $(cuda_public) api/include/fanout/device.h model/shared/policy.h model/switch/component.h
EXTRA_DIST += api/README.md
