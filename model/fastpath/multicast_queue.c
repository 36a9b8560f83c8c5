#include "model/fastpath/multicast_queue.h"

#include "model/fastpath/fastpath.h"

static Link *multicast_queue_link(const McQueue *queue, guint32 m)
{
    return queue->sw->out[switch_port_of(queue->sw, queue->member[m], queue->rail)];
}

/* ---- who follows it */

static void multicast_queue_on_advance(Event *event, SimTime now_ps)
{
    McQueue *queue = EVENT_OWNER(event, McQueue, advance);
    for (guint32 m = 0; m < queue->n_members; m++) {
        Link *link = multicast_queue_link(queue, m);
        link_advance(link, now_ps);
        link->ops->follow_up(link);
    }
}

static void multicast_queue_leave(McQueue *queue)
{
    for (guint32 m = 0; m < queue->n_members; m++)
        fast_port(multicast_queue_link(queue, m))->replicas = NULL;
    queue->follows = FALSE;
}

/* All ports of the team follow the queue from now on, unless one of them follows another one in which replicas wait. */
static void multicast_queue_follow(McQueue *queue)
{
    for (guint32 m = 0; m < queue->n_members; m++) {
        const McQueue *other = fast_port(multicast_queue_link(queue, m))->replicas;
        if (other && other->ring.count)
            return;
    }
    for (guint32 m = 0; m < queue->n_members; m++) {
        Link *link = multicast_queue_link(queue, m);
        FastPort *port = fast_port(link);
        if (port->replicas)
            multicast_queue_leave(port->replicas);
        port->replicas = queue;
        port->joined = port->sent = queue->end;
        port->member = m;
        link->ops->follow_up(link);
    }
    queue->follows = TRUE;
}

static McQueue *multicast_queue_new(Switch *sw, const McEntry *entry, guint32 rail)
{
    McQueue *queue = g_new0(McQueue, 1);
    queue->sw = sw;
    queue->rail = rail;
    queue->n_members = entry->n_members;
    queue->member = entry->member;
    event_init(&queue->advance, multicast_queue_on_advance);
    return queue;
}

/* The queue of a team at the ports of link number rail. */
static McQueue *multicast_queue_of(Switch *sw, const McEntry *entry, guint32 rail)
{
    GPtrArray *queues = ((FastSwitch *)sw->fast)->queues;
    guint32 index = entry->team * sw->links + rail;
    if (index >= queues->len)
        g_ptr_array_set_size(queues, (gint)((entry->team + 1) * sw->links));
    if (!queues->pdata[index])
        queues->pdata[index] = multicast_queue_new(sw, entry, rail);
    return queues->pdata[index];
}

void multicast_queue_free(gpointer of)
{
    McQueue *queue = of;
    if (queue)
        mc_arrival_clear(&queue->ring);
    g_free(queue);
}

/* ---- a replication */

void multicast_queue_spread(Switch *sw, guint32 p, Packet replica, const McEntry *entry, SimTime now_ps)
{
    McQueue *queue = multicast_queue_of(sw, entry, switch_take_rail(&sw->port[p], &replica));
    if (!queue->follows)
        multicast_queue_follow(queue);
    if (!queue->follows) {
        switch_spread(sw, p, replica, entry, now_ps);
        return;
    }
    replica.held_input = HELD_INPUT_SHARED;
    *mc_arrival_push(&queue->ring) = (McArrival){.at_ps = now_ps,
                                                 .order = sim_order(sw->sim, now_ps),
                                                 .left_ps = SIMTIME_NEVER,
                                                 .replica = replica,
                                                 .round_ps = (guint32)switch_round_ps(sw, replica),
                                                 .port = (guint16)p,
                                                 .members = (guint16)entry->n_members,
                                                 .unsent = (guint16)entry->n_members};
    queue->end++;
    if (!event_is_pending(&queue->advance)) {
        SimTime slack_ps = fast_port(multicast_queue_link(queue, 0))->slack_ps;
        sim_at(sw->sim, &queue->advance, now_ps + slack_ps - 1, EVENT_PRIORITY_FABRIC);
    }
}

/* All ports have taken it in. The holder frees the ingress buffer when it leaves, or has left already; if none waits,
 * it is free when the last round is over. */
static void multicast_queue_settle_holder(const McQueue *queue, const McArrival *arrival)
{
    const Switch *sw = queue->sw;
    SimTime freed_ps = arrival->left_ps;
    if (arrival->longest == 0)
        freed_ps = arrival->at_ps + queue->n_members / sw->table.spec->round_directives * arrival->round_ps;
    if (freed_ps != SIMTIME_NEVER)
        link_credit(sw->in[arrival->port], VC_CREQ, arrival->replica.flits, freed_ps);
}

static void multicast_queue_drop_done(McQueue *queue)
{
    for (; queue->ring.count; queue->first++) {
        const McArrival *arrival = mc_arrival_peek(&queue->ring);
        if (arrival->members || arrival->unsent)
            break;
        mc_arrival_drop(&queue->ring);
    }
}

void multicast_queue_join(FastPort *port)
{
    McQueue *queue = port->replicas;
    McArrival *arrival = multicast_queue_next(port);
    Packet replica = arrival->replica;
    guint32 round = port->member / (guint32)queue->sw->table.spec->round_directives;
    replica.dst = queue->sw->spine ? replica.dst : queue->member[port->member];
    port->joined++;
    link_join(port->link, replica, arrival->at_ps, simfine_from_ps(arrival->at_ps + round * arrival->round_ps));
    guint32 length = port->link->queue[VC_CREQ].count;
    if (length > arrival->longest || (length && length == arrival->longest && port->member > arrival->holder)) {
        arrival->longest = length;
        arrival->holder = (guint16)port->member;
        arrival->left_ps = SIMTIME_NEVER;
    }
    if (--arrival->members == 0) {
        multicast_queue_settle_holder(queue, arrival);
        multicast_queue_drop_done(queue);
    }
}

void multicast_queue_release(Link *link, Packet packet, SimTime start_ps)
{
    FastPort *port = fast_port(link);
    McQueue *queue = port->replicas;
    McArrival *arrival = mc_arrival_nth(&queue->ring, port->sent++ - queue->first);
    (void)packet;
    if (arrival->longest && arrival->holder == port->member) {
        arrival->left_ps = start_ps;
        if (arrival->members == 0)
            multicast_queue_settle_holder(queue, arrival);
    }
    if (--arrival->unsent == 0)
        multicast_queue_drop_done(queue);
}
