/* Streams, events and the order of work.
 *
 * A piece of work waits for the work before it in its stream; for the record an event wait names;
 * and, as CUDA's legacy default stream has it, between that stream and the blocking streams of its
 * context both ways. A wait of an API thread is a piece of work in no stream, which waits for what
 * was queued when it was posted. Work starts when the last it waits for is done: order is given by
 * the program, not by time. */
#include "api/engine/internal.h"

static Work *work_new(Engine *engine, const EngineRequest *request, EngineContext *context)
{
    Work *work = g_new0(Work, 1);

    work->engine = engine;
    work->request = *request;
    work->context = context;
    work->refs = 1;
    work->waits_for = 1;
    work->followers = g_ptr_array_new();
    work->submit_ps = sim_now_ps(engine->sim);
    return work;
}

Work *engine_work_ref(Work *work)
{
    work->refs++;
    return work;
}

void engine_work_unref(Work *work)
{
    g_assert(work->refs > 0);
    if (--work->refs > 0)
        return;
    engine_run_clear(work);
    if (work->of != NULL)
        engine_work_unref(work->of);
    if (work->shared != NULL)
        engine_shared_unref(work->shared);
    g_ptr_array_unref(work->followers);
    g_clear_pointer(&work->dependents, g_ptr_array_unref);
    g_free(work);
}

static void follow(Work *work, Work *before)
{
    if (before == NULL || before->done || before == work)
        return;
    g_ptr_array_add(before->followers, engine_work_ref(work));
    work->waits_for++;
}

static EngineStatus status_of(FaultKind fault)
{
    return fault == FAULT_NONE   ? ENGINE_OK
           : fault == FAULT_HOST ? ENGINE_FAULT
                                 : ENGINE_DEVICE_FAULT;
}

static void wake(Work *wait)
{
    Engine *engine = wait->engine;
    EngineContext *context = wait->context;
    EngineStatus status = context != NULL ? status_of(context->fault) : ENGINE_OK;
    guint32 fault = context != NULL ? (guint32)context->fault : 0;

    if (context != NULL && (!engine->spec.sticky_faults || context->fault == FAULT_HOST))
        context->fault = FAULT_NONE;
    if (wait->of != NULL && wait->of->fault == FAULT_HOST)
        status = ENGINE_FAULT;
    wait->call->reply.fault = status == ENGINE_DEVICE_FAULT ? fault : 0;
    wait->call->reply.time_ps = sim_now_ps(engine->sim);
    g_ptr_array_remove(engine->sleepers, wait);
    pthread_mutex_lock(&engine->lock);
    engine_answer(engine, wait->call, status);
    pthread_mutex_unlock(&engine->lock);
    wait->call = NULL;
    wait->done = TRUE;
    sim_stop(engine->sim);
    engine_work_unref(wait);
}

void engine_work_advance(Work *work)
{
    g_assert(work->waits_for > 0);
    if (--work->waits_for > 0)
        return;
    work->start_ps = sim_now_ps(work->engine->sim);
    if (work->call != NULL) {
        wake(work);
        return;
    }
    g_atomic_int_inc(&work->engine->running);
    g_ptr_array_add(work->engine->active, work);
    engine_run_start(work);
}

void engine_work_done(Work *work, FaultKind fault, SimTime now_ps)
{
    Engine *engine = work->engine;

    g_assert(!work->done);
    work->done = TRUE;
    work->fault = fault;
    work->end_ps = now_ps;
    g_atomic_int_add(&engine->running, -1);
    engine->busy_since_us = 0;
    g_ptr_array_remove(engine->active, work);
    if (fault != FAULT_NONE && work->context->fault == FAULT_NONE &&
        !(fault == FAULT_HOST && work->guarded)) /* its own call is told */
        work->context->fault = fault;
    engine_stats_add(engine, work);
    g_clear_pointer(&work->staging, g_free); /* its stream and events may remember the work for long */
    if (engine->running == 0)
        engine_bury(engine);
    for (guint i = 0; i < work->followers->len; i++) {
        Work *next = g_ptr_array_index(work->followers, i);
        if (next->call != NULL || !next->done)
            engine_work_advance(next);
        engine_work_unref(next);
    }
    g_ptr_array_set_size(work->followers, 0);
    engine_dependents_done(work);
    if (work->shared != NULL && work->request.op == ENGINE_RECORD)
        engine_shared_reached(work);
    engine_work_unref(work); /* the reference of its being under way */
}

/* Both directions of the legacy default stream's order. */
static void follow_legacy(Engine *engine, Work *work, const EngineStream *stream)
{
    EngineContext *context = stream->context;

    if (stream->id == context->legacy) {
        for (guint i = 0; i < context->streams->len; i++) {
            EngineStream *other = g_ptr_array_index(context->streams, i);
            if (other->blocking && other != stream)
                follow(work, other->tail);
        }
        return;
    }
    EngineStream *legacy = stream->blocking ? engine_stream(engine, context->legacy) : NULL;
    if (legacy != NULL)
        follow(work, legacy->tail);
}

static void replace(Work **place, Work *work)
{
    if (*place != NULL)
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
    if (context == NULL)
        return;
    for (guint i = 0; i < context->streams->len; i++)
        follow(work, ((EngineStream *)g_ptr_array_index(context->streams, i))->tail);
    follow(work, context->barrier);
    replace(&context->barrier, work);
}

static void follow_record(Work *work, const EngineEvent *event)
{
    if (event->shared == NULL || !engine_shared_follow(work, event))
        follow(work, event->record);
}

