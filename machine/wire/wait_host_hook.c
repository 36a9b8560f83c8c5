/* Part of libfanout_wait.so: time-outs that stay the host's. Their moments are of clocks that show simulated time on
 * top (wait_clock_hook.c), and are taken back to what the host's own clocks show. */
#include <errno.h>
#include <threads.h>

#include "machine/wire/wait.h"

WAIT_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    struct timespec room;
    return talk_real()->mutex_timedlock(mutex, clock_of_host(CLOCK_REALTIME, until, &room));
}

WAIT_EXPORT int mtx_timedlock(mtx_t *mutex, const struct timespec *until)
{
    int result = pthread_mutex_timedlock((pthread_mutex_t *)mutex, until);
    return result == 0 ? thrd_success : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}

WAIT_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    struct timespec room;
    return talk_real()->mutex_clocklock(mutex, clock, clock_of_host(clock, until, &room));
}

WAIT_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)
{
    struct timespec room;
    return talk_real()->rwlock_clockrdlock(lock, clock, clock_of_host(clock, until, &room));
}

WAIT_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    return pthread_rwlock_clockrdlock(lock, CLOCK_REALTIME, until);
}

WAIT_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)
{
    struct timespec room;
    return talk_real()->rwlock_clockwrlock(lock, clock, clock_of_host(clock, until, &room));
}

WAIT_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    return pthread_rwlock_clockwrlock(lock, CLOCK_REALTIME, until);
}

WAIT_EXPORT int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
{
    struct timespec room;
    return talk_real()->clockjoin(thread, result, clock, clock_of_host(clock, until, &room));
}

WAIT_EXPORT int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
    return pthread_clockjoin_np(thread, result, CLOCK_REALTIME, until);
}
