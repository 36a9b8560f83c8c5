/* Waits of callers: for work, for a time, and queries, which are waits of one quantum. What a wait is for ends it; so
 * does engine_declare_stuck(), or the end of its caller. */
#include "machine/engine/internal.h"
#include "machine/engine/skip.h"

static void drop_shared(Work *work) { g_clear_pointer(&work->shared, engine_shared_unref); }

EngineStatus engine_status_of(FaultKind fault)
{
    return fault == FAULT_NONE ? ENGINE_OK : fault == FAULT_HOST ? ENGINE_FAULT : ENGINE_DEVICE_FAULT;
}

/* Ends a wait: its caller goes on, and simulated time stands still. */
static void wait_answer(Work *wait, EngineStatus status)
{
    Engine *engine = wait->engine;

    g_ptr_array_remove(engine->sleepers, wait);
    pthread_mutex_lock(&engine->lock);
    engine_answer(engine, wait->call, status);
    pthread_mutex_unlock(&engine->lock);
    wait->call = NULL;
    wait->done = TRUE;
    sim_stop(engine->sim);
    engine_work_unref(wait);
}

/* The random stream of a rank. */
static Rng *skew_of(Engine *engine, guint32 rank)
{
    Rng *rng = g_hash_table_lookup(engine->skews, GUINT_TO_POINTER(rank));

    if (!rng) {
        g_autofree char *name = g_strdup_printf("cuda.rank_skew.%u", rank);
        rng = g_new(Rng, 1);
        rng_init(rng, engine->spec.seed, name);
        g_hash_table_insert(engine->skews, GUINT_TO_POINTER(rank), rng);
    }
    return rng;
}

/* A real host goes on a little later than what it waited for has come, and each rank by another time. */
static void skew_over(Event *event, SimTime now_ps)
{
    Work *wait = EVENT_OWNER(event, Work, timer);

    wait->call->reply.time_ps = now_ps + wait->engine->skipped_ps;
    wait_answer(wait, (EngineStatus)wait->call->reply.status);
}

static void wake(Work *wait)
{
    Engine *engine = wait->engine;
    EngineContext *context = wait->context;
    EngineStatus status = context ? engine_status_of(context->fault) : ENGINE_OK;
    guint32 fault = context ? (guint32)context->fault : 0;

    if (context && (!engine->spec.sticky_faults || context->fault == FAULT_HOST))
        context->fault = FAULT_NONE;
    if (wait->of && wait->of->fault == FAULT_HOST)
        status = ENGINE_FAULT;
    wait->call->reply.fault = status == ENGINE_DEVICE_FAULT ? fault : 0;
    wait->call->reply.time_ps = engine_now_ps(engine);
    wait->call->reply.status = status;
    if (engine->spec.rank_skew_ps == 0) {
        wait_answer(wait, status);
        return;
    }
    event_init(&wait->timer, skew_over);
    wait->skewed = TRUE;
    sim_after(engine->sim, &wait->timer,
              rng_below(skew_of(engine, wait->request.order.rank), engine->spec.rank_skew_ps + 1),
              EVENT_PRIORITY_PROCESS);
}

const WorkSteps engine_wait_steps = {.start = wake, .clear = drop_shared};

/* What a query answers, at its end: what it asks about may be gone by then. */
void engine_answer_query(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    const EngineContext *context = NULL;

    reply->status = ENGINE_OK;
    if (request->op == ENGINE_QUERY_STREAM
            ? !engine_stream(engine, request->stream)
            : request->event >= engine->events->len || !g_ptr_array_index(engine->events, request->event)) {
        reply->status = ENGINE_INVALID;
        return;
    }

    if (request->op == ENGINE_QUERY_STREAM) {
        const EngineStream *stream = engine_stream(engine, request->stream);
        context = stream->context;
        reply->value = !stream->tail || stream->tail->done;
    } else {
        const EngineEvent *event = g_ptr_array_index(engine->events, request->event);
        context = event->record ? event->record->context : NULL;
        reply->value = event->shared ? engine_shared_complete(event) : !event->record || event->record->done;
        reply->time_ps = event->record ? event->record->end_ps + event->record->skipped_ps : 0;
    }
    if (context && context->fault != FAULT_NONE && context->fault != FAULT_HOST) {
        reply->status = ENGINE_DEVICE_FAULT;
        reply->fault = (guint32)context->fault;
    }
}

