#include "model/switch/reduction.h"

/* ---- multicast: tags, rounds */

/* Takes the tag (and buffer) a request needs at its requester's port; FALSE: it must wait. */
static gboolean switch_reserve(Switch *sw, SwitchPort *port, Packet packet, const McEntry *entry)
{
    if (packet.kind != PACKET_MC_READ) {
        if (port->multicast_tags == 0) {
            port->stalls_tag++;
            return FALSE;
        }
        port->multicast_tags--;
        return TRUE;
    }
    guint64 need = record_buffer_bytes(sw, entry->n_members);
    if (port->reduction_tags == 0 || port->reduction_bytes < need) {
        *(port->reduction_tags == 0 ? &port->stalls_tag : &port->stalls_buffer) += 1;
        return FALSE;
    }
    port->reduction_tags--;
    port->reduction_bytes -= need;
    port->reduction_peak_bytes = MAX(port->reduction_peak_bytes,
                                     sw->spec->reduction_buffer_bytes - port->reduction_bytes);
    return TRUE;
}

SimTime switch_round_ps(const Switch *sw, Packet packet)
{
    guint64 bytes = packet.flits * FLIT_BYTES;
    return (bytes + sw->spec->crossbar_bytes - 1) / sw->spec->crossbar_bytes * sw->spec->cycle_ps;
}

/* The replica with the most packets before it is taken to be the last one to leave: it holds the request's place in the
 * ingress buffer. */
void switch_spread(Switch *sw, guint32 p, Packet replica, const McEntry *entry, SimTime now_ps)
{
    const guint32 per_round = (guint32)sw->table.spec->round_directives;
    const SimTime round_ps = switch_round_ps(sw, replica);
    const guint32 rail = switch_take_rail(&sw->port[p], &replica);
    PacketRing *longest = NULL;
    const guint32 first = policies_first_member(&sw->fabric->policies, p, entry->n_members, sw->multicast_requests);
    for (guint32 m = 0; m < entry->n_members; m++) {
        const guint16 member = entry->member[(first + m) % entry->n_members];
        const guint32 egress = switch_port_of(sw, member, rail);
        if (G_UNLIKELY(egress == SWITCH_NO_ROUTE)) { /* as in switch_pass() */
            reduction_lose(sw, replica.txn, now_ps);
            continue;
        }
        Link *out = sw->out[egress];
        PacketRing *queue = &out->queue[VC_CREQ];
        replica.dst = sw->spine ? replica.dst : member; /* a leaf needs the multicast ID */
        link_push(out, replica, now_ps + m / per_round * round_ps);
        if (queue->count && (!longest || queue->count >= longest->count))
            longest = queue;
    }
    if (longest)
        packet_ring_last(longest)->held_input = (guint16)p;
    else /* all are on the wires */
        link_credit(sw->in[p], VC_CREQ, replica.flits, now_ps + entry->n_members / per_round * round_ps);
}

/* Replicates one request to the ports of its spray group, round after round. */
static void switch_replicate(Switch *sw, guint32 p, Packet packet, const McEntry *entry, SimTime now_ps)
{
    Packet replica = record_open(sw, p, packet, entry);
    PROBE_POINT(sw->fabric, PROBE_TABLE, sw, &packet, now_ps);
    sw->multicast_requests++;
    sw->replicated += entry->n_members;
    sw->spread(sw, p, replica, entry, now_ps);
    sw->port[p].busy_until_ps = now_ps + entry->rounds * switch_round_ps(sw, replica);
}

/* ---- where faults in time have lost something (Fabric.lossy) */

/* A packet gets no further: routes have changed while it was on its way. */
static void switch_lose(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    Link *from = sw->in[p];
    g_assert(sw->fabric->lossy); /* or there is a route to every GPU */
    link_credit(from, packet_vc(&packet), packet.flits, now_ps);
    from->lose(from, packet, now_ps);
}

/* INVALID_MCRID_ERR: the team has lost its entry while the request was on its way. */
static void switch_refuse(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    sw->invalid_mcid++;
    if (!sw->port[p].far || sw->spine) /* and not a replica */
        txn_at(&sw->fabric->txns[packet.src], packet.txn)->state = TXN_NO_ENTRY;
    switch_lose(sw, p, packet, now_ps);
}

/* ---- unicast, and the order of requests */

/* A packet joins the queue of one egress port. */
static void switch_pass(Switch *sw, guint32 p, Packet packet, guint32 egress, SimTime now_ps)
{
    if (G_UNLIKELY(egress == SWITCH_NO_ROUTE)) {
        switch_lose(sw, p, packet, now_ps);
        return;
    }
    PROBE_POINT(sw->fabric, PROBE_ROUTE, sw, &packet, now_ps);
    packet.held_input = (guint16)p;
    link_push(sw->out[egress], packet, now_ps);
}

