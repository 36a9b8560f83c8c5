/* The port of a GPU that answers replicas, and does little else: what link_settle_lanes() does, decision by decision
 * and replica by replica, without what only others need. In the steady state of a multicast that is most of what a
 * fabric does. Anything else ends it, and goes the usual way. */
#include "model/gpu_replicas.h"

#include "model/early.h"
#include "model/link_settle.h"

/* What is sent at most before it is looked at what has joined meanwhile. */
#define REPLICAS_RUN 64u
#define REPLICAS_AHEAD 12u /* a packet is fetched while so many before it are sent */

typedef struct {
    Gpu *gpu;
    Link *up, *down;
    LinkRing *ring;           /* of answers */
    GpuShare *share;          /* NULL: this thread has the GPU */
    guint32 served, stalls;
    gboolean told;            /* something has come into the lane of answers, which was empty */
    SimTime short_until_ps;   /* the port's own requests lack credits, and none come before */
    guint32 waited, sent;     /* answers: when a run began, and those that have left in it, */
    guint32 left;             /* those of them that replicas_count_peak() has counted */
    SimTime sent_ps[REPLICAS_RUN + 1]; /* when, from 1 on; 0: when the gate opened before */
} Replicas;

/* Nobody looks, nothing is broken, and no timer, request of another kind or one that has to be in time is in a lane.
 * apart: nor does anybody wait for what leaves it. */
static ALWAYS_INLINE gboolean replicas_can_run(const Link *up, const Gpu *gpu, gboolean apart)
{
    gboolean odd = up->rare & ~LINK_LEAVES || gpu->fabric->probe || gpu->silent || up->ahead_ps;
    guint32 others = up->down | up->blocked | up->in_time | up->mixed | up->lane[LINK_LANE_TIMERS].count;
    guint32 waits = apart ? up->someone_waits : up->drained_below[VC_RSP];
    return !odd && (others | waits) == 0 && up->ring[VC_RSP].wire == up->ring[VC_RSP].head;
}

/* A packet of that channel may find the wire free, and no credits: that needs an event. */
static ALWAYS_INLINE gboolean replicas_may_block(const Replicas *run, unsigned v, SimTime at_ps)
{
    Link *up = run->up;
    const gint32 most = 1 << PACKET_FLITS_BITS;
    if (!run->share || up->free_at > simfine_from_ps(at_ps))
        return FALSE;
    return up->ring[v].credits < most && (!link_collect_due(up, v, at_ps) || up->ring[v].credits < most);
}

static ALWAYS_INLINE SimTime replicas_hbm_ps(Replicas *run, guint32 bytes, SimTime at_ps)
{
    if (run->share) {
        run->share->hbm_bytes[at_ps >> run->gpu->hbm.shift & 1] += bytes;
        return hbm_about_ps(&run->gpu->hbm, bytes, at_ps);
    }
    run->gpu->hbm_bytes += bytes;
    return hbm_serve_about(&run->gpu->hbm, bytes, at_ps);
}

/* An answer from HBM comes into its lane if it is an operand, TRUE: no branch, nobody could predict whether. */
static ALWAYS_INLINE gboolean replicas_ask_hbm(Replicas *run, Packet answer, guint32 bytes, SimTime at_ps)
{
    Link *up = run->up;
    LinkReadyRing *lane = &up->lane[LINK_LANE_ANSWERS];
    guint32 operand = (answer.kind == PACKET_MC_OPERAND) & (bytes != 0), first = operand & (lane->count == 0);
    SimTime ready_ps = replicas_hbm_ps(run, bytes, at_ps) + run->gpu->spec->dram_ps;
    SimTime last_ps = G_LIKELY(lane->count) ? link_ready_nth(lane, lane->count - 1)->at_ps : 0;
    *link_ready_push(lane) = (LinkReady){MAX(ready_ps, last_ps), answer};
    lane->count -= 1 - operand;
    run->told |= (gboolean)first;
    up->first_ps[LINK_LANE_ANSWERS] = first ? ready_ps : up->first_ps[LINK_LANE_ANSWERS];
    return (gboolean)operand;
}

