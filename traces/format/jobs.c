#include "traces/format/jobs.h"

#include <string.h>

static void job_free(gpointer data)
{
    TraceJob *job = data;
    g_free(job->name);
    g_free(job->note);
    g_ptr_array_free(job->files, TRUE);
    g_free(job);
}

static int by_numbers(gconstpointer a, gconstpointer b)
{
    const TraceFile *x = *(TraceFile *const *)a, *y = *(TraceFile *const *)b;
    int order = names_compare_values(x->numbers, y->numbers);
    return order != 0 ? order : strcmp(x->path, y->path);
}

static int by_rank(gconstpointer a, gconstpointer b)
{
    const TraceFile *x = *(TraceFile *const *)a, *y = *(TraceFile *const *)b;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : by_numbers(a, b);
}

static guint64 number_of(const TraceFile *file, guint field)
{
    return g_array_index(file->numbers->value, guint64, field);
}

/* No two files have one rank, and all say the same number of ranks. */
static gboolean ranks_differ(const GPtrArray *files)
{
    GHashTable *seen = g_hash_table_new(g_direct_hash, g_direct_equal);
    gboolean differ = TRUE;
    for (guint i = 0; i < files->len && differ; i++) {
        const TraceFile *file = files->pdata[i], *first = files->pdata[0];
        differ = g_hash_table_add(seen, GINT_TO_POINTER((gint)file->rank)) && file->own.world == first->own.world;
    }
    g_hash_table_destroy(seen);
    return differ;
}

/* The only field in which all differ, with a 0 among its values: the values are ranks, though some
 * may be missing. -1: there is none. */
static int rank_field(const GPtrArray *files)
{
    const TraceFile *first = files->pdata[0];
    int found = -1;
    for (guint f = 0; f < first->numbers->value->len; f++) {
        gboolean varies = FALSE, zero = FALSE;
        guint64 most = 0;
        for (guint i = 0; i < files->len; i++) {
            guint64 value = number_of(files->pdata[i], f);
            varies |= value != number_of(first, f);
            zero |= value == 0;
            most = MAX(most, value);
        }
        if (varies && found >= 0)
            return -1;
        if (varies) {
            found = zero && most < RECORD_WORLD_MAX ? (int)f : -1;
            if (found < 0)
                return -1;
        }
    }
    return found;
}

static gboolean take_own(GPtrArray *files)
{
    gboolean known = TRUE;
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        file->rank = file->own.rank;
        known &= file->rank >= 0;
    }
    return known;
}

static gboolean take_names(GPtrArray *files, gboolean *words)
{
    gboolean known = TRUE;
    *words = TRUE;
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        file->rank = file->name_rank;
        known &= file->name_kind != NAME_RANK_NONE;
        *words &= file->name_kind == NAME_RANK_WORD;
    }
    return known;
}

/* Sets the files' ranks; TRUE: only the order of the numbers told them. Where what the files say is
 * the same twice, but their names say "rank0" and "rank1", the names stand: reading them then says
 * what contradicts them. */
static gboolean set_ranks(GPtrArray *files)
{
    gboolean own = take_own(files), words;
    if (own && ranks_differ(files))
        return FALSE;
    gboolean names = take_names(files, &words);
    if (names && (words || !own) && ranks_differ(files))
        return FALSE;
    if (own)
        take_own(files);
    if (own || names)
        return FALSE;
    g_ptr_array_sort(files, by_numbers);
    int field = rank_field(files);
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        file->rank = files->len == 1 ? -1 : field < 0 ? i : (gint64)number_of(file, field);
    }
    return files->len > 1;
}

/* Files by the value of one number, each group's ranks different; NULL: it does not split them so.
 */
static GPtrArray *split_by(const GPtrArray *files, guint field)
{
    GPtrArray *groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    GHashTable *at = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        gpointer key = &g_array_index(file->numbers->value, guint64, field);
        GPtrArray *group = g_hash_table_lookup(at, key);
        if (!group) {
            group = g_ptr_array_new();
            g_hash_table_insert(at, key, group);
            g_ptr_array_add(groups, group);
        }
        g_ptr_array_add(group, file);
    }
    g_hash_table_destroy(at);
    gboolean good = groups->len > 1;
    for (guint g = 0; g < groups->len && good; g++)
        good = ranks_differ(groups->pdata[g]);
    if (!good) {
        g_ptr_array_free(groups, TRUE);
        return NULL;
    }
    return groups;
}

