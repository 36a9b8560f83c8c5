/* Tables of a replay: links, switches, multicast against unicast. */
#include "traces/replay/report_parts.h"

#include <stdlib.h>

#include "model/fabric/topology.h"
#include "model/fabric/usage.h"

#define HOT_LINKS 8

static const Column link_columns[] = {
    COLUMN_TEXT(link, "link", "gpu0.link3.up: from GPU 0 to its switch"),
    COLUMN_U64(flits, "flits", "16 B", "that it carried"),
    COLUMN_FIXED(MB, "bytes", "MB", 3, "the same as bytes, headers included"),
    COLUMN_FIXED(busy_pct, "busy", "%", 2, "of the replay's time"),
    COLUMN_END,
};

static const Column switch_columns[] = {
    COLUMN_TEXT(name, "switch", "which"),
    COLUMN_FIXED(GB, "bytes", "GB", 3, "on the links from it to the GPUs"),
    COLUMN_U64(multicast_requests, "multicast", "requests", "that it replicated"),
    COLUMN_U64(replicas, "replicas", "packets", "that it made of them"),
    COLUMN_U64(stalls, "stalls", "", "for tags, reduction buffers and rounds"),
    COLUMN_END,
};

typedef struct {
    guint64 flits;
    gsize at;
} HotLink;

static int hot_compare(const void *a, const void *b)
{
    const HotLink *x = a, *y = b;
    return x->flits != y->flits ? (x->flits > y->flits ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

/* "leaf3.port40.up": trunks stand behind the links of GPUs in their leaf's order. */
static char *trunk_name(const Topology *topology, guint32 t, guint direction)
{
    const guint16 leaf = g_array_index(topology->trunks, Trunk, t).leaf;
    guint32 port = 0;
    for (gsize i = 0; i < (gsize)topology->gpus * topology->links; i++)
        port += topology->leaf[i] == leaf;
    for (guint32 i = 0; i < t; i++)
        port += g_array_index(topology->trunks, Trunk, i).leaf == leaf;
    g_autofree char *name = topology_switch_name(topology, leaf);
    return g_strdup_printf("%s.port%u.%s", name, port, direction == 0 ? "up" : "down");
}

static char *way_name(const Topology *topology, gsize at)
{
    const gsize of_gpus = 2 * (gsize)topology->gpus * topology->links;
    if (at >= of_gpus)
        return trunk_name(topology, (guint32)((at - of_gpus) / 2), at % 2);
    return g_strdup_printf("gpu%u.link%u.%s", (guint)(at / 2 / topology->links), (guint)(at / 2 % topology->links),
                           at % 2 == 0 ? "up" : "down");
}

void replay_report_links(Report *report, const ReplaySpec *spec, const ReplayResult *result)
{
    const ReplayUsage *usage = &result->usage;
    const gsize n = usage->ways;
    Topology *topology = topology_new(spec->fabric, NULL);
    HotLink *hot = g_new(HotLink, n + 1);
    for (gsize i = 0; i < n; i++)
        hot[i] = (HotLink){usage->flits[i], i};
    qsort(hot, n, sizeof(HotLink), hot_compare);
    Table *table = report_add_table(report, "hot_links", "links that carried most", link_columns, 0);
    for (gsize i = 0; i < MIN(n, HOT_LINKS) && hot[i].flits > 0; i++) {
        gsize at = hot[i].at;
        g_autofree char *name = way_name(topology, at);
        table_text(table, name);
        table_u64(table, usage->flits[at]);
        table_fixed(table, (double)usage->flits[at] * 16 / 1e6);
        table_fixed(table, result->total_ps > 0 ? 100.0 * (double)usage->busy_ps[at] / (double)result->total_ps : 0);
    }
    g_free(hot);
    g_clear_pointer(&topology, topology_free);
}

void replay_report_switches(Report *report, const ReplaySpec *spec, const ReplayResult *result)
{
    const ReplayUsage *usage = &result->usage;
    Topology *topology = topology_new(spec->fabric, NULL);
    Table *table = report_add_table(report, "switches", "switches", switch_columns,
                                    usage->switches > USAGE_SWITCHES_TEXT ? TABLE_NO_TEXT : 0);
    for (guint32 s = 0; s < usage->switches; s++) {
        g_autofree char *name = topology_switch_name(topology, s);
        table_text(table, name);
        table_fixed(table, (double)usage->to_gpus[s] * 16 / 1e9);
        table_u64(table, usage->multicast[s]);
        table_u64(table, usage->replicas[s]);
        table_u64(table, usage->stalls[s]);
    }
    g_clear_pointer(&topology, topology_free);
}
