/* Events: points in streams, whose times are simulated time. */
#include "api/cuda/stream/recorder.h"
#include "api/cuda/stream/submit.h"

CUresult cuEventCreate(CUevent *handle, unsigned int flags)
{
    EventHandle event = {.flags = flags};
    CUDA_BEGIN(call);

    if (!handle || (flags & ~(unsigned)(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = context_need(&call, &event.context);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if ((flags & CU_EVENT_INTERPROCESS) && !event_share(&event))
        CUDA_RETURN(call, CUDA_ERROR_OUT_OF_MEMORY);
    CUDA_RETURN(call, event_enter(&call, &event, handle));
}

static CUresult record(Call *call, CUevent handle, CUstream stream_handle, CUstream standard, unsigned int flags)
{
    Stream stream;
    EventHandle *event = event_get(call, handle);

    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if ((flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_get(call, stream_handle, standard, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream.context != event->context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (call->cuda->recorder->record(call, &stream, event, flags, &result))
        return result;
    EngineRequest request = {.op = ENGINE_RECORD, .stream = stream.stream, .event = event->event};
    result = engine_submit(call, &request);
    event->recorded |= result == CUDA_SUCCESS;
    return result;
}

#define RECORD_TWINS(name, parameters, flags)                                                                          \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        CUDA_RETURN(call, record(&call, event, stream, CU_STREAM_LEGACY, flags));                                      \
    }                                                                                                                  \
    CUDA_ALIAS_PTSZ CUresult name##_ptsz parameters;                                                                   \
    CUresult name##_ptsz parameters                                                                                    \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        CUDA_RETURN(call, record(&call, event, stream, CU_STREAM_PER_THREAD, flags));                                  \
    }
RECORD_TWINS(cuEventRecord, (CUevent event, CUstream stream), 0)
RECORD_TWINS(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned int flags), flags)

CUresult cuEventQuery(CUevent handle)
{
    EngineReply reply;
    CUDA_BEGIN(call);
    EventHandle *event = event_get(&call, handle);

    if (!event)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    CUresult captured = CUDA_SUCCESS;
    if (call.cuda->recorder->event_forbids(&call, event, &captured))
        CUDA_RETURN(call, captured);
    EngineRequest request = {.op = ENGINE_QUERY_EVENT, .event = event->event};
    CUresult result = engine_query(&call, &request, &reply);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    CUDA_RETURN(call, reply.value ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

CUresult cuEventSynchronize(CUevent handle)
{
    CUDA_BEGIN(call);
    EventHandle *event = event_get(&call, handle);

    if (!event)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    CUresult captured = CUDA_SUCCESS;
    if (call.cuda->recorder->event_forbids(&call, event, &captured))
        CUDA_RETURN(call, captured);
    EngineRequest request = {.op = ENGINE_WAIT_RECORD, .event = event->event};
    CUDA_RETURN(call, engine_wait(&call, &request));
}

static void event_free(Call *call, EventHandle *event)
{
    EngineRequest request = {.op = ENGINE_EVENT_FREE, .event = event->event};

    cuda_engine(call, &request, NULL);
    handle_unref(call->cuda->handles, event->handle);
    event_forget_capture(event);
    event_unshare(event);
    g_free(event);
}

static gboolean of_context(const void *event, const void *context)
{
    return ((const EventHandle *)event)->context == context;
}

void event_context_gone(Call *call, Context *context)
{
    HandleTable *handles = call->cuda->handles;
    g_autoptr(GArray) found = handle_collect(handles, HANDLE_EVENT, of_context, context);

    for (guint i = 0; i < found->len; i++)
        event_free(call, handle_get(handles, HANDLE_EVENT, g_array_index(found, guint64, i), NULL));
}

static CUresult destroy(Call *call, CUevent handle)
{
    EventHandle *event = event_get(call, handle);

    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    event_free(call, event);
    return CUDA_SUCCESS;
}

#undef cuEventDestroy
CUDA_ALIAS_PTSZ CUresult cuEventDestroy(CUevent event);
CUresult cuEventDestroy(CUevent event)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, destroy(&call, event));
}

CUresult cuEventDestroy_v2(CUevent event)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, destroy(&call, event));
}

/* The time of a completed record without letting time pass. */
static CUresult time_of(Call *call, const EventHandle *event, guint64 *time_ps)
{
    EngineRequest request = {.op = ENGINE_QUERY_EVENT, .event = event->event, .access = 1};
    EngineReply reply;

    if (!event->recorded || (event->flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = engine_result(engine_call(call->cuda->engine, &request, &reply), &reply);
    if (result == CUDA_SUCCESS && !reply.value)
        result = CUDA_ERROR_NOT_READY;
    *time_ps = reply.time_ps;
    return result;
}

static CUresult elapsed(Call *call, float *milliseconds, CUevent start_handle, CUevent end_handle)
{
    guint64 start_ps, end_ps;
    EventHandle *start = event_get(call, start_handle);
    EventHandle *end = event_get(call, end_handle);

    if (!start || !end)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!milliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = time_of(call, start, &start_ps);
    if (result == CUDA_SUCCESS)
        result = time_of(call, end, &end_ps);
    if (result == CUDA_SUCCESS)
        *milliseconds = (float)((double)(gint64)(end_ps - start_ps) / (double)PS_PER_MS);
    return result;
}

#undef cuEventElapsedTime
CUDA_ALIAS_PTSZ CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, elapsed(&call, milliseconds, start, end));
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, elapsed(&call, milliseconds, start, end));
}