static void sleep_over(Event *event, SimTime now_ps)
{
    Work *wait = EVENT_OWNER(event, Work, timer);
    Engine *engine = wait->engine;

    (void)now_ps;
    if (wait->request.op == ENGINE_SLEEP) {
        wake(wait);
        return;
    }
    engine_shared_look(engine);
    engine_rounds_note(engine, &wait->request);
    engine_answer_query(engine, &wait->request, &wait->call->reply);
    wait_answer(wait, (EngineStatus)wait->call->reply.status);
}

/* A sleep of 0 in a loop must let time pass, too. */
static SimTime sleep_ps(const Work *wait)
{
    const EngineRequest *request = &wait->request;

    if (request->op == ENGINE_SLEEP && request->time_ps > 0)
        return request->time_ps;
    return request->op != ENGINE_SLEEP && engine_rounds_goes_on(wait->engine, request)
               ? 0
               : wait->engine->spec.query_quantum_ps;
}

static void sleep_begin(Work *wait)
{
    if (!wait->call) /* its caller is gone */
        return;
    event_init(&wait->timer, sleep_over);
    sim_after(wait->engine->sim, &wait->timer, sleep_ps(wait), EVENT_PRIORITY_PROCESS);
}

static const WorkSteps sleep_steps = {.start = sleep_begin};

void engine_wait_drop(Work *wait)
{
    if (wait->steps == &sleep_steps || wait->skewed)
        sim_cancel(wait->engine->sim, &wait->timer);
    if (wait->of)
        wait->of->dropped = TRUE;
    wait->call = NULL;
    wait->done = TRUE; /* what it waited for may yet come: nothing is left to do then */
    engine_work_unref(wait);
}

static void wait_context(Engine *engine, Work *wait, guint32 id)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, engine->contexts);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        EngineContext *context = value;
        if (context->client != wait->request.client || (id != 0 && context->id != id))
            continue;
        for (guint i = 0; i < context->streams->len; i++)
            engine_work_follow(wait, ((EngineStream *)g_ptr_array_index(context->streams, i))->tail);
        engine_work_follow(wait, context->barrier);
    }
}

void engine_wait_request(Engine *engine, EngineCall *call)
{
    const EngineRequest *request = &call->request;
    Work *wait = engine_work_new(engine, request, NULL, &engine_wait_steps);

    wait->call = call;
    g_ptr_array_add(engine->sleepers, wait);
    switch (request->op) {
    case ENGINE_WAIT_STREAM: {
        EngineStream *stream = engine_stream(engine, request->stream);
        if (stream) {
            wait->context = stream->context;
            engine_work_follow(wait, stream->tail);
        }
        break;
    }
    case ENGINE_WAIT_RECORD: {
        EngineEvent *event = g_ptr_array_index(engine->events, request->event);
        if (event && event->record)
            wait->context = event->record->context;
        if (event)
            engine_follow_record(wait, event);
        break;
    }
    case ENGINE_WAIT_CONTEXT:
        wait->context = g_hash_table_lookup(engine->contexts, GUINT_TO_POINTER(request->object));
        wait_context(engine, wait, request->object);
        break;
    default: /* SLEEP, and queries: so long from the end of the standstill on */
        wait->steps = &sleep_steps;
        g_ptr_array_add(engine->ready, engine_work_ref(wait));
        return;
    }
    engine_work_advance(wait);
}
