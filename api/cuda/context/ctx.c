/* Contexts and each thread's stack of them. */
#include "api/cuda/context/ctx.h"

#include "api/cuda/context/part.h"

/* The driver API has a current context per thread: the one thread-local state there is. Handles,
 * not pointers, so that a destroyed context is noticed. */
#define STACK_MAX 64
static _Thread_local struct {
    guint n;
    guint64 handle[STACK_MAX];
} stack;

/* source: limits as a real driver starts with (H100) */
static const size_t limit_defaults[CU_LIMIT_MAX] = {
    [CU_LIMIT_STACK_SIZE] = 1024,
    [CU_LIMIT_PRINTF_FIFO_SIZE] = 7 << 20,
    [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
    [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2,
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
    [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
};

Context *context_get(Call *call, CUcontext handle)
{
    return handle_get(call->cuda->handles, HANDLE_CONTEXT, (guint64)handle, NULL);
}

Context *context_current(Call *call, gboolean *destroyed)
{
    Context *context = stack.n > 0 ? context_get(call, (CUcontext)stack.handle[stack.n - 1]) : NULL;

    if (destroyed)
        *destroyed = stack.n > 0 && stack.handle[stack.n - 1] != 0 && !context;
    return context;
}

CUresult context_need(Call *call, Context **context)
{
    gboolean destroyed;

    *context = context_current(call, &destroyed);
    if (*context)
        return CUDA_SUCCESS;
    return destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult context_new(Call *call, int device, unsigned int flags, Context **context)
{
    Context *made = g_new0(Context, 1);
    EngineRequest request = {.op = ENGINE_STREAM_NEW, .access = 2};
    EngineReply reply;

    made->id = call->cuda->next_id++;
    made->device = device;
    made->flags = flags;
    made->refs = 1;
    for (guint i = 0; i < CU_LIMIT_MAX; i++)
        made->limit[i] = limit_defaults[i];
    request.object = (guint32)made->id;
    request.gpu = call->cuda->device[device].gpu;
    if (!cuda_engine(call, &request, &reply)) {
        g_free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->legacy = (guint32)reply.value;
    made->legacy_attributes = stream_attributes(0);
    made->handle = handle_new(call->cuda->handles, HANDLE_CONTEXT, made);
    *context = made;
    return CUDA_SUCCESS;
}

void context_free(Call *call, Context *context)
{
    EngineRequest request = {.op = ENGINE_STREAM_FREE, .stream = context->legacy};

    cuda_parts_context_gone(call, context);
    cuda_engine(call, &request, NULL);
    handle_unref(call->cuda->handles, context->handle);
    g_free(context);
}

void context_push(Context *context)
{
    if (stack.n < STACK_MAX)
        stack.handle[stack.n++] = context->handle;
}

static CUresult create(Call *call, CUcontext *context, unsigned int flags, CUdevice device)
{
    Context *made;
    CUresult result;

    if (!context || (flags & ~(unsigned)CONTEXT_FLAGS_KNOWN) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!cuda_device(call->cuda, device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (stack.n == STACK_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = context_new(call, device, flags, &made);
    if (result != CUDA_SUCCESS)
        return result;
    context_push(made);
    *context = (CUcontext)made->handle;
    return CUDA_SUCCESS;
}

#undef cuCtxCreate
CUDA_ALIAS_PTSZ CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, create(&call, context, flags, device));
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, create(&call, context, flags, device));
}

CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinities, int n, unsigned int flags, CUdevice device)
{
    CUDA_BEGIN(call);
    if (n < 0 || (!affinities) != (n == 0))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (n > 0) /* only under MPS */
        CUDA_RETURN(call, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    CUDA_RETURN(call, create(&call, context, flags, device));
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned int flags, CUdevice device)
{
    CUDA_BEGIN(call);
    if (params && params->execAffinityParams)
        CUDA_RETURN(call, params->numExecAffinityParams > 0 ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                                                            : CUDA_ERROR_INVALID_VALUE);
    if (params && params->cigParams)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    CUDA_RETURN(call, create(&call, context, flags, device));
}

static CUresult destroy(Call *call, CUcontext handle)
{
    Context *context = context_get(call, handle);

    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (!context || context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.n > 0 && stack.handle[stack.n - 1] == context->handle)
        stack.n--;
    context_free(call, context);
    return CUDA_SUCCESS;
}

#undef cuCtxDestroy
CUDA_ALIAS_PTSZ CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxDestroy(CUcontext context)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, destroy(&call, context));
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, destroy(&call, context));
}

static CUresult push(Call *call, CUcontext handle)
{
    Context *context = context_get(call, handle);

    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.n == STACK_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context_push(context);
    return CUDA_SUCCESS;
}

static CUresult pop(CUcontext *context)
{
    if (stack.n == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack.n--;
    if (context)
        *context = (CUcontext)stack.handle[stack.n];
    return CUDA_SUCCESS;
}

#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
CUDA_ALIAS_PTSZ CUresult cuCtxPushCurrent(CUcontext context);
CUDA_ALIAS_PTSZ CUresult cuCtxPopCurrent(CUcontext *context);
CUresult cuCtxPushCurrent(CUcontext context)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, push(&call, context));
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, push(&call, context));
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, pop(context));
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, pop(context));
}

/* NULL pops; otherwise the top is replaced, or made when the stack is empty. */
CUresult cuCtxSetCurrent(CUcontext context)
{
    CUDA_BEGIN(call);
    if (!context) {
        if (stack.n > 0)
            stack.n--;
        CUDA_RETURN(call, CUDA_SUCCESS);
    }
    if (!context_get(&call, context))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_CONTEXT);
    if (stack.n == 0)
        stack.n = 1;
    stack.handle[stack.n - 1] = (guint64)context;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    CUDA_BEGIN(call);
    if (!context)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *context = stack.n > 0 ? (CUcontext)stack.handle[stack.n - 1] : NULL;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