void switch_route(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    const guint32 egress = switch_egress(&sw->port[p], &packet);
    switch_pass(sw, p, packet, egress, now_ps);
}

/* One request at the head of an ingress; FALSE: it must wait (and `wake_ps` says when, if time helps). */
static gboolean switch_serve(Switch *sw, guint32 p, Packet packet, SimTime now_ps, SimTime *wake_ps)
{
    SwitchPort *port = &sw->port[p];
    if (port->busy_until_ps > now_ps) {
        port->stalls_rounds++;
        *wake_ps = port->busy_until_ps;
        return FALSE;
    }
    if (packet.kind < PACKET_MC_WRITE) {
        if (!sw->unit || !sw->unit->request(sw, p, packet, now_ps))
            switch_route(sw, p, packet, now_ps);
        return TRUE;
    }
    const McEntry *entry = &sw->table.entry[packet.dst]; /* multicast requests carry their MCID as destination */
    if (!entry->valid) {
        switch_refuse(sw, p, packet, now_ps);
        return TRUE;
    }
    if (entry->up && !port->far && entry->up[port->rail] != SWITCH_NO_ROUTE) { /* its tree has its root in a spine */
        const guint32 rail = switch_take_rail(port, &packet);
        switch_pass(sw, p, packet, entry->up[rail], now_ps);
        return TRUE;
    }
    if (!switch_reserve(sw, port, packet, entry))
        return FALSE; /* it goes on when a tag comes back */
    switch_replicate(sw, p, packet, entry, now_ps);
    return TRUE;
}

void switch_advance(SwitchPort *port, SimTime now_ps)
{
    while (port->wait.count) {
        SimTime wake_ps = SIMTIME_NEVER;
        if (!switch_serve(port->sw, port->number, *packet_ring_peek(&port->wait), now_ps, &wake_ps)) {
            if (wake_ps != SIMTIME_NEVER && !event_is_pending(&port->advance))
                sim_at(port->sw->sim, &port->advance, wake_ps, EVENT_PRIORITY_FABRIC);
            return;
        }
        packet_ring_drop(&port->wait);
    }
}

void switch_on_advance(Event *event, SimTime now_ps)
{
    switch_advance(EVENT_OWNER(event, SwitchPort, advance), now_ps);
}

static void switch_accept_request(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    SwitchPort *port = &sw->port[p];
    SimTime wake_ps = SIMTIME_NEVER;
    if (port->wait.count == 0 && switch_serve(sw, p, packet, now_ps, &wake_ps))
        return;
    PROBE_POINT(sw->fabric, PROBE_HELD, sw, &packet, now_ps);
    *packet_ring_push(&port->wait) = packet;
    if (wake_ps != SIMTIME_NEVER && !event_is_pending(&port->advance))
        sim_at(sw->sim, &port->advance, wake_ps, EVENT_PRIORITY_FABRIC);
}

void switch_accept(void *node, Link *from, Packet packet, SimTime now_ps)
{
    Switch *sw = ((SwitchPort *)node)->sw;
    PROBE_POINT(sw->fabric, PROBE_INGRESS, sw, &packet, now_ps);
    if (packet_vc(&packet) == VC_CREQ) {
        switch_accept_request(sw, from->sink_port, packet, now_ps);
    } else if (packet_is_counted(packet)) {
        link_credit(from, VC_RSP, packet.flits, now_ps); /* the answer goes into the store of its tag */
        if (reduction_count(sw, packet, now_ps))
            reduction_end(sw, packet.txn, now_ps);
    } else if (!sw->unit || !sw->unit->answer(sw, from->sink_port, packet, now_ps)) {
        switch_route(sw, from->sink_port, packet, now_ps);
    }
}

/* Merged acknowledgements have waited long enough for others. */
static gboolean switch_on_timer(void *node, Link *out, Packet timer, SimTime now_ps, Packet *answer)
{
    Switch *sw = node;
    return ack_expire(&sw->port[out->source_port].done, timer, now_ps, answer);
}

void switch_take(Switch *sw, Link *from, guint32 port)
{
    sw->in[port] = from;
    link_set_sink(from, switch_accept, &sw->port[port], port);
}

void switch_send(Switch *sw, Link *to, guint32 port)
{
    sw->out[port] = to;
    to->source_node = sw;
    to->source_port = port;
    to->ingress = sw->in;
    to->expire = switch_on_timer;
}
