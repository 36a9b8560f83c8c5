/* The half of the loop for replicas (gpu_replicas.c) that serves them: what joins the port's queue, from L2 as requests
 * are served, and what has come from HBM. */
#ifndef MODEL_FASTPATH_GPU_REPLICAS_JOIN_H
#define MODEL_FASTPATH_GPU_REPLICAS_JOIN_H

#include "model/fastpath/gpu_replicas.h"
#include "model/fastpath/link_settle.h"

/* What is sent at most before it is looked at what has joined meanwhile. */
#define REPLICAS_RUN 64u

/* Of an epoch of HBM: the wait and the way of all answers that it begins with, and what it has moved. */
typedef struct {
    SimTime end_ps, wait_ps;
    guint64 epoch, bytes;
} ReplicasHbm;

typedef struct {
    Gpu *gpu;
    Link *up;
    LinkCredits *freed;        /* of the link down */
    gboolean at_rest;          /* so is the switch, and its records and accounts are at hand */
    LinkRing *ring;           /* of answers */
    GpuShare *share;          /* NULL: this thread has the GPU */
    guint32 served, stalls;
    SimTime last_ps;          /* when the last one in that lane joins */
    ReplicasHbm hbm;
    SimTime freed_ps;         /* the first credits of requests that are not announced; 0: none */
    SimTime short_until_ps;   /* the port's own requests lack credits, and none come before */
    gboolean stages;          /* what joins is taken in first, and then sent: replicas_stage() */
    guint32 staged;           /* so many of the last ones in the queue: LinkSlot.due says when each joins, */
    SimTime staged_ps;        /* none later than then */
    guint32 waited, sent;     /* answers: when a run began, and those that have left in it, */
    guint32 left;             /* those of them that replicas_count_peak() has counted */
    SimTime sent_ps[REPLICAS_RUN + 1]; /* when, from 1 on; 0: when the gate opened before */
} Replicas;

/* HBM is told of what it has moved. */
static ALWAYS_INLINE void replicas_hbm_tell(Replicas *run)
{
    ReplicasHbm *hbm = &run->hbm;
    if (run->share) {
        run->share->hbm_bytes[hbm->epoch & 1] += hbm->bytes;
    } else {
        run->gpu->hbm_bytes += hbm->bytes;
        hbm_tell_about(&run->gpu->hbm, hbm->bytes, hbm->epoch);
    }
    hbm->bytes = 0;
}

/* The epoch of at_ps begins: no earlier one has any more. */
static G_GNUC_NO_INLINE void replicas_hbm_epoch(Replicas *run, SimTime at_ps)
{
    ReplicasHbm *hbm = &run->hbm;
    replicas_hbm_tell(run);
    if (!run->share)
        hbm_roll(&run->gpu->hbm, at_ps);
    hbm->epoch = at_ps >> run->gpu->hbm.shift;
    hbm->end_ps = (hbm->epoch + 1) << run->gpu->hbm.shift;
    hbm->wait_ps = hbm_about_ps(&run->gpu->hbm, 0, at_ps) - at_ps + run->gpu->spec->dram_ps;
}

/* The answer to a replica comes from HBM: into its lane if it is an operand, TRUE; no branch, nobody could predict
 * whether. The lane is hardly ever empty. */
static ALWAYS_INLINE gboolean replicas_ask_hbm(Replicas *run, Packet packet, Packet answer, SimTime at_ps)
{
    Link *up = run->up;
    LinkReadyRing *lane = &up->lane[LINK_LANE_ANSWERS];
    const guint32 bytes = gpu_replica_hbm_bytes(packet);
    if (G_UNLIKELY(at_ps >= run->hbm.end_ps))
        replicas_hbm_epoch(run, at_ps);
    run->hbm.bytes += bytes;
    guint32 operand = gpu_replica_is_read(packet);
    SimTime last_ps = run->last_ps;
    SimTime ready_ps = MAX(at_ps + run->hbm.wait_ps + simfine_to_ps(bytes * run->gpu->hbm.byte_time), last_ps);
    if (G_UNLIKELY(lane->count == 0)) { /* and so no link_ready_push(), which asks that without a branch */
        lane->head = 0;
        up->first_ps[LINK_LANE_ANSWERS] = operand ? ready_ps : SIMTIME_NEVER;
    }
    *link_ready_behind(lane) = (LinkReady){ready_ps, answer};
    lane->count += operand;
    run->last_ps = operand ? ready_ps : last_ps;
    return (gboolean)operand;
}

/* What requests that were served have freed and moved is told. */
static ALWAYS_INLINE void replicas_tell_served(Replicas *run)
{
    replicas_hbm_tell(run);
    if (run->freed_ps) {
        link_credits_announce(run->freed, VC_CREQ, run->freed_ps);
        if (run->at_rest)
            exchange_note(run->up->domain, link_credits_due_ps(run->freed, run->freed_ps));
    }
    run->freed_ps = 0;
}

/* The first request in the lane, of *first_ps, is served; who is done with serving calls replicas_tell_served(). How
 * many answers it gives now: 0, if it comes from HBM. */
