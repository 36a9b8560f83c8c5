/* The table of formats, and how files become jobs. What readers share is in util.c. */
#include "traces/format/reader.h"

#include <stdlib.h>
#include <string.h>

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
    NULL,
};
/* clang-format on */

const TraceFormat *const *trace_formats(void)
{
    return formats;
}

const TraceFormat *trace_format_by_name(const char *name)
{
    for (guint i = 0; formats[i] != NULL; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

static const TraceFormat *detect(Input *input, const TraceReadSpec *spec, GError **error)
{
    if (spec->format != NULL) {
        const TraceFormat *format = trace_format_by_name(spec->format);
        if (format == NULL) {
            GString *known = g_string_new(NULL);
            for (guint i = 0; formats[i] != NULL; i++) {
                g_string_append_printf(known, "%s%s", i > 0 ? ", " : "", formats[i]->name);
            }
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                        "no trace format is called '%s'; there are %s", spec->format, known->str);
            g_string_free(known, TRUE);
        }
        return format;
    }
    const char *head;
    gssize n = input_peek(input, &head, error);
    if (n < 0) {
        return NULL;
    }
    const TraceFormat *best = NULL;
    int best_score = 0;
    char *text = g_strndup(head, n); /* ends with a 0 for probes that look for words */
    for (guint i = 0; formats[i] != NULL; i++) {
        int score = formats[i]->probe(text, n);
        if (score > best_score) {
            best_score = score;
            best = formats[i];
        }
    }
    g_free(text);
    if (best == NULL) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                    n == 0 ? "%s: is empty" : "%s: no known trace format; --from FORMAT names one",
                    input_path(input));
    }
    return best;
}

typedef struct {
    char *path;
    const TraceFormat *format;
    gint64 rank;
    char *key;      /* of the job */
    gboolean alone; /* named by itself: its siblings may be looked for */
} TraceFile;

static void file_free(gpointer data)
{
    TraceFile *file = data;
    g_free(file->path);
    g_free(file->key);
    g_free(file);
}

/* "dir/x.3.et" -> "dir/x.#.et" */
static char *name_key(const char *path)
{
    guint start, end;
    if (reader_name_rank(path, &start, &end) < 0) {
        return g_strdup(path);
    }
    return g_strdup_printf("%.*s#%s", (int)start, path, path + end);
}

static const TraceFormat *detect_path(const char *path, const TraceReadSpec *spec, GError **error)
{
    Input *input = input_open(path, NULL, NULL, error);
    if (input == NULL) {
        return NULL;
    }
    const TraceFormat *format = detect(input, spec, error);
    input_close(input);
    return format;
}

static gboolean add_file(GPtrArray *files, const char *path, const char *key,
                         const TraceReadSpec *spec, GError **error)
{
    const TraceFormat *format = detect_path(path, spec, error);
    if (format == NULL) {
        return FALSE;
    }
    TraceFile *file = g_new0(TraceFile, 1);
    file->path = g_strdup(path);
    file->format = format;
    file->rank = reader_name_rank(path, NULL, NULL);
    file->alone = key == NULL;
    file->key = key != NULL ? g_strdup(key) : format->per_rank ? name_key(path) : g_strdup(path);
    g_ptr_array_add(files, file);
    return TRUE;
}

static int names_compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static GPtrArray *folder_names(const char *path, GError **error)
{
    GDir *dir = g_dir_open(path, 0, error);
    if (dir == NULL) {
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        char *full = g_build_filename(path, name, NULL);
        if (name[0] != '.' && g_file_test(full, G_FILE_TEST_IS_REGULAR)) {
            g_ptr_array_add(names, full);
        } else {
            g_free(full);
        }
    }
    g_dir_close(dir);
    g_ptr_array_sort(names, names_compare);
    return names;
}

