#include "model/gpu/hbm.h"

void hbm_set(Hbm *hbm, guint64 rate_MBps, guint64 percent, SimTime latency_ps)
{
    hbm->byte_time = ((SimFine)1000000u << SIMFINE_SHIFT) / rate_MBps * 100 / percent;
    hbm->latency = simfine_from_ps(latency_ps);
}

SimTime hbm_serve(Hbm *hbm, guint32 bytes, SimTime now_ps)
{
    const SimFine move = bytes * hbm->byte_time;
    hbm->free_at = MAX(hbm->free_at, simfine_from_ps(now_ps)) + move;
    hbm->ready_at = MAX(hbm->free_at + hbm->latency, hbm->ready_at + move);
    return simfine_to_ps(hbm->free_at);
}
