/* Files that an owner has mapped and that others may make shorter under it.
 *
 * Reading a page that is not there any more would end the process (SIGBUS): zeros take its place instead, for good,
 * and who asks is told. A handler of signals knows of them by a list of the process; all on one thread. */
#ifndef MACHINE_WIRE_CUT_H
#define MACHINE_WIRE_CUT_H

#include <glib.h>

void cut_watch(const void *bytes, guint64 n, guint32 region);                /* NULL: nothing is mapped */
void cut_sweep(gboolean (*is_gone)(void *user, guint32 region), void *user); /* forgets those that are unmapped */
/* A region of which a page was lost since the last call; 0: none. */
guint32 cut_take(void);

#endif
