/* The project's own text format: one line an operation, described in docs/traces.md. */
#include <string.h>

#include "traces/format/reader.h"
#include "traces/format/words.h"

#define MAGIC "fanout-trace"

typedef struct {
    Reader *reader;
    GHashTable *nodes;  /* number -> record index + 1, of the current rank */
    GHashTable *groups; /* name -> group index + 1 */
    GArray *pending;    /* PendingDep of the current rank */
    gint64 rank;        /* -1: none yet */
    guint8 *seen;       /* ranks that had their section */
} Text;

typedef struct {
    guint32 record;
    guint32 line;
    gint64 node;
} PendingDep;

static int text_probe(const char *head, gsize n)
{
    (void)n;
    while (*head == '#' || g_ascii_isspace(*head)) {
        const char *end = *head == '#' ? strchr(head, '\n') : head;
        if (end == NULL) {
            return 0;
        }
        head = end + 1;
    }
    return g_str_has_prefix(head, MAGIC " ") ? 100 : 0;
}

/* A line without which the rest makes no sense: an error also when lenient. */
G_GNUC_PRINTF(3, 4)
static gboolean fail(Text *text, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:%u: %s",
                input_path(text->reader->input), input_line_number(text->reader->input), what);
    g_free(what);
    return FALSE;
}

static gboolean text_group(Text *text, GPtrArray *words, GError **error)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    gboolean ok = words->len == 3 && reader_parse_ranks(words->pdata[2], ranks) && ranks->len > 0;
    for (guint i = 0; i < ranks->len && ok; i++) {
        ok = g_array_index(ranks, guint32, i) < text->reader->trace->world;
        for (guint j = 0; j < i && ok; j++) {
            ok = g_array_index(ranks, guint32, i) != g_array_index(ranks, guint32, j);
        }
    }
    if (!ok) {
        g_array_free(ranks, TRUE);
        return fail(text, error,
                    "a group should read 'group NAME RANKS', RANKS like 0-3,8, each below "
                    "%u and named once",
                    text->reader->trace->world);
    }
    guint32 group = trace_group(text->reader->trace, words->pdata[1],
                                (guint32 *)(void *)ranks->data, ranks->len);
    g_array_free(ranks, TRUE);
    if (g_hash_table_contains(text->groups, words->pdata[1])) {
        return fail(text, error, "group '%s' is given twice", (char *)words->pdata[1]);
    }
    g_hash_table_insert(text->groups, g_strdup(words->pdata[1]), GUINT_TO_POINTER(group + 1));
    return TRUE;
}

static gboolean text_world(Text *text, GPtrArray *words, GError **error)
{
    guint64 world;
    if (words->len != 2 || !words_u64(words->pdata[1], RECORD_WORLD_MAX, &world) || world == 0) {
        return fail(text, error, "should read 'world N' with N ranks, 1 to %u", RECORD_WORLD_MAX);
    }
    if (text->reader->trace->world != 0) {
        return fail(text, error, "'world' is given twice");
    }
    text->reader->trace->world = world;
    text->seen = g_new0(guint8, world);
    guint32 group = trace_group_world(text->reader->trace, world);
    g_hash_table_insert(text->groups, g_strdup("world"), GUINT_TO_POINTER(group + 1));
    return TRUE;
}

/* The current rank is complete: its dependencies can be looked up. */
static gboolean text_end_rank(Text *text, GError **error)
{
    Trace *trace = text->reader->trace;
    for (guint i = 0; i < text->pending->len; i++) {
        const PendingDep *dep = &g_array_index(text->pending, PendingDep, i);
        guint on = GPOINTER_TO_UINT(g_hash_table_lookup(text->nodes, &dep->node));
        if (on != 0) {
            trace_add_dep(trace, dep->record, on - 1);
            continue;
        }
        Record *record = trace_record(trace, dep->record);
        record->skipped = TRUE;
        if (!reader_problem(text->reader, record->source, "dependency on a missing node", error,
                            "waits for node %" G_GINT64_FORMAT ", which rank %u does not have",
                            dep->node, record->rank)) {
            return FALSE;
        }
    }
    g_array_set_size(text->pending, 0);
    g_hash_table_remove_all(text->nodes);
    return TRUE;
}

