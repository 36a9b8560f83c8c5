/* What the fast engine's two kinds of ports share: when they are advanced, and how packets join. */
#include "model/fastpath/fastpath.h"

static gboolean fast_port_comes_at(const TimedPacketRing *ring, SimTime at_ps)
{
    guint32 n = 0;
    while (n < ring->count && timed_packet_nth(ring, n)->at_ps < at_ps)
        n++;
    return n < ring->count && timed_packet_nth(ring, n)->at_ps == at_ps;
}

/* The place within that instant of the first thing that comes at it; UINT64_MAX: nothing does. */
static guint64 fast_port_order_at(const FastPort *port, SimTime at_ps)
{
    const Link *link = port->link;
    if (fast_port_comes_at(&link->timers, at_ps))
        return link->timer.order;
    if (fast_port_comes_at(&port->answers, at_ps))
        return SIM_ORDER_FIRST - link->timer.order; /* behind all timers, and before what links bring */
    if (link->queue[VC_RSP].count < port->response_limit && fast_port_comes_at(&port->pending, at_ps))
        return port->request_order;
    return G_MAXUINT64;
}

void fast_port_wake(FastPort *port)
{
    Link *link = port->link;
    if (link->low_water[VC_CREQ] == 0)
        return;
    SimTime at_ps = link_decision_ps(link);
    if (at_ps == SIMTIME_NEVER)
        return;
    guint64 order = fast_port_order_at(port, at_ps);
    gboolean is_past = at_ps == sim_now_ps(link->sim) && order <= sim_order(link->sim, at_ps);
    if (order > link->send.order || is_past)
        return;
    sim_cancel(link->sim, &port->wake);
    port->wake.order = order;
    sim_at_key(link->sim, &port->wake, at_ps);
}

/* What came before this instant may have filled the queue of answers, so that nothing pushes at it after all. */
static void fast_port_on_wake(Event *event, SimTime now_ps)
{
    FastPort *port = EVENT_OWNER(event, FastPort, wake);
    link_advance(port->link, now_ps - 1);
    if (fast_port_is_due(port, now_ps, event->order))
        link_advance(port->link, now_ps);
    port->link->ops->follow_up(port->link);
}

void fast_port_init(FastPort *port, Link *link)
{
    *port = (FastPort){.link = link, .next_ps = SIMTIME_NEVER};
    guint32 least_ps = MIN(link->delay_ps[VC_CREQ], link->delay_ps[VC_RSP]);
    /* Not later than the earliest arrival of what a decision sends, nor than credits that it frees are back; at least
     * 2, since what joins at an instant does so behind this port's own event. */
    port->slack_ps = CLAMP(link->credit_delay_ps, 2, MAX(least_ps, 2));
    link->fast = port;
    event_init(&port->wake, fast_port_on_wake);
}

static void fast_port_clear(FastPort *port)
{
    arrival_queue_clear(&port->arrivals);
    timed_packet_clear(&port->pending);
    timed_packet_clear(&port->answers);
}

SimTime fast_port_in_time_ps(const FastPort *port)
{
    SimTime decision_ps = link_decision_ps(port->link);
    if (port->link->low_water[VC_CREQ] == 0 && port->pending_in_time == 0)
        return SIMTIME_NEVER;
    return port->next_order == FAST_ORDER_FIRST ? MIN(decision_ps, port->next_ps) : decision_ps;
}

/* An event advances the port in time: before what goes or joins next would reach the far end. */
void fast_port_follow_up(Link *link)
{
    FastPort *port = fast_port(link);
    SimTime decision_ps = link_decision_ps(link), next_ps = MIN(decision_ps, port->next_ps);
    if (next_ps == SIMTIME_NEVER)
        return;
    SimTime in_time_ps = fast_port_in_time_ps(port);
    link_send_by(link, MIN(in_time_ps, next_ps + port->slack_ps - 1));
    fast_port_wake(port);
}

void fast_port_note(FastPort *port)
{
    SimTime before_ps = port->next_ps;
    port->refresh(port);
    if (!port->serving && (port->next_ps < before_ps || port->pending_in_time))
        port->link->ops->follow_up(port->link);
}

void fast_port_join(FastPort *port, Packet packet, SimTime at_ps, SimTime not_before_ps)
{
    Link *link = port->link;
    gboolean had_room = link->queue[VC_RSP].count < port->response_limit;
    link_join(link, packet, at_ps, simfine_from_ps(MAX(at_ps, not_before_ps)));
    gboolean has_room = link->queue[VC_RSP].count < port->response_limit;
    if (has_room != had_room) { /* pending requests are held up from now on, or go on */
        port->room_ps = has_room ? at_ps : port->room_ps;
        port->refresh(port);
    }
}

void fast_port_push(Link *link, Packet packet, SimTime not_before_ps)
{
    FastPort *port = fast_port(link);
    if (port->serving) {
        link_join(link, packet, port->serving_ps, simfine_from_ps(port->serving_ps));
        return;
    }
    SimTime now_ps = sim_now_ps(link->sim);
    link->ops->advance(link, now_ps);
    gboolean is_busy = link_waits(link) && link->free_at > simfine_from_ps(now_ps);
    fast_port_join(port, packet, now_ps, not_before_ps);
    if (!is_busy) /* else it has an event for what waited before */
        link->ops->follow_up(link);
}

void fast_port_timer(Link *link) { fast_port_note(fast_port(link)); }

gboolean fast_port_expire(FastPort *port, SimTime at_ps, Packet *answer)
{
    Link *link = port->link;
    Packet timer = timed_packet_peek(&link->timers)->packet;
    timed_packet_drop(&link->timers);
    return link->expire(link->source_node, link, timer, at_ps, answer);
}

void fast_detach(Link *link)
{
    if (!link->fast)
        return;
    fast_port_clear(link->fast);
    g_free(link->fast);
    link->fast = NULL;
    link->ops = &link_reference_ops;
}
