/* Which instructions wait for a turn of their SM's load/store unit: those that bring something through it without
 * leaving the SM, from shared and local memory and from other lanes. Several that follow each other before any of their
 * results is used pass it together, and the first one waits for all.
 * Left out: stores, which no warp waits for; registers that do not fit, of instructions that compute; generic addresses
 * that turn out to be of shared memory.
 * Source: docs/measurements/lsu_queue.csv: shared and local memory and shuffles wait behind others' stores. */
#include "ptx/translate/lower.h"

typedef struct {
    guint32 *group; /* by place / 4: that brings it */
    guint32 open;   /* whose results nothing has used yet; 0: none */
    gboolean used, writes, turns;
} Turns;

static gboolean passes_lsu(const PtxCode *code, const PtxIns *ins)
{
    switch (ins->op) {
    case OP_LD:
    case OP_ATOM: return ins->space == SPACE_SHARED || ins->space == SPACE_SHARED_CLUSTER || ins->space == SPACE_LOCAL;
    case OP_SHFL:
    case OP_LDMATRIX:
    case OP_MOVMATRIX: return TRUE;
    case OP_RET: return ptx_registers_saved(code) != 0;
    default: return FALSE;
    }
}

static void visit(void *user, guint32 *place, gboolean write)
{
    Turns *turns = user;
    guint32 *group = &turns->group[*place / 4];
    if (*place & PLACE_POOL)
        return;
    if (turns->writes && write)
        *group = turns->turns ? turns->open : 0;
    else if (!turns->writes && !write)
        turns->used |= turns->open && *group == turns->open;
}

void ptx_turns_mark(PtxCode *code)
{
    PtxFlow flow;
    Turns turns = {.group = g_new0(guint32, code->frame_bytes / 4 + 64u)};
    guint32 groups = 0;
    ptx_flow_make(&flow, code);
    for (guint32 i = 0; i < code->n_ins; i++) {
        PtxIns *ins = &code->ins[i];
        if (i == flow.block[flow.of[i]].first)
            turns.open = 0;
        turns.turns = passes_lsu(code, ins);
        turns.used = turns.writes = FALSE;
        ptx_ins_visit(code, ins, visit, &turns);
        if (turns.used)
            turns.open = 0;
        ins->turns = turns.turns && !turns.open;
        if (ins->turns)
            turns.open = ++groups;
        turns.writes = TRUE;
        ptx_ins_visit(code, ins, visit, &turns);
    }
    ptx_flow_clear(&flow);
    g_free(turns.group);
}
