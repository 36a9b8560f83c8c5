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

/* The bytes of one answer to those lanes; they begin at the lowest of their addresses. */
static void load_scatter(const Reg *reg, guint32 lanes, const guint8 *bytes)
{
    if (!reg->lane_va && reg->lane_stride >= 4 && reg->width == 4) { /* lanes that follow each other, as LL's words */
        guint8 *to = reg_lane(reg, 4, (guint32)__builtin_ctz(lanes));
        const gsize apart = reg->apart ? reg->apart : 4;
        for (guint32 n = (guint32)__builtin_popcount(lanes); n > 0; n--, to += apart, bytes += reg->lane_stride)
            memcpy(to, bytes, 4);
        return;
    }
    guint64 va[WARP_LANES], base = G_MAXUINT64;
    for (guint32 left = lanes; left; left &= left - 1) {
        guint32 l = (guint32)__builtin_ctz(left);
        va[l] = reg->lane_va ? reg->lane_va[l] : reg->va + (guint64)(reg->lane_stride * (gint64)l);
        base = MIN(base, va[l]);
    }
    for (; lanes; lanes &= lanes - 1) {
        guint32 l = (guint32)__builtin_ctz(lanes);
        memory_move(reg_lane(reg, reg->width, l), bytes + (va[l] - base), reg->width);
    }
}

void warp_on_loaded(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    (void)gpu;
    Reg *reg = txn->owner;
    Sm *sm = reg->sm;
    sm->loads--;
    if (reg->bytes && bytes) {
        if (!reg->lane_va && reg->lane_stride == reg->width)
            memcpy(reg->bytes + txn->tag, bytes, txn->bytes);
        else
            load_scatter(reg, (guint32)txn->tag, bytes);
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
