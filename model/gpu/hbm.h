/* A GPU's HBM as a bandwidth server.
 *
 * What hardware it stands for: the memory controllers and channels together, behind the L2.
 * Modelled: one rate; requests queue in the order in which they come.
 * Left out: channels, banks, refresh, the difference between reads and writes.
 * Source: rate and latency of the preset. */
#ifndef MODEL_GPU_HBM_H
#define MODEL_GPU_HBM_H

#include <glib.h>

#include "sim/engine/simtime.h"

typedef struct {
    SimFine free_at;   /* when all that was asked for has been moved */
    SimFine byte_time;
} Hbm;

void hbm_init(Hbm *hbm, guint64 rate_MBps);
/* When HBM has moved that many bytes for a request that comes at now_ps, which does not go back. */
SimTime hbm_serve(Hbm *hbm, guint32 bytes, SimTime now_ps);

#endif
