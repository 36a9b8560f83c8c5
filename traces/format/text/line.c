/* One line of the text format that is an operation. */
#include "traces/format/text/text.h"

#include <string.h>

#include "traces/format/words.h"

/* One KEY=VALUE. FALSE: unknown, or not right; *right says what would be. */
static gboolean line_attribute(Text *text, TextLine *line, const char *key, const char *value, const char **right)
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
        *right = "a rank of this job (to= of a send, from= of a recv, root= of a rooted collective)";
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
        *(key[0] == 't' ? &r->tag : key[1] == 't' && key[2] == 'r' ? &r->stream : (guint32 *)&r->step) = n;
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
    *right = "one of group bytes out to from root tag stream gap duration start step dtype reduction "
             "after name";
    return FALSE;
}

gboolean text_line_deps(Text *text, TextLine *line, guint32 index)
{
    char **parts = g_strsplit(line->after ? line->after : "", ",", -1);
    gboolean ok = TRUE;
    for (guint i = 0; parts[i] && ok; i++) {
        guint64 node;
        ok = words_u64(parts[i], G_MAXINT64, &node);
        PendingDep dep = {index, input_line_number(text->reader->input), node};
        if (ok)
            g_array_append_val(text->pending, dep);
    }
    g_strfreev(parts);
    return ok;
}

const char *text_line_complete(Text *text, TextLine *line)
{
    Record *r = &line->record;
    if (r->op == RECORD_COMPUTE)
        return line->has_bytes || line->group_known ? "compute has neither bytes nor group" : NULL;
    if (r->op == RECORD_SEND || r->op == RECORD_RECV) {
        if (r->peer < 0)
            return r->op == RECORD_SEND ? "a send needs to=RANK" : "a recv needs from=RANK";
        if (!line->group_known)
            r->group = RECORD_NO_GROUP;
    } else if (!line->group_known) {
        r->group = GPOINTER_TO_UINT(g_hash_table_lookup(text->groups, "world")) - 1;
    }
    if (!line->has_bytes && r->op != RECORD_BARRIER)
        return "a communication needs bytes=N, what one rank puts in";
    guint32 n = r->group == RECORD_NO_GROUP ? 2 : trace_group_at(text->reader->trace, r->group)->n;
    if (!record_set_bytes_in(r, line->bytes, n) && !line->has_out)
        return "bytes= should divide by the group's size and stay below 1 TiB in and out";
    if (line->has_out)
        r->bytes_out = line->out;
    return NULL;
}

const char *text_line_parse(Text *text, GPtrArray *words, TextLine *line, const char **right)
{
    guint first = 2;
    if (words->len < 2 || !record_op_parse(words->pdata[1], &line->record.op) || line->record.op == RECORD_PLAN) {
        line->record.op = RECORD_COMPUTE;
        *right = "an operation: compute, all_reduce, all_gather, reduce_scatter, broadcast, reduce, "
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
        char *key = g_strndup(word, equals ? (gsize)(equals - word) : strlen(word));
        gboolean good = line_attribute(text, line, key, equals ? equals + 1 : "", right);
        g_free(key);
        if (!good)
            return word;
    }
    return NULL;
}
