/* The host's clocks, for what is meant in host time: watchdogs, and how long a lock of another process is waited for.
 * They are asked past the C library, whose clocks show simulated time under `fanout exec --clock simulated`. No result
 * may depend on them: tests/style/tidy.allow lists who looks. */
#ifndef SIM_HOST_CLOCK_H
#define SIM_HOST_CLOCK_H

#include <glib.h>
#ifndef __EMSCRIPTEN__
#include <sys/syscall.h>
#define host_clock_ask(clock, at) syscall(SYS_clock_gettime, clock, at)
#else /* which has no clock but the C library's */
#define host_clock_ask(clock, at) clock_gettime(clock, at)
#endif
#include <time.h>
#include <unistd.h>

/* For waits that end at a time of CLOCK_REALTIME. */
static inline void host_clock_get(struct timespec *at) { host_clock_ask(CLOCK_REALTIME, at); }

/* Since some moment in the past; never goes back. */
static inline gint64 host_clock_us(void)
{
    struct timespec at = {0, 0};
    host_clock_ask(CLOCK_MONOTONIC, &at);
    return (gint64)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

#endif
