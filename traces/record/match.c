#include "traces/record/match.h"

#include <stdlib.h>
#include <string.h>

#include "traces/record/match_parts.h"
#include "traces/record/replicate.h"

/* What two records must share to be of one communication. */
typedef struct {
    guint32 group, from, to, tag; /* from and to only of messages */
    gboolean message;
    guint64 sequence;
    guint32 order; /* the rank, or receive behind send */
    guint32 record;
} MatchKey;

static int key_compare_common(const MatchKey *x, const MatchKey *y)
{
#define BY(field)                                                                                                      \
    if (x->field != y->field)                                                                                          \
        return x->field < y->field ? -1 : 1;
    BY(message)
    BY(group)
    BY(from)
    BY(to)
    BY(tag)
    BY(sequence)
    return 0;
}

static int key_compare(const void *a, const void *b)
{
    const MatchKey *x = a, *y = b;
    int common = key_compare_common(x, y);
    if (common != 0)
        return common;
    BY(order)
    return 0;
#undef BY
}

static MatchKey *make_keys(const Trace *trace, guint *n)
{
    MatchKey *keys = g_new0(MatchKey, trace->records->len + 1);
    *n = 0;
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *r = trace_record(trace, i);
        gboolean send = r->op == RECORD_SEND, message = send || r->op == RECORD_RECV;
        if (!message && r->group == RECORD_NO_GROUP)
            continue;
        keys[(*n)++] = (MatchKey){
            .group = message ? 0 : r->group,
            .message = message,
            .from = !message ? 0
                    : send   ? r->rank
                             : (guint32)r->peer,
            .to = !message ? 0
                  : send   ? (guint32)r->peer
                           : r->rank,
            .tag = message ? r->tag : 0,
            .sequence = r->sequence,
            .order = message ? !send : r->rank,
            .record = i,
        };
    }
    if (*n > 0)
        qsort(keys, *n, sizeof(MatchKey), key_compare);
    return keys;
}

char *match_describe(const Trace *trace, guint32 index)
{
    const Record *r = trace_record(trace, index);
    char *where = trace_where(trace, &r->source);
    g_strchomp(where);
    where[strlen(where) - 1] = 0; /* the colon */
    char *text = g_strdup_printf("%s of %" G_GUINT64_FORMAT " bytes on rank %u (%s)", record_op_name(r->op),
                                 record_bytes(r), r->rank, where);
    g_free(where);
    return text;
}

gboolean match_problem(Matcher *m, const char *reason, char *text, GError **error)
{
    char *message = g_strdup_printf("%s: %s", m->trace->name, text);
    if (m->lenient)
        trace_skip(m->trace, reason, message);
    else
        g_set_error_literal(error, TRACE_ERROR, TRACE_ERROR_MATCH, message);
    g_free(message);
    g_free(text);
    return m->lenient;
}

/* Why two records cannot be of one collective; NULL: they can. */
static const char *difference(const Record *a, const Record *b)
{
    gboolean uneven = a->op == RECORD_ALL_TO_ALL || a->op == RECORD_GATHER || a->op == RECORD_SCATTER ||
                      a->op == RECORD_BROADCAST || a->op == RECORD_REDUCE;
    if (a->op != b->op)
        return "operations differ";
    if (!uneven && record_bytes(a) != record_bytes(b))
        return "sizes differ";
    if (a->dtype != b->dtype)
        return "element types differ";
    if (record_op_reduces(a->op) && a->reduction != b->reduction)
        return "reductions differ";
    if (record_op_has_root(a->op) && a->peer >= 0 && b->peer >= 0 && a->peer != b->peer)
        return "roots differ";
    return NULL;
}

