/* The far end of a link: who takes what arrives. Stages have arrival functions of their own (link_arrive), tests
 * and tools a sink. */
#include "model/link/link.h"

/* link_arrive() from another domain, or with drain_ps: then the next one is only scheduled if it is not due soon. */
Packet link_arrive_odd(Link *link, Vc v, SimTime *at_ps)
{
    LinkRing *ring = link_flight(link, v);
    LinkSlot first = *link_slot(ring, ring->head);
    SimTime now_ps = sim_now_ps(link->far_sim), later_ps = link->drain_ps ? now_ps + link->drain_ps + 1 : 0;
    gboolean unsettled = !link->far_domain && link_is_unsettled(link);
    *at_ps = link_due_ps(&first, now_ps);
    if (unsettled)
        link_settle_now(link, now_ps);
    if (++ring->head != ring->wire) {
        SimTime next_ps = link_due_ps(link_slot(ring, ring->head), now_ps);
        link->more = next_ps < later_ps;
        if (link->more)
            return first.packet;
        sim_at_key(link->far_sim, &link->vc[v].arrive, next_ps);
    } else {
        link->more = FALSE;
    }
    if (unsettled)
        link_see_to(link);
    return first.packet;
}

static void link_on_arrive_creq(Event *event, SimTime now_ps)
{
    Link *link = LINK_OF_ARRIVAL(event, VC_CREQ);
    do {
        Packet packet = link_arrive(link, VC_CREQ, &now_ps);
        link->sink(link->sink_node, link, packet, now_ps);
    } while (link_goes_on(link));
}

static void link_on_arrive_rsp(Event *event, SimTime now_ps)
{
    Link *link = LINK_OF_ARRIVAL(event, VC_RSP);
    do {
        Packet packet = link_arrive(link, VC_RSP, &now_ps);
        link->sink(link->sink_node, link, packet, now_ps);
    } while (link_goes_on(link));
}

void link_set_sink(Link *link, LinkSink sink, void *node, guint32 port)
{
    link->sink = sink;
    link_set_early(link, NULL, 0);
    link->sink_node = node;
    link->sink_port = port;
    link->vc[VC_CREQ].arrive.fire = link_on_arrive_creq;
    link->vc[VC_RSP].arrive.fire = link_on_arrive_rsp;
}
