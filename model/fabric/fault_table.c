/* The timeline of faults: when each came and went, when the fabric manager reacted, and what it cost. */
#include "model/fabric/fault.h"

#include <math.h>

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

static void fault_add_row(const Fabric *fabric, FaultItem *item, SimTime now_ps, Table *table)
{
    g_autofree char *name = g_strdup_printf("%s %s", fault_key_name(item->key), item->name);
    guint64 lost = item->key == FAULT_GPU_SILENT ? fabric->gpu[item->part].dropped : 0, replays = 0;
    SimTime waited_ps = 0;
    for (guint k = 0; k < item->links->len; k++) {
        FaultLink cost = g_array_index(item->links, FaultLink, k);
        if (fault_item_is_on(item, now_ps))
            fault_link_cost(fabric, item, &cost, now_ps);
        lost += cost.lost;
        replays += cost.replays;
        waited_ps += cost.waited_ps;
    }
    table_text(table, name);
    table_fixed(table, fault_us(item->from_ps));
    table_fixed(table, fault_us(item->until_ps));
    table_fixed(table, fault_us(item->known_ps));
    table_fixed(table, fault_us(item->restored_ps));
    table_u64(table, lost);
    table_u64(table, replays);
    table_fixed(table, fault_us(waited_ps));
}

const char *fault_in_time(const Fabric *fabric)
{
    for (guint i = 0; i < fabric->plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(fabric->plan, i);
        if (item->from_ps != 0 || item->until_ps != SIMTIME_NEVER)
            return item->name;
    }
    return NULL;
}

void fault_add_table(const Fabric *fabric, Report *report)
{
    if (fabric->plan->items->len == 0)
        return;
    Table *table = report_add_table(report, "fault_timeline", "faults of the fabric", fault_columns, 0);
    for (guint i = 0; i < fabric->plan->items->len; i++)
        fault_add_row(fabric, fault_plan_item(fabric->plan, i), sim_now_ps(fabric->sim), table);
}
