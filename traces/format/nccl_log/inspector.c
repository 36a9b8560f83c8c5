/* What NCCL's profiler plugins write, a JSON object a line: the Inspector's records of collectives and messages that
 * ended, and the example plugin's events that begin. Both name the communicator by its hash, the rank and the size; so
 * they become calls of communicators as those of a log do (nccl_log.h).
 *
 * Sizes are those of NCCL's counts: of one rank's part in AllGather and ReduceScatter. The Inspector has no element
 * types: sums run as f32. Nothing says a root: the group's first rank. */
#include <stdlib.h>
#include <string.h>

#include "traces/format/nccl_log/nccl_log.h"

typedef struct {
    NcclLog log;
    char *head_id, *head_process; /* of the last record that had a header: later ones of its dump may have none */
    guint64 head_rank, head_n;
} Inspector;

static int inspector_probe(const char *head, gsize n)
{
    (void)n;
    gboolean inspector = strstr(head, "\"coll_perf\"") || strstr(head, "\"p2p_perf\"") ||
                         strstr(head, "\"inspector_output_format_version\"");
    gboolean events = strstr(head, "\"CommHash\"") && strstr(head, "\"ph\"");
    return inspector ? 94 : events ? 88 : 0;
}

static void comm_clear(gpointer data)
{
    LogComm *comm = data;
    g_free(comm->host);
    g_free(comm->process);
    g_free(comm->id);
    g_free(comm->wrong);
}

static void call_clear(gpointer data) { g_free(((LogCall *)data)->stream); }

static guint32 comm_at(Inspector *inspector, const char *process, const char *id, guint64 rank, guint64 n)
{
    NcclLog *log = &inspector->log;
    char *key = g_strdup_printf("%s %s %" G_GUINT64_FORMAT, process, id, rank);
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(log->comm_of, key));
    if (found == 0) {
        const char *colon = strrchr(process, ':');
        LogComm comm = {.host = g_strndup(process, colon ? (gsize)(colon - process) : strlen(process)),
                        .process = g_strdup(process),
                        .device = -1,
                        .id = g_strdup(id),
                        .rank = (gint64)rank,
                        .n = (guint32)n,
                        .global = -1,
                        .job_rank = -1};
        g_array_append_val(log->comms, comm);
        found = log->comms->len;
        g_hash_table_insert(log->comm_of, g_strdup(key), GUINT_TO_POINTER(found));
    }
    g_free(key);
    return found - 1;
}

static gboolean op_of(const char *name, RecordOp *op)
{
    char *lower = g_ascii_strdown(name ? name : "", -1);
    gboolean known = reader_torch_op(lower, op) && *op != RECORD_BARRIER;
    g_free(lower);
    return known;
}

/* Bytes as a count of f32, or of the largest integers that they are whole ones of. */
static void bytes_as_count(LogCall *call, guint64 bytes)
{
    gboolean words = bytes % 4 == 0;
    call->dtype = words ? 7 : 1;
    call->count = words ? bytes / 4 : bytes;
}

static gboolean dtype_of(const char *name, guint64 *dtype)
{
    static const char *const names[] = {"int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
                                        "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
    const char *bare = name && g_str_has_prefix(name, "nccl") ? name + 4 : "";
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        if (g_ascii_strcasecmp(bare, names[i]) == 0) {
            *dtype = i;
            return TRUE;
        }
    }
    return FALSE;
}

static void add_call(Inspector *inspector, LogCall *call, const char *id, guint64 sequence)
{
    call->where = reader_here(inspector->log.reader, input_line_number(inspector->log.reader->input), 0,
                              (gint64)MIN(sequence, (guint64)G_MAXINT64));
    call->op_count = sequence;
    call->stream = g_strdup(id);
    g_array_index(inspector->log.comms, LogComm, call->comm).calls++;
    g_array_append_val(inspector->log.calls, *call);
}

static void leave_out(Inspector *inspector, const char *name)
{
    char *valid = g_utf8_make_valid(name ? name : "unknown", -1);
    trace_count(inspector->log.reader->trace, "calls that are not replayed are left out", valid, 0);
    g_free(valid);
}

