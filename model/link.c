#include "model/link_internal.h"

/* ---- arbitration and serialization */

/* Somebody lacks credits at the instant at_ps: the VC that can send after all, or -1. Then *retry_ps is when
 * the first credit comes; link_credit_return() tells of earlier ones. */
static int link_arbitrate_short(Link *link, SimTime at_ps, SimTime *retry_ps)
{
    *retry_ps = SIMTIME_NEVER;
    link->starved = 0;
    for (unsigned i = 1; i <= VCS; i++) {
        unsigned v = (link->last_vc + i) % VCS;
        LinkReturnRing *returns = &link->returns[v];
        if (link->waiting[v] == 0)
            continue;
        if (!link->domain)
            link_credit_close(link, (Vc)v);
        link_collect_credits(link, (Vc)v, at_ps);
        if (link->credits[v] >= (gint32)link_slot(&link->ring[v], link->ring[v].wire)->packet.flits)
            return (int)v;
        if (returns->count)
            *retry_ps = MIN(*retry_ps, link_return_peek(returns)->at_ps);
        link->starved |= (guint8)(1u << v);
    }
    link->credit_stalls++;
    return -1;
}

/* TRUE: the packet is in another domain now. */
static G_GNUC_NO_INLINE gboolean link_wire_rare(Link *link, unsigned v, Packet packet, SimFine start)
{
    if (link->probe)
        link->probe(link->probe_user, PROBE_WIRE, __FILE__, link->path, &packet, simfine_to_ps(start));
    if (link->error_ppb && rng_below(&link->rng, 1000000000) < link->error_ppb) {
        link->replays++;
        link->free_at += simfine_from_ps(link->replay_ps) + packet.flits * link->flit_time;
    }
    if (!link->domain)
        return FALSE;
    exchange_packet(link->domain, link, packet, simfine_to_ps(link->free_at) + link->delay_ps[v]);
    link->ring[v].head = ++link->ring[v].wire;
    return TRUE;
}

/* All of a packet's way through a port in one function: calls would cost more than what they do. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Puts the first packet that waits in a channel on the wire, from `start` on. */
static ALWAYS_INLINE void link_wire(Link *link, unsigned v, SimFine start)
{
    LinkRing *ring = &link->ring[v];
    LinkSlot *slot = link_slot(ring, ring->wire);
    Packet packet = slot->packet;
    guint32 flits = packet.flits;
    link->credits[v] -= (gint32)flits;
    link->last_vc = (guint8)v;
    link->free_at = start + flits * link->flit_time;
    LinkCount *count = &link->count[packet.kind];
    count->packets++;
    count->flits += flits;
    if (packet.hold != HOLD_NONE) /* it leaves the buffer where it arrived */
        link_credit(link->ingress[packet.hold], (Vc)v, flits, simfine_to_ps(start));
    if (G_UNLIKELY(link->rare) && link_wire_rare(link, v, packet, start))
        return;
    SimTime at_ps = simfine_to_ps(link->free_at) + link->delay_ps[v];
    if (ring->wire == ring->head) {
        if (!link->rare && link_tell_early(link, packet, at_ps)) {
            ring->head = ++ring->wire;
            return;
        }
        sim_at_key(link->sim, &link->vc[v].arrive, at_ps);
    }
    slot->due = (guint32)at_ps;
    ring->wire++;
}

/* When the next one of the lanes joins the queue: as far as known now, for what leaves the queue may let it in. */
static inline void link_note_ready(Link *link)
{
    const LinkReadyRing *requests = &link->lane[LINK_LANE_REQUESTS], *answers = &link->lane[LINK_LANE_ANSWERS];
    SimTime request_ps = SIMTIME_NEVER, answer_ps = SIMTIME_NEVER;
    if (requests->count && link->waiting[VC_RSP] < link->gate)
        request_ps = MAX(requests->at[requests->head].at_ps, link->gate_open_ps);
    if (answers->count)
        answer_ps = answers->at[answers->head].at_ps;
    link->ready_ps = MIN(request_ps, answer_ps);
    link->ready = (requests->count | answers->count) != 0;
}

/* An answer leaves the queue. */
static inline void link_open_gate(Link *link, SimTime at_ps)
{
    if (link->waiting[VC_RSP] != link->gate - 1)
        return;
    link->gate_open_ps = at_ps;
    link_note_ready(link);
}

/* Nothing can go at the instant `at`: the link is blocked until credits come (or it comes up). */
static void link_block(Link *link, SimFine start, SimTime retry_ps, SimTime now_ps)
{
    link->free_at = MAX(start, retry_ps <= now_ps ? simfine_from_ps(retry_ps) : 0);
    if (retry_ps <= now_ps)
        return; /* the credit has come meanwhile: decide again at that instant */
    link->blocked = TRUE;
    link->retry_ps = retry_ps;
    if (retry_ps != SIMTIME_NEVER)
        link_send_by(link, retry_ps);
}

