/* What link.c, link_lane.c and link_credit.c share. */
#ifndef MODEL_LINK_INTERNAL_H
#define MODEL_LINK_INTERNAL_H

#include "model/exchange.h"
#include "model/link_log.h"

/* `send`, at this time or before. */
static inline void link_send_at(Link *link, SimTime at_ps)
{
    if (link->sending)
        sim_cancel(link->sim, &link->send);
    link->sending = TRUE;
    sim_at_key(link->sim, &link->send, MAX(at_ps, sim_now_ps(link->sim)));
}

static inline void link_send_by(Link *link, SimTime due_ps)
{
    if (!link->sending || link->send.time_ps > due_ps)
        link_send_at(link, due_ps);
}

/* When those of batch n are there. */
static inline SimTime link_batch_ps(const LinkCredits *credit, guint64 n)
{
    return ((n + 1) << credit->shift) + credit->delay_ps;
}

/* The first batch that has some; there is one. */
static inline guint64 link_batch_first(const LinkCredits *credit)
{
    guint32 at = (guint32)credit->next % LINK_BATCHES;
    return credit->next + (guint32)__builtin_ctzll(credit->full >> at | credit->full << (-at % LINK_BATCHES));
}

/* LinkCredits.next of a book with nothing in it: no batch is in reach. */
#define LINK_BOOK_CLOSED (~(guint64)0)

/* link_credit.c: credits that have come back by at_ps are the sender's. */
void link_collect_credits(Link *link, Vc v, SimTime at_ps);
/* link.c: a packet that somebody looks at, or that bit errors may hit. */
void link_wire_watched(Link *link, Packet packet, SimFine start);
/* Who goes when the one whose turn it is lacks credits; -1: nobody. */
int link_serve_short(Link *link, SimFine start, SimFine at, SimTime now_ps);
/* link_log.c: where packets of a log may wait. */
void link_serve_logged(Link *link, SimFine start, SimFine at, SimTime now_ps);
void link_settle_logged(Link *link, SimTime until_ps);
/* link_lane.c: when the next one of lanes and inbox joins a queue, as far as known now, for what leaves the queue may
 * let it in. */
void link_note_ready(Link *link);
void link_settle_lanes(Link *link, SimTime now_ps);
/* Something has come into a lane or the inbox that may be the next one, or has to be served when it is due. */
void link_note_more(Link *link, gboolean in_time);
void link_join_free(Link *link, unsigned v, Packet packet, SimTime at_ps);
/* An answer to something of a lane, while it is served. */
void link_join(Link *link, unsigned v, Packet packet, SimTime at_ps);

/* All of a packet's way through a port in one function: calls would cost more than what they do. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Behind another one it changes nothing yet. */
static ALWAYS_INLINE void link_push_lane(Link *link, LinkLane lane, Packet packet, SimTime at_ps)
{
    gboolean first = link->lane[lane].count == 0;
    *link_ready_push(&link->lane[lane]) = (LinkReady){at_ps, packet};
    if (G_UNLIKELY(first || link->in_time))
        link_note_more(link, link->in_time != 0);
}

/* The first packet that waits in a channel is in the log. */
static inline gboolean link_is_logged(const Link *link, unsigned v)
{
    return v == VC_CREQ && link->logged && link->logged == link->waiting[VC_CREQ];
}

/* Flits of the first packet that waits in a channel; logs: it may be one of a log. */
static inline gint32 link_front_flits(const Link *link, unsigned v, gboolean logs)
{
    if (logs && link_is_logged(link, v))
        return link_log_first(link)->flits;
    return link_slot(&link->ring[v], link->ring[v].wire)->packet.flits;
}

/* A replica that its GPU can answer without a look at anything else goes into the lane of the answering port. */
static ALWAYS_INLINE gboolean link_tell_replica(Link *link, Packet packet, SimTime at_ps)
{
    if (G_UNLIKELY(!link->answers || replica_answer(packet.src) == REPLICA_BY_RECORD))
        return link_tell_early(link, packet, at_ps);
    packet.bits |= (Packet){.hold = HOLD_NONE}.bits; /* not LINK_IN_TIME */
    link_push_lane(link->answers, LINK_LANE_REQUESTS, packet, at_ps);
    return TRUE;
}

