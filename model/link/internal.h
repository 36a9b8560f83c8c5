/* What link.c, link_lane.c and credit.c share. */
#ifndef MODEL_LINK_INTERNAL_H
#define MODEL_LINK_INTERNAL_H

#include "model/fastpath/link_log.h"
#include "model/parallel/mailbox.h"

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

/* The first batch that has some; there is one. */
static inline guint64 link_batch_first(const LinkCredit *credit)
{
    guint32 at = (guint32)credit->next % LINK_BATCHES;
    return credit->next + (guint32)__builtin_ctzll(credit->full >> at | credit->full << (-at % LINK_BATCHES));
}
static inline guint64 link_batch_last(const LinkCredit *credit)
{
    guint32 at = (guint32)credit->next % LINK_BATCHES;
    return credit->next + 63 - (guint32)__builtin_clzll(credit->full >> at | credit->full << (-at % LINK_BATCHES));
}

/* LinkCredit.next of a book with nothing in it: no batch is in reach. */
#define LINK_BOOK_CLOSED ((guint64)1 << 63)

/* credit.c: n accounts of the link's, all empty (g_aligned_free); credits that have come back by at_ps are the
 * sender's. */
LinkCredits *link_credits_new(Link *link, guint n);
void link_collect_credits(Link *link, Vc v, SimTime at_ps);
/* link.c: who goes when the one whose turn it is lacks credits; -1: nobody. */
int link_serve_short(Link *link, SimFine start, SimFine at, SimTime now_ps);
void link_decide_short(Link *link, SimFine start, SimFine at, SimTime now_ps);
/* link_log.c: where packets of a log may wait. */
void link_serve_logged(Link *link, SimFine start, SimFine at, SimTime now_ps);
void link_settle_logged(Link *link, SimTime until_ps);
/* link_lane.c. */
void link_settle_lanes(Link *link, SimTime now_ps);
void link_join_free(Link *link, unsigned v, Packet packet, SimTime at_ps);
/* TRUE: credits of the channel have come by then, and are the sender's. */
gboolean link_collect_due(Link *link, unsigned v, SimTime at_ps);
/* The decision at `at` lacks credits: TRUE if they have come by then. */
gboolean link_stage_collect(Link *link, unsigned v, SimFine at);
/* It does so for good: what has been taken in of each channel, and joins no earlier than that, joins one by one. */
void link_unstage(Link *link, const guint32 *staged, SimFine at, SimTime limit_ps);
void link_join_inbox(Link *link, SimTime at_ps); /* its first one */
/* An answer to something of a lane, while it is served. */
void link_join(Link *link, unsigned v, Packet packet, SimTime at_ps);

/* All of a packet's way through a port in one function: calls would cost more than what they do. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* The first packet that waits in a channel is in the log. */
static inline gboolean link_is_logged(const Link *link, unsigned v)
{
    return v == VC_CREQ && link->logged && link->logged == link->ring[VC_CREQ].waiting;
}

/* Flits of the first packet that waits in a channel; logs: it may be one of a log. */
static inline gint32 link_front_flits(const Link *link, unsigned v, gboolean logs)
{
    if (logs && link_is_logged(link, v))
        return link_log_first(link)->flits;
    return link_slot(&link->ring[v], link->ring[v].wire)->packet.flits;
}

/* A replica that its GPU can answer without a look at anything else goes into the lane of the answering port. Others
 * that still fly, and arrive by an event, find their place there. */
static ALWAYS_INLINE gboolean link_tell_replica(Link *link, Packet packet, SimTime at_ps)
{
    if (G_UNLIKELY(!link->answers || replica_answer(packet) != REPLICA_FROM_L2))
        return FALSE;
    link_push_lane(link->answers, LINK_LANE_REQUESTS, packet_unheld(packet), at_ps); /* not LINK_IN_TIME */
    return TRUE;
}

/* What is out of the ordinary: a packet that somebody looks at or that bit errors may hit, or leaves the domain. TRUE:
 * the other domain has it. */
gboolean link_wire_rare(Link *link, unsigned v, Packet packet, SimFine start, SimTime *at_ps);

/* link_push_coming() as part of who tells; inbox: the link's, which is mostly all that is looked at. The clock is that
 * of the far end of `from`, which is at hand. */
static ALWAYS_INLINE void link_push_coming_here(Link *link, Inbox *inbox, Packet packet, SimTime at_ps,
                                                const Link *from, unsigned v)
{
    if (inbox_push(inbox, packet, at_ps, (guint32)from->vc[v].arrive.order, sim_now_ps(link_far_sim(from))))
        link_note_more(link, FALSE);
}

