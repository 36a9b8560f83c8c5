/* What a warp waits for other than memory: barriers, fences, time, and what wakes it by name.
 *
 * What hardware it stands for: the scheduler's scoreboard of barriers and memory fences, and instructions that take
 * time. Modelled: a barrier's and a fence's latency, waiting for the warp's own stores. Fences of a whole GPU are in
 * fence.c. Left out: scoreboard slots. Sources: see sm.h. */
#include "model/sm/internal.h"

static IssueResult wait_barrier(Warp *warp, SimTime now_ps)
{
    Cta *cta = warp->cta;
    SimTime at_ps = now_ps + cta->gpu->sm_spec->barrier_ps;
    guint32 id = warp->current.value & 0xff, warps = (guint32)(warp->current.value >> 8);
    g_assert(id < CTA_BARRIERS && warps <= cta->n_warps);
    guint32 *arrived = &cta->arrived[id];
    warp->fencing = FALSE;
    *arrived |= 1u << warp->index;
    if ((guint32)__builtin_popcount(*arrived) < (warps ? warps : cta->n_warps))
        return ISSUE_BLOCKED;
    /* every warp that came, this one too, goes on after the barrier's latency */
    for (guint32 w = 0; w < cta->n_warps; w++)
        if (*arrived >> w & 1)
            sim_at(cta->gpu->sim, &cta->warp[w].timer, at_ps, EVENT_PRIORITY_DEVICE);
    *arrived = 0;
    return ISSUE_BLOCKED;
}

static IssueResult wait_fence(Warp *warp, SimTime now_ps)
{
    if (warp->cta->gpu->fabric->spec.sm.fence_gpu_wide) {
        fence_join(warp, now_ps);
        return ISSUE_BLOCKED;
    }
    warp->fence_at_ps = now_ps + warp->cta->gpu->sm_spec->fence_ps + warp->cta->gpu->fabric->spec.system.host_fence_ps;
    if (warp->stores)
        warp->fencing = TRUE;
    else
        sim_at(warp->sm->gpu->sim, &warp->timer, warp->fence_at_ps, EVENT_PRIORITY_DEVICE);
    return ISSUE_BLOCKED;
}

static IssueResult wait_drain(Warp *warp, SimTime now_ps)
{
    if (warp->stores == 0)
        return ISSUE_DONE;
    warp->fence_at_ps = now_ps;
    warp->fencing = TRUE;
    return ISSUE_BLOCKED;
}

static IssueResult wait_until(Warp *warp, SimTime until_ps, SimTime now_ps)
{
    if (until_ps <= now_ps)
        return ISSUE_DONE;
    sim_at(warp->sm->gpu->sim, &warp->timer, until_ps, EVENT_PRIORITY_DEVICE);
    return ISSUE_BLOCKED;
}

static IssueResult wait_park(Warp *warp, SimTime now_ps)
{
    SimTime until_ps = warp->current.value;
    if (warp->unparked || (until_ps && until_ps <= now_ps)) {
        warp->unparked = FALSE;
        return ISSUE_DONE;
    }
    warp->parked = TRUE;
    if (until_ps)
        sim_at(warp->sm->gpu->sim, &warp->timer, until_ps, EVENT_PRIORITY_DEVICE);
    return ISSUE_BLOCKED;
}

void warp_unpark(Warp *warp)
{
    if (!warp->parked) {
        warp->unparked = TRUE;
        return;
    }
    warp->parked = FALSE;
    if (event_is_pending(&warp->timer))
        sim_cancel(warp->sm->gpu->sim, &warp->timer);
    warp_ready(warp);
}

IssueResult warp_issue_wait(Warp *warp, SimTime now_ps)
{
    const Uop *uop = &warp->current;
    switch ((UopKind)uop->kind) {
    case UOP_FENCE: return wait_fence(warp, now_ps);
    case UOP_BARRIER: return wait_barrier(warp, now_ps);
    case UOP_DRAIN: return wait_drain(warp, now_ps);
    case UOP_WORK: return wait_until(warp, MAX(warp->asked_ps + uop->value, warp->issued_ps + uop->after_ps), now_ps);
    case UOP_UNTIL: return wait_until(warp, uop->value, now_ps);
    case UOP_PARK: return wait_park(warp, now_ps);
    default: /* UOP_DELAY: blocks even for no time */
        sim_at(warp->sm->gpu->sim, &warp->timer, now_ps + uop->value, EVENT_PRIORITY_DEVICE);
        return ISSUE_BLOCKED;
    }
}