static gboolean text_rank(Text *text, GPtrArray *words, GError **error)
{
    Trace *trace = text->reader->trace;
    guint64 rank = 0;
    gboolean all = words->len == 2 && strcmp(words->pdata[1], "*") == 0;
    if (trace->world == 0) {
        return fail(text, error, "'world N' should come before the first rank");
    }
    if (!all && (words->len != 2 || !words_u64(words->pdata[1], trace->world - 1, &rank))) {
        return fail(text, error, "should read 'rank R' with R below %u, or 'rank *'", trace->world);
    }
    if (text->seen[rank] || trace->replicate) {
        return fail(text, error, "rank %s is given twice", (char *)words->pdata[1]);
    }
    text->seen[rank] = TRUE;
    trace->replicate = all;
    if (!text_end_rank(text, error)) {
        return FALSE;
    }
    text->rank = rank;
    return TRUE;
}

typedef struct {
    Record record;
    guint64 bytes, out;
    gboolean has_bytes, has_out, group_known;
    char *after;
} Line;

/* One KEY=VALUE. FALSE: unknown, or not right; *right says what would be. */
static gboolean line_attribute(Text *text, Line *line, const char *key, const char *value,
                               const char **right)
{
    Record *r = &line->record;
    guint64 n = 0;
    if (strcmp(key, "group") == 0) {
        guint group = GPOINTER_TO_UINT(g_hash_table_lookup(text->groups, value));
        r->group = group - 1;
        line->group_known = group != 0;
        *right = "a group that a 'group' line gave";
        return group != 0;
    }
    if (strcmp(key, "bytes") == 0 || strcmp(key, "out") == 0) {
        *right = "a number of bytes up to 1 TiB";
        gboolean in = key[0] == 'b';
        *(in ? &line->has_bytes : &line->has_out) = TRUE;
        return words_u64(value, RECORD_BYTES_MAX, in ? &line->bytes : &line->out);
    }
    if (strcmp(key, "gap") == 0 || strcmp(key, "duration") == 0 || strcmp(key, "start") == 0) {
        *right = "a time with its unit: 12ps, 3.5us, 1ms, at most a day";
        guint64 *to = key[0] == 'g' ? &r->gap_ps : key[0] == 'd' ? &r->duration_ps : &r->start_ps;
        return words_time(value, to);
    }
    if (strcmp(key, "to") == 0 || strcmp(key, "from") == 0 || strcmp(key, "root") == 0) {
        *right =
            "a rank of this job (to= of a send, from= of a recv, root= of a rooted collective)";
        gboolean fits = r->op == RECORD_SEND   ? key[0] == 't'
                        : r->op == RECORD_RECV ? key[0] == 'f'
                                               : key[0] == 'r' && record_op_has_root(r->op);
        gboolean ok = fits && words_u64(value, text->reader->trace->world - 1, &n);
        r->peer = n;
        return ok;
    }
    if (strcmp(key, "tag") == 0 || strcmp(key, "stream") == 0 || strcmp(key, "step") == 0) {
        *right = "a number below 2^31";
        gboolean ok = words_u64(value, G_MAXINT32, &n);
        *(key[0] == 't'                    ? &r->tag
          : key[1] == 't' && key[2] == 'r' ? &r->stream
                                           : (guint32 *)&r->step) = n;
        return ok;
    }
    if (strcmp(key, "dtype") == 0) {
        *right = "one of u8 i8 i16 i32 u32 i64 u64 f16 bf16 f32 f64 e4m3 e5m2";
        return record_dtype_parse(value, &r->dtype);
    }
    if (strcmp(key, "reduction") == 0) {
        *right = "one of sum prod max min avg";
        return record_reduction_parse(value, &r->reduction);
    }
    if (strcmp(key, "name") == 0) {
        r->name = trace_name(text->reader->trace, value);
        return TRUE;
    }
    if (strcmp(key, "after") == 0) {
        line->after = g_strdup(value);
        return TRUE;
    }
    *right =
        "one of group bytes out to from root tag stream gap duration start step dtype reduction "
        "after name";
    return FALSE;
}

