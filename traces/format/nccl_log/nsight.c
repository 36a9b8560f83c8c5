/* Nsight Systems' SQLite export: the NVTX ranges that NCCL makes around its calls (domain "NCCL"), with their payload
 * as JSON: the communicator's hash, the bytes, the root or peer. They become calls of communicators as those of a log
 * do; which rank a process is, its ranges of ncclCommInitRank say. ATLAHS's patched NCCL has all of it in the range's
 * text.
 *
 * The file is read into memory, since it may be compressed or come from a pipe. Kernels and their times are not used:
 * an export has no computation that could be told from communication by name for sure, and a call's range is the
 * host's. Where there are no ranges, the kernels of NCCL are told with their names, which say what ran, but not how
 * much it moved. */
#include <dlfcn.h>
#include <sqlite3.h>
#include <string.h>

#include "traces/format/nccl_log/nccl_log.h"

#define NSIGHT_BYTES_MAX ((gsize)2000 << 20)
#define KERNELS_TOLD 8u /* names in a note */

/* What is used of SQLite, which is looked for when there is such a file: libcuda.so has the readers too, and no program
 * that loads it should load SQLite for them. */
typedef struct {
    int (*open)(const char *, sqlite3 **);
    int (*close)(sqlite3 *);
    int (*deserialize)(sqlite3 *, const char *, unsigned char *, sqlite3_int64, sqlite3_int64, unsigned);
    int (*prepare_v2)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
    int (*step)(sqlite3_stmt *);
    int (*finalize)(sqlite3_stmt *);
    const unsigned char *(*column_text)(sqlite3_stmt *, int);
    sqlite3_int64 (*column_int64)(sqlite3_stmt *, int);
    const char *(*errmsg)(sqlite3 *);
} Sqlite;

static gboolean sqlite_find(Sqlite *sqlite)
{
    const struct {
        const char *name;
        gpointer to;
    } all[] = {{"sqlite3_open", &sqlite->open},
               {"sqlite3_close", &sqlite->close},
               {"sqlite3_deserialize", &sqlite->deserialize},
               {"sqlite3_prepare_v2", &sqlite->prepare_v2},
               {"sqlite3_step", &sqlite->step},
               {"sqlite3_finalize", &sqlite->finalize},
               {"sqlite3_column_text", &sqlite->column_text},
               {"sqlite3_column_int64", &sqlite->column_int64},
               {"sqlite3_errmsg", &sqlite->errmsg}};
    gpointer library = dlsym(RTLD_DEFAULT, all[0].name) ? RTLD_DEFAULT : dlopen("libsqlite3.so.0", RTLD_NOW);
    gboolean found = TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(all) && found; i++) {
        gpointer symbol = dlsym(library, all[i].name);
        found = symbol != NULL;
        memcpy(all[i].to, &symbol, sizeof symbol);
    }
    return found;
}

