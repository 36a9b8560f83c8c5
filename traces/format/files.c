#include "traces/format/files.h"

#include <string.h>

static void file_free(gpointer data)
{
    TraceFile *file = data;
    names_numbers_free(file->numbers);
    if (file->own.ids)
        g_ptr_array_free(file->own.ids, TRUE);
    input_kept_free(file->kept);
    g_free(file->path);
    g_free(file->set);
    g_free(file);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "kineto DIR worker#.json" of formats with a file a rank, else the file alone. */
static char *set_of(const TraceFile *file)
{
    if (!file->format->per_rank)
        return g_strconcat("file ", file->path, NULL);
    char *folder = g_path_get_dirname(file->path), *whole = g_canonicalize_filename(folder, NULL);
    char *set = g_strdup_printf("%s %s/%s", file->format->name, whole, file->numbers->pattern);
    g_free(folder);
    g_free(whole);
    return set;
}

Input *files_open(const TraceFile *file, InputProgress progress, void *user, GError **error)
{
    return file->kept ? input_open_kept(file->kept, progress, user, error)
                      : input_open(file->path, progress, user, error);
}

/* The format by the file's beginning, and of a pipe then the rest of it. */
static gboolean look_at(TraceFile *file, const TraceReadSpec *spec, GError **error)
{
    GError *why = NULL;
    file->kept = input_kept_new(file->path, &why);
    if (why) {
        g_propagate_error(error, why);
        return FALSE;
    }
    Input *input = files_open(file, NULL, NULL, error);
    file->format = input ? reader_detect(input, spec, error) : NULL;
    input_close(input);
    if (!file->format || (file->kept && !input_kept_rest(file->kept, error)))
        return FALSE;
    input = file->format->identify ? files_open(file, NULL, NULL, error) : NULL;
    if (input)
        file->format->identify(input, &file->own);
    input_close(input);
    return !file->format->identify || input;
}

static TraceFile *add_file(GPtrArray *files, const char *path, const TraceReadSpec *spec, GError **error)
{
    TraceFile *file = g_new0(TraceFile, 1);
    file->path = g_strdup(path);
    file->own = (TraceIdentity){.rank = -1, .world = -1};
    if (!look_at(file, spec, error)) {
        file_free(file);
        return NULL;
    }
    file->numbers = names_numbers(base_of(path));
    file->name_kind = names_rank(path, &file->name_rank);
    file->rank = -1;
    file->set = set_of(file);
    g_ptr_array_add(files, file);
    return file;
}

static gboolean is_log(const TraceFile *file) { return strcmp(file->format->name, "nccl-log") == 0; }

static int names_compare(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static GPtrArray *folder_names(const char *path, GError **error)
{
    GDir *dir = g_dir_open(path, 0, error);
    if (!dir)
        return NULL;
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        char *full = g_build_filename(path, name, NULL);
        if (name[0] != '.' && g_file_test(full, G_FILE_TEST_IS_REGULAR))
            g_ptr_array_add(names, full);
        else
            g_free(full);
    }
    g_dir_close(dir);
    g_ptr_array_sort(names, names_compare);
    return names;
}

/* A folder's NCCL logs from number `before` on. Where all say which communicators they have, those that share one are
 * one job (join_ids); else all are. */
static void join_logs(GPtrArray *files, guint before, const char *path)
{
    gboolean all_say = TRUE;
    for (guint i = before; i < files->len; i++) {
        const TraceFile *file = files->pdata[i];
        all_say &= !is_log(file) || (file->own.ids && file->own.ids->len > 0);
    }
    for (guint i = before; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        if (is_log(file)) {
            g_free(file->set);
            file->set = all_say ? g_strconcat("log ", file->path, NULL) : g_strconcat("folder ", path, NULL);
            file->joined = !all_say;
        }
    }
}

/* A folder's files. */
static gboolean add_folder(GPtrArray *files, const char *path, guint number, const TraceReadSpec *spec, GError **error)
{
    GPtrArray *names = folder_names(path, error);
    if (!names)
        return FALSE;
    guint before = files->len;
    GError *last = NULL;
    for (guint i = 0; i < names->len; i++) {
        g_clear_error(&last);
        TraceFile *file = add_file(files, names->pdata[i], spec, &last);
        if (!file)
            continue; /* a README or the like */
        file->folder = number;
    }
    join_logs(files, before, path);
    g_ptr_array_free(names, TRUE);
    if (files->len == before) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: no trace file in this folder%s%s", path,
                    last ? "; the last one tried: " : "", last ? last->message : "");
        g_clear_error(&last);
        return FALSE;
    }
    g_clear_error(&last);
    return TRUE;
}

