/* Barriers of a CTA (16, by number, with thread counts, with reductions) and of a cluster.
 *
 * A barrier counts threads. A warp whose lanes are all there counts 32, as hardware does, even if it has fewer; one
 * with some counts those. Threads that have ended are not waited for where no count is given. */
#include "ptx/run/exec.h"

static guint32 arrived_threads(const PtxCta *cta, const PtxBarrier *barrier)
{
    guint32 count = 0;
    for (guint32 w = 0; w < cta->grid->n_warps; w++) {
        guint32 lanes = barrier->lanes[w];
        gboolean whole = lanes && (cta->warp[w].live & ~lanes) == 0;
        count += whole && barrier->expected ? PTX_LANES : (guint32)__builtin_popcount(lanes);
    }
    return count;
}

static gboolean barrier_complete(const PtxCta *cta, const PtxBarrier *barrier)
{
    if (barrier->expected)
        return arrived_threads(cta, barrier) >= barrier->expected;
    for (guint32 w = 0; w < cta->grid->n_warps; w++)
        if (cta->warp[w].live & ~barrier->lanes[w])
            return FALSE;
    return TRUE;
}

static void write_result(PtxWarp *warp, const PtxPath *path, const PtxBarrier *barrier)
{
    const PtxIns *ins = path->ins;
    if (ins->op != OP_BAR_RED || ins->dst == PLACE_NONE)
        return;
    guint64 value = ins->combine == W_AND  ? barrier->red_and
                    : ins->combine == W_OR ? barrier->red_or
                                           : barrier->red_count;
    guint8 *regs = path->frame->regs + ins->dst;
    for (guint l = 0; l < PTX_LANES; l++)
        if (path->lanes >> l & 1) {
            if (ins->dst_bytes == 1)
                *(guint32 *)(void *)regs = (*(guint32 *)(void *)regs & ~(1u << l)) | (guint32)(value & 1) << l;
            else
                ((guint32 *)(void *)regs)[l] = (guint32)value;
        }
    (void)warp;
}

static void barrier_finish(PtxCta *cta, guint id, const PtxWarp *last)
{
    PtxBarrier *barrier = &cta->barrier[id];
    for (guint32 w = 0; w < cta->grid->n_warps; w++) {
        gboolean woken = FALSE;
        for (PtxPath *path = cta->warp[w].head; path; path = path->next)
            if (path->state == PATH_BARRIER && path->barrier == id) {
                write_result(&cta->warp[w], path, barrier);
                path->state = PATH_READY;
                path->pc++;
                woken = TRUE;
            }
        if (woken || &cta->warp[w] == last)
            ptx_warp_wake(&cta->warp[w], PTX_WAKE_BARRIER);
    }
    *barrier = (PtxBarrier){0};
}

static void count_reduction(PtxBarrier *barrier, PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint at = ins->src[2] != PLACE_NONE ? 2 : 1;
    guint32 yes = ptx_predicate(warp, ins->src[at]) & mask;
    barrier->red_count += (guint32)__builtin_popcount(yes);
    barrier->red_or |= yes != 0;
    barrier->red_and &= yes == mask;
}

