/* A switch's egress port in the fast engine, and the switch as a receiver that needs no events.
 *
 * The receiver of an up link is the switch. A packet for one GPU goes into the arrival queue of its egress port as it
 * is sent, unless it might have to wait in the ingress: behind another request, or while a replication goes on. An
 * answer of a replica that does nothing but count is counted as it is sent; when none is missing any more, the end of
 * the request is an event at the time at which the last of them arrives. */
#include "model/fastpath/fastpath.h"
#include "model/fastpath/multicast_queue.h"
#include "model/switch/reduction.h"

/* ---- the egress port */

static void switch_port_refresh(FastPort *port)
{
    SimTime timer_ps = fast_port_timer_ps(port->link);
    port->next_ps = SIMTIME_NEVER;
    if (port->arrivals.count) {
        port->next_ps = arrival_queue_first(&port->arrivals)->at_ps;
        port->next_order = arrival_queue_first(&port->arrivals)->order;
    }
    if (multicast_queue_waits(port)) {
        const McArrival *replica = multicast_queue_next(port);
        if (replica->at_ps < port->next_ps || (replica->at_ps == port->next_ps && replica->order < port->next_order)) {
            port->next_ps = replica->at_ps;
            port->next_order = replica->order;
        }
    }
    if (timer_ps <= port->next_ps) {
        port->next_ps = timer_ps;
        port->next_order = FAST_ORDER_FIRST;
    }
}

static gboolean switch_port_replica_is_next(const FastPort *port)
{
    if (!multicast_queue_waits(port))
        return FALSE;
    const McArrival *replica = multicast_queue_next(port);
    return replica->at_ps == port->next_ps && replica->order == port->next_order;
}

static void switch_port_next(FastPort *port)
{
    SimTime at_ps = port->next_ps;
    if (fast_port_timer_ps(port->link) == at_ps) {
        Packet answer;
        if (fast_port_expire(port, at_ps, &answer))
            link_join(port->link, answer, at_ps, simfine_from_ps(at_ps));
    } else if (switch_port_replica_is_next(port)) {
        multicast_queue_join(port);
    } else {
        Packet packet = arrival_queue_first(&port->arrivals)->packet;
        arrival_queue_drop(&port->arrivals);
        link_join(port->link, packet, at_ps, simfine_from_ps(at_ps));
    }
    switch_port_refresh(port);
}

static void switch_port_advance(Link *down, SimTime now_ps)
{
    FastPort *port = fast_port(down);
    const guint64 order = sim_order(down->sim, now_ps);
    if (multicast_queue_waits(port)) /* they have come since the port was last advanced */
        switch_port_refresh(port);
    for (;;) {
        SimTime until_ps = MIN(port->next_ps, now_ps);
        if (link_decision_is_due(down, until_ps) && link_decide_next(down, until_ps))
            continue;
        if (!fast_port_is_due(port, now_ps, order))
            break;
        switch_port_next(port);
    }
}

static gboolean switch_port_arrive(Link *down, Packet packet, SimTime at_ps)
{
    return fast_gpu_schedule(down, packet, at_ps);
}

const LinkOps fast_switch_ops = {
    .push = fast_port_push,
    .advance = switch_port_advance,
    .arrive = switch_port_arrive,
    .credit = link_credit_return,
    .release = multicast_queue_release,
    .follow_up = fast_port_follow_up,
    .timer = fast_port_timer,
};

/* ---- answers that are only counted */

/* The end of a request, at the time at which the last answer that is known ahead arrives. They are used again and
 * again; each switch has its own, since switches may be on several threads. */
typedef struct FastEnd FastEnd;
struct FastEnd {
    Event event;
    Switch *sw;
    FastEnd *next_free;
    guint32 record;
};

static void fast_end_on_event(Event *event, SimTime now_ps)
{
    FastEnd *end = EVENT_OWNER(event, FastEnd, event);
    Switch *sw = end->sw;
    FastSwitch *fast = sw->fast;
    guint32 record = end->record;
    end->next_free = fast->free_ends;
    fast->free_ends = end;
    reduction_end(sw, record, now_ps);
}

static FastEnd *fast_end_take(Switch *sw)
{
    FastSwitch *fast = sw->fast;
    FastEnd *end = fast->free_ends;
    if (end) {
        fast->free_ends = end->next_free;
        return end;
    }
    end = g_new0(FastEnd, 1);
    end->sw = sw;
    event_init(&end->event, fast_end_on_event);
    g_ptr_array_add(fast->ends, end);
    return end;
}

static void fast_end_schedule(Switch *sw, guint32 index)
{
    const McRecord *record = &sw->record[index];
    FastEnd *end = fast_end_take(sw);
    end->record = index;
    end->event.order = sw->in[record->last_port]->arrival[VC_RSP].order;
    sim_at_key(sw->sim, &end->event, record->last_ps);
}

