/* What a CUevent stands for: found, entered, and parted from captures. */
#include "api/cuda/context/ctx.h"

EventHandle *event_get(Call *call, CUevent handle)
{
    return cuda_object(call, HANDLE_EVENT, (guint64)handle, "use of a destroyed event", "not an event");
}

CUresult event_enter(Call *call, const EventHandle *event, CUevent *handle)
{
    EngineRequest request = {
        .op = ENGINE_EVENT_NEW, .fd = event->page ? event->fd : -1, .argument = (guint64)(guintptr)event->page};
    EngineReply reply;

    if (!cuda_engine(call, &request, &reply))
        return CUDA_ERROR_OUT_OF_MEMORY;
    EventHandle *made = g_memdup2(event, sizeof *event);
    made->event = (guint32)reply.value;
    made->handle = handle_new(call->cuda->handles, HANDLE_EVENT, made);
    *handle = (CUevent)made->handle;
    return CUDA_SUCCESS;
}

void event_forget_capture(EventHandle *event)
{
    g_clear_pointer(&event->captured, g_array_unref);
    event->capture = 0;
}
