/* Streams, events and contexts of the engine: made, found by number, freed. Their order is work.c's. */
#include "machine/engine/internal.h"

EngineStream *engine_stream(Engine *engine, guint32 number)
{
    return number < engine->streams->len ? g_ptr_array_index(engine->streams, number) : NULL;
}

static EngineContext *context_of(Engine *engine, guint32 id, guint16 gpu, guint32 client)
{
    EngineContext *context = g_hash_table_lookup(engine->contexts, GUINT_TO_POINTER(id));

    if (!context) {
        context = g_new0(EngineContext, 1);
        context->id = id;
        context->gpu = gpu;
        context->client = client;
        context->streams = g_ptr_array_new();
        g_hash_table_insert(engine->contexts, GUINT_TO_POINTER(id), context);
    }
    return context;
}

guint32 engine_stream_new(Engine *engine, const EngineRequest *request)
{
    EngineStream *stream = g_new0(EngineStream, 1);

    stream->id = engine->streams->len;
    stream->context = context_of(engine, request->object, (guint16)request->gpu, request->client);
    stream->blocking = request->access == 0;
    if (request->access == 2)
        stream->context->legacy = stream->id;
    g_ptr_array_add(engine->streams, stream);
    g_ptr_array_add(stream->context->streams, stream);
    return stream->id;
}

/* What was queued still runs: the stream leaves its context's list when its tail is replaced by
 * nothing. */
void engine_stream_free(Engine *engine, guint32 number)
{
    EngineStream *stream = engine_stream(engine, number);

    engine->streams->pdata[number] = NULL;
    if (!stream->tail || stream->tail->done)
        g_ptr_array_remove(stream->context->streams, stream);
    else
        return; /* a wait for the context must still see its work */
    if (stream->tail)
        engine_work_unref(stream->tail);
    g_free(stream);
}

guint32 engine_event_new(Engine *engine, const EngineRequest *request)
{
    EngineEvent *event = g_new0(EngineEvent, 1);

    event->id = engine->events->len;
    if (request->argument != 0)
        event->shared = engine_shared_new((EventPage *)(guintptr)request->argument);
    g_ptr_array_add(engine->events, event);
    return event->id;
}

void engine_event_free(Engine *engine, guint32 number)
{
    EngineEvent *event = g_ptr_array_index(engine->events, number);

    engine->events->pdata[number] = NULL;
    if (event->record)
        engine_work_unref(event->record);
    if (event->shared)
        engine_shared_unref(event->shared);
    g_free(event);
}
