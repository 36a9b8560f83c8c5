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

    if (to == NULL || from == NULL)
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
    return copy_any(call, &copy);
}

#define PEER_TWINS(name, twin, parameters, ...)                                                    \
    CUresult name parameters                                                                       \
    {                                                                                              \
        CUDA_BEGIN(call);                                                                          \
        PeerCopy peer = {destination,    source, destination_context,                              \
                         source_context, bytes,  .standard = CU_STREAM_LEGACY,                     \
                         __VA_ARGS__};                                                             \
        CUDA_RETURN(call, copy_peer(&call, &peer));                                                \
    }                                                                                              \
    CUDA_TWIN CUresult name##twin parameters;                                                      \
    CUresult name##twin parameters                                                                 \
    {                                                                                              \
        CUDA_BEGIN(call);                                                                          \
        PeerCopy peer = {destination,    source, destination_context,                              \
                         source_context, bytes,  .standard = CU_STREAM_PER_THREAD,                 \
                         __VA_ARGS__};                                                             \
        CUDA_RETURN(call, copy_peer(&call, &peer));                                                \
    }

PEER_TWINS(cuMemcpyPeer, _ptds,
           (CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source,
            CUcontext source_context, size_t bytes),
           .asynchronous = FALSE)
PEER_TWINS(cuMemcpyPeerAsync, _ptsz,
           (CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source,
            CUcontext source_context, size_t bytes, CUstream stream),
           .asynchronous = TRUE, .stream = stream)

/* The side and first address of one end; FALSE: arrays, or a memory type that does not exist. */
static gboolean end_2d(CUmemorytype type, const void *host, CUdeviceptr device, guint64 skip,
                       CopySide *side, guint64 *address)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        *side = SIDE_HOST;
        *address = (guint64)host + skip;
        return host != NULL;
    case CU_MEMORYTYPE_DEVICE:
        *side = SIDE_DEVICE;
        *address = device + skip;
        return TRUE;
    case CU_MEMORYTYPE_UNIFIED:
        *side = SIDE_ANY;
        *address = device + skip;
        return TRUE;
    default:
        return FALSE;
    }
}

static CUresult copy_2d(Call *call, const CUDA_MEMCPY2D *d, CUstream stream, CUstream standard,
                        gboolean asynchronous)
{
    Copy copy = {.bytes = d ? d->WidthInBytes : 0,
                 .height = d ? d->Height : 0,
                 .stream = stream,
                 .standard = standard,
                 .asynchronous = asynchronous,
                 .peer = -1,
                 .source_peer = -1};

    if (d == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    copy.pitch = d->dstPitch != 0 ? d->dstPitch : d->dstXInBytes + d->WidthInBytes;
    copy.source_pitch = d->srcPitch != 0 ? d->srcPitch : d->srcXInBytes + d->WidthInBytes;
    if (d->dstMemoryType == CU_MEMORYTYPE_ARRAY || d->srcMemoryType == CU_MEMORYTYPE_ARRAY)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (copy.pitch < d->dstXInBytes + d->WidthInBytes ||
        copy.source_pitch < d->srcXInBytes + d->WidthInBytes ||
        !end_2d(d->dstMemoryType, d->dstHost, d->dstDevice, d->dstY * copy.pitch + d->dstXInBytes,
                &copy.destination_side, &copy.destination) ||
        !end_2d(d->srcMemoryType, d->srcHost, d->srcDevice,
                d->srcY * copy.source_pitch + d->srcXInBytes, &copy.source_side, &copy.source))
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Height == 0)
        copy.bytes = 0;
    return copy_any(call, &copy);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, copy_2d(&call, copy, NULL, CU_STREAM_LEGACY, FALSE));
}

CUDA_TWIN CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy);
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

CUDA_TWIN CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream);
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, copy_2d(&call, copy, stream, CU_STREAM_PER_THREAD, TRUE));
}
