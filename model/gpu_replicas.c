/* The port of a GPU that answers replicas, and does little else: what link_settle_lanes() does, decision by decision
 * and replica by replica, without what only others need. In the steady state of a multicast that is most of what a
 * fabric does. Anything else ends it, and goes the usual way. */
#include "model/gpu_replicas_join.h"

#include "model/early.h"
#include "sim/fetch.h"

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

/* What the loop does next: to go on; to decide something that is not to send the answer of a replica; nothing, since
 * all is done; to leave the rest to others. */
typedef enum { REPLICAS_GO_ON, REPLICAS_OTHER, REPLICAS_DONE, REPLICAS_END } ReplicasNext;

/* Nobody collects credits meanwhile. */
static ALWAYS_INLINE void replicas_note_credits(Replicas *run)
{
    const Link *up = run->up;
    gboolean waits = up->ring[VC_CREQ].waiting && up->ring[VC_CREQ].credits < link_front_flits(up, VC_CREQ, FALSE);
    run->short_until_ps = waits ? up->credit->vc[VC_CREQ].due_ps : 0;
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

/* It is the turn of the port's own requests: one goes, if nobody waits for that; or they yield from now on, since no
 * more credits have come. */
static ALWAYS_INLINE gboolean replicas_send_own(Replicas *run)
{
    Link *up = run->up;
    LinkRing *own = &up->ring[VC_CREQ];
    LinkSlot *slot = link_slot(own, own->wire);
    if (up->someone_waits)
        return FALSE;
    if (own->credits < slot->packet.flits) { /* as link_serve_short() */
        if (up->ring[VC_RSP].waiting == 0 || !link_collect_due(up, VC_CREQ, simfine_to_ps(up->free_at)))
            return FALSE;
        replicas_note_credits(run);
        if (own->credits < slot->packet.flits)
            return TRUE;
    }
    own->waiting--;
    link_wire_first(up, own, VC_CREQ, slot, link_early_asked, up->free_at);
    replicas_note_credits(run);
    return TRUE;
}

/* The answer that waits first goes; FALSE: it lacks credits, or is no answer of a replica. */
static gboolean replicas_send_one(Replicas *run)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    SimFine start = up->free_at;
    LinkSlot *slot = link_slot(ring, ring->wire);
    if (ring->credits < (gint32)slot->packet.flits || !packet_is_counted(slot->packet))
        return FALSE;
    ring->waiting--;
    run->sent_ps[++run->sent] = simfine_to_ps(start);
    link_wire_first(up, ring, VC_RSP, slot, replicas_tell, start);
    return TRUE;
}

/* Answers go one after the other, `most` of them up to `until` (the first one: first_until): replicas_send_one() with
 * the port's state in registers. It ends where anything is out of the ordinary. leaves: the domain. How many. */
static ALWAYS_INLINE guint32 replicas_send_run(Replicas *run, gboolean leaves, guint32 most, SimFine first_until,
                                               SimFine until)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    Switch *sw = ((SwitchPort *)up->sink_node)->sw;
    SimTime *sent_ps = &run->sent_ps[run->sent + 1];
    LinkCredits *freed = up->credit;
    SimFine free_at = up->free_at;
    gint32 credits = ring->credits;
    guint32 n = 0, wire = ring->wire;
    for (SimFine limit = first_until; n < most && free_at <= limit; limit = until) {
        Packet packet = link_slot(ring, wire + n)->packet;
        McRecord *record = &sw->record[packet.txn];
        guint32 flits = packet.flits;
        SimFine end = free_at + flits * up->flit_time;
        SimTime at_ps = simfine_to_ps(end) + ring->delay_ps;
        if (G_UNLIKELY(credits < (gint32)flits || !packet_is_counted(packet)) ||
            (!leaves && (record->odd || !link_credits_reach(freed, VC_RSP, at_ps))))
            break;
        sent_ps[n++] = simfine_to_ps(free_at);
        free_at = end;
        credits -= (gint32)flits;
        link_count_packet(up, packet);
        if (leaves) {
            exchange_packet(up->domain, up, packet, at_ps);
        } else {
            __builtin_prefetch(&sw->record[link_slot(ring, wire + n)->packet.txn], 1);
            link_credits_note(freed, VC_RSP, flits, at_ps);
            switch_count_record(sw, record, up, packet, at_ps);
        }
    }
    if (n == 0)
        return 0;
    guint32 first = link_slot(ring, wire)->packet.flits;
    if (!leaves)
        link_credits_announce(freed, VC_RSP, simfine_to_ps(up->free_at + first * up->flit_time) + ring->delay_ps);
    up->free_at = free_at;
    up->last_vc = VC_RSP;
    ring->credits = credits;
    ring->waiting -= n;
    ring->head = ring->wire = wire + n;
    link_ring_lap(ring, ring->waiting);
    run->sent += n;
    return n;
}

