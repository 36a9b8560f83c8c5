/* Kernels of PTX that start before the one ahead of them in their stream has ended.
 *
 * A kernel's end, as calls and events see it, comes some time after its last store is performed (sm.exit_ps). What is
 * queued behind it is started by the GPU itself: sm.queued_ps after that store, or, when it was launched with
 * programmatic stream serialization, sm.dependent_ps after the kernel before it let dependents start. Its
 * griddepcontrol.wait then holds until sm.dependent_ps after that kernel's last store.
 * In the stream's order nothing changes: a kernel is done when it has ended and the one before it is done. */
#include "machine/engine/internal.h"
#include "device/launch_time.h"

/* All stores of the kernel and of those before it are performed. */
static gboolean performed(const Work *work, SimTime *when_ps)
{
    for (; work != NULL; work = work->primary) {
        if (!work->performed)
            return FALSE;
        *when_ps = MAX(*when_ps, work->performed_ps);
    }
    return TRUE;
}

/* May it start, as far as its primary is concerned? */
static gboolean may_start(Work *work)
{
    const FabricSpec *spec = &work->engine->fabric->spec;
    SimTime when_ps = 0;

    if (!work->primary)
        return TRUE;
    if (work->programmatic && work->primary->triggered)
        work->ready_ps = launch_time_behind_ps(spec, TRUE, 0, work->primary->triggered_ps);
    else if (performed(work->primary, &when_ps))
        work->ready_ps = launch_time_behind_ps(spec, work->programmatic, work->events, when_ps);
    else
        return FALSE;
    return TRUE;
}

static void look(Work *work)
{
    if (!work->waits_early || !may_start(work))
        return;
    work->waits_early = FALSE;
    engine_work_advance(work);
}

/* What the kernels behind this one may do now. */
static void look_behind(Work *work)
{
    SimTime now_ps = sim_now_ps(work->engine->sim), when_ps = 0;
    gboolean all = performed(work, &when_ps);

    for (guint i = 0; work->dependents && i < work->dependents->len; i++) {
        Work *next = g_ptr_array_index(work->dependents, i);
        look(next);
        if (all && next->launch && next->ptx.depends && !next->released) {
            next->released = TRUE;
            kernel_release(next->launch,
                           MAX(now_ps, launch_time_behind_ps(&work->engine->fabric->spec, TRUE, 0, when_ps)));
        }
        if (all)
            look_behind(next);
    }
}

gboolean engine_depend(Work *work, Work *before)
{
    if (work->request.op == ENGINE_RECORD && before && !before->done) {
        work->events = (before->request.op == ENGINE_RECORD ? before->events : 0) +
                       (work->request.access == ENGINE_RECORD_IN_GRAPH);
        work->behind = before->request.op == ENGINE_LAUNCH_PTX ? engine_work_ref(before)
                       : before->behind                        ? engine_work_ref(before->behind)
                                                               : NULL;
    }
    if (work->request.op != ENGINE_LAUNCH_PTX || !before || before->done)
        return FALSE;
    if (before->behind) {
        work->programmatic &= before->request.access == ENGINE_RECORD_OF_GRAPH;
        work->events = before->events;
        before = before->behind;
    }
    if (before->request.op != ENGINE_LAUNCH_PTX || before->done || before->request.gpu != work->request.gpu)
        return FALSE;
    if (!before->dependents)
        before->dependents = g_ptr_array_new();
    g_ptr_array_add(before->dependents, engine_work_ref(work));
    work->primary = engine_work_ref(before);
    work->waits_early = TRUE;
    work->waits_for++;
    look(work); /* it has not begun: it is still being queued */
    return TRUE;
}

void engine_kernel_reaches(const KernelLaunch *launch, KernelMoment moment, void *user)
{
    Work *work = user;
    SimTime now_ps = sim_now_ps(work->engine->sim);

    (void)launch;
    if (!work->triggered)
        work->triggered_ps = now_ps;
    work->triggered = TRUE;
    if (moment == KERNEL_PERFORMED) {
        work->performed = TRUE;
        work->performed_ps = now_ps;
    }
    look_behind(work);
}

gboolean engine_kernel_depends(const Work *work)
{
    SimTime when_ps = 0;

    return work->primary && !performed(work->primary, &when_ps);
}

void engine_kernel_end(Work *work, FaultKind fault)
{
    work->fault = fault;
    work->held = work->primary != NULL;
    if (!work->held)
        engine_work_done(work, fault, sim_now_ps(work->engine->sim));
}

void engine_dependents_done(Work *work)
{
    SimTime now_ps = sim_now_ps(work->engine->sim);
    g_autoptr(GPtrArray) dependents = g_steal_pointer(&work->dependents);

    work->performed = work->triggered = TRUE; /* it may have ended without having been launched */
    for (guint i = 0; dependents && i < dependents->len; i++) {
        Work *next = g_ptr_array_index(dependents, i);
        g_clear_pointer(&next->primary, engine_work_unref);
        look(next);
        if (next->launch && next->ptx.depends && !next->released) {
            next->released = TRUE;
            kernel_release(next->launch, now_ps);
        }
        if (next->held)
            engine_work_done(next, next->fault, now_ps);
        engine_work_unref(next);
    }
}
