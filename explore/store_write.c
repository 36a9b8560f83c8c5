/* See store.h: the tables, rows, and their final order. */
#include <string.h>

#include "explore/store_parts.h"
#include "model/fabric/fabric.h"

/* Columns of `points` that are neither inputs nor outputs: before the inputs, and behind the outputs. */
static const char *const store_before[] = {"id", "status", "error", NULL};
static const char *const store_behind[] = {"version", "command", NULL};

static gboolean store_is_taken(const Store *store, const char *name)
{
    g_autoptr(GPtrArray) inputs = spec_inputs(store->spec);
    gboolean taken = FALSE;
    for (guint i = 0; i < inputs->len; i++) /* SQL does not look at case */
        taken |= g_ascii_strcasecmp(inputs->pdata[i], name) == 0;
    for (const char *const *own = store_before; *own; own++)
        taken |= g_ascii_strcasecmp(*own, name) == 0;
    for (const char *const *own = store_behind; *own; own++)
        taken |= g_ascii_strcasecmp(*own, name) == 0;
    return taken;
}

char *store_column(const Store *store, const char *output)
{
    return store_is_taken(store, output) ? g_strconcat("result.", output, NULL) : g_strdup(output);
}

static void store_add_names(GString *text, const char *const *names, const char *between)
{
    for (const char *const *name = names; *name; name++) {
        g_autofree char *quoted = sql_name(*name);
        g_string_append_printf(text, "%s%s", text->len ? between : "", quoted);
    }
}

char *store_columns(const Store *store, const char *const *outputs)
{
    GPtrArray *inputs = spec_inputs(store->spec);
    GString *text = g_string_new(NULL);
    g_ptr_array_add(inputs, NULL);
    store_add_names(text, store_before, ", ");
    store_add_names(text, (const char *const *)inputs->pdata, ", ");
    store_add_names(text, outputs, ", ");
    store_add_names(text, store_behind, ", ");
    g_ptr_array_unref(inputs);
    return g_string_free(text, FALSE);
}

char *store_definition(const Store *store, const char *const *outputs)
{
    g_autofree char *columns = store_columns(store, outputs);
    return g_strconcat("\"id\" INTEGER PRIMARY KEY", columns + strlen("\"id\""), NULL);
}

/* ---- what a new database says of its sweep */

static gboolean store_add_pair(sqlite3 *db, sqlite3_stmt *insert, const char *key, const char *value, GError **error)
{
    sql_bind_text(insert, 1, key);
    sql_bind_text(insert, 2, value);
    return sql_do(db, insert, error);
}

static gboolean store_add_sweep(Store *store, GError **error)
{
    const SweepSpec *spec = store->spec;
    g_autofree char *name = g_path_get_basename(spec->path), *seed = NULL, *points = NULL;
    seed = g_strdup_printf("%" G_GUINT64_FORMAT, spec->latin_seed);
    points = g_strdup_printf("%" G_GUINT64_FORMAT, spec->combinations * spec->stride);
    const char *method = spec->threshold.axis ? "threshold" : spec->samples ? "latin" : "grid";
    const char *const pairs[][2] = {{"format", STORE_FORMAT},
                                    {"version", store->version},
                                    {"spec", name},
                                    {"title", spec->title},
                                    {"verb", spec->workload->verb},
                                    {"method", method},
                                    {"points_most", points},
                                    {"fingerprint", spec->fingerprint},
                                    {"state", "running"},
                                    {"sampling_seed", spec->samples ? seed : NULL},
                                    {"metric", spec->threshold.metric}};
    sqlite3_stmt *insert = sql_prepare(store->db, error, "INSERT INTO sweep VALUES (?, ?)");
    gboolean good = insert != NULL;
    for (guint i = 0; good && i < G_N_ELEMENTS(pairs); i++)
        good = !pairs[i][1] || store_add_pair(store->db, insert, pairs[i][0], pairs[i][1], error);
    sqlite3_finalize(insert);
    return good;
}

