/* Inside libfanout_wait.so: a wait with a time-out of simulated time. */
#ifndef API_WIRE_WAIT_TIMER_H
#define API_WIRE_WAIT_TIMER_H

#include "api/wire/wait.h"

/* On the waiter's stack, from timer_begin() to timer_end(). */
typedef struct Timed {
    struct Timed *next;
    uint64_t number;
    pthread_cond_t *cond; /* NULL: a semaphore */
    uint64_t waits;       /* of the condition variable, before this one */
    uint32_t *word;       /* of the semaphore */
    int shared;
    int expired; /* atomic */
    int noticed; /* atomic: the waiter has seen it, or needs it no more */
} Timed;

/* Registers the timer; 0: there is no owner, or no room for so long a wait. */
int timer_begin(Timed *timed, int64_t ns);
/* The waiter is awake. */
void timer_end(void *timed);
uint64_t timer_waits_of(pthread_cond_t *cond); /* how many waits a condition variable has seen */
/* FUTEX_WAIT and FUTEX_WAKE of a word. */
long timer_futex(uint32_t *word, int op, uint32_t value, const struct timespec *limit, int shared);

#endif
