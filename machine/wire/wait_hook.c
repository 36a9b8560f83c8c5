/* libfanout_wait.so: preloaded by `fanout exec` into every process of a job, so that waiting for a time is waiting for
 * simulated time. A thread that sleeps, or that waits for descriptors with a time-out, asks the machine's owner for
 * that much simulated time: `while (!flag) usleep(100);` then does the same on every host, and a job whose every
 * thread sleeps goes on at once.
 *
 * Modelled here: sleep, usleep, nanosleep, clock_nanosleep, thrd_sleep; time-outs of poll, ppoll, select, pselect,
 * epoll_wait, epoll_pwait. A signal ends a sleep as ever. Condition variables and semaphores: wait_timer.c; timers
 * that are descriptors: wait_timerfd_hook.c; calls that do not wait: wait_spin_hook.c; moments of a clock:
 * wait_clock_hook.c.
 * Left out: programs that are linked statically or make their own system calls (Go); time-outs of mutexes and joins
 * (wait_host_hook.c), of sigtimedwait, message queues and sockets; alarms and timers of the kernel. All these go by the
 * host's clock. So does a handler of a signal that waits within a wait. Where no owner answers, everything is as the
 * host has it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "machine/wire/wait.h"

#define POLL_MORE 64 /* descriptors that a poll on the stack has room for */

static int64_t ns_of(const struct timespec *length)
{
    const int64_t most = INT64_MAX / WAIT_NS_PER_S - 1;
    return (length->tv_sec < most ? (int64_t)length->tv_sec : most) * WAIT_NS_PER_S + length->tv_nsec;
}

static struct timespec timespec_of_ps(uint64_t ps)
{
    return (struct timespec){(time_t)(ps / 1000 / WAIT_NS_PER_S), (long)(ps / 1000 % WAIT_NS_PER_S)};
}

/* 0, or EINTR with what is left; WAIT_HOST. */
static int sleep_ps(uint64_t length_ps, uint64_t *left_ps)
{
    struct pollfd none[1];
    uint64_t passed_ps;
    int keep = errno, result = talk_wait(none, 0, length_ps, NULL, &passed_ps);

    clock_waited();
    if (result == 0 || result == WAIT_HOST) {
        errno = keep;
        return result;
    }
    *left_ps = passed_ps < length_ps ? length_ps - passed_ps : 0;
    result = errno;
    errno = keep;
    return result;
}

static int sleep_clock(clockid_t clock, int flags, const struct timespec *request, struct timespec *rest)
{
    uint64_t left_ps = 0;
    int64_t ns;

    if (!talk_owned() || !wait_is_time(request) || clock == CLOCK_PROCESS_CPUTIME_ID ||
        clock == CLOCK_THREAD_CPUTIME_ID)
        return WAIT_HOST;
    ns = flags & TIMER_ABSTIME ? clock_left_ns(clock, request) : ns_of(request);
    if (ns < 0)
        return WAIT_HOST;
    if (ns == 0 && (flags & TIMER_ABSTIME))
        return 0;
    int result = sleep_ps(talk_ps_of(ns), &left_ps);
    if (result == EINTR && rest && !(flags & TIMER_ABSTIME))
        *rest = timespec_of_ps(left_ps);
    return result;
}

WAIT_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *rest)
{
    int result = sleep_clock(clock, flags, request, rest);
    struct timespec room;

    if (result != WAIT_HOST)
        return result;
    if (flags & TIMER_ABSTIME)
        request = clock_of_host(clock, request, &room);
    return talk_real()->clock_nanosleep(clock, flags, request, rest);
}

WAIT_EXPORT int nanosleep(const struct timespec *request, struct timespec *rest)
{
    int result = sleep_clock(CLOCK_MONOTONIC, 0, request, rest);

    if (result == WAIT_HOST)
        return talk_real()->nanosleep(request, rest);
    if (result == 0)
        return 0;
    errno = result;
    return -1;
}

WAIT_EXPORT int usleep(useconds_t us)
{
    const struct timespec length = {us / 1000000, (long)(us % 1000000) * 1000};
    return nanosleep(&length, NULL);
}

