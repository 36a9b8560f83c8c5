/* Copies and fills: what their files share. */
#ifndef API_CUDA_STREAM_COPY_H
#define API_CUDA_STREAM_COPY_H

#include "api/cuda/context/ctx.h"
#include "api/cuda/memory/range.h"
#include "api/cuda/stream/submit.h"

typedef enum { SIDE_HOST, SIDE_DEVICE, SIDE_ANY } CopySide;
typedef struct {
    guint64 destination, source, bytes;
    CopySide destination_side, source_side;
    CUstream stream;   /* as given */
    CUstream standard; /* what stream 0 means here */
    gboolean asynchronous;
    gboolean stream_order;               /* of a batch: pageable sources are read in stream order */
    guint64 pitch, source_pitch, height; /* 2D: bytes is the width; height 0: 1D */
    int peer;                            /* ordinals of cuMemcpyPeer's contexts, or -1 */
    int source_peer;
    const Context *between[2]; /* cuMemcpyPeer: all of their work waits, both ways; or NULL */
} Copy;
CUresult copy_any(Call *call, const Copy *copy);
/* Checks a copy of at least one byte; the request lacks only its stream. Queues nothing. */
CUresult copy_prepare(Call *call, const Copy *copy, const Context *context, EngineRequest *request);

/* Bytes from the first to the last of rows so wide and so far apart; FALSE: more than addresses tell
 * apart. height 0: one row. */
#define COPY_SLICES_MAX 65536u
/* Slice z of a three-dimensional copy: sides, addresses and sizes. */
CUresult copy_3d_slice(Call *call, const CUDA_MEMCPY3D *d, guint64 z, Copy *copy);
CUresult copy_3d(Call *call, const CUDA_MEMCPY3D *d, CUstream stream, CUstream standard, gboolean asynchronous);

gboolean copy_span(guint64 width, guint64 pitch, guint64 height, guint64 *bytes);

/* What kind of memory stands at an address, as the rules on synchronization tell them apart. source: CUDA
 * driver API, "API synchronization behavior" */
typedef enum { COPY_PAGEABLE, COPY_PINNED, COPY_DEVICE } CopyMemory;
CopyMemory copy_memory(Call *call, guint64 address);
/* A program asked for synchronous operations on the memory (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS). */
gboolean copy_sync_memops(Call *call, guint64 address);

/* Both sides of a copy and the destination of a fill: mapped, accessible, not freed. *gpu_device
 * gets the ordinal whose engine does the work. */
CUresult check_device_span(Call *call, guint64 va, guint64 bytes, gboolean write, int device, int *engine_device);

#endif
