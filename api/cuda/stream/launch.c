/* Fanout's own calls: device programs on a stream. */
#include <fanout/fanout.h>

#include "api/cuda/memory/mem.h"
#include "api/cuda/stream/submit.h"

CUresult fo_launch(const FoKernel *kernel, CUstream handle)
{
    Context *context;
    Stream stream;
    CUDA_BEGIN(call);

    if (!kernel)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = context_need(&call, &context);
    if (result == CUDA_SUCCESS)
        result = stream_get(&call, handle, CU_STREAM_LEGACY, &stream);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    host_look_at_registered(&call);
    EngineRequest request = {.op = ENGINE_LAUNCH,
                             .stream = stream.stream,
                             .gpu = call.cuda->device[stream.context->device].gpu,
                             .argument = (guint64)(guintptr)kernel};
    CUDA_RETURN(call, engine_submit(&call, &request));
}

CUresult fo_now_ps(uint64_t *time_ps)
{
    EngineRequest request = {.op = ENGINE_NOW};
    EngineReply reply;
    CUDA_BEGIN(call);

    if (!time_ps)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    cuda_engine(&call, &request, &reply);
    *time_ps = reply.time_ps;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