WAIT_EXPORT unsigned sleep(unsigned s)
{
    const struct timespec length = {s, 0};
    struct timespec rest = {0, 0};
    return nanosleep(&length, &rest) == 0 ? 0 : (unsigned)(rest.tv_sec + (rest.tv_nsec >= WAIT_NS_PER_S / 2));
}

WAIT_EXPORT int thrd_sleep(const struct timespec *request, struct timespec *rest)
{
    int keep = errno, result = nanosleep(request, rest);

    result = result == 0 ? 0 : errno == EINTR ? -1 : -2;
    errno = keep;
    return result;
}

/* ---- descriptors with a time-out */

/* Waits until one of these is ready (how many), or the simulated time is over (0). The array has room for one more.
 * *left_ps: what is left of it. -1 and WAIT_HOST as talk_wait(). */
static int poll_until(struct pollfd *polled, nfds_t n, uint64_t *left_ps, const sigset_t *mask)
{
    const struct timespec at_once = {0, 0};
    uint64_t passed_ps;
    int ready = talk_real()->ppoll(polled, n, &at_once, mask);

    if (ready > 0)
        talk_woken();
    if (ready != 0)
        return ready;
    ready = talk_wait(polled, n, *left_ps, mask, &passed_ps);
    clock_waited();
    if (ready != WAIT_HOST)
        *left_ps -= passed_ps < *left_ps ? passed_ps : *left_ps;
    return ready;
}

static int poll_for(struct pollfd *fds, nfds_t n, uint64_t length_ps, const sigset_t *mask)
{
    struct pollfd few[POLL_MORE + 1], *all = few;

    if (!talk_owned() || n > 1u << 20)
        return WAIT_HOST;
    if (n > POLL_MORE)
        all = malloc((n + 1) * sizeof *all);
    if (!all)
        return WAIT_HOST;
    if (n > 0)
        memcpy(all, fds, n * sizeof *all);
    int ready = poll_until(all, n, &length_ps, mask);
    for (nfds_t i = 0; ready >= 0 && i < n; i++)
        fds[i].revents = all[i].revents;
    if (all != few) {
        int keep = errno;
        free(all);
        errno = keep;
    }
    return ready;
}

WAIT_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
    if (wait_is_time(limit) && ns_of(limit) > 0) {
        int ready = poll_for(fds, n, talk_ps_of(ns_of(limit)), mask);
        if (ready != WAIT_HOST)
            return ready;
    }
    int ready = talk_real()->ppoll(fds, n, limit, mask);
    if (limit && ns_of(limit) == 0)
        spin_asked(ready);
    else if (ready > 0)
        talk_woken();
    return ready;
}

WAIT_EXPORT int poll(struct pollfd *fds, nfds_t n, int limit_ms)
{
    const struct timespec limit = {limit_ms / 1000, (long)(limit_ms % 1000) * 1000000};
    return ppoll(fds, n, limit_ms < 0 ? NULL : &limit, NULL);
}

/* Another thread may take what is there: then this one waits for what is left. */
static int epoll_for(int epoll, struct epoll_event *events, int most, uint64_t length_ps, const sigset_t *mask)
{
    struct pollfd polled[2] = {{.fd = epoll, .events = POLLIN}};
    int waited = 0;

    for (;; waited = 1) {
        int came = talk_real()->epoll_pwait(epoll, events, most, 0, mask);
        if (came > 0 && !waited)
            talk_woken();
        if (came != 0 || length_ps == 0)
            return came;
        polled[0].revents = 0;
        int ready = poll_until(polled, 1, &length_ps, mask);
        if (ready < 0)
            return ready;
        if (ready == 0)
            length_ps = 0;
    }
}

WAIT_EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int most, int limit_ms, const sigset_t *mask)
{
    if (limit_ms > 0 && talk_owned()) {
        int came = epoll_for(epoll, events, most, talk_ps_of((int64_t)limit_ms * 1000000), mask);
        if (came != WAIT_HOST)
            return came;
    }
    int came = talk_real()->epoll_pwait(epoll, events, most, limit_ms, mask);
    if (limit_ms == 0)
        spin_asked(came);
    else if (came > 0)
        talk_woken();
    return came;
}

