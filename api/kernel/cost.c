/* What instructions take: a warp issues one after the other; each class has its cycles. */
#include "api/kernel/internal.h"

/* Cycles of a warp's instruction when another warp has the rest: 32 lanes over the lanes a cycle of a quarter of an SM.
 * Source: h100/classes.csv (throughput of one SM, 32 warps). */
static const guint8 cycles[COST_COUNT] = {
    [COST_FREE] = 0,   [COST_INT] = 2,    [COST_MUL] = 2,     [COST_MUL_HI] = 4, [COST_INT64] = 3, [COST_SHIFT] = 2,
    [COST_FLOAT] = 1,  [COST_HALF] = 2,   [COST_DOUBLE] = 2,  [COST_SFU] = 8,    [COST_DIV] = 17,  [COST_CVT] = 4,
    [COST_BITS] = 8,   [COST_SHUFFLE] = 4, [COST_VOTE] = 4,   [COST_MATCH] = 255, [COST_REDUX] = 8, [COST_CONTROL] = 4,
    [COST_CALL] = 30,  [COST_SHARED] = 4, [COST_LOCAL] = 4,   [COST_BANK] = 2,   [COST_GLOBAL] = 4, [COST_SYNC] = 8,
    [COST_VIDEO] = 4};

SimTime kernel_cost_ps(const KernelLaunch *launch, PtxWarp *warp)
{
    guint64 sum = warp->shared_ways;
    for (guint c = 0; c < COST_COUNT; c++)
        sum += (guint64)warp->issued[c] * cycles[c];
    return sum * launch->host.clock_ps;
}
