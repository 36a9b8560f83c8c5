/* Where a launch's time went: the time of each warp by what it did or waited for, the bytes by whose memory they are,
 * and when which SM had CTAs of the launch; and whether an access may touch its bytes at all.
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

/* ---- bytes: whether they may be touched, and how many there were */

/* PTX leaves a plain store to a multicast address undefined. Hardware writes it to every member, as multimem.st, and
 * NCCL hands out credits so (prims_simple.h, a connection's head in NVLS); so does this. Bulk stores and reductions are
 * those of multimem.cp then, too: kernels store and add tiles to multicast tensors so. Loads and atomics are
 * refused. */
static gboolean plain_store(const PtxAccess *access)
{
    return (access->kind == PTX_ACCESS_STORE && access->width >= 4) || access->kind == PTX_ACCESS_BULK_STORE ||
           access->kind == PTX_ACCESS_BULK_RED;
}

/* What the fabric's units can do: as multimem.red, they do not count. */
static gboolean counts(const PtxAccess *access) { return access->op == W_INC || access->op == W_DEC; }

const char *kernel_wrong_at(const KernelWarp *warp, const PtxAccess *access, guint64 va, guint32 bytes)
{
    const KernelLaunch *launch = warp->cta->launch;
    const VasMapping *mapping = vas_find(launch->vas, va);
    gboolean multicast = access->kind == PTX_ACCESS_MC_LOAD || access->kind == PTX_ACCESS_MC_STORE ||
                         access->kind == PTX_ACCESS_MC_RED || access->kind == PTX_ACCESS_BULK_MC_STORE ||
                         access->kind == PTX_ACCESS_BULK_MC_RED;
    gboolean reads = access->kind == PTX_ACCESS_LOAD || access->kind == PTX_ACCESS_MC_LOAD ||
                     access->kind == PTX_ACCESS_BULK_LOAD;
    VasAccess need = reads ? VAS_ACCESS_READ : VAS_ACCESS_READWRITE;
    if (!mapping || va + bytes > mapping->va + mapping->bytes)
        return fault_kind_text(FAULT_UNMAPPED);
    if ((mapping->access[launch->gpu->id] & need) != need)
        return fault_kind_text(FAULT_ACCESS);
    if (mapping->object && !multicast && !plain_store(access))
        return fault_kind_text(FAULT_PLAIN_ON_MULTICAST);
    if (mapping->object && counts(access))
        return "a reduction at a multicast address does not count: .inc and .dec are not simulated there";
    if (!mapping->object && multicast)
        return fault_kind_text(FAULT_MULTIMEM_ON_UNICAST);
    if (mapping->object && mapping->object->mcid == MC_MCID_NONE)
        return fault_kind_text(FAULT_TEAM_INCOMPLETE);
    return NULL;
}

gboolean kernel_fault_at(KernelWarp *warp, const PtxAccess *access, guint lane, guint64 va, const char *text)
{
    ptx_fault(warp->ptx, access->ins, lane, PTX_FAULT_ILLEGAL_ADDRESS, va, "%s", text);
    return FALSE;
}

void kernel_account_bytes(const KernelLaunch *launch, const VasMapping *mapping, guint64 bytes)
{
    KernelTarget target = mapping->object                           ? KERNEL_MULTICAST
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