/* A packet goes on the wire. TRUE: the far end knows of it; else it arrives at *at_ps, and is the ring's next one in
 * flight. */
static ALWAYS_INLINE gboolean link_wire(Link *link, unsigned v, Packet packet, gboolean logged, SimFine start,
                                        SimTime *at_ps)
{
    const LinkRing *ring = &link->ring[v];
    guint32 flits = packet.flits;
    link->credits[v] -= (gint32)flits;
    link->last_vc = (guint8)v;
    link->free_at = start + flits * link->flit_time;
    LinkCount *count = &link->count[packet.kind];
    PACKET_ADD(count->packets, packet);
    count->flits += flits;
    if (packet.hold != HOLD_NONE) /* it leaves the buffer where it arrived */
        link_credit(link->ingress[packet.hold], (Vc)v, flits, simfine_to_ps(start));
    if (G_UNLIKELY(link->rare & LINK_WATCHED))
        link_wire_watched(link, packet, start);
    *at_ps = simfine_to_ps(link->free_at) + link->delay_ps[v];
    if (link->rare & LINK_LEAVES) {
        exchange_packet(link->domain, link, packet, *at_ps);
        return TRUE;
    }
    if (ring->wire == ring->head) {
        if (!link->rare &&
            (logged ? link_tell_replica(link, packet, *at_ps) : link_tell_early(link, packet, *at_ps)))
            return TRUE;
        sim_at_key(link->sim, &link->vc[v].arrive, *at_ps);
    }
    return FALSE;
}

/* The first one that waits in the ring. */
static ALWAYS_INLINE void link_wire_first(Link *link, unsigned v, SimFine start)
{
    LinkRing *ring = &link->ring[v];
    LinkSlot *slot = link_slot(ring, ring->wire);
    SimTime at_ps;
    if (link_wire(link, v, slot->packet, FALSE, start, &at_ps)) {
        ring->head = ++ring->wire;
        link_ring_lap(ring, link_in_ring(link, v));
        return;
    }
    slot->due = (guint32)at_ps;
    ring->wire++;
}

/* One that is not in the ring, where none waits. */
static ALWAYS_INLINE void link_wire_other(Link *link, unsigned v, Packet packet, gboolean logged, SimFine start)
{
    LinkRing *ring = &link->ring[v];
    SimTime at_ps;
    if (link_wire(link, v, packet, logged, start, &at_ps))
        return;
    if (G_UNLIKELY(link_ring_is_full(ring, 0)))
        link_ring_grow(ring);
    *link_slot(ring, ring->wire++) = (LinkSlot){packet, (guint32)at_ps};
}

/* A queue is as short as the gate lets requests in: if an answer has left it, and requests wait, one may go on. */
static inline void link_open_gate(Link *link, unsigned v, SimTime at_ps)
{
    if (v != VC_RSP || !(link->ready >> VC_RSP & 1))
        return;
    const LinkReadyRing *lane = link->lane, *requests = &lane[LINK_LANE_REQUESTS];
    link->gate_open_ps = at_ps;
    if (G_UNLIKELY(link->inbox.n | lane[LINK_LANE_ANSWERS].count | lane[LINK_LANE_TIMERS].count) || !requests->count) {
        link_note_ready(link);
        return;
    }
    SimTime first_ps = requests->at[requests->head].at_ps; /* what link_note() finds then */
    link->ready_ps = MAX(first_ps, at_ps);
    link->ready_order = first_ps > at_ps ? link->request_order : 0;
}

static ALWAYS_INLINE void link_wire_logged(Link *link, SimFine start)
{
    Packet packet = link_log_packet(link, *link_log_first(link));
    link->logged--;
    link->log_next++;
    link_wire_other(link, VC_CREQ, packet, TRUE, start);
}

/* The one whose turn it is lacks credits, and none have come; the other one has some: what link_serve_short() finds. */
static inline gboolean link_yields(const Link *link, unsigned v, gboolean logs, SimFine at)
{
    return v != link->last_vc && link->waiting[v ^ 1u] && !link->down &&
           link->credit[v].due_ps > simfine_to_ps(at) &&
           link->credits[v ^ 1u] >= link_front_flits(link, v ^ 1u, logs);
}

/* One decision of the arbiter, at `at`: round robin, the VC that was not served last goes first, from `start` on.
 * logs: there may be packets of a log. */
