/* The turns of an SM: the warp that the scheduler chose (schedule.c) issues, and leaves the queue or stays in it. */
#include "model/sm/internal.h"

static const SmSpec *sm_spec(const Sm *sm) { return sm->gpu->sm_spec; }

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

static gboolean uop_needs_lsu(const Uop *uop)
{
    return uop->kind <= UOP_MC_RED || uop->kind == UOP_POLL || uop->kind == UOP_TURN;
}

/* A warp of a kernel, which is in no queue, goes on until it has something for the LSU, waits, or has ended. */
static void warp_go_on(Warp *warp, SimTime now_ps)
{
    SimTime none_ps = 0;
    do {
        if (!warp_fetch(warp)) {
            warp->state = WARP_IDLE;
            if (warp->on_idle)
                warp->on_idle(warp, now_ps);
            return;
        }
        if (uop_needs_lsu(&warp->current)) {
            sm_queue(warp, now_ps);
            return;
        }
    } while (warp_issue(warp, now_ps, &none_ps) == ISSUE_DONE);
    warp->state = WARP_BLOCKED;
}

void sm_on_wake(Event *event, SimTime now_ps)
{
    Sm *sm = EVENT_OWNER(event, Sm, wake);
    while (sm->woken_head) {
        Warp *warp = sm->woken_head;
        sm->woken_head = warp->next;
        if (!sm->woken_head)
            sm->woken_tail = NULL;
        warp_go_on(warp, now_ps);
    }
}

/* Until a warp's next memory instruction. Device programs have a loop's other instructions at the end of its turns. */
static SimTime sm_after_ps(const Sm *sm, const Warp *warp, SimTime cost_ps)
{
    if (warp->issue_ps)
        return sm_gap_ps(warp->issue_ps, warp->stored, cost_ps);
    if (warp->followed)
        return sm_gap_ps(2 * sm_spec(sm)->clock_ps, warp->stored, cost_ps);
    return sm_spec(sm)->warp_issue_ps;
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
        warp->followed = warp->current.followed;
        IssueResult result = warp_issue(warp, now_ps, &cost_ps);
        sm->free_ps = now_ps + cost_ps;
        if (cost_ps) {
            warp->asked_ps = MAX(warp->front_ps, warp->not_before_ps);
            warp->issued_ps = warp->front_ps = now_ps;
            warp->not_before_ps = now_ps + sm_after_ps(sm, warp, cost_ps);
            if (result == ISSUE_DONE && !warp->issue_ps && warp_fetch(warp) && warp_goes_on(&warp->current)) {
                SimTime none_ps;
                result = warp_issue(warp, now_ps, &none_ps);
            }
        }
        if (result == ISSUE_STALLED)
            return; /* room or an answer resumes at this warp */
        if (result == ISSUE_BLOCKED) {
            sm_drop(sm, warp);
            warp->state = WARP_BLOCKED;
        } else if (warp->issue_ps) {
            sm_drop(sm, warp);
            warp_go_on(warp, now_ps);
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
    if (sm->free_ps > now_ps) /* who came in the middle of a turn asked for the next one too early */
        sm_kick(sm, now_ps);
    else if (!sm->stalled && !sm->limited)
        sm_issue(sm, now_ps);
    sm_out_pass_on(sm, now_ps);
}