/* "header" and "metadata" of the record, where it has them. FALSE: there was none yet, or it is wrong. */
static gboolean take_header(Inspector *inspector, const Json *root)
{
    const Json *header = json_get(root, "header"), *meta = json_get(root, "metadata");
    if (!header)
        return inspector->head_id != NULL;
    guint64 pid = 0;
    const char *id = json_string(json_get(header, "id")), *host = json_string(json_get(meta, "hostname"));
    json_u64(json_get(meta, "pid"), &pid);
    gboolean ok = id && json_u64(json_get(header, "rank"), &inspector->head_rank) &&
                  json_u64(json_get(header, "n_ranks"), &inspector->head_n) && inspector->head_n <= RECORD_WORLD_MAX &&
                  inspector->head_rank < inspector->head_n;
    if (ok) {
        g_free(inspector->head_id);
        g_free(inspector->head_process);
        inspector->head_id = g_utf8_make_valid(id, -1);
        inspector->head_process = g_strdup_printf("%s:%" G_GUINT64_FORMAT, host ? host : "", pid);
    }
    return ok;
}

/* A record of the Inspector. A text that says what is wrong, or NULL. */
static const char *take_record(Inspector *inspector, const Json *root)
{
    const Json *coll = json_get(root, "coll_perf"), *message = json_get(root, "p2p_perf");
    const Json *perf = coll ? coll : message;
    if (!take_header(inspector, root))
        return "a record should have a header with id, rank and n_ranks, the rank below n_ranks";
    if (!perf)
        return NULL; /* statistics of the dump itself */
    const char *name = json_string(json_get(perf, coll ? "coll" : "p2p"));
    guint64 bytes, sequence = 0, peer = 0;
    gint64 time_ps;
    LogCall call = {.op = RECORD_COMPUTE};
    if (!json_u64(json_get(perf, coll ? "coll_msg_size_bytes" : "p2p_msg_size_bytes"), &bytes) ||
        (message && !coll && !json_u64(json_get(perf, "p2p_peer"), &peer)))
        return "a record should have its size in bytes, and a message its peer";
    json_u64(json_get(perf, coll ? "coll_sn" : "p2p_sn"), &sequence);
    if (!op_of(name, &call.op)) {
        leave_out(inspector, name);
        return NULL;
    }
    if (json_decimal(json_get(perf, coll ? "coll_exec_time_us" : "p2p_exec_time_us"), 6, &time_ps) && time_ps >= 0 &&
        (guint64)time_ps <= RECORD_PS_MAX)
        call.duration_ps = (guint64)time_ps;
    bytes_as_count(&call, bytes);
    call.root = (gint64)MIN(peer, (guint64)G_MAXINT64);
    call.comm = comm_at(inspector, inspector->head_process, inspector->head_id, inspector->head_rank,
                        inspector->head_n);
    add_call(inspector, &call, inspector->head_id, sequence);
    return NULL;
}

/* An event of the example plugin that begins. */
static const char *take_event(Inspector *inspector, const Json *root)
{
    const Json *args = json_get(root, "args");
    const char *name = json_string(json_get(root, "name")), *cat = json_string(json_get(root, "cat"));
    guint64 pid = 0, hash, rank, sequence = 0, peer = 0;
    gboolean message = g_strcmp0(cat, "P2P") == 0;
    LogCall call = {.op = RECORD_COMPUTE};
    json_u64(json_get(root, "pid"), &pid);
    json_u64(json_get(args, "SeqNum"), &sequence);
    if (!json_u64(json_get(args, "CommHash"), &hash) || !json_u64(json_get(args, "Rank"), &rank) ||
        rank >= RECORD_WORLD_MAX || !json_u64(json_get(args, "Count"), &call.count) ||
        (message && !json_u64(json_get(args, "Peer"), &peer)))
        return "an event should have CommHash, Rank and Count, and a message its Peer";
    if (!op_of(name, &call.op) || !dtype_of(json_string(json_get(args, "Datatype")), &call.dtype)) {
        leave_out(inspector, name);
        return NULL;
    }
    char *process = g_strdup_printf(":%" G_GUINT64_FORMAT, pid), *id = g_strdup_printf("%" G_GUINT64_FORMAT, hash);
    call.root = (gint64)MIN(peer, (guint64)G_MAXINT64);
    call.comm = comm_at(inspector, process, id, rank, 0);
    add_call(inspector, &call, id, sequence);
    g_free(process);
    g_free(id);
    return NULL;
}

static gboolean is_event(const char *line)
{
    return (strstr(line, "\"COLL\"") || strstr(line, "\"P2P\"")) && strstr(line, "\"b\"");
}

