/* What a switch shows to other files: its parameters, its statistics, its beginning and end, and what it waits for. */
#include "model/switch/record.h"

#include <string.h>

#include "model/shared/sparse.h"

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
    PARAM_U64(SwitchSpec, merge_entries, "", 0, 1u << 20, "of a port's table of merged loads; 0: none are merged"),
    PARAM_U64(SwitchSpec, merge_readers, "", 0, 65535, "merged loads of a line until its entry is free; 0: all GPUs"),
    PARAM_U64(SwitchSpec, merge_timeout_ps, "ps", 1, 1000000000000, "an entry that was not used for so long is free"),
    PARAM_STRING(SwitchSpec, component, "a shared object with a switch of one's own (fanout/component.h); none"),
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
static guint64 port_read_multicast_tags(const void *unit)
{
    const SwitchPort *port = unit;
    return port->sw->spec->multicast_tags - port->multicast_tags;
}
static guint64 port_read_reduction_tags(const void *unit)
{
    const SwitchPort *port = unit;
    return port->sw->spec->reduction_tags - port->reduction_tags;
}
static guint64 port_read_reduction_bytes(const void *unit)
{
    const SwitchPort *port = unit;
    return port->sw->spec->reduction_buffer_bytes - port->reduction_bytes;
}

const StatRow switch_port_stats[] = {
    STAT_LEVEL("multicast_tags", port_read_multicast_tags, "tags", "in use by multicast writes of its requester"),
    STAT_LEVEL("reduction_tags", port_read_reduction_tags, "tags", "in use by ld_reduce of its requester"),
    STAT_LEVEL("reduction_bytes", port_read_reduction_bytes, "B", "of the reduction buffer in use"),
    STAT_COUNTER(SwitchPort, stalls_tag, "times", "a multicast request waited for a tag"),
    STAT_COUNTER(SwitchPort, stalls_buffer, "times", "an ld_reduce waited for reduction buffer"),
    STAT_COUNTER(SwitchPort, stalls_rounds, "times", "a request waited for a replication's rounds"),
    STAT_PEAK(SwitchPort, reduction_peak_bytes, "B", "reduction buffer in use at most"),
    STAT_END,
};

static void switch_init_records(Switch *sw)
{
    sw->record_max = (guint32)(sw->ports * (sw->spec->multicast_tags + sw->spec->reduction_tags)) + 1;
    sw->requests = &sw->fabric->requests[sw->id];
    sw->record = sparse_new(sw->record_max * sizeof *sw->record);
}

void switch_init(Switch *sw, Fabric *fabric, Sim *sim, DataPool *data, guint32 id, guint32 ports, char *name)
{
    memset(sw, 0, sizeof *sw);
    sw->fabric = fabric;
    sw->sim = sim;
    sw->data = data;
    sw->spec = &fabric->spec.sw;
    sw->id = id;
    sw->ports = ports;
    g_assert(sw->ports < HELD_INPUT_SHARED);
    sw->out = g_new0(Link *, sw->ports);
    sw->in = g_new0(Link *, sw->ports);
    sw->port = g_new0(SwitchPort, sw->ports);
    sw->path = name;
    sw->spread = switch_spread;
    sw->go_on = switch_advance;
    mctable_init(&sw->table, &fabric->spec.mctable);
    switch_init_records(sw);
    for (guint32 p = 0; p < sw->ports; p++) {
        sw->port[p] = (SwitchPort){.sw = sw,
                                   .number = p,
                                   .multicast_tags = (guint32)sw->spec->multicast_tags,
                                   .reduction_tags = (guint32)sw->spec->reduction_tags,
                                   .reduction_bytes = sw->spec->reduction_buffer_bytes};
        event_init(&sw->port[p].advance, switch_on_advance);
    }
    sw->unit = sw->spec->merge_entries ? &switch_merge : NULL;
    if (sw->unit)
        sw->unit->open(sw);
}

void switch_clear(Switch *sw)
{
    component_detach(sw);
    if (sw->unit)
        sw->unit->clear(sw);
    for (guint32 p = 0; p < sw->ports; p++)
        packet_ring_clear(&sw->port[p].wait);
    mctable_clear(&sw->table);
    g_free(sw->link_rail);
    g_free(sw->route);
    g_free(sw->out);
    g_free(sw->in);
    g_free(sw->port);
    sparse_free(sw->record, sw->record_max * sizeof *sw->record);
    mcrequests_clear(sw->requests);
    g_free(sw->path);
}

gboolean switch_is_quiet(const Switch *sw)
{
    if (sw->records_used || component_in_use(sw))
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
    const guint32 used = sw->records_used + component_in_use(sw);
    if (used == 0)
        return NULL;
    return g_strdup_printf("%s: %u multicast requests wait for answers of their members", sw->path, used);
}
