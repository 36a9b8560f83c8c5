/* Part of libfanout_wait.so: timers that are descriptors (timerfd), in simulated time.
 *
 * Programs wait for such a timer as for any descriptor (Boost.Asio and UCX do), and read from it how often it has run
 * out. An event counter of the kernel (eventfd) does the same: it is readable when its count is not 0, and reading
 * gives the count and sets it back. So a timer is one of these, to which the thread of timers (wait_timer.c) adds when
 * the owner says that the time has come.
 *
 * Left out: what differs in a counter (TFD_TIMER_CANCEL_ON_SET is taken for nothing, since no clock is set here; who
 * looks in /proc finds an eventfd); clocks of the processor, which are the host's; a copy of the descriptor (dup) is a
 * way to read it, not to set it. A timer that was set before a fork runs on in the parent, and both see it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "machine/wire/wait_timer.h"

#define FD_FROM 600 /* where programs that number their descriptors by hand do not come */

typedef struct TimerFd {
    struct TimerFd *next;
    int fd, own_fd; /* the program's; ours, of the same counter */
    clockid_t clock;
    uint64_t due_ps; /* by the job's clock; 0: it is not set */
    uint64_t period_ps;
    pid_t pid; /* of the process that has set it */
    Timed timed;
} TimerFd;

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    TimerFd *all;
} timers = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static TimerFd **place_of(int fd)
{
    TimerFd **place = &timers.all;

    while (*place && (*place)->fd != fd)
        place = &(*place)->next;
    return place;
}

/* The program may have closed it, and its number may be of something else by now. */
static int is_still(const TimerFd *timer)
{
    struct stat mine, now;
    long same = talk_call(SYS_kcmp, getpid(), getpid(), KCMP_FILE, timer->fd, timer->own_fd, 0);

    if (same >= 0)
        return same == 0;
    return fstat(timer->fd, &now) == 0 && fstat(timer->own_fd, &mine) == 0 && now.st_ino == mine.st_ino &&
           now.st_dev == mine.st_dev;
}

/* The lock is held. */
static void drop(TimerFd **place)
{
    TimerFd *timer = *place;

    *place = timer->next;
    if (timer->pid == getpid())
        timer_disarm(&timer->timed);
    close(timer->own_fd);
    free(timer);
}

/* On the thread of timers. */
static void runs_out(Timed *timed)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&timers.lock);
    TimerFd **place = &timers.all;
    while (*place && &(*place)->timed != timed)
        place = &(*place)->next;
    TimerFd *timer = *place;
    if (timer && !is_still(timer)) {
        drop(place);
    } else if (timer && timer->due_ps != 0) {
        while (write(timer->own_fd, &one, sizeof one) < 0 && errno == EINTR)
            ;
        timer->due_ps = timer->period_ps ? talk_seen_ps() + timer->period_ps : 0;
        if (timer->period_ps)
            timer_arm(timed, timer->period_ps);
    }
    pthread_mutex_unlock(&timers.lock);
}

static int is_simulated(clockid_t clock)
{
    return talk_owned() && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
                            clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM);
}

/* A clock that wakes a host that sleeps is, here, the one that does not. */
static clockid_t shown_by(clockid_t clock)
{
    return clock == CLOCK_REALTIME_ALARM ? CLOCK_REALTIME : clock == CLOCK_BOOTTIME_ALARM ? CLOCK_BOOTTIME : clock;
}

/* In the child, whose one thread it is. */
static void after_fork(void) { pthread_mutex_init(&timers.lock, NULL); }
static void watch_forks(void) { pthread_atfork(NULL, NULL, after_fork); }

WAIT_EXPORT int timerfd_create(clockid_t clock, int flags)
{
    if (!is_simulated(clock) || (flags & ~(TFD_NONBLOCK | TFD_CLOEXEC)))
        return (int)talk_call(SYS_timerfd_create, clock, flags, 0, 0, 0, 0);
    TimerFd *timer = calloc(1, sizeof *timer);
    int fd = eventfd(0, (flags & TFD_NONBLOCK ? EFD_NONBLOCK : 0) | (flags & TFD_CLOEXEC ? EFD_CLOEXEC : 0));
    int own_fd = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, FD_FROM) : -1;
    if (!timer || own_fd < 0) {
        if (fd >= 0)
            close(fd);
        free(timer);
        return (int)talk_call(SYS_timerfd_create, clock, flags, 0, 0, 0, 0);
    }
    timer->fd = fd;
    timer->own_fd = own_fd;
    timer->clock = shown_by(clock);
    timer->timed.runs_out = runs_out;
    pthread_once(&timers.once, watch_forks);
    pthread_mutex_lock(&timers.lock);
    TimerFd **old = place_of(fd); /* it was closed since */
    if (*old)
        drop(old);
    timer->next = timers.all;
    timers.all = timer;
    pthread_mutex_unlock(&timers.lock);
    return fd;
}

