/* Whether the fastest algorithm without multicast is worth a search behind the rows. See compare.h. */
#include "cli/coll/compare.h"

#include "coll/coll.h"

static gboolean is_long(const CollPlan *plan, const Options *options, guint32 gpus, guint64 bytes)
{
    CollSpec spec = coll_plan_spec(plan, options, 0, bytes, COLL_UNICAST); /* only one type is compared */
    guint64 took = 0;
    if (coll_fidelity(gpus, &spec) != COLL_PACKET || spec.op != COLL_ALL_REDUCE)
        return FALSE;
    for (guint a = 0; a < plan->algos; a++) {
        const CollSpec row = coll_plan_spec(plan, options, 0, bytes, plan->algo[a]);
        took += coll_link_crossings(gpus, &row);
    }
    spec.algo = COLL_ONESHOT;
    return coll_link_crossings(gpus, &spec) > MAX(COMPARE_CROSSINGS, COMPARE_ROWS * took);
}

gboolean coll_compare_is_left_out(const CollPlan *plan, const Options *options, guint32 gpus, guint64 bytes, Live *live,
                                  Report *report)
{
    if (!is_long(plan, options, gpus, bytes))
        return FALSE;
    live_lock(live);
    report_add_note(report,
                    "not compared with the fastest without multicast: to find that for %u GPUs would take much longer "
                    "than the rows (-a unicast finds it)",
                    gpus);
    live_unlock(live, 0);
    return TRUE;
}
