/* A GPU's HBM as a bandwidth server.
 *
 * What hardware it stands for: the memory controllers and channels together, behind the L2.
 * Modelled: one rate. Requests that come in order of time (loads and stores of the GPU itself, unicast ones of others)
 * queue exactly. Those of multicast replicas are told of a little before or after their time (hbm_serve_about): they
 * take their share from the others when the epoch after theirs is over, and wait as long as the queue was then, three
 * epochs before; so nothing depends on when they are told of.
 * Left out: channels, banks, refresh, reads against writes; the first microsecond of replicas that come faster than HBM
 * takes them, which only an HBM slower than the links can see.
 * Source: rate and latency of the preset. */
#ifndef MODEL_GPU_HBM_H
#define MODEL_GPU_HBM_H

#include <glib.h>

#include "sim/engine/simtime.h"

#define HBM_EPOCH_SHIFT 18 /* 262 ns at least, and more than a link's flight: hbm_init() */
#define HBM_EPOCHS 8u

typedef struct {
    SimFine free_at, byte_time;
    guint32 shift;                  /* of an epoch */
    guint64 epoch;                  /* the first one that is not done with */
    guint64 about_bytes[HBM_EPOCHS]; /* by epoch, modulo: of those not in order of time */
    SimTime wait_ps[HBM_EPOCHS];     /* by epoch: the queue at the end of the next one */
} Hbm;

/* ahead_ps: how far those not in order of time may be apart. */
void hbm_init(Hbm *hbm, guint64 rate_MBps, SimTime ahead_ps);
/* Ends each epoch when the next one is over. */
void hbm_roll_on(Hbm *hbm, guint64 epoch);
static inline void hbm_roll(Hbm *hbm, SimTime now_ps)
{
    guint64 now = now_ps >> hbm->shift, epoch = now - MIN(now, 1);
    if (G_UNLIKELY(hbm->epoch < epoch))
        hbm_roll_on(hbm, epoch);
}
/* When HBM has moved them. now_ps does not go back. */
SimTime hbm_serve(Hbm *hbm, guint32 bytes, SimTime now_ps);
/* The same for what comes at at_ps, at most an epoch before any other that was told of: in two steps, */
static inline SimTime hbm_about_ps(const Hbm *hbm, guint32 bytes, SimTime at_ps)
{
    guint64 epoch = at_ps >> hbm->shift;
    SimTime wait_ps = epoch >= 3 ? hbm->wait_ps[(epoch - 3) % HBM_EPOCHS] : 0;
    return at_ps + wait_ps + simfine_to_ps(bytes * hbm->byte_time);
}
static inline void hbm_tell_about(Hbm *hbm, guint64 bytes, guint64 epoch)
{
    hbm->about_bytes[epoch % HBM_EPOCHS] += bytes;
}
/* or in one. */
static inline SimTime hbm_serve_about(Hbm *hbm, guint32 bytes, SimTime at_ps)
{
    hbm_roll(hbm, at_ps);
    hbm_tell_about(hbm, bytes, at_ps >> hbm->shift);
    return hbm_about_ps(hbm, bytes, at_ps);
}

#endif
