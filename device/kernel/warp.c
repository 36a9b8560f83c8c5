/* A warp of a kernel as a generator of micro-operations.
 *
 * The executor runs ahead of simulated time until it asks for memory or must wait; `time_ps` is the warp's own time,
 * to which the cost of the instructions is added. An access is given to the LSU when simulated time has come there. */
#include "device/kernel/internal.h"

#define SLICE_INSTRUCTIONS                                                                                             \
    1024u /* executed at most before time may pass: what other warps write to shared memory is
                                  * seen no later than that */

static void on_idle(Warp *warp, SimTime now_ps)
{
    KernelWarp *ended = warp->generator;
    KernelCta *cta = ended->cta;
    kernel_account_until(ended, now_ps);
    if (--cta->running == 0)
        sim_at(cta->launch->fabric->sim, &cta->end, now_ps, EVENT_PRIORITY_DEVICE);
}

void kernel_stop(KernelLaunch *launch)
{
    for (KernelCluster *cluster = launch->live; cluster; cluster = cluster->next)
        for (guint32 c = 0; cluster->placed && c < cluster->size; c++)
            for (guint32 w = 0; w < launch->grid->n_warps; w++)
                if (cluster->cta[c].warp[w].stage == KERNEL_RUNS)
                    warp_unpark(cluster->cta[c].warp[w].warp);
}

/* A warp that is to be traced says so first. */
static void begin_trace(KernelWarp *warp)
{
    KernelLaunch *launch = warp->cta->launch;
    const KernelSpec *spec = &launch->spec;
    const PtxCta *cta = warp->cta->ptx;
    if (!launch->traces || !kernel_trace_is(spec->trace, cta, warp->ptx->index))
        return;
    g_autofree char *line = g_strdup_printf("%s on %s: CTA (%u,%u,%u) on SM %u, warp %u", launch->name,
                                            launch->gpu->path, cta->index[0], cta->index[1], cta->index[2],
                                            warp->warp->sm->id, warp->ptx->index);
    spec->tell(spec->tell_user, line);
    warp->ptx->traced = g_string_new(NULL);
    launch->stats.traced++;
}

void kernel_warp_start(KernelWarp *warp, KernelCta *cta, guint32 index, SimTime now_ps)
{
    warp->cta = cta;
    warp->warp = &cta->cta->warp[index];
    warp->ptx = &cta->ptx->warp[index];
    warp->ptx->user = warp;
    warp->time_ps = warp->counted_ps = warp->active_ps = now_ps;
    warp->doing = KERNEL_ISSUES;
    warp->out.bytes = warp->out_bytes;
    warp->warp->on_idle = on_idle;
    warp->warp->issue_ps = 2 * cta->launch->host.clock_ps;
    begin_trace(warp);
    warp_generate(warp->warp, kernel_next, warp);
}

void kernel_warp_clear(KernelWarp *warp)
{
    kernel_poll_clear(warp);
    kernel_still_clear(warp);
    if (warp->hits)
        g_array_unref(warp->hits);
    kernel_loads_clear(warp);
}

static void on_issued(void *arg, SimTime now_ps)
{
    KernelLaunch *launch = arg;
    launch->issued_ps = MAX(launch->issued_ps, now_ps);
}

/* The end: its last instruction is issued, its stores are performed, its loads are back. FALSE: all that is so. */
static gboolean next_of_end(KernelWarp *warp, Uop *uop, SimTime now_ps)
{
    *uop = (Uop){.lanes = 1};
    switch ((KernelStage)warp->stage) {
    case KERNEL_LAST_ISSUED:
        warp->doing = KERNEL_DRAINING;
        if (warp->time_ps > now_ps) {
            *uop = (Uop){.kind = UOP_UNTIL, .lanes = 1, .value = warp->time_ps};
            return TRUE;
        }
        warp->stage = KERNEL_DRAINS;
        uop->kind = UOP_CALL;
        uop->call = on_issued;
        uop->arg = warp->cta->launch;
        return TRUE;
    case KERNEL_DRAINS:
        warp->stage = KERNEL_LOADS;
        uop->kind = UOP_DRAIN;
        return TRUE;
    default:
        kernel_poll_clear(warp);
        if (warp->loads || warp->bulk) {
            uop->kind = UOP_PARK;
            return TRUE;
        }
        warp->stage = KERNEL_ENDED;
        return FALSE;
    }
}

static PtxRun run(KernelWarp *warp, SimTime now_ps, PtxAccess **access)
{
    KernelLaunch *launch = warp->cta->launch;
    SimTime from_ps = warp->time_ps = MAX(warp->time_ps, now_ps);
    kernel_account_until(warp, from_ps);
    launch->running = warp;
    PtxRun state = ptx_warp_run(warp->ptx, SLICE_INSTRUCTIONS, access);
    launch->running = NULL;
    warp->time_ps = kernel_busy_until(warp);
    kernel_account_run(warp, from_ps, kernel_cost_ps(launch, warp->ptx), kernel_code_ps(launch, warp->ptx));
    warp->changed |= warp->ptx->costs.sum[COST_EFFECTS] != 0;
    warp->ptx->costs = (PtxCosts){0};
    warp->ptx->shared_ways = warp->ptx->fetches = 0;
    warp->ptx->matrix_waits = warp->ptx->matrix_sync = FALSE;
    return state;
}

