/* A log that ends inside a line was cut off while its ranks wrote, each at another place: calls at its end that not all
 * ranks made are left out. */
#include "traces/format/nccl_log/nccl_log.h"

/* How often each key came, by its text. */
static guint count_up(GHashTable *counts, const char *key)
{
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key));
    g_hash_table_insert(counts, g_strdup(key), GUINT_TO_POINTER(n + 1));
    return n;
}

static char *key_of(const Record *r, guint32 rank, gboolean other)
{
    gboolean send = (r->op == RECORD_SEND) != other;
    if (r->op == RECORD_SEND || r->op == RECORD_RECV)
        return g_strdup_printf("%c %u %u", send ? 's' : 'r', r->op == RECORD_SEND ? r->rank : (guint32)r->peer,
                               r->op == RECORD_SEND ? (guint32)r->peer : r->rank);
    return g_strdup_printf("c %u %u", r->group, rank);
}

static guint count_of(GHashTable *counts, const Record *r, guint32 rank, gboolean other)
{
    char *key = key_of(r, rank, other);
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key));
    g_free(key);
    return n;
}

/* How many calls like this one all those made that have any calls. */
static guint made_by_all(const Trace *trace, GHashTable *counts, const guint8 *present, const Record *r)
{
    if (r->op == RECORD_SEND || r->op == RECORD_RECV)
        return (guint32)r->peer < trace->world && present[r->peer] ? count_of(counts, r, r->rank, TRUE) : G_MAXUINT;
    const RecordGroup *group = trace_group_at(trace, r->group);
    guint least = G_MAXUINT;
    for (guint32 i = 0; i < group->n; i++)
        if (present[group->ranks[i]])
            least = MIN(least, count_of(counts, r, group->ranks[i], FALSE));
    return least;
}

void nccl_log_drop_torn(NcclLog *log)
{
    Trace *trace = log->reader->trace;
    GHashTable *counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    guint8 *present = g_new0(guint8, trace->world);
    for (guint i = 0; i < trace->records->len; i++) {
        const Record *r = trace_record(trace, i);
        char *key = key_of(r, r->rank, FALSE);
        present[r->rank] = 1;
        count_up(counts, key);
        g_free(key);
    }
    for (guint i = 0; i < trace->records->len; i++) {
        Record *r = trace_record(trace, i);
        if (r->op == RECORD_COMPUTE)
            continue;
        char *key = key_of(r, r->rank, FALSE);
        if (count_up(seen, key) >= made_by_all(trace, counts, present, r)) {
            trace_count(trace, "calls that not all ranks made before the log was cut off are left out",
                        record_op_name(r->op), 0);
            r->op = RECORD_COMPUTE;
            r->group = RECORD_NO_GROUP;
            r->peer = RECORD_NO_PEER;
        }
        g_free(key);
    }
    g_free(present);
    g_hash_table_destroy(counts);
    g_hash_table_destroy(seen);
}