/* The first one in the lane is answered: TRUE: by *answer, now. */
static ALWAYS_INLINE gboolean replicas_serve(Replicas *run, SimTime at_ps, Packet *answer)
{
    LinkReady request = link_lane_pop(run->up, LINK_LANE_REQUESTS);
    Packet packet = request.packet;
    run->stalls += at_ps > request.at_ps;
    run->served += packet_count(packet);
    link_credit(run->down, VC_CREQ, packet.flits, at_ps);
    *answer = gpu_replica_answer(run->gpu, packet);
    if (replica_answer(packet.src) != REPLICA_FROM_HBM)
        return TRUE;
    return !replicas_ask_hbm(run, *answer, gpu_replica_hbm_bytes(packet), at_ps);
}

/* What the loop does next: to go on; to decide something that is not to send the answer of a replica; nothing, since
 * all is done; to leave the rest to others. */
typedef enum { REPLICAS_GO_ON, REPLICAS_OTHER, REPLICAS_DONE, REPLICAS_END } ReplicasNext;

/* Nobody collects credits meanwhile. */
static ALWAYS_INLINE void replicas_note_credits(Replicas *run)
{
    const Link *up = run->up;
    gboolean waits = up->ring[VC_CREQ].waiting && up->ring[VC_CREQ].credits < link_front_flits(up, VC_CREQ, FALSE);
    run->short_until_ps = waits ? up->credit[VC_CREQ].due_ps : 0;
}

/* Anything else has been done; whether it may go on. */
static ALWAYS_INLINE ReplicasNext replicas_again(Replicas *run)
{
    replicas_note_credits(run);
    return replicas_can_run(run->up, run->gpu, run->share != NULL) ? REPLICAS_GO_ON : REPLICAS_END;
}

/* A LinkEarly: all that this loop sends is an answer of a replica. */
static ALWAYS_INLINE gboolean replicas_tell(void *node, Link *up, Packet packet, SimTime at_ps)
{
    return switch_count_here(((SwitchPort *)node)->sw, up, packet, at_ps);
}

/* The port's own request goes, whose turn it is, if nobody waits for that. */
static ALWAYS_INLINE gboolean replicas_send_own(Replicas *run)
{
    Link *up = run->up;
    LinkRing *own = &up->ring[VC_CREQ];
    LinkSlot *slot = link_slot(own, own->wire);
    if (up->someone_waits || own->credits < slot->packet.flits)
        return FALSE;
    own->waiting--;
    link_wire_first(up, own, VC_CREQ, slot, link_early_asked, up->free_at);
    replicas_note_credits(run);
    return TRUE;
}

/* The answer that waits first goes; FALSE: it lacks credits, or is no answer of a replica. */
static ALWAYS_INLINE gboolean replicas_send_answer(Replicas *run)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    SimFine start = up->free_at;
    LinkSlot *slot = link_slot(ring, ring->wire);
    if (G_UNLIKELY(ring->credits < (gint32)slot->packet.flits || !packet_is_counted(slot->packet)))
        return FALSE;
    __builtin_prefetch(link_slot(ring, ring->wire + REPLICAS_AHEAD));
    ring->waiting--;
    run->sent_ps[++run->sent] = simfine_to_ps(start);
    link_wire_first(up, ring, VC_RSP, slot, replicas_tell, start);
    return TRUE;
}

/* Decisions up to limit_ps, of what waits now: what joins meanwhile does so behind it. */
static ALWAYS_INLINE ReplicasNext replicas_send(Replicas *run, SimTime limit_ps)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    SimFine limit = simfine_from_ps(limit_ps);
    run->waited = ring->waiting;
    run->sent_ps[0] = up->gate_open_ps;
    run->sent = 0;
    run->left = 0;
    while (up->free_at <= limit && run->sent < REPLICAS_RUN) {
        gboolean own = up->ring[VC_CREQ].waiting != 0;
        if (ring->waiting == 0) /* what joins by then goes first */
            return own ? REPLICAS_OTHER : REPLICAS_GO_ON;
        own &= up->last_vc != VC_CREQ;
        if (own && up->free_at > simfine_from_ps(MAX(run->short_until_ps, 1) - 1)) { /* it does not yield */
            if (!replicas_send_own(run))
                return REPLICAS_OTHER;
            continue;
        }
        if (!replicas_send_answer(run))
            return REPLICAS_OTHER;
        if (own)
            up->starved = 1u << VC_CREQ; /* as link_yields() */
        if (G_UNLIKELY(ring->wire != ring->head)) /* the far end was not told of it */
            return REPLICAS_END;
    }
    return REPLICAS_GO_ON;
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

