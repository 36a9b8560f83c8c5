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
    return strstr(head, " NCCL INFO ") ? 85 : strstr(head, "NCCL version ") ? 60 : 0;
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

/* The word behind `key` in the line, or NULL; caller frees. */
static char *word_after(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += *at == ' ';
    return g_strndup(at, strcspn(at, " ]\t"));
}

static gboolean number_after(const char *line, const char *key, guint base, guint64 *value)
{
    char *word = word_after(line, key);
    const char *digits = word && base == 16 && g_str_has_prefix(word, "0x") ? word + 2 : word;
    gboolean ok = digits && g_ascii_string_to_unsigned(digits, base, 0, G_MAXINT64, value, NULL);
    g_free(word);
    return ok;
}

/* Who wrote a line. */
typedef struct {
    char *host, *process; /* "host:pid" */
    gint64 device;        /* of "[dev]"; -1 */
} LogLine;

static guint32 comm_new(NcclLog *log, const LogLine *who, const char *pointer)
{
    LogComm comm = {.host = g_strdup(who->host),
                    .process = g_strdup(who->process),
                    .device = who->device,
                    .rank = -1,
                    .global = -1,
                    .job_rank = -1};
    g_array_append_val(log->comms, comm);
    g_hash_table_insert(log->comm_of, g_strconcat(who->process, " ", pointer, NULL), GUINT_TO_POINTER(log->comms->len));
    return log->comms->len - 1;
}

/* A communicator is a pointer in its process, whatever device is current when it is used. */
static gboolean comm_find(const NcclLog *log, const LogLine *who, const char *pointer, guint32 *index)
{
    char *key = g_strconcat(who->process, " ", pointer, NULL);
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(log->comm_of, key));
    g_free(key);
    *index = found - 1;
    return found != 0;
}

/* What the ranks of a communicator share: its commId; of a split without one (NCCL 2.23 and later) which it is of its
 * parent, from which nccl_log_split_ids makes an id when all lines are in. "splitCount" is called "childCount" since
 * NCCL 2.29, and not there in 2.23. */
static void take_id(NcclLog *log, const LogLine *who, const char *text, guint32 own)
{
    LogComm *comm = &g_array_index(log->comms, LogComm, own);
    char *pointer = word_after(text, "parent ");
    guint32 index;
    comm->id = word_after(text, "commId ");
    if (!comm->id && pointer && comm_find(log, who, pointer, &index) && index != own) {
        LogComm *parent = &g_array_index(log->comms, LogComm, index);
        comm->parent = index + 1;
        comm->count = G_MAXUINT64;
        if (!number_after(text, "splitCount ", 10, &comm->count))
            number_after(text, "childCount ", 10, &comm->count);
        number_after(text, " color ", 10, &comm->color);
        comm->nth = parent->splits++;
        if (!log->colors)
            log->colors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        char *key = g_strdup_printf("%u %" G_GUINT64_FORMAT, index, comm->color);
        comm->nth_of_color = GPOINTER_TO_UINT(g_hash_table_lookup(log->colors, key));
        g_hash_table_insert(log->colors, key, GUINT_TO_POINTER(comm->nth_of_color + 1));
    }
    comm->id = comm->id ? comm->id : g_strdup("?");
    g_free(pointer);
}

/* "ncclCommInitRank comm 0x5.. rank 0 nranks 8 cudaDev 0 ... commId 0x.. - Init COMPLETE". A pointer
 * that had an Init line before was given back in between, and is another communicator. */
static gboolean take_init(NcclLog *log, const LogLine *who, const char *text, GError **error)
{
    char *pointer = word_after(text, "comm ");
    guint64 rank, n, device;
    gboolean ok = TRUE;
    if (!pointer || !number_after(text, " rank ", 10, &rank) || !number_after(text, " nranks ", 10, &n) || n == 0 ||
        n > RECORD_WORLD_MAX || rank >= n) {
        ok = reader_problem(log->reader, reader_here(log->reader, input_line_number(log->reader->input), 0, -1),
                            "wrong line", error,
                            "an Init line should say comm, rank and nranks, the rank below nranks");
    } else {
        guint32 index;
        if (!comm_find(log, who, pointer, &index) || g_array_index(log->comms, LogComm, index).id)
            index = comm_new(log, who, pointer);
        LogComm *comm = &g_array_index(log->comms, LogComm, index);
        comm->rank = rank;
        comm->n = n;
        take_id(log, who, text, index);
        if (number_after(text, " cudaDev ", 10, &device))
            comm->device = device;
    }
    g_free(pointer);
    return ok;
}

static gboolean take_call(NcclLog *log, const LogLine *who, const char *text, RecordOp op, GError **error)
{
    LogCall call = {.op = op};
    char *pointer = word_after(text, " comm ");
    guint64 root = 0, nranks, global;
    const char *missing = !pointer                                              ? "comm"
                          : !number_after(text, "opCount ", 16, &call.op_count) ? "opCount"
                          : !number_after(text, " count ", 10, &call.count)     ? "count"
                          : !number_after(text, " datatype ", 10, &call.dtype)  ? "datatype"
                          : !number_after(text, " op ", 10, &call.reduction)    ? "op"
                          : !number_after(text, " root ", 10, &root)            ? "root"
                                                                                : NULL;
    gboolean ok = TRUE;
    RecordSource where = reader_here(log->reader, input_line_number(log->reader->input), 0, -1);
    if (!input_line_ended(log->reader->input) && (missing || !strstr(text, " stream "))) {
        trace_count(log->reader->trace, NCCL_LOG_TORN, record_op_name(op), 0);
        log->torn = TRUE;
    } else if (missing) {
        ok = reader_problem(log->reader, where, "wrong line", error,
                            "%s should have '%s' with a number, as NCCL writes it", record_op_name(op), missing);
    } else {
        if (!comm_find(log, who, pointer, &call.comm))
            call.comm = comm_new(log, who, pointer);
        call.where = where;
        call.where.node = call.op_count;
        call.root = root;
        call.stream = word_after(text, " stream ");
        LogComm *comm = &g_array_index(log->comms, LogComm, call.comm);
        comm->calls++;
        if (number_after(text, "[nranks=", 10, &nranks))
            comm->nranks = MAX(comm->nranks, MIN(nranks, RECORD_WORLD_MAX));
        if (number_after(text, " globalrank ", 10, &global) && global < RECORD_WORLD_MAX)
            comm->global = global;
        g_array_append_val(log->calls, call);
    }
    g_free(pointer);
    return ok;
}

