/* The sending port of a link: queues, the arbiter between the virtual channels, serialization. */
#include "model/link/down.h"

/* ---- the arbiter */

static inline gboolean link_has_credits(const Link *link, unsigned v)
{
    return link->credits[v] >= (gint32)packet_ring_peek(&link->queue[v])->flits;
}

/* The channel whose turn it is lacks credits: it is passed over unless some have come back. -1: no channel can send at
 * that instant; *retry_ps is when the first credit comes, as far as known. */
static int link_arbitrate_short(Link *link, unsigned first, SimTime at_ps, SimTime *retry_ps)
{
    *retry_ps = SIMTIME_NEVER;
    link->starved = 0;
    for (unsigned i = 0; i < VCS; i++) {
        unsigned v = (first + i) % VCS;
        if (link->queue[v].count == 0)
            continue;
        if (!link_has_credits(link, v))
            link_collect_credits(link, (Vc)v, at_ps);
        if (link_has_credits(link, v))
            return (int)v;
        *retry_ps = MIN(*retry_ps, link_credits_due_ps(link, (Vc)v));
        link->starved |= (guint8)(1u << v);
    }
    link->credit_stalls++;
    return -1;
}

/* Round robin: of the channels in which packets wait, the one that was not served last goes first. */
static inline int link_arbitrate(Link *link, SimFine at, SimTime *retry_ps)
{
    unsigned v = link->last_vc ^ (link->queue[link->last_vc ^ 1u].count != 0);
    if (G_UNLIKELY(link->has_arbiter) && link->queue[VC_CREQ].count && link->queue[VC_RSP].count)
        v = link_ask_policy(link);
    return link_has_credits(link, v) ? (int)v : link_arbitrate_short(link, v, simfine_to_ps(at), retry_ps);
}

/* Nothing could go at a decision: the port is blocked until credits come or the link comes up. If credits have come
 * meanwhile (the decision is made later than it was due), it decides again as of their time. */
void link_block(Link *link, SimFine start, SimTime retry_ps, SimTime now_ps)
{
    link->free_at = start;
    if (retry_ps <= now_ps) {
        link->free_at = MAX(start, simfine_from_ps(retry_ps));
        return;
    }
    link->blocked = TRUE;
    link->retry_ps = retry_ps;
    if (retry_ps != SIMTIME_NEVER)
        link_send_by(link, retry_ps);
}

/* ---- the wire */

/* What only an observed or faulty link has: bit errors, answers of a slow GPU, a probe. */
static void link_watch(Link *link, Packet packet, SimFine start)
{
    while (link->error_ppb && rng_below(&link->rng, 1000000000) < link->error_ppb) {
        link->replays++;
        link->free_at += simfine_from_ps(link->replay_ps) + packet.flits * link->flit_time;
    }
    if (link->answers_last && packet_vc(&packet) == VC_RSP)
        link_keep_order(link, packet.flits);
    if (link->probe)
        link->probe(link->probe_user, PROBE_EVENT(PROBE_WIRE, link->path, link, &packet, simfine_to_ps(start)));
}

/* A packet leaves this switch, and the ingress buffer that it occupied there. */
void link_release(Link *link, Packet *packet, unsigned v, SimFine start)
{
    if (packet->held_input == HELD_INPUT_SHARED)
        link->ops->release(link, *packet, simfine_to_ps(start));
    else if (packet->held_input != HELD_INPUT_NONE)
        link_credit(link->ingress[packet->held_input], (Vc)v, packet->flits, simfine_to_ps(start));
    packet->held_input = HELD_INPUT_NONE;
}

/* The first packet of a channel goes on the wire at `start`: it spends credits, frees the ingress buffer that it
 * occupied in this switch, and arrives after its serialization and all fixed stages. */
