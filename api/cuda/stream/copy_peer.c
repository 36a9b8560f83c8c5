/* Copies between contexts, and two-dimensional ones. */
#include "api/cuda/stream/copy.h"

typedef struct {
    CUdeviceptr destination, source;
    CUcontext destination_context, source_context;
    size_t bytes;
    CUstream stream, standard;
    gboolean asynchronous;
} PeerCopy;

static CUresult copy_peer(Call *call, const PeerCopy *peer)
{
    Context *to = context_get(call, peer->destination_context);
    Context *from = context_get(call, peer->source_context);

    if (!to || !from)
        return CUDA_ERROR_INVALID_CONTEXT;
    Copy copy = {.destination = peer->destination,
                 .source = peer->source,
                 .bytes = peer->bytes,
                 .destination_side = SIDE_DEVICE,
                 .source_side = SIDE_DEVICE,
                 .stream = peer->stream,
                 .standard = peer->standard,
                 .asynchronous = peer->asynchronous,
                 .peer = to->device,
                 .source_peer = from->device};
    if (!peer->asynchronous) {
        copy.between[0] = to;
        copy.between[1] = from;
    }
    return copy_any(call, &copy);
}

#define PEER_TWINS(name, twin, parameters, ...)                                                                        \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        PeerCopy peer =                                                                                                \
            {destination, source, destination_context, source_context, bytes, .standard = CU_STREAM_LEGACY,            \
             __VA_ARGS__};                                                                                             \
        CUDA_RETURN(call, copy_peer(&call, &peer));                                                                    \
    }                                                                                                                  \
    CUDA_ALIAS_PTSZ CUresult name##twin parameters;                                                                    \
    CUresult name##twin parameters                                                                                     \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        PeerCopy peer = {destination,    source, destination_context,                                                  \
                         source_context, bytes,  .standard = CU_STREAM_PER_THREAD,                                     \
                         __VA_ARGS__};                                                                                 \
        CUDA_RETURN(call, copy_peer(&call, &peer));                                                                    \
    }

PEER_TWINS(cuMemcpyPeer, _ptds,
           (CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source, CUcontext source_context,
            size_t bytes),
           .asynchronous = FALSE)
PEER_TWINS(cuMemcpyPeerAsync, _ptsz,
           (CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source, CUcontext source_context,
            size_t bytes, CUstream stream),
           .asynchronous = TRUE, .stream = stream)

/* One end of a two-dimensional copy, as CUDA_MEMCPY2D describes both. */
typedef struct {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    guint64 x, y, pitch;
} End2D;

/* source: CUDA driver API, CU_DEVICE_ATTRIBUTE_MAX_PITCH, as every GPU reports it */
#define PITCH_MAX ((guint64)G_MAXINT32)

/* Its side, first address and pitch (0 as given: rows without gaps). FALSE: a pitch below the row or above
 * what devices have, an address that wraps around, or a memory type that does not exist. */
static gboolean end_2d(const End2D *end, guint64 width, CopySide *side, guint64 *address, guint64 *pitch)
{
    guint64 row, skip;

    if (!g_uint64_checked_add(&row, end->x, width))
        return FALSE;
    *pitch = end->pitch != 0 ? end->pitch : row;
    if (*pitch < row || end->pitch > PITCH_MAX || !g_uint64_checked_mul(&skip, end->y, *pitch) ||
        !g_uint64_checked_add(&skip, skip, end->x))
        return FALSE;
    switch (end->type) {
    case CU_MEMORYTYPE_HOST:
        *side = SIDE_HOST;
        return end->host && g_uint64_checked_add(address, (guint64)end->host, skip);
    case CU_MEMORYTYPE_DEVICE: *side = SIDE_DEVICE; return g_uint64_checked_add(address, end->device, skip);
    case CU_MEMORYTYPE_UNIFIED: *side = SIDE_ANY; return g_uint64_checked_add(address, end->device, skip);
    default: return FALSE;
    }
}

/* Arrays have rows and slices, as copies of three dimensions have. */
static CUresult copy_of_array(Call *call, const CUDA_MEMCPY2D *d, CUstream stream, CUstream standard,
                              gboolean asynchronous)
{
    const CUDA_MEMCPY3D copy = {.srcXInBytes = d->srcXInBytes,
                                .srcY = d->srcY,
                                .srcMemoryType = d->srcMemoryType,
                                .srcHost = d->srcHost,
                                .srcDevice = d->srcDevice,
                                .srcArray = d->srcArray,
                                .srcPitch = d->srcPitch,
                                .dstXInBytes = d->dstXInBytes,
                                .dstY = d->dstY,
                                .dstMemoryType = d->dstMemoryType,
                                .dstHost = d->dstHost,
                                .dstDevice = d->dstDevice,
                                .dstArray = d->dstArray,
                                .dstPitch = d->dstPitch,
                                .WidthInBytes = d->WidthInBytes,
                                .Height = d->Height,
                                .Depth = 1};
    return copy_3d(call, &copy, stream, standard, asynchronous);
}

static CUresult copy_2d(Call *call, const CUDA_MEMCPY2D *d, CUstream stream, CUstream standard, gboolean asynchronous)
{
    if (!d)
        return CUDA_ERROR_INVALID_VALUE;
    if (d->dstMemoryType == CU_MEMORYTYPE_ARRAY || d->srcMemoryType == CU_MEMORYTYPE_ARRAY)
        return copy_of_array(call, d, stream, standard, asynchronous);
    const End2D to = {d->dstMemoryType, d->dstHost, d->dstDevice, d->dstXInBytes, d->dstY, d->dstPitch};
    const End2D from = {d->srcMemoryType, d->srcHost, d->srcDevice, d->srcXInBytes, d->srcY, d->srcPitch};
    Copy copy = {.bytes = d->Height != 0 ? d->WidthInBytes : 0,
                 .height = d->Height,
                 .stream = stream,
                 .standard = standard,
                 .asynchronous = asynchronous,
                 .peer = -1,
                 .source_peer = -1};
    if (!end_2d(&to, d->WidthInBytes, &copy.destination_side, &copy.destination, &copy.pitch) ||
        !end_2d(&from, d->WidthInBytes, &copy.source_side, &copy.source, &copy.source_pitch))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_any(call, &copy);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, copy_2d(&call, copy, NULL, CU_STREAM_LEGACY, FALSE));
}

CUDA_ALIAS_PTSZ CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, copy_2d(&call, copy, NULL, CU_STREAM_PER_THREAD, FALSE));
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, copy_2d(&call, copy, stream, CU_STREAM_LEGACY, TRUE));
}

CUDA_ALIAS_PTSZ CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream);
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, copy_2d(&call, copy, stream, CU_STREAM_PER_THREAD, TRUE));
}
