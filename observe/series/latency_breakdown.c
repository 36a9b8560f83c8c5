/* See latency_breakdown.h. */
#include "observe/series/latency_breakdown_parts.h"

#include <string.h>

/* Its time up to at_ps is of that reason. An arrival may be a picosecond before what the parts of a flight, each
 * rounded, add up to. */
static void chain_go(Chain *chain, SimTime at_ps, LatencyReason reason)
{
    if (at_ps >= chain->last_ps)
        chain->part_ps[reason] += at_ps - chain->last_ps;
    else
        chain->part_ps[LATENCY_FLIGHT] -= chain->last_ps - at_ps;
    chain->last_ps = at_ps;
}

/* ---- stretches */

static LatencyReason chain_before_queue(const Chain *chain, const Packet *packet)
{
    switch (chain->stage) {
    case AT_SM: return LATENCY_SM;
    case AT_MEMORY: return packet->kind == PACKET_ACK ? LATENCY_MERGING : LATENCY_MEMORY;
    case AT_RESULT: return packet->kind == PACKET_MC_DONE ? LATENCY_MERGING : LATENCY_REDUCTION;
    default: return packet_is_multicast(*packet) ? LATENCY_ROUNDS : LATENCY_PIPELINES;
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
    chain_go(chain, chain->last_ps + busy_ps, LATENCY_QUEUE);
    chain_go(chain, at_ps, LATENCY_CREDITS);
    chain_go(chain, at_ps + wire_ps(wire->link, packet), LATENCY_SERIAL);
    chain_go(chain, chain->last_ps + flight_ps, LATENCY_FLIGHT);
    chain_go(chain, chain->last_ps + memory_ps, LATENCY_MEMORY); /* L2 is a part of the answer's flight in the model */
    chain_go(chain, chain->last_ps + delay_ps - flight_ps - memory_ps, LATENCY_PIPELINES);
    chain->stage = AT_FLIGHT;
}

/* What the first of those that wait at its ingress lacks. */
static LatencyReason chain_held_for(const Chain *chain, const Packet *packet, SimTime now_ps)
{
    const SwitchPort *port = chain->link->sink_node;
    const Packet *first = port->wait.count ? packet_ring_nth(&port->wait, 0) : packet;
    if (port->busy_until_ps > now_ps || first->kind < PACKET_MC_WRITE)
        return LATENCY_ROUNDS;
    if ((first->kind == PACKET_MC_READ ? port->reduction_tags : port->multicast_tags) == 0)
        return LATENCY_TAGS;
    return first->kind == PACKET_MC_READ ? LATENCY_BUFFER : LATENCY_ROUNDS;
}

/* ---- events */

static void latency_breakdown_note_request(LatencyBreakdown *breakdown, const Packet *packet, SimTime at_ps)
{
    const Txn *txn = txn_at(&breakdown->fabric->txns[packet->src], packet->txn);
    if (breakdown->under_way++ == 0)
        breakdown->idle_ps += txn->start_ps > breakdown->idle_from_ps ? txn->start_ps - breakdown->idle_from_ps : 0;
    if (breakdown->seen++ >= LATENCY_REQUESTS_MAX)
        return;
    latency_breakdown_forget(breakdown, packet->src, packet->txn); /* one that was lost had the same number */
    Request *request = breakdown->free ? breakdown->free : g_new(Request, 1);
    breakdown->free = breakdown->free ? request->next_free : NULL;
    *request = (Request){0};
    request->start_ps = request->chain.last_ps = txn->start_ps;
    chain_go(&request->chain, at_ps, LATENCY_SM);
    GPtrArray *open = breakdown->open[packet->src];
    if (packet->txn >= open->len)
        g_ptr_array_set_size(open, (gint)packet->txn + 1);
    open->pdata[packet->txn] = request;
}

static void latency_breakdown_note_port(LatencyBreakdown *breakdown, ProbeStage stage, Chain *chain, const Wire *wire,
                                        const Packet *packet, SimTime at_ps)
{
    if (stage == PROBE_QUEUE)
        chain_join(chain, wire, packet, at_ps);
    else
        chain_leave(chain, breakdown->fabric, wire, packet, at_ps);
}

/* A packet joins a port's queue, or leaves it. */
static void latency_breakdown_note_link(LatencyBreakdown *breakdown, const ProbeEvent *event)
{
    const ProbeStage stage = event->stage;
    const Packet *packet = event->packet;
    const SimTime at_ps = event->at_ps;
    Wire *wire = &breakdown->wire[fabric_link_number(breakdown->fabric, event->link)];
    if (packet_is_counted(*packet) || packet_is_multicast(*packet)) {
        Chain *chain = latency_breakdown_find_on(breakdown, wire, packet);
        if (chain)
            latency_breakdown_note_port(breakdown, stage, chain, wire, packet, at_ps);
    } else {
        FOR_REQUESTS(breakdown, packet, request)
        latency_breakdown_note_port(breakdown, stage, &request->chain, wire, packet, at_ps);
    }
    if (stage == PROBE_WIRE) {
        wire->busy_ps += wire_ps(wire->link, packet);
        wire->packets++;
    }
}

/* An answer is counted; the last one's way is that of all. */
static void latency_breakdown_note_gathered(LatencyBreakdown *breakdown, ProbeStage stage, const Switch *sw,
                                            const Packet *packet, SimTime at_ps)
{
    Chain *member = latency_breakdown_find_replica(breakdown, sw, packet->txn, packet->dst);
    if (!member)
        return;
    chain_go(member, at_ps, LATENCY_FLIGHT);
    if (stage != PROBE_RESULT)
        return;
    Chain *chain = latency_breakdown_find_record(breakdown, sw, packet->txn);
    for (int r = 0; r < LATENCY_REASONS; r++)
        chain->part_ps[r] += member->part_ps[r];
    chain->last_ps = at_ps;
    chain->stage = AT_RESULT;
}

static void latency_breakdown_note_passing(ProbeStage stage, Chain *chain, const Switch *sw, const Packet *packet,
                                           SimTime at_ps)
{
    chain_go(chain, at_ps, chain->stage == AT_HELD ? chain->held : LATENCY_PIPELINES);
    chain->stage = stage == PROBE_HELD ? AT_HELD : AT_SWITCH;
    if (stage == PROBE_HELD)
        chain->held = chain_held_for(chain, packet, at_ps);
    if (stage == PROBE_TABLE)
        latency_breakdown_replicate(chain, sw, packet);
}

static void latency_breakdown_note_switch(LatencyBreakdown *breakdown, const ProbeEvent *event)
{
    const ProbeStage stage = event->stage;
    const Packet *packet = event->packet;
    const SimTime at_ps = event->at_ps;
    const Switch *sw = event->sw;
    if (packet_is_counted(*packet)) {
        latency_breakdown_note_gathered(breakdown, stage, sw, packet, at_ps);
    } else if (packet_is_multicast(*packet)) {
        Chain *chain = latency_breakdown_find_at(breakdown, stage, sw, packet, at_ps);
        breakdown->arrived = chain;
        if (chain)
            latency_breakdown_note_passing(stage, chain, sw, packet, at_ps);
    } else {
        FOR_REQUESTS(breakdown, packet, request)
        latency_breakdown_note_passing(stage, &request->chain, sw, packet, at_ps);
    }
}

static void latency_breakdown_note_served(LatencyBreakdown *breakdown, const Packet *packet, SimTime at_ps)
{
    Chain *chain = NULL;
    if (packet_is_multicast(*packet)) {
        /* by the links of the GPU alone it cannot be told from which switch it came: packet->link is the GPU's */
        const Gpu *gpu = &breakdown->fabric->gpu[packet->dst];
        chain = latency_breakdown_find_replica(breakdown, gpu->down[packet->link].source_node, packet->txn,
                                               packet->dst);
    } else {
        Request *request = latency_breakdown_find(breakdown, packet->src, packet->txn);
        chain = request ? &request->chain : NULL;
    }
    if (!chain)
        return;
    chain_go(chain, at_ps, LATENCY_ROOM);
    chain->stage = AT_MEMORY;
}

static void latency_breakdown_close(LatencyBreakdown *breakdown, guint32 gpu, guint32 txn, SimTime at_ps)
{
    Request *request = latency_breakdown_find(breakdown, gpu, txn);
    if (--breakdown->under_way == 0)
        breakdown->idle_from_ps = at_ps;
    if (!request)
        return;
    LatencySum *sum = &breakdown->sum[txn_at(&breakdown->fabric->txns[gpu], txn)->kind];
    chain_go(&request->chain, at_ps, LATENCY_PIPELINES);
    sum->requests++;
    sum->latency_ps += at_ps - request->start_ps;
    for (int r = 0; r < LATENCY_REASONS; r++)
        sum->part_ps[r] += request->chain.part_ps[r];
    breakdown->arrived = NULL;
    latency_breakdown_forget(breakdown, gpu, txn);
}

static void latency_breakdown_note_answer(LatencyBreakdown *breakdown, const Packet *packet, SimTime at_ps)
{
    const gboolean many = packet_answers_many(packet);
    const TxnPool *pool = &breakdown->fabric->txns[packet->src];
    for (guint32 txn = packet->txn; txn != TXN_NONE; txn = many ? *txn_next(pool, txn) : TXN_NONE)
        latency_breakdown_close(breakdown, packet->src, txn, at_ps);
}

void latency_breakdown_note(LatencyBreakdown *breakdown, const ProbeEvent *event)
{
    switch (event->stage) {
    case PROBE_REQUEST: latency_breakdown_note_request(breakdown, event->packet, event->at_ps); break;
    case PROBE_QUEUE:
    case PROBE_WIRE: latency_breakdown_note_link(breakdown, event); break;
    case PROBE_INGRESS:
    case PROBE_HELD:
    case PROBE_ROUTE:
    case PROBE_TABLE:
    case PROBE_GATHER:
    case PROBE_RESULT: latency_breakdown_note_switch(breakdown, event); break;
    case PROBE_SERVE: latency_breakdown_note_served(breakdown, event->packet, event->at_ps); break;
    case PROBE_ANSWER: latency_breakdown_note_answer(breakdown, event->packet, event->at_ps); break;
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

LatencyBreakdown *latency_breakdown_new(Fabric *fabric)
{
    g_assert(sim_engine(fabric->sim) == SIM_ENGINE_REFERENCE);
    LatencyBreakdown *breakdown = g_new0(LatencyBreakdown, 1);
    breakdown->fabric = fabric;
    breakdown->wire = g_new0(Wire, fabric_n_links(fabric));
    breakdown->n_gpus = (guint32)fabric->spec.system.gpus;
    breakdown->open = g_new(GPtrArray *, breakdown->n_gpus);
    breakdown->begin_ps = breakdown->idle_from_ps = sim_now_ps(fabric->sim);
    for (guint32 g = 0; g < breakdown->n_gpus; g++)
        breakdown->open[g] = g_ptr_array_new();
    for (guint32 n = 0; n < fabric_n_links(fabric); n++)
        if (fabric_link_at(fabric, n)->sink_node) /* a GPU may have fewer links than others */
            wire_init(&breakdown->wire[n], fabric, fabric_link_at(fabric, n));
    return breakdown;
}

void latency_breakdown_end(LatencyBreakdown *breakdown)
{
    breakdown->end_ps = sim_now_ps(breakdown->fabric->sim);
    if (breakdown->under_way == 0)
        breakdown->idle_ps += breakdown->end_ps - MIN(breakdown->end_ps, breakdown->idle_from_ps);
}

void latency_breakdown_free(LatencyBreakdown *breakdown)
{
    if (!breakdown)
        return;
    for (guint32 g = 0; g < breakdown->n_gpus; g++) {
        for (guint32 t = 0; t < breakdown->open[g]->len; t++)
            latency_breakdown_forget(breakdown, g, t);
        g_ptr_array_free(breakdown->open[g], TRUE);
    }
    for (Request *request = breakdown->free, *next; request; request = next) {
        next = request->next_free;
        g_free(request);
    }
    g_free(breakdown->open);
    g_free(breakdown->wire);
    g_free(breakdown);
}

const LatencySum *latency_breakdown_sum(const LatencyBreakdown *breakdown, PacketKind kind)
{
    return &breakdown->sum[kind];
}

/* How long the run was, for how long of it no request was under way, and how many requests there were. */
static SimTime latency_breakdown_time_ps(const LatencyBreakdown *breakdown, SimTime *idle_ps, guint64 *seen)
{
    *idle_ps = breakdown->idle_ps;
    *seen = breakdown->seen;
    return breakdown->end_ps - breakdown->begin_ps;
}

LatencyTotal latency_breakdown_total(const LatencyBreakdown *breakdown)
{
    LatencyTotal total = {0};
    memcpy(total.sum, breakdown->sum, sizeof total.sum);
    total.time_ps = latency_breakdown_time_ps(breakdown, &total.idle_ps, &total.seen);
    return total;
}

void latency_breakdown_total_add(LatencyTotal *into, const LatencyTotal *from)
{
    into->time_ps += from->time_ps;
    into->idle_ps += from->idle_ps;
    into->seen += from->seen;
    for (int k = 0; k <= PACKET_MC_READ; k++) {
        into->sum[k].requests += from->sum[k].requests;
        into->sum[k].latency_ps += from->sum[k].latency_ps;
        for (int r = 0; r < LATENCY_REASONS; r++)
            into->sum[k].part_ps[r] += from->sum[k].part_ps[r];
    }
}
