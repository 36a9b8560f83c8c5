/* The port of a GPU that answers replicas, and does little else: what link_settle_lanes() does, decision by decision
 * and replica by replica, without what only others need. In the steady state of a multicast that is most of what a
 * fabric does. Anything else ends it, and goes the usual way. */
#include "model/fastpath/gpu_replicas_send.h"

#include "sim/engine/prefetch.h"

/* Nobody looks, nothing is broken, and no timer, request of another kind or one that has to be in time is in a lane;
 * and if the port is blocked, it is its own requests alone that lack credits.
 * apart: nor does anybody wait for what leaves it. */
static ALWAYS_INLINE gboolean replicas_can_run(const Link *up, const Gpu *gpu, gboolean apart)
{
    gboolean odd = up->rare & ~LINK_LEAVES || gpu->fabric->probe || gpu->silent || up->ahead_ps;
    guint32 others = up->down | up->in_time | up->mixed | up->lane[LINK_LANE_TIMERS].count;
    guint32 waits = apart ? up->someone_waits | up->blocked : up->drained_below[VC_RSP];
    odd |= up->blocked && up->ring[VC_RSP].waiting;
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

/* Anything else has been done; whether it may go on. */
static ALWAYS_INLINE ReplicasNext replicas_again(Replicas *run)
{
    replicas_note_credits(run);
    return replicas_can_run(run->up, run->gpu, run->share != NULL) ? REPLICAS_GO_ON : REPLICAS_END;
}

/* Decisions up to limit_ps, of what waits now: what joins meanwhile, but for what is staged, does so behind it. */
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
        SimFine until = MIN(limit, own_from), first_until = turn || replicas_joins_later(run) ? until : limit;
        guint32 idle, sent = replicas_send_some(run, first_until, until, &idle);
        if (own && sent) {
            if (sent + turn >= 2 || idle)
                up->starved = 1u << VC_CREQ; /* as link_yields() */
            up->credit_stalls += idle - (idle && up->blocked);
            up->blocked = FALSE;
        }
        if (up->free_at > limit)
            return REPLICAS_GO_ON;
        if (ring->waiting == 0) /* what joins by then goes first */
            return own ? REPLICAS_OTHER : REPLICAS_GO_ON;
        if (run->sent == REPLICAS_RUN) {
            if (!run->stages)
                return REPLICAS_GO_ON;
            run->sent = 0;
        }
        turn = own && up->last_vc != VC_CREQ;
        if (own && replicas_joins_later(run) &&
            replicas_staged_joins(run, link_slot(ring, ring->wire)) > own_from) {
            if (!replicas_own_alone(run))
                return REPLICAS_OTHER;
            continue;
        }
        if (turn && up->free_at > own_from) {
            if (!replicas_send_own(run))
                return REPLICAS_OTHER;
            continue;
        }
        if (sent && run->stages) /* what is staged follows, or the array begins anew */
            continue;
        if (replicas_joins_later(run))
            return REPLICAS_OTHER;
        if (run->stages && ring->credits < (gint32)link_slot(ring, ring->wire)->packet.flits &&
            link_stage_collect(up, VC_RSP, up->free_at))
            continue;
        if (!replicas_send_one(run))
            return REPLICAS_OTHER;
        run->staged = MIN(run->staged, ring->waiting);
        if (turn)
            up->starved = 1u << VC_CREQ;
        if (ring->wire != ring->head) /* the far end was not told of it */
            return REPLICAS_END;
    }
}

/* What is staged and has not joined by the next decision, which others make, joins one by one. */
static ReplicasNext replicas_unstage(Replicas *run, ReplicasNext next, SimTime limit_ps)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    guint32 staged[VCS] = {[VC_RSP] = run->staged};
    run->staged = 0;
    if (replicas_staged_joins(run, link_slot(ring, ring->wire + ring->waiting - 1)) < up->free_at)
        return next;
    link_note_of(up, FALSE); /* who is told that a request has left may look at the port */
    link_unstage(up, staged, up->free_at, limit_ps);
    link_note_of(up, FALSE);
    return next == REPLICAS_END ? next : replicas_again(run);
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
    if (up->blocked && up->retry_ps <= MIN(first_ps, now_ps)) {
        link_unblock(up, up->retry_ps);
        return REPLICAS_GO_ON;
    }
    if (!up->blocked && up->free_at <= simfine_from_ps(MIN(first_ps, now_ps)) && link_waits(up))
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

/* Up to limit_ps: what joins, what leaves. As long as answers are too few to hold up requests, what joins is taken in
 * first, since it joins whatever leaves; else what waits leaves first, since that lets requests in. */
