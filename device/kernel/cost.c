/* From the costs of instructions to time.
 *
 * A warp's instructions take as long as they do alone (their latencies), and no less than the units that they need
 * have time for them: each unit of a quarter of an SM is a server that does what warps give it in the order in which
 * they come, a turn at a time. */
#include "device/kernel/internal.h"
#include "device/launch_time.h"

static SimTime clk_ps(const KernelLaunch *launch, guint64 hundredths)
{
    return hundredths * launch->host.clock_ps / COST_CLK;
}

/* Each way of a bank conflict after the first adds two cycles of latency, and one of the pipe.
 * Source: h100/memory.csv, ld.shared latency and throughput by ways. */
#define WAY_LATENCY (2u * COST_CLK)

SimTime kernel_code_ps(const KernelLaunch *launch, const PtxWarp *warp)
{
    return launch_time_code_ps(&launch->fabric->spec, warp->fetches);
}

SimTime kernel_cost_ps(const KernelLaunch *launch, const PtxWarp *warp)
{
    return clk_ps(launch, warp->costs.sum[COST_STALL] + (guint64)warp->shared_ways * WAY_LATENCY) +
           kernel_code_ps(launch, warp);
}

SimTime kernel_busy_until(KernelWarp *warp)
{
    const KernelLaunch *launch = warp->cta->launch;
    const PtxWarp *ptx = warp->ptx;
    Sm *sm = warp->warp->sm;
    SimTime end_ps = warp->time_ps + kernel_cost_ps(launch, ptx);
    for (guint unit = COST_SLOTS; unit <= COST_SHARED_PIPE; unit++) {
        guint64 work = ptx->costs.sum[unit];
        guint quarter = warp->ptx->index % SM_SCHEDULERS;
        if (unit == COST_SHARED_PIPE) { /* one of the SM */
            work += (guint64)ptx->shared_ways * COST_CLK;
            quarter = 0;
        }
        if (work == 0)
            continue;
        SimTime *free_ps = &sm->unit_free_ps[quarter][unit];
        *free_ps = MAX(*free_ps, warp->time_ps) + clk_ps(launch, work);
        if (unit == COST_MATRIX)
            warp->matrix_ps = *free_ps;
        if (unit != COST_MATRIX || ptx->matrix_sync)
            end_ps = MAX(end_ps, *free_ps);
    }
    if (ptx->matrix_waits) { /* for wgmma, which runs beside its warp until then */
        SimTime left_ps = clk_ps(launch, ptx->matrix_left);
        SimTime done_ps = warp->matrix_ps > left_ps ? warp->matrix_ps - left_ps : 0;
        end_ps = MAX(end_ps, done_ps + clk_ps(launch, ptx->wgmma.behind));
    }
    return end_ps;
}

/* A load passes two queues: that of instructions, as shared memory does, and behind it the stores that the SM has taken
 * and not sent yet. Both are the LSU's here: it has a turn, and then its own. Those that follow the first one at once
 * pass with it. Source: docs/measurements/lsu_queue.csv, l2 beside shared. */
gboolean kernel_load_waits(const KernelWarp *warp, const PtxAccess *access)
{
    return access->kind == PTX_ACCESS_LOAD && warp->loads == 0 && sm_lsu_is_busy(warp->warp->sm, warp->time_ps);
}

/* What an acquire adds to its load. While other lanes of the warp are elsewhere, as in a loop that some of them poll
 * in, each turn takes longer; where all lanes are there, flags that go to and fro show nothing of it. */
SimTime kernel_acquire_ps(const KernelWarp *warp, const PtxAccess *access)
{
    const SmSpec *spec = &warp->cta->launch->fabric->spec.sm;
    if (access->order != W_ACQUIRE || access->scope == W_CTA)
        return 0;
    return access->mask != warp->ptx->live ? spec->acquire_diverged_ps : spec->acquire_ps;
}
