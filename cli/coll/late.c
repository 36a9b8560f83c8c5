/* See late.h. */
#include "cli/coll/late.h"

#include "model/fabric/fault.h"
#include "sim/engine/simtime.h"

typedef struct {
    char *name;
    SimTime from_ps;
    guint rows; /* that had ended before */
} LateFault;

struct CollLate {
    GArray *faults; /* LateFault, as in [fault] */
    guint rows;
    SimTime longest_ps;
};

static void late_clear(gpointer fault) { g_free(((LateFault *)fault)->name); }

CollLate *coll_late_new(void)
{
    CollLate *late = g_new0(CollLate, 1);
    late->faults = g_array_new(FALSE, TRUE, sizeof(LateFault));
    g_array_set_clear_func(late->faults, late_clear);
    return late;
}

void coll_late_free(CollLate *late)
{
    g_array_free(late->faults, TRUE);
    g_free(late);
}

void coll_late_add(CollLate *late, const Fabric *fabric)
{
    const SimTime end_ps = sim_now_ps(fabric->sim);
    g_autoptr(GArray) costs = fault_costs(fabric);
    late->rows++;
    late->longest_ps = MAX(late->longest_ps, end_ps);
    for (guint i = 0; i < costs->len; i++) {
        const FaultCost *cost = &g_array_index(costs, FaultCost, i);
        if (i == late->faults->len) {
            const LateFault one = {g_strdup(cost->name), cost->at_ps[0], 0};
            g_array_append_val(late->faults, one);
        }
        g_array_index(late->faults, LateFault, i).rows += fault_is_late(cost, end_ps);
    }
}

void coll_late_notes(const CollLate *late, Report *report)
{
    for (guint i = 0; i < late->faults->len; i++) {
        const LateFault *fault = &g_array_index(late->faults, LateFault, i);
        if (fault->rows == late->rows && fault->rows)
            fault_note_late(fault->name, fault->from_ps, late->longest_ps, report);
        else if (fault->rows)
            report_add_note(report, "%s comes at %.3f us, when %u of the %u rows have ended: it changes nothing there",
                            fault->name, (double)fault->from_ps / PS_PER_US, fault->rows, late->rows);
    }
}