/* Files joined by commas: one job. */
static gboolean add_list(GPtrArray *files, const char *path, const TraceReadSpec *spec, GError **error)
{
    char **parts = g_strsplit(path, ",", -1);
    gboolean ok = TRUE;
    for (guint i = 0; parts[i] && ok; i++) {
        TraceFile *file = add_file(files, parts[i], spec, error);
        ok = file != NULL;
        if (ok) {
            g_free(file->set);
            file->set = g_strconcat("list ", path, NULL);
            file->joined = TRUE;
        }
    }
    g_strfreev(parts);
    return ok;
}

/* Where "x" or "x.et" is no file, but "x.0.et" is: the prefix that Chakra's own tools take, and the
 * name that files were recorded or converted under. NULL: there is none; caller frees. */
static char *prefix_of(const char *path)
{
    char *whole = g_strdup_printf("%s.0.et", path);
    if (g_file_test(whole, G_FILE_TEST_EXISTS))
        return whole;
    g_free(whole);
    if (!g_str_has_suffix(path, ".et"))
        return NULL;
    char *cut = g_strdup_printf("%.*s.0.et", (int)(strlen(path) - strlen(".et")), path);
    if (g_file_test(cut, G_FILE_TEST_EXISTS))
        return cut;
    g_free(cut);
    return NULL;
}

static gboolean add_argument(GPtrArray *files, const char *path, guint number, const TraceReadSpec *spec,
                             GError **error)
{
    if (strcmp(path, "-") == 0)
        path = "/dev/stdin";
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return add_folder(files, path, number, spec, error);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return add_file(files, path, spec, error) != NULL;
    char *first = prefix_of(path);
    gboolean ok;
    if (first)
        ok = add_file(files, first, spec, error) != NULL;
    else if (strchr(path, ','))
        ok = add_list(files, path, spec, error);
    else
        ok = add_file(files, path, spec, error) != NULL; /* says why it cannot be opened */
    g_free(first);
    return ok;
}

static guint count_set(const GPtrArray *files, const char *set)
{
    guint n = 0;
    for (guint i = 0; i < files->len; i++)
        n += strcmp(((TraceFile *)files->pdata[i])->set, set) == 0;
    return n;
}

/* One file of a set stands for those that lie beside it: they are taken in, and jobs_group decides
 * which of them are of its job. */
static gboolean add_siblings(GPtrArray *files, const TraceReadSpec *spec, GError **error)
{
    guint n = files->len;
    for (guint i = 0; i < n; i++) {
        TraceFile *file = files->pdata[i];
        if (!file->format->per_rank || file->joined || file->sibling || file->kept ||
            g_str_has_prefix(file->path, "/dev/") || g_str_has_prefix(file->path, "/proc/") ||
            file->numbers->value->len == 0 || count_set(files, file->set) > 1)
            continue;
        char *folder = g_path_get_dirname(file->path);
        GPtrArray *names = folder_names(folder, NULL);
        gboolean ok = TRUE;
        for (guint k = 0; names && k < names->len && ok; k++) {
            const char *base = base_of(names->pdata[k]);
            NameNumbers *numbers = names_numbers(base);
            if (strcmp(numbers->pattern, file->numbers->pattern) == 0 && strcmp(base, base_of(file->path)) != 0) {
                GError *why = NULL;
                TraceFile *other = add_file(files, names->pdata[k], spec, &why);
                ok = other || file->name_kind == NAME_RANK_NONE; /* of one name by chance */
                if (other)
                    other->sibling = TRUE;
                if (!ok)
                    g_propagate_error(error, g_steal_pointer(&why));
                g_clear_error(&why);
            }
            names_numbers_free(numbers);
        }
        g_free(folder);
        if (names)
            g_ptr_array_free(names, TRUE);
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

/* Files of one name in folders that differ in numbers alone ("rank_0/trace.json") are one set. */
static void join_folders(GPtrArray *files)
{
    GHashTable *count = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    char **sets = g_new0(char *, files->len + 1);
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        if (file->format->per_rank && !file->joined && count_set(files, file->set) == 1) {
            char *whole = g_canonicalize_filename(file->path, NULL);
            NameNumbers *numbers = names_numbers(whole);
            sets[i] = g_strdup_printf("%s path %s %s", file->format->name, numbers->pattern, file->numbers->text);
            guint n = GPOINTER_TO_UINT(g_hash_table_lookup(count, sets[i]));
            g_hash_table_insert(count, g_strdup(sets[i]), GUINT_TO_POINTER(n + 1));
            names_numbers_free(numbers);
            g_free(whole);
        }
    }
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        if (sets[i] && GPOINTER_TO_UINT(g_hash_table_lookup(count, sets[i])) > 1) {
            char *whole = g_canonicalize_filename(file->path, NULL);
            names_numbers_free(file->numbers);
            file->numbers = names_numbers(whole);
            g_free(file->set);
            file->set = g_strdup(sets[i]);
            file->name_kind = NAME_RANK_NONE; /* the same in all of them */
            file->name_rank = -1;
            g_free(whole);
        }
        g_free(sets[i]);
    }
    g_free(sets);
    g_hash_table_destroy(count);
}

