/* See gate.h: what an owner's gate asks of the engine. */
#include "machine/engine/internal.h"

/* ---- calls */

void engine_host_returned(Engine *engine, void *work)
{
    engine_disturbed(engine);
    engine_work_done(work, FAULT_NONE, sim_now_ps(engine->sim));
}

void engine_answer_now(Engine *engine, EngineCall *call, EngineStatus status)
{
    g_ptr_array_remove(engine->outside, call);
    pthread_mutex_lock(&engine->lock);
    engine_answer(engine, call, status);
    pthread_mutex_unlock(&engine->lock);
}

void engine_wait_outside(Engine *engine, EngineCall *call) { g_ptr_array_add(engine->outside, call); }

void engine_call_gone(Engine *engine, EngineCall *call)
{
    g_ptr_array_remove(engine->outside, call);
    g_ptr_array_remove(engine->woken, call);
    for (guint i = 0; i < engine->sleepers->len; i++) {
        Work *wait = g_ptr_array_index(engine->sleepers, i);
        if (wait->call != call)
            continue;
        g_ptr_array_remove_index(engine->sleepers, i);
        engine_wait_drop(wait);
        return;
    }
}

/* ---- clients */

void engine_client_new(Engine *engine, guint32 client)
{
    if (client >= engine->vases->len)
        g_ptr_array_set_size(engine->vases, (gint)client + 1);
    engine->vases->pdata[client] = vas_new(engine->fabric->memory, (guint32)engine->fabric->spec.system.gpus);
}

gboolean engine_client_maps(Engine *engine, guint32 client, guint64 address, guint64 bytes)
{
    return vas_any(engine_vas(engine, client), address, bytes);
}

const void *engine_region_bytes(Engine *engine, guint32 region)
{
    const MemRegion *found = memory_region(engine->fabric->memory, region);

    return found ? found->host : NULL;
}

/* Its streams have nothing more to do, and neither has what is queued in them. */
static void drop_streams(Engine *engine, guint32 client)
{
    for (guint i = 0; i < engine->streams->len; i++) {
        const EngineStream *stream = g_ptr_array_index(engine->streams, i);
        if (stream && stream->context->client == client)
            engine_stream_free(engine, i);
    }
}

/* Where a kernel stood when its process ended. */
static void say_interrupted(Engine *engine, const Work *work)
{
    g_auto(GStrv) waiters = sim_waiters(engine->sim);
    g_autofree char *begin = g_strdup_printf("kernel %s on gpu%u:", work->kernel.name, work->request.gpu);

    for (guint i = 0; waiters && waiters[i]; i++)
        if (g_str_has_prefix(waiters[i], begin))
            log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, sim_now_ps(engine->sim), "interrupted: %s", waiters[i]);
}

void engine_client_end(Engine *engine, guint32 client)
{
    GHashTableIter iter;
    gpointer value;

    engine_disturbed(engine);
    g_hash_table_iter_init(&iter, engine->contexts);
    while (g_hash_table_iter_next(&iter, NULL, &value)) /* what is queued is not done any more: engine_work_start() */
        if (((EngineContext *)value)->client == client)
            ((EngineContext *)value)->gone = TRUE;
    g_autoptr(GPtrArray) active = g_ptr_array_copy(engine->active, NULL, NULL); /* some end here */
    for (guint i = 0; i < active->len; i++) {
        Work *work = g_ptr_array_index(active, i);
        if (work->request.client != client)
            continue;
        work->dropped = TRUE;
        if (work->launch)
            say_interrupted(engine, work);
        if (work->launch)
            kernel_abort(work->launch, PTX_FAULT_HUNG, "its process has ended");
        else if (work->steps == &engine_wait_value_steps)
            engine_value_give_up(work);
    }
    drop_streams(engine, client);
    g_array_append_val(engine->departed, client);
}

/* Also what is queued and has not started: at its end it is looked at. */
static gboolean has_work(const Engine *engine, guint32 client)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, engine->contexts);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (((EngineContext *)value)->client == client && ((EngineContext *)value)->unfinished > 0)
            return TRUE;
    return FALSE;
}

void engine_bury_clients(Engine *engine)
{
    for (guint i = 0; i < engine->departed->len;) {
        guint32 client = g_array_index(engine->departed, guint32, i);
        if (has_work(engine, client)) {
            i++;
            continue;
        }
        vas_free(engine_vas(engine, client));
        engine->vases->pdata[client] = NULL;
        g_array_remove_index(engine->departed, i);
    }
}