/* A folder's files: one job for those of one pattern of names, one for all logs, else one each. */
static gboolean add_folder(GPtrArray *files, const char *path, const TraceReadSpec *spec,
                           GError **error)
{
    GPtrArray *names = folder_names(path, error);
    if (names == NULL) {
        return FALSE;
    }
    guint before = files->len;
    GError *last = NULL;
    for (guint i = 0; i < names->len; i++) {
        g_clear_error(&last);
        if (!add_file(files, names->pdata[i], NULL, spec, &last)) {
            continue; /* a README or the like */
        }
        TraceFile *file = files->pdata[files->len - 1];
        file->alone = FALSE;
        if (strcmp(file->format->name, "nccl-log") == 0) {
            g_free(file->key);
            file->key = g_strdup(path);
        }
    }
    g_ptr_array_free(names, TRUE);
    if (files->len == before) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: no trace file in this folder%s%s",
                    path, last != NULL ? "; the last one tried: " : "",
                    last != NULL ? last->message : "");
        g_clear_error(&last);
        return FALSE;
    }
    g_clear_error(&last);
    return TRUE;
}

/* One file of a per-rank format stands for those beside it. */
static gboolean add_siblings(GPtrArray *files, const TraceReadSpec *spec, GError **error)
{
    guint n = files->len;
    for (guint i = 0; i < n; i++) {
        TraceFile *file = files->pdata[i];
        gboolean single = file->alone && file->rank >= 0 && file->format->per_rank;
        for (guint j = 0; j < n && single; j++) {
            single = j == i || strcmp(((TraceFile *)files->pdata[j])->key, file->key) != 0;
        }
        if (!single) {
            continue;
        }
        char *folder = g_path_get_dirname(file->path);
        GPtrArray *names = folder_names(folder, NULL);
        char *own = g_canonicalize_filename(file->path, NULL);
        char *key = name_key(own);
        gboolean ok = TRUE;
        for (guint k = 0; names != NULL && k < names->len && ok; k++) {
            char *other = g_canonicalize_filename(names->pdata[k], NULL);
            char *other_key = name_key(other);
            if (strcmp(other, own) != 0 && strcmp(other_key, key) == 0) {
                ok = add_file(files, names->pdata[k], file->key, spec, error);
            }
            g_free(other);
            g_free(other_key);
        }
        g_free(own);
        g_free(key);
        g_free(folder);
        if (names != NULL) {
            g_ptr_array_free(names, TRUE);
        }
        if (!ok) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean add_argument(GPtrArray *files, const char *path, const TraceReadSpec *spec,
                             GError **error)
{
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        return add_folder(files, path, spec, error);
    }
    if (g_file_test(path, G_FILE_TEST_EXISTS)) {
        return add_file(files, path, NULL, spec, error);
    }
    char *first = g_strdup_printf("%s.0.et", path); /* the prefix that Chakra's own tools take */
    gboolean prefix = g_file_test(first, G_FILE_TEST_EXISTS);
    gboolean ok = prefix && add_file(files, first, NULL, spec, error);
    g_free(first);
    if (prefix) {
        return ok;
    }
    if (strchr(path, ',') == NULL) {
        return add_file(files, path, NULL, spec, error); /* says why it cannot be opened */
    }
    char **parts = g_strsplit(path, ",", -1);
    ok = TRUE;
    for (guint i = 0; parts[i] != NULL && ok; i++) {
        ok = add_file(files, parts[i], path, spec, error);
    }
    g_strfreev(parts);
    return ok;
}

static gboolean read_file(Trace *trace, const TraceFormat *format, Input *input, guint32 world_hint,
                          guint32 job_files, const TraceReadSpec *spec, GError **error)
{
    Reader reader = {
        .spec = spec,
        .trace = trace,
        .input = input,
        .file = trace_file(trace, input_path(input)),
        .name_rank = reader_name_rank(input_path(input), NULL, NULL),
        .world_hint = world_hint,
        .job_files = job_files,
    };
    trace->format = format->name;
    return format->read(&reader, error);
}

/* What is left to check when all files of a job are in. */
static gboolean finish_job(Trace *trace, const TraceReadSpec *spec, GError **error)
{
    for (guint i = 0; trace->world == 0 && i < trace->records->len; i++) {
        trace->world = MAX(trace->world, trace_record(trace, i)->rank + 1);
    }
    if (trace->records->len == 0) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: holds no operation to replay%s",
                    trace->name, trace_skipped(trace) > 0 ? " (all were skipped)" : "");
        return FALSE;
    }
    return trace_finish(trace, spec->lenient, error);
}

