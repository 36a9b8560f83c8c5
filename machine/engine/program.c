/* Device programs in C (model/sm, device/device.h) as work of streams. */
#include "machine/engine/internal.h"

#include <string.h>

static EngineStatus program_prepare(Work *work)
{
    const FoKernel *kernel = (const FoKernel *)(guintptr)work->request.argument;

    if (!kernel->program || kernel->ctas == 0 || kernel->ctas > 65535 || kernel->threads == 0 ||
        kernel->threads > 1024 || (!kernel->args && kernel->args_bytes != 0))
        return ENGINE_INVALID;
    work->kernel = *kernel;
    work->kernel.name = g_strdup(kernel->name ? kernel->name : "kernel");
    work->kernel.args = NULL;
    if (kernel->args_bytes == 0)
        return ENGINE_OK;
    guint8 *args = g_try_malloc(kernel->args_bytes);
    work->kernel.args = args;
    if (!args)
        return ENGINE_NO_MEMORY;
    if (work->request.client != 0) { /* a gate has made the kernel, in this process */
        memcpy(args, kernel->args, kernel->args_bytes);
        return ENGINE_OK;
    }
    return engine_host_read(work, args, (guint64)(guintptr)kernel->args, kernel->args_bytes) ? ENGINE_OK : ENGINE_FAULT;
}

static void program_clear(Work *work)
{
    g_free((char *)work->kernel.name);
    g_free((void *)work->kernel.args);
}

static void program_done(const DeviceLaunch *launch, void *user)
{
    Work *work = user;
    (void)launch;
    engine_work_done(work, work->fault, sim_now_ps(work->engine->sim));
}

static void program_start(Work *work)
{
    Engine *engine = work->engine;
    g_autoptr(GError) error = NULL;

    engine_groups_join(work);
    if (device_launch_after(engine->fabric, (guint16)work->request.gpu, engine_vas(engine, work->request.client),
                            &work->kernel, engine_launch_ps(work), program_done, work, &error))
        return;
    log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, sim_now_ps(engine->sim), "%s", error->message);
    engine_work_done(work, FAULT_ILLEGAL_FORM, sim_now_ps(engine->sim));
}

const WorkSteps engine_program_steps = {.prepare = program_prepare, .start = program_start, .clear = program_clear};
