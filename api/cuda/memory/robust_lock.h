/* Locks in files that processes share. One that a process broke or keeps is gone past after a while: shared_file.h says
 * why. */
#ifndef API_CUDA_MEMORY_ROBUST_LOCK_H
#define API_CUDA_MEMORY_ROBUST_LOCK_H

#include <glib.h>
#include <pthread.h>

void robust_lock_init(pthread_mutex_t *lock);
gboolean robust_lock_sound(const pthread_mutex_t *lock); /* of the kind that robust_lock_init makes */
/* FALSE: it is not to be had, because it is broken or kept; the caller goes on without. */
gboolean robust_lock_take(pthread_mutex_t *lock);

#endif
