/* Files that processes share, and how far they are trusted.
 *
 * Another process has the same right to a shared file as this one, and may be of another program. What it
 * can do must not end this process: files are sealed against shrinking before anybody else gets them, only
 * sealed ones are taken, what stands in them is checked where it is read, and a lock that a process broke or
 * keeps is gone past after a while. Bytes of memory may be anything: they are the programs' own. */
#ifndef API_CUDA_MEMORY_SHARED_FILE_H
#define API_CUDA_MEMORY_SHARED_FILE_H

#include "machine/wire/sealed.h"

/* Another process's descriptor, if it is that file; else -1 and errno. */
int shared_file_open(gint32 pid, gint32 fd, const guint64 identity[2]);
gboolean shared_file_holder_lives(gint32 pid); /* a process that may hold something: no zombie */

#endif