/* Who goes when the one whose turn it is lacks credits; -1: nobody. */
static G_GNUC_NO_INLINE int link_serve_short(Link *link, SimFine start, SimFine at, SimTime now_ps)
{
    SimTime retry_ps = SIMTIME_NEVER;
    int v = link->down ? -1 : link_arbitrate_short(link, simfine_to_ps(at), &retry_ps);
    if (v < 0)
        link_block(link, start, retry_ps, now_ps);
    return v;
}

/* One decision of the arbiter, at `at`: round robin, the VC that was not served last goes first, from `start` on. */
static ALWAYS_INLINE void link_serve(Link *link, SimFine start, SimFine at, SimTime now_ps)
{
    unsigned v = link->last_vc ^ (link->waiting[link->last_vc ^ 1u] != 0);
    const LinkSlot *slot = link_slot(&link->ring[v], link->ring[v].wire);
    if (G_UNLIKELY((link->credits[v] < (gint32)slot->packet.flits) | link->down)) {
        int other = link_serve_short(link, start, at, now_ps);
        if (other < 0)
            return;
        v = (unsigned)other;
    }
    link->waiting[v]--;
    if (G_UNLIKELY(link->ready & v))
        link_open_gate(link, simfine_to_ps(at));
    link_wire(link, v, start);
    if (link->someone_waits && link->waiting[v] < link->drained_below[v])
        link->drained(link->source_node, link, (Vc)v);
}

static inline void link_unblock(Link *link, SimTime at_ps)
{
    link->blocked = FALSE;
    link->free_at = MAX(link->free_at, simfine_from_ps(at_ps));
}

/* Makes every decision whose instant (the wire gets free, or credits come) is not after now (plus ahead_ps). It
 * sees just what was queued before that instant, since link_push() settles first: so nothing depends on when it is
 * made, and no event is needed for it as long as a packet in flight will call us before the next arrival is due. */
static ALWAYS_INLINE void link_settle(Link *link, SimTime until_ps)
{
    SimFine until = simfine_from_ps(until_ps);
    if (G_UNLIKELY(link->blocked) && link->retry_ps <= until_ps)
        link_unblock(link, link->retry_ps);
    while (link_waits(link) && link->free_at <= until && !link->blocked)
        link_serve(link, link->free_at, link->free_at, until_ps);
}

static inline void link_make_room(Link *link, unsigned v)
{
    if (G_UNLIKELY(link_ring_is_full(&link->ring[v], link->waiting[v])))
        link_ring_grow(&link->ring[v], link->waiting[v]);
}

static inline void link_enqueue(Link *link, unsigned v, Packet packet)
{
    LinkRing *ring = &link->ring[v];
    guint32 waiting = link->waiting[v];
    link_slot(ring, ring->wire + waiting)->packet = packet;
    link->waiting[v] = ++waiting;
    if (G_UNLIKELY(waiting > link->queue_peak))
        link->queue_peak = waiting;
}

/* What is in the queue now may go at once, when the wire is free. */
static ALWAYS_INLINE gboolean link_try(Link *link, SimFine start, SimTime now_ps, SimTime until_ps)
{
    if (link->free_at > simfine_from_ps(until_ps))
        return FALSE;
    link->blocked = FALSE; /* the other channel may have credits */
    link_serve(link, MAX(start, link->free_at), MAX(simfine_from_ps(now_ps), link->free_at), until_ps);
    return TRUE;
}

/* ---- lanes */

/* Whether the first one joins before what happens now. */
static inline gboolean link_is_joining(const Link *link, SimTime now_ps)
{
    return link->ready_ps < now_ps ||
           (link->ready_ps == now_ps && (link->gate_open_ps == now_ps ||
                                         link->ready_order < sim_order(link->sim, now_ps)));
}

static gboolean link_take_ready(Link *link, SimTime at_ps, Packet *answer)
{
    LinkReadyRing *answers = &link->lane[LINK_LANE_ANSWERS], *requests = &link->lane[LINK_LANE_REQUESTS];
    if (answers->count && answers->at[answers->head].at_ps == at_ps) {
        *answer = answers->at[answers->head].packet;
        link_ready_drop(answers);
        return TRUE;
    }
    LinkReady request = *link_ready_peek(requests);
    link_ready_drop(requests);
    link->in_time -= request.packet.hold == LINK_IN_TIME;
    link->serving = TRUE;
    gboolean answered = link->serve(link->source_node, link, &request, at_ps, answer);
    link->serving = FALSE;
    return answered;
}

