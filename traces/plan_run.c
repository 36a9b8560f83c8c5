/* Runs execution plans as device programs. */
#include "traces/episode.h"
#include "traces/plan.h"

gboolean plan_start(Fabric *fabric, const Plan *plan, const guint16 *gpu, TransferDone done,
                    void *user, GError **error)
{
    (void)fabric, (void)gpu, (void)done, (void)user;
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: plans are not run yet", plan->name);
    return FALSE;
}