static ALWAYS_INLINE ReplicasNext replicas_round(Replicas *run, SimTime limit_ps, SimTime now_ps)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    SimTime before_now_ps = MAX(now_ps, 1) - 1;
    guint32 room = replicas_stage_room(run);
    gboolean all = TRUE; /* that joins up to limit_ps has been taken in */
    run->staged = 0;
    run->stages = room != 0;
    if (room) {
        run->staged_ps = MIN(limit_ps, before_now_ps);
        run->staged = replicas_stage(run, room, run->staged_ps);
        all = run->staged < room;
        if (!all) {
            limit_ps = link_slot_joins_ps(link_slot(ring, ring->wire + ring->waiting - 1), run->staged_ps);
            run->staged_ps = limit_ps;
        }
    }
    if (up->blocked && run->staged == 0)
        return replicas_go_on(run, now_ps);
    ReplicasNext next = replicas_send(run, limit_ps);
    if (room == 0) {
        SimTime before_ps = (MAX(up->free_at, 1) - 1) >> SIMFINE_SHIFT; /* the next decision */
        replicas_join_run(run, MIN(MIN(limit_ps, before_ps), before_now_ps));
    } else if (run->staged) {
        next = replicas_unstage(run, next, limit_ps);
    }
    if (next == REPLICAS_OTHER)
        return replicas_decide_other(run, now_ps);
    return next == REPLICAS_GO_ON && all ? replicas_go_on(run, now_ps) : next;
}

/* Where it puts what it frees of the link down. */
static inline LinkCredits *replicas_freed(const Link *up, gboolean at_rest)
{
    Link *down = &((Gpu *)up->source_node)->down[up->source_port];
    return at_rest ? down->credit : link_freed(down, VC_CREQ);
}

static ALWAYS_INLINE gboolean replicas_settle(Link *up, SimTime now_ps, GpuShare *share, gboolean at_rest)
{
    Gpu *gpu = up->source_node;
    if (!replicas_can_run(up, gpu, share != NULL))
        return FALSE;
    Replicas run;
    run.gpu = gpu;
    run.up = up;
    run.freed = replicas_freed(up, at_rest);
    run.at_rest = at_rest;
    run.ring = &up->ring[VC_RSP];
    run.share = share;
    run.served = 0;
    run.stalls = 0;
    run.freed_ps = 0;
    run.hbm = (ReplicasHbm){.end_ps = 0};
    const LinkReadyRing *answers = &up->lane[LINK_LANE_ANSWERS];
    const SimTime last_ps = answers->count ? link_ready_nth(answers, answers->count - 1)->at_ps : 0;
    run.last_ps = last_ps;
    ReplicasNext next = REPLICAS_GO_ON;
    replicas_note_credits(&run);
    while (next == REPLICAS_GO_ON)
        next = replicas_round(&run, MIN(up->first_ps[LINK_LANE_PUSHES], now_ps), now_ps);
    link_note_of(up, FALSE);
    if (answers->count && up->first_ps[LINK_LANE_ANSWERS] >= last_ps && !share) /* a window's end looks anyway */
        link_see_to(up);
    *(share ? &share->served : &gpu->served) += run.served;
    *(share ? &share->stalls : &gpu->stalls) += run.stalls;
    return next != REPLICAS_END;
}

void gpu_replicas_fetch(const Link *up, guint ahead, gboolean at_rest)
{
    const Link *down = &((const Gpu *)up->source_node)->down[up->source_port];
    const LinkReadyRing *lane = &up->lane[LINK_LANE_REQUESTS];
    const LinkRing *ring = &up->ring[VC_RSP];
    switch (ahead) {
    case GPU_REPLICAS_FETCHES: /* the port itself */
        fetch_lines(up, 8);
        fetch_lines(&up->freed, 2);
        return;
    case 3: /* its accounts */
        fetch_lines(at_rest ? (const void *)&down->credit : &down->freed, 1);
        fetch_lines(up->credit, 1);
        return;
    case 2: /* what waits, what has come, and the account it frees credits in */
        fetch_lines(link_slot(ring, ring->wire), 3);
        fetch_lines(&lane->at[lane->head], MIN(lane->count / 4 + 1, 16));
        fetch_lines(replicas_freed(up, at_rest), 1);
        return;
    case 1: /* the batches of both accounts */
        fetch_lines(up->credit->batches->flits[up->credit->vc[VC_RSP].next % LINK_BATCHES], 2);
        if (lane->count)
            link_credits_fetch(replicas_freed(up, at_rest), link_ready_nth(lane, 0)->at_ps);
        return;
    default:
        g_assert_not_reached();
    }
}

/* At the begin of a cache line, or, wherever other code puts it, large multicasts take up to 3 % longer. */
__attribute__((aligned(64)))
gboolean gpu_settle_replicas(Link *up, SimTime now_ps) { return replicas_settle(up, now_ps, NULL, FALSE); }

gboolean gpu_settle_replicas_apart(Link *up, SimTime last_ps, GpuShare *share, gboolean at_rest)
{
    return replicas_settle(up, last_ps, share, at_rest);
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
