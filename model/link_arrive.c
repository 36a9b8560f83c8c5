/* The far end of a link: who takes what arrives. Stages have arrival functions of their own (link_arrive), tests
 * and tools a sink. */
#include "model/link.h"

/* link_arrive() with drain_ps: the next one is only scheduled if it is not due soon. */
Packet link_arrive_draining(Link *link, Vc v, SimTime *at_ps)
{
    LinkVc *vc = &link->vc[v];
    LinkFlight first = *link_flight_peek(&vc->flight);
    link_flight_drop(&vc->flight);
    SimTime now_ps = sim_now_ps(link->sim);
    if (vc->flight.count && link_flight_peek(&vc->flight)->at_ps > now_ps + link->drain_ps)
        sim_at_key(link->sim, &vc->arrive, link_flight_peek(&vc->flight)->at_ps);
    if (link->waiting)
        link_arrival_settles(link, now_ps);
    *at_ps = first.at_ps;
    return first.packet;
}

static void link_on_arrive_creq(Event *event, SimTime now_ps)
{
    Link *link = LINK_OF_ARRIVAL(event, VC_CREQ);
    do {
        Packet packet = link_arrive(link, VC_CREQ, &now_ps);
        link->sink(link->sink_node, link, packet, now_ps);
    } while (link_goes_on(link, VC_CREQ));
}

static void link_on_arrive_rsp(Event *event, SimTime now_ps)
{
    Link *link = LINK_OF_ARRIVAL(event, VC_RSP);
    do {
        Packet packet = link_arrive(link, VC_RSP, &now_ps);
        link->sink(link->sink_node, link, packet, now_ps);
    } while (link_goes_on(link, VC_RSP));
}

void link_set_sink(Link *link, LinkSink sink, void *node, guint32 port)
{
    link->sink = sink;
    link->sink_node = node;
    link->sink_port = port;
    link->vc[VC_CREQ].arrive.fire = link_on_arrive_creq;
    link->vc[VC_RSP].arrive.fire = link_on_arrive_rsp;
}
