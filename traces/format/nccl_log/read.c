/* NCCL debug logs (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL): COLL lines are operations, INIT
 * lines say which rank of which communicator a process is.
 *
 * Lines carry no times: operations follow one another on their stream without computation between
 * them. Ranks of the job are the ranks of the largest communicator. Sends and receives of one
 * opCount were one group call and run side by side. */
#include <string.h>

#include "traces/format/nccl_log/nccl_log.h"

static const struct {
    const char *name;
    RecordOp op;
} log_ops[] = {
    {"AllReduce", RECORD_ALL_REDUCE},
    {"Broadcast", RECORD_BROADCAST},
    {"Reduce", RECORD_REDUCE},
    {"AllGather", RECORD_ALL_GATHER},
    {"ReduceScatter", RECORD_REDUCE_SCATTER},
    {"AllToAll", RECORD_ALL_TO_ALL},
    {"AlltoAll", RECORD_ALL_TO_ALL},
    {"Gather", RECORD_GATHER},
    {"Scatter", RECORD_SCATTER},
    {"Send", RECORD_SEND},
    {"Recv", RECORD_RECV},
};

static int log_probe(const char *head, gsize n)
{
    (void)n;
    return strstr(head, " NCCL INFO ") != NULL     ? 85
           : strstr(head, "NCCL version ") != NULL ? 60
                                                   : 0;
}

static void comm_clear(gpointer data)
{
    LogComm *comm = data;
    g_free(comm->key);
    g_free(comm->process);
    g_free(comm->id);
}

static void call_clear(gpointer data)
{
    g_free(((LogCall *)data)->stream);
}

/* The word behind `key` in the line, or NULL; caller frees. */
static char *word_after(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    if (at == NULL) {
        return NULL;
    }
    at += strlen(key);
    at += *at == ' ';
    return g_strndup(at, strcspn(at, " ]\t"));
}

static gboolean number_after(const char *line, const char *key, guint base, guint64 *value)
{
    char *word = word_after(line, key);
    const char *digits =
        word != NULL && base == 16 && g_str_has_prefix(word, "0x") ? word + 2 : word;
    gboolean ok =
        digits != NULL && g_ascii_string_to_unsigned(digits, base, 0, G_MAXINT64, value, NULL);
    g_free(word);
    return ok;
}

static guint32 comm_index(NcclLog *log, const char *process, const char *pointer)
{
    char *key = g_strconcat(process, " ", pointer, NULL);
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(log->comm_of, key));
    if (found != 0) {
        g_free(key);
        return found - 1;
    }
    LogComm comm = {key, g_strdup(process), NULL, -1, 0};
    g_array_append_val(log->comms, comm);
    g_hash_table_insert(log->comm_of, key, GUINT_TO_POINTER(log->comms->len));
    return log->comms->len - 1;
}

/* "ncclCommInitRank comm 0x5.. rank 0 nranks 8 cudaDev 0 ... commId 0x.. - Init COMPLETE" */
static gboolean take_init(NcclLog *log, const char *process, const char *text, GError **error)
{
    char *pointer = word_after(text, "comm "), *id = word_after(text, "commId ");
    guint64 rank, n;
    gboolean ok = TRUE;
    if (pointer == NULL || !number_after(text, " rank ", 10, &rank) ||
        !number_after(text, " nranks ", 10, &n) || n == 0 || n > RECORD_WORLD_MAX || rank >= n) {
        ok = reader_problem(log->reader,
                            reader_here(log->reader, input_line_number(log->reader->input), 0, -1),
                            "wrong line", error,
                            "an Init line should say comm, rank and nranks, the rank below nranks");
    } else {
        guint32 index = comm_index(log, process, pointer);
        LogComm *comm = &g_array_index(log->comms, LogComm, index);
        comm->rank = rank;
        comm->n = n;
        g_free(comm->id);
        comm->id = g_strdup(id != NULL ? id : "?");
    }
    g_free(pointer);
    g_free(id);
    return ok;
}

