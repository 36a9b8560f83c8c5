/* Calls of an NCCL log become records: ranks, groups, bytes, order. */
#include "traces/format/nccl_log/nccl_log.h"

#include <string.h>

static const RecordDtype log_dtypes[] = {RECORD_I8,  RECORD_U8,   RECORD_I32,  RECORD_U32,
                                         RECORD_I64, RECORD_U64,  RECORD_F16,  RECORD_F32,
                                         RECORD_F64, RECORD_BF16, RECORD_E4M3, RECORD_E5M2};

/* Ranks of the job: those of the largest communicator; without INIT lines, processes in the order
 * they appear. */
static gboolean log_ranks(NcclLog *log, GError **error)
{
    guint32 largest = 0, processes = 0;
    for (guint i = 0; i < log->comms->len; i++) {
        const LogComm *comm = &g_array_index(log->comms, LogComm, i);
        if (comm->n > largest) {
            largest = comm->n;
            log->world_comm = i;
        }
    }
    const LogComm *world =
        largest > 0 ? &g_array_index(log->comms, LogComm, log->world_comm) : NULL;
    for (guint i = 0; i < log->comms->len; i++) {
        const LogComm *comm = &g_array_index(log->comms, LogComm, i);
        if (world != NULL && (comm->id == NULL || strcmp(comm->id, world->id) != 0)) {
            continue;
        }
        if (!g_hash_table_contains(log->rank_of, comm->process)) {
            guint rank = world != NULL ? (guint)comm->rank : processes;
            g_hash_table_insert(log->rank_of, comm->process, GUINT_TO_POINTER(rank + 1));
            processes++;
        }
    }
    if (world == NULL && log->calls->len > 0) {
        for (guint i = 0; i < log->calls->len; i++) {
            largest =
                MAX(largest, MIN(g_array_index(log->calls, LogCall, i).nranks, RECORD_WORLD_MAX));
        }
        largest = largest == 0 ? log->reader->spec->world : largest;
        if (largest == 0 || largest < processes) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                        "%s: says nowhere how many ranks there are; log with "
                        "NCCL_DEBUG_SUBSYS=INIT,COLL, or give --world N",
                        input_path(log->reader->input));
            return FALSE;
        }
        trace_note(log->reader->trace,
                   "%s: no Init lines: processes are ranks in the order in which they appear",
                   input_path(log->reader->input));
    }
    log->reader->trace->replicate = processes == 1 && largest > 1;
    return reader_set_world(log->reader, MAX(largest, 1), error);
}

/* The job's ranks of a communicator: by the Init lines of all its processes, or all ranks. */
static char *log_group(NcclLog *log, const LogCall *call, guint32 *group)
{
    Trace *trace = log->reader->trace;
    const LogComm *comm = &g_array_index(log->comms, LogComm, call->comm);
    guint32 n = comm->n > 0        ? comm->n
                : call->nranks > 0 ? MIN(call->nranks, RECORD_WORLD_MAX)
                                   : trace->world;
    if (n == trace->world) {
        *group = trace_group_world(trace, n);
        return NULL;
    }
    if (comm->id == NULL) {
        return g_strdup_printf(
            "communicator of %u ranks without an Init line; log with NCCL_DEBUG_SUBSYS=INIT,COLL",
            n);
    }
    guint32 *ranks = g_new(guint32, n);
    guint32 found = 0;
    memset(ranks, 0xff, n * sizeof(guint32));
    for (guint i = 0; i < log->comms->len; i++) {
        const LogComm *other = &g_array_index(log->comms, LogComm, i);
        guint rank = other->id != NULL && strcmp(other->id, comm->id) == 0 && other->n == n
                         ? GPOINTER_TO_UINT(g_hash_table_lookup(log->rank_of, other->process))
                         : 0;
        if (rank > 0 && ranks[other->rank] == G_MAXUINT32) {
            ranks[other->rank] = rank - 1;
            found++;
        }
    }
    char *wrong = NULL;
    if (found == n) {
        *group = trace_group(trace, comm->id, ranks, n);
    } else {
        wrong = g_strdup_printf("communicator %s has %u ranks, but the log has Init lines of %u of "
                                "them; give the logs of "
                                "all processes",
                                comm->id, n, found);
    }
    g_free(ranks);
    return wrong;
}

