/* Streams. The default streams are not objects of the table: the context owns the legacy one, and
 * each thread gets its own per context at the first use. */
#include "api/cuda/stream/recorder.h"
#include "api/cuda/stream/submit.h"

typedef struct {
    guint32 number; /* the engine's */
    StreamAttributes attributes;
} OwnStream;

/* The calling thread's own streams, by context id. Freed with the process only. */
static _Thread_local GHashTable *own_streams;

static gboolean stream_make(Call *call, const Context *context, unsigned int flags, guint32 *number)
{
    EngineRequest request = {.op = ENGINE_STREAM_NEW,
                             .object = (guint32)context->id,
                             .access = flags & CU_STREAM_NON_BLOCKING ? 1 : 0,
                             .gpu = call->cuda->device[context->device].gpu};
    EngineReply reply;

    if (!cuda_engine(call, &request, &reply))
        return FALSE;
    *number = (guint32)reply.value;
    return TRUE;
}

static CUresult own_stream(Call *call, Stream *stream)
{
    Context *context = stream->context;
    guint32 number;

    if (!own_streams)
        own_streams = g_hash_table_new(NULL, NULL);
    OwnStream *own = g_hash_table_lookup(own_streams, GUINT_TO_POINTER(context->id));
    if (!own) {
        if (!stream_make(call, context, 0, &number))
            return CUDA_ERROR_OUT_OF_MEMORY;
        own = g_new(OwnStream, 1);
        *own = (OwnStream){number, stream_attributes(0)};
        g_hash_table_insert(own_streams, GUINT_TO_POINTER(context->id), own);
    }
    stream->stream = own->number;
    stream->attributes = &own->attributes;
    return CUDA_SUCCESS;
}

CUresult stream_get(Call *call, CUstream handle, CUstream standard, Stream *stream)
{
    CUstream which = !handle ? standard : handle;

    *stream = (Stream){0};
    if (which == CU_STREAM_LEGACY || which == CU_STREAM_PER_THREAD) {
        CUresult result = context_need(call, &stream->context);
        if (result != CUDA_SUCCESS)
            return result;
        stream->stream = stream->context->legacy;
        stream->attributes = &stream->context->legacy_attributes;
        stream->id = which == CU_STREAM_LEGACY ? 1 : 2;
        return which == CU_STREAM_PER_THREAD ? own_stream(call, stream) : CUDA_SUCCESS;
    }
    const Stream *found = cuda_object(call, HANDLE_STREAM, (guint64)handle, "use of a destroyed stream",
                                      "not a stream");
    if (!found)
        return CUDA_ERROR_INVALID_HANDLE;
    *stream = *found;
    return CUDA_SUCCESS;
}

static CUresult create(Call *call, CUstream *handle, unsigned int flags, int priority)
{
    Context *context;
    guint32 number;

    if (!handle || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_need(call, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!stream_make(call, context, flags, &number))
        return CUDA_ERROR_OUT_OF_MEMORY;
    Stream *stream = g_new0(Stream, 1);
    *stream = (Stream){.id = call->cuda->next_id++,
                       .context = context,
                       .flags = flags,
                       .stream = number,
                       .attributes = g_new(StreamAttributes, 1)};
    *stream->attributes = stream_attributes(priority);
    stream->handle = handle_new(call->cuda->handles, HANDLE_STREAM, stream);
    *handle = (CUstream)stream->handle;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, create(&call, stream, flags, 0));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, create(&call, stream, flags, priority));
}

static void stream_free(Call *call, Stream *stream)
{
    EngineRequest request = {.op = ENGINE_STREAM_FREE, .stream = stream->stream};

    call->cuda->recorder->stream_gone(call, stream->stream);
    cuda_engine(call, &request, NULL);
    handle_unref(call->cuda->handles, stream->handle);
    g_free(stream->attributes);
    g_free(stream);
}

static gboolean of_context(const void *stream, const void *context)
{
    return ((const Stream *)stream)->context == context;
}

void stream_context_gone(Call *call, Context *context)
{
    HandleTable *handles = call->cuda->handles;
    g_autoptr(GArray) found = handle_collect(handles, HANDLE_STREAM, of_context, context);

    for (guint i = 0; i < found->len; i++)
        stream_free(call, handle_get(handles, HANDLE_STREAM, g_array_index(found, guint64, i), NULL));
}

static CUresult destroy(Call *call, CUstream handle)
{
    Stream *stream = handle_get(call->cuda->handles, HANDLE_STREAM, (guint64)handle, NULL);

    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    stream_free(call, stream);
    return CUDA_SUCCESS;
}

