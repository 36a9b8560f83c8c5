/* Charts of two runs side by side, from their reports: what the page of each has of its time
 * (observe/series/tables.h and latency_breakdown.h), on the same axes. */
#ifndef EXPLORE_SIDE_H
#define EXPLORE_SIDE_H

#include <json-glib/json-glib.h>

#include "sim/report/figures.h"

/* Adds to `report`. How many of the tables the two files have: 0 where neither was written with --html. Files that
 * compare_reports() refuses have none. */
guint side_add(Report *report, const char *a, const char *b);
/* A report's JSON. GError: of the file, or of the parser. */
gboolean side_parse(JsonParser *parser, const char *path, GError **error);

#endif
