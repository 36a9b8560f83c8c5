/* Execution plans: storage. */
#include "traces/plan.h"

void plan_free(Plan *plan)
{
    g_free(plan);
}
