/* SQLite in the words of this project: GError, names in quotes. */
#ifndef EXPLORE_SQL_H
#define EXPLORE_SQL_H

#include <glib.h>
#include <sqlite3.h>

/* The name as SQL writes it: "link.flight_ps" in double quotes, doubled inside. Caller frees. */
char *sql_name(const char *name);

/* Runs statements that give no rows. GError: STORE_ERROR with SQLite's words. */
gboolean sql_run(sqlite3 *db, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* A statement, or NULL with an error. End it with sqlite3_finalize(). */
sqlite3_stmt *sql_prepare(sqlite3 *db, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

void sql_bind_text(sqlite3_stmt *statement, int index, const char *text); /* copied; NULL: null */

/* TRUE when there is a row, or (last) when there is none any more. Else `error` is set. */
gboolean sql_step(sqlite3 *db, sqlite3_stmt *statement, gboolean *row, GError **error);
/* A statement that gives no rows: runs it, and makes it ready to run again. */
gboolean sql_do(sqlite3 *db, sqlite3_stmt *statement, GError **error);

/* The text of the first column of the first row; NULL: no row. Caller frees. */
char *sql_text(sqlite3 *db, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

#endif
