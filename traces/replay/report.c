#include "traces/replay/report.h"

#include <math.h>
#include <stdlib.h>

#include "traces/record/plan.h"
#include "traces/replay/report_parts.h"

static const Column row_columns[] = {
    COLUMN_TEXT(job, "job", "which trace"),
    COLUMN_TEXT(op, "op", "the communication"),
    COLUMN_TEXT(algo, "algo", "which algorithm ran; plan: the execution plan; -: plain stores"),
    COLUMN_U64(gpus, "gpus", "", "ranks of its group"),
    COLUMN_TEXT(dtype, "type", "element type"),
    COLUMN_U64(bytes, "size", "B", "of one, as nccl-tests counts it: the larger of what a rank puts in and gets out"),
    COLUMN_U64(bytes_in, "in", "B", "what one rank puts into one"),
    COLUMN_U64(bytes_out, "out", "B", "what one rank gets out of one"),
    COLUMN_U64(count, "count", "", "how many of them"),
    COLUMN_U64(total_bytes, "total", "B", "size times count"),
    COLUMN_FIXED(time_us, "time", "us", 2, "mean, from the last rank's arrival to the end"),
    COLUMN_FIXED(time_max_us, "longest", "us", 2, "the same of the longest"),
    COLUMN_FIXED(sum_us, "sum", "us", 2, "the same of all"),
    COLUMN_FIXED(algbw_GBps, "algbw", "GB/s", 2, "size over mean time"),
    COLUMN_FIXED(busbw_GBps, "busbw", "GB/s", 2, "algbw with nccl-tests' factor of the operation"),
    COLUMN_U64(slowest_rank, "slowest", "rank", "the one that came last most often; -: all came together"),
    COLUMN_FIXED(skew_us, "skew", "us", 2, "mean, from the first rank's arrival to the last's"),
    COLUMN_BOOL(verified, "verified", "replays move no data: - not checked"),
    COLUMN_END,
};

typedef struct {
    guint32 job, ranks;
    RecordOp op;
    RecordDtype dtype;
    CollAlgo algo;
    guint64 bytes, in, out, count, skipped;
    SimTime sum_ps, max_ps, skew_ps;
    guint32 *last; /* by rank: how often it came last */
} Row;

typedef struct {
    const ReplayJob *jobs;
    const ReplayResult *result;
    GArray *rows;
} Rows;

static int row_compare(const void *a, const void *b)
{
    const Row *x = a, *y = b;
#define BY(field)                                                                                                      \
    if (x->field != y->field)                                                                                          \
        return x->field < y->field ? -1 : 1;
    BY(job)
    BY(op)
    BY(ranks)
    BY(bytes)
    BY(in)
    BY(dtype)
    BY(algo)
#undef BY
    return 0;
}

static void rows_add(Rows *rows, guint32 job, guint32 index)
{
    const Match *match = rows->jobs[job].match;
    const Trace *trace = rows->jobs[job].trace;
    const MatchItem *item = &g_array_index(match->items, MatchItem, index);
    const ReplayItem *played = &rows->result->job[job].item[index];
    if (item->skipped)
        return;
    Row row = {.job = job, .ranks = item->n, .op = item->op, .algo = played->algo};
    for (guint32 i = 0; i < item->n; i++) {
        const Record *r = trace_record(trace, g_array_index(match->members, guint32, item->first + i));
        row.bytes = MAX(row.bytes, record_bytes(r));
        row.in = MAX(row.in, r->bytes_in);
        row.out = MAX(row.out, r->bytes_out);
        row.dtype = r->dtype;
    }
    Row *to = NULL;
    for (guint i = 0; i < rows->rows->len && !to; i++) {
        Row *known = &g_array_index(rows->rows, Row, i);
        to = row_compare(known, &row) == 0 ? known : NULL;
    }
    if (!to) {
        row.last = g_new0(guint32, trace->world);
        g_array_append_val(rows->rows, row);
        to = &g_array_index(rows->rows, Row, rows->rows->len - 1);
    }
    SimTime time_ps = played->end_ps - played->start_ps;
    to->count++;
    to->sum_ps += time_ps;
    to->max_ps = MAX(to->max_ps, time_ps);
    to->skew_ps += item->op == RECORD_SEND ? 0 : played->start_ps - played->first_ps;
    to->last[played->last_rank] += item->op != RECORD_SEND && played->start_ps > played->first_ps;
}

static double busbw_factor(RecordOp op, guint32 n)
{
    switch (op) {
    case RECORD_ALL_REDUCE: return 2.0 * (n - 1) / n;
    case RECORD_ALL_GATHER:
    case RECORD_REDUCE_SCATTER:
    case RECORD_ALL_TO_ALL:
    case RECORD_GATHER:
    case RECORD_SCATTER: return (double)(n - 1) / n;
    default: return 1;
    }
}

