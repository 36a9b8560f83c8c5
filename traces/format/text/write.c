/* Writes the project's own text format (docs/traces.md); read.c reads it back identically. */
#include <string.h>

#include "traces/format/write.h"
#include "sim/report/file.h"

static void append_time(GString *to, const char *key, guint64 ps)
{
    static const struct {
        const char *unit;
        guint64 ps;
    } units[] = {{"ms", 1000000000}, {"us", 1000000}, {"ns", 1000}, {"ps", 1}};
    guint i = 0;
    while (i < 3 && ps % units[i].ps != 0)
        i++;
    i = ps == 0 ? 3 : i;
    g_string_append_printf(to, "%s%" G_GUINT64_FORMAT "%s", key, ps / units[i].ps, units[i].unit);
}

static void append_name(GString *to, const char *name)
{
    g_string_append(to, " name=\"");
    for (const char *at = name; *at != 0; at++) {
        if (*at == '"' || *at == '\\')
            g_string_append_c(to, '\\');
        if (*at == '\n' || *at == '\t')
            g_string_append(to, *at == '\n' ? "\\n" : "\\t");
        else
            g_string_append_c(to, *at);
    }
    g_string_append_c(to, '"');
}

/* Group names as words that differ: several groups may share a name in the file. */
static char **group_words(const Trace *trace)
{
    char **words = g_new0(char *, trace->groups->len + 1);
    GHashTable *used = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < trace->groups->len; i++) {
        const RecordGroup *group = trace_group_at(trace, i);
        GString *word = g_string_new(group->name);
        for (char *at = word->str; *at != 0; at++)
            if (g_ascii_isspace(*at) || *at == '"' || *at == '#' || *at == '=' || *at == '\\')
                *at = '_';
        gboolean whole = group->n == trace->world;
        for (guint32 r = 0; r < group->n && whole; r++)
            whole = group->ranks[r] == r;
        gboolean taken = word->len == 0 || (strcmp(word->str, "world") == 0 && !whole);
        for (guint k = 0; taken || g_hash_table_contains(used, word->str); k++) {
            taken = FALSE;
            g_string_append_printf(word, "@%u", i + k);
        }
        g_hash_table_add(used, word->str); /* not before: a word that is there is the other group's memory */
        words[i] = g_string_free(word, FALSE);
    }
    g_hash_table_destroy(used);
    return words;
}

static void append_groups(GString *to, const Trace *trace, char **words)
{
    for (guint i = 0; i < trace->groups->len; i++) {
        const RecordGroup *group = trace_group_at(trace, i);
        if (strcmp(words[i], "world") == 0)
            continue; /* there without being said */
        g_string_append_printf(to, "group %s ", words[i]);
        for (guint32 r = 0; r < group->n;) {
            guint32 end = r + 1;
            while (end < group->n && group->ranks[end] == group->ranks[end - 1] + 1)
                end++;
            g_string_append_printf(to, r > 0 ? ",%u" : "%u", group->ranks[r]);
            if (end - r > 1)
                g_string_append_printf(to, "-%u", group->ranks[end - 1]);
            r = end;
        }
        g_string_append_c(to, '\n');
    }
}

static void append_communication(GString *to, const Trace *trace, const Record *r, char **words)
{
    if (r->group != RECORD_NO_GROUP && strcmp(words[r->group], "world") != 0)
        g_string_append_printf(to, " group=%s", words[r->group]);
    else if (r->group != RECORD_NO_GROUP && !record_op_is_collective(r->op))
        g_string_append(to, " group=world");
    g_string_append_printf(to, " bytes=%" G_GUINT64_FORMAT, r->bytes_in);
    Record usual = *r;
    guint32 n = r->group == RECORD_NO_GROUP ? 2 : trace_group_at(trace, r->group)->n;
    if (!record_set_bytes_in(&usual, r->bytes_in, n) || usual.bytes_out != r->bytes_out)
        g_string_append_printf(to, " out=%" G_GUINT64_FORMAT, r->bytes_out);
    if (r->peer != RECORD_NO_PEER) {
        g_string_append_printf(to, " %s=%d",
                               r->op == RECORD_SEND   ? "to"
                               : r->op == RECORD_RECV ? "from"
                                                      : "root",
                               r->peer);
    }
    if (r->tag != 0)
        g_string_append_printf(to, " tag=%u", r->tag);
    g_string_append_printf(to, " dtype=%s", record_dtype_name(r->dtype));
    if (record_op_reduces(r->op))
        g_string_append_printf(to, " reduction=%s", record_reduction_name(r->reduction));
    if (r->duration_ps != 0)
        append_time(to, " duration=", r->duration_ps);
}