/* Before the access at hand, the warp's own time. */
static gboolean wait_own_time(const KernelWarp *warp, Uop *uop, SimTime now_ps)
{
    if (warp->time_ps <= now_ps)
        return FALSE;
    *uop = (Uop){.kind = UOP_UNTIL, .lanes = 1, .value = warp->time_ps};
    return TRUE;
}

/* The earlier one of two times, where 0 stands for none. */
static SimTime first_of(SimTime a, SimTime b) { return a && b ? MIN(a, b) : MAX(a, b); }

/* A warp that waits at a barrier has been counted, one after the other. */
static void count_arrival(KernelWarp *warp)
{
    KernelCta *cta = warp->cta;
    if (ptx_warp_waits(warp->ptx) == PATH_BARRIER)
        cta->barrier_free_ps = MAX(cta->barrier_free_ps, warp->time_ps) +
                               KERNEL_ARRIVAL_CLK * cta->launch->host.clock_ps;
}

/* TRUE: it rests, since it repeats itself. */
static gboolean rests(KernelWarp *warp, Uop *uop, gboolean sleeps)
{
    if (!kernel_still_takes(warp, sleeps))
        return FALSE;
    warp->doing = (guint8)kernel_account_wait(warp, FALSE);
    *uop = (Uop){.kind = UOP_PARK, .lanes = 1};
    return TRUE;
}

/* TRUE: a micro-operation goes first. */
static gboolean begin_access(KernelWarp *warp, PtxAccess *access, Uop *uop, SimTime now_ps)
{
    if (access->kind == PTX_ACCESS_FENCE)
        warp->fenced = TRUE;
    else
        warp->active_ps = warp->time_ps;
    if (kernel_poll_takes(warp, access) || kernel_l1_takes(warp, access))
        return FALSE;
    warp->doing = access->kind == PTX_ACCESS_FENCE ? KERNEL_WAITS_FENCE : KERNEL_WAITS_LSU;
    if (!kernel_issue_begin(warp, access)) {
        kernel_stop(warp->cta->launch);
        warp->access = NULL;
        warp->stage = KERNEL_LAST_ISSUED;
        return FALSE;
    }
    if (access->block) {
        warp->access = NULL;
        kernel_bulk_begin(warp, access);
        return FALSE;
    }
    warp->turns = kernel_load_waits(warp, access);
    return wait_own_time(warp, uop, now_ps);
}

/* TRUE: a turn of the LSU, or what is left of its own time before, goes first. */
static gboolean wait_turn(KernelWarp *warp, Uop *uop, SimTime now_ps)
{
    if (!warp->turns)
        return FALSE;
    warp->doing = KERNEL_WAITS_LSU;
    if (wait_own_time(warp, uop, now_ps))
        return TRUE;
    warp->turns = FALSE;
    warp->ptx->turned += !warp->access;
    *uop = (Uop){.kind = UOP_TURN, .lanes = 1};
    return TRUE;
}

gboolean kernel_next(Warp *model, Uop *uop)
{
    KernelWarp *warp = model->generator;
    SimTime now_ps = sim_now_ps(model->sm->gpu->sim);
    PtxAccess *access = NULL;
    if (warp->woken) { /* from a rest, perhaps in the middle of a turn */
        warp->woken = FALSE;
        if (wait_own_time(warp, uop, now_ps))
            return TRUE;
    }
    for (;;) {
        kernel_poll_due(warp, now_ps);
        kernel_l1_due(warp, now_ps);
        if (wait_turn(warp, uop, now_ps) || (warp->access && kernel_issue_next(warp, uop)))
            return TRUE;
        if (warp->stage != KERNEL_RUNS)
            return next_of_end(warp, uop, now_ps);
        if (warp->fenced && !warp->ptx->pending) { /* a turn, too */
            warp->fenced = FALSE;
            if (rests(warp, uop, FALSE))
                return TRUE;
        }
        switch (run(warp, now_ps, &access)) {
        case PTX_RUN_ACCESS:
            if (begin_access(warp, access, uop, now_ps))
                return TRUE;
            break;
        case PTX_RUN_TURN: warp->turns = TRUE; break;
        case PTX_RUN_SLICE:
            if (rests(warp, uop, FALSE) || wait_own_time(warp, uop, now_ps))
                return TRUE;
            break;
        case PTX_RUN_WAIT:
            count_arrival(warp);
            if (!warp->ptx->pending)
                warp->active_ps = warp->time_ps;
            warp->doing = (guint8)kernel_account_wait(warp, kernel_poll_waits(warp));
            *uop = (Uop){.kind = UOP_PARK, .lanes = 1, .value = first_of(kernel_poll_when(warp), kernel_l1_when(warp))};
            return TRUE;
        case PTX_RUN_SLEEP:
            if (rests(warp, uop, TRUE))
                return TRUE;
            warp->doing = (guint8)kernel_account_wait(warp, kernel_poll_waits(warp));
            *uop = (Uop){.kind = UOP_PARK, .lanes = 1, .value = MAX(warp->ptx->wake_ps, now_ps + 1)};
            uop->value = first_of(uop->value, first_of(kernel_poll_when(warp), kernel_l1_when(warp)));
            return TRUE;
        case PTX_RUN_FAULT:
            kernel_stop(warp->cta->launch);
            warp->stage = KERNEL_LAST_ISSUED;
            break;
        default: warp->stage = KERNEL_LAST_ISSUED; break;
        }
    }
}
