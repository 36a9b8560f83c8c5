/* What the files of model/sm share: issue, the way out of an SM, fences. */
#ifndef MODEL_SM_INTERNAL_H
#define MODEL_SM_INTERNAL_H

#include "model/sm/sm.h"

/* warp.c */
gboolean warp_fetch(Warp *warp);                      /* makes `current` valid; FALSE: nothing to do */
gboolean warp_block_poll(Warp *warp, SimTime now_ps); /* FALSE: nothing to wait for */
char *poll_waiter_text(void *gpu);                    /* for sim_add_waiter(): what its warps poll; NULL: nothing */
typedef enum { ISSUE_DONE, ISSUE_BLOCKED, ISSUE_STALLED } IssueResult;
/* Executes `current` as far as it goes; *cost_ps is the LSU time it took. */
IssueResult warp_issue(Warp *warp, SimTime now_ps, SimTime *cost_ps);
/* For a part of `current`: what its address means, or why nothing; the same, reported (FALSE: it is undefined); the SM
 * has as much in flight as it may; its packet goes (FALSE: there is no room before the ports, and the SM waits). */
FaultKind warp_look_up(const Warp *warp, guint64 va, guint64 bytes, GpuRequest *request);
gboolean warp_translate(const Warp *warp, guint64 va, guint32 bytes, GpuRequest *request);
gboolean warp_at_limit(Warp *warp, const Uop *uop);
gboolean warp_send(Warp *warp, GpuRequest *request, SimTime *cost_ps);
IssueResult warp_issue_scattered(Warp *warp, SimTime *cost_ps);               /* scattered.c */
void warp_loads_dropped(Sm *sm, Reg *reg, SimTime now_ps);                    /* load.c: one less under way */
void warp_on_loaded(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps); /* an answer has come */
IssueResult warp_issue_wait(Warp *warp, SimTime now_ps);                      /* wait.c; `current` has been taken */
/* schedule.c: the warp that issues next becomes the head of the ready ones: the first that need not wait for its last
 * memory instruction any more, or the one that the policy prefers. FALSE: all must wait, the first until *when_ps. */
gboolean sm_choose_warp(Sm *sm, SimTime now_ps, SimTime *when_ps);
void sm_kick(Sm *sm, SimTime now_ps);           /* sees to it that the SM has its next turn when it can */
void sm_on_issue(Event *event, SimTime now_ps); /* of Sm.issue: the turn of a warp */
void sm_on_wake(Event *event, SimTime now_ps);  /* of Sm.wake: warps of kernels go on up to what needs the LSU */
void sm_queue(Warp *warp, SimTime now_ps);      /* for the LSU, behind those that are ready */

typedef enum { SM_OUT_DIRECT, SM_OUT_QUEUE, SM_OUT_MERGE, SM_OUT_FULL } SmOutWay;
/* egress_queue.c: how a request gets out; SM_OUT_MERGE notes with which one in Sm.merge_target. */
SmOutWay sm_out_queued_way(Sm *sm, const GpuRequest *request);
static inline SmOutWay sm_out_way(Sm *sm, const GpuRequest *request, guint32 link)
{
    if (link == GPU_LINK_LOCAL || (sm->queue->ring.count == 0 && gpu_has_room(sm->gpu, link)))
        return SM_OUT_DIRECT;
    return sm_out_queued_way(sm, request);
}
void sm_out_queue(Sm *sm, const GpuRequest *request, guint32 link);
void sm_out_merge(Sm *sm, const GpuRequest *request);
void sm_out_wait(Sm *sm);                                   /* the LSU stalls until there is room */
void sm_out_on_room(GpuRoomWaiter *waiter, SimTime now_ps); /* of a GpuOutQueue */
/* After an SM's turn: if its queue is empty, and others still wait for a place in it, no departure would ever wake
 * them, since the SM that was woken for the last free place did not take it. The next one is woken. */
void sm_out_pass_on(Sm *sm, SimTime now_ps);

/* fence.c */
void fence_init(struct Gpu *gpu);
void fence_clear(struct Gpu *gpu);
void fence_join(Warp *warp, SimTime now_ps);       /* the warp's timer tells when it is done */
gboolean fence_issued(Warp *warp, SimTime now_ps); /* its timer: TRUE if that was the fence's issue */
void fence_init_sm(Sm *sm);
guint64 fence_tag(struct Gpu *gpu); /* of a remote store that is issued now */
#define FENCE_LOCAL G_MAXUINT64     /* of others */
void fence_answered(struct Gpu *gpu, guint64 tag, SimTime now_ps);

#endif