static ALWAYS_INLINE void link_decide(Link *link, gboolean logs, SimFine start, SimFine at, SimTime now_ps)
{
    unsigned v = link->last_vc ^ (link->waiting[link->last_vc ^ 1u] != 0);
    if (G_UNLIKELY((link->credits[v] < link_front_flits(link, v, logs)) | link->down)) {
        if (link_yields(link, v, logs, at)) {
            link->starved = (guint8)(1u << v);
            v ^= 1u;
        } else {
            int other = link_serve_short(link, start, at, now_ps);
            if (other < 0)
                return;
            v = (unsigned)other;
        }
    }
    gboolean logged = logs && link_is_logged(link, v);
    link->waiting[v]--;
    if (G_UNLIKELY(link->waiting[v] == link->gate - 1)) /* rarely so, whichever channel it is */
        link_open_gate(link, v, simfine_to_ps(at));
    if (logged)
        link_wire_logged(link, start);
    else
        link_wire_first(link, v, start);
    if (link->someone_waits && link->waiting[v] < link->drained_below[v])
        link->drained(link->source_node, link, (Vc)v);
}

static ALWAYS_INLINE void link_serve(Link *link, SimFine start, SimFine at, SimTime now_ps)
{
    if (G_UNLIKELY(link->logged))
        link_serve_logged(link, start, at, now_ps);
    else
        link_decide(link, FALSE, start, at, now_ps);
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
    if (link->logged) {
        link_settle_logged(link, until_ps);
        return;
    }
    while (link_waits(link) && link->free_at <= until && !link->blocked)
        link_decide(link, FALSE, link->free_at, link->free_at, until_ps);
}

/* A packet can go into a channel's ring. */
static inline gboolean link_has_slot(const Link *link, unsigned v)
{
    return (v == VC_RSP || link->logged == 0) && !link_ring_is_full(&link->ring[v], link->waiting[v]);
}

static inline void link_make_room(Link *link, unsigned v)
{
    if (v == VC_CREQ && G_UNLIKELY(link->logged))
        link_log_copy(link);
    if (G_UNLIKELY(link_ring_is_full(&link->ring[v], link->waiting[v])))
        link_ring_grow(&link->ring[v]);
}

/* There is room in the ring, and nothing of a log waits. */
static inline void link_enqueue(Link *link, unsigned v, Packet packet)
{
    LinkRing *ring = &link->ring[v];
    link_slot(ring, ring->wire + link->waiting[v])->packet = packet;
    link_count_peak(link, ++link->waiting[v]);
}

/* A packet has come into the queue when all decisions before it are made: it, or what was there, may go at once, if the
 * wire is free. TRUE: somebody has to see to it. */
static inline gboolean link_go_on(Link *link, gboolean waited, SimFine start, SimTime now_ps, SimTime until_ps)
{
    if (link->free_at > simfine_from_ps(until_ps))
        return !waited;
    link->blocked = FALSE; /* the other channel may have credits */
    link_serve(link, MAX(start, link->free_at), MAX(simfine_from_ps(now_ps), link->free_at), until_ps);
    return TRUE;
}

static G_GNUC_UNUSED G_GNUC_NO_INLINE gboolean link_enter_contended(Link *link, unsigned v, Packet packet,
                                                                   SimFine start, SimTime now_ps, SimTime until_ps)
{
    gboolean waited = link_waits(link);
    link_make_room(link, v);
    link_enqueue(link, v, packet);
    return link_go_on(link, waited, start, now_ps, until_ps);
}

static ALWAYS_INLINE gboolean link_enter(Link *link, unsigned v, Packet packet, SimFine start, SimTime now_ps,
                                         SimTime until_ps)
{
    LinkRing *ring = &link->ring[v];
    if (link_waits(link) || link->free_at > simfine_from_ps(until_ps) || link->credits[v] < (gint32)packet.flits ||
        link->down || link->someone_waits)
        return link_enter_contended(link, v, packet, start, now_ps, until_ps);
    if (ring->wire == ring->head)
        ring->wire = ring->head = 0;
    link_wire_other(link, v, packet, FALSE, MAX(start, link->free_at)); /* straight through an idle port */
    return FALSE;
}

#endif
