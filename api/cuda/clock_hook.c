/* libfanout_clock.so: preloaded by `fanout exec --clock simulated`, so that a program that times itself by the host's
 * clocks sees simulated time: its clocks start where the host's are and go on as the simulation does, for the calling
 * process. It knows nothing of the front end: that registers a function.
 *
 * A program that waits for a time while nothing is simulated must not wait for ever: a thread that has read the same
 * time many times over gets the host's time on top from then on, for itself alone. What is measured between two reads
 * around simulated work has nothing of it. */
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NS_PER_S 1000000000ll
#define CLOCKS 8              /* CLOCK_REALTIME to CLOCK_BOOTTIME */
#define STANDSTILL_READS 1000 /* of one thread, after which the host's time counts */

static _Atomic(uint64_t (*)(void)) simulated_ps;
static int64_t start_ns[CLOCKS]; /* of each clock, less the simulated time then */
static _Thread_local struct {
    uint64_t ps;
    int64_t host_ns, extra_ns;
    unsigned reads;
} seen;

static int64_t host_ns(clockid_t id)
{
    struct timespec at = {0, 0};
    syscall(SYS_clock_gettime, id, &at);
    return at.tv_sec * NS_PER_S + at.tv_nsec;
}

/* Called once, when the simulation starts: what the clocks show goes on from now. */
EXPORT void fo_clock_hook(uint64_t (*function)(void));
EXPORT void fo_clock_hook(uint64_t (*function)(void))
{
    for (clockid_t id = 0; id < CLOCKS; id++)
        start_ns[id] = host_ns(id) - (int64_t)(function() / 1000);
    atomic_store(&simulated_ps, function);
}

static int64_t standstill_ns(uint64_t ps)
{
    if (ps != seen.ps) {
        seen.ps = ps;
        seen.reads = 0;
    } else if (++seen.reads >= STANDSTILL_READS) {
        int64_t now = host_ns(CLOCK_MONOTONIC);
        if (seen.reads > STANDSTILL_READS)
            seen.extra_ns += now - seen.host_ns;
        seen.host_ns = now;
    }
    return seen.extra_ns;
}

/* Processor time is the host's. */
static int is_ours(clockid_t id)
{
    return id >= 0 && id < CLOCKS && id != CLOCK_PROCESS_CPUTIME_ID && id != CLOCK_THREAD_CPUTIME_ID;
}

EXPORT int clock_gettime(clockid_t id, struct timespec *at)
{
    uint64_t (*function)(void) = atomic_load(&simulated_ps);

    if (!function || !is_ours(id))
        return (int)syscall(SYS_clock_gettime, id, at);
    uint64_t ps = function();
    int64_t ns = start_ns[id] + (int64_t)(ps / 1000) + standstill_ns(ps);
    at->tv_sec = (time_t)(ns / NS_PER_S);
    at->tv_nsec = (long)(ns % NS_PER_S);
    return 0;
}

EXPORT int gettimeofday(struct timeval *at, void *zone)
{
    struct timespec now;
    (void)zone; /* nothing fills it in */
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

EXPORT time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
