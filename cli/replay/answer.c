/* See answer.h. */
#include "cli/replay/answer.h"

#include "traces/replay/report.h"

/* Over the ranks that did something, the mean of what no computing hides. */
static double answer_exposed_us(const ReplayJob *jobs, const ReplayResult *result)
{
    SimTime exposed_ps = 0;
    guint64 active = 0;
    for (guint32 j = 0; j < result->jobs; j++)
        for (guint32 r = 0; r < jobs[j].trace->world; r++) {
            const guint32 first = jobs[j].trace->rank_first[r], end = jobs[j].trace->rank_first[r + 1];
            if (first == end)
                continue;
            exposed_ps += replay_busy(&jobs[j], &result->job[j], first, end, RECORD_NO_STEP).exposed_ps;
            active++;
        }
    return (double)exposed_ps / PS_PER_US / (double)MAX(active, 1);
}

static void answer_add_most(Report *report, const ReplayJob *jobs, const ReplayResult *result)
{
    SimTime sum_ps[RECORD_OPS] = {0}, all_ps = 0;
    guint64 count[RECORD_OPS] = {0};
    guint most = 0, kinds = 0;
    for (guint32 j = 0; j < result->jobs; j++)
        for (guint i = 0; i < jobs[j].match->items->len; i++) {
            const MatchItem *item = &g_array_index(jobs[j].match->items, MatchItem, i);
            const ReplayItem *played = &result->job[j].item[i];
            if (item->skipped)
                continue;
            sum_ps[item->op] += played->end_ps - played->start_ps;
            all_ps += played->end_ps - played->start_ps;
            kinds += count[item->op]++ == 0;
        }
    for (guint op = 1; op < RECORD_OPS; op++)
        most = sum_ps[op] > sum_ps[most] ? op : most;
    if (all_ps && kinds > 1)
        report_add_answer(report, "%.0f %% of the communication's own time is %s (%" G_GUINT64_FORMAT " of them)",
                          100 * (double)sum_ps[most] / (double)all_ps, record_op_name((RecordOp)most), count[most]);
}

void replay_answer_add(Report *report, const char *system, const char *algos, const ReplayJob *jobs,
                       const ReplayResult *result, gboolean compared, const char *why)
{
    const double total_us = (double)result->total_ps / PS_PER_US, exposed_us = answer_exposed_us(jobs, result);
    report_add_answer(report,
                      "the %s %.2f us on %s with the algorithms of %s; %.2f us of that (%.0f %%) is communication that "
                      "no computing hides, in the "
                      "mean of the ranks",
                      result->jobs > 1 ? "traces take" : "trace takes", total_us, system, algos, exposed_us,
                      total_us > 0 ? 100 * exposed_us / total_us : 0);
    guint64 edges = 0;
    for (guint32 j = 0; j < result->jobs; j++)
        edges += jobs[j].match->edges;
    if (edges)
        report_add_answer(report,
                          "%" G_GUINT64_FORMAT
                          " communications lie across the edge of what was selected, and are not in "
                          "this time",
                          edges);
    answer_add_most(report, jobs, result);
    if (!compared && why)
        report_add_answer(report, "not tried: what is fastest with multicast and without it (%s)", why);
}
