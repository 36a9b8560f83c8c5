/* Host functions in streams, and words of memory that streams write and wait for. */
#include "api/cuda/stream/copy.h"

/* Host code in a stream: callbacks run on a thread of the engine and may not call the API. */
typedef struct {
    CUstreamCallback callback;
    CUstream stream;
    void *user;
} CallbackFrame;

static void run_callback(void *argument)
{
    CallbackFrame *frame = argument;
    frame->callback(frame->stream, CUDA_SUCCESS, frame->user);
    g_free(frame);
}

static CUresult host_call(Call *call, CUstream handle, CUstream standard, CUhostFn function, void *user)
{
    Stream stream;

    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_get(call, handle, standard, &stream);
    EngineRequest request = {.op = ENGINE_HOST_CALL,
                             .stream = stream.stream,
                             .function = (guint64)(guintptr)function,
                             .argument = (guint64)user};
    return result == CUDA_SUCCESS ? engine_submit(call, &request) : result;
}

static CUresult add_callback(Call *call, CUstream handle, CUstream standard, CUstreamCallback callback, void *user,
                             unsigned int flags)
{
    if (!callback || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CallbackFrame *frame = g_new(CallbackFrame, 1);
    *frame = (CallbackFrame){callback, handle, user};
    CUresult result = host_call(call, handle, standard, run_callback, frame);
    if (result != CUDA_SUCCESS)
        g_free(frame);
    return result;
}

/* What one value operation asks of the engine; nothing is queued yet. */
static CUresult value_request(Call *call, const Stream *stream, EngineOp op, guint64 address, guint64 value,
                              guint32 width, unsigned int flags, EngineRequest *request)
{
    unsigned allowed = op == ENGINE_WAIT_VALUE ? CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH
                                               : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    int device = stream->context->device;

    if ((flags & ~allowed) != 0 || address % width != 0)
        return CUDA_ERROR_INVALID_VALUE;
    Range *range = range_find(call->cuda->ranges, address);
    if (range && range->team) {
        cuda_diagnose(call, range->handle, device, address, "UB: a stream's word at a multicast address");
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = check_device_span(call, address, width, op == ENGINE_WRITE_VALUE, device, &device);
    *request = (EngineRequest){.op = op,
                               .stream = stream->stream,
                               .address = address,
                               .value = value,
                               .width = width,
                               .access = flags & CU_STREAM_WAIT_VALUE_NOR,
                               .gpu = call->cuda->device[device].gpu};
    return result;
}

static CUresult value_op(Call *call, CUstream handle, CUstream standard, EngineOp op, guint64 address, guint64 value,
                         guint32 width, unsigned int flags)
{
    Stream stream;
    EngineRequest request;
    CUresult result = stream_get(call, handle, standard, &stream);

    if (result == CUDA_SUCCESS)
        result = value_request(call, &stream, op, address, value, width, flags, &request);
    return result == CUDA_SUCCESS ? engine_submit(call, &request) : result;
}

/* One of a batch. A barrier or a flush orders what the stream's order orders anyway: nothing to do.
 */
static CUresult batch_request(Call *call, const Stream *stream, const CUstreamBatchMemOpParams *p,
                              EngineRequest *request)
{
    *request = (EngineRequest){.op = ENGINE_NOW};
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return value_request(call, stream, ENGINE_WAIT_VALUE, p->waitValue.address, p->waitValue.value, 4,
                             p->waitValue.flags, request);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return value_request(call, stream, ENGINE_WAIT_VALUE, p->waitValue.address, p->waitValue.value64, 8,
                             p->waitValue.flags, request);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return value_request(call, stream, ENGINE_WRITE_VALUE, p->writeValue.address, p->writeValue.value, 4,
                             p->writeValue.flags, request);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return value_request(call, stream, ENGINE_WRITE_VALUE, p->writeValue.address, p->writeValue.value64, 8,
                             p->writeValue.flags, request);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return p->flushRemoteWrites.flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_BARRIER:
        return p->memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

#define BATCH_MAX 256 /* source: cuda.h on cuStreamBatchMemOp */

/* All or nothing: every operation is checked before the first is queued. */
static CUresult batch(Call *call, CUstream handle, CUstream standard, unsigned int n,
                      const CUstreamBatchMemOpParams *operations, unsigned int flags)
{
    EngineRequest request[BATCH_MAX];
    Stream stream;
    CUresult result = stream_get(call, handle, standard, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (n == 0 || n > BATCH_MAX || !operations || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < n && result == CUDA_SUCCESS; i++)
        result = batch_request(call, &stream, &operations[i], &request[i]);
    for (unsigned int i = 0; i < n && result == CUDA_SUCCESS; i++)
        if (request[i].op != ENGINE_NOW)
            result = engine_submit(call, &request[i]);
    return result;
}

/* How the host thread waits is the host's business. */
static CUresult host_call_v2(Call *call, CUstream handle, CUstream standard, CUhostFn function, void *user,
                             unsigned int sync_mode)
{
    return sync_mode <= 1 ? host_call(call, handle, standard, function, user) : CUDA_ERROR_INVALID_VALUE;
}

STREAM_TWINS(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *user), host_call,
             (&call, stream, standard, function, user))
STREAM_TWINS(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void *user, unsigned int flags),
             add_callback, (&call, stream, standard, callback, user, flags))
STREAM_TWINS(cuStreamWriteValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
             value_op, (&call, stream, standard, ENGINE_WRITE_VALUE, address, value, 4, flags))
STREAM_TWINS(cuStreamWriteValue64_v2, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
             value_op, (&call, stream, standard, ENGINE_WRITE_VALUE, address, value, 8, flags))
STREAM_TWINS(cuStreamWaitValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
             value_op, (&call, stream, standard, ENGINE_WAIT_VALUE, address, value, 4, flags))
STREAM_TWINS(cuStreamWaitValue64_v2, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
             value_op, (&call, stream, standard, ENGINE_WAIT_VALUE, address, value, 8, flags))
STREAM_TWINS(cuStreamBatchMemOp_v2,
             (CUstream stream, unsigned int n, CUstreamBatchMemOpParams *operations, unsigned int flags), batch,
             (&call, stream, standard, n, operations, flags))
STREAM_TWINS(cuLaunchHostFunc_v2, (CUstream stream, CUhostFn function, void *user, unsigned int sync_mode),
             host_call_v2, (&call, stream, standard, function, user, sync_mode))

/* The names of before 11.7 do the same, but for what came with it. */
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamBatchMemOp
#define OLD_NAME(name, parameters, made, arguments)                                                                    \
    CUDA_ALIAS_PTSZ CUresult name parameters;                                                                          \
    STREAM_TWINS(name, parameters, made, arguments)
OLD_NAME(cuStreamWriteValue32, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags), value_op,
         (&call, stream, standard, ENGINE_WRITE_VALUE, address, value, 4, flags))
OLD_NAME(cuStreamWriteValue64, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags), value_op,
         (&call, stream, standard, ENGINE_WRITE_VALUE, address, value, 8, flags))
OLD_NAME(cuStreamWaitValue32, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags), value_op,
         (&call, stream, standard, ENGINE_WAIT_VALUE, address, value, 4, flags))
OLD_NAME(cuStreamWaitValue64, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags), value_op,
         (&call, stream, standard, ENGINE_WAIT_VALUE, address, value, 8, flags))
OLD_NAME(cuStreamBatchMemOp,
         (CUstream stream, unsigned int n, CUstreamBatchMemOpParams *operations, unsigned int flags), batch,
         (&call, stream, standard, n, operations, flags))
