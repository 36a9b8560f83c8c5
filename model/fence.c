/* fence.sys: earlier stores are performed everywhere.
 *
 * What hardware it stands for: MEMBAR.SYS, which waits until the GPU's write path is empty of what came
 * before it, whoever stored it.
 * Modelled: a fence waits for the answers of all stores that the GPU's SMs had under way when it came (or
 * only for its own warp's, by a knob), then passes its SM's fence unit, one warp every `fence_ps`.
 * Left out: fences of narrower scope.
 * Sources: h200 message_rtt (1 warp: the time of a store's answer; 31 warps more: 21 ns each), barrier (8
 * CTAs take one store's answer longer than 1, 36 no more than 8).
 *
 * Stores are tagged with the epoch in which they were issued; each fence ends an epoch. */
#include "model/fabric.h"
#include "model/sm.h"

static void fence_pass(Warp *warp, SimTime now_ps)
{
    Sm *sm = warp->sm;
    sm->fence_free_ps = MAX(sm->fence_free_ps, now_ps) + sm->gpu->fabric->spec.sm.fence_ps;
    sim_at(sm->gpu->sim, &warp->timer, sm->fence_free_ps, EVENT_PRIORITY_DEVICE);
}

void fence_init(Gpu *gpu)
{
    *fence_epoch_push(&gpu->fence.open) = 0;
}

void fence_clear(Gpu *gpu) { fence_epoch_clear(&gpu->fence.open); }

/* Forgets epochs without open stores and lets the fences pass that waited for them. */
static void fence_advance(Gpu *gpu, SimTime now_ps)
{
    FenceState *fence = &gpu->fence;
    while (fence->open.count > 1 && *fence_epoch_peek(&fence->open) == 0) {
        fence_epoch_drop(&fence->open);
        fence->oldest++;
    }
    while (fence->head && fence->head->fence_epoch < fence->oldest) {
        Warp *warp = fence->head;
        fence->head = warp->fence_next;
        fence_pass(warp, now_ps);
    }
}

guint64 fence_tag(Gpu *gpu)
{
    FenceState *fence = &gpu->fence;
    ++*fence_epoch_nth(&fence->open, fence->open.count - 1);
    return fence->oldest + fence->open.count - 1;
}

void fence_answered(Gpu *gpu, guint64 tag, SimTime now_ps)
{
    FenceState *fence = &gpu->fence;
    guint32 *open = fence_epoch_nth(&fence->open, (guint32)(tag - fence->oldest));
    g_assert(*open > 0);
    if (--*open == 0 && tag == fence->oldest)
        fence_advance(gpu, now_ps);
}

void fence_join(Warp *warp, SimTime now_ps)
{
    Gpu *gpu = warp->sm->gpu;
    FenceState *fence = &gpu->fence;
    warp->fence_next = NULL;
    warp->fence_epoch = fence->oldest + fence->open.count - 1;
    *fence_epoch_push(&fence->open) = 0;
    if (fence->head)
        fence->tail->fence_next = warp;
    else
        fence->head = warp;
    fence->tail = warp;
    fence_advance(gpu, now_ps);
}