/* What joins the queue up to until_ps: requests are served, answers come from HBM. */
static ALWAYS_INLINE void replicas_join_run(Replicas *run, SimTime until_ps)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    guint32 joined = 0;
    gint32 leave = (gint32)(run->waited + 1 - up->gate); /* before the gate opens */
    for (;;) {
        SimTime request_ps = MAX(up->first_ps[LINK_LANE_REQUESTS], replicas_open_ps(run, leave + (gint32)joined));
        SimTime answer_ps = up->first_ps[LINK_LANE_ANSWERS], at_ps = MIN(request_ps, answer_ps);
        Packet answer;
        guint32 now = 1;
        if (at_ps > until_ps)
            break;
        if (G_UNLIKELY(link_ring_is_full(ring, ring->waiting)))
            link_ring_grow(ring);
        if (answer_ps == at_ps)
            answer = link_lane_pop(up, LINK_LANE_ANSWERS).packet;
        else
            now = (guint32)replicas_serve(run, at_ps, &answer);
        link_slot(ring, ring->wire + ring->waiting)->packet = answer;
        ring->waiting += now;
        joined += now;
        replicas_count_peak(run, joined, at_ps);
    }
    leave += (gint32)joined;
    if (leave >= 0 && leave <= (gint32)run->sent)
        up->gate_open_ps = run->sent_ps[leave];
}

/* A packet joins its queue, and may go at once. */
static G_GNUC_NO_INLINE ReplicasNext replicas_join_free(Replicas *run, unsigned v, Packet packet, SimTime at_ps)
{
    link_note_of(run->up, FALSE);
    link_join_now(run->up, v, packet, at_ps);
    return replicas_again(run);
}

/* What joins next, as link_next_join() says where there are no timers: an answer joins its queue when all decisions
 * before that are made. */
static G_GNUC_NO_INLINE ReplicasNext replicas_join_one(Replicas *run, SimTime at_ps)
{
    Link *up = run->up;
    Packet answer;
    if (replicas_may_block(run, VC_RSP, at_ps))
        return REPLICAS_END;
    if (up->first_ps[LINK_LANE_ANSWERS] == at_ps)
        answer = link_lane_pop(up, LINK_LANE_ANSWERS).packet;
    else if (!replicas_serve(run, at_ps, &answer))
        return REPLICAS_GO_ON;
    return replicas_join_free(run, VC_RSP, answer, at_ps);
}

/* The next decision may find that nothing that waits has credits. */
static gboolean replicas_lack_credits(Link *up)
{
    unsigned v = up->last_vc ^ (up->ring[up->last_vc ^ 1u].waiting != 0);
    return up->ring[v].credits < link_front_flits(up, v, FALSE) && !link_yields(up, v, FALSE, up->free_at) &&
           !link_stage_collect(up, v, up->free_at);
}

/* The next decision is not to send the answer of a replica. */
static G_GNUC_NO_INLINE ReplicasNext replicas_decide_other(Replicas *run, SimTime now_ps)
{
    Link *up = run->up;
    if (run->share && replicas_lack_credits(up))
        return REPLICAS_END;
    guint64 order;
    SimTime join_ps = link_next_join(up, &order), limit_ps = MIN(MIN(join_ps, up->first_ps[LINK_LANE_PUSHES]), now_ps);
    link_note_of(up, FALSE);
    link_decide_short(up, up->free_at, up->free_at, limit_ps);
    return replicas_again(run);
}

