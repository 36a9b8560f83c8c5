/* See submit.h. */
#include "api/cuda/stream/submit.h"

#include "api/cuda/context/part.h"
#include "api/cuda/stream/recorder.h"

/* What work that failed on a device ends as. source: cuda.h on the codes 700 to 719 */
static CUresult fault_result(guint32 fault)
{
    switch ((FaultKind)fault) {
    case FAULT_TRAP: return CUDA_ERROR_LAUNCH_FAILED;
    case FAULT_ASSERT: return CUDA_ERROR_ASSERT;
    case FAULT_MISALIGNED: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FAULT_INSTRUCTION:
    case FAULT_ILLEGAL_FORM: /* no instruction of this GPU */ return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case FAULT_CODE: return CUDA_ERROR_LAUNCH_FAILED;
    case FAULT_HUNG: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case FAULT_RESET: /* no page says; the GPU is there again for a context made after it */
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    default: return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
}

CUresult engine_result(EngineStatus status, const EngineReply *reply)
{
    switch (status) {
    case ENGINE_OK: return CUDA_SUCCESS;
    case ENGINE_NO_MEMORY:
    case ENGINE_FULL: return CUDA_ERROR_OUT_OF_MEMORY;
    case ENGINE_FAULT: return CUDA_ERROR_INVALID_VALUE;
    case ENGINE_DEVICE_FAULT: return fault_result(reply->fault);
    case ENGINE_INVALID: return CUDA_ERROR_INVALID_VALUE;
    case ENGINE_RESOURCES: return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    case ENGINE_COOPERATIVE: return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    case ENGINE_GONE: return CUDA_ERROR_DEVICE_UNAVAILABLE;
    case ENGINE_STUCK: return CUDA_ERROR_LAUNCH_TIMEOUT;
    }
    return CUDA_ERROR_UNKNOWN;
}

CUresult engine_query(Call *call, const EngineRequest *request, EngineReply *reply)
{
    cuda_unlock(call);
    EngineStatus status = engine_call(call->cuda->engine, request, reply);
    cuda_relock(call);
    return engine_result(status, reply);
}

CUresult engine_wait(Call *call, const EngineRequest *request)
{
    EngineReply reply;

    return engine_query(call, request, &reply);
}

CUresult engine_submit(Call *call, const EngineRequest *request)
{
    EngineRequest named = *request;
    EngineReply reply;
    gboolean waits = request->wait != ENGINE_ANSWER_QUEUED;
    CUresult captured = CUDA_SUCCESS;

    if (call->cuda->recorder->request(call, request, &captured))
        return captured;
    if (request->op == ENGINE_LAUNCH || request->op == ENGINE_LAUNCH_PTX)
        cuda_parts_before_launch(call);
    g_strlcpy(named.call, call->name, sizeof named.call);
    if (waits)
        cuda_unlock(call);
    EngineStatus status = engine_call(call->cuda->engine, &named, &reply);
    if (waits)
        cuda_relock(call);
    return engine_result(status, &reply);
}
