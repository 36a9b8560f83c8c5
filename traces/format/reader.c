/* The table of formats, and how jobs are read. What readers share is in util.c. */
#include "traces/format/reader.h"

#include <string.h>

#include "traces/format/jobs.h"

/* clang-format off */
static const TraceFormat *const formats[] = {
    &trace_format_text,
    &trace_format_kineto,
    &trace_format_chakra,
    &trace_format_chakra_json,
    &trace_format_pytorch_et,
    &trace_format_nccl_log,
    &trace_format_mscclpp,
    &trace_format_goal,
    &trace_format_simai,
    &trace_format_flight,
    &trace_format_inspector,
    &trace_format_nsight,
    &trace_format_goal_binary,
    NULL,
};
/* clang-format on */

const TraceFormat *const *trace_formats(void) { return formats; }

const TraceFormat *trace_format_by_name(const char *name)
{
    for (guint i = 0; formats[i] != NULL; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

/* What a file is that has to be unpacked or written anew before it can be read, and how; NULL: none of these. */
static const char *packed_as(const char *head, gsize n)
{
    static const struct {
        gsize at, n;
        const char *magic, *says;
    } kinds[] = {
        {0, 4, "\x28\xb5\x2f\xfd", "is compressed by zstd, and only gzip is read: zstd -d unpacks it"},
        {0, 6,
         "\xfd"
         "7zXZ\0",
         "is compressed by xz, and only gzip is read: xz -d unpacks it"},
        {0, 3, "BZh", "is compressed by bzip2, and only gzip is read: bzip2 -d unpacks it"},
        {0, 4, "\x04\x22\x4d\x18", "is compressed by lz4, and only gzip is read: lz4 -d unpacks it"},
        {0, 4, "PK\3\4", "is a zip archive: unzip unpacks it, and its folder is read"},
        {257, 5, "ustar", "is a tar archive: tar -x unpacks it, and its folder is read"},
        {0, 2, "\xff\xfe", "is text in UTF-16, and UTF-8 is read: iconv -f UTF-16 -t UTF-8 writes it"},
        {0, 2, "\xfe\xff", "is text in UTF-16, and UTF-8 is read: iconv -f UTF-16 -t UTF-8 writes it"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (n >= kinds[i].at + kinds[i].n && memcmp(head + kinds[i].at, kinds[i].magic, kinds[i].n) == 0)
            return kinds[i].says;
    return NULL;
}

const TraceFormat *reader_detect(Input *input, const TraceReadSpec *spec, GError **error)
{
    if (spec->format) {
        const TraceFormat *format = trace_format_by_name(spec->format);
        if (!format) {
            GString *known = g_string_new(NULL);
            for (guint i = 0; formats[i] != NULL; i++)
                g_string_append_printf(known, "%s%s", i > 0 ? ", " : "", formats[i]->name);
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "no trace format is called '%s'; there are %s",
                        spec->format, known->str);
            g_string_free(known, TRUE);
        }
        return format;
    }
    const char *head;
    gssize n = input_peek(input, &head, error);
    if (n < 0)
        return NULL;
    const TraceFormat *best = NULL;
    int best_score = 0;
    char *text = g_malloc((gsize)n + 1); /* ends with a 0 for probes that look for words */
    memcpy(text, head, (gsize)n);
    text[n] = 0;
    for (guint i = 0; formats[i] != NULL; i++) {
        int score = formats[i]->probe(text, n);
        if (score > best_score) {
            best_score = score;
            best = formats[i];
        }
    }
    g_free(text);
    const char *packed = !best ? packed_as(head, (gsize)n) : NULL;
    if (packed)
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: %s", input_path(input), packed);
    else if (!best)
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                    n == 0 ? "%s: is empty" : "%s: no known trace format; --from FORMAT names one", input_path(input));
    return best;
}

static gboolean read_file(Trace *trace, const TraceFormat *format, Input *input, gint64 rank, guint32 world_hint,
                          guint32 job_files, gpointer *state, gboolean last, const TraceReadSpec *spec, GError **error)
{
    Reader reader = {
        .spec = spec,
        .trace = trace,
        .input = input,
        .file = trace_file(trace, input_path(input)),
        .name_rank = rank,
        .world_hint = world_hint,
        .job_files = job_files,
        .state = state,
    };
    trace->format = format->name;
    gboolean ok = format->read(&reader, error) && (!last || !format->end || format->end(&reader, error));
    if ((last || !ok) && *state) {
        format->state_free(*state);
        *state = NULL;
    }
    return ok;
}

/* What is left to check when all files of a job are in. */
static gboolean finish_job(Trace *trace, const TraceReadSpec *spec, GError **error)
{
    guint32 ranks = 0;
    for (guint i = 0; i < trace->records->len; i++)
        ranks = MAX(ranks, trace_record(trace, i)->rank + 1);
    if (spec->world != 0 && spec->world < MAX(ranks, trace->world)) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH, "%s: has %u ranks, but --world says %u", trace->name,
                    MAX(ranks, trace->world), spec->world);
        return FALSE;
    }
    trace->world = MAX(trace->world, MAX(ranks, spec->world));
    if (trace->records->len == 0) {
        const char *note = trace->notes->len > 0 ? trace->notes->pdata[0] : NULL;
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: holds no operation to replay%s%s%s", trace->name,
                    trace_skipped(trace) > 0 ? " (all were skipped)" : "", note ? ": " : "", note ? note : "");
        return FALSE;
    }
    return trace_finish(trace, spec->lenient, error);
}

