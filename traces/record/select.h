/* A part of a trace: the first operations, some ranks, a stretch of recorded time. */
#ifndef TRACES_RECORD_SELECT_H
#define TRACES_RECORD_SELECT_H

#include <glib.h>

#include "traces/record/record.h"

typedef struct {
    guint32 limit;          /* operations of each rank; 0: all */
    GArray *ranks;          /* guint32; NULL: all */
    guint64 from_ps, to_ps; /* recorded starts from .. before; to_ps 0: to the end */
} TraceSelection;

/* Of ranks that were recorded over different training steps, those steps that all of them have, which a note says; what
 * is of no step stays. Before trace_finish(), which counts the calls of each group. */
void trace_common_steps(Trace *trace);
/* Keeps what is selected. Dependencies on what is gone are gone; collectives that reach outside are
 * left out by match_new, which counts them. GError: nothing is left; a time is asked of a trace
 * without times; no such rank. */
gboolean trace_select(Trace *trace, const TraceSelection *selection, GError **error);

#endif
