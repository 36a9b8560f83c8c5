/* A sweep's database as columns: what exports and plots read. */
#ifndef EXPLORE_FRAME_H
#define EXPLORE_FRAME_H

#include <glib.h>

typedef struct {
    char *name, *unit;
    gboolean is_input, is_number; /* is_number: every cell that exists is one */
    gboolean is_whole;            /* and a whole one */
    guint decimals;               /* of the numbers, at most 6 */
    GPtrArray *text;              /* char *, one for each row; NULL: does not exist */
    double *number;               /* one for each row; NaN: does not exist, or is text */
} FrameColumn;

typedef struct {
    GPtrArray *columns; /* FrameColumn, in the database's order */
    guint rows;
    guint own;         /* columns at the end that the caller added */
    GHashTable *facts; /* of the table `sweep`: title, spec, version, state ... */
} Frame;

/* Reads `points` (or another table of the database), ordered by its first column. own: further columns, each
 * "NAME=EXPRESSION" with an expression of SQLite over the table's columns ("area=\"switch.multicast_tags\" * 64"); they
 * stand behind the others, and are no inputs; NULL-terminated, or NULL for none. GError: STORE_ERROR or G_FILE_ERROR:
 * no such file, no sweep's database, a column in an expression that there is not, with the nearest. Opens it for
 * reading alone; a sweep may be running on it. */
Frame *frame_load(const char *path, const char *table, const char *const *own, GError **error);
void frame_free(Frame *frame);
/* NULL: no such column, and the error names the nearest; `what` begins the message. */
const FrameColumn *frame_column(const Frame *frame, const char *name, const char *what, GError **error);
const char *frame_fact(const Frame *frame, const char *key); /* NULL: not there */
/* What tells a row from others: "algo=ring, bytes=65536", its inputs that vary. Caller frees. */
char *frame_point(const Frame *frame, guint row);

#endif
