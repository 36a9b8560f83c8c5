/* The lock of read-modify-writes in memory that processes with engines of their own share. See memory.h. */
#include <errno.h>

#include "model/memory/memory.h"
#include "sim/host_clock.h"

#define MEMORY_LOCK_WAIT_S 2

void memory_lock(pthread_mutex_t *lock)
{
    struct timespec until;
    int rc = pthread_mutex_trylock(lock);
    if (rc == EBUSY) { /* another process, which has it for a moment; or broke it */
        host_clock_get(&until);
        until.tv_sec += MEMORY_LOCK_WAIT_S;
        rc = pthread_mutex_timedlock(lock, &until);
    }
    if (rc == EOWNERDEAD)
        pthread_mutex_consistent(lock);
}
