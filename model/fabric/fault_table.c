/* The timeline of faults: when each came and went, when the fabric manager reacted, and what it cost. */
#include "model/fabric/fault.h"

#include <math.h>
#include <string.h>

#include "model/fabric/fabric.h"
#include "model/fabric/fault_plan.h"
#include "sim/engine/simtime.h"

static const Column fault_columns[] = {
    COLUMN_TEXT(fault, "fault", "as [fault] has it"),
    COLUMN_FIXED(from_us, "from", "us", 3, "when it came; 0: from the start"),
    COLUMN_FIXED(until_us, "until", "us", 3, "when it went"),
    COLUMN_FIXED(manager_us, "manager", "us", 3, "when the fabric manager routed around it"),
    COLUMN_FIXED(restored_us, "restored", "us", 3, "when it routed back"),
    COLUMN_U64(lost, "lost", "packets", "that were lost by it"),
    COLUMN_U64(replays, "replays", "packets", "that it made a link send again"),
    COLUMN_FIXED(waited_us, "waited", "us", 3,
                 "over both directions: packets waited for the link, or were longer on it than at its full rate"),
    COLUMN_END,
};

/* NaN, which is null: it never comes. */
static double fault_us(SimTime at_ps) { return at_ps == SIMTIME_NEVER ? NAN : (double)at_ps / PS_PER_US; }

static void fault_cost_clear(gpointer cost) { g_free(((FaultCost *)cost)->name); }

static FaultCost fault_cost_of(const Fabric *fabric, const FaultItem *item, SimTime now_ps)
{
    FaultCost all = {.name = g_strdup_printf("%s %s", fault_key_name(item->key), item->name)};
    memcpy(all.at_ps, item->told_ps, sizeof all.at_ps);
    if (item->key == FAULT_GPU_SILENT)
        all.lost = fabric->gpu[item->part].dropped;
    for (guint k = 0; k < item->links->len; k++) {
        FaultLink cost = g_array_index(item->links, FaultLink, k);
        if (fault_item_is_on(item, now_ps))
            fault_link_cost(fabric, item, &cost, now_ps);
        all.lost += cost.lost;
        all.replays += cost.replays;
        all.waited_ps += cost.waited_ps;
    }
    return all;
}

static GArray *fault_costs_new(void)
{
    GArray *costs = g_array_new(FALSE, FALSE, sizeof(FaultCost));
    g_array_set_clear_func(costs, fault_cost_clear);
    return costs;
}

GArray *fault_costs(const Fabric *fabric)
{
    GArray *costs = fault_costs_new();
    for (guint i = 0; i < fabric->plan->items->len; i++) {
        FaultCost cost = fault_cost_of(fabric, fault_plan_item(fabric->plan, i), sim_now_ps(fabric->sim));
        g_array_append_val(costs, cost);
    }
    return costs;
}

void fault_costs_add(GArray **to, const GArray *from)
{
    const gboolean is_first = !*to;
    if (is_first)
        *to = fault_costs_new();
    for (guint i = 0; i < from->len; i++) {
        const FaultCost *cost = &g_array_index(from, FaultCost, i);
        if (is_first) {
            FaultCost copy = *cost;
            copy.name = g_strdup(cost->name);
            g_array_append_val(*to, copy);
            continue;
        }
        FaultCost *sum = &g_array_index(*to, FaultCost, i);
        sum->lost += cost->lost;
        sum->replays += cost->replays;
        sum->waited_ps += cost->waited_ps;
    }
}

void fault_costs_report(const GArray *costs, Report *report)
{
    if (costs->len == 0)
        return;
    Table *table = report_add_table(report, "fault_timeline", "faults of the fabric", fault_columns, 0);
    for (guint i = 0; i < costs->len; i++) {
        const FaultCost *cost = &g_array_index(costs, FaultCost, i);
        table_text(table, cost->name);
        for (guint t = 0; t < 4; t++)
            table_fixed(table, fault_us(cost->at_ps[t]));
        table_u64(table, cost->lost);
        table_u64(table, cost->replays);
        table_fixed(table, fault_us(cost->waited_ps));
    }
}

void fault_add_table(const Fabric *fabric, Report *report)
{
    g_autoptr(GArray) costs = fault_costs(fabric);
    fault_costs_report(costs, report);
}

/* At the very end is late, too: what happens there, no packet meets. */
gboolean fault_is_late(const FaultCost *cost, SimTime end_ps)
{
    return cost->at_ps[0] != SIMTIME_NEVER && cost->at_ps[0] > 0 && cost->at_ps[0] >= end_ps;
}

void fault_note_late(const char *name, SimTime from_ps, SimTime end_ps, Report *report)
{
    report_add_note(report, "%s comes at %.3f us, when all is over (%.3f us): it changes nothing here", name,
                    (double)from_ps / PS_PER_US, (double)end_ps / PS_PER_US);
}

void fault_costs_note_late(const GArray *costs, SimTime end_ps, Report *report)
{
    for (guint i = 0; i < costs->len; i++) {
        const FaultCost *cost = &g_array_index(costs, FaultCost, i);
        if (fault_is_late(cost, end_ps))
            fault_note_late(cost->name, cost->at_ps[0], end_ps, report);
    }
}
