/* Work that is recorded instead of run: a call that queues work in a stream, or waits for it, asks the recorder first.
 *
 * Streams know nothing of graphs: graph/capture.c is the recorder (Cuda.recorder, which is always there). Its functions
 * answer TRUE where the stream captures or its capture is spoilt; *result is then the answer of the call. */
#ifndef API_CUDA_STREAM_RECORDER_H
#define API_CUDA_STREAM_RECORDER_H

#include "api/cuda/context/ctx.h"

struct Launch; /* api/cuda/module/module.h */
struct Graph;  /* api/cuda/graph/graph.h */

typedef struct StreamRecorder {
    gboolean (*request)(Call *call, const EngineRequest *request, CUresult *result); /* work, but for kernels of PTX */
    gboolean (*launch)(Call *call, const Stream *stream, const struct Launch *launch, CUresult *result);
    gboolean (*record)(Call *call, const Stream *stream, EventHandle *event, unsigned int flags, CUresult *result);
    gboolean (*wait)(Call *call, const Stream *stream, EventHandle *event, unsigned int flags, CUresult *result);
    /* Waiting for, or asking about, what is only captured: spoils the capture. stream 0: any of the context. */
    gboolean (*forbids)(Call *call, guint32 stream, guint64 context, CUresult *result);
    gboolean (*event_forbids)(Call *call, const EventHandle *event, CUresult *result);
    CUstreamCaptureStatus (*status)(Call *call, guint32 stream);
    void (*stream_gone)(Call *call, guint32 stream); /* it is being destroyed */
    void (*graph_gone)(Call *call, const struct Graph *graph);
} StreamRecorder;

#endif
