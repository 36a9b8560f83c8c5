/* Tables of a replay: the best with multicast against the best without it, in all and for each kind
 * of communication. */
#include <stdlib.h>

#include "traces/replay/episode.h"
#include "traces/replay/report_parts.h"

/* ---- per collective */

static const Column advice_columns[] = {
    COLUMN_TEXT(job, "job", "which trace"),
    COLUMN_TEXT(op, "op", "the communication"),
    COLUMN_U64(gpus, "gpus", "", "ranks of its group"),
    COLUMN_TEXT(dtype, "type", "element type"),
    COLUMN_U64(bytes, "size", "B", "of one, as nccl-tests counts it"),
    COLUMN_U64(count, "count", "", "how many of them"),
    COLUMN_TEXT(unicast, "unicast", "the fastest algorithm and protocol without multicast"),
    COLUMN_FIXED(unicast_us, "time", "us", 2, "with it, mean"),
    COLUMN_TEXT(best, "best", "the fastest of all"),
    COLUMN_FIXED(best_us, "time", "us", 2, "with it, mean"),
    COLUMN_FIXED(saves_pct, "saves", "%", 1, "of the sum of the unicast times; negative: overlap"),
    COLUMN_TEXT(advice, "advice", "what to take"),
    COLUMN_END,
};

typedef struct {
    guint32 job, ranks;
    RecordOp op;
    RecordDtype dtype;
    guint64 bytes, count;
    SimTime sum_ps[2]; /* unicast, best */
    CollAlgo algo[2];
    CollProto proto[2];
} Advice;

static int advice_compare(const void *a, const void *b)
{
    const Advice *x = a, *y = b;
#define BY(field)                                                                                                      \
    if (x->field != y->field)                                                                                          \
        return x->field < y->field ? -1 : 1;
    BY(job)
    BY(op)
    BY(ranks)
    BY(bytes)
    BY(dtype)
    BY(algo[1])
    BY(proto[1])
    BY(algo[0])
    BY(proto[0])
#undef BY
    return 0;
}

static void advice_add(GArray *rows, const ReplayJob *jobs, guint32 job, guint32 index,
                       const ReplayResult *const *results)
{
    const Match *match = jobs[job].match;
    const MatchItem *item = &g_array_index(match->items, MatchItem, index);
    const ReplayItem *last = &results[1]->job[job].item[index];
    if (item->skipped || item->op == RECORD_PLAN || last->algo == COLL_ALGOS)
        return;
    Advice row = {.job = job, .ranks = item->n, .op = item->op};
    for (guint32 i = 0; i < item->n; i++) {
        const Record *r = trace_record(jobs[job].trace, g_array_index(match->members, guint32, item->first + i));
        row.bytes = MAX(row.bytes, record_bytes(r));
        row.dtype = r->dtype;
    }
    for (guint k = 0; k < 2; k++) {
        row.algo[k] = results[k]->job[job].item[index].algo;
        row.proto[k] = results[k]->job[job].item[index].proto;
    }
    Advice *to = NULL;
    for (guint i = 0; i < rows->len && !to; i++) {
        Advice *known = &g_array_index(rows, Advice, i);
        to = advice_compare(known, &row) == 0 ? known : NULL;
    }
    if (!to) {
        g_array_append_val(rows, row);
        to = &g_array_index(rows, Advice, rows->len - 1);
    }
    to->count++;
    for (guint k = 0; k < 2; k++) {
        const ReplayItem *played = &results[k]->job[job].item[index];
        to->sum_ps[k] += played->end_ps - played->start_ps;
    }
}

/* "ring/ll"; algorithms of one protocol by themselves. Caller frees. */
static char *algo_text(CollAlgo algo, CollProto proto)
{
    return proto == COLL_PROTO_AUTO || proto == COLL_SIMPLE
               ? g_strdup(coll_algo_name(algo))
               : g_strdup_printf("%s/%s", coll_algo_name(algo), coll_proto_name(proto));
}

