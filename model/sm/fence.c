/* fence.sys: earlier stores are performed everywhere.
 *
 * What hardware it stands for: MEMBAR.SYS. Each SM makes one flush at a time, and the GPU one round of them; a warp
 * that comes late shares the next one.
 * Modelled, in the order of a fence's way:
 *   issue: a scheduler of the SM issues one fence every fence_issue_ps;
 *   flush of the SM: warps that come within fence_join_ps of its start share it, later ones share the next,
 *     which begins fence_overlap_ps before this one's end, or at its end if it waited for answers;
 *   round of the GPU: fence_snapshot_ps after its start a flush gets to the GPU's unit. If that is free a round begins:
 *     it notes which remote stores of the whole GPU are under way, and lasts until they are answered, or
 *     fence_round_ps and host_fence_ps; flushes that come meanwhile share the next round;
 *   end: as long after the round's begin as an undisturbed fence takes (fence_ps, and host_fence_ps for a host that
 *     answers later than the one on which that was measured), or fence_return_ps after the last answer. Stores to the
 *     own memory are over by then, or waited for.
 * Left out: fences of narrower scope.
 * Sources: two H200, fences at random phases and in step (docs/fidelity.md).
 *
 * Stores are tagged with the epoch in which they were issued; each round ends an epoch. Flows that store are one store
 * of each round, under way since it began. */
#include "model/sm/internal.h"

/* One flush of an SM: a list of its warps. */
struct FenceFlush {
    FenceFlush *next; /* in its round, or among those that wait for one */
    Sm *sm;
    SimTime start_ps;
    Warp *head;
    Event event; /* it gets to the GPU's unit */
};

/* The only round of a GPU. */
typedef struct {
    FenceFlush *head;
    guint64 epoch;
    SimTime start_ps, local_ps; /* of stores to the own memory */
} FenceRound;

static const SmSpec *fence_spec(const Gpu *gpu) { return gpu->sm_spec; }

/* ---- stores */

static void fence_advance(Gpu *gpu, SimTime now_ps);

guint64 fence_tag(Gpu *gpu)
{
    FenceState *fence = &gpu->fence;
    ++*fence_epoch_nth(&fence->open, fence->open.count - 1);
    return fence->oldest + fence->open.count - 1;
}

void fence_answered(Gpu *gpu, guint64 tag, SimTime now_ps)
{
    FenceState *fence = &gpu->fence;
    if (tag == FENCE_LOCAL)
        return;
    guint32 *open = fence_epoch_nth(&fence->open, (guint32)(tag - fence->oldest));
    g_assert(*open > 0);
    if (--*open == 0 && tag == fence->oldest)
        fence_advance(gpu, now_ps);
}

/* ---- flushes of an SM */

static void fence_on_free(Event *event, SimTime now_ps);
static void fence_on_arrive(Event *event, SimTime now_ps);

void fence_init_sm(Sm *sm) { event_init(&sm->fence_free, fence_on_free); }

static void fence_add(FenceFlush *flush, Warp *warp, SimTime now_ps)
{
    warp->fence_at_ps = now_ps; /* when it came */
    warp->fence_next = flush->head;
    flush->head = warp;
}

static FenceFlush *fence_start(Sm *sm, SimTime now_ps)
{
    const SmSpec *spec = fence_spec(sm->gpu);
    FenceFlush *flush = g_new0(FenceFlush, 1);
    flush->sm = sm;
    flush->start_ps = now_ps;
    sm->flush = flush;
    sm->flushing = TRUE;
    event_init(&flush->event, fence_on_arrive);
    sim_at(sm->gpu->sim, &flush->event, now_ps + spec->fence_snapshot_ps, EVENT_PRIORITY_DEVICE);
    return flush;
}

static void fence_arrive(Warp *warp, SimTime now_ps)
{
    Sm *sm = warp->sm;
    if (sm->flush && now_ps <= sm->flush->start_ps + fence_spec(sm->gpu)->fence_join_ps) {
        fence_add(sm->flush, warp, now_ps);
    } else if (sm->flushing) {
        warp->fence_next = sm->fence_waiting;
        sm->fence_waiting = warp;
    } else {
        fence_add(fence_start(sm, now_ps), warp, now_ps);
    }
}

/* The SM can begin its next flush. */
static void fence_on_free(Event *event, SimTime now_ps)
{
    Sm *sm = EVENT_OWNER(event, Sm, fence_free);
    Warp *warp = sm->fence_waiting;
    sm->fence_waiting = NULL;
    sm->flushing = FALSE;
    while (warp) {
        Warp *next = warp->fence_next;
        fence_add(sm->flush ? sm->flush : fence_start(sm, now_ps), warp, now_ps);
        warp = next;
    }
}

