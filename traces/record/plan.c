#include "traces/record/plan.h"

static void plan_op_clear(PlanOp *op)
{
    g_free(op->src);
    g_free(op->dst);
    g_free(op->peers);
    g_free(op->channels);
}

static void plan_rank_clear(PlanRank *rank)
{
    for (guint b = 0; b < rank->blocks->len; b++) {
        GArray *ops = g_array_index(rank->blocks, PlanBlock, b).ops;
        for (guint i = 0; i < ops->len; i++)
            plan_op_clear(&g_array_index(ops, PlanOp, i));
        g_array_free(ops, TRUE);
    }
    for (guint s = 0; s < rank->switches->len; s++)
        g_array_free(g_array_index(rank->switches, PlanSwitch, s).ranks, TRUE);
    g_array_free(rank->blocks, TRUE);
    g_array_free(rank->switches, TRUE);
    g_array_free(rank->channels, TRUE);
}

void plan_free(Plan *plan)
{
    if (!plan)
        return;
    for (guint r = 0; r < plan->ranks->len; r++)
        plan_rank_clear(&g_array_index(plan->ranks, PlanRank, r));
    g_array_free(plan->ranks, TRUE);
    g_free(plan->name);
    g_free(plan->collective);
    g_free(plan);
}