static void advice_write(Table *table, const ReplayJob *jobs, const Advice *row)
{
    char *unicast = algo_text(row->algo[0], row->proto[0]);
    char *best = algo_text(row->algo[1], row->proto[1]);
    double without = (double)row->sum_ps[0], with = (double)row->sum_ps[1];
    gboolean multicast = replay_algo_is_multicast(row->algo[1]);
    gboolean can = FALSE;
    const CollAlgoList all = coll_algos_of(episode_coll_op(row->op));
    for (const CollAlgo *at = all.algo; *at != COLL_ALGOS; at++)
        can |= replay_algo_is_multicast(*at);
    char *advice = multicast ? g_strdup_printf("take %s, which the switches multicast", best)
                   : can     ? g_strdup_printf("stay with %s: multicast is no faster", best)
                             : g_strdup_printf("%s: there is no multicast algorithm", best);
    replay_report_name(table, &jobs[row->job]);
    table_text(table, record_op_name(row->op));
    table_u64(table, row->ranks);
    table_text(table, record_dtype_name(row->dtype));
    table_u64(table, row->bytes);
    table_u64(table, row->count);
    table_text(table, unicast);
    table_fixed(table, without / 1e6 / (double)row->count);
    table_text(table, best);
    table_fixed(table, with / 1e6 / (double)row->count);
    table_fixed(table, without > 0 ? 100 * (without - with) / without : 0);
    table_text(table, advice);
    g_free(unicast);
    g_free(best);
    g_free(advice);
}

static void add_advice(Report *report, const ReplayJob *jobs, const ReplayPair *pair)
{
    const ReplayResult *results[] = {pair->unicast, pair->multicast};
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(Advice));
    for (guint32 j = 0; j < results[0]->jobs; j++)
        for (guint i = 0; i < jobs[j].match->items->len; i++)
            advice_add(rows, jobs, j, i, results);
    if (rows->len > 0)
        qsort(rows->data, rows->len, sizeof(Advice), advice_compare);
    Table *table = report_add_table(report, "advice", "which algorithm is best", advice_columns, 0);
    for (guint i = 0; i < rows->len; i++)
        advice_write(table, jobs, &g_array_index(rows, Advice, i));
    g_array_free(rows, TRUE);
}

/* ---- in all */

static const Column pair_columns[] = {
    COLUMN_TEXT(kind, "algorithms", "the fastest of each communication; multicast: of all, unicast: of those without"),
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
        for (guint i = 0; i < jobs[j].match->items->len; i++)
            if (!g_array_index(jobs[j].match->items, MatchItem, i).skipped)
                sum_ps += result->job[j].item[i].end_ps - result->job[j].item[i].start_ps;
    }
    return sum_ps;
}

void replay_report_pair(Report *report, const ReplayJob *jobs, const ReplayPair *pair)
{
    if (!pair->multicast || !pair->unicast)
        return;
    const ReplayResult *both[] = {pair->multicast, pair->unicast};
    Table *table = report_add_table(report, "multicast_saves", "what multicast saves against unicast", pair_columns, 0);
    for (guint i = 0; i < 2; i++) {
        guint64 flits[2] = {0};
        for (gsize k = 0; k < (gsize)both[i]->usage.gpus * both[i]->usage.links * 2; k++)
            flits[k % 2] += both[i]->usage.flits[k];
        table_text(table, i == 0 ? "multicast" : "unicast");
        table_fixed(table, (double)both[i]->total_ps / 1e6);
        table_fixed(table, (double)communication_ps(jobs, both[i]) / 1e6);
        table_fixed(table, (double)flits[0] * 16 / 1e9);
        table_fixed(table, (double)flits[1] * 16 / 1e9);
    }
    add_advice(report, jobs, pair);
    SimTime with_ps = pair->multicast->total_ps, without_ps = pair->unicast->total_ps;
    double of = (double)without_ps;
    if (with_ps > without_ps) {
        report_add_answer(report,
                          "multicast saves nothing: taken where it is faster alone, the whole takes "
                          "%.2f us longer, as communications overlap; without it %.2f us is best",
                          (double)(with_ps - without_ps) / 1e6, of / 1e6);
        return;
    }
    double saved = (double)(without_ps - with_ps);
    report_add_answer(report, "multicast saves %.2f us of %.2f us (%.1f %%) against the best without it", saved / 1e6,
                      of / 1e6, of > 0 ? 100 * saved / of : 0);
}
