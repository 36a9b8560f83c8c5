/* The warp scheduler of an SM: which warp issues next, and when. */
#include "model/sm/internal.h"

/* Greedy: the warp that issued last, else the oldest one. */
static gboolean sm_goes_first(const Sm *sm, const Warp *a, const Warp *b)
{
    if (a == sm->last || b == sm->last)
        return a == sm->last;
    return a->cta->index != b->cta->index ? a->cta->index < b->cta->index : a->index < b->index;
}

gboolean sm_choose_warp(Sm *sm, SimTime now_ps, SimTime *when_ps)
{
    gboolean greedy = sm->gpu->sm_spec->arbitration == SM_GREEDY;
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

static void sm_append(Warp **head, Warp **tail, Warp *warp)
{
    warp->next = NULL;
    *(*tail ? &(*tail)->next : head) = warp;
    *tail = warp;
}

void sm_queue(Warp *warp, SimTime now_ps)
{
    sm_append(&warp->sm->ready_head, &warp->sm->ready_tail, warp);
    sm_kick(warp->sm, now_ps);
}

gboolean sm_lsu_is_busy(const Sm *sm, SimTime at_ps)
{
    return sm->ready_head || sm->stalled || sm->limited || sm->free_ps > at_ps;
}

/* A warp of a kernel that has nothing for the LSU yet executes its other instructions beside it; those of device
 * programs, which have few others, find out when it is their turn. */
void warp_ready(Warp *warp)
{
    Sm *sm = warp->sm;
    SimTime now_ps = sim_now_ps(sm->gpu->sim);
    g_assert(warp->state != WARP_READY);
    warp->state = WARP_READY;
    warp->front_ps = warp->asked_ps = now_ps;
    if (!warp->issue_ps || warp->have) {
        sm_queue(warp, now_ps);
        return;
    }
    sm_append(&sm->woken_head, &sm->woken_tail, warp);
    if (!event_is_pending(&sm->wake))
        sim_at(sm->gpu->sim, &sm->wake, now_ps, EVENT_PRIORITY_DEVICE);
}