static void record(Work *work, EngineEvent *event)
{
    if (event->shared != NULL)
        engine_shared_record(work, event);
    replace(&event->record, work);
}

/* *queued: the work, which its stream keeps. */
static EngineStatus queue(Engine *engine, const EngineRequest *request, Work **queued)
{
    EngineStream *stream = engine_stream(engine, request->stream);

    if (stream == NULL) /* destroyed by another thread while the call was on its way */
        return ENGINE_INVALID;
    if (stream->context->fault != FAULT_NONE && stream->context->fault != FAULT_HOST)
        return ENGINE_DEVICE_FAULT;
    Work *work = work_new(engine, request, stream->context);
    EngineStatus status = engine_run_prepare(work);
    if (status != ENGINE_OK) {
        engine_work_unref(work);
        return status;
    }
    work->guarded = request->wait != ENGINE_ANSWER_QUEUED;
    if (!engine_depend(work, stream->tail))
        follow(work, stream->tail);
    follow(work, stream->context->barrier);
    follow_legacy(engine, work, stream);
    if (request->op == ENGINE_COPY) {
        serialize(work, context_named(engine, request->region));
        serialize(work, context_named(engine, request->object));
    }
    if (request->op == ENGINE_WAIT_EVENT || request->op == ENGINE_RECORD) {
        EngineEvent *event = g_ptr_array_index(engine->events, request->event);
        if (request->op == ENGINE_WAIT_EVENT)
            follow_record(work, event);
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
        call->reply.status = status_of(work->fault);
        call->reply.fault = call->reply.status == ENGINE_DEVICE_FAULT ? (guint32)work->fault : 0;
        return TRUE;
    }
    Work *wait = work_new(engine, request, work->context);
    wait->request.op = ENGINE_WAIT_STREAM;
    wait->call = call;
    wait->of = engine_work_ref(work);
    g_ptr_array_add(engine->sleepers, wait);
    follow(wait, work);
    engine_work_advance(wait);
    return FALSE;
}

static void wait_context(Engine *engine, Work *wait, guint32 id)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, engine->contexts);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        EngineContext *context = value;
        if (id != 0 && context->id != id)
            continue;
        for (guint i = 0; i < context->streams->len; i++)
            follow(wait, ((EngineStream *)g_ptr_array_index(context->streams, i))->tail);
        follow(wait, context->barrier);
    }
}

static void sleep_over(Event *event, SimTime now_ps)
{
    (void)now_ps;
    engine_work_advance(EVENT_OWNER(event, Work, timer));
}

static void wait_call(Engine *engine, EngineCall *call)
{
    const EngineRequest *request = &call->request;
    Work *wait = work_new(engine, request, NULL);

    wait->call = call;
    g_ptr_array_add(engine->sleepers, wait);
    switch (request->op) {
    case ENGINE_WAIT_STREAM: {
        EngineStream *stream = engine_stream(engine, request->stream);
        if (stream != NULL) {
            wait->context = stream->context;
            follow(wait, stream->tail);
        }
        break;
    }
    case ENGINE_WAIT_RECORD: {
        EngineEvent *event = g_ptr_array_index(engine->events, request->event);
        if (event != NULL && event->record != NULL)
            wait->context = event->record->context;
        if (event != NULL)
            follow_record(wait, event);
        break;
    }
    case ENGINE_WAIT_CONTEXT:
        wait->context = g_hash_table_lookup(engine->contexts, GUINT_TO_POINTER(request->object));
        wait_context(engine, wait, request->object);
        break;
    default:
        event_init(&wait->timer, sleep_over);
        wait->waits_for++;
        sim_after(engine->sim, &wait->timer, request->time_ps, EVENT_PRIORITY_PROCESS);
        break;
    }
    engine_work_advance(wait);
}

static void query(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    const EngineContext *context = NULL;

    if (request->op == ENGINE_QUERY_STREAM) {
        const EngineStream *stream = engine_stream(engine, request->stream);
        context = stream->context;
        reply->value = stream->tail == NULL || stream->tail->done;
    } else {
        const EngineEvent *event = g_ptr_array_index(engine->events, request->event);
        context = event->record != NULL ? event->record->context : NULL;
        reply->value = event->shared != NULL ? engine_shared_complete(event)
                                             : event->record == NULL || event->record->done;
        reply->time_ps = event->record != NULL ? event->record->end_ps : 0;
    }
    if (context != NULL && context->fault != FAULT_NONE && context->fault != FAULT_HOST) {
        reply->status = ENGINE_DEVICE_FAULT;
        reply->fault = (guint32)context->fault;
    }
}

gboolean engine_work_request(Engine *engine, EngineCall *call)
{
    const EngineRequest *request = &call->request;

    switch (request->op) {
    case ENGINE_STREAM_NEW:
        call->reply.value = engine_stream_new(engine, request);
        return TRUE;
    case ENGINE_STREAM_FREE:
        engine_stream_free(engine, request->stream);
        return TRUE;
    case ENGINE_EVENT_NEW:
        call->reply.value = engine_event_new(engine, request);
        return TRUE;
    case ENGINE_EVENT_FREE:
        engine_event_free(engine, request->event);
        return TRUE;
    case ENGINE_QUERY_STREAM:
    case ENGINE_QUERY_EVENT:
        query(engine, request, &call->reply);
        return TRUE;
    case ENGINE_WAIT_STREAM:
    case ENGINE_WAIT_RECORD:
    case ENGINE_WAIT_CONTEXT:
    case ENGINE_SLEEP:
        wait_call(engine, call);
        return FALSE;
    default:
        return queue_call(engine, call);
    }
}