void replay_report_name(Table *table, const ReplayJob *job)
{
    char *name = g_path_get_basename(job->trace->name);
    table_text(table, name);
    g_free(name);
}

static void row_write(Table *table, const Rows *rows, const Row *row)
{
    guint32 world = rows->jobs[row->job].trace->world, slowest = 0;
    for (guint32 r = 1; r < world; r++)
        slowest = row->last[r] > row->last[slowest] ? r : slowest;
    const Plan *plan = rows->jobs[row->job].trace->plan;
    RecordOp op = row->op == RECORD_PLAN ? plan->op : row->op;
    double mean_us = (double)row->sum_ps / 1e6 / (double)row->count;
    double algbw = mean_us > 0 ? (double)row->bytes / mean_us / 1e3 : NAN;
    replay_report_name(table, &rows->jobs[row->job]);
    table_text(table, op == RECORD_SEND ? "sendrecv" : record_op_name(op));
    table_text(table, row->op == RECORD_PLAN ? "plan" : row->algo == COLL_ALGOS ? NULL : coll_algo_name(row->algo));
    table_u64(table, row->ranks);
    table_text(table, record_dtype_name(row->dtype));
    table_u64(table, row->bytes);
    table_u64(table, row->in);
    table_u64(table, row->out);
    table_u64(table, row->count);
    table_u64(table, row->bytes * row->count);
    table_fixed(table, mean_us);
    table_fixed(table, (double)row->max_ps / 1e6);
    table_fixed(table, (double)row->sum_ps / 1e6);
    table_fixed(table, algbw);
    table_fixed(table, algbw * busbw_factor(op, row->ranks));
    if (row->last[slowest] > 0)
        table_u64(table, slowest);
    else
        table_null(table);
    table_fixed(table, (double)row->skew_ps / 1e6 / (double)row->count);
    table_null(table);
}

static void add_rows(Report *report, const ReplayJob *jobs, const ReplayResult *result)
{
    Rows rows = {jobs, result, g_array_new(FALSE, FALSE, sizeof(Row))};
    for (guint32 j = 0; j < result->jobs; j++)
        for (guint i = 0; i < jobs[j].match->items->len; i++)
            rows_add(&rows, j, i);
    if (rows.rows->len > 0)
        qsort(rows.rows->data, rows.rows->len, sizeof(Row), row_compare);
    Table *table = report_add_table(report, "rows", "", row_columns, 0);
    for (guint i = 0; i < rows.rows->len; i++) {
        row_write(table, &rows, &g_array_index(rows.rows, Row, i));
        g_free(g_array_index(rows.rows, Row, i).last);
    }
    g_array_free(rows.rows, TRUE);
}

void replay_report_add(Report *report, const ReplaySpec *spec, const ReplayJob *jobs, guint n,
                       const ReplayResult *result, const ReplayPair *pair)
{
    report_add_fixed(report, "total_us", (double)result->total_ps / 1e6, 2, "us");
    report_add_u64(report, "simulated", result->simulated, "communications");
    report_add_u64(report, "remembered", result->memoised, "communications");
    add_rows(report, jobs, result);
    replay_report_jobs(report, jobs, result);
    replay_report_steps(report, jobs, result);
    replay_report_pair(report, jobs, pair);
    replay_report_links(report, spec, result);
    replay_report_switches(report, spec, result);
    if (result->usage.faults) {
        fault_costs_report(result->usage.faults, report);
        fault_costs_note_late(result->usage.faults, result->total_ps, report);
    }
    if (result->usage.errors > 0) {
        report_add_note(report,
                        "%" G_GUINT64_FORMAT " requests ended with an error, at which a program would end: all "
                        "times are those of the fabric alone",
                        result->usage.errors);
    }
    if (spec->flow) {
        report_add_note(report, "fidelity flow: bulk loops are flows with max-min fair rates; switches count only what "
                                "stayed packets");
    }
    if (result->memoised > 0) {
        report_add_note(report,
                        "%" G_GUINT64_FORMAT " communications had been simulated before, with what overlapped them, "
                        "and took what they took then (--no-memo simulates them again; the result is the same)",
                        result->memoised);
    }
    for (guint i = 0; i < result->notes->len; i++)
        report_add_note(report, "%s", (char *)result->notes->pdata[i]);
    for (guint j = 0; j < n; j++) {
        const Trace *trace = jobs[j].trace;
        for (guint i = 0; i < trace->notes->len; i++)
            report_add_note(report, "%s", (char *)trace->notes->pdata[i]);
        for (guint i = 0; i < trace->skips->len; i++) {
            const TraceSkip *skip = &g_array_index(trace->skips, TraceSkip, i);
            report_add_note(report, "skipped %" G_GUINT64_FORMAT ", %s; the first: %s", skip->count, skip->reason,
                            skip->first);
        }
    }
}