/* A LinkEarly that asks the link. */
static inline gboolean link_early_asked(void *node, Link *link, Packet packet, SimTime at_ps)
{
    return link->early(node, link, packet, at_ps);
}

/* A packet goes on the wire. TRUE: the far end knows of it; else it arrives at *at_ps, and is the ring's next one in
 * flight. */
static ALWAYS_INLINE gboolean link_wire(Link *link, LinkRing *ring, unsigned v, Packet packet, gboolean logged,
                                        LinkEarly tell, SimFine start, SimTime *at_ps)
{
    const guint32 flits = packet.flits, kind = packet_kind(packet);
    SimFine end = start + flits * link->flit_time;
    ring->credits -= (gint32)flits;
    link->last_vc = (guint8)v;
    link->free_at = end;
    LinkCount *count = link_count(link, kind);
    PACKET_ADD(count->packets, packet);
    count->flits += flits;
    if (packet.hold != HOLD_NONE) /* it leaves the buffer where it arrived */
        link_credits_free(link->ingress[packet.hold][v], (Vc)v, flits, simfine_to_ps(start));
    *at_ps = simfine_to_ps(end) + ring->delay_ps;
    if (G_UNLIKELY(link->rare)) {
        if (link->rare == LINK_LEAVES && v == VC_RSP) {
            exchange_packet(link->domain, link, packet, *at_ps);
            return TRUE;
        }
        if (link_wire_rare(link, v, packet, start, at_ps))
            return TRUE;
    } else if (logged) {
        if (link_tell_replica(link, packet, *at_ps))
            return TRUE;
    } else if (ring->wire == ring->head) {
        if ((link->early_kinds >> kind & 1) && tell(link->sink_node, link, packet, *at_ps))
            return TRUE;
    }
    if (ring->wire == ring->head)
        sim_at_key(link->sim, &link->vc[v].arrive, *at_ps);
    return FALSE;
}

