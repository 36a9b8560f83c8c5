/* Inside libfanout_wait.so, which is part of every process of a job and needs the C library alone. */
#ifndef MACHINE_WIRE_WAIT_H
#define MACHINE_WIRE_WAIT_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>

#include "machine/wire/client.h"

#define WAIT_EXPORT __attribute__((visibility("default")))
#define WAIT_HOST (-2) /* there is no owner: the host's time it is */
#define WAIT_NS_PER_S 1000000000ll

/* What is behind these hooks: the C library's own, or those of a library that was preloaded, too. */
typedef struct {
    int (*nanosleep)(const struct timespec *, struct timespec *);
    int (*clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);
    int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
    int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
    int (*sched_yield)(void);
    int (*clock_gettime)(clockid_t, struct timespec *);
    int (*gettimeofday)(struct timeval *, void *);
    time_t (*time)(time_t *);
    int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    int (*sem_clockwait)(void *, clockid_t, const struct timespec *);
    int (*sem_timedwait)(void *, const struct timespec *);
    int (*mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
    int (*mutex_clocklock)(pthread_mutex_t *, clockid_t, const struct timespec *);
    int (*rwlock_clockrdlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
    int (*rwlock_clockwrlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
    int (*clockjoin)(pthread_t, void **, clockid_t, const struct timespec *);
} WaitReal;

/* wait_talk.c: a thread's talk with the machine's owner. */
const WaitReal *talk_real(void);
/* *function: what is behind a hook of this name. Of several versions dlsym() may find the oldest; `version` is the one
 * that programs are linked with now, NULL where there is one alone. */
void talk_find(void *function, const char *name, const char *version);
/* syscall(), at any time: allocators call it before anything can be looked up. */
long talk_call(long number, long a, long b, long c, long d, long e, long f);
int talk_owned(void);        /* this process is part of a job */
uint64_t talk_seen_ps(void); /* simulated time, as the latest answer to anybody told it */
/* A request that is answered at once; descriptor -1: none. 1: it was, with no error; 0: there is no owner, or it
 * refuses. */
int talk_ask(uint32_t op, uint64_t argument, uint64_t time_ps, int descriptor);
/* Waits until so much simulated time has passed (0), one of these is ready (how many), or a signal has come (-1,
 * EINTR). WAIT_HOST: nothing was waited for. The array has room for one more than n. mask as in ppoll(). */
int talk_wait(struct pollfd *polled, nfds_t n, uint64_t length_ps, const sigset_t *mask, uint64_t *passed_ps);
/* What the calling thread polled for has come: returns when all others of the job are quiet. */
void talk_woken(void);
int talk_dial(WireRole role);    /* a connection for itself, of the calling thread; -1: there is no owner */
uint64_t talk_ps_of(int64_t ns); /* of a length: at most some 46 days, longer than any run */

/* wait_clock_hook.c: the time until that moment of the clock, as the calling thread knows the clock: what the host has
 * needed since a thread has read it does not count. 0: the moment is past; -1: the clock is none of those that a wait
 * can be measured by. */
int64_t clock_left_ns(clockid_t clock, const struct timespec *until);
/* The same moment of the host's own clock, in `room`, for waits that the host measures. */
const struct timespec *clock_of_host(clockid_t clock, const struct timespec *until, struct timespec *room);
void clock_waited(void); /* the calling thread has waited for a time */

/* wait_spin_hook.c, on the page of threads that the owner reads: the calling thread has asked for something that it
 * could have waited for, and goes on at once. */
void spin_note(void);
/* It has asked, and something was there, or it has sent something: what it, or another, waits for may have come. */
void spin_change(void);
/* more 1: until it is taken back (-1) the calling thread waits for something that no thread of the job does, and that
 * comes soon: it counts as one that runs. */
void spin_outside(int more);
static inline void spin_asked(int found)
{
    if (found == 0)
        spin_note();
    else if (found > 0)
        spin_change();
}

static inline int wait_is_time(const struct timespec *length)
{
    return length && length->tv_sec >= 0 && length->tv_nsec >= 0 && length->tv_nsec < WAIT_NS_PER_S;
}

#endif
