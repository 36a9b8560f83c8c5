/* The far end of a link: packets arrive there, and credits for the buffer that they leave go back to the sender.
 *
 * Packets in flight are in order within each channel, and only the first of each channel is in the calendar.
 * The owner of an ingress buffer collects what is freed within a batch of time; the sender has it one flight after the
 * batch's end. Ports that free credits may decide late, so credits are announced in any order; but a batch is complete
 * before the sender may use it, and its sum is the same in any order. */
#include "model/link/link.h"

/* ---- packets */

void link_fly(Link *link, Packet packet, SimTime at_ps)
{
    TimedPacketRing *flight = &link->flight[packet_vc(&packet)];
    *timed_packet_push(flight) = (TimedPacket){at_ps, packet};
    if (flight->count == 1)
        sim_at_key(link->far_sim, &link->arrival[packet_vc(&packet)], at_ps);
}

static void link_arrive(Link *link, Vc v, SimTime now_ps)
{
    TimedPacketRing *flight = &link->flight[v];
    Packet packet = timed_packet_peek(flight)->packet;
    timed_packet_drop(flight);
    if (flight->count)
        sim_at_key(link->far_sim, &link->arrival[v], timed_packet_peek(flight)->at_ps);
    link->sink(link->sink_node, link, packet, now_ps);
}

static void link_on_arrive_creq(Event *event, SimTime now_ps)
{
    link_arrive(EVENT_OWNER(event, Link, arrival[VC_CREQ]), VC_CREQ, now_ps);
}

static void link_on_arrive_rsp(Event *event, SimTime now_ps)
{
    link_arrive(EVENT_OWNER(event, Link, arrival[VC_RSP]), VC_RSP, now_ps);
}

void link_set_sink(Link *link, LinkSink sink, void *node, guint32 port)
{
    link->sink = sink;
    link->sink_node = node;
    link->sink_port = port;
    link->arrival[VC_CREQ].fire = link_on_arrive_creq;
    link->arrival[VC_RSP].fire = link_on_arrive_rsp;
}

/* ---- credits */

void link_collect_credits(Link *link, Vc v, SimTime at_ps)
{
    LinkReturnRing *returning = &link->returning[v];
    while (returning->count && link_return_peek(returning)->at_ps <= at_ps) {
        link->credits[v] += (gint32)link_return_peek(returning)->flits;
        link_return_drop(returning);
    }
}

/* Room for one more batch. A port looks at what has come back when it is short, which may be never; so before the ring
 * grows, it takes what every decision to come would find there. Views and waveforms, for which the reference engine
 * runs, show what the port knows. */
static void link_make_room(Link *link, Vc v)
{
    LinkReturnRing *returning = &link->returning[v];
    if (returning->count == returning->capacity && link->fast)
        link_collect_credits(link, v, MIN(simfine_to_ps(link->free_at), sim_now_ps(link->sim)));
    link_return_push(returning);
}

void link_credit_return(Link *link, Vc v, guint32 flits, SimTime due_ps)
{
    LinkReturnRing *returning = &link->returning[v];
    guint32 n = returning->count;
    while (n > 0 && link_return_nth(returning, n - 1)->at_ps > due_ps)
        n--;
    if (n > 0 && link_return_nth(returning, n - 1)->at_ps == due_ps) {
        link_return_nth(returning, n - 1)->flits += flits;
    } else {
        const guint32 behind = returning->count - n;
        link_make_room(link, v);
        guint32 at = returning->count - 1; /* the last place, which is free; those that leave later move up */
        for (const guint32 end = at - behind; at > end; at--)
            *link_return_nth(returning, at) = *link_return_nth(returning, at - 1);
        *link_return_nth(returning, at) = (LinkReturn){due_ps, flits};
    }
    if (link->blocked && (link->starved >> v & 1) && link->retry_ps > due_ps) {
        link->retry_ps = due_ps;
        link_send_by(link, due_ps);
    } else if (v == VC_CREQ && link->low_water[v]) {
        link_send_by(link, due_ps); /* requests that wait for room may go on */
    }
}

void link_credit(Link *link, Vc v, guint32 flits, SimTime at_ps)
{
    const SimTime due_ps = (((at_ps >> link->credit_shift) + 1) << link->credit_shift) + link->credit_delay_ps;
    if (G_UNLIKELY(link->watched && link->probe))
        link->probe(link->probe_user,
                    PROBE_EVENT(PROBE_CREDIT, link->path, link,
                                (&(Packet){.kind = v == VC_CREQ ? PACKET_WRITE : PACKET_ACK, .flits = (guint8)flits}),
                                due_ps));
    const LinkReturnRing *returning = &link->returning[v];
    if (!link->boundary && returning->count && link_return_last(returning)->at_ps == due_ps)
        link_return_last(returning)->flits += flits; /* mostly so: nothing else changes */
    else
        link->ops->credit(link, v, flits, due_ps);
}

guint64 link_credits_flying(const Link *link, Vc v)
{
    guint64 flits = 0;
    for (guint32 i = 0; i < link->returning[v].count; i++)
        flits += link_return_nth(&link->returning[v], i)->flits;
    return flits;
}
