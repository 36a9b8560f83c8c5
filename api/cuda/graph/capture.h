/* Captures under way: between the files that begin and end them and the one that takes work. */
#ifndef API_CUDA_GRAPH_CAPTURE_H
#define API_CUDA_GRAPH_CAPTURE_H

#include "api/cuda/graph/graph.h"

struct Capture {
    guint64 id;
    Graph *graph;
    gboolean own_graph; /* made for it: goes with a capture that fails */
    guint32 origin;     /* engine's stream that it began in */
    GPtrArray *left;    /* GraphNode: what streams that are destroyed by now had come to; NULL: there is none */
    gboolean spoilt;
    Graph *original; /* that is recaptured: `graph` is made for it, and takes its nodes' place; NULL: none */
    CUgraphRecaptureCallback mismatch; /* of a recapture; may be NULL */
    void *user;
    CUstreamCaptureMode mode;
};

typedef struct {
    Capture *capture;
    GPtrArray *behind; /* GraphNode */
    guint64 context;   /* handle */
    gboolean blocking;
    CUgraphNode *answer; /* what cuStreamGetCaptureInfo gave */
} Captured;

Captured *captured_find(Call *call, guint32 stream); /* NULL: the stream does not capture */
Captured *captured_add(Call *call, const Stream *stream, Capture *capture);
CUstreamCaptureStatus capture_status(Call *call, guint32 stream);
Capture *capture_of_graph(Call *call, const Graph *graph); /* that captures into it, or again; NULL: none does */
void capture_free(Call *call, Capture *capture);           /* its streams capture no more; the graph stays */

#endif
