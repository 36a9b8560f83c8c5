#include "model/link.h"

#include "model/exchange.h"

/* ---- credits
 *
 * The buffer's owner collects what is freed within a batch of time; the sender has it one flight after the
 * batch's end. Ports that free credits decide late (link_settle), so they come in any order; but a batch is
 * complete when the sender may use it, and its sum is the same in any order. */

static void link_collect_credits(Link *link, Vc v, SimTime at_ps)
{
    LinkReturnRing *ring = &link->returns[v];
    while (ring->count && link_return_peek(ring)->at_ps <= at_ps) {
        link->credits[v] += (gint32)link_return_peek(ring)->flits;
        link_return_drop(ring);
    }
}

static void link_send_at(Link *link, SimTime at_ps)
{
    if (link->sending)
        sim_cancel(link->sim, &link->send);
    link->sending = TRUE;
    sim_at_key(link->sim, &link->send, MAX(at_ps, sim_now_ps(link->sim)));
}

static void link_send_never(Link *link)
{
    if (link->sending)
        sim_cancel(link->sim, &link->send);
    link->sending = FALSE;
}

/* Keeps the ring short: the next decision comes no earlier than the wire is free, or somebody pushes. */
static void link_collect_ahead(Link *link, Vc v)
{
    SimTime free_ps = simfine_to_ps(link->free_at);
    link_collect_credits(link, v, link_waits(link) ? free_ps : MAX(free_ps, sim_now_ps(link->sim)));
}

/* Credits on their way to the sender, who may wait for them. */
void link_credit_return(Link *link, Vc v, guint32 flits, SimTime at_ps)
{
    LinkReturnRing *ring = &link->returns[v];
    if (ring->count >= 8)
        link_collect_ahead(link, v);
    guint32 n = ring->count;
    while (n > 0 && link_return_nth(ring, n - 1)->at_ps > at_ps)
        n--;
    if (n > 0 && link_return_nth(ring, n - 1)->at_ps == at_ps) {
        link_return_nth(ring, n - 1)->flits += flits;
    } else {
        link_return_push(ring);
        for (guint32 i = ring->count - 1; i > n; i--)
            *link_return_nth(ring, i) = *link_return_nth(ring, i - 1);
        *link_return_nth(ring, n) = (LinkReturn){at_ps, flits};
    }
    if (!(link->starved >> v & 1))
        return;
    if (!link->blocked)
        link->starved &= (guint8) ~(1u << v);
    else if (!link->sending || link->send.time_ps > at_ps)
        link_send_at(link, at_ps);
}

static inline SimTime link_credit_time(const Link *link, SimTime slot_ps)
{
    return slot_ps + link->credit_delay_ps;
}

/* The open batch goes on its way: another one begins, or the sender looks for credits. */
static void link_credit_close(Link *link, Vc v)
{
    if (link->slot_ps[v])
        link_credit_return(link, v, link->freed[v], link_credit_time(link, link->slot_ps[v]));
    link->slot_ps[v] = 0;
}

G_GNUC_NO_INLINE void link_credit_slot(Link *link, Vc v, guint32 flits, SimTime slot_ps)
{
    if (link->far_domain) {
        exchange_credit_slot(link, v, flits, slot_ps);
        return;
    }
    if (slot_ps < link->slot_ps[v] || link->starved >> v & 1) {
        link_credit_return(link, v, flits, link_credit_time(link, slot_ps));
        return;
    }
    link_credit_close(link, v);
    link->slot_ps[v] = slot_ps;
    link->freed[v] = flits;
}

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
    slot->due = (guint32)at_ps;
    if (ring->wire++ == ring->head)
        sim_at_key(link->sim, &link->vc[v].arrive, at_ps);
}

/* Nothing can go at the instant `at`: the link is blocked until credits come (or it comes up). */
static void link_block(Link *link, SimFine start, SimTime retry_ps, SimTime now_ps)
{
    link->free_at = MAX(start, retry_ps <= now_ps ? simfine_from_ps(retry_ps) : 0);
    if (retry_ps <= now_ps)
        return; /* the credit has come meanwhile: decide again at that instant */
    link->blocked = TRUE;
    if (retry_ps != SIMTIME_NEVER)
        link_send_at(link, retry_ps);
    else
        link_send_never(link);
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
    link_wire(link, v, start);
    if (link->someone_waits && link->waiting[v] < link->drained_below[v])
        link->drained(link->source_node, link, (Vc)v);
}

static inline void link_unblock(Link *link, SimTime at_ps)
{
    link->blocked = FALSE;
    link->free_at = MAX(link->free_at, simfine_from_ps(at_ps));
}

