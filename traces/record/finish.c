/* The end of reading a trace: order, implied dependencies, cycles, sequence numbers. */
#include <stdlib.h>

#include "traces/record/record.h"

typedef struct {
    guint32 to, on;
} DepPair;

static int pair_compare(const void *a, const void *b)
{
    const DepPair *x = a, *y = b;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->on > y->on) - (x->on < y->on);
}

/* Stable counting sort by rank: new_index[old] = new. */
static guint32 *order_by_rank(Trace *trace)
{
    guint n = trace->records->len;
    guint32 *first = g_new0(guint32, trace->world + 1);
    for (guint i = 0; i < n; i++)
        first[trace_record(trace, i)->rank + 1]++;
    for (guint32 r = 0; r < trace->world; r++) {
        trace->recorded_ranks += first[r + 1] > 0;
        first[r + 1] += first[r];
    }
    guint32 *next = g_memdup2(first, (trace->world + 1) * sizeof(guint32));
    guint32 *new_index = g_new(guint32, n + 1);
    GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(Record), n);
    g_array_set_size(sorted, n);
    for (guint i = 0; i < n; i++) {
        const Record *record = trace_record(trace, i);
        new_index[i] = next[record->rank]++;
        g_array_index(sorted, Record, new_index[i]) = *record;
    }
    g_array_free(trace->records, TRUE);
    trace->records = sorted;
    g_free(next);
    g_free(trace->rank_first);
    trace->rank_first = first;
    return new_index;
}

static void place_deps(Trace *trace, const guint32 *new_index)
{
    DepPair *pairs = (DepPair *)trace->dep_pairs->data;
    guint n = trace->dep_pairs->len;
    for (guint i = 0; i < n; i++) {
        pairs[i].to = new_index[pairs[i].to];
        pairs[i].on = new_index[pairs[i].on];
    }
    g_array_sort(trace->dep_pairs, pair_compare); /* qsort may not be given an empty NULL */
    g_array_set_size(trace->deps, 0);
    for (guint i = 0; i < n; i++) {
        if (i > 0 && pair_compare(&pairs[i], &pairs[i - 1]) == 0)
            continue;
        Record *record = trace_record(trace, pairs[i].to);
        const Record *on = trace_record(trace, pairs[i].on);
        gboolean implied = record->rank == on->rank && record->stream == on->stream &&
                           record->stream != RECORD_NO_STREAM && pairs[i].on < pairs[i].to;
        if (implied)
            continue;
        if (record->dep_count == 0)
            record->dep_first = trace->deps->len;
        record->dep_count++;
        g_array_append_val(trace->deps, pairs[i].on);
    }
    g_array_set_size(trace->dep_pairs, 0);
}

typedef struct {
    guint32 *waits;      /* how many things a record still waits for */
    guint32 *user_first; /* who waits for a record: users[user_first[i] .. user_first[i + 1]) */
    guint32 *users;
    guint32 *stream_next;   /* the next record of the same rank and stream, plus 1; 0: none */
    guint32 *stream_before; /* the one before it, plus 1 */
    guint8 *done;
    guint32 *queue;
    guint tail;
} Order;

static void order_link_streams(const Trace *trace, Order *order)
{
    GHashTable *last = g_hash_table_new(g_int64_hash, g_int64_equal);
    gint64 *keys = g_new(gint64, trace->records->len + 1);
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *record = trace_record(trace, i);
        if (record->stream == RECORD_NO_STREAM)
            continue;
        keys[i] = ((gint64)record->rank << 32) + record->stream;
        guint before = GPOINTER_TO_UINT(g_hash_table_lookup(last, &keys[i]));
        if (before != 0) {
            order->stream_next[before - 1] = i + 1;
            order->stream_before[i] = before;
            order->waits[i]++;
        }
        g_hash_table_insert(last, &keys[i], GUINT_TO_POINTER(i + 1));
    }
    g_hash_table_destroy(last);
    g_free(keys);
}

static void order_init(Order *order, const Trace *trace)
{
    guint n = trace->records->len;
    order->waits = g_new0(guint32, n + 1);
    order->user_first = g_new0(guint32, n + 2);
    order->users = g_new(guint32, trace->deps->len + 1);
    order->stream_next = g_new0(guint32, n + 1);
    order->stream_before = g_new0(guint32, n + 1);
    order->done = g_new0(guint8, n + 1);
    order->queue = g_new(guint32, n + 1);
    order->tail = 0;
    for (guint i = 0; i < trace->deps->len; i++)
        order->user_first[g_array_index(trace->deps, guint32, i) + 1]++;
    for (guint i = 0; i < n; i++)
        order->user_first[i + 1] += order->user_first[i];
    guint32 *next = g_memdup2(order->user_first, (n + 1) * sizeof(guint32));
    for (guint i = 0; i < n; i++) {
        const Record *record = trace_record(trace, i);
        for (guint d = 0; d < record->dep_count; d++) {
            guint32 on = g_array_index(trace->deps, guint32, record->dep_first + d);
            order->users[next[on]++] = i;
            order->waits[i]++;
        }
    }
    g_free(next);
    order_link_streams(trace, order);
}

static void order_clear(Order *order)
{
    g_free(order->waits);
    g_free(order->user_first);
    g_free(order->users);
    g_free(order->stream_next);
    g_free(order->stream_before);
    g_free(order->done);
    g_free(order->queue);
}

static void order_ready(Order *order, guint32 at)
{
    if (--order->waits[at] == 0)
        order->queue[order->tail++] = at;
}