static void link_transmit(Link *link, unsigned v, SimFine start)
{
    PacketRing *queue = &link->queue[v];
    Packet packet = *packet_ring_peek(queue);
    const guint32 flits = packet.flits;
    packet_ring_drop(queue);
    link->credits[v] -= (gint32)flits;
    if (G_UNLIKELY(link->has_arbiter)) {
        link_joined_drop(&link->joined[v]);
        link->run = v == link->last_vc ? link->run + 1 : 1;
    }
    link->last_vc = (guint8)v;
    link->free_at = start + flits * link->flit_time;
    link->count[packet.kind].packets++;
    link->count[packet.kind].flits += flits;
    link_release(link, &packet, v, start);
    if (G_UNLIKELY(link->watched))
        link_watch(link, packet, start);
    SimTime at_ps = simfine_to_ps(link->free_at) + link->delay_ps[v];
    if (!link->ops->arrive(link, packet, at_ps))
        link_fly(link, packet, at_ps);
    if (queue->count < link->low_water[v])
        link->drained(link->source_node, link, (Vc)v);
}

/* One decision of the arbiter, at the instant `at`; what goes starts at `start`. */
static void link_decide(Link *link, SimFine start, SimFine at, SimTime now_ps)
{
    SimTime retry_ps = SIMTIME_NEVER;
    int v = link->down ? -1 : link_arbitrate(link, at, &retry_ps);
    if (G_UNLIKELY(link->down))
        link_decide_down(link, start, now_ps);
    else if (v < 0)
        link_block(link, start, retry_ps, now_ps);
    else
        link_transmit(link, (unsigned)v, start);
}

gboolean link_decide_next(Link *link, SimTime now_ps)
{
    if (link->blocked && link->retry_ps <= now_ps) {
        link->blocked = FALSE;
        link->free_at = MAX(link->free_at, simfine_from_ps(link->retry_ps));
    }
    if (link->blocked || link->free_at > simfine_from_ps(now_ps) || !link_waits(link))
        return FALSE;
    link_decide(link, link->free_at, link->free_at, now_ps);
    return TRUE;
}

void link_decide_due(Link *link, SimTime now_ps)
{
    while (link_decide_next(link, now_ps)) {
    }
}

/* ---- joining */

static inline void link_count_peak(Link *link, unsigned v)
{
    link->queue_peak = MAX(link->queue_peak, link->queue[v].count);
}

void link_join(Link *link, Packet packet, SimTime at_ps, SimFine start)
{
    const unsigned v = packet_vc(&packet);
    const gboolean is_free = link->free_at <= simfine_from_ps(at_ps), goes = is_free && !link_waits(link);
    if (G_UNLIKELY(link->watched) && link->probe)
        link->probe(link->probe_user, PROBE_EVENT(PROBE_QUEUE, link->path, link, &packet, simfine_to_ps(start)));
    *packet_ring_push(&link->queue[v]) = packet;
    if (G_UNLIKELY(link->has_arbiter))
        *link_joined_push(&link->joined[v]) = at_ps;
    if (!goes)
        link_count_peak(link, v);
    if (!is_free)
        return;
    link->blocked = FALSE; /* the channel of this packet may have credits */
    link_decide(link, MAX(start, link->free_at), MAX(simfine_from_ps(at_ps), link->free_at), at_ps);
    if (goes)
        link_count_peak(link, v); /* if it waits after all */
}

void link_add_timer(Link *link, Packet timer, SimTime at_ps)
{
    TimedPacketRing *timers = &link->timers;
    SimTime last_ps = timers->count ? timed_packet_last(timers)->at_ps : 0;
    *timed_packet_push(timers) = (TimedPacket){MAX(at_ps, last_ps), timer};
    if (timers->count == 1)
        link->ops->timer(link);
}

/* ---- its event */

SimTime link_decision_ps(const Link *link)
{
    if (!link_waits(link))
        return SIMTIME_NEVER;
    return link->blocked ? link->retry_ps : simfine_to_ps(link->free_at);
}

void link_send_by(Link *link, SimTime due_ps)
{
    if (event_is_pending(&link->send)) {
        if (link->send.time_ps <= due_ps)
            return;
        sim_cancel(link->sim, &link->send);
    }
    sim_at_key(link->sim, &link->send, MAX(due_ps, sim_now_ps(link->sim)));
}

void link_on_send(Event *event, SimTime now_ps)
{
    Link *link = EVENT_OWNER(event, Link, send);
    link_advance(link, now_ps);
    link->ops->follow_up(link);
}
