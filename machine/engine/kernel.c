/* Kernels of PTX as work of streams. See kernel.h. */
#include "machine/engine/kernel.h"
#include "machine/engine/internal.h"
#include "device/launch_time.h"

#include <stdio.h>

static EngineStatus kernel_prepare(Work *work)
{
    const KernelSpec *spec = (const KernelSpec *)(guintptr)work->request.argument;

    g_autoptr(GError) error = NULL;

    if (!kernel_check(work->engine->fabric, spec, &error)) {
        log_line(work->engine->spec.log, LOG_CUDA, LOG_ERROR, sim_now_ps(work->engine->sim), "%s", error->message);
        return g_error_matches(error, KERNEL_ERROR, KERNEL_ERROR_RESOURCES)     ? ENGINE_RESOURCES
               : g_error_matches(error, KERNEL_ERROR, KERNEL_ERROR_COOPERATIVE) ? ENGINE_COOPERATIVE
                                                                                : ENGINE_INVALID;
    }
    work->kernel.name = g_strdup(spec->entry->symbol->name);
    work->ptx = *spec;
    work->programmatic = spec->depends;
    work->ptx.param = spec->param ? g_memdup2(spec->param, spec->entry->param_bytes) : NULL;
    return ENGINE_OK;
}

static void kernel_clear(Work *work)
{
    g_free((char *)work->kernel.name);
    g_free((void *)work->ptx.param);
    g_free(work->counted);
}

/* What the report says of a kernel's own fault: where in its text it was. */
static void tell_fault(const Work *work, const PtxFault *fault)
{
    g_autoptr(GString) text = g_string_new(fault->text);
    const char *name = fault->function ? fault->function->symbol->name : work->kernel.name;

    if (fault->line != 0)
        g_string_append_printf(text, "; %s:%u in %s", fault->function->unit->file, fault->line, name);
    if (fault->source_line != 0)
        g_string_append_printf(text, " (source line %u)", fault->source_line);
    g_string_append_printf(text, "; CTA (%u,%u,%u), warp %u, lane %u", fault->cta[0], fault->cta[1], fault->cta[2],
                           fault->warp, fault->lane);
    FabricFault told = {.kind = kernel_fault_kind(fault),
                        .gpu = (guint16)work->request.gpu,
                        .who = g_intern_string(work->kernel.name),
                        .cta = fault->cta[0],
                        .va = fault->va,
                        .uop = UOP_CALL,
                        .cause = work,
                        .text = g_intern_string(text->str)};
    fabric_fault(work->engine->fabric, &told);
}

static void tell(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "%s\n", line);
}

static void kernel_done(const KernelLaunch *launch, void *user)
{
    Work *work = user;
    const PtxFault *fault = kernel_fault(launch);

    work->launch = NULL;
    work->counted = g_new(KernelStats, 1);
    *work->counted = kernel_stats(launch);
    work->engine->n_traced += work->counted->traced;
    engine_timeline_spans(work->engine, launch);
    if (fault->kind != PTX_FAULT_NONE && !work->context->gone) {
        /* the first of its context is the one that stays */
        work->fault = work->context->fault == FAULT_RESET ? FAULT_RESET : kernel_fault_kind(fault);
        tell_fault(work, fault);
    }
    engine_kernel_end(work, work->fault);
}

guint engine_kernels_run(const Engine *engine)
{
    guint n = 0;
    for (guint i = 0; i < engine->active->len; i++)
        n += ((const Work *)g_ptr_array_index(engine->active, i))->launch != NULL;
    return n;
}

void engine_kernels_end(Engine *engine, const char *why)
{
    for (guint i = 0; i < engine->active->len; i++) {
        Work *work = g_ptr_array_index(engine->active, i);
        if (work->launch)
            kernel_abort(work->launch, PTX_FAULT_HUNG, why);
    }
}

SimTime engine_launch_ps(const Work *work)
{
    const Engine *engine = work->engine;
    return launch_time_first_ps(&engine->fabric->spec, work->submit_ps, work->ready_ps, sim_now_ps(engine->sim));
}

static void kernel_start(Work *work)
{
    Engine *engine = work->engine;
    g_autoptr(GError) error = NULL;

    engine_groups_join(work);
    work->ptx.keep_spans = engine->slices != NULL;
    work->ptx.trace = engine->trace;
    work->ptx.depends = engine_kernel_depends(work);
    work->ptx.reaches = engine_kernel_reaches;
    work->ptx.tell = tell;
    work->launch = kernel_launch(engine->fabric, (guint16)work->request.gpu, engine_vas(engine, work->request.client),
                                 &work->ptx, engine_launch_ps(work), kernel_done, work, &error);
    if (work->launch)
        return;
    log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, sim_now_ps(engine->sim), "%s", error->message);
    engine_kernel_end(work, FAULT_ILLEGAL_FORM);
}

const WorkSteps engine_kernel_steps = {
    .prepare = kernel_prepare, .start = kernel_start, .ended = engine_dependents_done, .clear = kernel_clear};