static Trace *read_job(const TraceJob *job, const TraceReadSpec *spec, GError **error)
{
    const GPtrArray *files = job->files;
    const TraceFile *first = files->pdata[0];
    guint32 world_hint = spec->world;
    if (world_hint == 0 && files->len > 1) {
        gint64 last = ((TraceFile *)files->pdata[files->len - 1])->rank;
        world_hint = last < 0 ? 0 : MIN(last + 1, RECORD_WORLD_MAX);
    }
    Trace *trace = trace_new(job->name);
    gpointer state = NULL;
    gboolean ok = TRUE;
    for (guint i = 0; i < files->len && ok; i++) {
        const TraceFile *file = files->pdata[i];
        if (file->format != first->format) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                        "%s is %s but %s is %s: files of one job have one format", first->path, first->format->title,
                        file->path, file->format->title);
            ok = FALSE;
            break;
        }
        Input *input = files_open(file, spec->progress, spec->user, error);
        ok = input && read_file(trace, file->format, input, file->rank, world_hint, files->len, &state,
                                i + 1 == files->len, spec, error);
        input_close(input);
    }
    if (state) /* of files before one that cannot be read */
        first->format->state_free(state);
    if (ok && job->note)
        trace_note(trace, "%s", job->note);
    if (!ok || !finish_job(trace, spec, error)) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}

/* Messages may quote what the file holds. */
static void make_printable(GError **error)
{
    if (error && *error && !g_utf8_validate((*error)->message, -1, NULL)) {
        char *valid = g_utf8_make_valid((*error)->message, -1);
        g_free((*error)->message);
        (*error)->message = valid;
    }
}

static void trace_free_any(gpointer trace) { trace_free(trace); }

GPtrArray *trace_read_jobs(const char *const *paths, guint n, const TraceReadSpec *spec, GError **error)
{
    GPtrArray *files = files_collect(paths, n, spec, error);
    GPtrArray *groups = files ? jobs_group(files) : NULL;
    GPtrArray *jobs = g_ptr_array_new_with_free_func(trace_free_any);
    gboolean ok = files != NULL;
    for (guint i = 0; ok && i < groups->len; i++) {
        Trace *trace = read_job(groups->pdata[i], spec, error);
        ok = trace != NULL;
        if (ok)
            g_ptr_array_add(jobs, trace);
    }
    if (files) {
        g_ptr_array_free(groups, TRUE);
        g_ptr_array_free(files, TRUE);
    }
    if (!ok) {
        make_printable(error);
        g_ptr_array_free(jobs, TRUE);
        return NULL;
    }
    return jobs;
}

Trace *trace_read_input(Input *input, const TraceReadSpec *spec, GError **error)
{
    Trace *trace = trace_new(input_path(input));
    const TraceFormat *format = reader_detect(input, spec, error);
    gpointer state = NULL;
    gint64 rank;
    names_rank(input_path(input), &rank);
    gboolean ok = format && read_file(trace, format, input, rank, spec->world, 1, &state, TRUE, spec, error) &&
                  finish_job(trace, spec, error);
    input_close(input);
    if (!ok) {
        make_printable(error);
        trace_free(trace);
        return NULL;
    }
    return trace;
}
