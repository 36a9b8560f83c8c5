/* Faults that come while the fabric runs, by `fanout fabric degrade`: see fault_add(). */
#include "model/fabric/fault.h"

#include "model/fabric/fabric.h"
#include "model/fabric/fault_plan.h"

#define FAULT_ITEMS_MAX 10000 /* so many may come while it runs */

static gboolean fault_can_come(const Fabric *fabric, const FaultItem *item, GError **error)
{
    const gboolean loses = item->key == FAULT_GPU_SILENT || item->known_ps != SIMTIME_NEVER;
    if (loses && !fabric->spec.fault.live) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[fault] %s: packets are lost by it, for which the machine must be prepared from its start: run "
                    "the program with --set fault.live=true",
                    fault_key_name(item->key));
        return FALSE;
    }
    if (!fault_check_timeouts(fabric, error))
        return FALSE;
    for (SimTime at_ps = item->from_ps; loses && at_ps != SIMTIME_NEVER; at_ps = fault_next_ps(fabric, at_ps, TRUE))
        if (!fault_check_paths(fabric, at_ps, error))
            return FALSE;
    return TRUE;
}

/* There is one event to each clock and time. */
static gboolean fault_is_scheduled(const FaultPlan *plan, SimTime at_ps)
{
    for (guint i = 0; i + 1 < plan->items->len; i++) {
        SimTime times[4];
        fault_item_times(fault_plan_item(plan, i), times);
        for (guint k = 0; k < 4; k++)
            if (times[k] == at_ps)
                return TRUE;
    }
    return FALSE;
}

gboolean fault_add(Fabric *fabric, const char *key, const char *part, SimTime lasts_ps, GError **error)
{
    FaultPlan *plan = fabric->plan;
    SimTime times[4], from_ps = sim_now_ps(fabric->sim) + 1;
    if (fabric->parallel) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "a fabric that several cores simulate takes no faults at run time; run it without --cores");
        return FALSE;
    }
    if (plan->items->len >= FAULT_ITEMS_MAX) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "there are %u faults already, which is the most",
                    FAULT_ITEMS_MAX);
        return FALSE;
    }
    while (fault_is_scheduled(plan, from_ps) ||
           (plan->items->len > 0 && fault_plan_item(plan, plan->items->len - 1)->from_ps == from_ps))
        from_ps++; /* after what came at this instant */
    FaultItem *item = fault_plan_add(fabric, key, part, from_ps, lasts_ps, error);
    if (!item)
        return FALSE;
    if (!fault_can_come(fabric, item, error)) {
        g_ptr_array_remove_index(plan->items, plan->items->len - 1);
        return FALSE;
    }
    if (item->key == FAULT_MEMBER_LEAVES && !fabric->left)
        fabric->left = g_new0(guint8, fabric->spec.system.gpus);
    if (item->key == FAULT_GPU_SLOW)
        fault_gpu_prepare(fabric, item);
    fault_item_times(item, times);
    for (guint k = 0; k < 4; k++) {
        gboolean twice = times[k] == SIMTIME_NEVER || fault_is_scheduled(plan, times[k]);
        for (guint j = 0; j < k; j++)
            twice |= times[j] == times[k];
        if (!twice)
            fault_schedule(fabric, fabric->sim, times[k]);
    }
    return TRUE;
}
