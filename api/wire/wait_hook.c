/* libfanout_wait.so: preloaded by `fanout exec` into every process of a job, so that waiting for a time is waiting for
 * simulated time. A thread that sleeps, or that waits for descriptors with a time-out, asks the machine's owner for
 * that much simulated time: `while (!flag) usleep(100);` then does the same on every host, and a job whose every
 * thread sleeps goes on at once.
 *
 * Modelled: sleep, usleep, nanosleep, clock_nanosleep, thrd_sleep; time-outs of poll, ppoll, select, pselect,
 * epoll_wait, epoll_pwait. A signal ends a sleep as ever. Condition variables and semaphores: wait_condition.c. Left
 * out: programs that are linked statically or make their own system calls: they sleep by the host's clock. Where no
 * owner answers, everything is as the host has it. It needs the C library alone: it is part of processes that know
 * nothing of Fanout. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/wire/wait.h"

#define EXPORT __attribute__((visibility("default")))
#define NS_PER_S 1000000000ull
#define PS_PER_NS_ 1000ull
#define POLL_MORE 64 /* descriptors that a poll on the stack has room for */

static struct {
    pthread_once_t once;
    pthread_key_t key;
    const char *name; /* the owner's; NULL: there is none */
    const MachinePage *page;
} wait = {.once = PTHREAD_ONCE_INIT};

static _Thread_local struct {
    int fd;    /* this thread's connection */
    pid_t pid; /* of the process that made it: a child of a fork needs its own; 0: none */
    int refused;
} own;

static void thread_ends(void *unused)
{
    (void)unused;
    if (own.pid == getpid())
        close(own.fd);
    own.pid = 0;
}

static void wait_begin(void)
{
    const char *name = getenv(WIRE_ENV);

    pthread_key_create(&wait.key, thread_ends);
    if (name && *name)
        wait.name = strdup(name);
}

/* This thread's connection, or -1: the host's time it is. */
static int connection(void)
{
    WireHello hello;
    WireWelcome welcome;
    int page_fd = -1;

    pthread_once(&wait.once, wait_begin);
    if (!wait.name || own.refused)
        return -1;
    if (own.pid == getpid())
        return own.fd;
    if (own.pid != 0) /* the parent's */
        close(own.fd);
    own.pid = 0;
    wire_introduce(&hello, WIRE_ROLE_CALLER, 0);
    own.fd = wire_dial(wait.name, &hello, &welcome, &page_fd);
    if (page_fd >= 0 && !wait.page) {
        void *page = mmap(NULL, sizeof(MachinePage), PROT_READ, MAP_SHARED, page_fd, 0);
        wait.page = page == MAP_FAILED ? NULL : page;
    }
    if (page_fd >= 0)
        close(page_fd);
    own.refused = own.fd < 0;
    if (own.fd < 0)
        return -1;
    own.pid = getpid();
    pthread_setspecific(wait.key, &own);
    return own.fd;
}

static uint64_t seen_ps(void) { return wait.page ? __atomic_load_n(&wait.page->seen_ps, __ATOMIC_ACQUIRE) : 0; }

static void connection_lost(void)
{
    close(own.fd);
    own.pid = 0;
}

int wait_ask(uint32_t op, uint64_t argument, uint64_t time_ps)
{
    WireCall call = {.head = wire_head(WIRE_CALL), .request = {.op = op, .argument = argument, .time_ps = time_ps}};
    int fd = connection();

    if (fd < 0)
        return -1;
    if (message_send(fd, &call, sizeof call, NULL, 0, -1))
        return fd;
    connection_lost();
    own.refused = 1; /* the owner has ended */
    return -1;
}

/* Whether the answer has come: 1; 0: the owner is gone. */
int wait_answered(int fd)
{
    WireReply reply;
    ssize_t n;

    do
        n = recv(fd, &reply, sizeof reply, 0);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof reply)
        return 1;
    connection_lost();
    own.refused = 1;
    return 0;
}

