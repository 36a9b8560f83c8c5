/* See frame.h. */
#include "explore/frame.h"

#include <math.h>
#include <string.h>

#include "explore/result.h"
#include "explore/sql.h"
#include "explore/store.h"
#include "sim/param/nearest.h"

static void frame_free_column(gpointer data)
{
    FrameColumn *column = data;
    g_free(column->name);
    g_free(column->unit);
    g_ptr_array_unref(column->text);
    g_free(column->number);
    g_free(column);
}

void frame_free(Frame *frame)
{
    g_ptr_array_unref(frame->columns);
    g_hash_table_unref(frame->facts);
    g_free(frame);
}

static gboolean frame_load_facts(Frame *frame, sqlite3 *db, GError **error)
{
    sqlite3_stmt *all = sql_prepare(db, error, "SELECT key, value FROM sweep");
    gboolean row = TRUE, good = TRUE;
    while (all && row && (good = sql_step(db, all, &row, error)) && row)
        g_hash_table_insert(frame->facts, g_strdup((const char *)sqlite3_column_text(all, 0)),
                            g_strdup((const char *)sqlite3_column_text(all, 1)));
    sqlite3_finalize(all);
    return all && good;
}

/* Inputs have their units in the database, outputs too; what is neither has none. */
static void frame_add_column(Frame *frame, sqlite3 *db, const char *name)
{
    FrameColumn *column = g_new0(FrameColumn, 1);
    column->name = g_strdup(name);
    column->is_number = column->is_whole = TRUE;
    column->text = g_ptr_array_new_with_free_func(g_free);
    char *quoted = sqlite3_mprintf("%Q", name);
    column->unit = sql_text(db, NULL, "SELECT unit FROM inputs WHERE name = %s", quoted);
    column->is_input = column->unit != NULL;
    if (!column->unit)
        column->unit = sql_text(db, NULL, "SELECT unit FROM outputs WHERE name = %s", quoted);
    if (!column->unit)
        column->unit = g_strdup("");
    sqlite3_free(quoted);
    g_ptr_array_add(frame->columns, column);
}

/* The shortest text that is the same number, with 15 digits at most. */
static char *frame_number(double value, guint *decimals)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(text, sizeof text, "%.15g", value);
    const char *point = strchr(text, '.');
    *decimals = point && !strpbrk(text, "eE") ? (guint)strlen(point + 1) : strpbrk(text, "eE") ? 6 : 0;
    return g_strdup(text);
}

static void frame_add_cell(FrameColumn *column, GArray *numbers, sqlite3_stmt *all, int index)
{
    int type = sqlite3_column_type(all, index);
    double value = type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(all, index) : NAN;
    guint decimals = 0;
    char *text = type == SQLITE_FLOAT ? frame_number(value, &decimals)
                                      : g_strdup((const char *)sqlite3_column_text(all, index));
    column->is_number &= type != SQLITE_TEXT && type != SQLITE_BLOB;
    column->is_whole &= type == SQLITE_INTEGER || type == SQLITE_NULL;
    column->decimals = MAX(column->decimals, MIN(decimals, 6));
    g_ptr_array_add(column->text, text);
    g_array_append_val(numbers, value);
}

/* What stands in the SELECT behind "*". NULL: `own` has no name, or one that is taken. */
static char *frame_own_columns(const char *const *own, GError **error)
{
    GString *all = g_string_new("*");
    for (guint i = 0; own && own[i]; i++) {
        const char *equals = strchr(own[i], '=');
        if (!equals || equals == own[i] || !equals[1]) {
            g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "'%s' is not NAME=EXPRESSION", own[i]);
            g_string_free(all, TRUE);
            return NULL;
        }
        g_autofree char *name = g_strndup(own[i], (gsize)(equals - own[i])), *quoted = sql_name(name);
        g_string_append_printf(all, ", (%s) AS %s", equals + 1, quoted);
    }
    return g_string_free(all, FALSE);
}

/* "no such column: x" gets what may have been meant. */
static void frame_guess(sqlite3 *db, const char *table, GError **error)
{
    static const char lacks[] = "no such column: ";
    const char *at = error && *error ? strstr((*error)->message, lacks) : NULL;
    sqlite3_stmt *all = at ? sql_prepare(db, NULL, "SELECT * FROM %s", table) : NULL;
    if (!all)
        return;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (int c = 0; c < sqlite3_column_count(all); c++)
        g_ptr_array_add(names, (gpointer)sqlite3_column_name(all, c));
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = nearest_hint(at + strlen(lacks), (const char *const *)names->pdata);
    g_autofree char *text = g_strdup_printf("'%s' is no column%s", at + strlen(lacks), hint);
    sqlite3_finalize(all);
    g_clear_error(error);
    g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "%s (names with a dot stand in double quotes)", text);
}

