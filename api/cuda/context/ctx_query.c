/* Properties of contexts: flags, limits, peers; waiting for all of a context's work. */
#include "api/cuda/context/ctx.h"

#include "api/cuda/memory/mem.h"
#include "api/cuda/stream/recorder.h"

/* Opens functions that need a current context: the pointers, then the context. */
#define CONTEXT_OR_RETURN(call, context, sound)                                                                        \
    Context *context;                                                                                                  \
    CUresult need_##context = context_need(&(call), &context);                                                         \
    if (!(sound))                                                                                                      \
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);                                                                   \
    if (need_##context != CUDA_SUCCESS)                                                                                \
    CUDA_RETURN(call, need_##context)

CUresult cuCtxGetDevice(CUdevice *device)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, device != NULL);
    *device = context->device;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* NULL is the current context. */
static CUresult context_or_current(Call *call, CUcontext handle, Context **context)
{
    if (!handle)
        return context_need(call, context);
    *context = context_get(call, handle);
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext handle)
{
    Context *context;
    CUDA_BEGIN(call);

    if (!device)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = context_or_current(&call, handle, &context);
    if (result == CUDA_SUCCESS)
        *device = context->device;
    CUDA_RETURN(call, result);
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, flags != NULL);
    *flags = context->flags;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxSetFlags(unsigned int flags)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, (flags & ~(unsigned)CONTEXT_FLAGS_KNOWN) == 0);
    context->flags = flags;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id)
{
    Context *context;
    CUDA_BEGIN(call);

    if (!id)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = context_or_current(&call, handle, &context);
    if (result == CUDA_SUCCESS)
        *id = context->id;
    CUDA_RETURN(call, result);
}

static CUresult synchronize(Call *call, const Context *context)
{
    EngineRequest request = {.op = ENGINE_WAIT_CONTEXT, .object = (guint32)context->id};
    CUresult captured;

    if (call->cuda->recorder->forbids(call, 0, context->handle, &captured))
        return captured;
    return engine_wait(call, &request);
}

CUresult cuCtxSynchronize(void)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, TRUE);
    CUDA_RETURN(call, synchronize(&call, context));
}

/* There is no profiler to start: the report has all launches. Declared in a header of their own, cudaProfiler.h. */
CUDA_ALIAS_PTSZ CUresult cuProfilerStart(void);
CUDA_ALIAS_PTSZ CUresult cuProfilerStop(void);
CUresult cuProfilerStart(void)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, TRUE);
    CUDA_RETURN(call, CUDA_SUCCESS);
}
CUresult cuProfilerStop(void)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, TRUE);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxSynchronize_v2(CUcontext handle)
{
    Context *context;
    CUDA_BEGIN(call);
    CUresult result = context_or_current(&call, handle, &context);
    CUDA_RETURN(call, result == CUDA_SUCCESS ? synchronize(&call, context) : result);
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version)
{
    Context *context;
    CUDA_BEGIN(call);

    if (!version)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = context_or_current(&call, handle, &context);
    if (result == CUDA_SUCCESS)
        *version = 3020;
    CUDA_RETURN(call, result);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, value != NULL);
    if ((unsigned)limit >= CU_LIMIT_MAX)
        CUDA_RETURN(call, CUDA_ERROR_UNSUPPORTED_LIMIT);
    *value = context->limit[limit];
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* What is kept of the L2 for persisting data is a number of its sixteenths. source: set and read back on an H200,
 * driver 580: 1 MiB gives 3,932,160 of its 62,914,560 bytes; more than the attribute says is INVALID_VALUE. */
static gboolean persisting_fits(const Call *call, const Context *context, size_t *bytes)
{
    const CudaDevice *device = &call->cuda->device[context->device];
    int l2 = 0, most = 0;

    cuda_device_attribute(call->cuda, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2);
    cuda_device_attribute(call->cuda, device, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, &most);
    if (*bytes > (size_t)most)
        return FALSE;
    const size_t part = MAX((size_t)l2 / 16, 1u);
    *bytes = MIN((*bytes + part - 1) / part * part, (size_t)most);
    return TRUE;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, TRUE);
    if ((unsigned)limit >= CU_LIMIT_MAX)
        CUDA_RETURN(call, CUDA_ERROR_UNSUPPORTED_LIMIT);
    if (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE && !persisting_fits(&call, context, &value))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    context->limit[limit] = value;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, config != NULL);
    *config = context->cache;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, (unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL);
    context->cache = config;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, context != NULL);
    if (least)
        *least = STREAM_PRIORITY_LEAST;
    if (greatest)
        *greatest = STREAM_PRIORITY_GREATEST;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, context != NULL);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxAttach(CUcontext *handle, unsigned int flags)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, handle && flags == 0);
    context->refs++;
    *handle = (CUcontext)context->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxDetach(CUcontext handle)
{
    CUDA_BEGIN(call);
    Context *context = context_get(&call, handle);

    if (!context || context->primary)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_CONTEXT);
    if (--context->refs == 0)
        context_free(&call, context);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, flags == 0);
    Context *peer = context_get(&call, handle);

    if (!peer || peer == context)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_CONTEXT);
    if (peer->device == context->device)
        CUDA_RETURN(call, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    if (context->peer[peer->device])
        CUDA_RETURN(call, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    context->peer[peer->device] = TRUE;
    memory_peer_access(&call, peer->device, context->device, TRUE);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxDisablePeerAccess(CUcontext handle)
{
    CUDA_BEGIN(call);
    CONTEXT_OR_RETURN(call, context, TRUE);
    Context *peer = context_get(&call, handle);

    if (!peer)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_CONTEXT);
    if (!context->peer[peer->device])
        CUDA_RETURN(call, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    context->peer[peer->device] = FALSE;
    memory_peer_access(&call, peer->device, context->device, FALSE);
    CUDA_RETURN(call, CUDA_SUCCESS);
}
