/* Tables of a replay: jobs and training steps. */
#include "traces/replay/report_parts.h"

#include <stdlib.h>

static const Column job_columns[] = {
    COLUMN_TEXT(job, "job", "which trace"),
    COLUMN_TEXT(format, "format", "what it was read as"),
    COLUMN_U64(ranks, "ranks", "", "of the job"),
    COLUMN_U64(recorded_ranks, "recorded", "ranks", "that the files hold"),
    COLUMN_U64(gpus, "gpus", "", "that they run on"),
    COLUMN_U64(operations, "operations", "", "of all ranks, computations included"),
    COLUMN_U64(communications, "comms", "", "collectives and messages"),
    COLUMN_U64(groups, "groups", "", "that communicate"),
    COLUMN_FIXED(time_us, "time", "us", 2, "from the replay's start to the job's last operation"),
    COLUMN_FIXED(exposed_us, "exposed", "us", 2, "communication while the rank computes nothing, mean of the ranks"),
    COLUMN_FIXED(exposed_max_us, "most", "us", 2, "the same of the rank with most"),
    COLUMN_FIXED(communicating_us, "comm", "us", 2,
                 "communication, waiting for other ranks included, mean of the ranks"),
    COLUMN_FIXED(computing_us, "compute", "us", 2, "computation, mean of the ranks"),
    COLUMN_U64(skipped, "skipped", "", "what --lenient left out"),
    COLUMN_END,
};

static guint64 count_groups(const ReplayJob *job)
{
    gboolean *used = g_new0(gboolean, job->trace->groups->len + 1);
    guint64 n = 0;
    for (guint i = 0; i < job->match->items->len; i++) {
        guint32 group = g_array_index(job->match->items, MatchItem, i).group;
        if (group != RECORD_NO_GROUP && !used[group]) {
            used[group] = TRUE;
            n++;
        }
    }
    g_free(used);
    return n;
}

void replay_report_jobs(Report *report, const ReplayJob *jobs, const ReplayResult *result)
{
    Table *table = report_add_table(report, "jobs", "jobs", job_columns, 0);
    for (guint32 j = 0; j < result->jobs; j++) {
        const Trace *trace = jobs[j].trace;
        SimTime end_ps = 0, most_ps = 0, exposed_ps = 0, comm_ps = 0, compute_ps = 0;
        guint64 active = 0, gpus = 0;
        gboolean seen[VAS_GPUS_MAX] = {FALSE};
        for (guint32 r = 0; r < trace->world; r++) {
            guint32 first = trace->rank_first[r], end = trace->rank_first[r + 1];
            for (guint32 i = first; i < end; i++)
                end_ps = MAX(end_ps, result->job[j].end_ps[i]);
            if (first == end)
                continue;
            ReplayBusy busy = replay_busy(&jobs[j], &result->job[j], first, end, RECORD_NO_STEP);
            active++;
            exposed_ps += busy.exposed_ps;
            most_ps = MAX(most_ps, busy.exposed_ps);
            comm_ps += busy.communicating_ps;
            compute_ps += busy.computing_ps;
            gpus += !seen[jobs[j].gpu[r]];
            seen[jobs[j].gpu[r]] = TRUE;
        }
        double scale = 1e6 * (double)MAX(active, 1);
        replay_report_name(table, &jobs[j]);
        table_text(table, trace->format);
        table_u64(table, trace->world);
        table_u64(table, trace->recorded_ranks);
        table_u64(table, gpus);
        table_u64(table, trace->records->len);
        table_u64(table, jobs[j].match->items->len);
        table_u64(table, count_groups(&jobs[j]));
        table_fixed(table, (double)end_ps / 1e6);
        table_fixed(table, (double)exposed_ps / scale);
        table_fixed(table, (double)most_ps / 1e6);
        table_fixed(table, (double)comm_ps / scale);
        table_fixed(table, (double)compute_ps / scale);
        table_u64(table, trace_skipped(trace));
    }
}

static const Column step_columns[] = {
    COLUMN_TEXT(job, "job", "which trace"),
    COLUMN_U64(step, "step", "", "its number in the trace"),
    COLUMN_FIXED(begin_us, "begin", "us", 2, "first operation of any rank"),
    COLUMN_FIXED(end_us, "end", "us", 2, "last operation of any rank"),
    COLUMN_FIXED(time_us, "time", "us", 2, "end minus begin"),
    COLUMN_FIXED(exposed_us, "exposed", "us", 2, "communication while the rank computes nothing, mean of the ranks"),
    COLUMN_END,
};

static void add_step(Table *table, const ReplayJob *job, const ReplayJobResult *result, gint32 step)
{
    SimTime begin_ps = SIMTIME_NEVER, end_ps = 0, exposed_ps = 0;
    guint64 active = 0;
    for (guint i = 0; i < job->trace->records->len; i++) {
        if (trace_record(job->trace, i)->step == step) {
            begin_ps = MIN(begin_ps, result->start_ps[i]);
            end_ps = MAX(end_ps, result->end_ps[i]);
        }
    }
    for (guint32 r = 0; r < job->trace->world; r++) {
        guint32 first = job->trace->rank_first[r], end = job->trace->rank_first[r + 1];
        active += end > first;
        exposed_ps += replay_busy(job, result, first, end, step).exposed_ps;
    }
    replay_report_name(table, job);
    table_u64(table, step);
    table_fixed(table, (double)begin_ps / 1e6);
    table_fixed(table, (double)end_ps / 1e6);
    table_fixed(table, (double)(end_ps - begin_ps) / 1e6);
    table_fixed(table, (double)exposed_ps / 1e6 / (double)MAX(active, 1));
}

static int step_compare(const void *a, const void *b)
{
    gint32 x = *(const gint32 *)a, y = *(const gint32 *)b;
    return (x > y) - (x < y);
}

void replay_report_steps(Report *report, const ReplayJob *jobs, const ReplayResult *result)
{
    Table *table = report_add_table(report, "steps", "steps", step_columns, 0);
    for (guint32 j = 0; j < result->jobs; j++) {
        GHashTable *seen = g_hash_table_new(g_direct_hash, g_direct_equal);
        GArray *steps = g_array_new(FALSE, FALSE, sizeof(gint32));
        for (guint i = 0; i < jobs[j].trace->records->len; i++) {
            gint32 step = trace_record(jobs[j].trace, i)->step;
            if (step != RECORD_NO_STEP && g_hash_table_add(seen, GINT_TO_POINTER(step + 1)))
                g_array_append_val(steps, step);
        }
        if (steps->len > 0)
            qsort(steps->data, steps->len, sizeof(gint32), step_compare);
        for (guint i = 0; i < steps->len; i++)
            add_step(table, &jobs[j], &result->job[j], g_array_index(steps, gint32, i));
        g_array_free(steps, TRUE);
        g_hash_table_destroy(seen);
    }
}