/* Keys of one collective stand by rank. */
static gboolean has_rank(const MatchKey *keys, guint n, guint32 rank)
{
    guint low = 0, high = n;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (keys[middle].order < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && keys[low].order == rank;
}

static gboolean missing_member(Matcher *m, const MatchKey *keys, guint n, gboolean *skipped, GError **error)
{
    const RecordGroup *group = trace_group_at(m->trace, keys[0].group);
    for (guint32 p = 0; p < group->n; p++) {
        const guint32 rank = group->ranks[p];
        if (!has_rank(keys, n, rank)) {
            gboolean absent = rank >= m->trace->world || m->trace->rank_first[rank] == m->trace->rank_first[rank + 1];
            char *one = match_describe(m->trace, keys[0].record);
            char *text = g_strdup_printf("rank %u takes no part in the %" G_GUINT64_FORMAT
                                         ". collective of group '%s', %s; %s",
                                         rank, keys[0].sequence + 1, group->name, one,
                                         absent ? "its trace is missing: give the files of all ranks"
                                                : "all ranks of a group should make the same calls");
            g_free(one);
            *skipped = TRUE;
            return match_problem(m, "missing ranks", text, error);
        }
    }
    return TRUE;
}

static gboolean add_item(Matcher *m, const MatchKey *keys, guint n, RecordOp op, guint32 group, gboolean skipped)
{
    MatchItem item = {m->match->members->len, n, op, group, keys[0].sequence, skipped};
    for (guint i = 0; i < n; i++) {
        m->match->of_record[keys[i].record] = m->match->items->len;
        g_array_append_val(m->match->members, keys[i].record);
    }
    g_array_append_val(m->match->items, item);
    return TRUE;
}

static gboolean add_collective(Matcher *m, const MatchKey *keys, guint n, GError **error)
{
    Trace *trace = m->trace;
    const RecordGroup *group = trace_group_at(trace, keys[0].group);
    const Record *first = trace_record(trace, keys[0].record);
    gboolean skipped = FALSE;
    if (n < group->n) {
        if (trace->selected) {
            m->edges++;
            skipped = TRUE;
        } else if (!missing_member(m, keys, n, &skipped, error)) {
            return FALSE;
        }
    }
    for (guint i = 0; i < n; i++)
        skipped |= trace_record(trace, keys[i].record)->skipped;
    for (guint i = 1; i < n && !skipped; i++) {
        const char *differs = difference(first, trace_record(trace, keys[i].record));
        if (differs) {
            char *one = match_describe(trace, keys[0].record), *two = match_describe(trace, keys[i].record);
            char *text = g_strdup_printf("%s in the %" G_GUINT64_FORMAT
                                         ". collective of group '%s': %s, but %s; they should "
                                         "be the same",
                                         differs, keys[0].sequence + 1, group->name, one, two);
            g_free(one);
            g_free(two);
            skipped = TRUE;
            if (!match_problem(m, "groups that do not match", text, error))
                return FALSE;
        }
    }
    guint64 most = first->op == RECORD_ALL_TO_ALL ? 0 : 1;
    for (guint i = 0; i < n && most == 0; i++)
        most = record_bytes(trace_record(trace, keys[i].record));
    if (!skipped && most == 0) { /* no rank has any: there is nothing to simulate */
        trace_count(trace, "communications of 0 bytes move nothing", record_op_name(first->op), 0);
        skipped = TRUE;
    }
    return add_item(m, keys, n, first->op, keys[0].group, skipped);
}

static gboolean add_message(Matcher *m, const MatchKey *keys, guint n, GError **error)
{
    Trace *trace = m->trace;
    const Record *a = trace_record(trace, keys[0].record);
    gboolean skipped = a->skipped;
    if (n == 1 && trace->selected) {
        m->edges++;
        skipped = TRUE;
    } else if (n == 1 && !skipped) {
        guint32 other = a->op == RECORD_SEND ? keys[0].to : keys[0].from;
        char *one = match_describe(trace, keys[0].record);
        gboolean absent = other >= trace->world || trace->rank_first[other] == trace->rank_first[other + 1];
        char *text = g_strdup_printf("%s finds no %s on rank %u%s", one, a->op == RECORD_SEND ? "receive" : "send",
                                     other,
                                     absent ? ", whose trace is missing: give the files of all ranks"
                                            : "; each send should have a receive of the same tag");
        g_free(one);
        skipped = TRUE;
        if (!match_problem(m, absent ? "missing ranks" : "unmatched messages", text, error))
            return FALSE;
    } else if (n == 2) {
        const Record *b = trace_record(trace, keys[1].record);
        skipped |= b->skipped;
        if (!skipped && a->bytes_in != b->bytes_in) {
            char *one = match_describe(trace, keys[0].record), *two = match_describe(trace, keys[1].record);
            char *text = g_strdup_printf("sizes differ: %s meets %s", one, two);
            g_free(one);
            g_free(two);
            skipped = TRUE;
            if (!match_problem(m, "unmatched messages", text, error))
                return FALSE;
        }
    }
    return add_item(m, keys, n, RECORD_SEND, a->group, skipped);
}

static gboolean add_items(Matcher *m, GError **error)
{
    guint n;
    MatchKey *keys = make_keys(m->trace, &n);
    gboolean ok = TRUE;
    for (guint i = 0, end; i < n && ok; i = end) {
        for (end = i + 1; end < n && key_compare_common(&keys[i], &keys[end]) == 0; end++) {
        }
        ok = keys[i].message ? add_message(m, keys + i, end - i, error) : add_collective(m, keys + i, end - i, error);
    }
    g_free(keys);
    return ok;
}

Match *match_new(Trace *trace, gboolean lenient, GError **error)
{
    if (!trace_replicate(trace, error))
        return NULL;
    Matcher m = {.trace = trace, .match = g_new0(Match, 1), .lenient = lenient};
    m.match->items = g_array_new(FALSE, FALSE, sizeof(MatchItem));
    m.match->members = g_array_new(FALSE, FALSE, sizeof(guint32));
    m.match->of_record = g_new(guint32, trace->records->len + 1);
    memset(m.match->of_record, 0xff, (trace->records->len + 1) * sizeof(guint32));
    if (!add_items(&m, error) || !match_check_end(&m, error)) {
        match_free(m.match);
        return NULL;
    }
    m.match->edges = m.edges;
    if (m.edges > 0) {
        trace_note(trace,
                   "%s: %" G_GUINT64_FORMAT " communications lie across the edge of the selection and are left out",
                   trace->name, m.edges);
    }
    return m.match;
}

void match_free(Match *match)
{
    if (match) {
        g_array_free(match->items, TRUE);
        g_array_free(match->members, TRUE);
        g_free(match->of_record);
        g_free(match);
    }
}