static int nsight_probe(const char *head, gsize n)
{
    static const char magic[] = "SQLite format 3";
    return n >= sizeof magic && memcmp(head, magic, sizeof magic) == 0 ? 90 : 0;
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

/* The first number among the payload's members whose names begin so. */
static gboolean member(const Json *payload, const char *const *names, guint64 *value)
{
    for (const Json *at = payload && payload->type == JSON_OBJECT ? payload->first : NULL; at != NULL; at = at->next) {
        for (guint i = 0; names[i] != NULL; i++) {
            if (g_ascii_strncasecmp(at->key, names[i], strlen(names[i])) != 0)
                continue;
            if (json_u64(at, value) ||
                (at->type == JSON_STRING && g_ascii_string_to_unsigned(at->text, 10, 0, G_MAXUINT64, value, NULL)))
                return TRUE;
        }
    }
    return FALSE;
}

/* The number behind a word of ATLAHS's text: "data_size 4096,". */
static gboolean word(const char *text, const char *key, guint64 *value)
{
    const char *at = text ? strstr(text, key) : NULL;
    if (!at)
        return FALSE;
    at += strlen(key);
    at += *at == ' ';
    guint base = g_str_has_prefix(at, "0x") ? 16 : 10;
    char *end;
    *value = g_ascii_strtoull(at + (base == 16 ? 2 : 0), &end, base);
    return end != at;
}

static gboolean either(const Json *payload, const char *const *names, const char *text, const char *key, guint64 *value)
{
    return member(payload, names, value) || word(text, key, value);
}

static const char *const names_comm[] = {"Communicator", "commHash", "NCCL unique", NULL};
static const char *const names_bytes[] = {"Message size", "bytes", NULL};
static const char *const names_peer[] = {"Peer", "Root", NULL};
static const char *const names_rank[] = {"Rank", NULL};
static const char *const names_ranks[] = {"No. of ranks", "nranks", "Number of ranks", NULL};

/* The communicator of a process, new or known; hash 0: the range does not say, so the process's only one. */
static guint32 comm_of(NcclLog *log, guint64 pid, guint64 hash)
{
    char *key = g_strdup_printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, pid, hash);
    guint found = GPOINTER_TO_UINT(g_hash_table_lookup(log->comm_of, key));
    if (found == 0) {
        LogComm comm = {
            .host = g_strdup(input_path(log->reader->input)), .device = -1, .rank = -1, .global = -1, .job_rank = -1};
        comm.process = g_strdup_printf("%s:%" G_GUINT64_FORMAT, comm.host, pid);
        g_array_append_val(log->comms, comm);
        found = log->comms->len;
        g_hash_table_insert(log->comm_of, g_strdup(key), GUINT_TO_POINTER(found));
    }
    g_free(key);
    return found - 1;
}

static void take_init(NcclLog *log, guint64 pid, guint64 hash, guint64 rank, guint64 n)
{
    guint32 index = comm_of(log, pid, hash); /* before the array is looked at, which may move */
    LogComm *comm = &g_array_index(log->comms, LogComm, index);
    if (!comm->id && n > 0 && n <= RECORD_WORLD_MAX && rank < n) {
        comm->id = g_strdup_printf("%" G_GUINT64_FORMAT, hash);
        comm->rank = (gint64)rank;
        comm->n = (guint32)n;
    }
}

/* One range: "ncclAllReduce", its payload, its process. */
static void take_range(NcclLog *log, const char *text, const Json *payload, guint64 pid, gint64 row, guint64 time_ps)
{
    guint64 hash = 0, bytes = 0, rank = 0, n = 0, peer = 0, width = 0;
    char *name = g_strndup(text, strcspn(text, "( "));
    RecordOp op = RECORD_COMPUTE;
    either(payload, names_comm, text, "commHash", &hash);
    if (either(payload, names_ranks, text, "nranks", &n) && either(payload, names_rank, text, " rank", &rank)) {
        take_init(log, pid, hash, rank, n);
    } else if (reader_torch_op(name + strlen("nccl"), &op) && op != RECORD_BARRIER) {
        if (either(payload, names_bytes, text, "data_size", &bytes)) {
            LogCall call = {.op = op, .duration_ps = time_ps, .op_count = (guint64)row};
            if (word(text, "data_size", &bytes) && word(text, "type_size", &width) && width > 0 && width <= 16 &&
                __builtin_mul_overflow(bytes, width, &bytes))
                bytes = G_MAXUINT64;
            either(payload, names_peer, text, "peer", &peer);
            call.dtype = bytes % 4 == 0 ? 7 : 1;
            call.count = bytes % 4 == 0 ? bytes / 4 : bytes;
            call.root = (gint64)MIN(peer, (guint64)G_MAXINT64);
            call.where = reader_here(log->reader, 0, 0, row);
            call.comm = comm_of(log, pid, hash);
            call.stream = g_strdup_printf("%" G_GUINT64_FORMAT, hash);
            g_array_index(log->comms, LogComm, call.comm).calls++;
            g_array_append_val(log->calls, call);
        } else {
            trace_count(log->reader->trace, "NCCL's ranges without a size are left out (export with their payload)",
                        name, time_ps);
        }
    }
    g_free(name);
}