WAIT_EXPORT int epoll_wait(int epoll, struct epoll_event *events, int most, int limit_ms)
{
    return epoll_pwait(epoll, events, most, limit_ms, NULL);
}

WAIT_EXPORT int epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *limit,
                             const sigset_t *mask)
{
    if (wait_is_time(limit) && ns_of(limit) > 0 && talk_owned()) {
        int came = epoll_for(epoll, events, most, talk_ps_of(ns_of(limit)), mask);
        if (came != WAIT_HOST)
            return came;
    }
    int came = (int)syscall(SYS_epoll_pwait2, epoll, events, most, limit, mask, (size_t)_NSIG / 8);
    if (came > 0 && !(limit && ns_of(limit) == 0))
        talk_woken();
    return came;
}

/* What select says beside poll (which sets, an error for a bad descriptor) is left to the host's select, without
 * waiting. A descriptor that only poll finds worth a word is not waited for again: the rest of the time is slept. */
static int select_for(int n, fd_set *sets[3], uint64_t *left_ps, const sigset_t *mask)
{
    static const short wanted[3] = {POLLIN | POLLRDNORM, POLLOUT | POLLWRNORM, POLLPRI};
    const struct timespec at_once = {0, 0};
    struct pollfd polled[FD_SETSIZE + 1];
    fd_set asked[3], *now[3];
    nfds_t used = 0;

    for (int fd = 0; fd < n; fd++) {
        short events = 0;
        for (int s = 0; s < 3; s++)
            events = (short)(events | (sets[s] && FD_ISSET(fd, sets[s]) ? wanted[s] : 0));
        if (events != 0)
            polled[used++] = (struct pollfd){.fd = fd, .events = events};
    }
    for (;;) {
        int ready = poll_until(polled, used, left_ps, mask);
        if (ready < 0)
            return ready;
        for (int s = 0; s < 3; s++) {
            now[s] = sets[s] ? &asked[s] : NULL;
            if (sets[s])
                asked[s] = *sets[s];
        }
        int found = talk_real()->pselect(n, now[0], now[1], now[2], &at_once, mask);
        if (found == 0 && ready > 0 && used > 0 && *left_ps > 0) {
            used = 0;
            continue;
        }
        for (int s = 0; s < 3 && found >= 0; s++)
            if (sets[s])
                *sets[s] = asked[s];
        return found;
    }
}

static int select_any(int n, fd_set *sets[3], const struct timespec *limit, struct timespec *left, const sigset_t *mask)
{
    if (wait_is_time(limit) && ns_of(limit) > 0 && n >= 0 && n <= FD_SETSIZE && talk_owned()) {
        uint64_t left_ps = talk_ps_of(ns_of(limit));
        int ready = select_for(n, sets, &left_ps, mask);
        if (ready != WAIT_HOST) {
            *left = timespec_of_ps(left_ps);
            return ready;
        }
    }
    int ready = talk_real()->pselect(n, sets[0], sets[1], sets[2], limit, mask);
    if (limit && ns_of(limit) == 0)
        spin_asked(ready);
    else if (ready > 0)
        talk_woken();
    *left = (struct timespec){0, 0};
    return ready;
}

WAIT_EXPORT int pselect(int n, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *limit,
                        const sigset_t *mask)
{
    fd_set *sets[3] = {reads, writes, others};
    struct timespec left;

    return select_any(n, sets, limit, &left, mask);
}

WAIT_EXPORT int select(int n, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *limit)
{
    fd_set *sets[3] = {reads, writes, others};
    struct timespec same = {0, 0}, left;

    if (limit)
        same = (struct timespec){limit->tv_sec + limit->tv_usec / 1000000, (long)(limit->tv_usec % 1000000) * 1000};
    int ready = select_any(n, sets, limit ? &same : NULL, &left, NULL);
    if (limit)
        *limit = (struct timeval){left.tv_sec, left.tv_nsec / 1000};
    return ready;
}