/* An answer joins the queue. */
static void link_join(Link *link, Packet answer, SimTime at_ps)
{
    link_make_room(link, VC_RSP);
    link_enqueue(link, VC_RSP, answer);
    link_try(link, simfine_from_ps(at_ps), at_ps, at_ps);
}

/* Everything up to now in order: each decision of the arbiter, each one that joins the queue. */
static G_GNUC_NO_INLINE void link_settle_lanes(Link *link, SimTime now_ps)
{
    SimTime until_ps = now_ps + link->ahead_ps;
    while (!link->serving) {
        SimTime at_ps = MIN(link->ready_ps, until_ps);
        if (G_UNLIKELY(link->blocked) && link->retry_ps <= at_ps)
            link_unblock(link, link->retry_ps);
        if (link_waits(link) && link->free_at <= simfine_from_ps(at_ps) && !link->blocked) {
            link_serve(link, link->free_at, link->free_at, at_ps);
            continue;
        }
        if (!link_is_joining(link, until_ps))
            break;
        Packet answer;
        if (link_take_ready(link, at_ps, &answer))
            link_join(link, answer, at_ps);
        link_note_ready(link);
    }
    if (link->someone_waits || link->in_time)
        link_see_to(link); /* a blocked link may go on */
}

static ALWAYS_INLINE void link_settle_all(Link *link, SimTime now_ps)
{
    if (link->ready)
        link_settle_lanes(link, now_ps);
    else
        link_settle(link, now_ps + link->ahead_ps);
}

/* ---- who sees to being called */

/* The arbiter's next decision, and when the link has to do anything next, as far as is known. */
static inline SimTime link_decision_ps(const Link *link)
{
    if (!link_waits(link))
        return SIMTIME_NEVER;
    return link->blocked ? link->retry_ps : simfine_to_ps(link->free_at);
}

static inline SimTime link_next_ps(const Link *link)
{
    SimTime decision_ps = link_decision_ps(link);
    return link->ready ? MIN(link->ready_ps, decision_ps) : decision_ps;
}

/* An arrival settles the link not later than due_ps. */
static inline gboolean link_has_reminder(const Link *link, SimTime due_ps)
{
    const LinkRing *ring = link->ring;
    return (ring[VC_CREQ].wire != ring[VC_CREQ].head && link->vc[VC_CREQ].arrive.time_ps <= due_ps) ||
           (ring[VC_RSP].wire != ring[VC_RSP].head && link->vc[VC_RSP].arrive.time_ps <= due_ps);
}

/* Another domain looks at the end of each window; what needs an event of its own, or credits to wait for, has it. */
static G_GNUC_NO_INLINE void link_follow_up_domain(Link *link, gboolean in_time)
{
    SimTime decision_ps = link_decision_ps(link);
    if ((in_time || link->blocked) && decision_ps != SIMTIME_NEVER)
        link_send_by(link, decision_ps);
    if (link->late || (!link->ready && (in_time || link->blocked)))
        return;
    exchange_list_late(link->domain, link);
    link->late = TRUE;
}

/* An event is needed when nothing in flight comes by before whatever goes next would arrive itself (or the credits that
 * are freed would be back), or when somebody waits for the queue to drain. */
static inline void link_follow_up(Link *link)
{
    if (!link_is_unsettled(link))
        return;
    gboolean in_time = (link->someone_waits || link->in_time) && link_waits(link);
    if (G_UNLIKELY(link->rare) && link->domain) {
        link_follow_up_domain(link, in_time);
        return;
    }
    SimTime next_ps = link_next_ps(link);
    if (next_ps == SIMTIME_NEVER)
        return;
    SimTime due_ps = next_ps + link->slack_ps;
    if (in_time)
        due_ps = MIN(due_ps, link_decision_ps(link) + 1);
    else if (link_has_reminder(link, due_ps))
        return;
    link_send_by(link, due_ps - 1);
}

void link_see_to(Link *link) { link_follow_up(link); }

void link_settle_now(Link *link, SimTime now_ps) { link_settle_all(link, now_ps); }

/* Settles while the packet still counts as in flight: none may go by `early` before it. */
Packet link_arrive_unsettled(Link *link, Vc v, SimTime now_ps)
{
    LinkRing *ring = &link->ring[v];
    link_settle_all(link, now_ps);
    Packet packet = link_slot(ring, ring->head)->packet;
    if (++ring->head != ring->wire)
        sim_at_key(link->sim, &link->vc[v].arrive, link_due_ps(link_slot(ring, ring->head), now_ps));
    link_follow_up(link);
    return packet;
}

void link_on_send(Event *event, SimTime now_ps)
{
    Link *link = EVENT_OWNER(event, Link, send);
    link->sending = FALSE;
    link_settle_now(link, now_ps);
    link_follow_up(link);
}