/* A call of a name that is not known (PutSignal, Signal, WaitSignal of NCCL 2.29) moves nothing, which a note says. */
static void leave_out(NcclLog *log, const char *text, const char *end)
{
    char *word = g_strndup(text, MIN(end - text, 40)), *name = g_utf8_make_valid(word, -1);
    trace_count(log->reader->trace, "calls that are not replayed are left out", name, 0);
    g_free(word);
    g_free(name);
}

/* "host:pid:tid [dev] NCCL INFO text"; lines of anything else may stand between. */
static gboolean log_line(NcclLog *log, const char *line, GError **error)
{
    const char *mark = strstr(line, " NCCL INFO ");
    if (!mark)
        return TRUE;
    const char *text = mark + strlen(" NCCL INFO ");
    gboolean init = strstr(text, "Init COMPLETE") && strstr(text, "nranks ");
    RecordOp op = RECORD_COMPUTE;
    const char *colls = strstr(text, ": opCount ");
    if (!init && !colls)
        return TRUE;
    const char *open = mark;
    while (mark > line && mark[-1] == ']' && open > line && *open != '[')
        open--;               /* before "[dev]", where there is one */
    const char *start = open; /* back over "host:pid:tid " */
    while (start > line && start[-1] == ' ')
        start--;
    const char *end = start;
    while (start > line && start[-1] != ' ')
        start--;
    LogLine who = {.process = g_strndup(start, end - start), .device = -1};
    char *last = strrchr(who.process, ':');
    if (last)
        *last = 0; /* the thread does not matter */
    last = strrchr(who.process, ':');
    who.host = g_strndup(who.process, last ? (gsize)(last - who.process) : strlen(who.process));
    if (*open == '[' && g_ascii_isdigit(open[1]))
        who.device = g_ascii_strtoll(open + 1, NULL, 10) & G_MAXINT32;
    gboolean ok = TRUE, known = init;
    for (guint i = 0; i < G_N_ELEMENTS(log_ops) && colls && !init; i++) {
        if ((gsize)(colls - text) == strlen(log_ops[i].name) && g_str_has_prefix(text, log_ops[i].name)) {
            op = log_ops[i].op;
            known = TRUE;
        }
    }
    if (init)
        ok = take_init(log, &who, text, error);
    else if (known)
        ok = take_call(log, &who, text, op, error);
    else
        leave_out(log, text, colls);
    g_free(who.host);
    g_free(who.process);
    return ok;
}

static void log_free(gpointer data)
{
    NcclLog *log = data;
    g_hash_table_destroy(log->comm_of);
    g_array_free(log->comms, TRUE);
    g_array_free(log->calls, TRUE);
    if (log->colors)
        g_hash_table_destroy(log->colors);
    g_free(log);
}

static NcclLog *log_new(void)
{
    NcclLog *log = g_new0(NcclLog, 1);
    log->comms = g_array_new(FALSE, FALSE, sizeof(LogComm));
    log->comm_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    log->calls = g_array_new(FALSE, FALSE, sizeof(LogCall));
    g_array_set_clear_func(log->comms, comm_clear);
    g_array_set_clear_func(log->calls, call_clear);
    return log;
}

static gboolean log_read(Reader *reader, GError **error)
{
    NcclLog *log = *reader->state ? *reader->state : log_new();
    *reader->state = log;
    log->reader = reader;
    GError *broken = NULL;
    gboolean ok = TRUE;
    for (const char *line; ok && (line = input_line(reader->input, &broken));)
        ok = log_line(log, line, error);
    if (ok && broken)
        ok = reader_skip(reader, &broken, error);
    g_clear_error(&broken);
    return ok;
}

static gboolean log_end(Reader *reader, GError **error)
{
    NcclLog *log = *reader->state;
    log->reader = reader;
    return nccl_log_build(log, error);
}

/* The communicators that a log has Init lines of. */
static void log_identify(Input *input, TraceIdentity *identity)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    identity->ids = g_ptr_array_new_with_free_func(g_free);
    for (const char *line; (line = input_line(input, NULL)) != NULL;) {
        char *id = strstr(line, "Init COMPLETE") ? word_after(line, "commId ") : NULL;
        if (id && !g_hash_table_contains(seen, id)) {
            g_hash_table_add(seen, id); /* which takes the new key where there was one: asked for before */
            g_ptr_array_add(identity->ids, id);
        } else {
            g_free(id);
        }
    }
    g_hash_table_destroy(seen);
}

const TraceFormat trace_format_nccl_log = {
    .name = "nccl-log",
    .title = "NCCL debug log",
    .probe = log_probe,
    .read = log_read,
    .end = log_end,
    .state_free = log_free,
    .identify = log_identify,
};
