/* Which function executes an instruction: a code is bound to the executor when a warp first enters it. */
#include "ptx/run/exec.h"

static PtxStepper stepper_of(PtxOp op)
{
    static const struct { guint8 first, last; PtxStepper step; } rows[] = {
        {OP_LD, OP_LD, ptx_step_ld}, {OP_ST, OP_ST, ptx_step_st}, {OP_ATOM, OP_RED, ptx_step_atom},
        {OP_MC_LOAD, OP_MC_RED, ptx_step_multimem}, {OP_CP_ASYNC, OP_CP_MBAR_ARRIVE, ptx_step_async},
        {OP_BULK_G2S, OP_BULK_RED_S2G, ptx_step_bulk}, {OP_BULK_MC, OP_BULK_MC, ptx_step_bulk},
        {OP_BULK_COMMIT, OP_BULK_WAIT, ptx_step_async}, {OP_ST_ASYNC, OP_ST_BULK, ptx_step_remote},
        {OP_MBAR_INIT, OP_MBAR_TRY, ptx_step_mbarrier}, {OP_SHFL, OP_ELECT, ptx_step_member},
        {OP_BAR_SYNC, OP_BAR_RED, ptx_step_barrier}, {OP_BAR_WARP, OP_BAR_WARP, ptx_step_member},
        {OP_BAR_CLUSTER_ARRIVE, OP_BAR_CLUSTER_WAIT, ptx_step_cluster}, {OP_FENCE, OP_FENCE, ptx_step_fence},
        {OP_GRIDDEP, OP_GRIDDEP, ptx_step_griddep}, {OP_NANOSLEEP, OP_NANOSLEEP, ptx_step_nanosleep},
        {OP_BRX, OP_BRX, ptx_step_brx}, {OP_CALL, OP_CALL, ptx_step_call}, {OP_RET, OP_RET, ptx_step_ret},
        {OP_EXIT, OP_EXIT, ptx_step_exit}, {OP_TRAP, OP_TRAP, ptx_step_trap}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (op >= rows[i].first && op <= rows[i].last)
            return rows[i].step;
    return NULL;
}

static PtxHandler handler_of(const PtxIns *ins)
{
    switch (ins->op) {
    case OP_MOV:
    case OP_CREATEPOLICY: return ins->n_vec ? ptx_run_pack : ptx_run_mov;
    case OP_CVTA: return ptx_run_cvta;
    case OP_SREG: return ptx_run_sreg;
    case OP_CARRY_ADD:
    case OP_CARRY_SUB:
    case OP_CARRY_MAD: return ptx_run_carry;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT: return ins->dst_bytes == 1 ? ptx_run_predicate : NULL;
    default: return NULL;
    }
}

/* Code is shared by all that run its module, in any thread: by the first of them, once. */
void ptx_code_bind(PtxCode *code)
{
    GMutex *lock = &code->function->unit->module->lock;
    if (G_LIKELY(g_atomic_int_get(&code->bound)))
        return;
    g_mutex_lock(lock);
    for (guint32 i = 0; !code->bound && i < code->n_ins; i++) {
        PtxIns *ins = &code->ins[i];
        ins->step = stepper_of((PtxOp)ins->op);
        ins->scalar = ptx_scalar_find((PtxOp)ins->op);
        ins->run = handler_of(ins);
        if (!ins->run && ins->scalar) {
            PtxHandler hot = ptx_hot_find(ins);
            ins->run = hot ? hot : ptx_run_scalar;
        }
    }
    code->hot = ptx_hot_memory();
    g_atomic_int_set(&code->bound, TRUE);
    g_mutex_unlock(lock);
}