static void order_drain(Order *order, guint *head)
{
    while (*head < order->tail) {
        guint32 at = order->queue[(*head)++];
        order->done[at] = 1;
        for (guint32 u = order->user_first[at]; u < order->user_first[at + 1]; u++)
            if (order->users[u] != G_MAXUINT32)
                order_ready(order, order->users[u]);
        if (order->stream_next[at] != 0)
            order_ready(order, order->stream_next[at] - 1);
    }
}

/* What keeps a stuck record waiting: a dependency if there is one, else the record before it. */
static guint32 order_blocker(const Trace *trace, const Order *order, guint32 at, gboolean *by_dep)
{
    const Record *record = trace_record(trace, at);
    for (guint d = 0; d < record->dep_count; d++) {
        guint32 on = g_array_index(trace->deps, guint32, record->dep_first + d);
        if (!order->done[on]) {
            *by_dep = TRUE;
            return on;
        }
    }
    *by_dep = FALSE;
    return order->stream_before[at] - 1;
}

/* A record on a cycle that waits through a dependency: streams alone run forwards, so one exists.
 */
static guint32 order_cycle_member(const Trace *trace, const Order *order, guint32 start)
{
    guint8 *seen = g_new0(guint8, trace->records->len);
    gboolean by_dep;
    guint32 at = start;
    while (!seen[at]) {
        seen[at] = 1;
        at = order_blocker(trace, order, at, &by_dep);
    }
    for (guint32 next = order_blocker(trace, order, at, &by_dep); !by_dep;) {
        at = next;
        next = order_blocker(trace, order, at, &by_dep);
    }
    g_free(seen);
    return at;
}

static void order_cut(Trace *trace, Order *order, guint32 at)
{
    Record *record = trace_record(trace, at);
    guint32 kept = 0;
    for (guint d = 0; d < record->dep_count; d++) {
        guint32 on = g_array_index(trace->deps, guint32, record->dep_first + d);
        if (order->done[on]) {
            g_array_index(trace->deps, guint32, record->dep_first + kept++) = on;
            continue;
        }
        for (guint32 u = order->user_first[on]; u < order->user_first[on + 1]; u++)
            if (order->users[u] == at)
                order->users[u] = G_MAXUINT32;
        order_ready(order, at);
    }
    record->dep_count = kept;
    record->skipped = TRUE;
}

static gboolean check_cycles(Trace *trace, gboolean lenient, GError **error)
{
    guint n = trace->records->len, head = 0, scan = 0;
    Order order;
    order_init(&order, trace);
    gboolean ok = TRUE;
    for (guint i = 0; i < n; i++)
        if (order.waits[i] == 0)
            order.queue[order.tail++] = i;
    for (order_drain(&order, &head); ok && head < n; order_drain(&order, &head)) {
        while (order.done[scan])
            scan++;
        guint32 member = order_cycle_member(trace, &order, scan);
        char *where = trace_where(trace, &trace_record(trace, member)->source);
        char *text = g_strdup_printf("%swaits for itself: its dependencies form a cycle; they should "
                                     "lead back to a node that has none",
                                     where);
        if (lenient) {
            trace_skip(trace, "cyclic dependencies", text);
            order_cut(trace, &order, member);
        } else {
            g_set_error_literal(error, TRACE_ERROR, TRACE_ERROR_MATCH, text);
            ok = FALSE;
        }
        g_free(where);
        g_free(text);
    }
    order_clear(&order);
    return ok;
}

/* The k-th collective of a group on a rank; the k-th message from a rank to a rank under a tag. */
static void number_sequences(Trace *trace)
{
    GHashTable *next = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < trace->records->len; i++) {
        Record *record = trace_record(trace, i);
        char key[80];
        if (record->op == RECORD_SEND || record->op == RECORD_RECV) {
            guint32 peer = record->peer;
            gboolean send = record->op == RECORD_SEND;
            g_snprintf(key, sizeof key, "%c %u %u %u %u", send ? 's' : 'r', record->group, send ? record->rank : peer,
                       send ? peer : record->rank, record->tag);
        } else if (record->group != RECORD_NO_GROUP) {
            g_snprintf(key, sizeof key, "%u %u", record->rank, record->group);
        } else {
            continue;
        }
        gsize k = GPOINTER_TO_SIZE(g_hash_table_lookup(next, key));
        record->sequence = k;
        g_hash_table_insert(next, g_strdup(key), GSIZE_TO_POINTER(k + 1));
    }
    g_hash_table_destroy(next);
}

static void note_counts(Trace *trace)
{
    for (guint i = 0; i < trace->counts->len; i++) {
        const TraceCount *count = &g_array_index(trace->counts, TraceCount, i);
        char *time = count->time_ps > 0 ? g_strdup_printf(", %.2f us in all", (double)count->time_ps / 1e6)
                                        : g_strdup("");
        trace_note(trace, "%s: %" G_GUINT64_FORMAT " of %s%s", count->what, count->count, count->name, time);
        g_free(time);
    }
    g_array_set_size(trace->counts, 0);
}

gboolean trace_finish(Trace *trace, gboolean lenient, GError **error)
{
    if (trace->too_many_members) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: its groups have over %u members in all", trace->name,
                    RECORD_MEMBERS_MAX);
        return FALSE;
    }
    guint32 *new_index = order_by_rank(trace);
    place_deps(trace, new_index);
    g_free(new_index);
    if (!check_cycles(trace, lenient, error))
        return FALSE;
    number_sequences(trace);
    note_counts(trace);
    return TRUE;
}
