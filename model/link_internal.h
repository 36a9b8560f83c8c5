/* What link.c, link_lane.c and link_credit.c share. */
#ifndef MODEL_LINK_INTERNAL_H
#define MODEL_LINK_INTERNAL_H

#include "model/exchange.h"
#include "model/link.h"

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

/* link_credit.c: credits that have come back by at_ps are the sender's. */
void link_collect_credits(Link *link, Vc v, SimTime at_ps);
/* link.c: a packet that somebody looks at, or that goes to another domain. TRUE: it is in another domain now. */
gboolean link_wire_rare(Link *link, unsigned v, Packet packet, SimFine start);
/* Who goes when the one whose turn it is lacks credits; -1: nobody. */
int link_serve_short(Link *link, SimFine start, SimFine at, SimTime now_ps);
/* link_lane.c: when the next one of lanes and inbox joins a queue, as far as known now, for what leaves the queue may
 * let it in. */
void link_note_ready(Link *link);
void link_settle_lanes(Link *link, SimTime now_ps);
/* An answer to something of a lane, while it is served. */
void link_join(Link *link, unsigned v, Packet packet, SimTime at_ps);

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

/* A queue is as short as the gate lets requests in: if an answer has left it, and requests wait, one may go on. */
static inline void link_open_gate(Link *link, unsigned v, SimTime at_ps)
{
    if (v != VC_RSP || !(link->ready >> VC_RSP & 1))
        return;
    link->gate_open_ps = at_ps;
    link_note_ready(link);
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
    if (G_UNLIKELY(link->waiting[v] == link->gate - 1)) /* rarely so, whichever channel it is */
        link_open_gate(link, v, simfine_to_ps(at));
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

/* A packet comes when all decisions before it are made: what is in the queue with it may go at once, if the wire is
 * free. TRUE: somebody has to see to it. */
static G_GNUC_UNUSED G_GNUC_NO_INLINE gboolean link_enter_contended(Link *link, unsigned v, Packet packet,
                                                                   SimFine start, SimTime now_ps, SimTime until_ps)
{
    gboolean waiting = link_waits(link);
    link_make_room(link, v);
    link_enqueue(link, v, packet);
    if (link->free_at > simfine_from_ps(until_ps))
        return !waiting;
    link->blocked = FALSE; /* the other channel may have credits */
    link_serve(link, MAX(start, link->free_at), MAX(simfine_from_ps(now_ps), link->free_at), until_ps);
    return TRUE;
}

static ALWAYS_INLINE gboolean link_enter(Link *link, unsigned v, Packet packet, SimFine start, SimTime now_ps,
                                         SimTime until_ps)
{
    LinkRing *ring = &link->ring[v];
    if (link_waits(link) || link->free_at > simfine_from_ps(until_ps) || link->credits[v] < (gint32)packet.flits ||
        link->down || link->someone_waits || link_ring_is_full(ring, 0))
        return link_enter_contended(link, v, packet, start, now_ps, until_ps);
    if (ring->wire == ring->head)
        ring->wire = ring->head = 0;
    link_slot(ring, ring->wire)->packet = packet;
    link_wire(link, v, MAX(start, link->free_at)); /* straight through an idle port */
    return FALSE;
}

#endif
