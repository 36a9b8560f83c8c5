#include "traces/record/graph.h"

/* The record before each one on its stream, plus 1; 0: none. */
static guint32 *stream_before(const Trace *trace)
{
    guint32 *before = g_new0(guint32, trace->records->len + 1);
    GHashTable *last = g_hash_table_new(g_direct_hash, g_direct_equal); /* stream -> record + 1 */
    guint32 rank = G_MAXUINT32;
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *record = trace_record(trace, i);
        if (record->rank != rank) { /* records stand by rank */
            g_hash_table_remove_all(last);
            rank = record->rank;
        }
        if (record->stream != RECORD_NO_STREAM) {
            gpointer stream = GUINT_TO_POINTER(record->stream);
            before[i] = GPOINTER_TO_UINT(g_hash_table_lookup(last, stream));
            g_hash_table_insert(last, stream, GUINT_TO_POINTER(i + 1));
        }
    }
    g_hash_table_destroy(last);
    return before;
}

void graph_init(Graph *graph, const Trace *trace)
{
    guint n = trace->records->len;
    guint32 *before = stream_before(trace);
    graph->waits = g_new0(guint32, n + 1);
    graph->first = g_new0(guint32, n + 2);
    for (guint i = 0; i < n; i++) {
        const Record *record = trace_record(trace, i);
        for (guint32 d = 0; d < record->dep_count; d++)
            graph->first[g_array_index(trace->deps, guint32, record->dep_first + d) + 1]++;
        graph->waits[i] = record->dep_count + (before[i] > 0);
        graph->first[before[i]] += before[i] > 0; /* index of the predecessor, plus 1 */
    }
    for (guint i = 0; i < n; i++)
        graph->first[i + 1] += graph->first[i];
    graph->users = g_new(guint32, graph->first[n] + 1);
    guint32 *next = g_memdup2(graph->first, (n + 1) * sizeof(guint32));
    for (guint i = 0; i < n; i++) {
        const Record *record = trace_record(trace, i);
        for (guint32 d = 0; d < record->dep_count; d++)
            graph->users[next[g_array_index(trace->deps, guint32, record->dep_first + d)]++] = i;
        if (before[i] > 0)
            graph->users[next[before[i] - 1]++] = i;
    }
    g_free(next);
    g_free(before);
}

void graph_clear(Graph *graph)
{
    g_free(graph->waits);
    g_free(graph->first);
    g_free(graph->users);
}
