#include "model/switch/switch.h"

#include <string.h>
#include <sys/mman.h>

#include "model/fabric/fabric.h"
#include "model/fastpath/link_log.h"
#include "model/parallel/mailbox.h"

static const char *const hold_names[] = {"hold", "accumulate", NULL};
static const char *const order_names[] = {"arrival", "rank", NULL};
const ParamRow switch_params[] = {
    PARAM_U64(SwitchSpec, latency_ps, "ps", 0, 10000000, "ingress to egress, unloaded"),
    PARAM_U64(SwitchSpec, cycle_ps, "ps", 1, 100000, "period of the switch core's clock"),
    PARAM_U64(SwitchSpec, crossbar_bytes, "B", 1, 4096, "crossbar width, a cycle and port"),
    PARAM_U64(SwitchSpec, multicast_tags, "", 1, 65536, "outstanding multicast writes of a port"),
    PARAM_U64(SwitchSpec, reduction_tags, "", 1, 65536, "outstanding ld_reduce of a port"),
    PARAM_U64(SwitchSpec, reduction_buffer_bytes, "B", 1024, 1u << 30, "operand buffer of a port"),
    PARAM_ENUM(SwitchSpec, reduction_hold, hold_names, "operands are all held, or summed on arrival"),
    PARAM_ENUM(SwitchSpec, reduction_order, order_names, "in which order operands are summed"),
    PARAM_U64(SwitchSpec, reduction_ps, "ps", 0, 10000000, "last operand to result"),
    PARAM_U64(SwitchSpec, request_flits, "flits", 1, 16, "of a multimem.ld_reduce request"),
    PARAM_U64(SwitchSpec, replica_ack_flits, "flits", 1, 16, "of a replica's acknowledgement"),
    PARAM_U64(SwitchSpec, done_flits, "flits", 1, 16, "of the merged acknowledgement"),
    PARAM_U64(SwitchSpec, done_merge_max, "", 1, 64, "merged acknowledgements in one packet"),
    PARAM_U64(SwitchSpec, done_timer_ps, "ps", 1, 10000000, "how long they wait for each other"),
    PARAM_END,
};

const StatRow switch_stats[] = {
    STAT_COUNTER(Switch, multicast_requests, "packets", "multicast requests taken in"),
    STAT_COUNTER(Switch, replicated, "packets", "replicas sent out"),
    STAT_COUNTER(Switch, reduced, "packets", "sums and merged acknowledgements sent back"),
    STAT_COUNTER(Switch, crumbstore_mcto_err, "packets", "multicast writes that timed out"),
    STAT_COUNTER(Switch, crumbstore_rto_err, "packets", "ld_reduce requests that timed out"),
    STAT_COUNTER(Switch, invalid_mcid, "packets", "requests with a multicast ID of no entry"),
    STAT_END,
};
const StatRow switch_port_stats[] = {
    STAT_COUNTER(SwitchPort, stalls_tag, "times", "a multicast request waited for a tag"),
    STAT_COUNTER(SwitchPort, stalls_buffer, "times", "an ld_reduce waited for reduction buffer"),
    STAT_COUNTER(SwitchPort, stalls_rounds, "times", "a request waited for a replication's rounds"),
    STAT_PEAK(SwitchPort, reduction_peak_bytes, "B", "reduction buffer in use at most"),
    STAT_END,
};

static void switch_on_advance(Event *event, SimTime now_ps);

static guint16 switch_beats(const SwitchSpec *spec, guint32 flits)
{
    return (guint16)((flits * FLIT_BYTES + spec->crossbar_bytes - 1) / spec->crossbar_bytes);
}

/* Memory that is touched as far as it is used, and never moves: members read records while others are taken. */
static gpointer switch_map(gsize bytes)
{
    gpointer at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        g_error("switch: no %zu B of address space for the records of its tags", bytes);
    return at;
}

static gsize switch_operands(const Switch *sw) { return (gsize)sw->record_max * sw->gpus; }

