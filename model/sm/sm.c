#include "model/sm/sm.h"

#include <string.h>

#include "model/fabric/fabric.h"

static const char *const arbitration_names[] = {"round_robin", "greedy", NULL};
const ParamRow sm_params[] = {
    PARAM_U64(SmSpec, count, "", 1, 1024, "SMs of a GPU"),
    PARAM_U64(SmSpec, tpc_sms, "", 1, 16, "SMs of a TPC"),
    PARAM_U64(SmSpec, ctas_max, "", 1, 1024, "CTAs resident on one SM"),
    PARAM_U64(SmSpec, warps_max, "", 1, 1024, "warps resident on one SM"),
    PARAM_U64(SmSpec, load_ps, "ps", 0, 1000000, "LSU time of one load packet"),
    PARAM_U64(SmSpec, store_ps, "ps", 0, 1000000, "LSU time of one store packet that leaves the GPU"),
    PARAM_U64(SmSpec, local_store_ps, "ps", 0, 1000000, "LSU time of one store packet to the GPU's own memory"),
    PARAM_U64(SmSpec, merge_ps, "ps", 0, 1000000, "LSU time of a store that merges with one that waits"),
    PARAM_U64(SmSpec, conflict_ps, "ps", 0, 1000000,
              "more for each 128 B of a store's lanes beyond the first to one line"),
    PARAM_U64(SmSpec, out_packets, "packets", 1, 65536, "of one SM waiting for ports"),
    PARAM_BOOL(SmSpec, merge_stores, "a store merges with one to the same bytes that waits for its port"),
    PARAM_U64(SmSpec, loads_max, "packets", 1, 1u << 20, "load packets in flight of one SM"),
    PARAM_U64(SmSpec, stores_max, "packets", 1, 1u << 20, "store packets in flight of one SM"),
    PARAM_U64(SmSpec, warp_issue_ps, "ps", 0, 1000000, "between two memory instructions of one warp"),
    PARAM_U64(SmSpec, fence_ps, "ps", 0, 100000000, "fence.sys with nothing outstanding"),
    PARAM_U64(SmSpec, fence_issue_ps, "ps", 0, 100000000, "between two fences of one of an SM's schedulers"),
    PARAM_U64(SmSpec, fence_join_ps, "ps", 0, 100000000, "how long after its start a fence's flush takes others along"),
    PARAM_U64(SmSpec, fence_snapshot_ps, "ps", 0, 100000000,
              "start of a flush to its look at which stores are under way"),
    PARAM_U64(SmSpec, fence_round_ps, "ps", 0, 100000000, "least time of a GPU's round of flushes: later ones wait"),
    PARAM_U64(SmSpec, fence_return_ps, "ps", 0, 100000000, "last answer to the end of a flush"),
    PARAM_U64(SmSpec, fence_overlap_ps, "ps", 0, 100000000, "before a flush's end its SM begins the next one"),
    PARAM_BOOL(SmSpec, fence_gpu_wide, "a fence waits for all stores of its GPU, not only of its warp"),
    PARAM_U64(SmSpec, poll_ps, "ps", 0, 10000000, "instructions of a polling loop, beside its load"),
    PARAM_U64(SmSpec, acquire_ps, "ps", 0, 100000000, "what an acquire adds to its load"),
    PARAM_U64(SmSpec, barrier_ps, "ps", 0, 100000000, "bar.sync once the last warp is there"),
    PARAM_U64(SmSpec, launch_ps, "ps", 0, 1000000000000, "kernel launch to first instruction"),
    PARAM_U64(SmSpec, exit_ps, "ps", 0, 1000000000000, "last instruction to end of the kernel"),
    PARAM_U64(SmSpec, exit_drain_ps, "ps", 0, 1000000000000, "last store performed to end of the kernel, if later"),
    PARAM_U64(SmSpec, next_ps, "ps", 0, 1000000000, "last instruction to the first of the stream's next kernel"),
    PARAM_U64(SmSpec, code_ps, "ps", 0, 100000000, "fetch of 1 KiB of code that a CTA runs for the first time"),
    PARAM_ENUM(SmSpec, arbitration, arbitration_names, "which ready warp issues next"),
    PARAM_U64(SmSpec, arch, "", 70, 200, "compute capability times ten: which multimem forms are legal"),
    PARAM_END,
};