static gboolean frame_load_rows(Frame *frame, sqlite3 *db, const char *table, const char *const *own, GError **error)
{
    g_autofree char *columns = frame_own_columns(own, error);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL); /* "no such name" would be a text */
    sqlite3_stmt *all = columns ? sql_prepare(db, error, "SELECT %s FROM %s ORDER BY rowid", columns, table) : NULL;
    if (!all)
        frame_guess(db, table, error);
    if (!all)
        return FALSE;
    guint n = (guint)sqlite3_column_count(all);
    frame->own = own ? g_strv_length((char **)own) : 0;
    GArray **numbers = g_new(GArray *, n);
    for (guint c = 0; c < n; c++) {
        frame_add_column(frame, db, sqlite3_column_name(all, (int)c));
        numbers[c] = g_array_new(FALSE, FALSE, sizeof(double));
    }
    gboolean row = TRUE, good = TRUE;
    while (row && (good = sql_step(db, all, &row, error)) && row) {
        for (guint c = 0; c < n; c++)
            frame_add_cell(frame->columns->pdata[c], numbers[c], all, (int)c);
        frame->rows++;
    }
    for (guint c = 0; c < n; c++)
        ((FrameColumn *)frame->columns->pdata[c])->number = (double *)(gpointer)g_array_free(numbers[c], FALSE);
    g_free(numbers);
    sqlite3_finalize(all);
    return good;
}

static void frame_refuse(const Frame *frame, const char *path, const GError *why, GError **error)
{
    const char *format = frame_fact(frame, "format");
    if (format)
        g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER,
                    "'%s' is a sweep of another version of fanout: its format "
                    "is '%s', and this one reads '%s'",
                    path, format, STORE_FORMAT);
    else
        g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "'%s' is no database of fanout sweep%s%s", path,
                    why ? ": " : "", why ? why->message : "");
}

Frame *frame_load(const char *path, const char *table, const char *const *own, GError **error)
{
    g_autofree char *plain = g_path_is_absolute(path) ? g_strdup(path) : g_strconcat("./", path, NULL);
    sqlite3 *db = NULL;
    Frame *frame = g_new0(Frame, 1);
    g_autoptr(GError) why = NULL;
    frame->columns = g_ptr_array_new_with_free_func(frame_free_column);
    frame->facts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    gboolean good = sqlite3_open_v2(plain, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
    if (!good && !g_file_test(plain, G_FILE_TEST_EXISTS))
        g_set_error(error, STORE_ERROR, STORE_ERROR_FILE,
                    "'%s' cannot be read: no such file; fanout sweep SPEC.ini writes SPEC.db", path);
    else if (!good)
        g_set_error(error, STORE_ERROR, STORE_ERROR_FILE, "'%s' cannot be read: %s", path,
                    db ? sqlite3_errmsg(db) : "no memory");
    else if (!(good = frame_load_facts(frame, db, &why) && g_strcmp0(frame_fact(frame, "format"), STORE_FORMAT) == 0))
        frame_refuse(frame, path, why, error);
    else if (!(good = frame_load_rows(frame, db, table, own, &why)))
        g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "'%s': %s", path, why->message);
    sqlite3_close(db);
    if (good)
        return frame;
    frame_free(frame);
    return NULL;
}

const FrameColumn *frame_column(const Frame *frame, const char *name, const char *what, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < frame->columns->len; i++) {
        const FrameColumn *column = frame->columns->pdata[i];
        if (strcmp(column->name, name) == 0)
            return column;
        g_ptr_array_add(names, column->name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = nearest_hint(name, (const char *const *)names->pdata);
    g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "%s: '%s' is no column%s", what, name, hint);
    return NULL;
}

const char *frame_fact(const Frame *frame, const char *key) { return g_hash_table_lookup(frame->facts, key); }

static gboolean frame_varies(const FrameColumn *column)
{
    for (guint r = 1; r < column->text->len; r++)
        if (g_strcmp0(column->text->pdata[0], column->text->pdata[r]) != 0)
            return TRUE;
    return FALSE;
}

char *frame_point(const Frame *frame, guint row)
{
    GString *text = g_string_new(NULL);
    for (guint c = 0; c < frame->columns->len; c++) {
        const FrameColumn *column = frame->columns->pdata[c];
        const char *value = column->text->pdata[row];
        if (column->is_input && value && frame_varies(column))
            g_string_append_printf(text, "%s%s=%s", text->len ? ", " : "", column->name, value);
    }
    return g_string_free(text, FALSE);
}