/* A blocked link whose credits come just now. Its event stays, and sees to what comes then. */
static G_GNUC_NO_INLINE void link_unblock_due(Link *link, SimTime now_ps)
{
    if (link->sending && link->send.time_ps <= now_ps)
        link_unblock(link, link->send.time_ps);
}

/* Makes every decision whose instant (the wire gets free, or credits come) is not after now (plus ahead_ps). It
 * sees just what was queued before that instant, since link_push() settles first: so nothing depends on when it is
 * made, and no event is needed for it as long as a packet in flight will call us before the next arrival is due. */
static ALWAYS_INLINE void link_settle(Link *link, SimTime now_ps)
{
    SimTime until_ps = now_ps + link->ahead_ps;
    SimFine until = simfine_from_ps(until_ps);
    if (G_UNLIKELY(link->blocked))
        link_unblock_due(link, now_ps);
    while (link_waits(link) && link->free_at <= until && !link->blocked)
        link_serve(link, link->free_at, link->free_at, until_ps);
}

/* Whether an arrival settles the link before whatever goes next would arrive itself. */
static inline gboolean link_has_reminder(const Link *link, SimTime free_ps)
{
    SimTime due_ps = free_ps + MIN(link->delay_ps[VC_CREQ], link->delay_ps[VC_RSP]);
    const LinkRing *ring = link->ring;
    return (ring[VC_CREQ].wire != ring[VC_CREQ].head && link->vc[VC_CREQ].arrive.time_ps <= due_ps) ||
           (ring[VC_RSP].wire != ring[VC_RSP].head && link->vc[VC_RSP].arrive.time_ps <= due_ps);
}

/* An event is needed when nothing in flight comes by in time, or when somebody waits for the queue to drain. */
static inline void link_follow_up(Link *link)
{
    if (!link_waits(link) || link->blocked || link->sending)
        return;
    SimTime free_ps = simfine_to_ps(link->free_at);
    if (G_UNLIKELY(link->rare) && link->domain && !link->someone_waits) {
        if (!link->late)
            exchange_list_late(link->domain, link);
        link->late = TRUE;
        return;
    }
    if (link->someone_waits || !link_has_reminder(link, free_ps))
        link_send_at(link, free_ps);
}

void link_arrival_settles(Link *link, SimTime now_ps)
{
    link_settle(link, now_ps);
    link_follow_up(link);
}

void link_on_send(Event *event, SimTime now_ps)
{
    Link *link = EVENT_OWNER(event, Link, send);
    link->sending = FALSE;
    if (link->blocked)
        link_unblock(link, now_ps);
    link_arrival_settles(link, now_ps);
}

/* For all but arrivals. */
static G_GNUC_NO_INLINE void link_settle_now(Link *link, SimTime now_ps) { link_settle(link, now_ps); }

SimTime link_close(Link *link, SimTime last_ps)
{
    if (link_waits(link))
        link_settle_now(link, last_ps);
    link->late = link_waits(link) && !link->blocked && !link->sending;
    return link->late ? simfine_to_ps(link->free_at) : SIMTIME_NEVER;
}

guint32 link_queued(Link *link, Vc vc)
{
    if (link_waits(link))
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

/* The wire is free, but others wait, or there are no credits. */
static G_GNUC_NO_INLINE void link_push_contended(Link *link, unsigned v, Packet packet, SimFine start,
                                                 SimTime now_ps)
{
    gboolean waiting = link_waits(link);
    link_make_room(link, v);
    link_enqueue(link, v, packet);
    if (link->free_at <= simfine_from_ps(now_ps + link->ahead_ps)) {
        if (G_UNLIKELY(link->blocked)) { /* the other channel may have credits */
            link->blocked = FALSE;
            link_send_never(link);
        }
        link_serve(link, MAX(start, link->free_at), MAX(simfine_from_ps(now_ps), link->free_at),
                   now_ps + link->ahead_ps);
    } else if (waiting) {
        return;
    }
    link_follow_up(link);
}

/* The wire is free. */
static G_GNUC_NO_INLINE void link_push_free(Link *link, unsigned v, Packet packet, SimTime not_before_ps,
                                            SimTime now_ps)
{
    SimFine start = simfine_from_ps(MAX(now_ps, not_before_ps));
    LinkRing *ring = &link->ring[v];
    if (link_waits(link))
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
    if (link->free_at <= simfine_from_ps(now_ps + link->ahead_ps))
        link_push_free(link, v, packet, not_before_ps, now_ps);
    else if (link_waits(link) && !link_ring_is_full(&link->ring[v], link->waiting[v]))
        link_enqueue(link, v, packet);
    else
        link_push_first(link, v, packet);
}

void link_set_down(Link *link, gboolean down)
{
    link_settle_now(link, sim_now_ps(link->sim));
    link->down = (guint8)down;
    if (!down && link->blocked)
        link_send_at(link, sim_now_ps(link->sim));
}