#undef cuStreamDestroy
CUDA_ALIAS_PTSZ CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamDestroy(CUstream stream)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, destroy(&call, stream));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, destroy(&call, stream));
}

static CUresult synchronize(Call *call, CUstream handle, CUstream standard)
{
    Stream stream;
    CUresult result = stream_get(call, handle, standard, &stream);
    EngineRequest request = {.op = ENGINE_WAIT_STREAM, .stream = stream.stream};

    if (result == CUDA_SUCCESS && call->cuda->recorder->forbids(call, stream.stream, 0, &result))
        return result;
    return result == CUDA_SUCCESS ? engine_wait(call, &request) : result;
}

static CUresult query(Call *call, CUstream handle, CUstream standard)
{
    Stream stream;
    EngineReply reply;
    CUresult result = stream_get(call, handle, standard, &stream);
    EngineRequest request = {.op = ENGINE_QUERY_STREAM, .stream = stream.stream};

    if (result == CUDA_SUCCESS)
        call->cuda->recorder->forbids(call, stream.stream, 0, &result);
    if (result != CUDA_SUCCESS)
        return result;
    result = engine_query(call, &request, &reply); /* other threads go on meanwhile: time passes for them, too */
    return result != CUDA_SUCCESS ? result : reply.value ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult wait_event(Call *call, CUstream handle, CUstream standard, CUevent event_handle, unsigned int flags)
{
    Stream stream;
    CUresult result = stream_get(call, handle, standard, &stream);
    EventHandle *event = event_get(call, event_handle);

    if (result != CUDA_SUCCESS)
        return result;
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    if ((flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (call->cuda->recorder->wait(call, &stream, event, flags, &result))
        return result;
    EngineRequest request = {.op = ENGINE_WAIT_EVENT, .stream = stream.stream, .event = event->event};
    return engine_submit(call, &request);
}

typedef enum { GET_FLAGS, GET_PRIORITY, GET_CONTEXT, GET_ID, GET_DEVICE, GET_CAPTURE } Get;

static CUresult get(Call *call, CUstream handle, CUstream standard, Get what, void *value)
{
    Stream stream;

    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_get(call, handle, standard, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    switch (what) {
    case GET_FLAGS: *(unsigned int *)value = stream.flags; break;
    case GET_PRIORITY: *(int *)value = stream.attributes->priority; break;
    case GET_CONTEXT: *(CUcontext *)value = (CUcontext)stream.context->handle; break;
    case GET_ID: *(unsigned long long *)value = stream.id; break;
    case GET_DEVICE: *(CUdevice *)value = stream.context->device; break;
    case GET_CAPTURE: *(CUstreamCaptureStatus *)value = call->cuda->recorder->status(call, stream.stream); break;
    }
    return CUDA_SUCCESS;
}

STREAM_TWINS(cuStreamSynchronize, (CUstream stream), synchronize, (&call, stream, standard))
STREAM_TWINS(cuStreamQuery, (CUstream stream), query, (&call, stream, standard))
STREAM_TWINS(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags), wait_event,
             (&call, stream, standard, event, flags))
STREAM_TWINS(cuStreamGetFlags, (CUstream stream, unsigned int *flags), get, (&call, stream, standard, GET_FLAGS, flags))
STREAM_TWINS(cuStreamGetPriority, (CUstream stream, int *priority), get,
             (&call, stream, standard, GET_PRIORITY, priority))
STREAM_TWINS(cuStreamGetCtx, (CUstream stream, CUcontext *context), get,
             (&call, stream, standard, GET_CONTEXT, context))
STREAM_TWINS(cuStreamGetId, (CUstream stream, unsigned long long *id), get, (&call, stream, standard, GET_ID, id))
STREAM_TWINS(cuStreamGetDevice, (CUstream stream, CUdevice *device), get, (&call, stream, standard, GET_DEVICE, device))
STREAM_TWINS(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status), get,
             (&call, stream, standard, GET_CAPTURE, status))

/* No green contexts here: the context itself. */
static CUresult get_context(Call *call, CUstream handle, CUstream standard, CUcontext *context, CUgreenCtx *green)
{
    CUresult result = green ? get(call, handle, standard, GET_CONTEXT, context) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *green = NULL;
    return result;
}

STREAM_TWINS(cuStreamGetCtx_v2, (CUstream stream, CUcontext *context, CUgreenCtx *green), get_context,
             (&call, stream, standard, context, green))
