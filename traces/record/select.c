#include "traces/record/select.h"

#include <string.h>

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

/* Drops what is not marked of records that are not finished, and what depends on it begins when it can. */
static void drop_unmarked(Trace *trace, const guint8 *marked)
{
    GArray *kept = g_array_new(FALSE, FALSE, sizeof(Record)), *pairs = trace->dep_pairs;
    guint32 *new_index = g_new(guint32, trace->records->len + 1), left = 0;
    guint8 *waits = g_new0(guint8, trace->records->len + 1);
    for (guint32 i = 0; i < trace->records->len; i++) {
        new_index[i] = kept->len;
        if (marked[i])
            g_array_append_val(kept, *trace_record(trace, i));
    }
    for (guint i = 0; i < pairs->len; i++) {
        guint32 *pair = (guint32 *)(void *)pairs->data + 2 * (gsize)i;
        if (marked[pair[0]] && marked[pair[1]]) {
            waits[new_index[pair[0]]] = 1;
            guint32 moved[2] = {new_index[pair[0]], new_index[pair[1]]};
            memcpy((guint32 *)(void *)pairs->data + 2 * (gsize)left++, moved, sizeof moved);
        }
    }
    g_array_set_size(pairs, left);
    for (guint i = 0; i < kept->len; i++)
        if (!waits[i])
            g_array_index(kept, Record, i).gap_ps = 0;
    g_free(waits);
    g_free(new_index);
    g_array_free(trace->records, TRUE);
    trace->records = kept;
}

/* The steps of each rank; FALSE: a record is of no rank of the job. */
static gboolean steps_of(const Trace *trace, gint32 *low, gint32 *high)
{
    for (guint32 r = 0; r < trace->world; r++) {
        low[r] = G_MAXINT32;
        high[r] = -1;
    }
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *record = trace_record(trace, i);
        if (record->rank >= trace->world)
            return FALSE;
        if (record->step != RECORD_NO_STEP) {
            low[record->rank] = MIN(low[record->rank], record->step);
            high[record->rank] = MAX(high[record->rank], record->step);
        }
    }
    return TRUE;
}

void trace_common_steps(Trace *trace)
{
    gint32 *low = g_new(gint32, trace->world + 1), *high = g_new(gint32, trace->world + 1);
    gint32 from = 0, to = G_MAXINT32;
    gboolean differ = FALSE;
    gint64 one = -1;
    guint32 ranks = steps_of(trace, low, high) ? trace->world : 0;
    for (guint32 r = 0; r < ranks; r++) {
        if (high[r] < 0)
            continue; /* has no records, or none of a step */
        differ |= one >= 0 && (low[r] != low[one] || high[r] != high[one]);
        one = one < 0 ? (gint64)r : one;
        from = MAX(from, low[r]);
        to = MIN(to, high[r]);
    }
    if (differ && from <= to) {
        guint8 *marked = g_new0(guint8, trace->records->len + 1);
        for (guint i = 0; i < trace->records->len; i++) {
            const Record *record = trace_record(trace, i);
            marked[i] = record->step == RECORD_NO_STEP || (record->step >= from && record->step <= to);
        }
        drop_unmarked(trace, marked);
        g_free(marked);
        trace_note(trace, "%s: ranks were recorded over different steps: %d to %d, which all of them have, are taken",
                   trace->name, from, to);
    }
    g_free(low);
    g_free(high);
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
