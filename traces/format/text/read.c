/* The project's own text format: one line an operation, described in docs/traces.md. */
#include "traces/format/text/text.h"

#include <string.h>

#include "traces/format/words.h"

#define MAGIC "fanout-trace"

static int text_probe(const char *head, gsize n)
{
    (void)n;
    while (*head == '#' || g_ascii_isspace(*head)) {
        const char *end = *head == '#' ? strchr(head, '\n') : head;
        if (!end)
            return 0;
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
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:%u: %s", input_path(text->reader->input),
                input_line_number(text->reader->input), what);
    g_free(what);
    return FALSE;
}

static gboolean text_group(Text *text, GPtrArray *words, GError **error)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    gboolean ok = words->len == 3 && reader_parse_ranks(words->pdata[2], ranks) && ranks->len > 0;
    for (guint i = 0; i < ranks->len && ok; i++)
        ok = g_array_index(ranks, guint32, i) < text->reader->trace->world;
    guint32 group = ok ? trace_group(text->reader->trace, words->pdata[1], (guint32 *)(void *)ranks->data, ranks->len)
                       : RECORD_NO_GROUP;
    if (!ok || trace_group_at(text->reader->trace, group)->names_rank_twice) {
        g_array_free(ranks, TRUE);
        return fail(text, error,
                    "a group should read 'group NAME RANKS', RANKS like 0-3,8, each below "
                    "%u and named once",
                    text->reader->trace->world);
    }
    g_array_free(ranks, TRUE);
    if (text->reader->trace->too_many_members)
        return fail(text, error, "the groups have over %u members in all", RECORD_MEMBERS_MAX);
    if (g_hash_table_contains(text->groups, words->pdata[1]))
        return fail(text, error, "group '%s' is given twice", (char *)words->pdata[1]);
    g_hash_table_insert(text->groups, g_strdup(words->pdata[1]), GUINT_TO_POINTER(group + 1));
    return TRUE;
}

static gboolean text_world(Text *text, GPtrArray *words, GError **error)
{
    guint64 world;
    if (words->len != 2 || !words_u64(words->pdata[1], RECORD_WORLD_MAX, &world) || world == 0)
        return fail(text, error, "should read 'world N' with N ranks, 1 to %u", RECORD_WORLD_MAX);
    if (text->seen) /* by this file: each file of a job says it */
        return fail(text, error, "'world' is given twice");
    if (!reader_set_world(text->reader, world, error))
        return FALSE;
    text->seen = g_new0(guint8, world);
    for (guint i = 0; i < text->reader->trace->records->len; i++) { /* in the job's other files */
        const guint32 rank = trace_record(text->reader->trace, i)->rank;
        text->sections += !text->seen[rank];
        text->seen[rank] = TRUE;
    }
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
                            "waits for node %" G_GINT64_FORMAT ", which rank %u does not have", dep->node,
                            record->rank))
            return FALSE;
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
    if (!text->seen)
        return fail(text, error, "'world N' should come before the first rank");
    if (!all && (words->len != 2 || !words_u64(words->pdata[1], trace->world - 1, &rank)))
        return fail(text, error, "should read 'rank R' with R below %u, or 'rank *'", trace->world);
    if (trace->replicate || (all && text->sections > 0)) {
        return fail(text, error,
                    "'rank *' says what every rank does, so no other rank line can stand beside it; "
                    "either 'rank *' alone, or a line for each rank");
    }
    if (text->seen[rank])
        return fail(text, error, "rank %s is given twice", (char *)words->pdata[1]);
    text->sections++;
    text->seen[rank] = TRUE;
    trace->replicate = all;
    if (!text_end_rank(text, error))
        return FALSE;
    text->rank = rank;
    return TRUE;
}

/* Adds the operation, also a skipped one: it keeps its place in the order, and in its group's
 * sequence where the group is known. */
static gboolean line_keep(Text *text, TextLine *line, GError **error)
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
    if (!line->after || text_line_deps(text, line, index))
        return TRUE;
    trace_record(text->reader->trace, index)->skipped = TRUE;
    return reader_problem(text->reader, record->source, "wrong attribute", error,
                          "'after=%s' should be numbers of operations, like after=1,2", line->after);
}

static gboolean text_operation(Text *text, GPtrArray *words, GError **error)
{
    Reader *reader = text->reader;
    guint64 node;
    if (!words_u64(words->pdata[0], G_MAXINT64, &node)) {
        return fail(text, error, "'%s' should be world, group, rank, or the number of an operation",
                    (char *)words->pdata[0]);
    }
    if (text->rank < 0)
        return fail(text, error, "operation before the first 'rank' line");
    RecordSource here = reader_here(reader, input_line_number(reader->input), 0, node);
    TextLine line = {0};
    record_init(&line.record, text->rank, RECORD_COMPUTE);
    line.record.source = here;
    const char *right = NULL, *wrong = text_line_parse(text, words, &line, &right);
    const char *whole = !wrong ? text_line_complete(text, &line) : NULL;
    gboolean ok, good = FALSE;
    if (g_hash_table_contains(text->nodes, &line.record.source.node)) {
        ok = reader_problem(reader, here, "doubled node", error,
                            "rank %" G_GINT64_FORMAT " has another "
                            "operation of this number; numbers should differ",
                            text->rank);
    } else if (wrong) {
        ok = reader_problem(reader, here, "wrong attribute", error, "'%s' should be %s", wrong, right);
    } else if (whole) {
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
    if (!words)
        return fail(text, error, "a quote (\") is not closed on its line");
    gboolean ok = TRUE;
    if (words->len > 0) {
        const char *first = words->pdata[0];
        ok = strcmp(first, "world") == 0   ? text_world(text, words, error)
             : strcmp(first, "group") == 0 ? text_group(text, words, error)
             : strcmp(first, "rank") == 0  ? text_rank(text, words, error)
             : strcmp(first, MAGIC) == 0
                 ? words->len == 2 && strcmp(words->pdata[1], "1") == 0
                       ? TRUE
                       : fail(text, error, "should read '" MAGIC " 1': this is version 1 of the format")
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
    for (const char *line; ok && (line = input_line(reader->input, &broken));)
        ok = text_line(&text, line, error);
    if (ok && broken)
        ok = reader_skip(reader, &broken, error);
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