/* A column of that name, else what stands for it. */
static gboolean has_column(const Sqlite *sqlite, sqlite3 *db, const char *table, const char *column)
{
    sqlite3_stmt *all;
    gboolean found = FALSE;
    char *sql = g_strdup_printf("SELECT %s FROM %s LIMIT 1", column, table);
    found = sqlite->prepare_v2(db, sql, -1, &all, NULL) == SQLITE_OK;
    if (found)
        sqlite->finalize(all);
    g_free(sql);
    return found;
}

static sqlite3_stmt *select_ranges(const Sqlite *sqlite, sqlite3 *db)
{
    sqlite3_stmt *all = NULL;
    gboolean ids = has_column(sqlite, db, "NVTX_EVENTS", "textId") && has_column(sqlite, db, "StringIds", "value");
    gboolean json = has_column(sqlite, db, "NVTX_EVENTS", "jsonText");
    gboolean json_ids = ids && has_column(sqlite, db, "NVTX_EVENTS", "jsonTextId");
    char *sql = g_strdup_printf(
        "SELECT e.rowid, e.start, e.end, e.globalTid, %s AS t, %s FROM NVTX_EVENTS e %s %s WHERE t GLOB 'nccl*' "
        "ORDER BY e.start, e.rowid",
        ids ? "COALESCE(e.text, s.value)" : "e.text",
        json && json_ids ? "COALESCE(e.jsonText, j.value)"
        : json           ? "e.jsonText"
        : json_ids       ? "j.value"
                         : "NULL",
        ids ? "LEFT JOIN StringIds s ON s.id = e.textId" : "",
        json_ids ? "LEFT JOIN StringIds j ON j.id = e.jsonTextId" : "");
    if (sqlite->prepare_v2(db, sql, -1, &all, NULL) != SQLITE_OK)
        all = NULL;
    g_free(sql);
    return all;
}

/* Without ranges: the kernels of NCCL by their names, which have no sizes. Whether there are any. */
static gboolean tell_kernels(const NcclLog *log, const Sqlite *sqlite, sqlite3 *db)
{
    static const char sql[] = "SELECT s.value, COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON "
                              "s.id = k.shortName WHERE s.value GLOB 'nccl*' GROUP BY s.value ORDER BY 2 DESC, 1";
    sqlite3_stmt *all = NULL;
    GString *names = g_string_new(NULL);
    guint64 kernels = 0, kinds = 0;
    if (sqlite->prepare_v2(db, sql, -1, &all, NULL) == SQLITE_OK) {
        while (sqlite->step(all) == SQLITE_ROW) {
            const char *name = (const char *)sqlite->column_text(all, 0);
            gint64 n = MAX(sqlite->column_int64(all, 1), 0);
            kernels += (guint64)n;
            if (kinds++ < KERNELS_TOLD)
                g_string_append_printf(names, "%s%" G_GINT64_FORMAT " of %s", kinds > 1 ? ", " : "", n, name);
        }
        sqlite->finalize(all);
    }
    if (kernels > 0) {
        trace_note(log->reader->trace,
                   "%s: %" G_GUINT64_FORMAT
                   " kernels of NCCL, but no ranges, which alone say the sizes: nothing of them "
                   "is replayed (nsys profile -t nvtx,cuda); %s%s",
                   input_path(log->reader->input), kernels, names->str, kinds > KERNELS_TOLD ? ", ..." : "");
    }
    g_string_free(names, TRUE);
    return kernels > 0;
}

