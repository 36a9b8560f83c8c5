/* Which request, and which replica of it, an event is of.
 *
 * A packet carries its requester's number, and replicas and their answers carry that of a switch's record. Over two
 * levels a spine's replicas carry the spine's number as far as the leaf, which gives its own to what it makes of them:
 * so a request's replicas are a tree, of which a spine's are the leaf switches. */
#include "model/switch/record.h"
#include "observe/series/latency_breakdown_parts.h"

static void chain_clear(Chain *chain)
{
    for (guint m = 0; m < chain->n_members; m++)
        chain_clear(&chain->member[m]);
    g_free(chain->member);
}

void latency_breakdown_forget(LatencyBreakdown *breakdown, guint32 gpu, guint32 txn)
{
    Request *request = latency_breakdown_find(breakdown, gpu, txn);
    if (!request)
        return;
    chain_clear(&request->chain);
    request->next_free = breakdown->free;
    breakdown->free = request;
    breakdown->open[gpu]->pdata[txn] = NULL;
}

Request *latency_breakdown_find(const LatencyBreakdown *breakdown, guint32 gpu, guint32 txn)
{
    const GPtrArray *open = breakdown->open[gpu];
    return txn < open->len ? open->pdata[txn] : NULL;
}

void latency_breakdown_replicate(Chain *chain, const Switch *sw, const Packet *packet)
{
    const McEntry *entry = &sw->table.entry[packet->dst];
    if (chain->member)
        return;
    chain->member = g_new0(Chain, entry->n_members);
    chain->n_members = (guint16)entry->n_members;
    for (guint m = 0; m < chain->n_members; m++) {
        chain->member[m].last_ps = chain->last_ps;
        chain->member[m].stage = AT_SWITCH;
        chain->member[m].gpu = entry->member[m];
        chain->member[m].mark = chain->mark;
    }
}

static Chain *chain_member(Chain *chain, guint32 gpu)
{
    for (guint m = 0; chain && m < chain->n_members; m++)
        if (chain->member[m].gpu == gpu)
            return &chain->member[m];
    return NULL;
}

Chain *latency_breakdown_find_record(const LatencyBreakdown *breakdown, const Switch *sw, guint32 index)
{
    const McRecord *record = &sw->record[index];
    if (record->partial)
        return chain_member(latency_breakdown_find_record(breakdown, sw->port[record->port].far, record->txn),
                            record->spine_member);
    Request *request = latency_breakdown_find(breakdown, record->src, record->txn);
    return request ? &request->chain : NULL;
}

Chain *latency_breakdown_find_replica(const LatencyBreakdown *breakdown, const Switch *sw, guint32 record, guint32 gpu)
{
    return chain_member(latency_breakdown_find_record(breakdown, sw, record), gpu);
}

/* The member that stands for a leaf switch in its spines' entries of a team. */
static guint16 leaf_seat(const Switch *leaf, const Packet *packet) { return leaf->table.entry[packet->dst].member[0]; }

static const Switch *link_to(const Link *link) { return ((const SwitchPort *)link->sink_node)->sw; }

Chain *latency_breakdown_find_on(const LatencyBreakdown *breakdown, const Wire *wire, const Packet *packet)
{
    if (packet_is_counted(*packet))
        return latency_breakdown_find_replica(breakdown, wire->sw, packet->txn, packet->dst);
    if (wire->from_sw) /* it goes down: a replica, of a spine's to a leaf switch */
        return latency_breakdown_find_replica(breakdown, wire->sw, packet->txn,
                                              wire->sw->spine ? leaf_seat(link_to(wire->link), packet) : packet->dst);
    Request *request = latency_breakdown_find(breakdown, packet->src, packet->txn);
    return request ? &request->chain : NULL;
}

static gboolean chain_is_at(const Chain *chain, ProbeStage stage, const Switch *sw)
{
    if (!chain || chain->member || !chain->link || !chain->link->sink_node)
        return FALSE;
    if (chain->stage != AT_FLIGHT && (stage == PROBE_INGRESS || (chain->stage != AT_SWITCH && chain->stage != AT_HELD)))
        return FALSE;
    return link_to(chain->link) == sw;
}

static SimTime chain_apart(const Chain *chain, SimTime at_ps)
{
    return chain->last_ps > at_ps ? chain->last_ps - at_ps : at_ps - chain->last_ps;
}

/* A request of a GPU below and a replica from above may have the same number: then it is the one that is due. What is
 * replicated here of a team that has its root above has come from there. */
Chain *latency_breakdown_find_at(const LatencyBreakdown *breakdown, ProbeStage stage, const Switch *sw,
                                 const Packet *packet, SimTime at_ps)
{
    Request *request = latency_breakdown_find(breakdown, packet->src, packet->txn);
    const gboolean leaf = breakdown->fabric->n_trunks && !sw->spine;
    Chain *found = request ? &request->chain : NULL;
    if (!leaf)
        return found;
    if (stage == PROBE_HELD)
        return breakdown->arrived;
    if (!chain_is_at(found, stage, sw) || (stage == PROBE_TABLE && sw->table.entry[packet->dst].up))
        found = NULL;
    for (guint32 p = 0; p < sw->ports && stage != PROBE_ROUTE; p++) {
        const Switch *above = sw->port[p].far;
        if (!above || packet->txn > above->record_top || above->record[packet->txn].members == 0 ||
            above->record[packet->txn].src != packet->src)
            continue;
        Chain *other = latency_breakdown_find_replica(breakdown, above, packet->txn, leaf_seat(sw, packet));
        if (chain_is_at(other, stage, sw) && (!found || chain_apart(other, at_ps) < chain_apart(found, at_ps)))
            found = other;
    }
    return found;
}
