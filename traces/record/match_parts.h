/* What the two files of matching share. */
#ifndef TRACES_RECORD_MATCH_PARTS_H
#define TRACES_RECORD_MATCH_PARTS_H

#include "traces/record/match.h"

typedef struct {
    Trace *trace;
    Match *match;
    gboolean lenient;
    guint64 edges; /* across the edge of a selection */
} Matcher;

/* "all_reduce of 8 bytes on rank 0 (FILE:LINE: node 3)"; caller frees. */
char *match_describe(const Trace *trace, guint32 record);
/* TRUE: lenient, go on. Takes text. */
gboolean match_problem(Matcher *m, const char *reason, char *text, GError **error);
/* match_end.c: does the trace come to an end? */
gboolean match_check_end(Matcher *m, GError **error);

#endif
