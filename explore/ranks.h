/* A sweep on several machines: who its ranks are, and what the first one tells the others at the start.
 *
 * MPI starts the ranks (mpirun, srun) and carries one message, the first rank's addresses; then it is left. Points and
 * results go over sockets (explore/hub.h, explore/peer.h): Open MPI 4 ends a whole job, or waits for ever, when a rank
 * is lost while MPI is used, and a socket that closes is noticed on every network. */
#ifndef EXPLORE_RANKS_H
#define EXPLORE_RANKS_H

#include <glib.h>

/* Whether mpirun or srun has started this process as one of several. */
gboolean ranks_are_several(void);

/* Joins the others. GError: G_FILE_ERROR: Fanout was built without MPI. Once in a process. */
gboolean ranks_begin(guint *rank, guint *n, GError **error);
/* On the first rank: tells the others `text`, or NULL, that there is nothing to do; returns NULL. On the others: what
 * it told; caller frees. MPI is over then. */
char *ranks_tell(guint rank, const char *text);

#endif