static gboolean store_add_inputs(Store *store, GError **error)
{
    g_autoptr(GPtrArray) inputs = spec_inputs(store->spec);
    sqlite3_stmt *insert = sql_prepare(store->db, error, "INSERT INTO inputs VALUES (?, ?, ?, ?)");
    gboolean good = insert != NULL;
    for (guint i = 0; good && i < inputs->len; i++) {
        sql_bind_text(insert, 1, inputs->pdata[i]);
        sqlite3_bind_int(insert, 2, (int)i);
        sql_bind_text(insert, 3, spec_input_unit(store->spec, inputs->pdata[i]));
        sqlite3_bind_int(insert, 4, spec_input_is_number(store->spec, inputs->pdata[i]));
        good = sql_do(store->db, insert, error);
    }
    sqlite3_finalize(insert);
    return good;
}

static gboolean store_add_parameters(Store *store, const SpecSystem *system, GError **error)
{
    sqlite3_stmt *insert = sql_prepare(store->db, error, "INSERT INTO parameters VALUES (?, ?, ?, ?, ?)");
    GArray *rows = param_dump(system->params);
    gboolean good = insert != NULL;
    for (guint i = 0; good && i < rows->len; i++) {
        const ParamDumpRow *row = &g_array_index(rows, ParamDumpRow, i);
        g_autofree char *name = g_strdup_printf("%s.%s", row->section, row->row->name);
        const char *const cells[] = {system->name, name, row->value, row->row->unit, row->origin};
        for (guint c = 0; c < G_N_ELEMENTS(cells); c++)
            sql_bind_text(insert, (int)c + 1, cells[c]);
        good = sql_do(store->db, insert, error);
    }
    param_dump_free(rows);
    sqlite3_finalize(insert);
    return good;
}

gboolean store_create(Store *store, GError **error)
{
    const char *const no_outputs[] = {NULL};
    g_autofree char *points = store_definition(store, no_outputs);
    gboolean good =
        sql_run(store->db, error,
                "BEGIN;"
                "CREATE TABLE sweep (key TEXT PRIMARY KEY, value TEXT);"
                "CREATE TABLE inputs (name TEXT PRIMARY KEY, position INTEGER, unit TEXT, number INTEGER);"
                "CREATE TABLE outputs (name TEXT PRIMARY KEY, first_point INTEGER, position INTEGER, unit TEXT);"
                "CREATE TABLE parameters (system TEXT, name TEXT, value TEXT, unit TEXT, origin TEXT);"
                "CREATE TABLE points (%s)",
                points) &&
        store_add_sweep(store, error) && store_add_inputs(store, error);
    for (guint i = 0; good && i < store->spec->systems->len; i++)
        good = store_add_parameters(store, &g_array_index(store->spec->systems, SpecSystem, i), error);
    if (good && sql_run(store->db, error, "COMMIT"))
        return TRUE;
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return FALSE;
}

/* ---- a row */

/* What an input says already is not said again. */
static gboolean store_is_input(const Store *store, const Point *point, const Output *output)
{
    g_autoptr(GPtrArray) inputs = spec_inputs(store->spec);
    g_autofree char *number = output->type == OUTPUT_INTEGER ? g_strdup_printf("%" G_GINT64_FORMAT, output->integer)
                                                             : NULL;
    const char *text = output->type == OUTPUT_TEXT ? output->text : number;
    for (guint i = 0; i < inputs->len; i++)
        if (strcmp(inputs->pdata[i], output->name) == 0)
            return text && strcmp(point->values[i], text) == 0;
    return FALSE;
}

/* The row of `outputs`, and the column; where it is known already, the earliest point that has it. */
static gboolean store_add_output(Store *store, const Point *point, const char *column, const char *name, guint position,
                                 GError **error)
{
    g_autofree char *quoted = sql_name(column);
    sqlite3_stmt *insert =
        sql_prepare(store->db, error,
                    "INSERT INTO outputs VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET first_point = "
                    "excluded.first_point, position = excluded.position WHERE excluded.first_point < first_point");
    if (!insert)
        return FALSE;
    sql_bind_text(insert, 1, column);
    sqlite3_bind_int64(insert, 2, (gint64)point->id);
    sqlite3_bind_int(insert, 3, (int)position);
    sql_bind_text(insert, 4, result_unit(name));
    gboolean good = sql_do(store->db, insert, error);
    sqlite3_finalize(insert);
    if (!good || g_hash_table_contains(store->outputs, column))
        return good;
    if (!sql_run(store->db, error, "ALTER TABLE points ADD COLUMN %s", quoted))
        return FALSE;
    g_hash_table_add(store->outputs, g_strdup(column));
    return TRUE;
}

