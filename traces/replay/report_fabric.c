/* Tables of a replay: links, switches, multicast against unicast. */
#include "traces/replay/report_parts.h"

#include <stdlib.h>

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
    return x->flits != y->flits ? (x->flits > y->flits ? -1 : 1)
                                : (x->at > y->at) - (x->at < y->at);
}

void replay_report_links(Report *report, const ReplayResult *result)
{
    const ReplayUsage *usage = &result->usage;
    gsize n = (gsize)usage->gpus * usage->links * 2;
    HotLink *hot = g_new(HotLink, n + 1);
    for (gsize i = 0; i < n; i++) {
        hot[i] = (HotLink){usage->flits[i], i};
    }
    qsort(hot, n, sizeof(HotLink), hot_compare);
    Table *table =
        report_add_table(report, "hot_links", "links that carried most", link_columns, 0);
    for (gsize i = 0; i < MIN(n, HOT_LINKS) && hot[i].flits > 0; i++) {
        gsize at = hot[i].at;
        char *name = g_strdup_printf("gpu%u.link%u.%s", (guint)(at / 2 / usage->links),
                                     (guint)(at / 2 % usage->links), at % 2 == 0 ? "up" : "down");
        table_text(table, name);
        table_u64(table, usage->flits[at]);
        table_fixed(table, (double)usage->flits[at] * 16 / 1e6);
        table_fixed(table, result->total_ps > 0
                               ? 100.0 * (double)usage->busy_ps[at] / (double)result->total_ps
                               : 0);
        g_free(name);
    }
    g_free(hot);
}

void replay_report_switches(Report *report, const ReplaySpec *spec, const ReplayResult *result)
{
    const ReplayUsage *usage = &result->usage;
    const ParamList *per_switch = &spec->fabric->system.links_per_switch;
    if (spec->fabric->topology.kind != TOPOLOGY_RAILS)
        return; /* the sums below are those of one switch for each number of links_per_switch */
    Table *table = report_add_table(report, "switches", "switches", switch_columns, 0);
    for (guint32 s = 0, link = 0; s < usage->switches; link += per_switch->value[s++]) {
        guint64 flits = 0;
        for (guint32 g = 0; g < usage->gpus; g++) {
            for (guint32 l = link; l < link + per_switch->value[s]; l++) {
                flits += usage->flits[((gsize)g * usage->links + l) * 2 + 1];
            }
        }
        char *name = g_strdup_printf("switch%u", s);
        table_text(table, name);
        table_fixed(table, (double)flits * 16 / 1e9);
        table_u64(table, usage->multicast[s]);
        table_u64(table, usage->replicas[s]);
        table_u64(table, usage->stalls[s]);
        g_free(name);
    }
}
