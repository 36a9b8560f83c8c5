/* See robust_lock.h. */
#include "api/cuda/memory/robust_lock.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "sim/host_clock.h"

#define LOCK_WAIT_S 2 /* a sound process keeps one for some microseconds */

void robust_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;

    memset(lock, 0, sizeof *lock);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
}

/* The C library takes a lock's kind for granted, and asserts what follows from it. */
gboolean robust_lock_sound(const pthread_mutex_t *lock)
{
#ifdef __GLIBC__
    pthread_mutex_t fresh;

    robust_lock_init(&fresh);
    return lock->__data.__kind == fresh.__data.__kind;
#else
    (void)lock;
    return TRUE;
#endif
}

gboolean robust_lock_take(pthread_mutex_t *lock)
{
    struct timespec until;

    if (!robust_lock_sound(lock))
        return FALSE;
    int rc = pthread_mutex_trylock(lock);
    if (rc == EBUSY) {
        host_clock_get(&until);
        until.tv_sec += LOCK_WAIT_S;
        rc = pthread_mutex_timedlock(lock, &until);
    }
    if (rc == EOWNERDEAD) /* every change is complete or harmless at any point */
        pthread_mutex_consistent(lock);
    return rc == 0 || rc == EOWNERDEAD;
}
