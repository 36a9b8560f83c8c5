/* See store.h: opening, and what is known. Rows are written in store_write.c. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore/store_parts.h"
#include "sim/param/nearest.h"

G_DEFINE_QUARK(fanout - store - error, store_error)

static gboolean store_refuse(const Store *store, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "'%s' %s", store->path, what);
    return FALSE;
}

/* ---- the file */

/* The lock is flock()'s: SQLite's own locks are fcntl()'s, which are another kind. The descriptor stays open until
 * SQLite has closed the file, since closing any descriptor of a file drops fcntl()'s locks. */
static gboolean store_open_file(Store *store, GError **error)
{
    struct stat status;
    store->fd = open(store->path, O_RDWR | O_CLOEXEC);
    if (store->fd < 0 && errno == ENOENT) {
        store->fd = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        store->is_new = store->fd >= 0;
    }
    if (store->fd < 0)
        return store_refuse(store, error, "cannot be written: %s", g_strerror(errno));
    if (fstat(store->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return store_refuse(store, error, "is no plain file");
    if (flock(store->fd, LOCK_EX | LOCK_NB) != 0)
        return store_refuse(store, error, "is being written by another fanout sweep");
    return TRUE;
}

static gboolean store_open_database(Store *store, GError **error)
{
    /* ":memory:" and the like are names of files here. */
    g_autofree char *path = g_path_is_absolute(store->path) ? g_strdup(store->path)
                                                            : g_strconcat("./", store->path, NULL);
    g_autoptr(GError) why = NULL;
    if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return store_refuse(store, error, "cannot be opened: %s", store->db ? sqlite3_errmsg(store->db) : "no memory");
    sqlite3_busy_timeout(store->db, 60000); /* readers may look while a sweep runs */
    g_autofree char *tables = sql_text(store->db, &why, "SELECT count(*) FROM sqlite_master");
    if (!tables)
        return store_refuse(store, error, "is no database that can be used: %s", why->message);
    store->is_empty = strcmp(tables, "0") == 0;
    return TRUE;
}

/* ---- is it ours */

static char *store_value(const Store *store, const char *key)
{
    return sql_text(store->db, NULL, "SELECT value FROM sweep WHERE key = '%s'", key);
}

static gboolean store_check(const Store *store, const char *version, GError **error)
{
    g_autofree char *format = store_value(store, "format"), *made = store_value(store, "version");
    g_autofree char *fingerprint = store_value(store, "fingerprint"), *spec = store_value(store, "spec");
    if (!format)
        return store_refuse(store, error, "is a database, but not one of fanout sweep; name another file with --out");
    if (strcmp(format, STORE_FORMAT) != 0)
        return store_refuse(store, error, "has the format '%s', not '%s'; name another file with --out", format,
                            STORE_FORMAT);
    if (g_strcmp0(made, version) != 0)
        return store_refuse(store, error,
                            "was made by fanout %s, and this is fanout %s: their results do not mix; "
                            "name another file with --out",
                            made ? made : "?", version);
    if (g_strcmp0(fingerprint, store->spec->fingerprint) != 0)
        return store_refuse(store, error,
                            "holds another sweep, that of '%s' as it was then; name another file with "
                            "--out",
                            spec ? spec : "?");
    return TRUE;
}

/* ---- what is known */

static void store_remember(Store *store, guint64 id, gboolean done, gboolean has, double metric)
{
    StoreKnown *known = g_new(StoreKnown, 1);
    *known = (StoreKnown){id, done, has && done, metric};
    g_hash_table_add(store->known, known);
    store->bad += !done;
    store->any_done |= done;
    store->any_metric |= known->has;
}

void store_remember_result(Store *store, guint64 id, const Result *result)
{
    gboolean has = FALSE;
    double metric = 0;
    for (guint i = 0; i < result->outputs->len && store->spec->threshold.metric; i++) {
        const Output *output = &g_array_index(result->outputs, Output, i);
        if (strcmp(output->name, store->spec->threshold.metric) != 0)
            continue;
        has = output->type == OUTPUT_REAL || output->type == OUTPUT_INTEGER;
        metric = output->type == OUTPUT_REAL ? output->real : (double)output->integer;
    }
    store_remember(store, id, strcmp(result->status, "done") == 0, has, metric);
}

gboolean store_load(Store *store, GError **error)
{
    const char *metric = store->spec->threshold.metric;
    g_autofree char *column = metric ? store_column(store, metric) : NULL;
    gboolean has = column && g_hash_table_contains(store->outputs, column), row = TRUE, good = TRUE;
    g_autofree char *quoted = has ? sql_name(column) : g_strdup("NULL");
    sqlite3_stmt *all = sql_prepare(store->db, error, "SELECT id, status = 'done', %s FROM points", quoted);
    g_hash_table_remove_all(store->known);
    store->bad = 0;
    while (all && row && (good = sql_step(store->db, all, &row, error)) && row)
        store_remember(store, (guint64)sqlite3_column_int64(all, 0), sqlite3_column_int(all, 1),
                       sqlite3_column_type(all, 2) == SQLITE_FLOAT || sqlite3_column_type(all, 2) == SQLITE_INTEGER,
                       sqlite3_column_double(all, 2));
    sqlite3_finalize(all);
    return all && good;
}

static gboolean store_load_outputs(Store *store, GError **error)
{
    sqlite3_stmt *all = sql_prepare(store->db, error, "SELECT name FROM outputs");
    gboolean row = TRUE, good = TRUE;
    while (all && row && (good = sql_step(store->db, all, &row, error)) && row)
        g_hash_table_add(store->outputs, g_strdup((const char *)sqlite3_column_text(all, 0)));
    sqlite3_finalize(all);
    return all && good;
}

PointsKnown store_look(guint64 id, double *metric, gpointer user)
{
    const Store *store = user;
    const StoreKnown *known = g_hash_table_lookup(store->known, &id);
    if (!known)
        return KNOWN_NOT;
    *metric = known->metric;
    return known->has || (known->done && !store->spec->threshold.metric) ? KNOWN : KNOWN_FAILED;
}

guint64 store_count(const Store *store, guint64 *bad)
{
    *bad = store->bad;
    return g_hash_table_size(store->known);
}

static gint store_by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

gboolean store_has_metric(const Store *store, char **hint)
{
    *hint = NULL;
    if (!store->spec->threshold.metric || store->any_metric || !store->any_done)
        return TRUE;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, store->outputs);
    while (g_hash_table_iter_next(&iter, &name, NULL))
        g_ptr_array_add(names, name);
    g_ptr_array_sort(names, store_by_name);
    g_ptr_array_add(names, NULL);
    *hint = nearest_hint(store->spec->threshold.metric, (const char *const *)names->pdata);
    return FALSE;
}

/* ---- open, close */

Store *store_open(const char *path, const SweepSpec *spec, const char *version, GError **error)
{
    Store *store = g_new0(Store, 1);
    store->fd = -1;
    store->path = g_strdup(path);
    store->version = g_strdup(version);
    store->spec = spec;
    store->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    store->outputs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    gboolean good = store_open_file(store, error) && store_open_database(store, error) &&
                    (store->is_empty || store_check(store, version, error));
    if (good) {
        g_autoptr(GError) why = NULL;
        good = sql_run(store->db, &why, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") &&
               (!store->is_empty || store_create(store, &why)) && store_load_outputs(store, &why) &&
               store_load(store, &why);
        if (!good)
            store_refuse(store, error, "cannot be written: %s", why->message);
    }
    if (good)
        return store;
    gboolean remove = store->is_new;
    if (remove)
        unlink(path);
    store_close(store);
    return NULL;
}

void store_close(Store *store)
{
    if (store->db) { /* one file is left, unless a reader has it open: then the log stays beside it */
        sqlite3_busy_timeout(store->db, 0);
        sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
        sqlite3_close(store->db);
    }
    if (store->fd >= 0)
        close(store->fd);
    g_hash_table_unref(store->known);
    g_hash_table_unref(store->outputs);
    g_free(store->path);
    g_free(store->version);
    g_free(store);
}