const StatRow sm_stats[] = {
    STAT_COUNTER(Sm, packets, "packets", "issued by the LSU"),
    STAT_COUNTER(Sm, merged, "packets", "stores that merged with one waiting for its port"),
    STAT_COUNTER(Sm, stalls_port, "times", "the LSU waited for requests to get out"),
    STAT_COUNTER(Sm, stalls_limit, "times", "the LSU waited for its in-flight limits"),
    STAT_END,
};

static const SmSpec *sm_spec(const Sm *sm) { return &sm->gpu->fabric->spec.sm; }

static void sm_on_issue(Event *event, SimTime now_ps);

/* GPCs have equally many TPCs, the first ones one more where they do not come out even. SMs are numbered in the
 * order in which CTAs get them: one of each TPC, of the GPC with most TPCs to give, then the TPCs' other SMs. */
guint32 sm_gpc(const FabricSpec *spec, guint64 sm)
{
    guint64 gpcs = spec->gpu.out_queues, tpcs = MAX(spec->sm.count / spec->sm.tpc_sms, 1);
    guint64 more = tpcs % gpcs, tpc = sm % tpcs;
    return (guint32)(tpc < more ? tpc : (tpc - more) % gpcs);
}

void sm_init(Gpu *gpu)
{
    guint64 count = gpu->fabric->spec.sm.count;
    fence_init(gpu);
    gpu->sm = g_new0(Sm, count);
    gpu->out = g_new0(GpuOutQueue, gpu->spec->out_queues);
    for (guint64 q = 0; q < gpu->spec->out_queues; q++) {
        gpu->out[q].gpu = gpu;
        gpu->out[q].room.fire = sm_out_on_room;
    }
    for (guint64 i = 0; i < count; i++) {
        gpu->sm[i].gpu = gpu;
        gpu->sm[i].id = (guint32)i;
        gpu->sm[i].queue = &gpu->out[sm_gpc(&gpu->fabric->spec, i)];
        event_init(&gpu->sm[i].issue, sm_on_issue);
        fence_init_sm(&gpu->sm[i]);
    }
}

void sm_clear(Gpu *gpu)
{
    fence_clear(gpu);
    for (guint64 i = 0; i < gpu->fabric->spec.sm.count; i++) {
        sm_out_clear(&gpu->sm[i].out);
        g_free(gpu->sm[i].out_keys);
    }
    for (guint64 q = 0; q < gpu->spec->out_queues; q++)
        gpu_out_clear(&gpu->out[q].ring);
    g_free(gpu->out);
    g_free(gpu->sm);
}

/* Greedy: the warp that issued last, else the oldest one. */
static gboolean sm_goes_first(const Sm *sm, const Warp *a, const Warp *b)
{
    if (a == sm->last || b == sm->last)
        return a == sm->last;
    return a->cta->index != b->cta->index ? a->cta->index < b->cta->index : a->index < b->index;
}

/* The warp that issues next becomes the head: the first that need not wait for its last memory instruction any
 * more, or by sm_goes_first(); if all must wait, `when_ps` is the time of the first that will not. */
static gboolean sm_choose_warp(Sm *sm, SimTime now_ps, SimTime *when_ps)
{
    gboolean greedy = sm_spec(sm)->arbitration == SM_GREEDY;
    Warp *before = NULL, *best = NULL, *best_before = NULL;
    *when_ps = SIMTIME_NEVER;
    for (Warp *warp = sm->ready_head; warp; before = warp, warp = warp->next) {
        if (warp->not_before_ps > now_ps) {
            *when_ps = MIN(*when_ps, warp->not_before_ps);
            continue;
        }
        if (!best || sm_goes_first(sm, warp, best)) {
            best = warp;
            best_before = before;
        }
        if (!greedy)
            break;
    }
    if (best_before) {
        best_before->next = best->next;
        if (sm->ready_tail == best)
            sm->ready_tail = best_before;
        best->next = sm->ready_head;
        sm->ready_head = best;
    }
    return best != NULL;
}

