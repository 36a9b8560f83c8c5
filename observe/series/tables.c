/* See tables.h. */
#include "observe/series/tables.h"

#include <math.h>

#include "observe/series/sum.h"
#include "observe/series/use.h"
#include "sim/hist.h"

const Column series_in_time_columns[] = {
    COLUMN_TEXT(run, "run", "which of the runs in this report"),
    COLUMN_FIXED(from_us, "from", "us", 6, "begin of the interval, in simulated time"),
    COLUMN_FIXED(to_us, "time", "us", 6, "its end"),
    COLUMN_FIXED(up_GBps, "GPUs to switches", "GB/s", 3, "on all links from GPUs, headers included"),
    COLUMN_FIXED(down_GBps, "switches to GPUs", "GB/s", 3, "on all links to GPUs, headers included"),
    COLUMN_FIXED(answered_GBps, "answered", "GB/s", 3, "bytes of requests to others that were answered"),
    COLUMN_U64(outstanding, "outstanding", "requests", "sent and not answered, of all GPUs"),
    COLUMN_U64(queued, "waiting for a wire:", "packets", "in the queues of all ports"),
    COLUMN_U64(multicast_tags, "multicast tags", "tags", "in use at the port that has most"),
    COLUMN_U64(reduction_tags, "reduction tags", "tags", "in use at the port that has most"),
    COLUMN_FIXED(reduction_KiB, "reduction buffer", "KiB", 3, "in use at the port that has most"),
    COLUMN_U64(multicast_tags_all, "multicast tags, all ports", "tags", "in use"),
    COLUMN_U64(reduction_tags_all, "reduction tags, all ports", "tags", "in use"),
    COLUMN_U64(credit_stalls, "no credits", "times", "a port had packets and no credits"),
    COLUMN_U64(tag_stalls, "no tag", "times", "a multicast request waited for a tag"),
    COLUMN_U64(buffer_stalls, "no buffer", "times", "an ld_reduce waited for reduction buffer"),
    COLUMN_U64(round_stalls, "rounds", "times", "a request waited for a replication's rounds"),
    COLUMN_END,
};

const Column series_latency_columns[] = {
    COLUMN_TEXT(run, "run", "which of the runs in this report"),
    COLUMN_TEXT(what, "requests", "where to, and what was asked"),
    COLUMN_FIXED(from_ns, "latency", "ns", 3, "at least so long, request at the SM to answer at the SM"),
    COLUMN_FIXED(to_ns, "below", "ns", 3, "and less than this"),
    COLUMN_U64(count, "requests", "", "that took so long"),
    COLUMN_END,
};

static const Column switch_columns[] = {
    COLUMN_TEXT(run, "run", "which of the runs in this report"),
    COLUMN_TEXT(name, "switch", "which"),
    COLUMN_FIXED(in_pct, "in", "%", 2, "mean of the links to it: share of the time in which they carried flits"),
    COLUMN_FIXED(in_most_pct, "most", "%", 2, "of the link that carried most"),
    COLUMN_FIXED(out_pct, "out", "%", 2, "mean of the links from it"),
    COLUMN_FIXED(out_most_pct, "most", "%", 2, "of the link that carried most"),
    COLUMN_U64(packets_in, "in", "packets", "that came in"),
    COLUMN_U64(packets_out, "out", "packets", "that left"),
    COLUMN_U64(reduced, "reduced", "packets", "sums and merged acknowledgements sent back"),
    COLUMN_END,
};

void series_tables_begin(SeriesTables *tables)
{
    Report *report = tables->report;
    const TableFlags flags = (TableFlags)(TABLE_NO_TEXT | TABLE_FOLDED);
    const unsigned lines = CHART_LINES | CHART_NO_POINTS | CHART_STEPS;
    Table *t = tables->in_time = report_add_table(report, "in_time", "in time", series_in_time_columns, flags);
    tables->latencies = report_add_table(report, "latencies", "latencies", series_latency_columns, flags);
    report_add_chart_split(report, t, "throughput over time", "run", "to_us", "up_GBps,down_GBps,answered_GBps", NULL,
                           lines);
    report_add_chart_split(report, t, "tags in use over time, at the port that has most", "run", "to_us",
                           "multicast_tags,reduction_tags", NULL, lines);
    report_add_chart_split(report, t, "reduction buffer in use over time, at the port that has most", "run", "to_us",
                           "reduction_KiB", NULL, lines);
    report_add_chart_split(report, t, "packets waiting for a wire over time", "run", "to_us", "queued", NULL, lines);
    report_add_chart_split(report, t, "waits that began, by reason, over time", "run", "to_us",
                           "credit_stalls,tag_stalls,buffer_stalls,round_stalls", NULL, lines);
    report_add_chart_split(report, tables->latencies, "latencies: how many requests took how long", "run", "from_ns",
                           "count", "what", CHART_BARS | CHART_LOG_X);
}

/* A byte in a picosecond is 1 TB/s, or 1,000 GB/s. */
static double tables_GBps(guint64 bytes, SimTime ps) { return ps ? (double)bytes * 1000 / (double)ps : 0; }