static void fast_count(Switch *sw, const Link *from, Packet packet, SimTime at_ps)
{
    guint32 index = packet.txn;
    McRecord *record = &sw->record[index];
    if (record->read && record->detailed)
        mcrequests_note_answer(sw->requests, index, packet.dst, at_ps);
    if (at_ps > record->last_ps || (at_ps == record->last_ps && from->sink_port > record->last_port)) {
        record->last_ps = at_ps;
        record->last_port = (guint16)from->sink_port;
    }
    if (--record->count == 0)
        fast_end_schedule(sw, index);
}

/* An answer that arrives by an event: the last one ends the request, unless one that was counted ahead comes later. */
static void fast_accept_counted(Switch *sw, Link *from, Packet packet, SimTime now_ps)
{
    const McRecord *record = &sw->record[packet.txn];
    link_credit(from, VC_RSP, packet.flits, now_ps);
    if (!reduction_count(sw, packet, now_ps))
        return;
    if (record->last_ps > now_ps || (record->last_ps == now_ps && record->last_port > from->sink_port))
        fast_end_schedule(sw, packet.txn);
    else
        reduction_end(sw, packet.txn, now_ps);
}

/* ---- the receiving end of the up link */

gboolean fast_switch_schedule(Link *up, Packet packet, SimTime at_ps)
{
    const SwitchPort *port = up->sink_node;
    Switch *sw = port->sw;
    Vc vc = packet_vc(&packet);
    if (link_flies(up, vc) || packet_is_multicast(packet))
        return FALSE;
    if (packet_is_counted(packet)) {
        if (sw->record[packet.txn].by_event)
            return FALSE;
        link_credit(up, VC_RSP, packet.flits, at_ps);
        fast_count(sw, up, packet, at_ps);
        return TRUE;
    }
    if (sw->unit) /* it wants to see each packet */
        return FALSE;
    if (vc == VC_CREQ && (port->wait.count || port->busy_until_ps > at_ps))
        return FALSE;
    g_assert(at_ps >= sim_now_ps(sw->sim));
    const guint32 out = switch_egress(port, &packet);
    g_assert(out != SWITCH_NO_ROUTE); /* routes change in the reference engine alone (Fabric.lossy) */
    FastPort *egress = fast_port(sw->out[out]);
    packet.held_input = (guint16)up->sink_port;
    arrival_queue_push(&egress->arrivals, (Arrival){at_ps, up->arrival[vc].order, packet});
    if (at_ps <= egress->next_ps)
        fast_port_note(egress);
    return TRUE;
}

/* A trunk's far end is a switch. */
static gboolean trunk_port_arrive(Link *trunk, Packet packet, SimTime at_ps)
{
    return fast_switch_schedule(trunk, packet, at_ps);
}

static const LinkOps fast_trunk_ops = {
    .push = fast_port_push,
    .advance = switch_port_advance,
    .arrive = trunk_port_arrive,
    .credit = link_credit_return,
    .release = multicast_queue_release,
    .follow_up = fast_port_follow_up,
    .timer = fast_port_timer,
};

static void switch_port_accept(void *node, Link *up, Packet packet, SimTime now_ps)
{
    Switch *sw = ((SwitchPort *)node)->sw;
    if (packet_is_counted(packet))
        fast_accept_counted(sw, up, packet, now_ps);
    else
        switch_accept(node, up, packet, now_ps);
}

void fast_switch_attach(Switch *sw, guint32 p)
{
    if (!sw->fast) {
        FastSwitch *fast = sw->fast = g_new0(FastSwitch, 1);
        fast->ends = g_ptr_array_new_with_free_func(g_free);
        fast->queues = g_ptr_array_new_with_free_func(multicast_queue_free);
        if (!sw->fabric->policies.first_member) /* a queue's replicas leave in the order of its members */
            sw->spread = multicast_queue_spread;
    }
    FastPort *port = g_new0(FastPort, 1);
    fast_port_init(port, sw->out[p]);
    port->refresh = switch_port_refresh;
    sw->out[p]->ops = sw->port[p].far ? &fast_trunk_ops : &fast_switch_ops;
    /* credits that a decision frees go to any of the links that come in, over the shortest of their flights */
    for (guint32 i = 0; i < sw->ports; i++)
        port->slack_ps = MIN(port->slack_ps, MAX(sw->in[i]->credit_delay_ps, 2));
    sw->in[p]->sink = switch_port_accept;
}

void fast_switch_detach(Switch *sw)
{
    FastSwitch *fast = sw->fast;
    if (!fast)
        return;
    g_ptr_array_free(fast->ends, TRUE);
    g_ptr_array_free(fast->queues, TRUE);
    g_free(fast);
    sw->fast = NULL;
}
