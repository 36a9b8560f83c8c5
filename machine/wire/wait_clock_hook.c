/* Part of libfanout_wait.so: what clocks show in a job whose waits pass in simulated time.
 *
 * A clock shows the host's time and, on top, the simulated time of the machine, which is one for all processes. So it
 * never shows less than a wait was long: programs look at the clock after a wait, and wait for what is left. Under
 * --clock simulated, and in processes that use the driver, a clock shows simulated time alone (libfanout_clock.so), and
 * goes on from what it has shown before.
 *
 * A program that waits until a moment has read the clock and added a length: what the host needed since then is no part
 * of that length, and would be another on each run. So the last reading of each thread is kept, and the wait is for
 * what is left of the length, less the simulated time since. A thread that has not read the clock since its last wait
 * (it was given the moment, or counts on from the last) goes by the latest reading of any thread of the process. */
#include <sys/syscall.h>

#include "machine/wire/wait.h"

#define CLOCKS 8 /* CLOCK_REALTIME to CLOCK_BOOTTIME, with the two of processor time, which are the host's */

/* A clock less simulated time, in ns; 0: it was not read. */
static int64_t latest[CLOCKS]; /* of any thread; atomic */
static _Thread_local int64_t last[CLOCKS];
static int simulated; /* atomic: clocks show simulated time alone, and so much more: */
static int64_t more_ns[CLOCKS];

static int is_shifted(clockid_t clock)
{
    return clock >= 0 && clock < CLOCKS && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
}

static int64_t ns_of(const struct timespec *at) { return (int64_t)at->tv_sec * WAIT_NS_PER_S + at->tv_nsec; }

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){(time_t)(ns / WAIT_NS_PER_S), (long)(ns % WAIT_NS_PER_S)};
}

static int64_t seen_ns(void) { return (int64_t)(talk_seen_ps() / 1000); }

/* What the clock shows beyond what is behind it. */
static int64_t shift_ns(clockid_t clock)
{
    return __atomic_load_n(&simulated, __ATOMIC_ACQUIRE) ? more_ns[clock] : seen_ns();
}

static int64_t read_ns(clockid_t clock)
{
    struct timespec at = {0, 0};
    int64_t shift = shift_ns(clock);

    talk_real()->clock_gettime(clock, &at);
    return ns_of(&at) + shift;
}

static int64_t read_and_note(clockid_t clock)
{
    int64_t seen = seen_ns(), ns = read_ns(clock);

    last[clock] = ns - seen;
    __atomic_store_n(&latest[clock], ns - seen, __ATOMIC_RELAXED);
    return ns;
}

int64_t clock_left_ns(clockid_t clock, const struct timespec *until)
{
    if (!is_shifted(clock))
        return -1;
    if (until->tv_sec > INT64_MAX / WAIT_NS_PER_S - 1)
        return INT64_MAX;
    int64_t read = last[clock] ? last[clock] : __atomic_load_n(&latest[clock], __ATOMIC_RELAXED);
    int64_t now = read ? read + seen_ns() : read_ns(clock), ns = ns_of(until) - now;
    return ns > 0 ? ns : 0;
}

const struct timespec *clock_of_host(clockid_t clock, const struct timespec *until, struct timespec *room)
{
    struct timespec host = {0, 0};

    if (!talk_owned() || !is_shifted(clock) || !wait_is_time(until) || until->tv_sec > INT64_MAX / WAIT_NS_PER_S - 1)
        return until;
    int64_t left = ns_of(until) - read_ns(clock);
    talk_call(SYS_clock_gettime, clock, (long)&host, 0, 0, 0, 0);
    left += ns_of(&host);
    *room = timespec_of(left > 0 ? left : 0);
    return room;
}

void clock_waited(void)
{
    for (int i = 0; i < CLOCKS; i++)
        last[i] = 0;
}

WAIT_EXPORT int clock_gettime(clockid_t clock, struct timespec *at)
{
    if (!talk_owned() || !is_shifted(clock))
        return talk_real()->clock_gettime(clock, at);
    *at = timespec_of(read_and_note(clock));
    return 0;
}

WAIT_EXPORT int gettimeofday(struct timeval *at, void *zone)
{
    if (!talk_owned())
        return talk_real()->gettimeofday(at, zone);
    int64_t ns = read_and_note(CLOCK_REALTIME);
    *at = (struct timeval){(time_t)(ns / WAIT_NS_PER_S), (suseconds_t)(ns % WAIT_NS_PER_S / 1000)};
    return 0;
}

WAIT_EXPORT int timespec_get(struct timespec *at, int base)
{
    if (base != TIME_UTC)
        return 0;
    return clock_gettime(CLOCK_REALTIME, at) == 0 ? base : 0;
}

WAIT_EXPORT time_t time(time_t *at)
{
    if (!talk_owned())
        return talk_real()->time(at);
    time_t now = (time_t)(read_and_note(CLOCK_REALTIME) / WAIT_NS_PER_S);
    if (at)
        *at = now;
    return now;
}

/* The driver front end calls this once under --clock simulated. */
WAIT_EXPORT void fo_clock_hook(uint64_t (*function)(void));
WAIT_EXPORT void fo_clock_hook(uint64_t (*function)(void))
{
    int64_t shown_ns[CLOCKS];

    void (*of_clock)(uint64_t(*)(void)) = NULL; /* of libfanout_clock.so; NULL: it is not there */
    talk_find(&of_clock, "fo_clock_hook", NULL);
    if (!of_clock)
        return;
    for (clockid_t id = 0; id < CLOCKS; id++)
        shown_ns[id] = is_shifted(id) ? read_ns(id) : 0;
    of_clock(function);
    for (clockid_t id = 0; id < CLOCKS; id++) {
        struct timespec at = {0, 0};
        talk_real()->clock_gettime(id, &at);
        more_ns[id] = talk_owned() ? shown_ns[id] - ns_of(&at) : 0;
    }
    __atomic_store_n(&simulated, 1, __ATOMIC_RELEASE);
}