/* Decisions up to limit_ps, of what waits now: what joins meanwhile does so behind it. */
static ALWAYS_INLINE ReplicasNext replicas_send(Replicas *run, SimTime limit_ps)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    const SimFine limit = simfine_from_ps(limit_ps);
    run->waited = ring->waiting;
    run->sent_ps[0] = up->gate_open_ps;
    run->sent = 0;
    run->left = 0;
    for (;;) {
        gboolean own = up->ring[VC_CREQ].waiting != 0, turn = own && up->last_vc != VC_CREQ;
        SimFine own_from = own ? simfine_from_ps(MAX(run->short_until_ps, 1) - 1) : G_MAXUINT64; /* does not yield */
        SimFine until = MIN(limit, own_from), first_until = turn ? until : limit;
        guint32 most = MIN(ring->waiting, REPLICAS_RUN - run->sent), sent;
        most = MIN(most, ring->mask + 1 - (ring->wire & ring->mask)); /* link_ring_lap() looks at the array's end */
        if (up->rare)
            sent = replicas_send_run(run, TRUE, most, first_until, until);
        else
            sent = replicas_send_run(run, FALSE, most, first_until, until);
        if (own && sent + turn >= 2)
            up->starved = 1u << VC_CREQ; /* as link_yields() */
        if (up->free_at > limit || run->sent == REPLICAS_RUN)
            return REPLICAS_GO_ON;
        if (ring->waiting == 0) /* what joins by then goes first */
            return own ? REPLICAS_OTHER : REPLICAS_GO_ON;
        turn = own && up->last_vc != VC_CREQ;
        if (turn && up->free_at > own_from) {
            if (!replicas_send_own(run))
                return REPLICAS_OTHER;
            continue;
        }
        if (!replicas_send_one(run))
            return REPLICAS_OTHER;
        if (turn)
            up->starved = 1u << VC_CREQ;
        if (ring->wire != ring->head) /* the far end was not told of it */
            return REPLICAS_END;
    }
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
    guint32 now = 1;
    if (replicas_may_block(run, VC_RSP, at_ps))
        return REPLICAS_END;
    if (up->first_ps[LINK_LANE_ANSWERS] == at_ps) {
        answer = link_lane_pop(up, LINK_LANE_ANSWERS).packet;
    } else {
        now = replicas_serve(run, &up->first_ps[LINK_LANE_REQUESTS], at_ps, &answer);
        replicas_tell_served(run);
    }
    return now ? replicas_join_free(run, VC_RSP, answer, at_ps) : REPLICAS_GO_ON;
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
    if (up->ring[VC_RSP].waiting == 0 && up->ring[VC_CREQ].waiting && up->free_at <= simfine_from_ps(limit_ps) &&
        replicas_send_own(run))
        return REPLICAS_GO_ON;
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
    run.freed = link_freed(&gpu->down[up->source_port], VC_CREQ);
    run.ring = &up->ring[VC_RSP];
    run.share = share;
    run.served = 0;
    run.stalls = 0;
    run.told = FALSE;
    run.freed_ps = 0;
    run.hbm = (ReplicasHbm){.end_ps = 0};
    const LinkReadyRing *answers = &up->lane[LINK_LANE_ANSWERS];
    run.last_ps = answers->count ? link_ready_nth(answers, answers->count - 1)->at_ps : 0;
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
    fetch_lines(link_slot(ring, ring->wire), 3);
    fetch_lines(&lane->at[lane->head], 3);
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
