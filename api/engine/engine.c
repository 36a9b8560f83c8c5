/* See engine.h: the thread, what each request leads to, and when simulated time may run. Nothing in this room calls
 * up to here. */
#include "api/engine/internal.h"

#include "model/fabric/waves.h"

#define STUCK_LOOK_US 20000        /* how often a quiet engine asks whether anybody can still act */
#define STUCK_AFTER_US 500000      /* how long nobody can before it says so */

static _Thread_local gboolean on_engine_thread;

static gboolean handle(Engine *engine, EngineCall *call);

EngineStatus engine_call(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    EngineCall call = {.request = *request};

    if (on_engine_thread) {
        if ((request->op != ENGINE_REPORT && request->op != ENGINE_TIMELINE) || !handle(engine, &call))
            return ENGINE_STUCK;
        *reply = call.reply;
        return ENGINE_OK;
    }
    pthread_cond_init(&call.cond, NULL);
    pthread_mutex_lock(&engine->lock);
    g_atomic_int_inc(&engine->waiting);
    g_queue_push_tail(&engine->calls, &call);
    pthread_cond_signal(&engine->posted);
    while (!call.done)
        pthread_cond_wait(&call.cond, &engine->lock);
    g_atomic_int_add(&engine->waiting, -1);
    pthread_mutex_unlock(&engine->lock);
    pthread_cond_destroy(&call.cond);
    *reply = call.reply;
    return (EngineStatus)reply->status;
}

static void save_timeline(Engine *engine, EngineCall *call)
{
    g_autoptr(GError) error = NULL;
    const char *path = (const char *)(guintptr)call->request.argument;

    call->reply.value = engine->slices != NULL && engine_timeline_save(engine, path, &error);
    if (error != NULL)
        log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, 0, "--perfetto: %s", error->message);
}

/* TRUE: the call is answered; otherwise a Work holds it. Called with the lock held, given up
 * inside. */
static gboolean handle(Engine *engine, EngineCall *call)
{
    const EngineRequest *request = &call->request;

    switch (request->op) {
    case ENGINE_NOW:
        call->reply.time_ps = sim_now_ps(engine->sim);
        return TRUE;
    case ENGINE_REPORT:
        /* the last that a process asks for */
        engine_stats_report(engine, (Report *)(guintptr)request->argument);
        call->reply.value = engine_series_end(engine, (Report *)(guintptr)request->argument) &&
                            sim_trace_end(engine->sim);
        return TRUE;
    case ENGINE_SHARED:
        engine->shared = TRUE;
        return TRUE;
    case ENGINE_TIMELINE:
        save_timeline(engine, call);
        return TRUE;
    case ENGINE_QUERY_STREAM:
    case ENGINE_QUERY_EVENT:
        if (request->access == 0)
            engine_pass_quantum(engine);
        break;
    default:
        break;
    }
    if (engine_memory_request(engine, request, &call->reply))
        return TRUE;
    return engine_queue_request(engine, call);
}

/* Answers what was posted, and completes host calls that came back. Lock held. */
static void serve(Engine *engine)
{
    for (;;) {
        Work *returned = g_queue_pop_head(&engine->returned);
        EngineCall *call = returned == NULL ? g_queue_pop_head(&engine->calls) : NULL;
        if (returned == NULL && call == NULL)
            return;
        pthread_mutex_unlock(&engine->lock);
        engine->nobody_us = engine->quiet_us = 0;
        engine->busy_since_us = 0;
        gboolean answered = FALSE;
        if (returned != NULL)
            engine_work_done(returned, FAULT_NONE, sim_now_ps(engine->sim));
        else
            answered = handle(engine, call);
        pthread_mutex_lock(&engine->lock);
        if (answered)
            engine_answer(engine, call, (EngineStatus)call->reply.status);
    }
}

/* Somebody waits: lets time run, or sleeps when nothing is due. Lock held, given up inside. */
static void advance(Engine *engine)
{
    pthread_mutex_unlock(&engine->lock);
    SimStatus status = engine_run_slice(engine);
    pthread_mutex_lock(&engine->lock);
    if (status == SIM_LIMIT || status == SIM_STOPPED || !engine_nothing_posted(engine) ||
        engine->sleepers->len == 0) {
        engine->nobody_us = engine->quiet_us = 0;
        return;
    }
    gboolean watching = engine->shared && (memory_watches(engine->fabric->memory) > 0 || engine->awaited->len > 0);
    guint64 look_us = watching ? SHARED_LOOK_US : STUCK_LOOK_US;
    engine_look_later(engine, look_us);
    if (!engine_nothing_posted(engine))
        return;
    if (watching)
        engine_look_at_shared(engine);
    engine->quiet_us += look_us;
    engine->nobody_us = engine_is_deadlocked(engine) ? engine->nobody_us + look_us : 0;
    if (engine->nobody_us >= STUCK_AFTER_US && engine_has_external_waiter(engine))
        engine->nobody_us = 0;
    if (engine->nobody_us >= STUCK_AFTER_US ||
        (engine->spec.watchdog_us != 0 && engine->quiet_us >= engine->spec.watchdog_us))
        engine_declare_stuck(engine);
}

