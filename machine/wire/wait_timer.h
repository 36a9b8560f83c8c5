/* Inside libfanout_wait.so: a wait with a time-out of simulated time. */
#ifndef MACHINE_WIRE_WAIT_TIMER_H
#define MACHINE_WIRE_WAIT_TIMER_H

#include "machine/wire/wait.h"

/* On the waiter's stack, from timer_begin() to timer_end(); or of a timer that is a descriptor. */
typedef struct Timed {
    struct Timed *next;
    uint64_t number;
    pthread_cond_t *cond; /* NULL: a semaphore */
    uint64_t waits;       /* of the condition variable, before this one */
    uint32_t *word;       /* of the semaphore */
    int shared;
    int expired;                           /* atomic */
    int noticed;                           /* atomic: the waiter has seen it, or needs it no more */
    void (*runs_out)(struct Timed *timed); /* not NULL: called on the thread of timers, in place of a wake-up */
} Timed;

/* Registers the timer; 0: there is no owner, or no room for so long a wait. */
int timer_begin(Timed *timed, int64_t ns);
/* The waiter is awake. */
void timer_end(void *timed);
uint64_t timer_waits_of(pthread_cond_t *cond); /* how many waits a condition variable has seen */
/* Of one with runs_out: it runs out once, so long from now on; 0: as timer_begin(). Not any more. Without a word to
 * the owner, of one that another process has set. All three also from within runs_out. */
int timer_arm(Timed *timed, uint64_t length_ps);
void timer_disarm(Timed *timed);
void timer_forget(Timed *timed);
/* FUTEX_WAIT and FUTEX_WAKE of a word. */
long timer_futex(uint32_t *word, int op, uint32_t value, const struct timespec *limit, int shared);

#endif