#define RECORDS_MIN 64u
static void switch_map_records(Switch *sw)
{
    guint64 tags = sw->ports * (sw->spec->multicast_tags + sw->spec->reduction_tags);
    sw->record_size = RECORDS_MIN;
    while (sw->record_max < tags + tags / 3 + 1 && sw->record_max <= PACKET_TXN_MAX / 2)
        sw->record_max = MAX(RECORDS_MIN, 2 * sw->record_max);
    sw->record = switch_map(sw->record_max * sizeof *sw->record);
    sw->record[0].members = 1; /* never given out */
    sw->operand = switch_map(switch_operands(sw) * sizeof *sw->operand);
    sw->operand_gpu = switch_map(switch_operands(sw) * sizeof *sw->operand_gpu);
    sw->detail = switch_map(sw->record_max * sizeof *sw->detail);
}

void switch_init(Switch *sw, Fabric *fabric, guint32 id, guint32 gpus, guint32 links)
{
    memset(sw, 0, sizeof *sw);
    sw->fabric = fabric;
    sw->sim = fabric->exchange ? exchange_sim(fabric->exchange, id) : fabric->sim;
    sw->data = &fabric->data[fabric->exchange ? 1 + id : 0];
    sw->spec = &fabric->spec.sw;
    sw->id = id;
    sw->gpus = gpus;
    sw->links = links;
    sw->ports = gpus * links;
    g_assert(sw->ports < HOLD_NONE);
    sw->out = g_new0(Link *, sw->ports);
    sw->in = g_new0(Link *, sw->ports);
    sw->freed = g_new0(LinkFreed, sw->ports);
    sw->inbox = g_aligned_alloc0(sw->ports, sizeof(Inbox), 64);
    sw->port = g_new0(SwitchPort, sw->ports);
    sw->port_k = g_new0(guint8, sw->ports);
    for (guint32 f = 0; f < G_N_ELEMENTS(sw->beats); f++)
        sw->beats[f] = switch_beats(sw->spec, f);
    sw->path = g_strdup_printf("switch%u", id);
    mctable_init(&sw->table, &fabric->spec.mctable);
    switch_map_records(sw);
    sw->logs = g_ptr_array_new_with_free_func((GDestroyNotify)link_log_free);
    sw->ends = g_ptr_array_new_with_free_func(g_free);
    for (guint32 p = 0; p < sw->ports; p++) {
        sw->port_k[p] = (guint8)(p % links);
        sw->port[p] = (SwitchPort){.sw = sw, .route = sw->out + p % links, .inbox = sw->inbox + p % links,
                                   .step = links, .gpu = p / links,
                                   .multicast_tags = (guint32)sw->spec->multicast_tags,
                                   .reduction_tags = (guint32)sw->spec->reduction_tags,
                                   .reduction_bytes = sw->spec->reduction_buffer_bytes};
        event_init(&sw->port[p].advance, switch_on_advance);
        sw->port[p].advance.spare = p;
    }
}

void switch_clear(Switch *sw)
{
    for (guint32 p = 0; p < sw->ports; p++)
        packet_ring_clear(&sw->port[p].wait);
    mctable_clear(&sw->table);
    g_ptr_array_free(sw->logs, TRUE);
    g_free(sw->out);
    g_free(sw->in);
    g_free(sw->freed);
    g_aligned_free(sw->inbox);
    g_free(sw->port);
    g_free(sw->port_k);
    munmap(sw->record, sw->record_max * sizeof *sw->record);
    munmap(sw->operand, switch_operands(sw) * sizeof *sw->operand);
    munmap(sw->operand_gpu, switch_operands(sw) * sizeof *sw->operand_gpu);
    munmap(sw->detail, sw->record_max * sizeof *sw->detail);
    g_ptr_array_free(sw->ends, TRUE);
    g_free(sw->path);
}

/* In turn: answers of what was asked at about one time come at about one time, and share cache lines. As given back
 * last, they would soon lie anywhere. */
