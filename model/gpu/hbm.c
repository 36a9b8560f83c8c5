#include "model/gpu/hbm.h"

void hbm_init(Hbm *hbm, guint64 rate_MBps, SimTime ahead_ps)
{
    *hbm = (Hbm){.byte_time = ((SimFine)1000000u << SIMFINE_SHIFT) / rate_MBps,
                 .shift = MAX(HBM_EPOCH_SHIFT, g_bit_storage(ahead_ps))};
}

static void hbm_end_epoch(Hbm *hbm)
{
    guint64 *about_bytes = &hbm->about_bytes[hbm->epoch % HBM_EPOCHS];
    SimTime start_ps = hbm->epoch << hbm->shift, end_ps = (hbm->epoch + 2) << hbm->shift;
    if (*about_bytes)
        hbm->free_at = MAX(hbm->free_at, simfine_from_ps(start_ps)) + *about_bytes * hbm->byte_time;
    *about_bytes = 0;
    SimTime free_ps = simfine_to_ps(hbm->free_at);
    hbm->wait_ps[hbm->epoch % HBM_EPOCHS] = free_ps > end_ps ? free_ps - end_ps : 0;
    hbm->epoch++;
}

/* Of a long idle time only the last ones matter. */
void hbm_roll_on(Hbm *hbm, guint64 epoch)
{
    for (guint i = 0; i < HBM_EPOCHS && hbm->epoch < epoch; i++)
        hbm_end_epoch(hbm);
    hbm->epoch = MAX(hbm->epoch, epoch - MIN(epoch, HBM_EPOCHS));
    while (hbm->epoch < epoch)
        hbm_end_epoch(hbm);
}

SimTime hbm_serve(Hbm *hbm, guint32 bytes, SimTime now_ps)
{
    hbm_roll(hbm, now_ps);
    hbm->free_at = MAX(hbm->free_at, simfine_from_ps(now_ps)) + bytes * hbm->byte_time;
    return simfine_to_ps(hbm->free_at);
}
