/* What is queued, and its order: streams, events, waits.
 *
 * A piece of work waits for the work before it in its stream; for the record an event wait names;
 * and, as CUDA's legacy default stream has it, between that stream and the blocking streams of its
 * context both ways. A wait of an API thread is a piece of work in no stream, which waits for what
 * was queued when it was posted. Work starts when the last it waits for is done: order is given by
 * the program, not by time. What each kind of work does is its WorkSteps. */
#include "machine/engine/internal.h"

#define QUEUED_MAX (1u << 20) /* works of a context that are not done */

/* ---- kinds of work that are points in the order alone */

static void point(Work *work) { engine_work_done(work, FAULT_NONE, sim_now_ps(work->engine->sim)); }

static void drop_shared(Work *work) { g_clear_pointer(&work->shared, engine_shared_unref); }

static void record_ended(Work *work)
{
    g_clear_pointer(&work->behind, engine_work_unref);
    if (work->shared)
        engine_shared_reached(work);
}

static void call_host(Work *work) { engine_host_call(work->engine, work); }

static const WorkSteps point_steps = {.start = point, .clear = drop_shared};
static const WorkSteps record_steps = {.start = point, .ended = record_ended, .clear = drop_shared};
static const WorkSteps host_call_steps = {.start = call_host};

static const WorkSteps *steps_of(guint32 op)
{
    switch (op) {
    case ENGINE_COPY:
    case ENGINE_COPY_2D:
    case ENGINE_FILL: return &engine_transfer_steps;
    case ENGINE_LAUNCH: return &engine_program_steps;
    case ENGINE_LAUNCH_PTX: return &engine_kernel_steps;
    case ENGINE_HOST_CALL: return &host_call_steps;
    case ENGINE_WRITE_VALUE: return &engine_write_value_steps;
    case ENGINE_WAIT_VALUE: return &engine_wait_value_steps;
    case ENGINE_RECORD: return &record_steps;
    default: /* WAIT_EVENT */ return &point_steps;
    }
}

/* ---- order */

/* Both directions of the legacy default stream's order. */
static void follow_legacy(Engine *engine, Work *work, const EngineStream *stream)
{
    EngineContext *context = stream->context;

    if (stream->id == context->legacy) {
        for (guint i = 0; i < context->streams->len; i++) {
            EngineStream *other = g_ptr_array_index(context->streams, i);
            if (other->blocking && other != stream)
                engine_work_follow(work, other->tail);
        }
        return;
    }
    EngineStream *legacy = stream->blocking ? engine_stream(engine, context->legacy) : NULL;
    if (legacy)
        engine_work_follow(work, legacy->tail);
}

static void replace(Work **place, Work *work)
{
    if (*place)
        engine_work_unref(*place);
    *place = engine_work_ref(work);
}

static EngineContext *context_named(Engine *engine, guint32 id)
{
    return id != 0 ? g_hash_table_lookup(engine->contexts, GUINT_TO_POINTER(id)) : NULL;
}

/* cuMemcpyPeer: behind everything queued in the context, and before everything that will be. */
static void serialize(Work *work, EngineContext *context)
{
    if (!context)
        return;
    for (guint i = 0; i < context->streams->len; i++)
        engine_work_follow(work, ((EngineStream *)g_ptr_array_index(context->streams, i))->tail);
    engine_work_follow(work, context->barrier);
    replace(&context->barrier, work);
}

static void record(Work *work, EngineEvent *event)
{
    if (event->shared)
        engine_shared_record(work, event);
    replace(&event->record, work);
}

/* *queued: the work, which its stream keeps. */
static EngineStatus queue(Engine *engine, const EngineRequest *request, Work **queued)
{
    EngineStream *stream = engine_stream(engine, request->stream);

    if (!stream) /* destroyed by another thread while the call was on its way */
        return ENGINE_INVALID;
    if (stream->context->fault != FAULT_NONE && stream->context->fault != FAULT_HOST)
        return ENGINE_DEVICE_FAULT;
    if (stream->context->unfinished >= QUEUED_MAX)
        return ENGINE_NO_MEMORY;
    Work *work = engine_work_new(engine, request, stream->context, steps_of(request->op));
    EngineStatus status = work->steps->prepare ? work->steps->prepare(work) : ENGINE_OK;
    if (status != ENGINE_OK) {
        engine_work_unref(work);
        return status;
    }
    stream->context->unfinished++;
    work->guarded = request->wait != ENGINE_ANSWER_QUEUED;
    if (!engine_depend(work, stream->tail))
        engine_work_follow(work, stream->tail);
    engine_work_follow(work, stream->context->barrier);
    follow_legacy(engine, work, stream);
    if (request->op == ENGINE_COPY) {
        serialize(work, context_named(engine, request->region));
        serialize(work, context_named(engine, request->object));
    }
    if (request->op == ENGINE_WAIT_EVENT || request->op == ENGINE_RECORD) {
        EngineEvent *event = g_ptr_array_index(engine->events, request->event);
        if (request->op == ENGINE_WAIT_EVENT)
            engine_follow_record(work, event);
        else
            record(work, event);
    }
    replace(&stream->tail, work);
    *queued = work;
    engine_work_advance(work);
    return ENGINE_OK;
}

/* TRUE: the call is answered. */
static gboolean queue_call(Engine *engine, EngineCall *call)
{
    const EngineRequest *request = &call->request;
    Work *work = NULL;
    EngineStatus status = queue(engine, request, &work);

    call->reply.status = status;
    if (status == ENGINE_DEVICE_FAULT)
        call->reply.fault = (guint32)engine_stream(engine, request->stream)->context->fault;
    if (status != ENGINE_OK || request->wait == ENGINE_ANSWER_QUEUED)
        return TRUE;
    if (request->wait == ENGINE_ANSWER_STARTED && work->waits_for > 0) {
        work->guarded = FALSE;
        return TRUE;
    }
    if (work->done) {
        call->reply.status = engine_status_of(work->fault);
        call->reply.fault = call->reply.status == ENGINE_DEVICE_FAULT ? (guint32)work->fault : 0;
        return TRUE;
    }
    Work *wait = engine_work_new(engine, request, work->context, &engine_wait_steps);
    wait->request.op = ENGINE_WAIT_STREAM;
    wait->call = call;
    wait->of = engine_work_ref(work);
    g_ptr_array_add(engine->sleepers, wait);
    engine_work_follow(wait, work);
    engine_work_advance(wait);
    return FALSE;
}

gboolean engine_queue_request(Engine *engine, EngineCall *call)
{
    const EngineRequest *request = &call->request;

    switch (request->op) {
    case ENGINE_STREAM_NEW: call->reply.value = engine_stream_new(engine, request); return TRUE;
    case ENGINE_STREAM_FREE: engine_stream_free(engine, request->stream); return TRUE;
    case ENGINE_EVENT_NEW: call->reply.value = engine_event_new(engine, request); return TRUE;
    case ENGINE_EVENT_FREE: engine_event_free(engine, request->event); return TRUE;
    case ENGINE_QUERY_STREAM:
    case ENGINE_QUERY_EVENT:
        if (request->access != 0) { /* without time */
            engine_answer_query(engine, request, &call->reply);
            return TRUE;
        }
        engine_wait_request(engine, call);
        return FALSE;
    case ENGINE_WAIT_STREAM:
    case ENGINE_WAIT_RECORD:
    case ENGINE_WAIT_CONTEXT:
    case ENGINE_SLEEP: engine_wait_request(engine, call); return FALSE;
    default: return queue_call(engine, call);
    }
}