static guint32 switch_record_take(Switch *sw)
{
    guint32 size = sw->record_size, index = sw->record_at;
    if (G_UNLIKELY(sw->records_used >= size - size / 4) && size < sw->record_max)
        sw->record_size = size = 2 * size; /* few are in use where its turn comes again */
    g_assert(sw->records_used < size - 1);     /* a tag for each */
    do
        index = (index + 1) & (size - 1);
    while (G_UNLIKELY(sw->record[index].what != 0));
    __builtin_prefetch(&sw->record[(index + 16) & (size - 1)], 1); /* it was used long ago */
    sw->records_used++;
    return sw->record_at = index;
}

/* ---- multicast: tags, records, rounds */

static guint64 switch_reduction_need(const Switch *sw, guint32 members, guint32 packets)
{
    return (guint64)(sw->spec->reduction_hold == REDUCE_HOLD ? members : 1) * packets * LINE_BYTES;
}

/* Takes the tag (and buffer) a request needs at its requester's port; FALSE: it must wait. */
static gboolean switch_reserve(Switch *sw, SwitchPort *port, const Packet *packet, const McEntry *entry)
{
    guint32 tags = packet_count(*packet);
    if (packet->kind != PACKET_MC_READ) {
        if (port->multicast_tags < tags) {
            port->stalls_tag++;
            return FALSE;
        }
        port->multicast_tags -= tags;
        return TRUE;
    }
    guint64 need = switch_reduction_need(sw, entry->n_members, tags);
    if (port->reduction_tags < tags || port->reduction_bytes < need) {
        *(port->reduction_tags < tags ? &port->stalls_tag : &port->stalls_buffer) += 1;
        return FALSE;
    }
    port->reduction_tags -= tags;
    port->reduction_bytes -= need;
    port->reduction_peak_bytes =
        MAX(port->reduction_peak_bytes, sw->spec->reduction_buffer_bytes - port->reduction_bytes);
    return TRUE;
}

/* The log of a team's replicas on the members' k-th links. */
static LinkLog *switch_log(Switch *sw, const McEntry *entry, guint32 k)
{
    while (G_UNLIKELY(sw->logs->len <= entry->team * sw->links + k))
        g_ptr_array_add(sw->logs, link_log_new());
    LinkLog *log = sw->logs->pdata[entry->team * sw->links + k];
    guint32 per_round = (guint32)sw->table.spec->round_directives;
    for (guint32 m = 0; G_UNLIKELY(log->followers < entry->n_members) && m < entry->n_members; m++)
        link_log_follow(log, sw->out[entry->member[m] * sw->links + k], m, m / per_round, entry->member[m]);
    return log;
}

/* What a record has no place for. */
static G_GNUC_NO_INLINE void switch_open_detail(Switch *sw, guint32 index, guint32 silent)
{
    McRecord *record = &sw->record[index];
    guint16 src = (guint16)sw->port[record->port].gpu;
    const Txn *txn = txn_at(&sw->fabric->gpu[src].txns, record->txn);
    sw->detail[index] = (McDetail){.offset = txn->offset, .object = txn->object, .data = txn->data, .txn = record->txn,
                                   .src = src, .bytes = txn->bytes, .missing = (guint16)silent,
                                   .answer_flits = record->answer_flits};
    record->what -= silent * RECORD_ONE(count);
    if (record->count == 0)
        fault_wait(sw, index);
}