static gboolean read_ranges(NcclLog *log, const Sqlite *sqlite, sqlite3 *db, GError **error)
{
    sqlite3_stmt *all = select_ranges(sqlite, db);
    const char *path = input_path(log->reader->input);
    int step = SQLITE_ERROR;
    guint64 rows = 0;
    while (all && (step = sqlite->step(all)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite->column_text(all, 4), *json = (const char *)sqlite->column_text(all, 5);
        gint64 start = sqlite->column_int64(all, 1), end = sqlite->column_int64(all, 2), span;
        gboolean timed = !__builtin_sub_overflow(end, start, &span) && span >= 0 &&
                         span <= (gint64)(RECORD_PS_MAX / 1000);
        JsonDocument *payload = json ? json_parse(path, json, strlen(json), NULL) : NULL;
        guint64 pid = (guint64)sqlite->column_int64(all, 3) >> 24 & 0xffffff;
        if (text) {
            take_range(log, text, payload ? json_root(payload) : NULL, pid, sqlite->column_int64(all, 0),
                       timed ? (guint64)span * 1000 : 0);
        }
        if (payload)
            json_free(payload);
        rows++;
    }
    sqlite->finalize(all);
    if ((!all || (step == SQLITE_DONE && rows == 0)) && tell_kernels(log, sqlite, db))
        return TRUE;
    if (!all || step != SQLITE_DONE) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                    "%s: an SQLite file, but no export of Nsight Systems with "
                    "NVTX ranges (nsys profile -t nvtx,cuda; nsys export -t sqlite): %s",
                    path, sqlite->errmsg(db));
        return FALSE;
    }
    if (rows == 0)
        trace_note(log->reader->trace, "%s: no ranges of NCCL", path);
    return TRUE;
}

static GByteArray *read_all(Input *input, GError **error)
{
    GByteArray *bytes = g_byte_array_new();
    for (gssize got = 1; got > 0;) {
        guint at = bytes->len;
        g_byte_array_set_size(bytes, at + (1u << 20));
        got = input_read(input, bytes->data + at, 1u << 20, error);
        g_byte_array_set_size(bytes, at + (guint)MAX(got, 0));
        if (got >= 0 && bytes->len > NSIGHT_BYTES_MAX) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: over 2000 MiB; export a part of the time",
                        input_path(input));
            got = -1;
        }
        if (got < 0) {
            g_byte_array_free(bytes, TRUE);
            return NULL;
        }
    }
    return bytes;
}

static void nsight_free(gpointer data)
{
    NcclLog *log = data;
    g_hash_table_destroy(log->comm_of);
    g_array_free(log->comms, TRUE);
    g_array_free(log->calls, TRUE);
    g_free(log);
}

static gboolean read_database(NcclLog *log, const Sqlite *sqlite, GByteArray *bytes, GError **error)
{
    sqlite3 *db = NULL;
    gboolean ok = sqlite->open(":memory:", &db) == SQLITE_OK &&
                  sqlite->deserialize(db, "main", bytes->data, bytes->len, bytes->len, SQLITE_DESERIALIZE_READONLY) ==
                      SQLITE_OK;
    if (ok) {
        ok = read_ranges(log, sqlite, db, error);
    } else {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: no SQLite file that can be read: %s",
                    input_path(log->reader->input), db ? sqlite->errmsg(db) : "no memory");
    }
    sqlite->close(db);
    return ok;
}

static gboolean nsight_read(Reader *reader, GError **error)
{
    NcclLog *log = *reader->state;
    if (!log) {
        log = g_new0(NcclLog, 1);
        log->comms = g_array_new(FALSE, FALSE, sizeof(LogComm));
        log->calls = g_array_new(FALSE, FALSE, sizeof(LogCall));
        g_array_set_clear_func(log->comms, comm_clear);
        g_array_set_clear_func(log->calls, call_clear);
        *reader->state = log;
    } else {
        g_hash_table_destroy(log->comm_of);
    }
    log->comm_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL); /* processes are a file's own */
    log->reader = reader;
    GByteArray *bytes = read_all(reader->input, error);
    if (!bytes)
        return FALSE;
    Sqlite found = {NULL};
    gboolean ok = sqlite_find(&found) && read_database(log, &found, bytes, error);
    if (!ok && !found.errmsg) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN,
                    "%s: SQLite (libsqlite3.so.0) is not installed, which reads it", input_path(reader->input));
    }
    g_byte_array_free(bytes, TRUE);
    return ok;
}

static gboolean nsight_end(Reader *reader, GError **error)
{
    NcclLog *log = *reader->state;
    log->reader = reader;
    return nccl_log_build(log, error);
}

const TraceFormat trace_format_nsight = {
    .name = "nsight-sqlite",
    .title = "Nsight Systems SQLite export",
    .probe = nsight_probe,
    .read = nsight_read,
    .end = nsight_end,
    .state_free = nsight_free,
};
