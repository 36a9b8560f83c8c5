/* Which instructions wait for turns of their SM's load/store unit: those that bring something through it without
 * leaving the SM, from shared memory and other lanes (a turn) and from local memory (two, as loads of global memory:
 * they also wait for the stores that the SM has taken and not sent yet). Several that follow each other before any of
 * their results is used pass it together, and the first one waits for all. Registers that do not fit are loaded early
 * in their block (cost.c), and it waits for all of them once.
 * Left out: stores, which no warp waits for; generic addresses that turn out to be of shared memory.
 * Source: docs/measurements/lsu_queue.csv: shared and local memory and shuffles wait behind others' stores. */
#include "ptx/translate/lower.h"

#define OF_SHARED 1u
#define OF_LOCAL 2u

typedef struct {
    guint32 *group; /* by place / 4: that brings it */
    guint32 open;   /* whose results nothing has used yet; 0: none */
    guint32 turns;  /* of the instruction at hand */
    gboolean used, writes;
} Turns;

/* Whether the executor takes a step for it: others run on without a look at the host. */
#define OPERATION(name, lowering, step, traits) [OP_##name] = #step,
static const char *const step_of[OP_COUNT] = {
#include "ptx/operations.h"
};
static gboolean is_step(const PtxIns *ins) { return ins->op == OP_BRA || g_strcmp0(step_of[ins->op], "none") != 0; }

static guint32 turns_of(const PtxCode *code, const PtxIns *ins)
{
    switch (ins->op) {
    case OP_LD:
    case OP_ATOM:
        if (ins->space == SPACE_LOCAL)
            return OF_LOCAL;
        return ins->space == SPACE_SHARED || ins->space == SPACE_SHARED_CLUSTER ? OF_SHARED : 0;
    case OP_SHFL:
    case OP_LDMATRIX:
    case OP_MOVMATRIX: return OF_SHARED;
    case OP_RET: return ptx_registers_saved(code) ? OF_LOCAL : 0;
    default: return 0;
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
    guint32 groups = 0, reloads = 0; /* reloads: turns of this block's that are still to be waited for */
    gboolean reloaded = FALSE;
    ptx_flow_make(&flow, code);
    for (guint32 i = 0; i < code->n_ins; i++) {
        PtxIns *ins = &code->ins[i];
        if (i == flow.block[flow.of[i]].first)
            turns.open = reloads = reloaded = 0;
        turns.turns = turns_of(code, ins);
        turns.used = turns.writes = FALSE;
        ptx_ins_visit(code, ins, visit, &turns);
        if (turns.used)
            turns.open = 0;
        ins->turns = turns.open ? 0 : (guint8)turns.turns;
        if (ins->turns)
            turns.open = ++groups;
        turns.writes = TRUE;
        ptx_ins_visit(code, ins, visit, &turns);
        if (!reloaded && code->reloads && code->reloads[i]) {
            reloaded = TRUE;
            reloads = OF_LOCAL;
        }
        if (reloads && is_step(ins)) {
            ins->turns = MAX(ins->turns, (guint8)reloads);
            reloads = 0;
        }
    }
    ptx_flow_clear(&flow);
    g_free(turns.group);
}