static gboolean take_call(NcclLog *log, const char *process, const char *text, RecordOp op,
                          GError **error)
{
    LogCall call = {.op = op, .line = input_line_number(log->reader->input)};
    char *pointer = word_after(text, " comm ");
    guint64 root = 0;
    const char *missing = pointer == NULL                                       ? "comm"
                          : !number_after(text, "opCount ", 16, &call.op_count) ? "opCount"
                          : !number_after(text, " count ", 10, &call.count)     ? "count"
                          : !number_after(text, " datatype ", 10, &call.dtype)  ? "datatype"
                          : !number_after(text, " op ", 10, &call.reduction)    ? "op"
                          : !number_after(text, " root ", 10, &root)            ? "root"
                                                                                : NULL;
    gboolean ok = TRUE;
    RecordSource where = reader_here(log->reader, call.line, 0, -1);
    if (missing != NULL) {
        ok = reader_problem(log->reader, where, "wrong line", error,
                            "%s should have '%s' with a number, as NCCL writes it",
                            record_op_name(op), missing);
    } else {
        call.comm = comm_index(log, process, pointer);
        call.root = root;
        call.stream = word_after(text, " stream ");
        if (strstr(text, "[nranks=") != NULL && !number_after(text, "[nranks=", 10, &call.nranks)) {
            call.nranks = 0;
        }
        g_array_append_val(log->calls, call);
    }
    g_free(pointer);
    return ok;
}

/* "host:pid:tid [dev] NCCL INFO text"; lines of anything else may stand between. */
static gboolean log_line(NcclLog *log, const char *line, GError **error)
{
    const char *mark = strstr(line, " NCCL INFO ");
    if (mark == NULL) {
        return TRUE;
    }
    const char *text = mark + strlen(" NCCL INFO ");
    gboolean init = strstr(text, "Init COMPLETE") != NULL && strstr(text, "nranks ") != NULL;
    RecordOp op = RECORD_COMPUTE;
    const char *colls = strstr(text, ": opCount ");
    if (!init && colls == NULL) {
        return TRUE;
    }
    const char *open = mark;
    while (open > line && *open != '[') {
        open--;
    }
    const char *start = open; /* back over "host:pid:tid " */
    while (start > line && start[-1] == ' ') {
        start--;
    }
    const char *end = start;
    while (start > line && start[-1] != ' ') {
        start--;
    }
    char *who = g_strndup(start, end - start), *dev = g_strndup(open, mark - open);
    char *last = strrchr(who, ':');
    if (last != NULL) {
        *last = 0; /* the thread does not matter */
    }
    char *process = g_strconcat(who, dev, NULL);
    gboolean ok = TRUE, known = init;
    for (guint i = 0; i < G_N_ELEMENTS(log_ops) && colls != NULL && !init; i++) {
        if ((gsize)(colls - text) == strlen(log_ops[i].name) &&
            g_str_has_prefix(text, log_ops[i].name)) {
            op = log_ops[i].op;
            known = TRUE;
        }
    }
    if (init) {
        ok = take_init(log, process, text, error);
    } else if (known) {
        ok = take_call(log, process, text, op, error);
    } else {
        ok = reader_problem(log->reader,
                            reader_here(log->reader, input_line_number(log->reader->input), 0, -1),
                            "unknown collective", error,
                            "unknown collective '%.*s'; known are AllReduce, Broadcast, Reduce, "
                            "AllGather, ReduceScatter, AllToAll, Gather, Scatter, Send and Recv",
                            (int)MIN(colls - text, 40), text);
    }
    g_free(who);
    g_free(dev);
    g_free(process);
    return ok;
}

static gboolean log_read(Reader *reader, GError **error)
{
    NcclLog log = {
        .reader = reader,
        .comms = g_array_new(FALSE, FALSE, sizeof(LogComm)),
        .comm_of = g_hash_table_new(g_str_hash, g_str_equal),
        .calls = g_array_new(FALSE, FALSE, sizeof(LogCall)),
        .rank_of = g_hash_table_new(g_str_hash, g_str_equal),
    };
    g_array_set_clear_func(log.comms, comm_clear);
    g_array_set_clear_func(log.calls, call_clear);
    GError *broken = NULL;
    gboolean ok = TRUE;
    for (const char *line; ok && (line = input_line(reader->input, &broken)) != NULL;) {
        ok = log_line(&log, line, error);
    }
    if (ok && broken != NULL) {
        ok = reader_forgive(reader, &broken, error);
    }
    ok = ok && nccl_log_build(&log, error);
    g_hash_table_destroy(log.comm_of);
    g_hash_table_destroy(log.rank_of);
    g_array_free(log.comms, TRUE);
    g_array_free(log.calls, TRUE);
    return ok;
}

const TraceFormat trace_format_nccl_log = {
    .name = "nccl-log",
    .title = "NCCL debug log",
    .probe = log_probe,
    .read = log_read,
};
