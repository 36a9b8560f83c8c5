/* The reference engine of a port: every decision of the arbiter and every arrival has an event of its own. */
#include "model/link/link.h"

/* The decision that is due next has an event, unless nothing waits or nothing is known to come. */
static void link_reference_follow_up(Link *link)
{
    SimTime decision_ps = link_decision_ps(link);
    if (decision_ps != SIMTIME_NEVER)
        link_send_by(link, decision_ps);
}

static void link_reference_push(Link *link, Packet packet, SimTime not_before_ps)
{
    SimTime now_ps = sim_now_ps(link->sim);
    link_decide_due(link, now_ps);
    link_join(link, packet, now_ps, simfine_from_ps(MAX(now_ps, not_before_ps)));
    link_reference_follow_up(link);
}

static gboolean link_reference_arrive(Link *link, Packet packet, SimTime at_ps)
{
    (void)link;
    (void)packet;
    (void)at_ps;
    return FALSE;
}

static void link_reference_timer(Link *link)
{
    sim_at_key(link->sim, &link->timer, timed_packet_peek(&link->timers)->at_ps);
}

void link_reference_on_timer(Event *event, SimTime now_ps)
{
    Link *link = EVENT_OWNER(event, Link, timer);
    Packet timer = timed_packet_peek(&link->timers)->packet, answer;
    timed_packet_drop(&link->timers);
    if (link->timers.count)
        link_reference_timer(link);
    if (link->expire(link->source_node, link, timer, now_ps, &answer))
        link_push(link, answer, 0);
}

const LinkOps link_reference_ops = {
    .push = link_reference_push,
    .advance = link_decide_due,
    .arrive = link_reference_arrive,
    .credit = link_credit_return,
    .follow_up = link_reference_follow_up,
    .timer = link_reference_timer,
};
