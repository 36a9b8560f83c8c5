/* Stream-ordered allocation: memory is there at once, and goes back when its stream has come to the
 * free. */
#include "api/cuda/memory/mem.h"
#include "api/cuda/stream/recorder.h"

static CUresult take(Call *call, CUdeviceptr *address, guint64 bytes, Pool *pool)
{
    Range *range;

    if (pool->props.maxSize != 0 && bytes > pool->props.maxSize - MIN(pool->used_bytes, pool->props.maxSize))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = device_memory_new(call, RANGE_POOL, pool->device, bytes, (guint32)pool->props.handleTypes,
                                        &range);
    if (result != CUDA_SUCCESS)
        return result;
    range->pool = pool;
    for (guint i = 0; i < call->cuda->n_devices; i++)
        if ((int)i != pool->device && pool->access[i] != 0)
            vmm_set_access(call, range, (int)i, pool->access[i]);
    pool->used_bytes += bytes;
    pool->used_high = MAX(pool->used_high, pool->used_bytes);
    pool->reserved_bytes = pool->used_bytes;
    pool->reserved_high = MAX(pool->reserved_high, pool->reserved_bytes);
    *address = range->va;
    return CUDA_SUCCESS;
}

static CUresult alloc_async(Call *call, CUdeviceptr *address, guint64 bytes, CUstream handle, CUstream standard)
{
    Stream stream;

    if (!address || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_get(call, handle, standard, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    pool_sweep(call);
    CudaDevice *device = &call->cuda->device[stream.context->device];
    Pool *pool = device->pool ? device->pool : pool_default(call, stream.context->device);
    return take(call, address, bytes, pool);
}

static CUresult alloc_from(Call *call, CUdeviceptr *address, guint64 bytes, CUmemoryPool pool_handle, CUstream handle,
                           CUstream standard)
{
    Stream stream;

    if (!address || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    Pool *pool = pool_get(call, pool_handle);
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_get(call, handle, standard, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    pool_sweep(call);
    return take(call, address, bytes, pool);
}

static CUresult free_async(Call *call, CUdeviceptr address, CUstream handle, CUstream standard)
{
    Stream stream;
    EngineReply reply;
    CUresult result = stream_get(call, handle, standard, &stream);
    Range *range = range_find(call->cuda->ranges, address);

    if (result != CUDA_SUCCESS)
        return result;
    if (address == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!range || range->va != address || range->freed || range->opened != 0 ||
        (range->kind != RANGE_ALLOC && range->kind != RANGE_POOL)) {
        cuda_diagnose(call, 0, -1, address, "not the start of an allocation");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (call->cuda->recorder->status(call, stream.stream) != CU_STREAM_CAPTURE_STATUS_NONE)
        return CUDA_SUCCESS; /* a graph may be launched again: its memory stays until its context ends */
    EngineRequest request = {.op = ENGINE_EVENT_NEW};
    if (!cuda_engine(call, &request, &reply))
        return CUDA_ERROR_OUT_OF_MEMORY;
    range->end_event = (guint32)reply.value;
    request = (EngineRequest){.op = ENGINE_RECORD, .stream = stream.stream, .event = range->end_event};
    result = engine_submit(call, &request);
    range->freed = TRUE;
    pool_sweep(call);
    return result;
}

void pool_sweep(Call *call)
{
    Ranges *ranges = call->cuda->ranges;
    Range *next;

    for (Range *range = range_next(ranges, 0); range != NULL; range = next) {
        next = range_next(ranges, range->va + range->bytes);
        if (!range->freed)
            continue;
        EngineRequest request = {.op = ENGINE_QUERY_EVENT, .event = range->end_event, .access = 1};
        EngineReply reply;
        engine_call(call->cuda->engine, &request, &reply);
        if (!reply.value)
            continue;
        request.op = ENGINE_EVENT_FREE;
        cuda_engine(call, &request, NULL);
        if (range->kind == RANGE_POOL)
            pool_forget(call, range);
        memory_free_range(call, range);
    }
}

#define POOL_TWINS(name, parameters, made, ...)                                                                        \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        CUDA_RETURN(call, made(&call, __VA_ARGS__, stream, CU_STREAM_LEGACY));                                         \
    }                                                                                                                  \
    CUDA_ALIAS_PTSZ CUresult name##_ptsz parameters;                                                                   \
    CUresult name##_ptsz parameters                                                                                    \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        CUDA_RETURN(call, made(&call, __VA_ARGS__, stream, CU_STREAM_PER_THREAD));                                     \
    }
POOL_TWINS(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream), alloc_async, address, bytes)
POOL_TWINS(cuMemAllocFromPoolAsync, (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
           alloc_from, address, bytes, pool)
POOL_TWINS(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), free_async, address)