static ALWAYS_INLINE guint32 replicas_serve(Replicas *run, SimTime *first_ps, SimTime at_ps, Packet *answer)
{
    LinkReadyRing *requests = &run->up->lane[LINK_LANE_REQUESTS];
    Packet packet = link_ready_peek(requests)->packet;
    run->stalls += at_ps > *first_ps;
    run->served += packet_count(packet);
    link_ready_drop(requests);
    *first_ps = requests->count ? link_ready_peek(requests)->at_ps : SIMTIME_NEVER;
    if (link_credits_reach(run->freed, VC_CREQ, at_ps)) {
        link_credits_note(run->freed, VC_CREQ, packet.flits, at_ps);
        run->freed_ps = run->freed_ps ? run->freed_ps : at_ps;
    } else {
        replicas_tell_served(run);
        link_credits_free(run->freed, VC_CREQ, packet.flits, at_ps);
    }
    *answer = gpu_replica_answer(run->gpu, packet);
    if (replica_answer(packet) != REPLICA_FROM_HBM)
        return 1;
    return !replicas_ask_hbm(run, packet, *answer, at_ps);
}

/* The queue as it was at at_ps, when an answer had joined: `joined` of them since the run began. */
static ALWAYS_INLINE void replicas_count_peak(Replicas *run, guint32 joined, SimTime at_ps)
{
    guint64 most = run->waited + joined;
    if (G_LIKELY(most <= run->up->queue_peak ||
                 (most - run->up->queue_peak <= run->sent && run->sent_ps[most - run->up->queue_peak] <= at_ps)))
        return;
    while (run->left < run->sent && run->sent_ps[run->left + 1] <= at_ps)
        run->left++;
    run->up->queue_peak = most - run->left;
}

/* When the gate opens to one more request: as soon as so many answers have left that joined ones leave room. */
static ALWAYS_INLINE SimTime replicas_open_ps(const Replicas *run, gint32 leave)
{
    if (leave <= 0)
        return run->sent_ps[0];
    return leave <= (gint32)run->sent ? run->sent_ps[leave] : SIMTIME_NEVER;
}

/* Answers that the queue can take, whenever others leave: none of them holds up requests, lacks credits, or makes it
 * longer than ever. */
static ALWAYS_INLINE guint32 replicas_stage_room(const Replicas *run)
{
    const Link *up = run->up;
    const LinkRing *ring = run->ring;
    guint32 credits = !run->share ? G_MAXUINT32 : ring->credits > 0 ? (guint32)ring->credits >> PACKET_FLITS_BITS : 0;
    guint32 most = MIN(MIN(up->gate - 1, credits), (guint32)MIN(up->queue_peak, G_MAXUINT32));
    guint32 slots = ring->mask + 1 - (ring->wire + ring->waiting - ring->head);
    return most > ring->waiting ? MIN(most - ring->waiting, slots) : 0;
}

/* What joins the queue up to until_ps, `room` at most, is taken in, each with its time: decisions before that are made
 * afterwards. How many. */
static ALWAYS_INLINE guint32 replicas_stage(Replicas *run, guint32 room, SimTime until_ps)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    SimTime first_ps = up->first_ps[LINK_LANE_REQUESTS], open_ps = up->gate_open_ps;
    const guint32 behind = ring->wire + ring->waiting, end = behind + room;
    guint32 at = behind;
    const SimTime begin_ps = MAX(first_ps, open_ps);
    if (run->hbm.end_ps == 0 && begin_ps <= until_ps &&
        replica_answer(link_ready_peek(&up->lane[LINK_LANE_REQUESTS])->packet) == REPLICA_FROM_HBM)
        replicas_hbm_epoch(run, begin_ps); /* here it can be predicted */
    while (at != end) {
        SimTime request_ps = MAX(first_ps, open_ps);
        SimTime answer_ps = up->first_ps[LINK_LANE_ANSWERS], at_ps = MIN(request_ps, answer_ps);
        guint32 now = 1;
        Packet answer;
        if (at_ps > until_ps)
            break;
        if (answer_ps == at_ps)
            answer = link_lane_pop(up, LINK_LANE_ANSWERS).packet;
        else
            now = replicas_serve(run, &first_ps, at_ps, &answer);
        *link_slot(ring, at) = (LinkSlot){answer, (guint32)at_ps};
        at += now;
    }
    ring->waiting += at - behind;
    up->first_ps[LINK_LANE_REQUESTS] = first_ps;
    replicas_tell_served(run);
    return at - behind;
}

/* What joins the queue up to until_ps: requests are served, answers come from HBM. */
static ALWAYS_INLINE void replicas_join_run(Replicas *run, SimTime until_ps)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    SimTime first_ps = up->first_ps[LINK_LANE_REQUESTS];
    guint32 joined = 0;
    gint32 leave = (gint32)(run->waited + 1 - up->gate); /* before the gate opens */
    for (;;) {
        SimTime request_ps = MAX(first_ps, replicas_open_ps(run, leave + (gint32)joined));
        SimTime answer_ps = up->first_ps[LINK_LANE_ANSWERS], at_ps = MIN(request_ps, answer_ps);
        guint32 now = 1;
        Packet answer;
        if (at_ps > until_ps)
            break;
        if (G_UNLIKELY(link_ring_is_full(ring, ring->waiting)))
            link_ring_grow(ring);
        if (answer_ps == at_ps)
            answer = link_lane_pop(up, LINK_LANE_ANSWERS).packet;
        else
            now = replicas_serve(run, &first_ps, at_ps, &answer);
        link_slot(ring, ring->wire + ring->waiting)->packet = answer;
        ring->waiting += now;
        joined += now;
        replicas_count_peak(run, joined, at_ps);
    }
    up->first_ps[LINK_LANE_REQUESTS] = first_ps;
    replicas_tell_served(run);
    leave += (gint32)joined;
    if (leave >= 0 && leave <= (gint32)run->sent)
        up->gate_open_ps = run->sent_ps[leave];
}

#endif