static void append_record(GString *to, const Trace *trace, const Record *r, const gint64 *numbers, gint64 number,
                          char **words)
{
    g_string_append_printf(to, "%" G_GINT64_FORMAT " %s", number, record_op_name(r->op));
    if (r->op == RECORD_COMPUTE)
        append_time(to, " ", r->duration_ps);
    else
        append_communication(to, trace, r, words);
    if (r->stream != RECORD_NO_STREAM)
        g_string_append_printf(to, " stream=%u", r->stream);
    if (r->gap_ps != 0)
        append_time(to, " gap=", r->gap_ps);
    if (r->start_ps != RECORD_NO_TIME)
        append_time(to, " start=", r->start_ps);
    if (r->step != RECORD_NO_STEP)
        g_string_append_printf(to, " step=%d", r->step);
    for (guint32 d = 0; d < r->dep_count; d++) {
        guint32 on = g_array_index(trace->deps, guint32, r->dep_first + d);
        g_string_append_printf(to, "%s%" G_GINT64_FORMAT, d == 0 ? " after=" : ",", numbers[on]);
    }
    if (r->name != 0)
        append_name(to, trace->names->pdata[r->name]);
    g_string_append_c(to, '\n');
}

/* The file's own numbers where every operation of the rank has one and they differ; else 1, 2, ...
 */
static void number_rank(const Trace *trace, guint32 first, guint32 end, gint64 *numbers)
{
    GHashTable *seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    gboolean own = TRUE;
    for (guint32 i = first; i < end; i++) {
        numbers[i] = trace_record(trace, i)->source.node;
        own = numbers[i] >= 0 && own && g_hash_table_add(seen, &numbers[i]);
    }
    g_hash_table_destroy(seen);
    for (guint32 i = first; i < end && !own; i++)
        numbers[i] = i - first + 1;
}

char *write_text_string(const Trace *trace)
{
    GString *to = g_string_new("fanout-trace 1\n");
    char **words = group_words(trace);
    gint64 *numbers = g_new(gint64, trace->records->len + 1);
    g_string_append_printf(to, "world %u\n", trace->world);
    append_groups(to, trace, words);
    for (guint32 rank = 0; rank < trace->world; rank++) {
        guint32 first = trace->rank_first[rank], end = trace->rank_first[rank + 1];
        if (first == end)
            continue;
        number_rank(trace, first, end, numbers);
        if (trace->replicate && !trace->replicated)
            g_string_append(to, "rank *\n");
        else
            g_string_append_printf(to, "rank %u\n", rank);
        for (guint32 i = first; i < end; i++) {
            Record record = record_effective(trace_record(trace, i));
            append_record(to, trace, &record, numbers, numbers[i], words);
        }
    }
    g_strfreev(words);
    g_free(numbers);
    return g_string_free(to, FALSE);
}

gboolean write_text(const Trace *trace, const char *path, GError **error)
{
    char *text = write_text_string(trace);
    GError *inner = NULL;
    gboolean ok = file_write(path, text, strlen(text), &inner);
    if (!ok) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_WRITE, "%s", inner->message);
        g_clear_error(&inner);
    }
    g_free(text);
    return ok;
}