static struct timespec timespec_of_ps(uint64_t ps)
{
    const uint64_t ns = (ps + 999) / 1000; /* what is left of one that is set is not 0 */
    return (struct timespec){(time_t)(ns / WAIT_NS_PER_S), (long)(ns % WAIT_NS_PER_S)};
}

/* The lock is held. */
static void tell(const TimerFd *timer, struct itimerspec *now)
{
    const uint64_t seen_ps = talk_seen_ps();

    now->it_interval = timespec_of_ps(timer->period_ps);
    now->it_value = timespec_of_ps(timer->due_ps > seen_ps ? timer->due_ps - seen_ps : timer->due_ps != 0);
}

static int64_t ns_of(const struct timespec *length)
{
    const int64_t most = INT64_MAX / WAIT_NS_PER_S - 1;
    return (length->tv_sec < most ? (int64_t)length->tv_sec : most) * WAIT_NS_PER_S + length->tv_nsec;
}

/* The lock is held. Setting it forgets how often it has run out before. */
static int set(TimerFd *timer, int flags, const struct itimerspec *to)
{
    uint64_t forgotten;
    struct pollfd ready = {.fd = timer->own_fd, .events = POLLIN};
    const struct timespec at_once = {0, 0};

    if (timer->pid == getpid())
        timer_disarm(&timer->timed);
    else
        timer_forget(&timer->timed); /* the parent's goes on */
    if (talk_real()->ppoll(&ready, 1, &at_once, NULL) > 0 && read(timer->own_fd, &forgotten, sizeof forgotten) < 0)
        return -1;
    timer->due_ps = timer->period_ps = 0;
    if (to->it_value.tv_sec == 0 && to->it_value.tv_nsec == 0)
        return 0;
    int64_t ns = flags & TFD_TIMER_ABSTIME ? clock_left_ns(timer->clock, &to->it_value) : ns_of(&to->it_value);
    timer->pid = getpid();
    timer->period_ps = talk_ps_of(ns_of(&to->it_interval));
    timer->due_ps = talk_seen_ps() + talk_ps_of(ns > 0 ? ns : 1); /* one that is past runs out at once */
    if (timer_arm(&timer->timed, talk_ps_of(ns > 0 ? ns : 1)))
        return 0;
    timer->due_ps = 0;
    errno = ENOMEM; /* the owner has ended, and with it simulated time */
    return -1;
}

WAIT_EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *was)
{
    pthread_mutex_lock(&timers.lock);
    TimerFd *timer = *place_of(fd);
    if (!timer || !is_still(timer)) {
        pthread_mutex_unlock(&timers.lock);
        return (int)talk_call(SYS_timerfd_settime, fd, flags, (long)to, (long)was, 0, 0);
    }
    int result = -1;
    struct itimerspec before;
    tell(timer, &before);
    if (!to || !wait_is_time(&to->it_value) || !wait_is_time(&to->it_interval) ||
        (flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)))
        errno = to ? EINVAL : EFAULT;
    else
        result = set(timer, flags, to);
    pthread_mutex_unlock(&timers.lock);
    if (result == 0 && was)
        *was = before;
    return result;
}

WAIT_EXPORT int timerfd_gettime(int fd, struct itimerspec *now)
{
    pthread_mutex_lock(&timers.lock);
    TimerFd *timer = *place_of(fd);
    if (!timer || !is_still(timer)) {
        pthread_mutex_unlock(&timers.lock);
        return (int)talk_call(SYS_timerfd_gettime, fd, (long)now, 0, 0, 0, 0);
    }
    tell(timer, now);
    pthread_mutex_unlock(&timers.lock);
    return 0;
}
