/* Files that processes share, and how far they are trusted.
 *
 * Another process has the same right to a shared file as this one, and may be of another program. What it
 * can do must not end this process: files are sealed against shrinking before anybody else gets them, only
 * sealed ones are taken, what stands in them is checked where it is read, and a lock that somebody broke or
 * keeps is gone past after a while. Bytes of memory may be anything: they are the programs' own. */
#ifndef API_CUDA_MEMORY_TRUST_H
#define API_CUDA_MEMORY_TRUST_H

#include <glib.h>
#include <pthread.h>

/* A new file of so many bytes that keeps its size for good; -1: there is none. */
int trust_file_new(const char *name, guint64 bytes);
/* Made so, by whichever process. */
gboolean trust_file(int fd);
/* Which file it is, and its bytes; FALSE: no file of memory. */
gboolean identity_of_fd(int fd, guint64 identity[2], guint64 *bytes);
/* Another process's descriptor, if it is that file; else -1 and errno. */
int trust_open(gint32 pid, gint32 fd, const guint64 identity[2]);
gboolean trust_lives(gint32 pid); /* a process that may hold something: no zombie */

/* Locks in shared files: robust, for several processes. */
void trust_lock_init(pthread_mutex_t *lock);
gboolean trust_lock_sound(const pthread_mutex_t *lock); /* of the kind that trust_lock_init makes */
/* FALSE: it is not to be had, because it is broken or kept; the caller goes on without. */
gboolean trust_lock(pthread_mutex_t *lock);

#endif
