/* Two reports side by side: what differs, and by how much. The reports are the JSON of any verb. */
#ifndef EXPLORE_COMPARE_H
#define EXPLORE_COMPARE_H

#include <glib.h>

typedef struct {
    char *where;               /* the table and what tells its row from others, "rows[1048576 nvls]"; "" for facts */
    char *key;                 /* "time_us"; "" where a whole row is in one of them alone */
    char *a, *b;               /* as in the files; NULL: null, or not there */
    double change, change_pct; /* b - a, and of a; NaN: not a number, or a is 0 */
} Difference;

typedef struct {
    char *kind_a, *kind_b;   /* "coll" */
    GArray *differences;     /* Difference: first what has no percentage, in the reports' order, then the largest */
    guint64 compared, equal; /* values that both have, and those of them that are the same */
} Comparison;

/* Rows of a table belong together when their words are the same, and where these do not tell rows apart also the
 * whole numbers that both tables have (a size, a rank); a word that is the same in all rows of each and another in
 * the other (an algorithm) is compared instead. GError: a file that cannot be read, is no JSON, or no report of this
 * schema; the message names it. */
Comparison *compare_reports(const char *a, const char *b, GError **error);
void compare_free(Comparison *comparison);

#endif
