/* Faults of whole GPUs as they act: silent ones, those whose memory has left its teams, and slow ones.
 *
 * A slow GPU has specs of its own, whose times are longer. Its L2's latency is a part of the flight of answers, which
 * costs no event: so it is the flight that gets longer there, and links keep their order when it gets shorter again. */
#include "model/fabric/fault_plan.h"

#include <string.h>

#include "model/fabric/fabric.h"
#include "model/link/down.h"

void fault_gpu_prepare(const Fabric *fabric, FaultItem *item)
{
    SmSpec *sm = item->slow_sm = g_new(SmSpec, 1);
    GpuSpec *gpu = item->slow_gpu = g_new(GpuSpec, 1);
    *sm = fabric->spec.sm;
    *gpu = fabric->spec.gpu;
    guint64 *const times[] = {&sm->clock_ps,       &sm->load_ps,        &sm->store_ps,        &sm->local_store_ps,
                              &sm->merge_ps,       &sm->conflict_ps,    &sm->warp_issue_ps,   &sm->fence_ps,
                              &sm->fence_issue_ps, &sm->poll_ps,        &sm->acquire_ps,      &sm->acquire_diverged_ps,
                              &sm->barrier_ps,     &sm->fence_gpu_ps,   &sm->cta_ps,          &sm->cta_warp_ps,
                              &sm->code_ps,        &gpu->l2_ps,         &gpu->dram_ps,        &gpu->atomic_ps,
                              &gpu->local_ps,      &gpu->local_dram_ps, &gpu->local_atomic_ps};
    for (gsize i = 0; i < G_N_ELEMENTS(times); i++)
        *times[i] = *times[i] * 100 / item->amount;
}

/* The slowest of what faults say of it counts. */
static void fault_set_clocks(Fabric *fabric, guint32 g, SimTime now_ps)
{
    const FabricSpec *spec = &fabric->spec;
    const FaultItem *slowest = NULL;
    Gpu *gpu = &fabric->gpu[g];
    for (guint i = 0; i < fabric->plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(fabric->plan, i);
        if (item->key == FAULT_GPU_SLOW && item->part == g && fault_item_is_on(item, now_ps) &&
            (!slowest || item->amount < slowest->amount))
            slowest = item;
    }
    if (slowest)
        gpu_set_clocks(gpu, slowest->slow_sm, slowest->slow_gpu, slowest->amount);
    else
        gpu_set_clocks(gpu, &spec->sm, &spec->gpu, 100);
    for (guint32 l = 0; l < gpu->links; l++)
        link_set_answer_delay(&gpu->up[l], fabric_answer_delay_ps(spec, gpu->spec));
}

void fault_set_gpus(Fabric *fabric, SimTime now_ps)
{
    const FaultPlan *plan = fabric->plan;
    const guint64 gpus = fabric->spec.system.gpus;
    for (guint32 i = 0; i < gpus * fabric->links; i++) /* what came before is served as it was before */
        link_advance_before(&fabric->gpu[i / fabric->links].up[i % fabric->links]);
    if (fabric->silent)
        memset(fabric->silent, 0, gpus);
    if (fabric->left)
        memset(fabric->left, 0, gpus);
    for (guint i = 0; i < plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(plan, i);
        const gboolean on = fault_item_is_on(item, now_ps);
        if (item->key == FAULT_GPU_SILENT)
            fabric->silent[item->part] |= on;
        else if (item->key == FAULT_MEMBER_LEAVES)
            fabric->left[item->part] |= on;
        else if (item->key == FAULT_GPU_SLOW)
            fault_set_clocks(fabric, item->part, now_ps);
    }
}
