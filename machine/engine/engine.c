/* See engine.h: the thread, what each request leads to, and when simulated time may run. Nothing in this room calls
 * up to here. */
#include "machine/engine/internal.h"
#include "machine/engine/slice.h"
#include "machine/engine/skip.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "model/fabric/waves.h"

#define STUCK_LOOK_US 20000   /* how often a quiet engine asks whether anybody can still act */
#define STUCK_AFTER_US 500000 /* how long nothing can act before it says so */

static _Thread_local gboolean on_engine_thread;
static _Thread_local EngineOrder own_order; /* of the calls of this thread */

static gboolean handle(Engine *engine, EngineCall *call);

EngineStatus engine_call(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    EngineCall call = {.request = *request};

    if (engine->remote)
        return engine->remote->call(engine->remote_self, request, reply);
    if (on_engine_thread) {
        if ((request->op != ENGINE_REPORT && request->op != ENGINE_TIMELINE) || !handle(engine, &call))
            return ENGINE_STUCK;
        *reply = call.reply;
        return ENGINE_OK;
    }
    if (own_order.thread == 0)
        own_order.thread = (guint32)gettid(); /* threads that are made later have higher ones */
    own_order.number++;
    call.request.order = own_order;
    call.request.client = 0;
    pthread_cond_init(&call.cond, NULL);
    pthread_mutex_lock(&engine->lock);
    g_atomic_int_inc(&engine->waiting);
    g_queue_push_tail(&engine->calls, &call);
    engine_signal(engine);
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

    call->reply.value = engine->slices && engine_timeline_save(engine, path, &error);
    if (error)
        log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, 0, "--perfetto: %s", error->message);
}

/* TRUE: the call is answered; otherwise a Work holds it. Called with the lock held, given up
 * inside. */
static gboolean handle(Engine *engine, EngineCall *call)
{
    const EngineRequest *request = &call->request;

    switch (request->op) {
    case ENGINE_NOW: call->reply.time_ps = engine_now_ps(engine); return TRUE;
    case ENGINE_REPORT:
        if (request->object != 0) {
            engine_stats_report_client(engine, (Report *)(guintptr)request->argument, request->object);
            call->reply.value = 1;
            return TRUE;
        }
        /* the last that a process asks for */
        engine_stats_report(engine, (Report *)(guintptr)request->argument);
        call->reply.value = engine_series_end(engine, (Report *)(guintptr)request->argument) &&
                            sim_trace_end(engine->sim);
        return TRUE;
    case ENGINE_SHARED: engine->shared = TRUE; return TRUE;
    case ENGINE_TIMELINE: save_timeline(engine, call); return TRUE;
    default: break;
    }
    if (engine_memory_request(engine, request, &call->reply))
        return TRUE;
    return engine_queue_request(engine, call);
}

gboolean engine_take(Engine *engine, EngineCall *call)
{
    engine_disturbed(engine);
    engine->nobody_us = engine->quiet_us = 0;
    engine->busy_since_us = 0;
    return handle(engine, call);
}

/* Answers what was posted, and completes host calls that came back. Lock held. */
static void serve(Engine *engine)
{
    const EngineGate *gate = engine->spec.gate;

    for (;;) {
        Work *returned = g_queue_pop_head(&engine->returned);
        EngineCall *call = !returned ? g_queue_pop_head(&engine->calls) : NULL;
        if (!returned && !call && !gate)
            return;
        pthread_mutex_unlock(&engine->lock);
        gboolean answered = FALSE, came = TRUE;
        if (returned)
            engine_host_returned(engine, returned);
        else if (call)
            answered = engine_take(engine, call);
        else
            came = gate->take(gate->self);
        pthread_mutex_lock(&engine->lock);
        if (answered)
            engine_answer(engine, call, (EngineStatus)call->reply.status);
        if (!came)
            return;
    }
}

/* Nothing is due, and calls wait: sleeps a moment, and gives up when nothing can act any more. Lock held, given up
 * inside. */
static void advance_to_nothing(Engine *engine)
{
    gboolean watching = engine->shared && (memory_watches(engine->fabric->memory) > 0 || engine->awaited->len > 0);
    guint64 look_us = watching ? SHARED_LOOK_US : STUCK_LOOK_US;

    engine_look_later(engine, look_us);
    if (!engine_nothing_posted(engine))
        return;
    if (watching)
        engine_look_at_shared(engine);
    engine->quiet = FALSE;
    engine->quiet_us += look_us;
    engine->nobody_us = engine_is_deadlocked(engine) ? engine->nobody_us + look_us : 0;
    if (engine->nobody_us >= STUCK_AFTER_US && engine_has_external_waiter(engine))
        engine->nobody_us = 0;
    if (engine->nobody_us >= STUCK_AFTER_US ||
        (engine->spec.watchdog_us != 0 && engine->quiet_us >= engine->spec.watchdog_us))
        engine_declare_stuck(engine);
}

