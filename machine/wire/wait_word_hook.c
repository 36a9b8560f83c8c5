/* Part of libfanout_wait.so: semaphores, and futexes that a program calls by itself, with a time-out. See
 * wait_timer.c. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "machine/wire/wait_timer.h"

#define FUTEX_LONG_S 100000000l /* a sleep with a time-out ends for every handled signal, as the caller expects */

/* ---- semaphores */

/* What the C library has in a sem_t since 2.21, with atomics of 64 bits. */
typedef struct {
    uint64_t data; /* tokens; from bit 32 on: waiters */
    int shared;
} Semaphore;

#define ONE_WAITER ((uint64_t)1 << 32)

/* Takes a token, and what else is in `less`; 0: there is none. */
static int token_take(Semaphore *semaphore, uint64_t less)
{
    uint64_t data = __atomic_load_n(&semaphore->data, __ATOMIC_ACQUIRE);

    while ((uint32_t)data > 0)
        if (__atomic_compare_exchange_n(&semaphore->data, &data, data - 1 - less, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return 1;
    return 0;
}

typedef struct {
    Semaphore *semaphore;
    Timed *timed;
} Waiter;

static void waiter_leaves(Semaphore *semaphore) { __atomic_fetch_sub(&semaphore->data, ONE_WAITER, __ATOMIC_SEQ_CST); }

static void waiter_cancelled(void *data)
{
    Waiter *waiter = data;

    waiter_leaves(waiter->semaphore);
    timer_end(waiter->timed);
}

static uint32_t *word_of(Semaphore *semaphore)
{
    return (uint32_t *)&semaphore->data + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* A place where a thread can be cancelled, as it is in the C library. What the futex said, 0 or an error's number. */
static int sleep_on(Semaphore *semaphore, Timed *timed)
{
    const struct timespec very_long = {FUTEX_LONG_S, 0};
    Waiter waiter = {semaphore, timed};
    int why, before;

    pthread_cleanup_push(waiter_cancelled, &waiter);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    why = timer_futex(timed->word, FUTEX_WAIT, 0, &very_long, timed->shared) == 0 ? 0 : errno;
    pthread_setcanceltype(before, NULL);
    pthread_cleanup_pop(0);
    return why;
}

/* 0, ETIMEDOUT or EINTR. */
static int token_await(Semaphore *semaphore, Timed *timed)
{
    for (;;) {
        int why = sleep_on(semaphore, timed);
        if (token_take(semaphore, ONE_WAITER))
            return 0;
        if (__atomic_load_n(&timed->expired, __ATOMIC_SEQ_CST) || why == EINTR) {
            waiter_leaves(semaphore);
            return why == EINTR ? EINTR : ETIMEDOUT;
        }
    }
}

/* A result, or WAIT_HOST. */
static int semaphore_wait(Semaphore *semaphore, clockid_t clock, const struct timespec *until)
{
    Timed timed = {.word = word_of(semaphore), .shared = semaphore->shared != 0};
    int64_t ns;

    if (!talk_owned())
        return WAIT_HOST;
    if (token_take(semaphore, 0))
        return 0;
    if (!wait_is_time(until) || (ns = clock_left_ns(clock, until)) < 0)
        return WAIT_HOST;
    if (ns == 0) {
        spin_note();
        return ETIMEDOUT;
    }
    if (!timer_begin(&timed, ns))
        return WAIT_HOST;
    __atomic_fetch_add(&semaphore->data, ONE_WAITER, __ATOMIC_SEQ_CST);
    int result = token_await(semaphore, &timed);
    timer_end(&timed);
    return result;
}

static int semaphore_end(int result)
{
    if (result != 0)
        errno = result;
    return result == 0 ? 0 : -1;
}

WAIT_EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    int result = semaphore_wait((Semaphore *)semaphore, CLOCK_REALTIME, until);

    struct timespec room;
    return result != WAIT_HOST ? semaphore_end(result)
                               : talk_real()->sem_timedwait(semaphore, clock_of_host(CLOCK_REALTIME, until, &room));
}

WAIT_EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    int result = semaphore_wait((Semaphore *)semaphore, clock, until);

    struct timespec room;
    if (result != WAIT_HOST)
        return semaphore_end(result);
    if (talk_real()->sem_clockwait)
        return talk_real()->sem_clockwait(semaphore, clock, clock_of_host(clock, until, &room));
    return semaphore_end(EINVAL);
}

/* ---- futexes that a program calls by itself */

/* The length of a futex's wait in ns; -1: it is not one with a time-out. */
static int64_t futex_ns(int op, const struct timespec *limit)
{
    int command = op & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);

    if (!limit || !wait_is_time(limit) || !talk_owned())
        return -1;
    if (command == FUTEX_WAIT)
        return limit->tv_sec < 100000000 ? (int64_t)limit->tv_sec * WAIT_NS_PER_S + limit->tv_nsec : INT64_MAX;
    return command == FUTEX_WAIT_BITSET
               ? clock_left_ns(op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, limit)
               : -1;
}

static long futex_wait(uint32_t *word, int op, uint32_t value, const struct timespec *limit, uint32_t bits)
{
    Timed timed = {.word = word, .shared = !(op & FUTEX_PRIVATE_FLAG)};
    const clockid_t clock = op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    const int absolute = (op & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)) == FUTEX_WAIT_BITSET;
    int64_t ns = futex_ns(op, limit);
    struct timespec room;

    if (ns > 0 && __atomic_load_n(word, __ATOMIC_SEQ_CST) == value && timer_begin(&timed, ns)) {
        long slept = talk_call(SYS_futex, (long)word, FUTEX_WAIT_BITSET | (op & FUTEX_PRIVATE_FLAG), value, 0, 0,
                               absolute ? bits : FUTEX_BITSET_MATCH_ANY);
        int why = slept == 0 ? 0 : errno;
        timer_end(&timed);
        if (why == 0 && timed.expired)
            why = ETIMEDOUT;
        errno = why != 0 ? why : errno;
        return why == 0 ? 0 : -1;
    }
    limit = absolute ? clock_of_host(clock, limit, &room) : limit;
    return talk_call(SYS_futex, (long)word, op, value, (long)limit, 0, bits);
}

WAIT_EXPORT long syscall(long number, ...)
{
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    int command = (int)a[1] & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    if (number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && a[3] != 0)
        return futex_wait((uint32_t *)a[0], (int)a[1], (uint32_t)a[2], (const struct timespec *)a[3], (uint32_t)a[5]);
    if (number == SYS_sched_yield)
        return sched_yield();
    return talk_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
