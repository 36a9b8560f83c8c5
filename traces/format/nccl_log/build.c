/* Calls of an NCCL log become records: ranks, groups, bytes, order. */
#include "traces/format/nccl_log/nccl_log.h"

#include <string.h>

static const RecordDtype log_dtypes[] = {RECORD_I8,  RECORD_U8,  RECORD_I32, RECORD_U32,  RECORD_I64,  RECORD_U64,
                                         RECORD_F16, RECORD_F32, RECORD_F64, RECORD_BF16, RECORD_E4M3, RECORD_E5M2};

static char *log_record(NcclLog *log, const LogCall *call, Record *record)
{
    LogComm *comm = &g_array_index(log->comms, LogComm, call->comm);
    const char *wrong = nccl_log_group(log, comm, &record->group);
    if (wrong)
        return g_strdup(wrong);
    const RecordGroup *group = trace_group_at(log->reader->trace, record->group);
    if (call->dtype >= G_N_ELEMENTS(log_dtypes))
        return g_strdup_printf("datatype %" G_GUINT64_FORMAT " should be 0 (int8) to 11 (float8e5m2)", call->dtype);
    record->op = call->op;
    record->dtype = log_dtypes[call->dtype];
    record->reduction = call->reduction < RECORD_REDUCTIONS ? call->reduction : RECORD_SUM;
    guint64 bytes;
    if (__builtin_mul_overflow(call->count, record_dtype_bytes(record->dtype), &bytes) || bytes > RECORD_BYTES_MAX)
        return g_strdup_printf("count %" G_GUINT64_FORMAT " is over 1 TiB", call->count);
    if (call->op == RECORD_REDUCE_SCATTER || call->op == RECORD_SCATTER || call->op == RECORD_ALL_TO_ALL)
        bytes *= group->n; /* count is of one rank's part */
    if (!record_set_bytes_in(record, bytes, group->n))
        return g_strdup_printf("count %" G_GUINT64_FORMAT " is over 1 TiB", call->count);
    gboolean rooted = record_op_has_root(call->op) || call->op == RECORD_SEND || call->op == RECORD_RECV;
    if (rooted && (guint64)call->root >= group->n) {
        return g_strdup_printf("root %" G_GINT64_FORMAT " should be below the communicator's %u ranks", call->root,
                               group->n);
    }
    record->peer = rooted ? (gint32)group->ranks[call->root] : RECORD_NO_PEER;
    return NULL;
}

/* What the next operation on a stream waits for: a collective, or the sends and receives of one
 * group call. */
typedef struct {
    GArray *last, *open;
    guint64 open_count;
} LogStream;

static void stream_free(gpointer data)
{
    LogStream *stream = data;
    g_array_free(stream->last, TRUE);
    g_array_free(stream->open, TRUE);
    g_free(stream);
}

static void stream_order(Trace *trace, LogStream *stream, const LogCall *call, guint32 index)
{
    gboolean message = call->op == RECORD_SEND || call->op == RECORD_RECV;
    if (stream->open->len > 0 && (!message || call->op_count != stream->open_count)) {
        GArray *done = stream->last;
        stream->last = stream->open;
        stream->open = done;
        g_array_set_size(done, 0);
    }
    for (guint i = 0; i < stream->last->len; i++)
        trace_add_dep(trace, index, g_array_index(stream->last, guint32, i));
    GArray *to = message ? stream->open : stream->last;
    if (!message)
        g_array_set_size(to, 0);
    g_array_append_val(to, index);
    stream->open_count = call->op_count;
}

static gboolean log_add(NcclLog *log, const LogCall *call, GHashTable *streams, GError **error)
{
    Trace *trace = log->reader->trace;
    const LogComm *comm = &g_array_index(log->comms, LogComm, call->comm);
    RecordSource where = call->where;
    if (comm->job_rank < 0) {
        return reader_problem(log->reader, where, "unknown rank", error,
                              "process %s has no Init line of the largest "
                              "communicator, so its rank is not known",
                              comm->process);
    }
    Record record;
    record_init(&record, comm->job_rank, RECORD_COMPUTE);
    record.source = where;
    record.duration_ps = call->duration_ps;
    gboolean ok = TRUE, good = FALSE;
    char *wrong = log_record(log, call, &record);
    if (wrong) {
        ok = reader_problem(log->reader, where, "wrong call", error, "%s", wrong);
        record.op = record.group == RECORD_NO_GROUP ? RECORD_COMPUTE : record.op;
    } else if ((call->op == RECORD_SEND || call->op == RECORD_RECV) && (guint32)record.peer == record.rank) {
        trace_count(trace, "messages of a rank to itself are local copies and take no time", record_op_name(record.op),
                    0);
        record.op = RECORD_COMPUTE;
        good = TRUE;
    } else if (call->count == 0) {
        trace_count(trace, "calls of count 0 move nothing and take no time", record_op_name(record.op), 0);
        record_init(&record, comm->job_rank, RECORD_COMPUTE);
        record.source = where;
        good = TRUE;
    } else {
        ok = reader_check(log->reader, &record, &good, error);
    }
    record.skipped = !good;
    g_free(wrong);
    char *key = g_strdup_printf("%" G_GINT64_FORMAT " %s", comm->job_rank, call->stream ? call->stream : "");
    LogStream *stream = g_hash_table_lookup(streams, key);
    if (!stream) {
        stream = g_new0(LogStream, 1);
        stream->last = g_array_new(FALSE, FALSE, sizeof(guint32));
        stream->open = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_hash_table_insert(streams, g_strdup(key), stream);
    }
    stream_order(trace, stream, call, trace_add(trace, &record));
    g_free(key);
    return ok;
}

gboolean nccl_log_build(NcclLog *log, GError **error)
{
    if (!nccl_log_ranks(log, error))
        return FALSE;
    GHashTable *streams = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, stream_free);
    gboolean ok = TRUE;
    for (guint i = 0; i < log->calls->len && ok; i++)
        ok = log_add(log, &g_array_index(log->calls, LogCall, i), streams, error);
    if (ok && log->torn)
        nccl_log_drop_torn(log);
    if (ok) {
        trace_note(log->reader->trace,
                   "%s: NCCL's logs carry no times of calls: operations follow one another without computation",
                   log->reader->trace->name);
    }
    g_hash_table_destroy(streams);
    return ok;
}