/* Time is wanted: lets it run when everything is quiet. Lock held, given up inside. */
static void advance(Engine *engine)
{
    const gboolean quiet = engine_is_quiet(engine);

    if (engine_woken_go(engine, quiet))
        return;
    if (!quiet) {
        engine_await_quiet(engine);
        return;
    }
    pthread_mutex_unlock(&engine->lock);
    engine_standstill_end(engine);
    pthread_mutex_lock(&engine->lock);
    if (engine_waits_forced(engine))
        return;
    pthread_mutex_unlock(&engine->lock);
    SimStatus status = engine_run_slice(engine);
    pthread_mutex_lock(&engine->lock);
    if (status == SIM_LIMIT || status == SIM_STOPPED || !engine_nothing_posted(engine) || engine->ready->len > 0)
        engine->nobody_us = engine->quiet_us = 0;
    else if (engine->spins || engine->was_forced ||
             engine->host_written) { /* nothing is due, but who runs may act yet */
        engine->quiet = FALSE;
        engine_look_later(engine, SHARED_LOOK_US);
    } else if (engine->sleepers->len > 0 || engine->outside->len > 0)
        advance_to_nothing(engine);
    else
        engine_idle(engine);
}

static gboolean build(Engine *engine)
{
    SimSpec spec = {.seed = engine->spec.seed,
                    .engine = engine->spec.reference_engine ? SIM_ENGINE_REFERENCE : SIM_ENGINE_FAST,
                    .calendar = engine->spec.reference_calendar ? SIM_CALENDAR_SYSTEMC : SIM_CALENDAR_WHEEL,
                    .vcd_path = engine->spec.vcd_path};

    engine->sim = sim_new(&spec, &engine->start_error);
    if (!engine->sim)
        return FALSE;
    engine->fabric = fabric_new(engine->sim, engine->spec.fabric, engine->spec.keep_bytes, &engine->start_error);
    if (!engine->fabric)
        return FALSE;
    fabric_trace(engine->fabric);
    if (!engine_series_begin(engine))
        return FALSE;
    engine->fabric->log = engine->spec.log;
    engine->fabric->on_fault = engine_faults_add;
    engine->fabric->on_fault_user = engine;
    engine_client_new(engine, 0);
    engine->mark = usage_mark(engine->fabric);
    if (engine->spec.flow)
        device_flow_begin(engine->fabric);
    return TRUE;
}

static gpointer engine_main(gpointer data)
{
    Engine *engine = data;

    on_engine_thread = TRUE;
    tree_skip(engine->tree, gettid());
    gboolean ok = build(engine);
    pthread_mutex_lock(&engine->lock);
    engine->started = TRUE;
    pthread_cond_broadcast(&engine->posted);
    while (ok) {
        serve(engine);
        if (engine_wants_time(engine) || engine->outside->len > 0)
            advance(engine);
        else if (engine_nothing_posted(engine))
            engine_idle(engine);
        engine_look_for_signal(engine);
        if (engine->departed->len > 0)
            engine_bury_clients(engine);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}

Engine *engine_new(const EngineSpec *spec, GError **error)
{
    KernelTrace *trace = spec->ptx_trace ? kernel_trace_new(spec->ptx_trace, error) : NULL;

    if (spec->ptx_trace && !trace)
        return NULL;
    Engine *engine = g_new0(Engine, 1);
    engine->spec = *spec;
    engine->trace = trace;
    engine->interrupts = spec->interrupts ? g_atomic_int_get(spec->interrupts) : 0;
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->posted, NULL);
    pthread_cond_init(&engine->call_posted, NULL);
    g_queue_init(&engine->to_call);
    g_queue_init(&engine->calls);
    g_queue_init(&engine->returned);
    engine->objects = g_ptr_array_new();
    engine->unicasts = g_ptr_array_new();
    engine->contexts = g_hash_table_new(NULL, NULL);
    engine->streams = g_ptr_array_new();
    engine->shown = g_array_new(FALSE, TRUE, sizeof(guint32));
    engine->events = g_ptr_array_new();
    engine->sleepers = g_ptr_array_new();
    engine->ready = g_ptr_array_new();
    engine->deep = g_ptr_array_new();
    engine->alarms = g_ptr_array_new();
    engine->woken = g_ptr_array_new();
    engine->outside = g_ptr_array_new();
    engine->vases = g_ptr_array_new();
    engine->departed = g_array_new(FALSE, FALSE, sizeof(guint32));
    engine->tree = spec->gate ? tree_new(spec->tree_root, TRUE) : tree_new(getpid(), FALSE);
    if (spec->gate)
        tree_on_spin(engine->tree, spec->gate->spins, spec->gate->self, spec->gate->came_fd);
    engine->wake_fd = spec->gate ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    engine->stats = g_ptr_array_new();
    engine->client_stats = g_hash_table_new(NULL, NULL);
    engine->faults = engine_faults_new();
    engine->launches = engine_launches_new();
    engine->arrivals = engine_arrivals_new();
    engine->skews = g_hash_table_new_full(NULL, NULL, NULL, g_free);
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
    if (!engine->start_error)
        return engine;
    g_propagate_error(error, engine->start_error);
    g_thread_join(engine->thread);
    g_free(engine);
    return NULL;
}

Engine *engine_remote_new(const EngineRemote *remote, void *self, const guint64 *seen_ps)
{
    Engine *engine = g_new0(Engine, 1);

    engine->remote = remote;
    engine->remote_self = self;
    engine->remote_seen_ps = seen_ps;
    return engine;
}

void *engine_remote_self(const Engine *engine) { return engine->remote ? engine->remote_self : NULL; }

void engine_image_gone(Engine *engine, const void *image)
{
    if (engine->remote)
        engine->remote->image_gone(engine->remote_self, image);
}

gboolean engine_is_stuck(const Engine *engine) { return engine->stuck; }