/* The k-th file of each rank, in the order of the numbers, for each k. */
static GPtrArray *split_by_turn(GPtrArray *files)
{
    GPtrArray *groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    GHashTable *turns = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTable *group_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_ptr_array_sort(files, by_numbers);
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        char *who = g_strdup_printf("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, file->rank, file->own.world);
        guint turn = GPOINTER_TO_UINT(g_hash_table_lookup(turns, who));
        g_hash_table_insert(turns, who, GUINT_TO_POINTER(turn + 1));
        char *key = g_strdup_printf("%" G_GINT64_FORMAT " ranks, %u", file->own.world, turn);
        GPtrArray *group = g_hash_table_lookup(group_of, key);
        if (!group) {
            group = g_ptr_array_new();
            g_hash_table_insert(group_of, g_strdup(key), group);
            g_ptr_array_add(groups, group);
        }
        g_ptr_array_add(group, file);
        g_free(key);
    }
    g_hash_table_destroy(turns);
    g_hash_table_destroy(group_of);
    return groups;
}

/* The split with the fewest groups: by what the ranks share, not by what is each one's own. */
static GPtrArray *split(GPtrArray *files)
{
    const TraceFile *first = files->pdata[0];
    GPtrArray *best = split_by_turn(files);
    for (guint f = 0; f < first->numbers->value->len; f++) {
        GPtrArray *groups = split_by(files, f);
        if (groups && groups->len <= best->len) {
            g_ptr_array_free(best, TRUE);
            best = groups;
        } else if (groups) {
            g_ptr_array_free(groups, TRUE);
        }
    }
    return best;
}

/* "DIR/worker#.json" of files of one set of names, else the first one's path and how many more. */
static char *common_name(const GPtrArray *files)
{
    const TraceFile *first = files->pdata[0];
    const NameNumbers **all = g_new(const NameNumbers *, files->len);
    gboolean alike = TRUE;
    for (guint i = 0; i < files->len; i++) {
        const TraceFile *file = files->pdata[i];
        all[i] = file->numbers;
        alike &= strcmp(file->set, first->set) == 0;
    }
    char *name = files->len == 1 ? g_strdup(first->path)
                 : alike         ? names_common(all, files->len)
                                 : g_strdup_printf("%s and %u more", first->path, files->len - 1);
    char *folder = g_path_get_dirname(first->path);
    if (files->len > 1 && alike && !g_path_is_absolute(name) && strcmp(folder, ".") != 0) {
        char *base = name;
        name = g_build_filename(folder, base, NULL);
        g_free(base);
    }
    g_free(folder);
    g_free((gpointer)all);
    return name;
}

static void add_job(GPtrArray *jobs, const GPtrArray *files, const char *name, char *note)
{
    TraceJob *job = g_new0(TraceJob, 1);
    job->files = g_ptr_array_new();
    for (guint i = 0; i < files->len; i++)
        g_ptr_array_add(job->files, files->pdata[i]);
    g_ptr_array_sort(job->files, by_rank);
    job->note = note;
    job->name = name ? g_strdup(name) : common_name(job->files);
    g_ptr_array_add(jobs, job);
}

static gboolean any_named(const GPtrArray *files)
{
    gboolean named = FALSE;
    for (guint i = 0; i < files->len; i++)
        named |= !((const TraceFile *)files->pdata[i])->sibling;
    return named;
}

/* Files that only lie beside a named one, and of which nothing but their order says what they are
 * (numbers that are no ranks: process ids, times, steps), are left alone. */
static void drop_doubtful(GPtrArray *files)
{
    gboolean siblings = FALSE;
    for (guint i = 0; i < files->len; i++)
        siblings |= ((const TraceFile *)files->pdata[i])->sibling;
    if (!siblings || rank_field(files) >= 0)
        return;
    for (guint i = files->len; i-- > 0;) {
        TraceFile *file = files->pdata[i];
        if (file->sibling)
            g_ptr_array_remove_index(files, i);
        else
            file->rank = -1;
    }
}