/* 0, or EINTR with *left_ps; -1: the host's time it is. */
static int sleep_ps(uint64_t length_ps, uint64_t *left_ps)
{
    const int keep = errno;
    uint64_t start_ps = seen_ps();
    int fd = wait_ask(ENGINE_SLEEP, 0, length_ps);
    WireReply reply;

    if (fd < 0)
        return -1;
    if (recv(fd, &reply, sizeof reply, 0) == (ssize_t)sizeof reply) {
        errno = keep;
        return 0;
    }
    if (errno != EINTR) {
        connection_lost();
        own.refused = 1;
        return -1;
    }
    connection_lost(); /* the owner forgets the sleep */
    uint64_t passed_ps = seen_ps() - start_ps;
    *left_ps = passed_ps < length_ps ? length_ps - passed_ps : 0;
    return EINTR;
}

static uint64_t ps_of(const struct timespec *length)
{
    if (length->tv_sec > 4000000) /* some 46 days: longer than any run, and what picoseconds have room for */
        return 4000000ull * NS_PER_S * PS_PER_NS_;
    return ((uint64_t)length->tv_sec * NS_PER_S + (uint64_t)length->tv_nsec) * PS_PER_NS_;
}

static int is_time(const struct timespec *length)
{
    return length && length->tv_sec >= 0 && length->tv_nsec >= 0 && length->tv_nsec < (long)NS_PER_S;
}

static int sleep_clock(clockid_t clock, int flags, const struct timespec *request, struct timespec *rest)
{
    struct timespec now, length = {0, 0};
    uint64_t left_ps = 0;

    if (!is_time(request) || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
        return -1;
    length = *request;
    if (flags & TIMER_ABSTIME) {
        if (clock_gettime(clock, &now) != 0)
            return -1;
        int64_t ns = (int64_t)(request->tv_sec - now.tv_sec) * (int64_t)NS_PER_S + (request->tv_nsec - now.tv_nsec);
        if (ns <= 0)
            return 0;
        length = (struct timespec){ns / (int64_t)NS_PER_S, ns % (int64_t)NS_PER_S};
    }
    int result = sleep_ps(ps_of(&length), &left_ps);
    if (result == EINTR && rest && !(flags & TIMER_ABSTIME))
        *rest = (struct timespec){(time_t)(left_ps / PS_PER_NS_ / NS_PER_S), (long)(left_ps / PS_PER_NS_ % NS_PER_S)};
    return result;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *rest)
{
    int result = sleep_clock(clock, flags, request, rest);

    if (result >= 0)
        return result;
    return syscall(SYS_clock_nanosleep, clock, flags, request, rest) == 0 ? 0 : errno;
}

EXPORT int nanosleep(const struct timespec *request, struct timespec *rest)
{
    int result = sleep_clock(CLOCK_MONOTONIC, 0, request, rest);

    if (result < 0)
        return (int)syscall(SYS_nanosleep, request, rest);
    errno = result != 0 ? result : errno;
    return result == 0 ? 0 : -1;
}

EXPORT int usleep(useconds_t us)
{
    const struct timespec length = {us / 1000000, (long)(us % 1000000) * 1000};
    return nanosleep(&length, NULL);
}

EXPORT unsigned sleep(unsigned s)
{
    const struct timespec length = {s, 0};
    struct timespec rest = {0, 0};
    return nanosleep(&length, &rest) == 0 ? 0 : (unsigned)(rest.tv_sec + (rest.tv_nsec > 0));
}

/* ---- descriptors with a time-out */

/* Waits until one of these is ready or the simulated time has passed. The descriptors' events are in `polled`, which
 * has room for one more. What poll() returns; -2: the host's time it is. */
static int poll_until(struct pollfd *polled, nfds_t n, uint64_t length_ps, const sigset_t *mask)
{
    int fd, ready = poll(polled, n, 0);

    if (ready != 0)
        return ready;
    fd = wait_ask(ENGINE_SLEEP, 0, length_ps);
    if (fd < 0)
        return -2;
    polled[n] = (struct pollfd){.fd = fd, .events = POLLIN};
    ready = (int)syscall(SYS_ppoll, polled, n + 1, NULL, mask, (size_t)_NSIG / 8);
    int keep = errno;
    if (ready > 0 && polled[n].revents != 0) { /* time is over; an answer at the same time counts */
        wait_answered(fd);
        return ready - 1;
    }
    connection_lost();
    errno = keep;
    return ready;
}

static int poll_for(struct pollfd *fds, nfds_t n, uint64_t length_ps, const sigset_t *mask)
{
    struct pollfd few[POLL_MORE + 1], *all = n <= POLL_MORE ? few : malloc((n + 1) * sizeof *all);

    if (!all)
        return -2;
    if (n > 0)
        memcpy(all, fds, n * sizeof *all);
    int ready = poll_until(all, n, length_ps, mask);
    if (ready != -2 && n > 0)
        memcpy(fds, all, n * sizeof *all);
    if (all != few)
        free(all);
    return ready;
}

EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
    struct timespec copy;

    if (is_time(limit) && (limit->tv_sec > 0 || limit->tv_nsec > 0)) {
        int ready = poll_for(fds, n, ps_of(limit), mask);
        if (ready != -2)
            return ready;
    }
    if (limit)
        copy = *limit; /* the system call writes there */
    return (int)syscall(SYS_ppoll, fds, n, limit ? &copy : NULL, mask, (size_t)_NSIG / 8);
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int limit_ms)
{
    if (limit_ms > 0) {
        int ready = poll_for(fds, n, (uint64_t)limit_ms * 1000000 * PS_PER_NS_, NULL);
        if (ready != -2)
            return ready;
    }
    return (int)syscall(SYS_poll, fds, n, limit_ms);
}

EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int most, int limit_ms, const sigset_t *mask)
{
    if (limit_ms > 0) {
        struct pollfd polled[2] = {{.fd = epoll, .events = POLLIN}};
        int ready = poll_until(polled, 1, (uint64_t)limit_ms * 1000000 * PS_PER_NS_, mask);
        if (ready == -1)
            return -1;
        if (ready != -2)
            limit_ms = 0;
    }
    return (int)syscall(SYS_epoll_pwait, epoll, events, most, limit_ms, mask, (size_t)_NSIG / 8);
}

EXPORT int epoll_wait(int epoll, struct epoll_event *events, int most, int limit_ms)
{
    return epoll_pwait(epoll, events, most, limit_ms, NULL);
}

/* As poll has it; what select says beside poll (an error for a bad descriptor) is left to the host's select with no
 * time-out. */
static int select_for(int n, fd_set *reads, fd_set *writes, fd_set *others, uint64_t length_ps, const sigset_t *mask)
{
    struct pollfd polled[FD_SETSIZE + 1];
    nfds_t used = 0;

    for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++) {
        short events =
            (short)((reads && FD_ISSET(fd, reads) ? POLLIN : 0) | (writes && FD_ISSET(fd, writes) ? POLLOUT : 0) |
                    (others && FD_ISSET(fd, others) ? POLLPRI : 0));
        if (events != 0)
            polled[used++] = (struct pollfd){.fd = fd, .events = events};
    }
    return poll_until(polled, used, length_ps, mask);
}

EXPORT int pselect(int n, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *limit,
                   const sigset_t *mask)
{
    struct timespec copy = {0, 0};
    struct {
        const sigset_t *mask;
        size_t bytes;
    } masked = {mask, (size_t)_NSIG / 8};

    if (limit)
        copy = *limit;
    if (is_time(limit) && (limit->tv_sec > 0 || limit->tv_nsec > 0) && n >= 0 && n <= FD_SETSIZE) {
        int ready = select_for(n, reads, writes, others, ps_of(limit), mask);
        if (ready == -1)
            return -1;
        if (ready != -2)
            copy = (struct timespec){0, 0};
    }
    return (int)syscall(SYS_pselect6, n, reads, writes, others, limit ? &copy : NULL, mask ? &masked : NULL);
}

EXPORT int select(int n, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *limit)
{
    struct timespec same = {0, 0};

    if (limit)
        same = (struct timespec){limit->tv_sec, (long)limit->tv_usec * 1000};
    int ready = pselect(n, reads, writes, others, limit ? &same : NULL, NULL);
    if (limit && ready == 0)
        *limit = (struct timeval){0, 0};
    return ready;
}
