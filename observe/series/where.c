/* See where.h. */
#include "observe/series/where_parts.h"

#include <string.h>

/* Its time up to at_ps is of that reason. An arrival may be a picosecond before what the parts of a flight, each
 * rounded, add up to. */
static void chain_go(Chain *chain, SimTime at_ps, WhereReason reason)
{
    if (at_ps >= chain->last_ps)
        chain->part_ps[reason] += at_ps - chain->last_ps;
    else
        chain->part_ps[WHERE_FLIGHT] -= chain->last_ps - at_ps;
    chain->last_ps = at_ps;
}

/* ---- stretches */

static WhereReason chain_before_queue(const Chain *chain, const Packet *packet)
{
    switch (chain->stage) {
    case AT_SM: return WHERE_SM;
    case AT_MEMORY: return packet->kind == PACKET_ACK ? WHERE_MERGING : WHERE_MEMORY;
    case AT_RESULT: return packet->kind == PACKET_MC_DONE ? WHERE_MERGING : WHERE_REDUCTION;
    default: return packet_is_multicast(*packet) ? WHERE_ROUNDS : WHERE_PIPELINES;
    }
}

static void chain_join(Chain *chain, const Wire *wire, const Packet *packet, SimTime from_ps)
{
    const SimTime free_ps = simfine_to_ps(wire->link->free_at);
    chain_go(chain, MAX(from_ps, chain->last_ps), chain_before_queue(chain, packet));
    chain->busy_ps = wire->busy_ps - (free_ps > chain->last_ps ? free_ps - chain->last_ps : 0);
    chain->packets = wire->packets - (free_ps > chain->last_ps);
    chain->link = wire->link;
    chain->stage = AT_QUEUE;
}

static SimTime wire_ps(const Link *link, const Packet *packet)
{
    return simfine_to_ps(packet->flits * link->flit_time);
}

static void chain_leave(Chain *chain, const Fabric *fabric, const Wire *wire, const Packet *packet, SimTime at_ps)
{
    const SimTime wait_ps = at_ps - MIN(at_ps, chain->last_ps), delay_ps = wire->link->delay_ps[packet_vc(packet)];
    const SimTime busy_ps = MIN(wait_ps, wire->busy_ps - MIN(wire->busy_ps, chain->busy_ps));
    const SimTime flight_ps = MIN(wire->flight_ps, delay_ps), stages_ps = flight_ps + fabric->spec.sw.latency_ps;
    const SimTime memory_ps = wire->from_gpu && packet_vc(packet) == VC_RSP ? delay_ps - stages_ps : 0;
    chain_go(chain, chain->last_ps + busy_ps, WHERE_QUEUE);
    chain_go(chain, at_ps, WHERE_CREDITS);
    chain_go(chain, at_ps + wire_ps(wire->link, packet), WHERE_SERIAL);
    chain_go(chain, chain->last_ps + flight_ps, WHERE_FLIGHT);
    chain_go(chain, chain->last_ps + memory_ps, WHERE_MEMORY); /* L2 is a part of the answer's flight in the model */
    chain_go(chain, chain->last_ps + delay_ps - flight_ps - memory_ps, WHERE_PIPELINES);
    chain->stage = AT_FLIGHT;
}

/* What the first of those that wait at its ingress lacks. */
static WhereReason chain_held_for(const Chain *chain, const Packet *packet, SimTime now_ps)
{
    const SwitchPort *port = chain->link->sink_node;
    const Packet *first = port->wait.count ? packet_ring_nth(&port->wait, 0) : packet;
    if (port->busy_until_ps > now_ps || first->kind < PACKET_MC_WRITE)
        return WHERE_ROUNDS;
    if ((first->kind == PACKET_MC_READ ? port->reduction_tags : port->multicast_tags) == 0)
        return WHERE_TAGS;
    return first->kind == PACKET_MC_READ ? WHERE_BUFFER : WHERE_ROUNDS;
}

/* ---- events */

static void where_note_request(Where *where, const Packet *packet, SimTime at_ps)
{
    const Txn *txn = txn_at(&where->fabric->txns[packet->src], packet->txn);
    if (where->under_way++ == 0)
        where->idle_ps += txn->start_ps > where->idle_from_ps ? txn->start_ps - where->idle_from_ps : 0;
    if (where->seen++ >= WHERE_REQUESTS_MAX)
        return;
    where_forget(where, packet->src, packet->txn); /* one that was lost had the same number */
    Request *request = where->free ? where->free : g_new(Request, 1);
    where->free = where->free ? request->next_free : NULL;
    *request = (Request){0};
    request->start_ps = request->chain.last_ps = txn->start_ps;
    chain_go(&request->chain, at_ps, WHERE_SM);
    GPtrArray *open = where->open[packet->src];
    if (packet->txn >= open->len)
        g_ptr_array_set_size(open, (gint)packet->txn + 1);
    open->pdata[packet->txn] = request;
}

