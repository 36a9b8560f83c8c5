/* What the executor asks of the simulation: time, bytes that take none, and the system's services. */
#include <stdio.h>
#include <string.h>

#include "device/kernel/internal.h"

static guint64 host_now(void *user)
{
    KernelLaunch *launch = user;
    SimTime now_ps = sim_now_ps(launch->fabric->sim);
    if (launch->running)
        now_ps = MAX(now_ps, launch->running->time_ps) + kernel_cost_ps(launch, launch->running->ptx);
    return now_ps;
}

static void host_wake(void *user, PtxWarp *ptx, PtxWakeKind kind)
{
    const KernelLaunch *launch = user;
    KernelWarp *warp = ptx->user;
    if (!warp) /* it has not begun */
        return;
    SimTime now_ps = sim_now_ps(launch->fabric->sim), clock_ps = launch->host.clock_ps;
    if (launch->running)
        now_ps = MAX(now_ps, launch->running->time_ps);
    if (kind == PTX_WAKE_CHANGED) {
        if (kernel_poll_waits(warp))
            kernel_poll_changed(warp, now_ps);
        else
            kernel_still_woken(warp, now_ps);
        return;
    }
    ptx_warp_still(ptx, FALSE);
    if (kind == PTX_WAKE_BARRIER)
        now_ps = MAX(now_ps, warp->cta->barrier_free_ps) + (KERNEL_ARRIVAL_CLK + KERNEL_BARRIER_CLK) * clock_ps;
    else
        now_ps += (kind == PTX_WAKE_CLUSTER ? KERNEL_CLUSTER_CLK : KERNEL_MBARRIER_CLK) * clock_ps;
    warp->time_ps = MAX(warp->time_ps, now_ps);
    warp_unpark(warp->warp);
}

static gboolean host_read(void *user, guint64 va, void *bytes, gsize n)
{
    KernelLaunch *launch = user;
    const VasMapping *mapping = vas_find(launch->vas, va);
    if (!mapping || !mapping->region || !mapping->region->host || va + n > mapping->va + mapping->bytes)
        return FALSE;
    memcpy(bytes, memory_bytes(mapping->region, mapping->offset + (va - mapping->va)), n);
    return TRUE;
}

static void host_print(void *user, PtxCta *cta, const char *text)
{
    const KernelLaunch *launch = user;
    (void)cta;
    if (launch->spec.print)
        launch->spec.print(launch->spec.print_user, text);
    else
        fputs(text, stdout);
}

static guint64 host_allocate(void *user, guint64 bytes) { return kernel_heap_allocate(user, bytes); }
static void host_release(void *user, guint64 va) { kernel_heap_release(user, va); }

static gboolean host_lsu_is_busy(void *user, PtxWarp *ptx)
{
    const KernelWarp *warp = ptx->user;
    return sm_lsu_is_busy(warp->warp->sm, host_now(user));
}

/* What an SM has of a function's instructions. */
static guint64 *host_fetched(void *user, PtxWarp *ptx, const PtxCode *code)
{
    const KernelWarp *warp = ptx->user;
    return kernel_code_lines(user, warp->warp->sm->id, code);
}

static guint32 host_sm(void *user, PtxCta *cta, guint32 *count)
{
    const KernelLaunch *launch = user;
    const KernelCta *of = cta->user;
    *count = (guint32)launch->fabric->spec.sm.count;
    return of->cta->sm->id;
}

static void host_trace(void *user, PtxWarp *warp, guint64 time_ps, const char *text)
{
    const KernelLaunch *launch = user;
    g_autofree char *line = g_strdup_printf("%9" G_GUINT64_FORMAT ".%03" G_GUINT64_FORMAT " ns  %s",
                                            time_ps / PS_PER_NS, time_ps % PS_PER_NS, text);
    (void)warp;
    launch->spec.tell(launch->spec.tell_user, line);
}

const PtxHost kernel_host = {.now_ps = host_now,
                             .wake = host_wake,
                             .read = host_read,
                             .print = host_print,
                             .sm = host_sm,
                             .lsu_is_busy = host_lsu_is_busy,
                             .fetched = host_fetched,
                             .allocate = host_allocate,
                             .release = host_release,
                             .trace = host_trace,
                             .fabric = kernel_fabric,
                             .launch_dependents = kernel_launch_dependents,
                             .grid_dependency = kernel_grid_dependency};

/* ---- who waits */

/* The first warp of a launch that has not ended, and how many have not. */
const KernelWarp *kernel_first_warp(const KernelLaunch *launch, guint64 *waiting)
{
    const KernelWarp *first = NULL;
    for (const KernelCluster *cluster = launch->live; cluster; cluster = cluster->next)
        for (guint32 c = 0; c < cluster->size; c++)
            for (guint32 w = launch->grid->n_warps; w-- > 0;) {
                const KernelWarp *warp = &cluster->cta[c].warp[w];
                if (!warp->warp || warp->stage != KERNEL_RUNS)
                    continue;
                ++*waiting;
                if (!first || warp->cta->cta->index <= first->cta->cta->index)
                    first = warp;
            }
    return first;
}

char *kernel_waiter_text(void *unit)
{
    const Gpu *gpu = unit;
    const KernelLaunch *launch = gpu->kernels;
    guint64 waiting = 0, va;
    if (!launch)
        return NULL;
    const KernelWarp *warp = kernel_first_warp(launch, &waiting);
    if (!warp)
        return g_strdup_printf("kernel %s on %s waits for a place on an SM", launch->name, gpu->path);
    const PtxCta *cta = warp->cta->ptx;
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "kernel %s on %s: CTA (%u,%u,%u) warp %u ", launch->name, gpu->path, cta->index[0],
                           cta->index[1], cta->index[2], warp->ptx->index);
    if (kernel_poll_watches(warp, &va))
        g_string_append_printf(text, "polls 0x%" G_GINT64_MODIFIER "x", va);
    else if (warp->ptx->still)
        g_string_append_printf(text, "polls 0x%" G_GINT64_MODIFIER "x of shared memory", warp->ptx->looked_at);
    else
        g_string_append(text, ptx_warp_state(warp->ptx));
    g_string_append_printf(text, ", %s line %u", launch->grid->entry->unit->file, ptx_warp_line(warp->ptx));
    if (waiting > 1)
        g_string_append_printf(text, "; so do %" G_GUINT64_FORMAT " more warps", waiting - 1);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* ---- atomics in an L2 */

static guint32 atomic_bytes(guint8 type) { return ptx_types[type].memory; }

static void atomic_apply(guint8 type, guint8 op, guint8 *memory, const guint8 *operand, const guint8 *compare)
{
    ptx_atomic_apply((PtxType)type, (PtxWord)op, ptx_types[type].memory, memory, operand, compare, NULL, TRUE);
}

static gboolean atomic_sums_floats(guint8 type, guint8 op) { return op == W_ADD && ptx_types[type].kind == TYPE_FLOAT; }

const TxnAtomic kernel_atomic = {.bytes = atomic_bytes, .sums_floats = atomic_sums_floats, .apply = atomic_apply};
