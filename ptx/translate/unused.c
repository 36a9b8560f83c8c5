/* Atomics whose results nothing reads are reductions, as ptxas makes them: nothing comes back, and nothing waits.
 *
 * CUDA's atomicAdd() and its like are compiled to atom, whether the program wants the old value or not. */
#include "ptx/translate/lower.h"

static void mark_read(void *read, guint32 *place, gboolean write)
{
    if (!write)
        ((guint8 *)read)[*place >> 1] = 1;
}

static gboolean has_reduction(const PtxIns *ins)
{
    return ins->op == OP_ATOM && ins->mode != W_CAS && ins->mode != W_EXCH && ins->space != SPACE_SHARED &&
           ins->space != SPACE_SHARED_CLUSTER && !(ins->flags & FLAG_ACQUIRE);
}

static gboolean result_read(const PtxCode *code, const PtxIns *ins, const guint8 *read)
{
    for (guint i = 0; i < ins->n_vec; i++) {
        guint32 place = code->places[ins->vec + i];
        if (place != PLACE_NONE && read[place >> 1])
            return TRUE;
    }
    return FALSE;
}

void ptx_drop_results(PtxCode *code, guint32 n_registers)
{
    g_autofree guint8 *read = g_malloc0(n_registers + 1u);
    for (guint32 i = 0; i < code->n_ins; i++)
        ptx_ins_visit(code, &code->ins[i], mark_read, read);
    for (guint32 i = 0; i < code->n_ins; i++) {
        PtxIns *ins = &code->ins[i];
        if (!has_reduction(ins) || result_read(code, ins, read))
            continue;
        ins->op = OP_RED;
        ins->vec = ins->vec2;
        ins->n_vec2 = 0; /* each place once: registers are given by it */
        ins->src_bytes[3] = ins->src_bytes[2];
        ins->dst2_bytes = 0;
    }
}