/* Files that name the same thing (NCCL: a communicator) are of one job. */
static void join_ids(GPtrArray *files)
{
    GHashTable *set_of_id = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        for (guint k = 0; file->own.ids && k < file->own.ids->len; k++) {
            const char *known = g_hash_table_lookup(set_of_id, file->own.ids->pdata[k]);
            if (!known || strcmp(known, file->set) == 0)
                continue;
            char *old = g_strdup(file->set), *set = g_strdup(known);
            for (guint j = 0; j <= i; j++) {
                TraceFile *other = files->pdata[j];
                if (strcmp(other->set, old) == 0 || strcmp(other->set, set) == 0) {
                    other->joined = TRUE;
                    g_free(other->set);
                    other->set = g_strdup(set);
                }
            }
            g_free(old);
            g_free(set);
            g_hash_table_remove_all(set_of_id); /* its values were freed */
            for (guint j = 0; j < i; j++) {
                const TraceFile *other = files->pdata[j];
                for (guint m = 0; other->own.ids && m < other->own.ids->len; m++)
                    g_hash_table_insert(set_of_id, other->own.ids->pdata[m], other->set);
            }
        }
        for (guint k = 0; file->own.ids && k < file->own.ids->len; k++)
            g_hash_table_insert(set_of_id, file->own.ids->pdata[k], file->set);
    }
    g_hash_table_destroy(set_of_id);
}

/* Logs of a folder that are one job are called by it; those that are several are said to be. */
static void name_logs(GPtrArray *files, guint folder, const char *path)
{
    const TraceFile *first = NULL;
    gboolean one = TRUE;
    for (guint i = 0; i < files->len; i++) {
        const TraceFile *file = files->pdata[i];
        if (file->folder == folder && is_log(file)) {
            first = first ? first : file;
            one &= strcmp(file->set, first->set) == 0;
        }
    }
    char *old = first ? g_strdup(first->set) : NULL;
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        file->apart |= file->folder == folder && is_log(file) && !one;
        if (one && old && strcmp(file->set, old) == 0 && file->joined) {
            g_free(file->set);
            file->set = g_strconcat("folder ", path, NULL);
        }
    }
    g_free(old);
}

GPtrArray *files_collect(const char *const *paths, guint n, const TraceReadSpec *spec, GError **error)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(file_free);
    gboolean ok = TRUE;
    for (guint i = 0; i < n && ok; i++)
        ok = add_argument(files, paths[i], i + 1, spec, error);
    if (ok) {
        join_folders(files);
        ok = add_siblings(files, spec, error);
    }
    if (!ok) {
        g_ptr_array_free(files, TRUE);
        return NULL;
    }
    join_ids(files);
    for (guint i = 0; i < n; i++)
        name_logs(files, i + 1, paths[i]);
    return files;
}
