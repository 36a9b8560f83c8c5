/* Where a launch's time went: the time of each warp by what it did or waited for, the bytes by whose memory they are,
 * and when which SM had CTAs of the launch.
 *
 * A warp's time is kept up to `counted_ps`; what comes behind that belongs to `doing`, until the warp says otherwise.
 * So nothing is counted twice, and the parts of a warp's time add up to how long it lived. */
#include "device/kernel/internal.h"

void kernel_account_until(KernelWarp *warp, SimTime now_ps)
{
    if (now_ps <= warp->counted_ps)
        return;
    warp->cta->launch->stats.wait_ps[warp->doing] += now_ps - warp->counted_ps;
    warp->counted_ps = now_ps;
}

void kernel_account_run(KernelWarp *warp, SimTime from_ps, SimTime alone_ps, SimTime code_ps)
{
    guint64 *wait_ps = warp->cta->launch->stats.wait_ps;
    wait_ps[KERNEL_ISSUES] += alone_ps - code_ps;
    wait_ps[KERNEL_WAITS_CODE] += code_ps;
    wait_ps[KERNEL_WAITS_PIPE] += warp->time_ps - from_ps - alone_ps;
    warp->counted_ps = MAX(warp->counted_ps, warp->time_ps);
}

KernelWait kernel_account_wait(const KernelWarp *warp, gboolean polls)
{
    switch (ptx_warp_waits(warp->ptx)) {
    case PATH_BARRIER:
    case PATH_CLUSTER:
    case PATH_MBARRIER:
    case PATH_GATHER:
    case PATH_GRID: return KERNEL_WAITS_BARRIER;
    case PATH_SLEEP: return KERNEL_SLEEPS;
    default: return polls ? KERNEL_WAITS_POLL : KERNEL_WAITS_MEMORY;
    }
}

/* ---- bytes */

void kernel_account_bytes(const KernelLaunch *launch, const VasMapping *mapping, guint64 bytes)
{
    KernelTarget target = mapping->object                          ? KERNEL_MULTICAST
                          : mapping->region->gpu == launch->gpu->id ? KERNEL_OWN
                          : mapping->region->gpu == MEMORY_HOST     ? KERNEL_HOST
                                                                    : KERNEL_PEER;
    ((KernelLaunch *)launch)->stats.bytes[target] += bytes;
}

void kernel_account_multicast(KernelLaunch *launch, PtxAccessKind kind)
{
    launch->stats.mc_loads += kind == PTX_ACCESS_MC_LOAD;
    launch->stats.mc_stores += kind == PTX_ACCESS_MC_STORE || kind == PTX_ACCESS_BULK_MC_STORE;
    launch->stats.mc_reds += kind == PTX_ACCESS_MC_RED || kind == PTX_ACCESS_BULK_MC_RED;
}

/* ---- the whole */

KernelStats kernel_stats(const KernelLaunch *launch)
{
    SimTime now_ps = sim_now_ps(launch->fabric->sim);
    KernelStats stats = launch->stats;
    const PtxFunction *called = launch->grid->called;
    stats.called = called ? g_intern_string(called->symbol->name) : NULL;
    stats.instructions = launch->grid->instructions;
    stats.divergences = launch->grid->divergences;
    stats.joins_given_up = launch->grid->joins_given_up;
    for (const KernelCluster *cluster = launch->live; cluster; cluster = cluster->next)
        for (guint32 c = 0; cluster->placed && c < cluster->size; c++)
            for (guint32 w = 0; w < launch->grid->n_warps; w++) {
                const KernelWarp *warp = &cluster->cta[c].warp[w];
                if (warp->stage != KERNEL_ENDED && now_ps > warp->counted_ps)
                    stats.wait_ps[warp->doing] += now_ps - warp->counted_ps;
            }
    for (guint64 sm = 0; sm < launch->fabric->spec.sm.count; sm++)
        if (launch->sm[sm].resident && now_ps > launch->sm[sm].since_ps)
            stats.sm_ps += now_ps - launch->sm[sm].since_ps;
    return stats;
}

/* ---- SMs */

void kernel_account_placed(KernelLaunch *launch, guint32 sm, SimTime now_ps)
{
    KernelSm *of = &launch->sm[sm];
    if (of->resident++ == 0) {
        of->since_ps = now_ps;
        of->ctas = 0;
    }
    of->ctas++;
}

void kernel_account_left(KernelLaunch *launch, guint32 sm, SimTime now_ps)
{
    KernelSm *of = &launch->sm[sm];
    if (--of->resident > 0)
        return;
    launch->stats.sm_ps += now_ps - MIN(of->since_ps, now_ps);
    if (launch->spec.keep_spans) {
        KernelSpan span = {sm, of->ctas, of->since_ps, now_ps};
        g_array_append_val(launch->spans, span);
    }
}