/* The LSU serves ready warps one micro-operation at a time. */
void sm_kick(Sm *sm, SimTime now_ps)
{
    SimTime at_ps = MAX(now_ps, sm->free_ps), when_ps;
    if (!sm->ready_head || sm->stalled || sm->limited)
        return;
    if (event_is_pending(&sm->issue) && sm->issue.time_ps <= at_ps)
        return;
    if (!sm_choose_warp(sm, at_ps, &when_ps))
        at_ps = when_ps;
    if (event_is_pending(&sm->issue)) {
        if (sm->issue.time_ps <= at_ps)
            return;
        sim_cancel(sm->gpu->sim, &sm->issue);
    }
    sim_at(sm->gpu->sim, &sm->issue, at_ps, EVENT_PRIORITY_DEVICE);
}

void warp_ready(Warp *warp)
{
    Sm *sm = warp->sm;
    g_assert(warp->state != WARP_READY);
    warp->state = WARP_READY;
    warp->front_ps = warp->asked_ps = sim_now_ps(sm->gpu->sim);
    warp->next = NULL;
    if (sm->ready_tail)
        sm->ready_tail->next = warp;
    else
        sm->ready_head = warp;
    sm->ready_tail = warp;
    sm_kick(sm, sim_now_ps(sm->gpu->sim));
}

static void sm_drop_head(Sm *sm)
{
    sm->ready_head = sm->ready_head->next;
    if (!sm->ready_head)
        sm->ready_tail = NULL;
}

static void sm_to_tail(Sm *sm)
{
    Warp *warp = sm->ready_head;
    if (warp == sm->ready_tail)
        return;
    sm->ready_head = warp->next;
    warp->next = NULL;
    sm->ready_tail->next = warp;
    sm->ready_tail = warp;
}

/* Instructions that do not use the LSU, nor registers of what waits there. */
static gboolean warp_goes_on(const Uop *uop) { return uop->kind == UOP_WORK && uop->after_ps == 0; }

static void sm_on_issue(Event *event, SimTime now_ps)
{
    Sm *sm = EVENT_OWNER(event, Sm, issue);
    while (sm->ready_head) {
        SimTime when_ps;
        if (!sm_choose_warp(sm, now_ps, &when_ps)) {
            sm_kick(sm, now_ps);
            return;
        }
        Warp *warp = sm->ready_head;
        if (!warp_fetch(warp)) {
            sm_drop_head(sm);
            warp->state = WARP_IDLE;
            if (warp->on_idle)
                warp->on_idle(warp, now_ps);
            continue;
        }
        SimTime cost_ps = 0;
        sm->last = warp;
        IssueResult result = warp_issue(warp, now_ps, &cost_ps);
        sm->free_ps = now_ps + cost_ps;
        if (cost_ps) {
            warp->asked_ps = MAX(warp->front_ps, warp->not_before_ps);
            warp->issued_ps = warp->front_ps = now_ps;
            warp->not_before_ps = now_ps + sm_spec(sm)->warp_issue_ps;
            if (result == ISSUE_DONE && warp_fetch(warp) && warp_goes_on(&warp->current)) {
                SimTime none_ps;
                result = warp_issue(warp, now_ps, &none_ps);
            }
        }
        if (result == ISSUE_STALLED)
            return; /* room or an answer resumes at this warp */
        if (result == ISSUE_BLOCKED) {
            sm_drop_head(sm);
            warp->state = WARP_BLOCKED;
        } else if (sm_spec(sm)->arbitration == SM_ROUND_ROBIN) {
            sm_to_tail(sm);
        }
        if (cost_ps) {
            sm_kick(sm, now_ps);
            return;
        }
    }
}

