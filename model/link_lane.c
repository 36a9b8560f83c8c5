/* What is known to join a port's queues before it does: requests and answers of a GPU's port, timers of its
 * acknowledgements, and at a switch's port what its other ports have on the way. None needs an event: whoever looks at
 * the port makes all decisions up to then in order, each as of its time. */
#include "model/link_settle.h"

void link_join_free(Link *link, unsigned v, Packet packet, SimTime at_ps)
{
    link_enter(link, v, packet, simfine_from_ps(at_ps), at_ps, at_ps);
}

void link_join(Link *link, unsigned v, Packet packet, SimTime at_ps) { link_join_now(link, v, packet, at_ps); }

void link_settle_lanes(Link *link, SimTime now_ps)
{
    if (!link->serving)
        link_settle_inbox_by(link, link->serve, link_early_asked, now_ps);
}

/* ---- what is told */

void link_note_more(Link *link, gboolean in_time)
{
    SimTime before_ps = link->ready_ps;
    link_note(link);
    if ((link->ready_ps < before_ps || in_time) && !link->serving)
        link_see_to(link);
}

void link_push_request(Link *link, Packet request, SimTime at_ps, gboolean in_time)
{
    request.hold = in_time ? LINK_IN_TIME : HOLD_NONE;
    link->in_time += in_time;
    link_push_lane(link, LINK_LANE_REQUESTS, request, at_ps);
}

void link_push_later(Link *link, Packet answer, SimTime at_ps)
{
    link_push_behind(link, LINK_LANE_ANSWERS, answer, at_ps);
}

void link_push_coming(Link *link, Packet packet, SimTime at_ps, const Link *from)
{
    link_push_coming_here(link, packet, at_ps, &from->vc[packet_vc(&packet)]);
}
