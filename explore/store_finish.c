/* See store.h: the end of a sweep. */
#include <string.h>

#include "explore/store_parts.h"

/* Outputs in the order in which the points' reports have them, whoever was done first. */
static char **store_ordered_outputs(Store *store, GError **error)
{
    sqlite3_stmt *all = sql_prepare(store->db, error, "SELECT name FROM outputs ORDER BY first_point, position");
    GPtrArray *names = g_ptr_array_new();
    gboolean row = TRUE, good = TRUE;
    while (all && row && (good = sql_step(store->db, all, &row, error)) && row)
        g_ptr_array_add(names, g_strdup((const char *)sqlite3_column_text(all, 0)));
    sqlite3_finalize(all);
    g_ptr_array_add(names, NULL);
    char **list = (char **)g_ptr_array_free(names, FALSE);
    if (all && good)
        return list;
    g_strfreev(list);
    return NULL;
}

static gboolean store_order(Store *store, GError **error)
{
    g_auto(GStrv) outputs = store_ordered_outputs(store, error);
    if (!outputs)
        return FALSE;
    g_autofree char *columns = store_columns(store, (const char *const *)outputs);
    g_autofree char *definition = store_definition(store, (const char *const *)outputs);
    return sql_run(store->db, error,
                   "CREATE TABLE points_in_order (%s);"
                   "INSERT INTO points_in_order SELECT %s FROM points ORDER BY id;"
                   "DROP TABLE points;"
                   "ALTER TABLE points_in_order RENAME TO points;"
                   "CREATE TABLE outputs_in_order (name TEXT PRIMARY KEY, first_point INTEGER, position INTEGER, "
                   "unit TEXT);"
                   "INSERT INTO outputs_in_order SELECT * FROM outputs ORDER BY first_point, position;"
                   "DROP TABLE outputs;"
                   "ALTER TABLE outputs_in_order RENAME TO outputs",
                   definition, columns);
}

/* ---- thresholds */

static gboolean store_is_searched(const Store *store, const char *name)
{
    return g_strv_contains((const char *const *)store->spec->threshold.axis->names, name);
}

static gboolean store_add_threshold(Store *store, const Points *points, guint64 combination, sqlite3_stmt *insert,
                                    GError **error)
{
    g_autoptr(GPtrArray) inputs = spec_inputs(store->spec);
    PointsThreshold one = points_threshold(points, combination);
    int at = 1;
    double metric = 0, reference = 0;
    for (guint i = 0; i < inputs->len; i++, at++) {
        if (store_is_searched(store, inputs->pdata[i]) && !one.found)
            continue;
        if (spec_input_is_number(store->spec, inputs->pdata[i]))
            sqlite3_bind_int64(insert, at, (gint64)g_ascii_strtoull(one.values[i], NULL, 10));
        else
            sql_bind_text(insert, at, one.values[i]);
    }
    if (one.found) {
        store_look(one.id, &metric, store);
        store_look(one.reference_id, &reference, store);
        sqlite3_bind_int64(insert, at, (gint64)one.id);
        sqlite3_bind_double(insert, at + 1, metric);
        sqlite3_bind_double(insert, at + 2, reference);
    }
    g_free(one.values);
    return sql_do(store->db, insert, error);
}

static gboolean store_add_thresholds(Store *store, const Points *points, GError **error)
{
    g_autoptr(GPtrArray) inputs = spec_inputs(store->spec);
    GString *columns = g_string_new(NULL), *marks = g_string_new("?, ?, ?");
    if (!sql_run(store->db, error, "DROP TABLE IF EXISTS thresholds"))
        return FALSE;
    for (guint i = 0; i < inputs->len; i++) {
        g_autofree char *quoted = sql_name(inputs->pdata[i]);
        g_string_append_printf(columns, "%s, ", quoted);
        g_string_append(marks, ", ?");
    }
    gboolean good = sql_run(store->db, error, "CREATE TABLE thresholds (%spoint, metric, reference_metric)",
                            columns->str);
    sqlite3_stmt *insert = NULL;
    if (good)
        insert = sql_prepare(store->db, error, "INSERT INTO thresholds VALUES (%s)", marks->str);
    g_string_free(columns, TRUE);
    g_string_free(marks, TRUE);
    good = insert != NULL;
    for (guint64 i = 0; good && i < points_combinations(points); i++)
        good = store_add_threshold(store, points, i, insert, error);
    sqlite3_finalize(insert);
    return good;
}

gboolean store_finish(Store *store, const Points *points, GError **error)
{
    g_autofree char *state = sql_text(store->db, NULL, "SELECT value FROM sweep WHERE key = 'state'");
    if (g_strcmp0(state, "complete") == 0)
        return TRUE;
    if (sql_run(store->db, error, "BEGIN IMMEDIATE") && store_order(store, error) &&
        (!store->spec->threshold.axis || store_add_thresholds(store, points, error)) &&
        sql_run(store->db, error, "UPDATE sweep SET value = 'complete' WHERE key = 'state'; COMMIT"))
        return TRUE;
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    g_prefix_error(error, "'%s' cannot be put in order: ", store->path);
    return FALSE;
}