static void tables_point(Table *table, const char *run, const SeriesPoint *point)
{
    const SimTime ps = point->to_ps - point->from_ps;
    table_text(table, run);
    table_fixed(table, (double)point->from_ps / PS_PER_US);
    table_fixed(table, (double)point->to_ps / PS_PER_US);
    table_fixed(table, tables_GBps(point->up_flits * FLIT_BYTES, ps));
    table_fixed(table, tables_GBps(point->down_flits * FLIT_BYTES, ps));
    table_fixed(table, tables_GBps(point->bytes, ps));
    table_u64(table, point->outstanding);
    table_u64(table, point->queued);
    table_u64(table, point->multicast_tags_most);
    table_u64(table, point->reduction_tags_most);
    table_fixed(table, (double)point->reduction_bytes_most / 1024);
    table_u64(table, point->multicast_tags);
    table_u64(table, point->reduction_tags);
    table_u64(table, point->credit_stalls);
    table_u64(table, point->tag_stalls);
    table_u64(table, point->buffer_stalls);
    table_u64(table, point->round_stalls);
}

static void tables_latency(Table *table, const char *run, const char *where, PacketKind kind, const Hist *latency_ps)
{
    g_autofree char *what = g_strdup_printf("%s %s", where, packet_kind_name(kind));
    for (guint b = 0; b < HIST_BUCKETS; b++) {
        if (latency_ps->bucket[b] == 0)
            continue;
        table_text(table, run);
        table_text(table, what);
        table_fixed(table, (double)hist_bucket_first(b) / PS_PER_NS);
        table_fixed(table, (double)hist_bucket_first(b + 1) / PS_PER_NS);
        table_u64(table, latency_ps->bucket[b]);
    }
}

static void tables_operations(Table *table, const char *run, const OpTable *ops, const char *where)
{
    for (int k = 0; k <= PACKET_MC_READ; k++)
        if (ops->kind[k] && ops->kind[k]->count)
            tables_latency(table, run, where, (PacketKind)k, &ops->kind[k]->latency_ps);
}

static void tables_latencies(SeriesTables *tables, const char *run, const Fabric *fabric)
{
    tables_operations(tables->latencies, run, &fabric->op_remote, "other GPUs");
    for (guint i = 1; i < fabric->op_object->len; i++) {
        g_autofree char *where = g_strdup_printf("multicast %u", i);
        tables_operations(tables->latencies, run, g_ptr_array_index(fabric->op_object, i), where);
    }
}

static void tables_switches(SeriesTables *tables, const char *run, const Fabric *fabric, SimTime passed_ps)
{
    for (guint32 s = 0; s < fabric->n_switches; s++) {
        const Switch *sw = &fabric->sw[s];
        LinksUse in = {0}, out = {0};
        for (guint32 p = 0; p < sw->ports; p++) {
            if (sw->in[p])
                links_use_add(&in, sw->in[p], passed_ps);
            if (sw->out[p])
                links_use_add(&out, sw->out[p], passed_ps);
        }
        table_text(tables->switches, run);
        table_text(tables->switches, sw->path);
        table_fixed(tables->switches, links_use_mean(&in));
        table_fixed(tables->switches, in.most_pct);
        table_fixed(tables->switches, links_use_mean(&out));
        table_fixed(tables->switches, out.most_pct);
        table_u64(tables->switches, in.packets);
        table_u64(tables->switches, out.packets);
        table_u64(tables->switches, sw->reduced);
    }
}

/* FALSE: there are enough. */
static gboolean tables_open(SeriesTables *tables)
{
    if (tables->runs == SERIES_RUNS) {
        tables->left_out++;
        return FALSE;
    }
    if (tables->runs++ == 0) {
        series_tables_begin(tables);
        tables->switches = report_add_table(tables->report, "switch_rows", "each switch", switch_columns,
                                            TABLE_NO_TEXT);
    }
    return TRUE;
}

static void tables_counters(SeriesTables *tables, const char *run, const Fabric *fabric, SimTime passed_ps)
{
    tables_switches(tables, run, fabric, passed_ps);
    g_autofree char *map = series_map(fabric, passed_ps);
    g_autofree char *title = g_strdup_printf("the system: how busy its links were in %s", run);
    if (map)
        report_add_map(tables->report, title, map);
    else
        report_add_page_note(tables->report, "%s: this system has too many links to be drawn; the tables have them.",
                             run);
}

static void tables_points(SeriesTables *tables, const char *run, const GArray *points)
{
    for (guint i = 0; i < points->len; i++)
        tables_point(tables->in_time, run, &g_array_index(points, SeriesPoint, i));
}

void series_tables_add(SeriesTables *tables, const RecordedRun *run)
{
    if (!tables_open(tables))
        return;
    tables_points(tables, run->name, run->points);
    tables_latencies(tables, run->name, run->fabric);
    tables_counters(tables, run->name, run->fabric, run->passed_ps);
}

gboolean series_tables_add_sum(SeriesTables *tables, SeriesSum *sum, const FabricSpec *spec, const char *run,
                               SimTime passed_ps, GError **error)
{
    const SimSpec sim_spec = {.seed = 1};
    Sim *sim = sim_new(&sim_spec, error);
    Fabric *fabric = sim ? fabric_new(sim, spec, FALSE, error) : NULL; /* it runs nothing, and has their counters */
    if (fabric && tables_open(tables)) {
        g_autoptr(GArray) points = series_sum_points(sum, passed_ps);
        tables_points(tables, run, points);
        for (guint m = 0; m < 2; m++)
            for (int k = 0; k <= PACKET_MC_READ; k++)
                if (series_sum_latency(sum, m != 0, (PacketKind)k))
                    tables_latency(tables->latencies, run, m ? "multicast" : "other GPUs", (PacketKind)k,
                                   series_sum_latency(sum, m != 0, (PacketKind)k));
        series_sum_put(sum, fabric);
        tables_counters(tables, run, fabric, passed_ps);
    }
    const gboolean made = fabric != NULL;
    if (fabric)
        fabric_free(fabric);
    if (sim)
        sim_free(sim);
    return made;
}