static gboolean build(Engine *engine)
{
    SimSpec spec = {.seed = engine->spec.seed,
                    .engine = engine->spec.reference_engine ? SIM_ENGINE_REFERENCE : SIM_ENGINE_FAST,
                    .calendar =
                        engine->spec.reference_calendar ? SIM_CALENDAR_SYSTEMC : SIM_CALENDAR_WHEEL,
                    .vcd_path = engine->spec.vcd_path};

    engine->sim = sim_new(&spec, &engine->start_error);
    if (engine->sim == NULL)
        return FALSE;
    engine->fabric =
        fabric_new(engine->sim, engine->spec.fabric, engine->spec.keep_bytes, &engine->start_error);
    if (engine->fabric == NULL)
        return FALSE;
    fabric_trace(engine->fabric);
    if (!engine_series_begin(engine))
        return FALSE;
    engine->fabric->log = engine->spec.log;
    engine->fabric->on_fault = engine_faults_add;
    engine->fabric->on_fault_user = engine;
    engine->vas = vas_new(engine->fabric->memory, (guint32)engine->fabric->spec.system.gpus);
    engine->mark = usage_mark(engine->fabric);
    if (engine->spec.flow)
        device_flow_begin(engine->fabric);
    return TRUE;
}

static gpointer engine_main(gpointer data)
{
    Engine *engine = data;

    on_engine_thread = TRUE;
    gboolean ok = build(engine);
    pthread_mutex_lock(&engine->lock);
    engine->started = TRUE;
    pthread_cond_broadcast(&engine->posted);
    while (ok) {
        serve(engine);
        if (engine->sleepers->len > 0)
            advance(engine);
        else if (engine_nothing_posted(engine))
            engine_idle(engine);
        engine_look_for_signal(engine);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

Engine *engine_new(const EngineSpec *spec, GError **error)
{
    KernelTrace *trace = spec->ptx_trace != NULL ? kernel_trace_new(spec->ptx_trace, error) : NULL;

    if (spec->ptx_trace != NULL && trace == NULL)
        return NULL;
    Engine *engine = g_new0(Engine, 1);
    engine->spec = *spec;
    engine->trace = trace;
    engine->interrupts = spec->interrupts != NULL ? g_atomic_int_get(spec->interrupts) : 0;
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->posted, NULL);
    pthread_cond_init(&engine->call_posted, NULL);
    g_queue_init(&engine->to_call);
    g_queue_init(&engine->calls);
    g_queue_init(&engine->returned);
    engine->objects = g_ptr_array_new();
    engine->contexts = g_hash_table_new(NULL, NULL);
    engine->streams = g_ptr_array_new();
    engine->events = g_ptr_array_new();
    engine->sleepers = g_ptr_array_new();
    engine->stats = g_ptr_array_new();
    engine->faults = engine_faults_new();
    engine->launches = engine_launches_new();
    engine_groups_init(&engine->groups);
    if (spec->timeline)
        engine_timeline_start(engine);
    engine->graveyard = g_ptr_array_new();
    engine->promised = g_ptr_array_new();
    engine->awaited = g_ptr_array_new();
    engine->active = g_ptr_array_new();
    engine->notes = g_array_new(FALSE, TRUE, sizeof(ObjectNote));
    engine->windows = g_array_new(FALSE, FALSE, sizeof(ObjectWindow));
    g_ptr_array_add(engine->objects, NULL);
    g_ptr_array_add(engine->streams, NULL);
    g_ptr_array_add(engine->events, NULL);
    engine->thread = g_thread_new("fanout-engine", engine_main, engine);
    pthread_mutex_lock(&engine->lock);
    while (!engine->started)
        pthread_cond_wait(&engine->posted, &engine->lock);
    pthread_mutex_unlock(&engine->lock);
    if (engine->start_error == NULL)
        return engine;
    g_propagate_error(error, engine->start_error);
    g_thread_join(engine->thread);
    g_free(engine);
    return NULL;
}

gboolean engine_is_stuck(const Engine *engine)
{
    return engine->stuck;
}
