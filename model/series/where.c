/* See where.h. */
#include "model/series/where.h"

typedef enum { AT_SM, AT_QUEUE, AT_FLIGHT, AT_SWITCH, AT_HELD, AT_MEMORY, AT_RESULT } ChainStage;

/* A packet's way so far: all of its time up to last_ps has a reason. */
typedef struct {
    SimTime last_ps, part_ps[WHERE_REASONS];
    guint64 busy_ps;      /* of the port whose queue it is in: how long its wire had been busy when it joined */
    ChainStage stage;
    WhereReason held;     /* AT_HELD: for what */
    const Link *link;     /* the last that it joined */
} Chain;

typedef struct {
    Chain chain;
    SimTime start_ps;
    guint16 last;         /* the member that answered last */
    Chain *member;        /* by GPU; NULL before it is replicated */
} Request;

typedef struct {
    const Link *link;
    guint64 busy_ps;      /* serialization that has begun so far */
} Wire;

struct Where {
    Fabric *fabric;
    GHashTable *wires;    /* Wire by its path's address */
    GHashTable *switches; /* Switch by its path's address */
    GHashTable *open;     /* Request by GPU and transaction */
    guint64 seen;
    guint64 under_way;    /* requests, all of them */
    SimTime begin_ps, idle_from_ps, idle_ps, end_ps;
    WhereSum sum[PACKET_MC_READ + 1];
};

static gpointer where_key(guint32 gpu, guint32 txn) { return GSIZE_TO_POINTER((gsize)gpu << 32 | txn); }

static void request_free(gpointer data)
{
    Request *request = data;
    g_free(request->member);
    g_free(request);
}

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

/* ---- which request an event is of */

static Request *where_find(const Where *where, guint32 gpu, guint32 txn)
{
    return g_hash_table_lookup(where->open, where_key(gpu, txn));
}

/* Of a replica or its answer, at a switch or on a link from or to it. */
static Request *where_find_replica(const Where *where, const Switch *sw, const Packet *packet)
{
    const McRecord *record = &sw->record[packet->txn];
    return where_find(where, record->src, record->txn);
}

static gboolean packet_answers_many(const Packet *packet)
{
    return packet->kind == PACKET_ACK || packet->kind == PACKET_MC_DONE;
}

static const Switch *link_switch(const Link *link)
{
    return g_str_has_suffix(link->path, ".up") ? ((const SwitchPort *)link->sink_node)->sw : link->source_node;
}

/* ---- stretches */

static WhereReason chain_before_queue(const Chain *chain, const Packet *packet)
{
    switch (chain->stage) {
    case AT_SM:
        return WHERE_SM;
    case AT_MEMORY:
        return packet->kind == PACKET_ACK ? WHERE_MERGING : WHERE_MEMORY;
    case AT_RESULT:
        return packet->kind == PACKET_MC_DONE ? WHERE_MERGING : WHERE_REDUCTION;
    default:
        return packet_is_multicast(*packet) ? WHERE_ROUNDS : WHERE_PIPELINES;
    }
}

static void chain_join(Chain *chain, const Wire *wire, const Packet *packet, SimTime from_ps)
{
    const SimTime free_ps = simfine_to_ps(wire->link->free_at);
    chain_go(chain, MAX(from_ps, chain->last_ps), chain_before_queue(chain, packet));
    chain->busy_ps = wire->busy_ps - (free_ps > chain->last_ps ? free_ps - chain->last_ps : 0);
    chain->link = wire->link;
    chain->stage = AT_QUEUE;
}

static SimTime wire_ps(const Link *link, const Packet *packet)
{
    return simfine_to_ps(packet->flits * link->flit_time);
}