static int files_compare(gconstpointer a, gconstpointer b)
{
    const TraceFile *x = *(TraceFile *const *)a, *y = *(TraceFile *const *)b;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : strcmp(x->path, y->path);
}

static Trace *read_job(GPtrArray *files, const TraceReadSpec *spec, GError **error)
{
    g_ptr_array_sort(files, files_compare);
    const TraceFile *first = files->pdata[0];
    guint32 world_hint = spec->world;
    if (world_hint == 0 && files->len > 1 && first->rank >= 0) {
        gint64 last = ((TraceFile *)files->pdata[files->len - 1])->rank;
        world_hint = MIN(last + 1, RECORD_WORLD_MAX);
    }
    Trace *trace = trace_new(files->len > 1 ? first->key : first->path);
    gboolean ok = TRUE;
    for (guint i = 0; i < files->len && ok; i++) {
        const TraceFile *file = files->pdata[i];
        if (file->format != first->format) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                        "%s is %s but %s is %s: files of one job have one format", first->path,
                        first->format->title, file->path, file->format->title);
            ok = FALSE;
            break;
        }
        Input *input = input_open(file->path, spec->progress, spec->user, error);
        ok = input != NULL &&
             read_file(trace, file->format, input, world_hint, files->len, spec, error);
        input_close(input);
    }
    if (!ok || !finish_job(trace, spec, error)) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}

/* Messages may quote what the file holds. */
static void make_printable(GError **error)
{
    if (error != NULL && *error != NULL && !g_utf8_validate((*error)->message, -1, NULL)) {
        char *valid = g_utf8_make_valid((*error)->message, -1);
        g_free((*error)->message);
        (*error)->message = valid;
    }
}

static void trace_free_any(gpointer trace)
{
    trace_free(trace);
}

GPtrArray *trace_read_jobs(const char *const *paths, guint n, const TraceReadSpec *spec,
                           GError **error)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(file_free);
    GPtrArray *jobs = g_ptr_array_new_with_free_func(trace_free_any);
    gboolean ok = TRUE;
    for (guint i = 0; i < n && ok; i++) {
        ok = add_argument(files, paths[i], spec, error);
    }
    ok = ok && add_siblings(files, spec, error);
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < files->len && ok; i++) {
        const TraceFile *file = files->pdata[i];
        gboolean per_rank = file->rank >= 0 && file->format->per_rank;
        gboolean joined = per_rank || !file->alone;
        if (joined && !g_hash_table_add(seen, file->key)) {
            continue;
        }
        GPtrArray *of_job = g_ptr_array_new();
        for (guint j = i; j < files->len; j++) {
            TraceFile *other = files->pdata[j];
            if (j == i || (joined && strcmp(other->key, file->key) == 0)) {
                g_ptr_array_add(of_job, other);
            }
        }
        Trace *trace = read_job(of_job, spec, error);
        g_ptr_array_free(of_job, TRUE);
        ok = trace != NULL;
        if (ok) {
            g_ptr_array_add(jobs, trace);
        }
    }
    g_hash_table_destroy(seen);
    g_ptr_array_free(files, TRUE);
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
    const TraceFormat *format = detect(input, spec, error);
    gboolean ok = format != NULL && read_file(trace, format, input, spec->world, 1, spec, error) &&
                  finish_job(trace, spec, error);
    input_close(input);
    if (!ok) {
        make_printable(error);
        trace_free(trace);
        return NULL;
    }
    return trace;
}