static gboolean line_deps(Text *text, Line *line, guint32 index)
{
    char **parts = g_strsplit(line->after != NULL ? line->after : "", ",", -1);
    gboolean ok = TRUE;
    for (guint i = 0; parts[i] != NULL && ok; i++) {
        guint64 node;
        ok = words_u64(parts[i], G_MAXINT64, &node);
        PendingDep dep = {index, input_line_number(text->reader->input), node};
        if (ok) {
            g_array_append_val(text->pending, dep);
        }
    }
    g_strfreev(parts);
    return ok;
}

/* What is wrong with a line's sizes as a whole; NULL: nothing. */
static const char *line_complete(Text *text, Line *line)
{
    Record *r = &line->record;
    if (r->op == RECORD_COMPUTE) {
        return line->has_bytes || line->group_known ? "compute has neither bytes nor group" : NULL;
    }
    if (r->op == RECORD_SEND || r->op == RECORD_RECV) {
        if (r->peer < 0) {
            return r->op == RECORD_SEND ? "a send needs to=RANK" : "a recv needs from=RANK";
        }
        if (!line->group_known) {
            r->group = RECORD_NO_GROUP;
        }
    } else if (!line->group_known) {
        r->group = GPOINTER_TO_UINT(g_hash_table_lookup(text->groups, "world")) - 1;
    }
    if (!line->has_bytes && r->op != RECORD_BARRIER) {
        return "a communication needs bytes=N, what one rank puts in";
    }
    guint32 n = r->group == RECORD_NO_GROUP ? 2 : trace_group_at(text->reader->trace, r->group)->n;
    if (!record_set_bytes_in(r, line->bytes, n) && !line->has_out) {
        return "bytes= should divide by the group's size and stay below 1 TiB in and out";
    }
    if (line->has_out) {
        r->bytes_out = line->out;
    }
    return NULL;
}

/* Fills the line from its words; NULL, or the word that is wrong, with what would be right. */
static const char *line_parse(Text *text, GPtrArray *words, Line *line, const char **right)
{
    guint first = 2;
    if (words->len < 2 || !record_op_parse(words->pdata[1], &line->record.op) ||
        line->record.op == RECORD_PLAN) {
        line->record.op = RECORD_COMPUTE;
        *right =
            "an operation: compute, all_reduce, all_gather, reduce_scatter, broadcast, reduce, "
            "all_to_all, gather, scatter, barrier, send or recv";
        return words->len < 2 ? "" : words->pdata[1];
    }
    if (line->record.op == RECORD_COMPUTE) {
        first = 3;
        if (words->len < 3 || !words_time(words->pdata[2], &line->record.duration_ps)) {
            *right = "a time with its unit: 'compute 12.5us'";
            return words->len < 3 ? "" : words->pdata[2];
        }
    }
    for (guint i = first; i < words->len; i++) {
        const char *word = words->pdata[i], *equals = strchr(word, '=');
        char *key = g_strndup(word, equals != NULL ? (gsize)(equals - word) : strlen(word));
        gboolean good = line_attribute(text, line, key, equals != NULL ? equals + 1 : "", right);
        g_free(key);
        if (!good) {
            return word;
        }
    }
    return NULL;
}

/* Adds the operation, also a skipped one: it keeps its place in the order, and in its group's
 * sequence where the group is known. */