PtxStep ptx_step_barrier(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    PtxCta *cta = warp->cta;
    guint lane = (guint)__builtin_ctz(mask);
    gboolean red = ins->op == OP_BAR_RED;
    guint32 id = ptx_lane_u32(warp, ins->src[0], lane);
    gboolean counted = red ? ins->src[2] != PLACE_NONE : ins->src[1] != PLACE_NONE;
    guint32 expected = counted ? ptx_lane_u32(warp, ins->src[1], lane) : 0;
    if (id >= PTX_BARRIERS)
        return ptx_fault(warp, ins, lane, PTX_FAULT_BARRIER, id, "barrier %u; there are 16", id);
    if (counted && (expected == 0 || expected % PTX_LANES || expected > ((cta->grid->threads + 31u) & ~31u)))
        return ptx_fault(warp, ins, lane, PTX_FAULT_BARRIER, expected,
                         "a barrier for %u threads; a CTA of %u needs a multiple of 32 up to its size", expected,
                         cta->grid->threads);
    PtxBarrier *barrier = &cta->barrier[id];
    if (barrier->used && barrier->expected != expected)
        return ptx_fault(warp, ins, lane, PTX_FAULT_BARRIER, expected,
                         "barrier %u is waited at for %u threads here and for %u elsewhere", id, expected,
                         barrier->expected);
    if (barrier->lanes[warp->index] & mask)
        return ptx_fault(warp, ins, lane, PTX_FAULT_BARRIER, id, "lanes arrive twice at barrier %u", id);
    if (!barrier->used)
        barrier->red_and = 1;
    barrier->used = TRUE;
    barrier->expected = expected;
    barrier->lanes[warp->index] |= mask;
    ptx_cluster_changed(cta->cluster_of);
    if (red)
        count_reduction(barrier, warp, ins, mask);
    if (ins->op != OP_BAR_ARRIVE) {
        path->ins = ins;
        path->lanes = mask;
        path->barrier = (guint8)id;
        path->state = PATH_BARRIER;
    }
    gboolean complete = barrier_complete(cta, barrier);
    if (complete)
        barrier_finish(cta, id, warp);
    if (ins->op == OP_BAR_ARRIVE)
        return STEP_NEXT;
    return complete ? STEP_JUMP : STEP_AGAIN;
}

/* ---- clusters */

static void cluster_check(PtxCluster *cluster)
{
    if (cluster->live == 0 || cluster->arrived_threads < cluster->live)
        return;
    cluster->arrived_threads = 0;
    cluster->phase++;
    for (guint32 c = 0; c < cluster->size; c++)
        for (guint32 w = 0; w < cluster->cta[c]->grid->n_warps; w++) {
            PtxWarp *warp = &cluster->cta[c]->warp[w];
            gboolean woken = FALSE;
            for (PtxPath *path = warp->head; path; path = path->next)
                if (path->state == PATH_CLUSTER && path->phase != cluster->phase) {
                    path->state = PATH_READY;
                    path->pc++;
                    woken = TRUE;
                }
            if (woken)
                ptx_warp_wake(warp, PTX_WAKE_CLUSTER);
        }
}

PtxStep ptx_step_cluster(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    PtxCluster *cluster = warp->cta->cluster_of;
    if (ins->op == OP_BAR_CLUSTER_ARRIVE) {
        gboolean relaxed = ins->order == W_RELAXED;
        if (!relaxed && !path->fenced) {
            PtxAccess *access = ptx_access_new(warp, path, ins, PTX_ACCESS_FENCE, mask);
            access->scope = W_CLUSTER;
            access->holds = TRUE;
            path->fenced = TRUE;
            path->access = access;
            path->state = PATH_ACCESS;
            return STEP_AGAIN;
        }
        path->fenced = FALSE;
        cluster->arrived_threads += (guint32)__builtin_popcount(mask);
        warp->cluster_phase = cluster->phase;
        cluster_check(cluster);
        ptx_cluster_changed(cluster);
        return STEP_NEXT;
    }
    if (warp->cluster_phase != cluster->phase)
        return STEP_NEXT;
    path->phase = cluster->phase;
    path->state = PATH_CLUSTER;
    return STEP_AGAIN;
}

/* ---- the end of threads */

void ptx_lanes_ended(PtxWarp *warp, guint32 lanes)
{
    PtxCta *cta = warp->cta;
    guint32 count = (guint32)__builtin_popcount(lanes);
    cta->live -= count;
    cta->cluster_of->live -= count;
    for (guint id = 0; id < PTX_BARRIERS; id++)
        if (cta->barrier[id].used && barrier_complete(cta, &cta->barrier[id]))
            barrier_finish(cta, id, NULL);
    cluster_check(cta->cluster_of);
    ptx_gathers_check(warp);
    ptx_cluster_changed(cta->cluster_of);
}

void ptx_warp_ended(PtxWarp *warp) { warp->ended = TRUE; }
