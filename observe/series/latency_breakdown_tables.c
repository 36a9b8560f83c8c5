/* Where the time went, as tables and charts of a report. */
#include "observe/series/latency_breakdown.h"

const char *const latency_breakdown_names[] = {"SM to port",
                                               "queueing",
                                               "credits",
                                               "serialization",
                                               "flight",
                                               "pipelines",
                                               "tags",
                                               "reduction buffer",
                                               "crossbar rounds",
                                               "room at the target",
                                               "memory",
                                               "reduction",
                                               "merged acknowledgement",
                                               NULL};

const Column latency_breakdown_run_columns[] = {
    COLUMN_TEXT(run, "run", "which of the runs in this report"),
    COLUMN_TEXT(what, "what", "what the time went into"),
    COLUMN_FIXED(time_us, "time", "us", 6, "all rows of a run together are its time"),
    COLUMN_FIXED(share_pct, "share", "%", 2, "of the run's time"),
    COLUMN_END,
};
const Column latency_breakdown_request_columns[] = {
    COLUMN_TEXT(run, "run", "which of the runs in this report"),
    COLUMN_TEXT(op, "op", "what was asked"),
    COLUMN_TEXT(what, "what", "what the time went into"),
    COLUMN_FIXED(mean_ns, "time", "ns", 3, "of a request, in the mean: the rows of an op are its mean latency"),
    COLUMN_FIXED(share_pct, "share", "%", 2, "of the latency"),
    COLUMN_U64(total_ps, "total", "ps", "of all requests together"),
    COLUMN_U64(requests, "requests", "", "of this kind"),
    COLUMN_END,
};

static void run_row(Table *table, const char *run, const char *what, SimTime ps, SimTime all_ps)
{
    if (ps == 0)
        return;
    table_text(table, run);
    table_text(table, what);
    table_fixed(table, (double)ps / PS_PER_US);
    table_fixed(table, 100 * (double)ps / (double)all_ps);
}

/* Time under way is shared out as the requests' own time is; whole picoseconds, which add up. */
static void tables_add_run(Table *table, const LatencyTotal *breakdown, const char *run)
{
    const SimTime all_ps = breakdown->time_ps, idle_ps = breakdown->idle_ps, busy_ps = all_ps - idle_ps;
    unsigned __int128 total = 0, sum[LATENCY_REASONS] = {0}, so_far = 0;
    for (int k = 0; k <= PACKET_MC_READ; k++)
        for (int r = 0; r < LATENCY_REASONS; r++) {
            sum[r] += breakdown->sum[k].part_ps[r];
            total += breakdown->sum[k].part_ps[r];
        }
    run_row(table, run, "no request under way: launch, computing, exit", idle_ps, all_ps);
    if (total == 0) {
        run_row(table, run, "requests that were not answered", busy_ps, all_ps);
        return;
    }
    for (int r = 0; r < LATENCY_REASONS; r++) {
        const SimTime from_ps = (SimTime)(so_far * busy_ps / total);
        so_far += sum[r];
        run_row(table, run, latency_breakdown_names[r], (SimTime)(so_far * busy_ps / total) - from_ps, all_ps);
    }
}

static void tables_add_requests(Table *table, const LatencyTotal *breakdown, const char *run)
{
    for (int k = 0; k <= PACKET_MC_READ; k++) {
        const LatencySum *sum = &breakdown->sum[k];
        for (int r = 0; r < LATENCY_REASONS; r++) {
            if (sum->part_ps[r] == 0)
                continue;
            table_text(table, run);
            table_text(table, packet_kind_name((PacketKind)k));
            table_text(table, latency_breakdown_names[r]);
            table_fixed(table, (double)sum->part_ps[r] / PS_PER_NS / (double)sum->requests);
            table_fixed(table, 100 * (double)sum->part_ps[r] / (double)sum->latency_ps);
            table_u64(table, sum->part_ps[r]);
            table_u64(table, sum->requests);
        }
    }
}

void latency_breakdown_tables_begin(LatencyTables *tables)
{
    Report *report = tables->report;
    tables->run = report_add_table(report, "where", "where the time went", latency_breakdown_run_columns, 0);
    tables->requests = report_add_table(report, "where_requests", "where the time of requests to others went",
                                        latency_breakdown_request_columns, 0);
    report_add_chart_split(report, tables->run, "where the time of the run went", NULL, "run", "time_us", "what",
                           CHART_STACKED);
    report_add_chart_split(report, tables->requests, "where the time of a request went, in the mean", "run", "op",
                           "mean_ns", "what", CHART_STACKED);
}

void latency_breakdown_tables_add_total(LatencyTables *tables, const LatencyTotal *total, const char *run)
{
    if (!tables->run)
        latency_breakdown_tables_begin(tables);
    tables_add_run(tables->run, total, run);
    tables_add_requests(tables->requests, total, run);
    guint64 apart = 0;
    for (int k = 0; k <= PACKET_MC_READ; k++)
        apart += total->sum[k].requests;
    if (total->seen > apart && total->seen > LATENCY_REQUESTS_MAX)
        report_add_note(tables->report,
                        "%s: where the time went is that of %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                        " requests: of one simulation, of the first %u",
                        run, apart, total->seen, LATENCY_REQUESTS_MAX);
}

void latency_breakdown_tables_add(LatencyTables *tables, const LatencyBreakdown *breakdown, const char *run)
{
    const LatencyTotal total = latency_breakdown_total(breakdown);
    latency_breakdown_tables_add_total(tables, &total, run);
}