static void group_set(GPtrArray *jobs, GPtrArray *files)
{
    gboolean guessed = set_ranks(files);
    if (guessed)
        drop_doubtful(files);
    const TraceFile *first = files->pdata[0];
    gboolean whole = ranks_differ(files);
    if (whole) {
        char *note = guessed && files->len > 1
                         ? g_strdup_printf("%u files like %s are the ranks of one job, in the order of the "
                                           "numbers in which their names differ",
                                           files->len, first->path)
                         : NULL;
        add_job(jobs, files, NULL, note);
        return;
    }
    GPtrArray *groups = split(files);
    for (guint g = 0; g < groups->len; g++)
        if (any_named(groups->pdata[g]))
            add_job(jobs, groups->pdata[g], NULL, NULL);
    g_ptr_array_free(groups, TRUE);
}

/* All ranks and their number are what the files say, and ranks are missing. */
static gboolean is_part(const GPtrArray *files)
{
    const TraceFile *first = files->pdata[0];
    gboolean part = (gint64)files->len < first->own.world;
    for (guint i = 0; i < files->len; i++) {
        const TraceFile *file = files->pdata[i];
        part &= !file->joined && file->own.rank >= 0 && file->rank == file->own.rank &&
                file->own.world == first->own.world && file->folder == first->folder;
    }
    return part;
}

static gboolean fit_together(const GPtrArray *one, const GPtrArray *two)
{
    const TraceFile *a = one->pdata[0], *b = two->pdata[0];
    gboolean fit = a->format == b->format && a->folder == b->folder && a->own.world == b->own.world;
    for (guint i = 0; i < one->len && fit; i++)
        for (guint k = 0; k < two->len && fit; k++)
            fit = ((const TraceFile *)one->pdata[i])->rank != ((const TraceFile *)two->pdata[k])->rank;
    return fit;
}

/* Files of several hosts may differ in more than numbers: parts of jobs that say which ranks they
 * are of how many, and have no rank in common, are one. */
static void join_parts(GPtrArray *jobs)
{
    for (guint i = 0; i < jobs->len; i++) {
        TraceJob *job = jobs->pdata[i];
        for (guint k = i + 1; k < jobs->len && is_part(job->files);) {
            const TraceJob *other = jobs->pdata[k];
            if (!is_part(other->files) || !fit_together(job->files, other->files)) {
                k++;
                continue;
            }
            for (guint f = 0; f < other->files->len; f++)
                g_ptr_array_add(job->files, other->files->pdata[f]);
            g_ptr_array_remove_index(jobs, k);
            g_ptr_array_sort(job->files, by_rank);
            g_free(job->name);
            job->name = common_name(job->files);
        }
    }
}

static char *apart_note(const TraceFile *file)
{
    return file->apart ? g_strdup("shares no communicator with other logs of its folder: a job of its own; "
                                  "with commas between them logs are one job")
                       : NULL;
}

GPtrArray *jobs_group(GPtrArray *files)
{
    GPtrArray *jobs = g_ptr_array_new_with_free_func(job_free);
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < files->len; i++) {
        TraceFile *file = files->pdata[i];
        if (!file->joined && !file->format->per_rank) {
            GPtrArray *alone = g_ptr_array_new();
            g_ptr_array_add(alone, file);
            add_job(jobs, alone, NULL, apart_note(file));
            g_ptr_array_free(alone, TRUE);
            continue;
        }
        if (!g_hash_table_add(seen, file->set))
            continue;
        GPtrArray *set = g_ptr_array_new();
        for (guint k = i; k < files->len; k++) {
            TraceFile *other = files->pdata[k];
            if (strcmp(other->set, file->set) == 0)
                g_ptr_array_add(set, other);
        }
        if (file->joined) {
            for (guint k = 0; k < set->len; k++) {
                TraceFile *other = set->pdata[k];
                other->rank = other->own.rank >= 0 ? other->own.rank : other->name_rank;
            }
            const char *space = strchr(file->set, ' ');
            add_job(jobs, set, space ? space + 1 : file->set, apart_note(file));
        } else {
            group_set(jobs, set);
        }
        g_ptr_array_free(set, TRUE);
    }
    g_hash_table_destroy(seen);
    join_parts(jobs);
    return jobs;
}
