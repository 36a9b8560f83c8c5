/* The far end of a link: packets in flight, in order within each channel. Only the first of each channel is in the
 * calendar. */
#include "model/link/link.h"

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
