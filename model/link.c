#include "model/link.h"

#include <string.h>

#include "model/exchange.h"

static void link_on_send(Event *event, SimTime now_ps);

/* At one instant links go behind other hardware, in the order of their numbers, whoever scheduled them: so that
 * it makes no difference whether the two ends of a link share a calendar. */
enum { LINK_KEY_ARRIVE = 0, LINK_KEY_SEND = VCS, LINK_KEYS = VCS + 1 };

void link_init(Link *link, Sim *sim, const LinkSpec *spec, guint64 credit_flits, guint32 number,
               const char *path)
{
    memset(link, 0, sizeof *link);
    link->sim = link->far_sim = sim;
    link->path = g_strdup(path);
    /* 16 B at rate_MBps * 1e6 B/s, in 1/65536 ps */
    link->flit_time = ((SimFine)FLIT_BYTES * 1000000u << SIMFINE_SHIFT) / spec->rate_MBps;
    link->credit_delay_ps = spec->flight_ps;
    link->credit_mask = ((SimTime)1 << (g_bit_storage(spec->credit_batch_ps) - 1)) - 1;
    link->replay_ps = spec->replay_ps;
    link->ahead_ps = MIN(spec->commit_ahead_ps, spec->flight_ps / 2); /* credits need time to come back */
    link->drain_ps = MIN(spec->drain_ps, spec->flight_ps / 2);
    rng_init(&link->rng, sim_seed(sim), path);
    link_set_errors(link, spec->error_ppb);
    event_init(&link->send, link_on_send);
    link->send.spare = number * LINK_KEYS + LINK_KEY_SEND;
    for (int v = 0; v < VCS; v++) {
        link->vc[v].credits = (gint32)credit_flits;
        link_set_delay(link, (Vc)v, spec->flight_ps);
        link->vc[v].arrive.spare = number * LINK_KEYS + LINK_KEY_ARRIVE + (guint32)v;
    }
    link_set_sink(link, NULL, NULL, 0);
}

/* ---- credits
 *
 * The buffer's owner collects what is freed within a batch of time; the sender has it one flight after the
 * batch's end. Ports that free credits decide late (link_settle), so they come in any order; but a batch is
 * complete when the sender may use it, and its sum is the same in any order. */