static void where_note_port(Where *where, ProbeStage stage, Chain *chain, const Wire *wire, const Packet *packet,
                            SimTime at_ps)
{
    if (stage == PROBE_QUEUE)
        chain_join(chain, wire, packet, at_ps);
    else
        chain_leave(chain, where->fabric, wire, packet, at_ps);
}

/* A packet joins a port's queue, or leaves it. */
static void where_note_link(Where *where, const ProbeEvent *event)
{
    const ProbeStage stage = event->stage;
    const Packet *packet = event->packet;
    const SimTime at_ps = event->at_ps;
    Wire *wire = &where->wire[fabric_link_number(where->fabric, event->link)];
    if (packet_is_counted(*packet) || packet_is_multicast(*packet)) {
        Chain *chain = where_find_on(where, wire, packet);
        if (chain)
            where_note_port(where, stage, chain, wire, packet, at_ps);
    } else {
        FOR_REQUESTS(where, packet, request)
        where_note_port(where, stage, &request->chain, wire, packet, at_ps);
    }
    if (stage == PROBE_WIRE) {
        wire->busy_ps += wire_ps(wire->link, packet);
        wire->packets++;
    }
}

/* An answer is counted; the last one's way is that of all. */
static void where_note_gathered(Where *where, ProbeStage stage, const Switch *sw, const Packet *packet, SimTime at_ps)
{
    Chain *member = where_find_replica(where, sw, packet->txn, packet->dst);
    if (!member)
        return;
    chain_go(member, at_ps, WHERE_FLIGHT);
    if (stage != PROBE_RESULT)
        return;
    Chain *chain = where_find_record(where, sw, packet->txn);
    for (int r = 0; r < WHERE_REASONS; r++)
        chain->part_ps[r] += member->part_ps[r];
    chain->last_ps = at_ps;
    chain->stage = AT_RESULT;
}

static void where_note_passing(ProbeStage stage, Chain *chain, const Switch *sw, const Packet *packet, SimTime at_ps)
{
    chain_go(chain, at_ps, chain->stage == AT_HELD ? chain->held : WHERE_PIPELINES);
    chain->stage = stage == PROBE_HELD ? AT_HELD : AT_SWITCH;
    if (stage == PROBE_HELD)
        chain->held = chain_held_for(chain, packet, at_ps);
    if (stage == PROBE_TABLE)
        where_replicate(chain, sw, packet);
}

static void where_note_switch(Where *where, const ProbeEvent *event)
{
    const ProbeStage stage = event->stage;
    const Packet *packet = event->packet;
    const SimTime at_ps = event->at_ps;
    const Switch *sw = event->sw;
    if (packet_is_counted(*packet)) {
        where_note_gathered(where, stage, sw, packet, at_ps);
    } else if (packet_is_multicast(*packet)) {
        Chain *chain = where_find_at(where, stage, sw, packet, at_ps);
        where->arrived = chain;
        if (chain)
            where_note_passing(stage, chain, sw, packet, at_ps);
    } else {
        FOR_REQUESTS(where, packet, request)
        where_note_passing(stage, &request->chain, sw, packet, at_ps);
    }
}

static void where_note_served(Where *where, const Packet *packet, SimTime at_ps)
{
    Chain *chain = NULL;
    if (packet_is_multicast(*packet)) {
        /* by the links of the GPU alone it cannot be told from which switch it came: packet->link is the GPU's */
        const Gpu *gpu = &where->fabric->gpu[packet->dst];
        chain = where_find_replica(where, gpu->down[packet->link].source_node, packet->txn, packet->dst);
    } else {
        Request *request = where_find(where, packet->src, packet->txn);
        chain = request ? &request->chain : NULL;
    }
    if (!chain)
        return;
    chain_go(chain, at_ps, WHERE_ROOM);
    chain->stage = AT_MEMORY;
}

static void where_close(Where *where, guint32 gpu, guint32 txn, SimTime at_ps)
{
    Request *request = where_find(where, gpu, txn);
    if (--where->under_way == 0)
        where->idle_from_ps = at_ps;
    if (!request)
        return;
    WhereSum *sum = &where->sum[txn_at(&where->fabric->txns[gpu], txn)->kind];
    chain_go(&request->chain, at_ps, WHERE_PIPELINES);
    sum->requests++;
    sum->latency_ps += at_ps - request->start_ps;
    for (int r = 0; r < WHERE_REASONS; r++)
        sum->part_ps[r] += request->chain.part_ps[r];
    where->arrived = NULL;
    where_forget(where, gpu, txn);
}