SimTime link_close(Link *link, SimTime last_ps)
{
    if (link_is_unsettled(link))
        link_settle_now(link, last_ps);
    SimTime next_ps = link_next_ps(link);
    if (!link->ready && (link->blocked || (link->sending && link->send.time_ps <= next_ps)))
        next_ps = SIMTIME_NEVER; /* it has an event */
    link->late = next_ps != SIMTIME_NEVER;
    return next_ps;
}

guint32 link_queued(Link *link, Vc vc)
{
    if (link_is_unsettled(link))
        link_settle_now(link, sim_now_ps(link->sim));
    return link->waiting[vc];
}

void link_set_drained(Link *link, Vc vc, guint32 below)
{
    link->drained_below[vc] = below;
    link->someone_waits = link->drained_below[VC_CREQ] || link->drained_below[VC_RSP];
    if (below)
        link_follow_up(link);
}

/* The wire is free, but others wait, or there are no credits. */
static G_GNUC_NO_INLINE void link_push_contended(Link *link, unsigned v, Packet packet, SimFine start,
                                                 SimTime now_ps)
{
    gboolean waiting = link_waits(link);
    link_make_room(link, v);
    link_enqueue(link, v, packet);
    if (link_try(link, start, now_ps, now_ps + link->ahead_ps) || !waiting)
        link_follow_up(link);
}

/* The wire is free. */
static G_GNUC_NO_INLINE void link_push_free(Link *link, unsigned v, Packet packet, SimTime not_before_ps,
                                            SimTime now_ps)
{
    SimFine start = simfine_from_ps(MAX(now_ps, not_before_ps));
    LinkRing *ring = &link->ring[v];
    if (link_is_unsettled(link))
        link_settle_now(link, now_ps);
    if (link_waits(link) || link->free_at > simfine_from_ps(now_ps + link->ahead_ps) ||
        link->credits[v] < (gint32)packet.flits || link->down || link->someone_waits ||
        link_ring_is_full(ring, 0)) {
        link_push_contended(link, v, packet, start, now_ps);
        return;
    }
    if (ring->wire == ring->head)
        ring->wire = ring->head = 0;
    link_slot(ring, ring->wire)->packet = packet;
    link_wire(link, v, MAX(start, link->free_at)); /* straight through an idle port */
}

/* Nobody waits yet: somebody has to see to being called; or the ring is full. */
static G_GNUC_NO_INLINE void link_push_first(Link *link, unsigned v, Packet packet)
{
    gboolean waiting = link_waits(link);
    link_make_room(link, v);
    link_enqueue(link, v, packet);
    if (!waiting)
        link_follow_up(link);
}

void link_push(Link *link, Packet packet, SimTime not_before_ps)
{
    unsigned v = packet_vc(&packet);
    SimTime now_ps = sim_now_ps(link->sim);
    if (G_UNLIKELY(link->ready & v)) {
        if (link->serving) { /* the answer to a request of the lane */
            link_join(link, packet, now_ps);
            return;
        }
        link_settle_now(link, now_ps); /* others are in front of it */
    }
    if (link->free_at <= simfine_from_ps(now_ps + link->ahead_ps))
        link_push_free(link, v, packet, not_before_ps, now_ps);
    else if (link_waits(link) && !link_ring_is_full(&link->ring[v], link->waiting[v]))
        link_enqueue(link, v, packet);
    else
        link_push_first(link, v, packet);
}

static inline void link_push_lane(Link *link, LinkLane lane, Packet packet, SimTime at_ps)
{
    SimTime before_ps = link->ready_ps;
    *link_ready_push(&link->lane[lane]) = (LinkReady){at_ps, packet};
    link_note_ready(link);
    if ((link->ready_ps < before_ps || link->in_time) && !link->serving)
        link_follow_up(link);
}

void link_push_request(Link *link, Packet request, SimTime at_ps, gboolean in_time)
{
    request.hold = in_time ? LINK_IN_TIME : HOLD_NONE;
    link->in_time += in_time;
    link_push_lane(link, LINK_LANE_REQUESTS, request, at_ps);
}

void link_push_later(Link *link, Packet answer, SimTime at_ps)
{
    LinkReadyRing *ring = &link->lane[LINK_LANE_ANSWERS];
    SimTime last_ps = ring->count ? link_ready_nth(ring, ring->count - 1)->at_ps : 0;
    link_push_lane(link, LINK_LANE_ANSWERS, answer, MAX(at_ps, last_ps));
}

void link_set_down(Link *link, gboolean down)
{
    SimTime now_ps = sim_now_ps(link->sim);
    link_settle_now(link, now_ps);
    link->down = (guint8)down;
    if (!down && link->blocked) {
        link->retry_ps = now_ps;
        link_send_at(link, now_ps);
    }
}