/* Opens a record for a request: its replicas, which carry what a member needs to know (gpu_prepare). */
static Packet switch_open(Switch *sw, guint32 p, Packet packet, const McEntry *entry, SimTime now_ps)
{
    guint32 index = switch_record_take(sw), members = entry->n_members, read = packet.kind == PACKET_MC_READ;
    guint32 detailed = replica_answer(packet) == REPLICA_BY_RECORD, silent = sw->fabric->n_silent != 0;
    McRecord *record = &sw->record[index];
    record->last = RECORD_LAST(now_ps, 0);
    record->what = members * (RECORD_ONE(count) | RECORD_ONE(members)) | packet.txn * RECORD_ONE(txn) |
                   p * RECORD_ONE(port) | replica_answer_flits(packet) * RECORD_ONE(answer_flits) |
                   packet.train * RECORD_ONE(train) | read * RECORD_ONE(read) |
                   (detailed | silent) * RECORD_ONE(detailed) | ((detailed & read) | silent) * RECORD_ONE(odd);
    if (G_UNLIKELY(detailed || silent))
        switch_open_detail(sw, index, silent ? fault_missing(sw->fabric, entry->member, members) : 0);
    packet.txn = index & PACKET_TXN_MAX;
    packet.hold = HOLD_NONE;
    return packet;
}

/* Replicates one request: the ports of its spray group, round after round. */
static void switch_replicate(Switch *sw, guint32 p, const Packet *packet, const McEntry *entry, SimTime now_ps)
{
    SimTime round_ps = packet_count(*packet) * sw->beats[packet->flits >> packet->train] * sw->spec->cycle_ps;
    LinkLog *log = switch_log(sw, entry, sw->port_k[p]);
    link_log_add(log, switch_open(sw, p, *packet, entry, now_ps), now_ps, round_ps);
    PROBE_POINT(sw->fabric, PROBE_TABLE, sw->path, packet, now_ps);
    sw->multicast_requests += packet_count(*packet);
    sw->replicated += entry->n_members * packet_count(*packet);
    Link *last = link_log_push(log, now_ps);
    if (last) /* the ingress buffer is free when the last replica has left */
        link_log_hold(log, last, p);
    else
        link_credit(sw->in[p], VC_CREQ, packet->flits,
                    now_ps + entry->n_members / (guint32)sw->table.spec->round_directives * round_ps);
    sw->port[p].busy_until_ps = now_ps + entry->rounds * round_ps;
}

static inline void switch_route(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    guint32 to = packet_target(packet, packet_vc(&packet) == VC_CREQ);
    PROBE_POINT(sw->fabric, PROBE_ROUTE, sw->path, &packet, now_ps);
    packet.hold = p & HOLD_NONE;
    link_push(sw->out[to * sw->links + sw->port_k[p]], packet, now_ps);
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
        switch_route(sw, p, packet, now_ps);
        return TRUE;
    }
    guint32 mcid = packet_dst(packet); /* multicast requests carry their MCID as destination */
    const McEntry *entry = mcid < sw->table.spec->entries ? &sw->table.entry[mcid] : NULL;
    if (!entry || !entry->valid) {
        sw->invalid_mcid++; /* INVALID_MCRID_ERR: never sent by a fabric that checks its objects */
        g_error("%s: multicast ID %u has no entry", sw->path, mcid);
    }
    if (!switch_reserve(sw, port, &packet, entry))
        return FALSE; /* the tag's return wakes us */
    switch_replicate(sw, p, &packet, entry, now_ps);
    return TRUE;
}

static void switch_advance(Switch *sw, guint32 p, SimTime now_ps)
{
    SwitchPort *port = &sw->port[p];
    while (port->wait.count) {
        SimTime wake_ps = SIMTIME_NEVER;
        if (!switch_serve(sw, p, *packet_ring_peek(&port->wait), now_ps, &wake_ps)) {
            if (wake_ps != SIMTIME_NEVER && !event_is_pending(&port->advance))
                sim_at(sw->sim, &port->advance, wake_ps, EVENT_PRIORITY_FABRIC);
            return;
        }
        packet_ring_drop(&port->wait);
    }
}

static void switch_on_advance(Event *event, SimTime now_ps)
{
    SwitchPort *port = EVENT_OWNER(event, SwitchPort, advance);
    guint32 p = event->spare;
    switch_advance(port->sw, p, now_ps);
}

