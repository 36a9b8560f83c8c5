/* Operations on logical endpoints: fabric.try_*, fabric.submit, fabric.wait.
 *
 * The table says which modifiers go together, whatever their order; what ptxas asks of their order, and of numbers,
 * stands here. Operands: src[0] the address in shared memory (atom: of the old value), src[1] the mbarrier, src[2] the
 * size, src[3] atom's operand in shared memory, or the lanes of a warp; vec2 the endpoint, the offset, and then the
 * counter's offset or the mask of bytes, as PtxIns.mode says. */
#include <string.h>

#include "ptx/translate/lower.h"

/* After fabric.try_put comes .async, after fabric.submit .commit_group: both are part of the name. */
static gboolean is_named(const PtxStatement *s)
{
    gboolean tries = s->op >= OP_FABRIC_GET && s->op <= OP_FABRIC_ATOM;
    if (tries)
        return s->n_words > 1 && s->words[0] >= W_TRY_GET && s->words[0] <= W_TRY_ATOM && s->words[1] == W_ASYNC;
    return s->n_words > 0 && s->words[0] == (s->op == OP_FABRIC_SUBMIT ? W_SUBMIT : W_WAIT);
}

static gboolean check_form(PtxLower *lower)
{
    const PtxStatement *s = lower->statement;
    const PtxUnit *unit = lower->body->unit;
    gboolean fp8 = s->n_types == 1 && (s->types[0] == T_E4M3 || s->types[0] == T_E5M2);
    gboolean exact = fp8 || (s->op == OP_FABRIC_PULLRED &&
                             (ptx_statement_has(s, W_ACC_F32) || ptx_statement_has(s, W_ACC_F16)));
    if (!is_named(s))
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX,
                              "the name is fabric.try_get.async (or try_put, try_red, try_pullred, try_atom), "
                              "fabric.submit, fabric.submit.commit_group or fabric.wait; modifiers follow it");
    if (ptx_statement_has(s, W_RELAXED) && !ptx_statement_has(s, W_SYS))
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, ".relaxed needs the scope .sys");
    if (exact && !unit->exact)
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX,
                              "sums with another accumulator, and types of 8 bits, need a target of a family, as "
                              "sm_100f, or of one chip, as sm_100a");
    return TRUE;
}

static void set_operation(PtxIns *ins, const PtxStatement *s)
{
    static const guint8 ops[] = {W_ADD, W_MIN, W_MAX, W_AND, W_OR, W_XOR, W_EXCH, W_CAS};
    for (guint i = 0; i < G_N_ELEMENTS(ops); i++)
        if (ptx_statement_has(s, ops[i]))
            ins->combine = ops[i];
    if (s->op == OP_FABRIC_PULLRED)
        ins->order = ptx_statement_has(s, W_ACC_F32) ? W_ACC_F32 : ptx_statement_has(s, W_ACC_F16) ? W_ACC_F16 : W_NONE;
    ins->mode = (ptx_statement_has(s, W_MULTIMEM) ? PTX_FABRIC_MULTIMEM : 0) |
                (ptx_statement_has(s, W_COUNTED_BYTES) ? PTX_FABRIC_COUNTED : 0) |
                (ptx_statement_has(s, W_CP_MASK) ? PTX_FABRIC_MASKED : 0);
}

/* The endpoint, its offsets, and the mask of bytes as places side by side; their widths are known by what they are. */
static void lower_handle(PtxLower *lower, PtxIns *ins, const PtxArg *handle, const PtxArg *mask)
{
    ins->vec2 = lower->places->len;
    for (guint i = 0; i < handle->n; i++) {
        const PtxArg *part = &g_array_index(lower->body->parts, PtxArg, handle->index + i);
        guint32 place = PLACE_OF_REG(part->index);
        g_array_append_val(lower->places, place);
    }
    ins->n_vec2 = handle->n;
    if (mask) {
        guint32 place = ptx_lower_source(lower, mask, 2, T_U16);
        g_array_append_val(lower->places, place);
        ins->n_vec2++;
    }
}

gboolean ptx_lower_fabric(PtxLower *lower)
{
    const PtxStatement *s = lower->statement;
    PtxIns ins = ptx_lower_new(lower);
    gboolean fetches = s->op == OP_FABRIC_GET || s->op == OP_FABRIC_PULLRED, atom = s->op == OP_FABRIC_ATOM;
    if (!check_form(lower))
        return FALSE;
    set_operation(&ins, s);
    ins.space = SPACE_SHARED;
    ptx_lower_base(lower, &ins, 0, &lower->args[fetches ? 0 : 1]);
    if (atom) {
        ptx_lower_base(lower, &ins, 3, &lower->args[2]);
    } else {
        ins.src[2] = ptx_lower_source(lower, &lower->args[2], 4, T_U32);
        ins.src_bytes[2] = 4;
    }
    ptx_lower_base(lower, &ins, 1, &lower->args[3]);
    lower_handle(lower, &ins, &lower->args[fetches ? 1 : 0], ins.mode & PTX_FABRIC_MASKED ? &lower->args[4] : NULL);
    if (s->op == OP_FABRIC_PULLRED && (guint32)lower->args[4].value != PTX_FULL_MASK)
        return ptx_lower_fail(lower, &lower->args[4], PTX_LOAD_ERROR_SYNTAX, "the mask of lanes is 0xffffffff");
    if (s->op == OP_FABRIC_PULLRED) {
        ins.src[3] = ptx_lower_constant(lower, PTX_FULL_MASK, 4);
        ins.src_bytes[3] = 4;
    }
    ptx_lower_add(lower, &ins);
    return TRUE;
}

/* Of fabric.wait the groups that may be left, which one that is older than the groups waits for as 0. */
gboolean ptx_lower_fabric_order(PtxLower *lower)
{
    const PtxStatement *s = lower->statement;
    PtxIns ins = ptx_lower_new(lower);
    if (!check_form(lower))
        return FALSE;
    if (s->op == OP_FABRIC_SUBMIT)
        ins.mode = ptx_statement_has(s, W_FETCHING)       ? W_FETCHING
                   : ptx_statement_has(s, W_COMMIT_GROUP) ? W_COMMIT_GROUP
                                                          : W_NONE;
    else
        ins.imm = ptx_statement_has(s, W_READ_N) ? lower->args[0].value : 0;
    ptx_lower_add(lower, &ins);
    return TRUE;
}
