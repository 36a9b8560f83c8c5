/* Overlap of communication and computation on one rank. */
#include <stdlib.h>

#include "traces/replay/report.h"

typedef struct {
    SimTime at_ps;
    int kind; /* 0: computation, 1: communication */
    int change;
} Edge;

static int edge_compare(const void *a, const void *b)
{
    const Edge *x = a, *y = b;
    return (x->at_ps > y->at_ps) - (x->at_ps < y->at_ps);
}

ReplayBusy replay_busy(const ReplayJob *job, const ReplayJobResult *result, guint32 first, guint32 end, gint32 step)
{
    ReplayBusy busy = {0};
    Edge *edges = g_new(Edge, 2 * (gsize)(end - first) + 1);
    guint n = 0;
    for (guint32 i = first; i < end; i++) {
        if (step != RECORD_NO_STEP && trace_record(job->trace, i)->step != step)
            continue;
        int kind = job->match->of_record[i] != MATCH_NONE;
        edges[n++] = (Edge){result->start_ps[i], kind, 1};
        edges[n++] = (Edge){result->end_ps[i], kind, -1};
    }
    qsort(edges, n, sizeof(Edge), edge_compare);
    int open[2] = {0, 0};
    for (guint i = 0; i + 1 < n; i++) {
        open[edges[i].kind] += edges[i].change;
        SimTime passed_ps = edges[i + 1].at_ps - edges[i].at_ps;
        busy.computing_ps += open[0] > 0 ? passed_ps : 0;
        busy.communicating_ps += open[1] > 0 ? passed_ps : 0;
        busy.exposed_ps += open[1] > 0 && open[0] == 0 ? passed_ps : 0;
    }
    g_free(edges);
    return busy;
}
