/* Which function executes an instruction: a code is bound to the executor when a warp first enters it. */
#include "ptx/run/exec.h"

#define ptx_step_none NULL
#define OPERATION(name, lowering, step, traits) [OP_##name] = ptx_step_##step,
static const PtxStepper steppers[OP_COUNT] = {
#include "ptx/operations.h"
};

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
        ins->step = steppers[ins->op];
        ins->scalar = ptx_scalar_find((PtxOp)ins->op);
        ins->run = handler_of(ins);
        if (!ins->run && ins->scalar) {
            PtxHandler hot = ptx_hot_find(ins);
            ins->run = hot ? hot : ptx_run_scalar;
        }
    }
    code->hot = ptx_hot_functions();
    g_atomic_int_set(&code->bound, TRUE);
    g_mutex_unlock(lock);
}
