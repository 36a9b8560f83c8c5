#include "traces/record/select.h"

#include "traces/record/replicate.h"

static gboolean fail(const Trace *trace, const char *text, GError **error)
{
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: %s", trace->name, text);
    return FALSE;
}

static gboolean is_kept(const TraceSelection *s, const Record *record, guint32 place, const gboolean *rank)
{
    gboolean time = s->from_ps == 0 && s->to_ps == 0;
    if (!time) {
        time = record->start_ps != RECORD_NO_TIME && record->start_ps >= s->from_ps &&
               (s->to_ps == 0 || record->start_ps < s->to_ps);
    }
    return time && rank[record->rank] && (s->limit == 0 || place < s->limit);
}

static void keep_only(Trace *trace, const TraceSelection *s, const gboolean *rank)
{
    GArray *kept = g_array_new(FALSE, FALSE, sizeof(Record));
    GArray *deps = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 *new_index = g_new(guint32, trace->records->len + 1); /* plus 1; 0: gone */
    for (guint32 r = 0; r < trace->world; r++) {
        guint32 first = trace->rank_first[r], end = trace->rank_first[r + 1];
        trace->rank_first[r] = kept->len;
        for (guint32 i = first; i < end; i++) {
            const Record *record = trace_record(trace, i);
            new_index[i] = 0;
            if (is_kept(s, record, i - first, rank)) {
                g_array_append_val(kept, *record);
                new_index[i] = kept->len;
            }
        }
    }
    trace->rank_first[trace->world] = kept->len;
    for (guint i = 0; i < kept->len; i++) {
        Record *record = &g_array_index(kept, Record, i);
        guint32 first = deps->len;
        for (guint32 d = 0; d < record->dep_count; d++) {
            guint32 on = new_index[g_array_index(trace->deps, guint32, record->dep_first + d)];
            if (on > 0) {
                on--;
                g_array_append_val(deps, on);
            }
        }
        record->dep_first = first;
        record->dep_count = deps->len - first;
    }
    g_free(new_index);
    g_array_free(trace->records, TRUE);
    g_array_free(trace->deps, TRUE);
    trace->records = kept;
    trace->deps = deps;
}

gboolean trace_select(Trace *trace, const TraceSelection *selection, GError **error)
{
    gboolean any = selection->limit > 0 || selection->ranks || selection->from_ps > 0 || selection->to_ps > 0;
    if (!any)
        return TRUE;
    if (selection->from_ps > 0 || selection->to_ps > 0) {
        gboolean timed = FALSE;
        for (guint i = 0; i < trace->records->len && !timed; i++)
            timed = trace_record(trace, i)->start_ps != RECORD_NO_TIME;
        if (!timed)
            return fail(trace, "has no recorded times; --limit and --ranks select without them", error);
    }
    if (selection->ranks && !trace_replicate(trace, error))
        return FALSE;
    gboolean *rank = g_new0(gboolean, trace->world);
    gboolean ok = TRUE;
    for (guint32 r = 0; r < trace->world; r++)
        rank[r] = !selection->ranks;
    for (guint i = 0; selection->ranks && i < selection->ranks->len && ok; i++) {
        guint32 r = g_array_index(selection->ranks, guint32, i);
        g_autofree char *why = g_strdup_printf("--ranks: there is no rank %u; the job has ranks 0 to %u", r,
                                               MAX(trace->world, 1) - 1);
        ok = r < trace->world || fail(trace, why, error);
        if (ok)
            rank[r] = TRUE;
    }
    if (ok) {
        keep_only(trace, selection, rank);
        trace->selected = TRUE;
        ok = trace->records->len > 0 || fail(trace, "nothing is left by --limit, --ranks, --from and --to", error);
    }
    g_free(rank);
    return ok;
}
