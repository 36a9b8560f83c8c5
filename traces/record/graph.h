/* Who waits for whom in a finished trace: dependencies and the order of streams, as one graph. */
#ifndef TRACES_RECORD_GRAPH_H
#define TRACES_RECORD_GRAPH_H

#include <glib.h>

#include "traces/record/record.h"

typedef struct {
    guint32 *waits; /* how many records each one waits for */
    guint32 *first; /* records users[first[i] .. first[i + 1]) wait for record i */
    guint32 *users;
} Graph;

void graph_init(Graph *graph, const Trace *trace);
void graph_clear(Graph *graph);

#endif