/* A flush ends at end_ps: its warps go on, each as much later as it came. */
static void fence_finish(FenceFlush *flush, SimTime end_ps, SimTime now_ps, gboolean waited)
{
    Sm *sm = flush->sm;
    SimTime overlap_ps = waited ? 0 : fence_spec(sm->gpu)->fence_overlap_ps;
    for (Warp *warp = flush->head; warp; warp = warp->fence_next)
        sim_at(sm->gpu->sim, &warp->timer, end_ps + (warp->fence_at_ps - flush->start_ps), EVENT_PRIORITY_DEVICE);
    sm->flush = NULL;
    sim_at(sm->gpu->sim, &sm->fence_free, MAX(now_ps + overlap_ps, end_ps) - overlap_ps, EVENT_PRIORITY_DEVICE);
    g_free(flush);
}

/* ---- rounds of a GPU */

static void fence_begin_round(Gpu *gpu, SimTime now_ps)
{
    FenceState *fence = &gpu->fence;
    FenceRound *round = fence->round;
    round->head = fence->waiting;
    round->epoch = fence->oldest + fence->open.count - 1;
    round->start_ps = now_ps;
    round->local_ps = fence->local_ps;
    fence->waiting = NULL;
    fence->busy = TRUE;
    SimTime flow_ps = gpu->flows.storing ? gpu->flows.stored_ps(gpu) : 0;
    if (flow_ps) {
        fence->flow_tag = fence_tag(gpu);
        sim_at(gpu->sim, &fence->flow, now_ps + flow_ps, EVENT_PRIORITY_DEVICE);
    }
    *fence_epoch_push(&fence->open) = 0;
    fence_advance(gpu, now_ps);
}

/* Forgets epochs without open stores and ends the round that waited for them. */
static void fence_advance(Gpu *gpu, SimTime now_ps)
{
    FenceState *fence = &gpu->fence;
    FenceRound *round = fence->round;
    const SmSpec *spec = fence_spec(gpu);
    while (fence->open.count > 1 && *fence_epoch_peek(&fence->open) == 0) {
        fence_epoch_drop(&fence->open);
        fence->oldest++;
    }
    if (!round->head || round->epoch >= fence->oldest)
        return;
    const SimTime host_ps = gpu->fabric->spec.system.host_fence_ps;
    SimTime end_ps = round->start_ps + spec->fence_ps - MIN(spec->fence_snapshot_ps, spec->fence_ps) + host_ps;
    gboolean waited = now_ps > round->start_ps;
    if (waited)
        end_ps = MAX(end_ps, now_ps + spec->fence_return_ps);
    end_ps = MAX(MAX(end_ps, round->local_ps), now_ps);
    for (FenceFlush *flush = round->head, *next; flush; flush = next) {
        next = flush->next;
        fence_finish(flush, end_ps, now_ps, waited);
    }
    round->head = NULL;
    sim_at(gpu->sim, &fence->free, MAX(now_ps, round->start_ps + spec->fence_round_ps + host_ps),
           EVENT_PRIORITY_DEVICE);
}

static void fence_on_flow(Event *event, SimTime now_ps)
{
    Gpu *gpu = EVENT_OWNER(event, Gpu, fence.flow);
    fence_answered(gpu, gpu->fence.flow_tag, now_ps);
}

static void fence_on_round_over(Event *event, SimTime now_ps)
{
    Gpu *gpu = EVENT_OWNER(event, Gpu, fence.free);
    gpu->fence.busy = FALSE;
    if (gpu->fence.waiting)
        fence_begin_round(gpu, now_ps);
}

static void fence_on_arrive(Event *event, SimTime now_ps)
{
    FenceFlush *flush = EVENT_OWNER(event, FenceFlush, event);
    Gpu *gpu = flush->sm->gpu;
    flush->next = gpu->fence.waiting;
    gpu->fence.waiting = flush;
    if (!gpu->fence.busy)
        fence_begin_round(gpu, now_ps);
}

void fence_init(Gpu *gpu)
{
    *fence_epoch_push(&gpu->fence.open) = 0;
    gpu->fence.round = g_new0(FenceRound, 1);
    event_init(&gpu->fence.free, fence_on_round_over);
    event_init(&gpu->fence.flow, fence_on_flow);
}

void fence_clear(Gpu *gpu)
{
    fence_epoch_clear(&gpu->fence.open);
    g_free(gpu->fence.round);
}

/* ---- a warp's fence */

void fence_join(Warp *warp, SimTime now_ps)
{
    Sm *sm = warp->sm;
    SimTime *issue_ps = &sm->fence_issue_ps[warp->index % SM_SCHEDULERS];
    SimTime at_ps = MAX(now_ps, *issue_ps);
    *issue_ps = at_ps + fence_spec(sm->gpu)->fence_issue_ps;
    warp->fence_issuing = at_ps > now_ps;
    if (warp->fence_issuing)
        sim_at(sm->gpu->sim, &warp->timer, at_ps, EVENT_PRIORITY_DEVICE);
    else
        fence_arrive(warp, now_ps);
}

gboolean fence_issued(Warp *warp, SimTime now_ps)
{
    if (!warp->fence_issuing)
        return FALSE;
    warp->fence_issuing = FALSE;
    fence_arrive(warp, now_ps);
    return TRUE;
}