static void link_collect_credits(LinkVc *vc, SimTime now_ps)
{
    while (vc->returns.count && link_return_peek(&vc->returns)->at_ps <= now_ps) {
        vc->credits += (gint32)link_return_peek(&vc->returns)->flits;
        link_return_drop(&vc->returns);
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

/* Credits on their way to the sender, who may wait for them. */
void link_credit_return(Link *link, Vc v, guint32 flits, SimTime at_ps)
{
    LinkReturnRing *ring = &link->vc[v].returns;
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
static G_GNUC_NO_INLINE int link_arbitrate_short(Link *link, SimTime at_ps, SimTime *retry_ps)
{
    *retry_ps = SIMTIME_NEVER;
    link->starved = 0;
    for (unsigned i = 1; i <= VCS; i++) {
        unsigned v = (link->last_vc + i) % VCS;
        LinkVc *vc = &link->vc[v];
        if (vc->queue.count == 0)
            continue;
        if (!link->domain)
            link_credit_close(link, (Vc)v);
        link_collect_credits(vc, at_ps);
        if (vc->credits >= (gint32)packet_ring_peek(&vc->queue)->flits)
            return (int)v;
        if (vc->returns.count)
            *retry_ps = MIN(*retry_ps, link_return_peek(&vc->returns)->at_ps);
        link->starved |= (guint8)(1u << v);
    }
    link->credit_stalls++;
    return -1;
}

/* TRUE: the packet is in another domain now. By value: a pointer would keep it out of registers in everybody's way. */
static G_GNUC_NO_INLINE gboolean link_wire_rare(Link *link, const LinkVc *vc, Packet packet, SimFine start)
{
    if (link->probe)
        link->probe(link->probe_user, PROBE_WIRE, __FILE__, link->path, &packet, simfine_to_ps(start));
    if (link->error_ppb && rng_below(&link->rng, 1000000000) < link->error_ppb) {
        link->replays++;
        link->free_at += simfine_from_ps(link->replay_ps) + packet.flits * link->flit_time;
    }
    if (link->domain)
        exchange_packet(link->domain, link, packet, simfine_to_ps(link->free_at) + vc->delay_ps);
    return link->domain != NULL;
}

/* All of a packet's way through a port in one function: calls would cost more than what they do. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Puts a packet on the wire, from `start` on; `at` is when this is decided. */
static ALWAYS_INLINE void link_wire(Link *link, LinkVc *vc, unsigned v, Packet packet, SimFine start, SimFine at)
{
    guint32 flits = packet.flits;
    vc->credits -= (gint32)flits;
    if (G_UNLIKELY(vc->returns.count >= 16))
        link_collect_credits(vc, simfine_to_ps(at)); /* keeps the ring short */
    link->last_vc = (guint8)v;
    link->free_at = start + flits * link->flit_time;
    LinkCount *count = &link->count[packet.kind];
    count->packets++;
    count->flits += flits;
    if (packet.hold != HOLD_NONE) /* it leaves the buffer where it arrived */
        link_credit(link->ingress[packet.hold], (Vc)v, flits, simfine_to_ps(start));
    if (G_UNLIKELY(link->rare) && link_wire_rare(link, vc, packet, start))
        return;
    LinkFlight *flight = link_flight_push(&vc->flight);
    flight->packet = packet;
    flight->at_ps = simfine_to_ps(link->free_at) + vc->delay_ps;
    if (vc->flight.count == 1)
        sim_at_key(link->sim, &vc->arrive, flight->at_ps);
}

/* Puts the head of a VC's queue on the wire. */
static ALWAYS_INLINE void link_transmit(Link *link, unsigned v, SimFine start, SimFine at)
{
    LinkVc *vc = &link->vc[v];
    Packet packet = *packet_ring_peek(&vc->queue);
    packet_ring_drop(&vc->queue);
    link->waiting--;
    link_wire(link, vc, v, packet, start, at);
    if (G_UNLIKELY(vc->queue.count < vc->drained_below))
        link->drained(link->source_node, link, (Vc)v);
}

/* One decision of the arbiter, at `at`: round robin, the VC that was not served last goes first, from `start` on.
 * When nothing can go the link is blocked until credits come (or it comes up). */
static ALWAYS_INLINE void link_serve(Link *link, SimFine start, SimFine at, SimTime now_ps)
{
    unsigned v = link->last_vc ^ 1u;
    if (link->vc[v].queue.count == 0)
        v ^= 1u;
    LinkVc *vc = &link->vc[v];
    if (G_UNLIKELY(vc->credits < (gint32)packet_ring_peek(&vc->queue)->flits || link->down)) {
        SimTime retry_ps = SIMTIME_NEVER;
        int other = link->down ? -1 : link_arbitrate_short(link, simfine_to_ps(at), &retry_ps);
        if (other < 0) {
            link->free_at = MAX(start, retry_ps <= now_ps ? simfine_from_ps(retry_ps) : 0);
            if (retry_ps <= now_ps)
                return; /* the credit has come meanwhile: decide again at that instant */
            link->blocked = TRUE;
            if (retry_ps != SIMTIME_NEVER)
                link_send_at(link, retry_ps);
            else
                link_send_never(link);
            return;
        }
        v = (unsigned)other;
    }
    link_transmit(link, v, start, at);
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
static inline void link_settle(Link *link, SimTime now_ps)
{
    SimTime until_ps = now_ps + link->ahead_ps;
    SimFine until = simfine_from_ps(until_ps);
    if (G_UNLIKELY(link->blocked))
        link_unblock_due(link, now_ps);
    while (link->waiting && link->free_at <= until && !link->blocked)
        link_serve(link, link->free_at, link->free_at, until_ps);
}

/* Whether an arrival settles the link before whatever goes next would arrive itself. */
static inline gboolean link_has_reminder(Link *link, SimTime free_ps)
{
    SimTime due_ps = free_ps + link->delay_min_ps;
    return (link->vc[VC_CREQ].flight.count && link->vc[VC_CREQ].arrive.time_ps <= due_ps) ||
           (link->vc[VC_RSP].flight.count && link->vc[VC_RSP].arrive.time_ps <= due_ps);
}

/* An event is needed when nothing in flight comes by in time, or when somebody waits for the queue to drain. */
static inline void link_follow_up(Link *link)
{
    if (!link->waiting || link->blocked || link->sending)
        return;
    SimTime free_ps = simfine_to_ps(link->free_at);
    if (G_UNLIKELY(link->domain && !link->someone_waits)) {
        if (!link->late)
            exchange_list_late(link->domain, link);
        link->late = TRUE;
        return;
    }
    if (link->someone_waits || !link_has_reminder(link, free_ps))
        link_send_at(link, free_ps);
}

static void link_on_send(Event *event, SimTime now_ps)
{
    Link *link = EVENT_OWNER(event, Link, send);
    link->sending = FALSE;
    if (link->blocked)
        link_unblock(link, now_ps);
    link_settle(link, now_ps);
    link_follow_up(link);
}

SimTime link_close(Link *link, SimTime last_ps)
{
    if (link->waiting)
        link_settle(link, last_ps);
    link->late = link->waiting && !link->blocked && !link->sending;
    return link->late ? simfine_to_ps(link->free_at) : SIMTIME_NEVER;
}

guint32 link_queued(Link *link, Vc vc)
{
    if (link->waiting)
        link_settle(link, sim_now_ps(link->sim));
    return link->vc[vc].queue.count;
}

void link_set_drained(Link *link, Vc vc, guint32 below)
{
    link->vc[vc].drained_below = below;
    link->someone_waits = link->vc[VC_CREQ].drained_below || link->vc[VC_RSP].drained_below;
    if (below)
        link_follow_up(link);
}

static inline void link_enqueue(Link *link, LinkVc *vc, Packet packet)
{
    *packet_ring_push(&vc->queue) = packet;
    link->waiting++;
    link->queue_peak = MAX(link->queue_peak, vc->queue.count);
}

/* The wire was free when the packet came, but others wait, or it has no credits. */
static G_GNUC_NO_INLINE void link_push_contended(Link *link, LinkVc *vc, Packet packet, SimFine start,
                                                 SimTime now_ps)
{
    gboolean waiting = link->waiting != 0;
    link_enqueue(link, vc, packet);
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

void link_push(Link *link, Packet packet, SimTime not_before_ps)
{
    unsigned v = packet_vc(&packet);
    LinkVc *vc = &link->vc[v];
    SimTime now_ps = sim_now_ps(link->sim);
    SimFine until = simfine_from_ps(now_ps + link->ahead_ps);
    if (link->free_at > until) {
        gboolean waiting = link->waiting != 0;
        link_enqueue(link, vc, packet);
        if (!waiting) /* else who waited before has seen to being called */
            link_follow_up(link);
        return;
    }
    SimFine start = simfine_from_ps(MAX(now_ps, not_before_ps));
    if (link->waiting)
        link_settle(link, now_ps);
    if (link->waiting || link->free_at > until || vc->credits < (gint32)packet.flits || link->down ||
        link->someone_waits)
        link_push_contended(link, vc, packet, start, now_ps);
    else
        link_wire(link, vc, v, packet, MAX(start, link->free_at), until); /* straight through an idle port */
}

void link_set_delay(Link *link, Vc vc, SimTime delay_ps)
{
    link->vc[vc].delay_ps = delay_ps;
    link->delay_min_ps = MIN(link->vc[VC_CREQ].delay_ps, link->vc[VC_RSP].delay_ps);
}

void link_set_down(Link *link, gboolean down)
{
    link_settle(link, sim_now_ps(link->sim));
    link->down = (guint8)down;
    if (!down && link->blocked)
        link_send_at(link, sim_now_ps(link->sim));
}

/* ---- arrival: only the head of each VC's flight is in the calendar */

void link_arrival_settles(Link *link, SimTime now_ps)
{
    link_settle(link, now_ps);
    link_follow_up(link);
}