static char *log_record(NcclLog *log, const LogCall *call, Record *record)
{
    char *wrong = log_group(log, call, &record->group);
    if (wrong != NULL) {
        return wrong;
    }
    const RecordGroup *group = trace_group_at(log->reader->trace, record->group);
    if (call->dtype >= G_N_ELEMENTS(log_dtypes)) {
        return g_strdup_printf(
            "datatype %" G_GUINT64_FORMAT " should be 0 (int8) to 11 (float8e5m2)", call->dtype);
    }
    record->op = call->op;
    record->dtype = log_dtypes[call->dtype];
    record->reduction = call->reduction < RECORD_REDUCTIONS ? call->reduction : RECORD_SUM;
    guint64 bytes;
    if (__builtin_mul_overflow(call->count, record_dtype_bytes(record->dtype), &bytes) ||
        bytes > RECORD_BYTES_MAX) {
        return g_strdup_printf("count %" G_GUINT64_FORMAT " is over 1 TiB", call->count);
    }
    if (call->op == RECORD_REDUCE_SCATTER || call->op == RECORD_SCATTER ||
        call->op == RECORD_ALL_TO_ALL) {
        bytes *= group->n; /* count is of one rank's part */
    }
    if (!record_set_bytes_in(record, bytes, group->n)) {
        return g_strdup_printf("count %" G_GUINT64_FORMAT " is over 1 TiB", call->count);
    }
    gboolean rooted =
        record_op_has_root(call->op) || call->op == RECORD_SEND || call->op == RECORD_RECV;
    if (rooted && (guint64)call->root >= group->n) {
        return g_strdup_printf("root %" G_GINT64_FORMAT
                               " should be below the communicator's %u ranks",
                               call->root, group->n);
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
    for (guint i = 0; i < stream->last->len; i++) {
        trace_add_dep(trace, index, g_array_index(stream->last, guint32, i));
    }
    GArray *to = message ? stream->open : stream->last;
    if (!message) {
        g_array_set_size(to, 0);
    }
    g_array_append_val(to, index);
    stream->open_count = call->op_count;
}

static gboolean log_add(NcclLog *log, const LogCall *call, GHashTable *streams, GError **error)
{
    Trace *trace = log->reader->trace;
    const LogComm *comm = &g_array_index(log->comms, LogComm, call->comm);
    RecordSource where = reader_here(log->reader, call->line, 0, call->op_count);
    guint rank = GPOINTER_TO_UINT(g_hash_table_lookup(log->rank_of, comm->process));
    if (rank == 0) {
        return reader_problem(log->reader, where, "unknown rank", error,
                              "process %s has no Init line of the largest "
                              "communicator, so its rank is not known",
                              comm->process);
    }
    Record record;
    record_init(&record, rank - 1, RECORD_COMPUTE);
    record.source = where;
    gboolean ok = TRUE, good = FALSE;
    char *wrong = log_record(log, call, &record);
    if (wrong != NULL) {
        ok = reader_problem(log->reader, where, "wrong call", error, "%s", wrong);
        record.op = record.group == RECORD_NO_GROUP ? RECORD_COMPUTE : record.op;
    } else if ((call->op == RECORD_SEND || call->op == RECORD_RECV) &&
               (guint32)record.peer == record.rank) {
        trace_note(trace, "%s: sends of a rank to itself are local copies and take no time",
                   input_path(log->reader->input));
        record.op = RECORD_COMPUTE;
        good = TRUE;
    } else {
        ok = reader_check(log->reader, &record, &good, error);
    }
    record.skipped = !good;
    g_free(wrong);
    char *key = g_strconcat(comm->process, call->stream != NULL ? call->stream : "", NULL);
    LogStream *stream = g_hash_table_lookup(streams, key);
    if (stream == NULL) {
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
    if (!log_ranks(log, error)) {
        return FALSE;
    }
    GHashTable *streams = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, stream_free);
    gboolean ok = TRUE;
    for (guint i = 0; i < log->calls->len && ok; i++) {
        ok = log_add(log, &g_array_index(log->calls, LogCall, i), streams, error);
    }
    if (ok) {
        trace_note(
            log->reader->trace,
            "%s: NCCL logs carry no times: operations follow one another without computation",
            input_path(log->reader->input));
    }
    g_hash_table_destroy(streams);
    return ok;
}
