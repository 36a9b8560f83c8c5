# machine/: the one machine that all processes of a job share: what it is, its thread, and the wire to it.
libfanout_core_la_SOURCES += \
	machine/class.c \
	machine/class.h \
	machine/error.c \
	machine/fail.c \
	machine/fail.h \
	machine/machine.c \
	machine/machine.h \
	machine/make.c \
	machine/options.c \
	machine/options.h \
	machine/run_report.c \
	machine/run_report.h \
	machine/spec.c \
	machine/spec.h

# What the owner's processes and the library that is preloaded into programs both have.
wire_talk = \
	machine/wire/dial.c \
	machine/wire/message.c

# The engine, which libcuda.so.1 has in a program alone and `fanout exec` for a job, and the wire between the two.
libfanout_core_la_SOURCES += \
	machine/engine/alarm.c \
	machine/engine/alarm.h \
	machine/engine/arrivals.c \
	machine/engine/call.c \
	machine/engine/control.c \
	machine/engine/dependents.c \
	machine/engine/engine.c \
	machine/engine/endpoint.c \
	machine/engine/endpoint.h \
	machine/engine/endpoint_copy.c \
	machine/engine/engine.h \
	machine/engine/faults.c \
	machine/engine/gate.c \
	machine/engine/gate.h \
	machine/engine/groups.c \
	machine/engine/host_memory.c \
	machine/engine/idle.c \
	machine/engine/internal.h \
	machine/engine/kernel.c \
	machine/engine/kernel.h \
	machine/engine/launches.c \
	machine/engine/launches.h \
	machine/engine/memory.c \
	machine/engine/proc_stat.c \
	machine/engine/proc_stat.h \
	machine/engine/program.c \
	machine/engine/queue.c \
	machine/engine/rounds.c \
	machine/engine/rounds.h \
	machine/engine/shared_event.c \
	machine/engine/skip.c \
	machine/engine/skip.h \
	machine/engine/slice.h \
	machine/engine/slice.c \
	machine/engine/standstill.c \
	machine/engine/stats.c \
	machine/engine/stream.c \
	machine/engine/stream_number.c \
	machine/engine/stuck.c \
	machine/engine/timeline.c \
	machine/engine/transfer.c \
	machine/engine/tree.c \
	machine/engine/tree.h \
	machine/engine/tree_packets.c \
	machine/engine/tree_parts.h \
	machine/engine/tree_read.c \
	machine/engine/value.c \
	machine/engine/wait.c \
	machine/engine/watch.c \
	machine/engine/woken.c \
	machine/engine/work.c \
	machine/wire/arena.c \
	machine/wire/ask.c \
	machine/wire/client.c \
	machine/wire/client.h \
	machine/wire/client_parts.h \
	machine/wire/connection.c \
	machine/wire/connection.h \
	$(wire_talk) \
	machine/wire/cut.c \
	machine/wire/cut.h \
	machine/wire/drop.c \
	machine/wire/control.c \
	machine/wire/control.h \
	machine/wire/control_client.c \
	machine/wire/modules.c \
	machine/wire/owner.c \
	machine/wire/owner.h \
	machine/wire/program.h \
	machine/wire/program_calls.c \
	machine/wire/program_client.c \
	machine/wire/program_client.h \
	machine/wire/program_cta.h \
	machine/wire/programs.c \
	machine/wire/registered.c \
	machine/wire/registered.h \
	machine/wire/sealed.c \
	machine/wire/sealed.h \
	machine/wire/server.c \
	machine/wire/server.h \
	machine/wire/server_parts.h \
	machine/wire/session.c \
	machine/wire/session_memory.c \
	machine/wire/session_time.c \
	machine/wire/session_parts.h \
	machine/wire/shared.c \
	machine/wire/tray.c \
	machine/wire/tray.h \
	machine/wire/upload.c \
	machine/wire/wire.h

# What is preloaded is there from the beginning. What its threads have of their own is then laid out with them: taken
# at the first use it would be asked of the program's allocator, which may be what asks for the time, with its lock
# taken.
# Under a sanitizer they are as they always are, or no other program could be run with them.
preloaded_cflags = -ftls-model=initial-exec -fno-sanitize=all
preloaded_ldflags = $(FO_LDHARDEN) -XCClinker -fno-sanitize=all -module -avoid-version
# Part of every process of a job: the C library alone.
libfanout_wait_la_SOURCES = $(wire_talk) \
	machine/wire/wait.h \
	machine/wire/wait_clock_hook.c \
	machine/wire/wait_condition_hook.c \
	machine/wire/wait_hook.c \
	machine/wire/wait_host_hook.c \
	machine/wire/wait_name_hook.c \
	machine/wire/wait_socket_hook.c \
	machine/wire/wait_spin_hook.c \
	machine/wire/wait_talk.c \
	machine/wire/wait_timer.c \
	machine/wire/wait_timer.h \
	machine/wire/wait_timerfd_hook.c \
	machine/wire/wait_word_hook.c
libfanout_wait_la_CFLAGS = $(AM_CFLAGS) $(preloaded_cflags)
libfanout_wait_la_LDFLAGS = $(preloaded_ldflags) \
	-export-symbols-regex '^(nanosleep|clock_nanosleep|usleep|sleep|thrd_sleep|poll|ppoll|select|pselect|epoll_wait|epoll_pwait|epoll_pwait2|sched_yield|clock_gettime|gettimeofday|time|timespec_get|fo_clock_hook|syscall|pthread_mutex_(timed|clock)lock|mtx_timedlock|pthread_rwlock_(timed|clock)(rd|wr)lock|pthread_(timed|clock)join_np|pthread_cond_timedwait|pthread_cond_clockwait|cnd_timedwait|sem_timedwait|sem_clockwait|timerfd_create|timerfd_settime|timerfd_gettime|recv|recvfrom|recvmsg|send|sendmsg|socket|accept|accept4|getaddrinfo|getnameinfo|gethostby(name|name2|addr)(_r)?)$$'
libfanout_wait_la_LIBADD = -ldl -lpthread
libfanout_tray_la_SOURCES = machine/wire/tray_hook.c machine/wire/tray.c machine/wire/tray.h machine/wire/dial.c machine/wire/message.c
libfanout_tray_la_CFLAGS = $(AM_CFLAGS) $(preloaded_cflags)
libfanout_tray_la_LDFLAGS = $(preloaded_ldflags) -export-symbols-regex '^(gethostname|uname)$$'
EXTRA_DIST += machine/README.md
