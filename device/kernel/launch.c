/* Launches: from a grid to clusters on SMs, and to the kernel's end. */
#include "device/kernel/internal.h"
#include "device/launch_time.h"

#include <string.h>

const PtxFault *kernel_fault(const KernelLaunch *launch) { return &launch->grid->fault; }
guint16 kernel_gpu(const KernelLaunch *launch) { return launch->gpu->id; }
const char *kernel_name(const KernelLaunch *launch) { return launch->name; }
SimTime kernel_start_ps(const KernelLaunch *launch) { return launch->start_ps; }
SimTime kernel_end_ps(const KernelLaunch *launch) { return launch->end_ps; }
const GArray *kernel_spans(const KernelLaunch *launch) { return launch->spans; }

FaultKind kernel_fault_kind(const PtxFault *fault)
{
    switch (fault->kind) {
    case PTX_FAULT_NONE: return FAULT_NONE;
    case PTX_FAULT_TRAP: return FAULT_TRAP;
    case PTX_FAULT_ASSERT: return FAULT_ASSERT;
    case PTX_FAULT_ILLEGAL_ADDRESS: return FAULT_UNMAPPED;
    case PTX_FAULT_MISALIGNED: return FAULT_MISALIGNED;
    case PTX_FAULT_ILLEGAL_INSTRUCTION: return FAULT_INSTRUCTION;
    case PTX_FAULT_HUNG: return FAULT_HUNG;
    default: return FAULT_CODE;
    }
}

/* ---- a cluster's life */

static void place_next(KernelLaunch *launch);

static void finish(KernelLaunch *launch)
{
    Sim *sim = launch->fabric->sim;
    launch->drained_ps = sim_now_ps(sim);
    kernel_performed(launch);
    sim_at(sim, &launch->end, launch_time_end_ps(&launch->fabric->spec, launch->issued_ps, launch->drained_ps),
           EVENT_PRIORITY_DEVICE);
}

static void cluster_free(KernelCluster *cluster)
{
    KernelLaunch *launch = cluster->launch;
    for (guint32 c = 0; c < cluster->size; c++) {
        KernelCta *cta = &cluster->cta[c];
        for (guint32 w = 0; w < launch->grid->n_warps; w++)
            kernel_warp_clear(&cta->warp[w]);
        kernel_bulk_clear(cta);
        g_free(cta->warp);
    }
    ptx_cluster_free(cluster->ptx);
    if (cluster->next)
        cluster->next->prev = cluster->prev;
    if (cluster->prev)
        cluster->prev->next = cluster->next;
    else
        launch->live = cluster->next;
    g_free(cluster->cta);
    g_free(cluster);
}

/* All warps of a CTA have ended. Its SM is given back at once; its shared memory lives as long as its cluster. */
static void cta_on_end(Event *event, SimTime now_ps)
{
    KernelCta *cta = EVENT_OWNER(event, KernelCta, end);
    KernelCluster *cluster = cta->cluster;
    KernelLaunch *launch = cta->launch;
    if (kernel_bulk_drains(cta))
        return;
    Cta *placed = cta->cta;
    launch->stats.ctas++;
    kernel_triggered(cta, now_ps);
    kernel_account_left(launch, placed->sm->id, now_ps);
    if (++cluster->ended == cluster->size) {
        launch->done++;
        cluster_free(cluster);
    }
    cta_free(placed);
    place_next(launch);
}

static void cluster_start(KernelCluster *cluster, SimTime now_ps)
{
    KernelLaunch *launch = cluster->launch;
    const SimTime apart_ps = launch_time_cta_ps(&launch->fabric->spec, launch->grid->n_warps);
    SimTime *next_ps = &launch->gpu->cta_next_ps;
    for (guint32 c = 0; c < cluster->size; c++) {
        KernelCta *cta = &cluster->cta[c];
        SimTime start_ps = MAX(now_ps, *next_ps);
        kernel_account_placed(launch, cta->cta->sm->id, start_ps);
        *next_ps = start_ps + apart_ps;
        for (guint32 w = 0; w < launch->grid->n_warps; w++)
            kernel_warp_start(&cta->warp[w], cta, w, start_ps);
    }
}

static void cta_on_placed(Cta *placed, SimTime now_ps)
{
    KernelCta *cta = placed->user;
    KernelCluster *cluster = cta->cluster;
    KernelLaunch *launch = cta->launch;
    cluster->placed = TRUE;
    launch->waiting = FALSE;
    cluster_start(cluster, now_ps);
    place_next(launch);
}

static void cluster_index(const KernelLaunch *launch, guint64 number, guint32 index[3])
{
    const PtxGrid *grid = launch->grid;
    for (guint i = 0; i < 3; i++) {
        guint32 of = grid->dim[i] / grid->cluster[i];
        index[i] = (guint32)(number % of) * grid->cluster[i];
        number /= of;
    }
}