/* The first one that waits in the ring, which is `slot`. */
static ALWAYS_INLINE void link_wire_first(Link *link, LinkRing *ring, unsigned v, LinkSlot *slot, LinkEarly tell,
                                          SimFine start)
{
    SimTime at_ps;
    if (link_wire(link, ring, v, slot->packet, FALSE, tell, start, &at_ps)) {
        guint32 next = ring->wire + 1;
        ring->head = next;
        ring->wire = next;
        if (G_UNLIKELY((next & ring->mask) == 0))
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
    if (link_wire(link, ring, v, packet, logged, link_early_asked, start, &at_ps))
        return;
    if (G_UNLIKELY(link_ring_is_full(ring, 0)))
        link_ring_grow(ring);
    *link_slot(ring, ring->wire++) = (LinkSlot){packet, (guint32)at_ps};
}

/* Among what happens at that instant. */
static inline guint64 link_entry_order(const InboxEntry *entry) { return SIM_ORDER_KEYED | (guint32)entry->key; }

/* Of what is pushed late (link_push_here), by an event of a device: behind all of the fabric's at that instant. */
#define LINK_ORDER_PUSHED (((guint64)EVENT_PRIORITY_DEVICE << SIM_ORDER_PRIORITY_SHIFT) - 1)

/* When the next one of the lanes but LINK_LANE_PUSHES joins VC_RSP's queue, as far as known now: what leaves the queue
 * may let it in. */
static ALWAYS_INLINE SimTime link_next_join(const Link *link, guint64 *order)
{
    const SimTime *first_ps = link->first_ps;
    SimTime at_ps = link->ring[VC_RSP].waiting < link->gate ? first_ps[LINK_LANE_REQUESTS] : SIMTIME_NEVER;
    *order = at_ps == SIMTIME_NEVER ? 0 : link->request_order; /* in a line that a look without requests leaves alone */
    if (at_ps <= link->gate_open_ps) {
        at_ps = link->gate_open_ps;
        *order = 0;
    }
    at_ps = MIN(at_ps, first_ps[LINK_LANE_ANSWERS]);
    *order &= -(guint64)(first_ps[LINK_LANE_TIMERS] > at_ps); /* nobody could predict it */
    return MIN(at_ps, first_ps[LINK_LANE_TIMERS]);
}

/* Notes when the next one of lanes and inbox joins a queue. */
static ALWAYS_INLINE void link_note_of(Link *link, gboolean inbox)
{
    const SimTime *first_ps = link->first_ps; /* and not the lanes themselves: another cache line */
    SimTime any_ps = first_ps[LINK_LANE_REQUESTS] & first_ps[LINK_LANE_ANSWERS] & first_ps[LINK_LANE_TIMERS];
    guint64 order;
    SimTime at_ps = link_next_join(link, &order);
    guint8 ready = (guint8)((any_ps != SIMTIME_NEVER) << VC_RSP |
                            (first_ps[LINK_LANE_PUSHES] != SIMTIME_NEVER) << VC_CREQ);
    if (inbox && inbox_has_any(link->inbox)) {
        gboolean timer = first_ps[LINK_LANE_TIMERS] <= link->inbox->first_ps;
        at_ps = timer ? first_ps[LINK_LANE_TIMERS] : link->inbox->first_ps;
        order = timer ? 0 : link_entry_order(inbox_first(link->inbox));
        ready = 1u << VC_CREQ | 1u << VC_RSP;
    }
    if (first_ps[LINK_LANE_PUSHES] < at_ps) {
        at_ps = first_ps[LINK_LANE_PUSHES];
        order = LINK_ORDER_PUSHED;
    }
    link->ready_ps = at_ps;
    link->ready_order = order;
    link->ready = ready;
}
static inline void link_note(Link *link) { link_note_of(link, TRUE); }

/* A queue is as short as the gate lets requests in: if an answer has left it, and requests wait, one may go on. */
static inline void link_open_gate(Link *link, unsigned v, SimTime at_ps)
{
    if (v != VC_RSP || !(link->ready >> VC_RSP & 1))
        return;
    link->gate_open_ps = at_ps;
    link_note(link);
}

static ALWAYS_INLINE void link_wire_logged(Link *link, SimFine start)
{
    Packet packet = link_log_packet(link, *link_log_first(link));
    link->logged--;
    link->log_next++;
    if (link->logged == 0)
        link_log_keep_up(link);
    link_wire_other(link, VC_CREQ, packet, TRUE, start);
}

/* The one whose turn it is lacks credits, and none have come; the other one has some: what link_serve_short() finds. */
static inline gboolean link_yields(const Link *link, unsigned v, gboolean logs, SimFine at)
{
    return v != link->last_vc && link->ring[v ^ 1u].waiting && !link->down &&
           link->credit->vc[v].due_ps > simfine_to_ps(at) &&
           link->ring[v ^ 1u].credits >= link_front_flits(link, v ^ 1u, logs);
}

/* A packet has left the queue: who waits for that. */
static ALWAYS_INLINE void link_left(Link *link, LinkRing *ring, unsigned v)
{
    if (G_UNLIKELY(link->someone_waits) && ring->waiting < link->drained_below[v])
        link->drained(link->source_node, link, (Vc)v);
}

/* One decision of the arbiter, at `at`: round robin, the VC that was not served last goes first, from `start` on.
 * logs: there may be packets of a log. */
static ALWAYS_INLINE void link_decide_any(Link *link, gboolean logs, SimFine start, SimFine at, SimTime now_ps)
{
    unsigned v = link->last_vc ^ (link->ring[link->last_vc ^ 1u].waiting != 0);
    if (G_UNLIKELY((link->ring[v].credits < link_front_flits(link, v, logs)) | link->down)) {
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
    LinkRing *ring = &link->ring[v];
    gboolean logged = logs && link_is_logged(link, v);
    ring->waiting--;
    if (G_UNLIKELY(ring->waiting == link->gate - 1)) /* rarely so, whichever channel it is */
        link_open_gate(link, v, simfine_to_ps(at));
    if (logged)
        link_wire_logged(link, start);
    else
        link_wire_first(link, ring, v, link_slot(ring, ring->wire), link_early_asked, start);
    link_left(link, ring, v);
}

/* Likewise where nothing of a log waits, for the most part: the one whose turn it is has credits. tell: the link's
 * `early`, or one that asks it. */
static ALWAYS_INLINE void link_decide(Link *link, LinkEarly tell, SimFine start, SimFine at, SimTime now_ps)
{
    gsize v = link->last_vc;
    v ^= link->ring[v ^ 1u].waiting != 0;
    LinkRing *ring = &link->ring[v];
    LinkSlot *slot = link_slot(ring, ring->wire);
    if (ring->credits < slot->packet.flits || link->down) {
        if (G_UNLIKELY(!link_yields(link, (unsigned)v, FALSE, at))) {
            link_decide_short(link, start, at, now_ps);
            return;
        }
        link->starved = (guint8)(1u << v);
        ring = &link->ring[v ^= 1u];
        slot = link_slot(ring, ring->wire);
    }
    guint32 waiting = ring->waiting - 1;
    ring->waiting = waiting;
    if (G_UNLIKELY(waiting == link->gate - 1)) /* rarely so, whichever channel it is */
        link_open_gate(link, (unsigned)v, simfine_to_ps(at));
    link_wire_first(link, ring, (unsigned)v, slot, tell, start);
    link_left(link, ring, (unsigned)v);
}

static ALWAYS_INLINE void link_serve(Link *link, LinkEarly tell, SimFine start, SimFine at, SimTime now_ps)
{
    if (G_UNLIKELY(link->logged))
        link_serve_logged(link, start, at, now_ps);
    else
        link_decide(link, tell, start, at, now_ps);
}

static inline void link_unblock(Link *link, SimTime at_ps)
{
    link->blocked = FALSE;
    link->free_at = MAX(link->free_at, simfine_from_ps(at_ps));
}

/* Makes every decision whose instant (the wire gets free, or credits come) is not after now (plus ahead_ps). It
 * sees just what was queued before that instant, since link_push() settles first: so nothing depends on when it is
 * made, and no event is needed for it as long as a packet in flight will call us before the next arrival is due. */
static ALWAYS_INLINE void link_settle(Link *link, LinkEarly tell, SimTime until_ps)
{
    SimFine until = simfine_from_ps(until_ps);
    if (link->logged) {
        link_settle_logged(link, until_ps);
        return;
    }
    if (G_UNLIKELY(link->blocked) && link->retry_ps <= until_ps)
        link_unblock(link, link->retry_ps);
    while (link_waits(link) && link->free_at <= until && !link->blocked)
        link_decide(link, tell, link->free_at, link->free_at, until_ps);
}

/* A packet can go into a channel's ring. */
static inline gboolean link_has_slot(const Link *link, unsigned v)
{
    return ((v == VC_RSP) | (link->logged == 0)) && !link_ring_is_full(&link->ring[v], link->ring[v].waiting);
}

static inline void link_make_room(Link *link, unsigned v)
{
    if (v == VC_CREQ && G_UNLIKELY(link->logged))
        link_log_copy(link);
    if (G_UNLIKELY(link_ring_is_full(&link->ring[v], link->ring[v].waiting)))
        link_ring_grow(&link->ring[v]);
}

/* There is room in the ring, and nothing of a log waits. */
static inline void link_enqueue(Link *link, unsigned v, Packet packet)
{
    LinkRing *ring = &link->ring[v];
    link_slot(ring, ring->wire + link->ring[v].waiting)->packet = packet;
    link_count_peak(link, ++link->ring[v].waiting);
}

/* A packet has come into the queue when all decisions before it are made: it, or what was there, may go at once, if the
 * wire is free. TRUE: somebody has to see to it. */
static inline gboolean link_go_on(Link *link, gboolean waited, SimFine start, SimTime now_ps, SimTime until_ps)
{
    if (link->free_at > simfine_from_ps(until_ps))
        return !waited;
    link->blocked = FALSE; /* the other channel may have credits */
    link_serve(link, link_early_asked, MAX(start, link->free_at), MAX(simfine_from_ps(now_ps), link->free_at),
               until_ps);
    return TRUE;
}

static G_GNUC_UNUSED G_GNUC_NO_INLINE gboolean link_enter_contended(Link *link, unsigned v, Packet packet,
                                                                   SimFine start, SimTime now_ps, SimTime until_ps)
{
    gboolean waited = link_waits(link), first = link->queue_peak == 0, late = link->free_at > simfine_from_ps(until_ps);
    link_make_room(link, v);
    link_enqueue(link, v, packet);
    gboolean follow_up = link_go_on(link, waited, start, now_ps, until_ps);
    if (first && !late && !link_waits(link))
        link->queue_peak = 0; /* it never waited: its credits were there, and nobody had looked */
    return follow_up;
}

static ALWAYS_INLINE gboolean link_enter(Link *link, unsigned v, Packet packet, SimFine start, SimTime now_ps,
                                         SimTime until_ps)
{
    LinkRing *ring = &link->ring[v];
    if (link_waits(link) || link->free_at > simfine_from_ps(until_ps) || link->ring[v].credits < (gint32)packet.flits ||
        link->down || link->someone_waits)
        return link_enter_contended(link, v, packet, start, now_ps, until_ps);
    if (ring->wire == ring->head)
        ring->wire = ring->head = 0;
    link_wire_other(link, v, packet, FALSE, MAX(start, link->free_at)); /* straight through an idle port */
    return FALSE;
}

#endif