static gboolean take_line(Inspector *inspector, const char *line, GError **error)
{
    gboolean record = strstr(line, "\"coll_perf\"") || strstr(line, "\"p2p_perf\"") || strstr(line, "\"header\"");
    if (!record && !is_event(line))
        return TRUE;
    Reader *reader = inspector->log.reader;
    gsize n = strlen(line);
    while (n > 0 && (g_ascii_isspace(line[n - 1]) || line[n - 1] == ','))
        n--; /* events are elements of a list */
    JsonDocument *document = json_parse(input_path(reader->input), line, n, NULL);
    if (!document && !input_line_ended(reader->input)) {
        trace_count(reader->trace, NCCL_LOG_TORN, "record", 0);
        inspector->log.torn = TRUE;
        return TRUE;
    }
    const char *wrong = !document ? "no JSON object, as each line should be"
                        : record  ? take_record(inspector, json_root(document))
                                  : take_event(inspector, json_root(document));
    gboolean ok = !wrong || reader_problem(reader, reader_here(reader, input_line_number(reader->input), 0, -1),
                                           "wrong line", error, "%s", wrong);
    if (document)
        json_free(document);
    return ok;
}

static void inspector_free(gpointer data)
{
    Inspector *inspector = data;
    g_hash_table_destroy(inspector->log.comm_of);
    g_array_free(inspector->log.comms, TRUE);
    g_array_free(inspector->log.calls, TRUE);
    g_free(inspector->head_id);
    g_free(inspector->head_process);
    g_free(inspector);
}

static gboolean inspector_read(Reader *reader, GError **error)
{
    Inspector *inspector = *reader->state;
    if (!inspector) {
        inspector = g_new0(Inspector, 1);
        inspector->log.comms = g_array_new(FALSE, FALSE, sizeof(LogComm));
        inspector->log.comm_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        inspector->log.calls = g_array_new(FALSE, FALSE, sizeof(LogCall));
        g_array_set_clear_func(inspector->log.comms, comm_clear);
        g_array_set_clear_func(inspector->log.calls, call_clear);
        *reader->state = inspector;
    }
    inspector->log.reader = reader;
    GError *broken = NULL;
    gboolean ok = TRUE;
    for (const char *line; ok && (line = input_line(reader->input, &broken));)
        ok = take_line(inspector, line, error);
    if (ok && broken)
        ok = reader_skip(reader, &broken, error);
    g_clear_error(&broken);
    return ok;
}

/* How many ranks a communicator has where its lines do not say (at least two: one has nothing to say), and its ranks of
 * one process by their own devices. */
static void complete_comms(NcclLog *log)
{
    GHashTable *most = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTable *first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < log->comms->len; i++) {
        const LogComm *comm = &g_array_index(log->comms, LogComm, i);
        guint n = MAX(GPOINTER_TO_UINT(g_hash_table_lookup(most, comm->id)), (guint)comm->rank + 1);
        g_hash_table_insert(most, comm->id, GUINT_TO_POINTER(MAX(n, 2)));
    }
    for (guint i = 0; i < log->comms->len; i++) {
        LogComm *comm = &g_array_index(log->comms, LogComm, i);
        comm->n = comm->n > 0 ? comm->n : GPOINTER_TO_UINT(g_hash_table_lookup(most, comm->id));
        char *place = g_strdup_printf("%s %s", comm->process, comm->id);
        guint other = GPOINTER_TO_UINT(g_hash_table_lookup(first, place));
        if (other > 0) {
            LogComm *before = &g_array_index(log->comms, LogComm, other - 1);
            before->device = before->rank;
            comm->device = comm->rank;
        } else {
            g_hash_table_insert(first, g_strdup(place), GUINT_TO_POINTER(i + 1));
        }
        g_free(place);
    }
    g_hash_table_destroy(most);
    g_hash_table_destroy(first);
}

static gboolean inspector_end(Reader *reader, GError **error)
{
    Inspector *inspector = *reader->state;
    inspector->log.reader = reader;
    complete_comms(&inspector->log);
    return nccl_log_build(&inspector->log, error);
}

/* The communicators that a file has lines of. */
static void inspector_identify(Input *input, TraceIdentity *identity)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    identity->ids = g_ptr_array_new_with_free_func(g_free);
    for (const char *line; (line = input_line(input, NULL)) != NULL;) {
        static const char *const keys[] = {"\"id\"", "\"CommHash\""};
        const char *at = strstr(line, "\"header\"") ? strstr(line, keys[0]) : strstr(line, keys[1]);
        if (at)
            at = strchr(at, ':');
        char *id = at ? g_strndup(at + 1, strcspn(at + 1, ",}")) : NULL;
        if (id && !g_hash_table_contains(seen, g_strstrip(id))) {
            g_hash_table_add(seen, id);
            g_ptr_array_add(identity->ids, id);
        } else {
            g_free(id);
        }
    }
    g_hash_table_destroy(seen);
}

const TraceFormat trace_format_inspector = {
    .name = "nccl-inspector",
    .title = "NCCL Inspector, or profiler plugin events",
    .probe = inspector_probe,
    .read = inspector_read,
    .end = inspector_end,
    .state_free = inspector_free,
    .identify = inspector_identify,
};