/* ---- CTAs */

Cta *cta_new(Gpu *gpu, Vas *vas, guint32 index, guint32 threads, const char *name)
{
    g_assert(threads >= 1 && threads <= 1024);
    Cta *cta = g_new0(Cta, 1);
    cta->gpu = gpu;
    cta->vas = vas;
    cta->index = index;
    cta->threads = threads;
    cta->n_warps = (threads + WARP_LANES - 1) / WARP_LANES;
    cta->name = name;
    cta->warp = g_new0(Warp, cta->n_warps);
    for (guint32 w = 0; w < cta->n_warps; w++)
        warp_init(&cta->warp[w], cta, w);
    return cta;
}

/* The SM with the fewest warps that has room; the lowest number among equals. */
static Sm *sm_choose(Gpu *gpu, guint32 warps)
{
    const SmSpec *spec = &gpu->fabric->spec.sm;
    Sm *best = NULL;
    for (guint64 i = 0; i < spec->count; i++) {
        Sm *sm = &gpu->sm[i];
        if (sm->ctas >= spec->ctas_max || sm->warps + warps > spec->warps_max)
            continue;
        if (!best || sm->warps < best->warps)
            best = sm;
    }
    return best;
}

static gboolean cta_try(Cta *cta)
{
    Sm *sm = sm_choose(cta->gpu, cta->n_warps);
    if (!sm)
        return FALSE;
    cta->sm = sm;
    sm->ctas++;
    sm->warps += cta->n_warps;
    for (guint32 w = 0; w < cta->n_warps; w++)
        cta->warp[w].sm = sm;
    cta->on_placed(cta, sim_now_ps(cta->gpu->sim));
    return TRUE;
}

void cta_place(Cta *cta, void (*on_placed)(Cta *cta, SimTime now_ps))
{
    Gpu *gpu = cta->gpu;
    cta->on_placed = on_placed;
    if (!gpu->cta_head && cta_try(cta))
        return;
    if (gpu->cta_tail)
        gpu->cta_tail->next = cta;
    else
        gpu->cta_head = cta;
    gpu->cta_tail = cta;
}

static void cta_clear(Cta *cta)
{
    for (guint32 w = 0; w < cta->n_warps; w++)
        warp_clear(&cta->warp[w]);
    g_free(cta->warp);
    g_free(cta);
}

void cta_drop(Cta *cta) { cta_clear(cta); }

void cta_free(Cta *cta)
{
    Gpu *gpu = cta->gpu;
    for (guint32 w = 0; w < cta->n_warps; w++)
        g_assert(cta->warp[w].state == WARP_IDLE && cta->warp[w].stores == 0);
    if (cta->sm) {
        cta->sm->ctas--;
        cta->sm->warps -= cta->n_warps;
    }
    cta_clear(cta);
    /* on_placed may queue the next one, so the queue is whole before each attempt */
    while (gpu->cta_head) {
        Cta *next = gpu->cta_head;
        gpu->cta_head = next->next;
        next->next = NULL;
        if (!gpu->cta_head)
            gpu->cta_tail = NULL;
        if (cta_try(next))
            continue;
        next->next = gpu->cta_head;
        gpu->cta_head = next;
        if (!gpu->cta_tail)
            gpu->cta_tail = next;
        break;
    }
}

Reg *reg_new(guint32 width, gboolean keep_bytes)
{
    Reg *reg = g_new0(Reg, 1);
    reg->width = (guint8)width;
    reg->bytes = keep_bytes ? g_malloc0(REG_BYTES) : NULL;
    return reg;
}

void reg_drop(Reg *reg)
{
    g_free(reg->bytes);
    g_free(reg->lane_va);
    g_free(reg);
}

void reg_free(Reg *reg)
{
    g_assert(reg->pending == 0);
    reg_drop(reg);
}