static void where_note_answer(Where *where, const Packet *packet, SimTime at_ps)
{
    const gboolean many = packet_answers_many(packet);
    const TxnPool *pool = &where->fabric->txns[packet->src];
    for (guint32 txn = packet->txn; txn != TXN_NONE; txn = many ? *txn_next(pool, txn) : TXN_NONE)
        where_close(where, packet->src, txn, at_ps);
}

void where_note(Where *where, const ProbeEvent *event)
{
    switch (event->stage) {
    case PROBE_REQUEST: where_note_request(where, event->packet, event->at_ps); break;
    case PROBE_QUEUE:
    case PROBE_WIRE: where_note_link(where, event); break;
    case PROBE_INGRESS:
    case PROBE_HELD:
    case PROBE_ROUTE:
    case PROBE_TABLE:
    case PROBE_GATHER:
    case PROBE_RESULT: where_note_switch(where, event); break;
    case PROBE_SERVE: where_note_served(where, event->packet, event->at_ps); break;
    case PROBE_ANSWER: where_note_answer(where, event->packet, event->at_ps); break;
    default: break;
    }
}

/* ---- life */

static void wire_init(Wire *wire, const Fabric *fabric, const Link *link)
{
    const gboolean up = g_str_has_suffix(link->path, ".up"), gpu = g_str_has_prefix(link->path, "gpu");
    wire->link = link;
    wire->sw = up ? ((const SwitchPort *)link->sink_node)->sw : link->source_node;
    wire->from_gpu = gpu && up;
    wire->from_sw = !up;
    wire->flight_ps = gpu ? fabric->spec.link.flight_ps : fabric->spec.topology.trunk_flight_ps;
}

Where *where_new(Fabric *fabric)
{
    g_assert(sim_engine(fabric->sim) == SIM_ENGINE_REFERENCE);
    Where *where = g_new0(Where, 1);
    where->fabric = fabric;
    where->wire = g_new0(Wire, fabric_n_links(fabric));
    where->n_gpus = (guint32)fabric->spec.system.gpus;
    where->open = g_new(GPtrArray *, where->n_gpus);
    where->begin_ps = where->idle_from_ps = sim_now_ps(fabric->sim);
    for (guint32 g = 0; g < where->n_gpus; g++)
        where->open[g] = g_ptr_array_new();
    for (guint32 n = 0; n < fabric_n_links(fabric); n++)
        if (fabric_link_at(fabric, n)->sink_node) /* a GPU may have fewer links than others */
            wire_init(&where->wire[n], fabric, fabric_link_at(fabric, n));
    return where;
}

void where_end(Where *where)
{
    where->end_ps = sim_now_ps(where->fabric->sim);
    if (where->under_way == 0)
        where->idle_ps += where->end_ps - MIN(where->end_ps, where->idle_from_ps);
}

void where_free(Where *where)
{
    if (!where)
        return;
    for (guint32 g = 0; g < where->n_gpus; g++) {
        for (guint32 t = 0; t < where->open[g]->len; t++)
            where_forget(where, g, t);
        g_ptr_array_free(where->open[g], TRUE);
    }
    for (Request *request = where->free, *next; request; request = next) {
        next = request->next_free;
        g_free(request);
    }
    g_free(where->open);
    g_free(where->wire);
    g_free(where);
}

const WhereSum *where_sum(const Where *where, PacketKind kind) { return &where->sum[kind]; }

/* How long the run was, for how long of it no request was under way, and how many requests there were. */
static SimTime where_time_ps(const Where *where, SimTime *idle_ps, guint64 *seen)
{
    *idle_ps = where->idle_ps;
    *seen = where->seen;
    return where->end_ps - where->begin_ps;
}

WhereTotal where_total(const Where *where)
{
    WhereTotal total = {0};
    memcpy(total.sum, where->sum, sizeof total.sum);
    total.time_ps = where_time_ps(where, &total.idle_ps, &total.seen);
    return total;
}

void where_total_add(WhereTotal *into, const WhereTotal *from)
{
    into->time_ps += from->time_ps;
    into->idle_ps += from->idle_ps;
    into->seen += from->seen;
    for (int k = 0; k <= PACKET_MC_READ; k++) {
        into->sum[k].requests += from->sum[k].requests;
        into->sum[k].latency_ps += from->sum[k].latency_ps;
        for (int r = 0; r < WHERE_REASONS; r++)
            into->sum[k].part_ps[r] += from->sum[k].part_ps[r];
    }
}