static void store_bind_input(const Store *store, sqlite3_stmt *row, int index, const char *name, const char *value)
{
    if (spec_input_is_number(store->spec, name))
        sqlite3_bind_int64(row, index, (gint64)g_ascii_strtoull(value, NULL, 10));
    else
        sql_bind_text(row, index, value);
}

static void store_bind_output(sqlite3_stmt *row, int index, const Output *output)
{
    if (output->type == OUTPUT_INTEGER)
        sqlite3_bind_int64(row, index, output->integer);
    else if (output->type == OUTPUT_REAL)
        sqlite3_bind_double(row, index, output->real);
    else if (output->type == OUTPUT_TEXT)
        sql_bind_text(row, index, output->text);
}

static gboolean store_insert(Store *store, const Point *point, const Result *result, const char *const *columns,
                             const guint *from, const char *command, GError **error)
{
    g_autoptr(GPtrArray) inputs = spec_inputs(store->spec);
    g_autofree char *names = store_columns(store, columns);
    guint n_outputs = g_strv_length((char **)columns);
    guint n = G_N_ELEMENTS(store_before) - 1 + inputs->len + n_outputs + G_N_ELEMENTS(store_behind) - 1;
    GString *marks = g_string_new("?");
    for (guint i = 1; i < n; i++)
        g_string_append(marks, ", ?");
    sqlite3_stmt *row = sql_prepare(store->db, error, "INSERT INTO points (%s) VALUES (%s)", names, marks->str);
    g_string_free(marks, TRUE);
    if (!row)
        return FALSE;
    int at = 1;
    sqlite3_bind_int64(row, at++, (gint64)point->id);
    sql_bind_text(row, at++, result->status);
    sql_bind_text(row, at++, result->error);
    for (guint i = 0; i < inputs->len; i++)
        store_bind_input(store, row, at++, inputs->pdata[i], point->values[i]);
    for (guint i = 0; i < n_outputs; i++)
        store_bind_output(row, at++, &g_array_index(result->outputs, Output, from[i]));
    sql_bind_text(row, at++, store->version);
    sql_bind_text(row, at++, command);
    gboolean good = sql_do(store->db, row, error);
    sqlite3_finalize(row);
    return good;
}

gboolean store_put(Store *store, const Point *point, const Result *result, const char *command, GError **error)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    g_autofree guint *from = g_new(guint, result->outputs->len + 1);
    gboolean good = sql_run(store->db, error, "BEGIN IMMEDIATE");
    for (guint i = 0; good && i < result->outputs->len; i++) {
        const Output *output = &g_array_index(result->outputs, Output, i);
        if (output->type == OUTPUT_NULL || store_is_input(store, point, output))
            continue;
        char *column = store_column(store, output->name);
        good = store_add_output(store, point, column, output->name, i, error);
        from[columns->len] = i;
        g_ptr_array_add(columns, column);
    }
    g_ptr_array_add(columns, NULL);
    if (good && store_insert(store, point, result, (const char *const *)columns->pdata, from, command, error) &&
        sql_run(store->db, error, "COMMIT")) {
        store_remember_result(store, point->id, result);
        return TRUE;
    }
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    guint64 bad;
    g_prefix_error(error,
                   "'%s' takes no more results (%" G_GUINT64_FORMAT " are in it, and the same command goes on "
                   "from there): ",
                   store->path, store_count(store, &bad));
    return FALSE;
}

gboolean store_forget_bad(Store *store, GError **error)
{
    if (store->bad == 0)
        return TRUE;
    if (sql_run(store->db, error,
                "BEGIN; DELETE FROM points WHERE status <> 'done'; "
                "UPDATE sweep SET value = 'running' WHERE key = 'state'; COMMIT"))
        return store_load(store, error);
    sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return FALSE;
}