static gboolean line_keep(Text *text, Line *line, GError **error)
{
    Record *record = &line->record;
    if (record->skipped && !line->group_known) {
        record->op = RECORD_COMPUTE;
        record->group = RECORD_NO_GROUP;
    }
    guint32 index = trace_add(text->reader->trace, record);
    if (!g_hash_table_contains(text->nodes, &record->source.node)) {
        gint64 *key = g_new(gint64, 1);
        *key = record->source.node;
        g_hash_table_insert(text->nodes, key, GUINT_TO_POINTER(index + 1));
    }
    if (line->after == NULL || line_deps(text, line, index)) {
        return TRUE;
    }
    trace_record(text->reader->trace, index)->skipped = TRUE;
    return reader_problem(text->reader, record->source, "wrong attribute", error,
                          "'after=%s' should be numbers of operations, like after=1,2",
                          line->after);
}

static gboolean text_operation(Text *text, GPtrArray *words, GError **error)
{
    Reader *reader = text->reader;
    guint64 node;
    if (!words_u64(words->pdata[0], G_MAXINT64, &node)) {
        return fail(text, error, "'%s' should be world, group, rank, or the number of an operation",
                    (char *)words->pdata[0]);
    }
    if (text->rank < 0) {
        return fail(text, error, "operation before the first 'rank' line");
    }
    RecordSource here = reader_here(reader, input_line_number(reader->input), 0, node);
    Line line = {0};
    record_init(&line.record, text->rank, RECORD_COMPUTE);
    line.record.source = here;
    const char *right = NULL, *wrong = line_parse(text, words, &line, &right);
    const char *whole = wrong == NULL ? line_complete(text, &line) : NULL;
    gboolean ok, good = FALSE;
    if (g_hash_table_contains(text->nodes, &line.record.source.node)) {
        ok = reader_problem(reader, here, "doubled node", error,
                            "rank %" G_GINT64_FORMAT " has another "
                            "operation of this number; numbers should differ",
                            text->rank);
    } else if (wrong != NULL) {
        ok = reader_problem(reader, here, "wrong attribute", error, "'%s' should be %s", wrong,
                            right);
    } else if (whole != NULL) {
        ok = reader_problem(reader, here, "wrong operation", error, "%s", whole);
    } else {
        ok = reader_check(reader, &line.record, &good, error);
    }
    line.record.skipped = !good;
    ok = ok && line_keep(text, &line, error);
    g_free(line.after);
    return ok;
}

static gboolean text_line(Text *text, const char *line, GError **error)
{
    GPtrArray *words = words_split(line);
    if (words == NULL) {
        return fail(text, error, "a quote (\") is not closed on its line");
    }
    gboolean ok = TRUE;
    if (words->len > 0) {
        const char *first = words->pdata[0];
        ok = strcmp(first, "world") == 0   ? text_world(text, words, error)
             : strcmp(first, "group") == 0 ? text_group(text, words, error)
             : strcmp(first, "rank") == 0  ? text_rank(text, words, error)
             : strcmp(first, MAGIC) == 0
                 ? words->len == 2 && strcmp(words->pdata[1], "1") == 0
                       ? TRUE
                       : fail(text, error,
                              "should read '" MAGIC " 1': this is version 1 of the format")
                 : text_operation(text, words, error);
    }
    g_ptr_array_free(words, TRUE);
    return ok;
}

static gboolean text_read(Reader *reader, GError **error)
{
    Text text = {
        .reader = reader,
        .nodes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
        .groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .pending = g_array_new(FALSE, FALSE, sizeof(PendingDep)),
        .rank = -1,
    };
    GError *broken = NULL;
    gboolean ok = TRUE;
    for (const char *line; ok && (line = input_line(reader->input, &broken)) != NULL;) {
        ok = text_line(&text, line, error);
    }
    if (ok && broken != NULL) {
        ok = reader_forgive(reader, &broken, error);
    }
    ok = ok && text_end_rank(&text, error);
    g_hash_table_destroy(text.nodes);
    g_hash_table_destroy(text.groups);
    g_array_free(text.pending, TRUE);
    g_free(text.seen);
    return ok;
}

const TraceFormat trace_format_text = {
    .name = "text",
    .title = "Fanout's text format",
    .probe = text_probe,
    .read = text_read,
};
