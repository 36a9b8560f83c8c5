/* Memory of a client that it registers (cuMemHostRegister), as the owner of the machine can reach it: by a descriptor.
 *
 * A range that is a shared mapping of a file (a segment of /dev/shm) goes to the owner as that file and the offset in
 * it, so that two processes that register the same have one region. Bytes of the process's own are moved, while they
 * are registered, into a file of the process in memory, each page at the offset that is its address, which is mapped
 * where they were: pages beside each other stay so, and two registrations may have a page in common.
 *
 * While they are there a fork() does not copy these pages at once: the child sees what the parent writes to a page
 * until it writes to that page itself, and what it writes is its own. */
#ifndef MACHINE_WIRE_REGISTERED_H
#define MACHINE_WIRE_REGISTERED_H

#include <glib.h>

typedef struct Registered Registered;

Registered *registered_new(void); /* one for each process; never freed */

/* The file that has the bytes from first on (both multiples of pages): a descriptor to be closed, and the offset. -1:
 * *why says it. To be followed by registered_add() or registered_forget(). */
int registered_file(Registered *registered, guint64 first, guint64 bytes, guint64 *offset, const char **why);
void registered_add(Registered *registered, guint32 region, guint64 first, guint64 bytes);
void registered_remove(Registered *registered, guint32 region); /* the owner has let go of it */
void registered_forget(Registered *registered, guint64 first, guint64 bytes);
void registered_after_fork(Registered *registered); /* in the child */

#endif
