/* See sql.h. */
#include "explore/sql.h"

#include "explore/store.h"

char *sql_name(const char *name)
{
    GString *text = g_string_new("\"");
    for (const char *c = name; *c; c++)
        g_string_append_printf(text, *c == '"' ? "\"\"" : "%c", *c);
    g_string_append_c(text, '"');
    return g_string_free(text, FALSE);
}

static gboolean sql_fail(sqlite3 *db, GError **error)
{
    g_set_error(error, STORE_ERROR, STORE_ERROR_FILE, "%s", sqlite3_errmsg(db));
    return FALSE;
}

gboolean sql_run(sqlite3 *db, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    return sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK || sql_fail(db, error);
}

static sqlite3_stmt *sql_prepare_text(sqlite3 *db, const char *text, GError **error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
        sql_fail(db, error);
    return statement;
}

sqlite3_stmt *sql_prepare(sqlite3 *db, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    return sql_prepare_text(db, text, error);
}

void sql_bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    if (text)
        sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(statement, index);
}

gboolean sql_step(sqlite3 *db, sqlite3_stmt *statement, gboolean *row, GError **error)
{
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE || sql_fail(db, error);
}

gboolean sql_do(sqlite3 *db, sqlite3_stmt *statement, GError **error)
{
    gboolean row, good = sql_step(db, statement, &row, error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return good;
}

char *sql_text(sqlite3 *db, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    sqlite3_stmt *statement = sql_prepare_text(db, text, error);
    gboolean row = FALSE;
    char *value = NULL;
    if (statement && sql_step(db, statement, &row, error) && row)
        value = g_strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return value;
}
