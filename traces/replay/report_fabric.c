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

/* ---- multicast against unicast */

static const Column pair_columns[] = {
    COLUMN_TEXT(kind, "algorithms",
                "multicast: through the switches where an operation can; unicast: never"),
    COLUMN_FIXED(total_us, "total", "us", 2, "the whole replay"),
    COLUMN_FIXED(communication_us, "comm", "us", 2, "sum over all communications"),
    COLUMN_FIXED(up_GB, "up", "GB", 3, "on the links to the switches, headers included"),
    COLUMN_FIXED(down_GB, "down", "GB", 3, "on the links from the switches"),
    COLUMN_END,
};

static SimTime communication_ps(const ReplayJob *jobs, const ReplayResult *result)
{
    SimTime sum_ps = 0;
    for (guint32 j = 0; j < result->jobs; j++) {
        for (guint i = 0; i < jobs[j].match->items->len; i++) {
            if (!g_array_index(jobs[j].match->items, MatchItem, i).skipped) {
                sum_ps += result->job[j].item[i].end_ps - result->job[j].item[i].start_ps;
            }
        }
    }
    return sum_ps;
}

void replay_report_pair(Report *report, const ReplayJob *jobs, const ReplayPair *pair)
{
    if (pair->multicast == NULL || pair->unicast == NULL) {
        return;
    }
    const ReplayResult *both[] = {pair->multicast, pair->unicast};
    Table *table = report_add_table(report, "multicast_saves",
                                    "what multicast saves against unicast", pair_columns, 0);
    for (guint i = 0; i < 2; i++) {
        guint64 flits[2] = {0};
        for (gsize k = 0; k < (gsize)both[i]->usage.gpus * both[i]->usage.links * 2; k++) {
            flits[k % 2] += both[i]->usage.flits[k];
        }
        table_text(table, i == 0 ? "multicast" : "unicast");
        table_fixed(table, (double)both[i]->total_ps / 1e6);
        table_fixed(table, (double)communication_ps(jobs, both[i]) / 1e6);
        table_fixed(table, (double)flits[0] * 16 / 1e9);
        table_fixed(table, (double)flits[1] * 16 / 1e9);
    }
    double saved = (double)pair->unicast->total_ps - (double)pair->multicast->total_ps;
    double of = (double)pair->unicast->total_ps;
    report_add_note(report, "multicast saves %.2f us of %.2f us (%.1f %%) against unicast",
                    saved / 1e6, of / 1e6, of > 0 ? 100 * saved / of : 0);
}
