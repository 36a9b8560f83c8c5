#include "model/gpu/hbm.h"

void hbm_init(Hbm *hbm, guint64 rate_MBps)
{
    *hbm = (Hbm){.byte_time = ((SimFine)1000000u << SIMFINE_SHIFT) / rate_MBps};
}

SimTime hbm_serve(Hbm *hbm, guint32 bytes, SimTime now_ps)
{
    hbm->free_at = MAX(hbm->free_at, simfine_from_ps(now_ps)) + bytes * hbm->byte_time;
    return simfine_to_ps(hbm->free_at);
}
