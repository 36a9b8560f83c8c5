/* What a matched communication asks of the fabric. */
#include "traces/replay/episode.h"

/* The work of an item: GPUs once each, in the group's order. FALSE: all its ranks are on one GPU.
 */
gboolean episode_work(const ReplayJob *job, guint32 index, EpisodeWork *work, guint16 *gpu)
{
    const Match *match = job->match;
    const MatchItem *item = &g_array_index(match->items, MatchItem, index);
    const Trace *trace = job->trace;
    const guint32 *members = &g_array_index(match->members, guint32, item->first);
    const Record *first = trace_record(trace, members[0]);
    *work = (EpisodeWork){.op = item->op,
                          .dtype = first->dtype,
                          .reduction = first->reduction,
                          .gpu = gpu,
                          .plan = trace->plan};
    gint32 root = RECORD_NO_PEER;
    for (guint32 i = 0; i < item->n; i++) {
        const Record *record = trace_record(trace, members[i]);
        guint16 at = job->gpu[record->rank];
        guint32 known = 0;
        while (known < work->n && gpu[known] != at) {
            known++;
        }
        if (known == work->n || item->op == RECORD_PLAN) {
            gpu[work->n++] = at;
        }
        work->bytes = MAX(work->bytes, record_bytes(record));
        root = record->peer >= 0 ? record->peer : root;
    }
    for (guint32 k = 0; root >= 0 && item->op != RECORD_SEND && k < work->n; k++) {
        work->root = gpu[k] == job->gpu[root] ? k : work->root;
    }
    return work->n > 1;
}

char *episode_work_key(const EpisodeWork *work)
{
    GString *key = g_string_new(NULL);
    g_string_append_printf(key, "%d %d %d %" G_GUINT64_FORMAT " %u %p:", work->op, work->dtype,
                           work->reduction, work->bytes, work->root, (const void *)work->plan);
    for (guint32 i = 0; i < work->n; i++) {
        g_string_append_printf(key, " %u", work->gpu[i]);
    }
    return g_string_free(key, FALSE);
}
