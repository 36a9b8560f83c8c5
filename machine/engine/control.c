/* What `fanout fabric` does to a running machine: see gate.h. */
#include "machine/engine/internal.h"

#include "model/fabric/fault.h"

gboolean engine_degrade(Engine *engine, const char *key, const char *part, guint64 lasts_ps, GError **error)
{
    if (engine->spec.flow) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "flows take no faults at run time: run the program with --fidelity packet");
        return FALSE;
    }
    if (!fault_add(engine->fabric, key, part, lasts_ps, error))
        return FALSE;
    engine_disturbed(engine);
    log_line(engine->spec.log, LOG_CUDA, LOG_WARN, sim_now_ps(engine->sim), "fanout fabric degrade: %s %s", key, part);
    return TRUE;
}

static guint end_contexts(const Engine *engine, guint32 gpu)
{
    GHashTableIter iter;
    gpointer value;
    guint n = 0;

    g_hash_table_iter_init(&iter, engine->contexts);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        EngineContext *context = value;
        if (context->gpu != gpu || context->gone || context->streams->len == 0)
            continue;
        context->fault = FAULT_RESET; /* whatever it had before */
        n++;
    }
    return n;
}

guint engine_gpu_reset(Engine *engine, guint32 gpu)
{
    guint n = end_contexts(engine, gpu);

    engine_disturbed(engine);
    log_line(engine->spec.log, LOG_CUDA, LOG_WARN, sim_now_ps(engine->sim),
             "fanout fabric gpu-reset: GPU %u, contexts that had it: %u", gpu, n);
    g_autoptr(GPtrArray) active = g_ptr_array_copy(engine->active, NULL, NULL); /* some end here */
    for (guint i = 0; i < active->len; i++) {
        Work *work = g_ptr_array_index(active, i);
        if (work->request.gpu != gpu || !work->context || work->context->fault != FAULT_RESET)
            continue;
        if (work->launch)
            kernel_abort(work->launch, PTX_FAULT_HUNG, "its GPU was reset");
        else if (work->steps == &engine_wait_value_steps)
            engine_value_give_up(work);
    }
    return n;
}

gboolean engine_has_context(const Engine *engine, guint32 client, guint32 gpu)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, engine->contexts);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const EngineContext *context = value;
        if (context->client == client && context->gpu == gpu && !context->gone && context->streams->len > 0)
            return TRUE;
    }
    return FALSE;
}
