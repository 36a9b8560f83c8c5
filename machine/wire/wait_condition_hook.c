/* Part of libfanout_wait.so: condition variables that are waited for with a time-out. See wait_timer.c. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <threads.h>

#include "machine/wire/wait_timer.h"

#define COND_MONOTONIC 2u /* of __wrefs, as the C library has it since 2.25 */

/* Whether the wait is of Python's interpreter, whose file is named so. */
static int is_python(const void *caller)
{
    Dl_info info;

    if (!dladdr(caller, &info) || !info.dli_fname)
        return 0;
    const char *slash = strrchr(info.dli_fname, '/'), *name = slash ? slash + 1 : info.dli_fname;
    return strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0;
}

static int condition_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until,
                          const void *caller)
{
    int64_t ns;

    if (!talk_owned() || !wait_is_time(until) || is_python(caller) || (ns = clock_left_ns(clock, until)) < 0)
        return WAIT_HOST;
    if (ns == 0) {
        int result = pthread_mutex_unlock(mutex);
        if (result == 0)
            spin_note();
        return result == 0 && (result = pthread_mutex_lock(mutex)) == 0 ? ETIMEDOUT : result;
    }
    Timed timed = {.cond = cond, .waits = timer_waits_of(cond)};
    int result;
    if (!timer_begin(&timed, ns))
        return WAIT_HOST;
    pthread_cleanup_push(timer_end, &timed);
    result = pthread_cond_wait(cond, mutex);
    pthread_cleanup_pop(1);
    return result == 0 && timed.expired ? ETIMEDOUT : result;
}

WAIT_EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
    unsigned flags = __atomic_load_n(&cond->__data.__wrefs, __ATOMIC_RELAXED);
    clockid_t clock = flags & COND_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    int result = condition_wait(cond, mutex, clock, until, __builtin_return_address(0));

    struct timespec room;
    return result != WAIT_HOST ? result : talk_real()->cond_timedwait(cond, mutex, clock_of_host(clock, until, &room));
}

WAIT_EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                       const struct timespec *until)
{
    int result = condition_wait(cond, mutex, clock, until, __builtin_return_address(0));

    if (result != WAIT_HOST)
        return result;
    struct timespec room;
    return talk_real()->cond_clockwait
               ? talk_real()->cond_clockwait(cond, mutex, clock, clock_of_host(clock, until, &room))
               : EINVAL;
}

WAIT_EXPORT int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *until)
{
    int result = pthread_cond_timedwait((pthread_cond_t *)cond, (pthread_mutex_t *)mutex, until);

    return result == 0 ? thrd_success : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}