/* Whatever is next, if anything is up to now_ps; all that could be done in runs has been. */
static ReplicasNext replicas_go_on(Replicas *run, SimTime now_ps)
{
    Link *up = run->up;
    guint64 order, now_order = sim_order(up->sim, now_ps);
    SimTime join_ps = link_next_join(up, &order), push_ps = up->first_ps[LINK_LANE_PUSHES];
    SimTime first_ps = MIN(join_ps, push_ps);
    if (up->free_at <= simfine_from_ps(MIN(first_ps, now_ps)) && link_waits(up))
        return REPLICAS_GO_ON;
    if (push_ps < join_ps)
        order = LINK_ORDER_PUSHED;
    if (first_ps > now_ps || (first_ps == now_ps && order >= now_order))
        return REPLICAS_DONE;
    if (push_ps < join_ps && replicas_may_block(run, VC_CREQ, push_ps))
        return REPLICAS_END;
    if (push_ps < join_ps)
        return replicas_join_free(run, VC_CREQ, link_lane_pop(up, LINK_LANE_PUSHES).packet, push_ps);
    return replicas_join_one(run, join_ps);
}

static ALWAYS_INLINE gboolean replicas_settle(Link *up, SimTime now_ps, GpuShare *share)
{
    Gpu *gpu = up->source_node;
    if (!replicas_can_run(up, gpu, share != NULL))
        return FALSE;
    Replicas run;
    run.gpu = gpu;
    run.up = up;
    run.down = &gpu->down[up->source_port];
    run.ring = &up->ring[VC_RSP];
    run.share = share;
    run.served = 0;
    run.stalls = 0;
    run.told = FALSE;
    ReplicasNext next = REPLICAS_GO_ON;
    replicas_note_credits(&run);
    while (next == REPLICAS_GO_ON) {
        SimTime limit_ps = MIN(up->first_ps[LINK_LANE_PUSHES], now_ps);
        next = replicas_send(&run, limit_ps);
        SimTime before_ps = (MAX(up->free_at, 1) - 1) >> SIMFINE_SHIFT; /* the next decision */
        replicas_join_run(&run, MIN(MIN(limit_ps, before_ps), MAX(now_ps, 1) - 1));
        if (next == REPLICAS_OTHER)
            next = replicas_decide_other(&run, now_ps);
        else if (next == REPLICAS_GO_ON)
            next = replicas_go_on(&run, now_ps);
    }
    link_note_of(up, FALSE);
    if (run.told && !share) /* a window's end looks anyway */
        link_see_to(up);
    *(share ? &share->served : &gpu->served) += run.served;
    *(share ? &share->stalls : &gpu->stalls) += run.stalls;
    return next != REPLICAS_END;
}

void gpu_replicas_fetch(const Link *up)
{
    const LinkRing *ring = &up->ring[VC_RSP];
    const LinkReadyRing *lane = &up->lane[LINK_LANE_REQUESTS];
    const char *slot = (const char *)link_slot(ring, ring->wire), *request = (const char *)&lane->at[lane->head];
    for (guint line = 0; line < 3; line++) {
        __builtin_prefetch(slot + 64 * line);
        __builtin_prefetch(request + 64 * line);
    }
}

gboolean gpu_settle_replicas(Link *up, SimTime now_ps) { return replicas_settle(up, now_ps, NULL); }

gboolean gpu_settle_replicas_apart(Link *up, SimTime last_ps, GpuShare *share)
{
    return replicas_settle(up, last_ps, share);
}

void gpu_share_open(Gpu *gpu, SimTime last_ps) { hbm_roll(&gpu->hbm, last_ps); }

void gpu_share_close(Gpu *gpu, GpuShare *share, SimTime last_ps)
{
    guint64 epoch = last_ps >> gpu->hbm.shift;
    for (guint64 e = epoch - MIN(epoch, 1); e <= epoch; e++) {
        hbm_tell_about(&gpu->hbm, share->hbm_bytes[e & 1], e);
        gpu->hbm_bytes += share->hbm_bytes[e & 1];
    }
    gpu->served += share->served;
    gpu->stalls += share->stalls;
    *share = (GpuShare){.served = 0};
}