static inline void switch_accept_answer(Switch *sw, Link *from, Packet packet, SimTime now_ps)
{
    PROBE_POINT(sw->fabric, PROBE_INGRESS, sw->path, &packet, now_ps);
    if (packet_is_counted(packet)) {
        link_credit(from, VC_RSP, packet.flits, now_ps); /* into the tag's own store */
        if (G_UNLIKELY(sw->fabric->probe) || !switch_count(sw, packet.txn))
            reduction_gather(sw, packet, now_ps);
    } else {
        switch_route(sw, from->sink_port, packet, now_ps);
    }
}

static inline void switch_accept_request(Switch *sw, guint32 p, Packet packet, SimTime now_ps)
{
    SwitchPort *port = &sw->port[p];
    PROBE_POINT(sw->fabric, PROBE_INGRESS, sw->path, &packet, now_ps);
    SimTime wake_ps = SIMTIME_NEVER;
    if (port->wait.count == 0 && switch_serve(sw, p, packet, now_ps, &wake_ps))
        return;
    *packet_ring_push(&port->wait) = packet;
    if (wake_ps != SIMTIME_NEVER && !event_is_pending(&port->advance))
        sim_at(sw->sim, &port->advance, wake_ps, EVENT_PRIORITY_FABRIC);
}

static void switch_on_request(Event *event, SimTime now_ps)
{
    Link *from = LINK_OF_ARRIVAL(event, VC_CREQ);
    do {
        Packet packet = link_arrive(from, VC_CREQ, &now_ps);
        switch_accept_request(((SwitchPort *)from->sink_node)->sw, from->sink_port, packet, now_ps);
    } while (link_goes_on(from));
}

static void switch_on_answer(Event *event, SimTime now_ps)
{
    Link *from = LINK_OF_ARRIVAL(event, VC_RSP);
    do {
        Packet packet = link_arrive(from, VC_RSP, &now_ps);
        switch_accept_answer(((SwitchPort *)from->sink_node)->sw, from, packet, now_ps);
    } while (link_goes_on(from));
}

void switch_take(Switch *sw, Link *from, guint32 port)
{
    link_set_sink(from, NULL, &sw->port[port], port);
    link_set_early(from, switch_early, SWITCH_EARLY);
    link_list_freed(from, &sw->freed[port]);
    from->vc[VC_CREQ].arrive.fire = switch_on_request;
    from->vc[VC_RSP].arrive.fire = switch_on_answer;
}

void switch_send(Switch *sw, Link *to, guint32 port)
{
    to->source_node = sw;
    to->source_port = port;
    to->ingress = sw->freed;
    to->inbox = &sw->inbox[port];
    inbox_init(to->inbox);
    link_set_lanes(to, switch_on_timer, 0, to);
    to->settle = switch_settle;
}

/* ---- the end of a multicast request */

void switch_finish(Switch *sw, guint32 index, SimTime now_ps)
{
    McRecord *record = &sw->record[index];
    guint32 p = record->port, tags = 1u + record->train;
    SwitchPort *port = &sw->port[p];
    if (record->read) {
        port->reduction_tags += tags;
        port->reduction_bytes += switch_reduction_need(sw, record->members, tags);
    } else {
        port->multicast_tags += tags;
    }
    sw->reduced += tags;
    record->what = 0;
    sw->records_used--;
    if (port->wait.count && port->busy_until_ps <= now_ps)
        switch_advance(sw, p, now_ps);
}

gboolean switch_is_quiet(const Switch *sw)
{
    if (sw->records_used)
        return FALSE;
    for (guint32 p = 0; p < sw->ports; p++)
        if (sw->port[p].wait.count || sw->port[p].multicast_tags != sw->spec->multicast_tags ||
            sw->port[p].reduction_tags != sw->spec->reduction_tags ||
            sw->port[p].reduction_bytes != sw->spec->reduction_buffer_bytes)
            return FALSE;
    return TRUE;
}

char *switch_waiter_text(void *unit)
{
    const Switch *sw = unit;
    if (sw->records_used == 0)
        return NULL;
    return g_strdup_printf("%s: %u multicast requests wait for answers of their members", sw->path,
                           sw->records_used);
}
