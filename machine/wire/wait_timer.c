/* Part of libfanout_wait.so: time-outs of condition variables and semaphores as simulated time.
 *
 * A thread that waits registers a timer with the owner. When it has run out, the owner tells a thread of this library
 * (one a process, made when it is needed first), which wakes the waiter:
 *
 * - of a condition variable by a broadcast: the waiter is in the C library's own wait without a time-out, others that
 *   wake, too, look again at what they wait for, as they have to. A broadcast that comes before the wait has begun
 *   would be lost; when it has begun, the C library's count of waiters has gone up (the waiter holds the mutex until
 *   then, so that no other wait can be meant).
 * - of a semaphore by waking all that sleep on its word, again and again until the waiter has noticed. The waiter
 *   sleeps on that word as the C library's own waiters do, takes a token if there is one, and only then looks at the
 *   timer: no token is lost or made.
 *
 * Until then the waking thread keeps on running, so that the job is not quiet and no further time passes.
 *
 * - of a futex in the same way, where a program calls it by syscall(), as Rust's library, GLib and Abseil do.
 *
 * cnd_timedwait is the same. Left out, and by the host's clock: time-outs of mutexes, rwlocks and joins
 * (wait_host_hook.c), which guard against what goes wrong, so that no program waits for them; and the wait of Python's
 * interpreter for its own lock: its 5 ms are for the host's processors to be shared by, while another thread runs. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/wire/wait_timer.h"

#define STACK_BYTES (128u << 10)

static struct {
    pthread_mutex_t lock; /* of the list */
    Timed *all;
    uint64_t numbers;
    int running; /* the thread: 0: not yet; 1: it is; -1: there can be none */
    int forks;   /* a child will know that it has no such thread */
    int fd;
} timing = {.lock = PTHREAD_MUTEX_INITIALIZER};

long timer_futex(uint32_t *word, int op, uint32_t value, const struct timespec *limit, int shared)
{
    return talk_call(SYS_futex, (long)word, op | (shared ? 0 : FUTEX_PRIVATE_FLAG), value, (long)limit, 0, 0);
}

uint64_t timer_waits_of(pthread_cond_t *cond)
{
    return __atomic_load_n((uint64_t *)(void *)cond, __ATOMIC_ACQUIRE) >> 1; /* the lowest bit names a group */
}

/* The lock is held: the waiter cannot leave before this is over. */
static void expire(Timed *timed)
{
    if (timed->cond) {
        while (timer_waits_of(timed->cond) == timed->waits)
            talk_real()->sched_yield();
        __atomic_store_n(&timed->expired, 1, __ATOMIC_SEQ_CST);
        pthread_cond_broadcast(timed->cond);
        return;
    }
    __atomic_store_n(&timed->expired, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&timed->noticed, __ATOMIC_SEQ_CST)) {
        timer_futex(timed->word, FUTEX_WAKE, INT_MAX, NULL, timed->shared);
        talk_real()->sched_yield();
    }
}

/* The lock is held. */
static void unlink_timed(Timed *timed)
{
    Timed **place = &timing.all;

    while (*place && *place != timed)
        place = &(*place)->next;
    if (*place)
        *place = timed->next;
}

static void *timing_main(void *unused)
{
    WireAsk asked;

    (void)unused;
    while (message_receive(timing.fd, &asked, sizeof asked, NULL, 0, NULL, 0) == (gssize)sizeof asked) {
        if (asked.head.magic != WIRE_MAGIC || asked.head.kind != WIRE_ASK || asked.what != WIRE_ASK_TIMER)
            continue;
        pthread_mutex_lock(&timing.lock);
        Timed *timed = timing.all;
        while (timed && timed->number != asked.argument)
            timed = timed->next;
        void (*runs_out)(Timed *) = timed ? timed->runs_out : NULL;
        if (runs_out)
            unlink_timed(timed);
        else if (timed)
            expire(timed);
        pthread_mutex_unlock(&timing.lock);
        if (runs_out) /* it may be gone by now: its owner looks for it by its address */
            runs_out(timed);
    }
    return NULL;
}

/* In the child, which has none of the parent's threads. */
static void after_fork(void)
{
    pthread_mutex_init(&timing.lock, NULL);
    if (timing.running > 0)
        close(timing.fd);
    timing.running = 0;
    timing.all = NULL;
}

/* Without signals: they are the program's. */
static int thread_make(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attr, timing_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return !failed;
}

/* The lock is held. */
static int timing_runs(void)
{
    if (timing.running == 0) {
        if (!timing.forks)
            pthread_atfork(NULL, NULL, after_fork);
        timing.forks = 1;
        timing.fd = talk_dial(WIRE_ROLE_TIMING);
        timing.running = timing.fd >= 0 && thread_make() ? 1 : -1;
    }
    return timing.running > 0;
}

void timer_forget(Timed *timed)
{
    pthread_mutex_lock(&timing.lock);
    unlink_timed(timed);
    pthread_mutex_unlock(&timing.lock);
}

void timer_disarm(Timed *timed)
{
    timer_forget(timed);
    if (timed->number != 0)
        talk_ask(WIRE_OP_TIMER_END, timed->number, 0, -1);
}

int timer_arm(Timed *timed, uint64_t length_ps)
{
    pthread_mutex_lock(&timing.lock);
    int good = timing_runs();
    if (good) {
        timed->number = ++timing.numbers;
        timed->next = timing.all;
        timing.all = timed;
    }
    pthread_mutex_unlock(&timing.lock);
    if (good && !talk_ask(WIRE_OP_TIMER, timed->number, length_ps, -1)) {
        timer_forget(timed);
        good = 0;
    }
    return good;
}

int timer_begin(Timed *timed, int64_t ns) { return timer_arm(timed, talk_ps_of(ns)); }

void timer_end(void *data)
{
    Timed *timed = data;
    int keep = errno;

    __atomic_store_n(&timed->noticed, 1, __ATOMIC_SEQ_CST); /* before the lock, which is held until then */
    timer_forget(timed);
    if (!__atomic_load_n(&timed->expired, __ATOMIC_SEQ_CST))
        talk_ask(WIRE_OP_TIMER_END, timed->number, 0, -1);
    clock_waited();
    errno = keep;
}
