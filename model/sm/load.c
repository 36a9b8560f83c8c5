/* What a warp's loads bring: bytes into its registers, and an end to the waits for them. */
#include <string.h>

#include "model/sm/internal.h"

void warp_loads_dropped(Sm *sm, Reg *reg, SimTime now_ps)
{
    if (--reg->pending == 0) {
        Warp *waiter = reg->waiter;
        reg->waiter = NULL;
        if (waiter)
            warp_ready(waiter);
        if (reg->loaded)
            reg->loaded(reg, now_ps);
    }
    if (sm->limited) {
        sm->limited = FALSE;
        sm_kick(sm, now_ps);
    }
}

void warp_on_loaded(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    (void)gpu;
    Reg *reg = txn->owner;
    Sm *sm = reg->sm;
    sm->loads--;
    if (reg->bytes && bytes) {
        if (!reg->lane_va) {
            memcpy(reg->bytes + txn->tag, bytes, txn->bytes);
        } else {
            guint32 lanes = (guint32)txn->tag;
            guint64 base = G_MAXUINT64;
            for (guint32 l = 0; l < WARP_LANES; l++)
                if (lanes >> l & 1)
                    base = MIN(base, reg->lane_va[l]);
            for (guint32 l = 0; l < WARP_LANES; l++)
                if (lanes >> l & 1)
                    memcpy(reg->bytes + l * reg->width, bytes + (reg->lane_va[l] - base), reg->width);
        }
    }
    warp_loads_dropped(sm, reg, now_ps);
}

void warp_begin_load(Warp *warp, Reg *reg)
{
    reg->sm = warp->sm;
    reg->sm->loads++;
    reg->pending++;
}

void warp_end_load(Reg *reg, SimTime now_ps)
{
    reg->sm->loads--;
    warp_loads_dropped(reg->sm, reg, now_ps);
}