static void make_cluster(KernelLaunch *launch)
{
    PtxGrid *grid = launch->grid;
    KernelCluster *cluster = g_new0(KernelCluster, 1);
    guint32 index[3];
    cluster_index(launch, launch->next++, index);
    cluster->launch = launch;
    cluster->ptx = ptx_cluster_new(grid, index);
    cluster->size = cluster->ptx->size;
    cluster->cta = g_new0(KernelCta, cluster->size);
    cluster->next = launch->live;
    if (launch->live)
        launch->live->prev = cluster;
    launch->live = cluster;
    launch->waiting = TRUE;
    for (guint32 c = 0; c < cluster->size; c++) {
        KernelCta *cta = &cluster->cta[c];
        guint64 number = launch->next - 1;
        cta->launch = launch;
        cta->cluster = cluster;
        cta->ptx = cluster->ptx->cta[c];
        cta->ptx->user = cta;
        cta->warp = g_new0(KernelWarp, grid->n_warps);
        cta->running = grid->n_warps;
        event_init(&cta->end, cta_on_end);
        guint32 number_of_cta = (guint32)(number * cluster->size + c);
        cta->cta = cta_new(launch->gpu, launch->vas, number_of_cta, grid->threads, launch->name);
        cta->cta->user = cta;
        cta->cta->cause = launch->user;
        cta->cta->shared_bytes = sm_shared_of_cta(&launch->fabric->spec.sm,
                                                  grid->static_shared + grid->dynamic_shared + grid->functions_shared);
        cta->cta->registers = launch->registers;
    }
    for (guint32 c = 1; c < cluster->size; c++)
        cluster->cta[c - 1].cta->group = cluster->cta[c].cta;
    cta_place(cluster->cta[0].cta, cta_on_placed);
}

/* Makes clusters as long as SMs take them at once; the first that has to wait is the last for now. */
static void place_next(KernelLaunch *launch)
{
    if (launch->placing)
        return;
    launch->placing = TRUE;
    while (!launch->waiting && launch->next < launch->clusters && launch->grid->fault.kind == PTX_FAULT_NONE)
        make_cluster(launch);
    launch->placing = FALSE;
    gboolean all = launch->next == launch->clusters || launch->grid->fault.kind != PTX_FAULT_NONE;
    if (all && launch->done == launch->next && !launch->told) {
        launch->told = TRUE;
        finish(launch);
    }
}

/* ---- faults */

void kernel_abort(KernelLaunch *launch, PtxFaultKind kind, const char *text)
{
    PtxFault *fault = &launch->grid->fault;
    if (fault->kind != PTX_FAULT_NONE)
        return;
    fault->kind = kind;
    fault->text = g_strdup(text);
    fault->function = launch->grid->entry;
    guint64 waiting = 0;
    const KernelWarp *warp = kernel_first_warp(launch, &waiting);
    if (warp) {
        fault->line = ptx_warp_line(warp->ptx);
        fault->warp = warp->ptx->index;
        memcpy(fault->cta, warp->cta->ptx->index, sizeof fault->cta);
    }
    kernel_stop(launch);
}

/* ---- launches */

static void on_start(Event *event, SimTime now_ps)
{
    KernelLaunch *launch = EVENT_OWNER(event, KernelLaunch, start);
    launch->start_ps = launch->issued_ps = now_ps;
    place_next(launch);
}

static void list_remove(KernelLaunch *launch)
{
    KernelLaunch **at = (KernelLaunch **)&launch->gpu->kernels;
    while (*at != launch)
        at = &(*at)->next_launch;
    *at = launch->next_launch;
}

static void list_add(KernelLaunch *launch)
{
    Gpu *gpu = launch->gpu;
    KernelLaunch **at = (KernelLaunch **)&gpu->kernels;
    while (*at)
        at = &(*at)->next_launch;
    *at = launch;
    if (!gpu->kernels_listed)
        sim_add_waiter(launch->fabric->sim, kernel_waiter_text, gpu);
    gpu->kernels_listed = TRUE;
}

static void on_end(Event *event, SimTime now_ps)
{
    KernelLaunch *launch = EVENT_OWNER(event, KernelLaunch, end);
    list_remove(launch);
    launch->end_ps = now_ps;
    if (launch->on_done)
        launch->on_done(launch, launch->user);
    kernel_dependents_end(launch);
    kernel_l1_free(launch);
    g_free(launch->sm);
    g_array_unref(launch->spans);
    ptx_grid_free(launch->grid);
    g_free(launch);
}

KernelLaunch *kernel_launch(Fabric *fabric, guint16 gpu, Vas *vas, const KernelSpec *spec, guint64 delay_ps,
                            KernelDone done, void *user, GError **error)
{
    KernelLaunch *launch = g_new0(KernelLaunch, 1);
    launch->fabric = fabric;
    launch->gpu = &fabric->gpu[gpu];
    launch->vas = vas;
    launch->spec = *spec;
    launch->name = g_intern_string(spec->entry->symbol->name); /* reports keep it */
    launch->host = kernel_host;
    launch->host.keeps_time = TRUE;
    launch->host.clock_ps = fabric->spec.sm.clock_ps;
    launch->on_done = done;
    launch->user = user;
    fabric->atomic = &kernel_atomic;
    if (!kernel_fit(launch, error)) {
        ptx_grid_free(launch->grid);
        g_free(launch);
        return NULL;
    }
    launch->traces = spec->trace && kernel_trace_wants(spec->trace, launch->name);
    launch->spec.param = NULL; /* the grid has a copy */
    launch->sm = g_new0(KernelSm, fabric->spec.sm.count);
    launch->spans = g_array_new(FALSE, FALSE, sizeof(KernelSpan));
    launch->l1 = g_new0(KernelL1 *, fabric->spec.sm.count);
    kernel_dependents_init(launch);
    event_init(&launch->start, on_start);
    event_init(&launch->end, on_end);
    list_add(launch);
    sim_after(fabric->sim, &launch->start, delay_ps, EVENT_PRIORITY_DEVICE);
    return launch;
}