static void chain_leave(Chain *chain, const Fabric *fabric, const Wire *wire, const Packet *packet, SimTime at_ps)
{
    const FabricSpec *spec = &fabric->spec;
    const gboolean up = link_switch(wire->link) != wire->link->source_node;
    const SimTime wait_ps = at_ps - MIN(at_ps, chain->last_ps), delay_ps = wire->link->delay_ps[packet_vc(packet)];
    const SimTime busy_ps = MIN(wait_ps, wire->busy_ps - MIN(wire->busy_ps, chain->busy_ps));
    const SimTime flight_ps = MIN(spec->link.flight_ps, delay_ps);
    const SimTime memory_ps = up && packet_vc(packet) == VC_RSP ? MIN(spec->gpu.l2_ps, delay_ps - flight_ps) : 0;
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
    Request *request = g_new0(Request, 1);
    request->start_ps = request->chain.last_ps = txn->start_ps;
    chain_go(&request->chain, at_ps, WHERE_SM);
    g_hash_table_insert(where->open, where_key(packet->src, packet->txn), request);
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
static void where_note_link(Where *where, ProbeStage stage, const char *path, const Packet *packet, SimTime at_ps)
{
    Wire *wire = g_hash_table_lookup(where->wires, path);
    const Switch *sw = link_switch(wire->link);
    const gboolean replica = packet_is_counted(*packet) ||
                             (packet_is_multicast(*packet) && sw == wire->link->source_node);
    if (replica) {
        Request *request = where_find_replica(where, sw, packet);
        if (request && request->member)
            where_note_port(where, stage, &request->member[packet->dst], wire, packet, at_ps);
    } else {
        const gboolean many = packet_answers_many(packet);
        const TxnPool *pool = &where->fabric->txns[packet->src];
        for (guint32 txn = packet->txn; txn != TXN_NONE; txn = many ? *txn_next(pool, txn) : TXN_NONE) {
            Request *request = where_find(where, packet->src, txn);
            if (request)
                where_note_port(where, stage, &request->chain, wire, packet, at_ps);
        }
    }
    if (stage == PROBE_WIRE)
        wire->busy_ps += wire_ps(wire->link, packet);
}

static void where_replicate(Where *where, Request *request)
{
    const guint64 gpus = where->fabric->spec.system.gpus;
    request->member = g_new0(Chain, gpus);
    for (guint64 g = 0; g < gpus; g++) {
        request->member[g].last_ps = request->chain.last_ps;
        request->member[g].stage = AT_SWITCH;
    }
}

static void where_note_switch(Where *where, ProbeStage stage, const char *path, const Packet *packet, SimTime at_ps)
{
    const Switch *sw = g_hash_table_lookup(where->switches, path);
    if (packet_is_counted(*packet)) { /* gathered */
        Request *request = where_find_replica(where, sw, packet);
        if (!request || !request->member)
            return;
        Chain *chain = &request->chain;
        chain_go(&request->member[packet->dst], at_ps, WHERE_FLIGHT);
        if (stage != PROBE_RESULT)
            return;
        for (int r = 0; r < WHERE_REASONS; r++)
            chain->part_ps[r] += request->member[packet->dst].part_ps[r];
        chain->last_ps = at_ps;
        chain->stage = AT_RESULT;
        return;
    }
    const gboolean many = packet_answers_many(packet);
    const TxnPool *pool = &where->fabric->txns[packet->src];
    for (guint32 txn = packet->txn; txn != TXN_NONE; txn = many ? *txn_next(pool, txn) : TXN_NONE) {
        Request *request = where_find(where, packet->src, txn);
        if (!request)
            continue;
        Chain *chain = &request->chain;
        chain_go(chain, at_ps, chain->stage == AT_HELD ? chain->held : WHERE_PIPELINES);
        chain->stage = stage == PROBE_HELD ? AT_HELD : AT_SWITCH;
        if (stage == PROBE_HELD)
            chain->held = chain_held_for(chain, packet, at_ps);
        if (stage == PROBE_TABLE)
            where_replicate(where, request);
    }
}

static void where_note_served(Where *where, const char *path, const Packet *packet, SimTime at_ps)
{
    Request *request = NULL;
    Chain *chain = NULL;
    if (packet_is_multicast(*packet)) {
        /* by the links of the GPU alone it cannot be told from which switch it came: packet->link is the GPU's */
        const Gpu *gpu = &where->fabric->gpu[packet->dst];
        request = where_find_replica(where, gpu->down[packet->link].source_node, packet);
        chain = request && request->member ? &request->member[packet->dst] : NULL;
    } else {
        request = where_find(where, packet->src, packet->txn);
        chain = request ? &request->chain : NULL;
    }
    (void)path;
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
    g_hash_table_remove(where->open, where_key(gpu, txn));
}

static void where_note_answer(Where *where, const Packet *packet, SimTime at_ps)
{
    const gboolean many = packet_answers_many(packet);
    const TxnPool *pool = &where->fabric->txns[packet->src];
    for (guint32 txn = packet->txn; txn != TXN_NONE; txn = many ? *txn_next(pool, txn) : TXN_NONE)
        where_close(where, packet->src, txn, at_ps);
}

void where_note(Where *where, ProbeStage stage, const char *path, const Packet *packet, SimTime at_ps)
{
    switch (stage) {
    case PROBE_REQUEST:
        where_note_request(where, packet, at_ps);
        break;
    case PROBE_QUEUE:
    case PROBE_WIRE:
        where_note_link(where, stage, path, packet, at_ps);
        break;
    case PROBE_INGRESS:
    case PROBE_HELD:
    case PROBE_ROUTE:
    case PROBE_TABLE:
    case PROBE_GATHER:
    case PROBE_RESULT:
        where_note_switch(where, stage, path, packet, at_ps);
        break;
    case PROBE_SERVE:
        where_note_served(where, path, packet, at_ps);
        break;
    case PROBE_ANSWER:
        where_note_answer(where, packet, at_ps);
        break;
    default:
        break;
    }
}

static void where_on_probe(void *user, ProbeStage stage, const char *file, const char *path, const Packet *packet,
                           SimTime at_ps)
{
    (void)file;
    where_note(user, stage, path, packet, at_ps);
}

/* ---- life */

Where *where_new(Fabric *fabric)
{
    g_assert(sim_engine(fabric->sim) == SIM_ENGINE_REFERENCE && fabric->n_trunks == 0);
    Where *where = g_new0(Where, 1);
    where->fabric = fabric;
    where->wires = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    where->switches = g_hash_table_new(g_direct_hash, g_direct_equal);
    where->open = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, request_free);
    where->begin_ps = where->idle_from_ps = sim_now_ps(fabric->sim);
    for (guint32 n = 0; n < fabric_n_links(fabric); n++) {
        Wire *wire = g_new0(Wire, 1);
        wire->link = fabric_link_at(fabric, n);
        g_hash_table_insert(where->wires, wire->link->path, wire);
    }
    for (guint32 s = 0; s < fabric->n_switches; s++)
        g_hash_table_insert(where->switches, fabric->sw[s].path, &fabric->sw[s]);
    fabric_observe(fabric, where_on_probe, where);
    return where;
}

void where_end(Where *where)
{
    where->end_ps = sim_now_ps(where->fabric->sim);
    if (where->under_way == 0)
        where->idle_ps += where->end_ps - MIN(where->end_ps, where->idle_from_ps);
    fabric_observe(where->fabric, NULL, NULL);
}

void where_free(Where *where)
{
    if (!where)
        return;
    g_hash_table_destroy(where->open);
    g_hash_table_destroy(where->wires);
    g_hash_table_destroy(where->switches);
    g_free(where);
}

const WhereSum *where_sum(const Where *where, PacketKind kind) { return &where->sum[kind]; }

SimTime where_time_ps(const Where *where, SimTime *idle_ps, guint64 *seen)
{
    *idle_ps = where->idle_ps;
    *seen = where->seen;
    return where->end_ps - where->begin_ps;
}
