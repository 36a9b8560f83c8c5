/* A GPU's HBM as a bandwidth server.
 *
 * What hardware it stands for: the memory controllers and channels together, behind the L2.
 * Modelled: one rate; requests queue in the order in which they come, and what they read is ready in that order, too,
 * even if the latency falls meanwhile.
 * Left out: channels, banks, refresh, the difference between reads and writes.
 * Source: rate and latency of the preset. */
#ifndef MODEL_GPU_HBM_H
#define MODEL_GPU_HBM_H

#include <glib.h>

#include "sim/engine/simtime.h"

typedef struct {
    SimFine free_at;  /* when all that was asked for has been moved */
    SimFine ready_at; /* when the last of it has left */
    SimFine byte_time;
    SimFine latency; /* from a read's last byte being moved to its leaving */
} Hbm;

/* For requests from now on: that percentage of the rate, and that latency. Before the first of them all else is 0. */
void hbm_set(Hbm *hbm, guint64 rate_MBps, guint64 percent, SimTime latency_ps);
/* When HBM has moved that many bytes for a request that comes at now_ps, which does not go back. */
SimTime hbm_serve(Hbm *hbm, guint32 bytes, SimTime now_ps);
/* When what that last request read is ready for its answer. */
static inline SimTime hbm_ready_ps(const Hbm *hbm) { return simfine_to_ps(hbm->ready_at); }

#endif
