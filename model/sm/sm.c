/* The warp scheduler of an SM: which warp issues next, and when. */
#include "model/sm/internal.h"

static const SmSpec *sm_spec(const Sm *sm) { return sm->gpu->sm_spec; }

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

/* The warp that issued is the head, unless its generator has woken another that need not wait. */
static void sm_drop(Sm *sm, Warp *warp)
{
    Warp **at = &sm->ready_head, *before = NULL;
    for (; *at != warp; at = &before->next)
        before = *at;
    *at = warp->next;
    if (sm->ready_tail == warp)
        sm->ready_tail = before;
}

static void sm_to_tail(Sm *sm, Warp *warp)
{
    if (warp == sm->ready_tail)
        return;
    sm_drop(sm, warp);
    warp->next = NULL;
    sm->ready_tail = sm->ready_tail->next = warp;
}

/* Instructions that do not use the LSU, nor registers of what waits there. */
static gboolean warp_goes_on(const Uop *uop)
{
    return uop->kind == UOP_UNTIL || (uop->kind == UOP_WORK && uop->after_ps == 0);
}

/* Until a warp's next memory instruction: of device programs, whose other instructions are not modelled, one value;
 * of kernels the time until the LSU takes it, by its packets.
 * Source: h100/memory.csv, loads in flight of one warp (4 and 10 clk for 1 and 4 packets), st.global issue (5, 14). */
static SimTime sm_after_ps(const Sm *sm, const Warp *warp, SimTime cost_ps)
{
    if (!warp->issue_ps)
        return sm_spec(sm)->warp_issue_ps;
    return warp->issue_ps + (warp->stored ? cost_ps : 2 * cost_ps);
}

static void sm_issue(Sm *sm, SimTime now_ps)
{
    while (sm->ready_head) {
        SimTime when_ps;
        if (!sm_choose_warp(sm, now_ps, &when_ps)) {
            sm_kick(sm, now_ps);
            return;
        }
        Warp *warp = sm->ready_head;
        if (!warp_fetch(warp)) {
            sm_drop(sm, warp);
            warp->state = WARP_IDLE;
            if (warp->on_idle)
                warp->on_idle(warp, now_ps);
            continue;
        }
        SimTime cost_ps = 0;
        sm->last = warp;
        warp->stored = warp->current.kind == UOP_STORE || warp->current.kind == UOP_MC_STORE;
        IssueResult result = warp_issue(warp, now_ps, &cost_ps);
        sm->free_ps = now_ps + cost_ps;
        if (cost_ps) {
            warp->asked_ps = MAX(warp->front_ps, warp->not_before_ps);
            warp->issued_ps = warp->front_ps = now_ps;
            warp->not_before_ps = now_ps + sm_after_ps(sm, warp, cost_ps);
            if (result == ISSUE_DONE && warp_fetch(warp) && warp_goes_on(&warp->current)) {
                SimTime none_ps;
                result = warp_issue(warp, now_ps, &none_ps);
            }
        }
        if (result == ISSUE_STALLED)
            return; /* room or an answer resumes at this warp */
        if (result == ISSUE_BLOCKED) {
            sm_drop(sm, warp);
            warp->state = WARP_BLOCKED;
        } else if (sm_spec(sm)->arbitration == SM_ROUND_ROBIN) {
            sm_to_tail(sm, warp);
        }
        if (cost_ps) {
            sm_kick(sm, now_ps);
            return;
        }
    }
}

void sm_on_issue(Event *event, SimTime now_ps)
{
    Sm *sm = EVENT_OWNER(event, Sm, issue);
    sm_issue(sm, now_ps);
    sm_out_pass_on(sm, now_ps);
}
