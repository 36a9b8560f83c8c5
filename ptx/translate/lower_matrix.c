/* Matrix instructions: whether shape, types, target and the number of registers go together, and where these are. */
#include "ptx/fragment.h"
#include "ptx/translate/lower.h"

static gboolean fail(PtxLower *lower, const PtxArg *arg, PtxLoadError code, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
static gboolean fail(PtxLower *lower, const PtxArg *arg, PtxLoadError code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    return ptx_lower_fail(lower, arg, code, text);
}

/* A vector of n registers of so many bytes; one register may stand without braces. */
static gboolean check_registers(PtxLower *lower, guint at, guint n, guint bytes)
{
    const PtxArg *arg = &lower->args[at];
    guint have = arg->kind == ARG_VECTOR ? arg->n : 1;
    for (guint i = 0; i < have; i++) {
        const PtxArg *part = arg->kind == ARG_VECTOR ? &g_array_index(lower->body->parts, PtxArg, arg->index + i) : arg;
        if (part->kind != ARG_REG || ptx_lower_bytes(lower, part) != bytes)
            return fail(lower, part, PTX_LOAD_ERROR_SYNTAX, "operand %u must be {registers} of %u bits", at + 1,
                        8 * bytes);
    }
    if (have != n)
        return fail(lower, arg, PTX_LOAD_ERROR_SYNTAX, "operand %u must have %u registers for this shape, not %u",
                    at + 1, n, have);
    return TRUE;
}

static guint32 add_places(PtxLower *lower, guint at, guint8 *n)
{
    guint8 width, count;
    guint32 first = ptx_lower_vector(lower, &lower->args[at], 4, T_B32, TRUE, &count, &width);
    *n = (guint8)(*n + count);
    return first;
}

static void set_words(PtxIns *ins, const PtxStatement *s)
{
    static const guint8 modes[] = {W_XOR, W_AND, W_RN, W_RZ, W_RM, W_RP};
    for (guint i = 0; i < G_N_ELEMENTS(modes); i++)
        if (ptx_statement_has(s, modes[i]))
            ins->mode = modes[i];
    if (ptx_statement_has(s, W_SATFINITE))
        ins->flags |= FLAG_SATFINITE;
}

static gboolean check_mma(PtxLower *lower, const PtxMatrixForm *form)
{
    const PtxStatement *s = lower->statement;
    const char *shapes;
    guint sm = ptx_mma_target(form, &shapes), have = lower->body->unit->sm;
    if (!sm)
        return fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "mma has no shape .m%un%uk%u of .%s: it has %s", form->m,
                    form->n, form->k, ptx_types[s->types[1]].name, shapes);
    gboolean logic = ptx_statement_has(s, W_AND) || ptx_statement_has(s, W_XOR);
    if (s->types[1] == T_B1 && (!logic || !ptx_statement_has(s, W_POPC)))
        return fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "mma of .b1 takes .xor.popc or .and.popc");
    if (ptx_statement_has(s, W_AND) && sm < 80)
        sm = 80;
    if (sm > have)
        return fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "this form of mma needs sm_%u; the target is sm_%u", sm, have);
    gboolean volta = form->m == 8 && form->k == 4 && s->types[1] == T_F16;
    if (!volta && (form->a_col || form->b_row))
        return fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "mma of this shape takes .row.col alone");
    if (s->types[0] != s->types[3] && !(volta && s->types[0] == T_F32))
        return fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "mma's first and last types must be alike for this shape");
    return TRUE;
}

gboolean ptx_lower_mma(PtxLower *lower)
{
    const PtxStatement *s = lower->statement;
    PtxIns ins = ptx_lower_new(lower);
    PtxMatrixForm form = {.m = s->shape[0], .n = s->shape[1], .k = s->shape[2]};
    static const guint8 order[] = {MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C};
    for (guint i = 0; i < 4; i++)
        form.type[order[i]] = s->types[i];
    form.a_col = ptx_statement_has(s, W_COL);
    form.b_row = ptx_statement_has(s, W_ROW_OF_B);
    if (!check_mma(lower, &form))
        return FALSE;
    for (guint i = 0; i < 4; i++)
        if (!check_registers(lower, i, ptx_fragment_registers(&form, (PtxMatrixOperand)order[i]),
                             ptx_fragment_register_bytes(&form)))
            return FALSE;
    set_words(&ins, s);
    ins.imm = ptx_matrix_pack(&form);
    ins.vec = add_places(lower, 0, &ins.n_vec);
    ins.vec2 = add_places(lower, 1, &ins.n_vec2);
    add_places(lower, 2, &ins.n_vec2);
    add_places(lower, 3, &ins.n_vec2);
    ins.src[1] = ptx_lower_constant(lower, PTX_FULL_MASK, 4); /* who takes part, as ptx_step_member() wants it */
    ins.src_bytes[1] = 4;
    ins.src_bytes[3] = (guint8)ptx_fragment_register_bytes(&form);
    ptx_lower_add(lower, &ins);
    return TRUE;
}

gboolean ptx_lower_matrix_move(PtxLower *lower)
{
    const PtxStatement *s = lower->statement;
    PtxIns ins = ptx_lower_new(lower);
    guint n = ptx_statement_has(s, W_X4)   ? 4
              : ptx_statement_has(s, W_X2) ? 2
                                           : 1,
          vector = s->op == OP_STMATRIX ? 1 : 0;
    if (s->shape[0] != 8 || s->shape[1] != 8 || s->shape[2] || s->types[0] != T_B16)
        return fail(lower, NULL, PTX_LOAD_ERROR_UNSUPPORTED,
                    "matrices are moved as .m8n8 of .b16; .m%un%u of .%s is not "
                    "simulated",
                    s->shape[0], s->shape[1], ptx_types[s->types[0]].name);
    ins.flags |= ptx_statement_has(s, W_TRANS) ? FLAG_RIGHT : 0;
    ins.src[1] = ptx_lower_constant(lower, PTX_FULL_MASK, 4);
    ins.src_bytes[1] = 4;
    if (s->op == OP_MOVMATRIX) {
        if (lower->args[1].kind != ARG_REG)
            return fail(lower, &lower->args[1], PTX_LOAD_ERROR_SYNTAX, "operand 2 must be a register");
        ins.dst = PLACE_OF_REG(lower->args[0].index);
        ins.dst_bytes = ins.src_bytes[0] = 4;
        ins.src[0] = PLACE_OF_REG(lower->args[1].index);
        ptx_lower_add(lower, &ins);
        return TRUE;
    }
    if (!check_registers(lower, vector, n, 4))
        return FALSE;
    ins.space = ptx_statement_has(s, W_SHARED) || ptx_statement_has(s, W_SHARED_CTA) ? SPACE_SHARED : SPACE_GENERIC;
    ptx_lower_address(lower, &ins, 0, &lower->args[1 - vector]);
    if (vector)
        ins.vec2 = add_places(lower, 1, &ins.n_vec2);
    else
        ins.vec = add_places(lower, 0, &ins.n_vec);
    ins.src_bytes[3] = 4;
    ptx_lower_add(lower, &ins);
    return TRUE;
}

/* ---- wgmma */

static gboolean check_wgmma_target(PtxLower *lower)
{
    const PtxUnit *unit = lower->body->unit;
    if (unit->sm != 90 || !unit->exact)
        return fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "wgmma is of sm_90a alone; the target is sm_%u%s", unit->sm,
                    unit->exact ? "a" : "");
    return TRUE;
}

/* A number that must be one of two. */
static gboolean read_choice(PtxLower *lower, guint at, gint64 no, gint64 yes, gboolean *chosen)
{
    const PtxArg *arg = &lower->args[at];
    if (arg->kind != ARG_INT || ((gint64)arg->value != no && (gint64)arg->value != yes))
        return fail(lower, arg, PTX_LOAD_ERROR_SYNTAX, "operand %u must be %d or %d", at + 1, (int)no, (int)yes);
    *chosen = (gint64)arg->value == yes;
    return TRUE;
}

/* Behind scale-d: signs of floating-point factors, and which matrices of 16-bit elements are transposed. */
static gboolean read_wgmma_choices(PtxLower *lower, PtxIns *ins, const PtxMatrixForm *form, gboolean a_in_registers)
{
    const PtxStatement *s = lower->statement;
    gboolean halves = ptx_fragment_bits((PtxType)form->type[MATRIX_A]) == 16, chosen;
    gboolean floats = ptx_type_is_float((PtxType)form->type[MATRIX_A]);
    guint want = !floats ? 4 : !halves ? 6 : a_in_registers ? 7 : 8;
    if (s->n_args != want)
        return fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "this form of wgmma.mma_async has %u operands, not %u", want,
                    s->n_args);
    for (guint i = 0; i < 2 && floats; i++) {
        if (!read_choice(lower, 4 + i, 1, -1, &chosen))
            return FALSE;
        ins->combine |= chosen ? (i ? PTX_WGMMA_NEGATE_B : PTX_WGMMA_NEGATE_A) : 0;
    }
    for (guint at = 6; at < want; at++) {
        if (!read_choice(lower, at, 0, 1, &chosen))
            return FALSE;
        ins->combine |= chosen ? (at + 1 == want ? PTX_WGMMA_TRANS_B : PTX_WGMMA_TRANS_A) : 0;
    }
    return TRUE;
}

static gboolean read_descriptor(PtxLower *lower, PtxIns *ins, guint at, guint source)
{
    const PtxArg *arg = &lower->args[at];
    if (arg->kind != ARG_REG || ptx_lower_bytes(lower, arg) != 8)
        return fail(lower, arg, PTX_LOAD_ERROR_SYNTAX, "operand %u must be a descriptor in a register of 64 bits",
                    at + 1);
    ins->src[source] = PLACE_OF_REG(arg->index);
    ins->src_bytes[source] = 8;
    return TRUE;
}

static gboolean read_scale(PtxLower *lower, PtxIns *ins)
{
    const PtxArg *arg = &lower->args[3];
    gboolean predicate = arg->kind == ARG_REG && ptx_lower_bytes(lower, arg) == 0;
    if ((!predicate && arg->kind != ARG_INT) || arg->negated)
        return fail(lower, arg, PTX_LOAD_ERROR_SYNTAX, "operand 4 must be a predicate: whether the sum is added to");
    ins->src[2] = predicate ? PLACE_OF_REG(arg->index) : ptx_lower_constant(lower, arg->value ? PTX_FULL_MASK : 0, 4);
    ins->src_bytes[2] = 1;
    return TRUE;
}

gboolean ptx_lower_wgmma(PtxLower *lower)
{
    const PtxStatement *s = lower->statement;
    const char *shapes;
    PtxIns ins = ptx_lower_new(lower);
    PtxMatrixForm form = {.m = s->shape[0], .n = s->shape[1], .k = s->shape[2]};
    form.type[MATRIX_D] = form.type[MATRIX_C] = s->types[0];
    form.type[MATRIX_A] = s->types[1];
    form.type[MATRIX_B] = s->types[2];
    if (!check_wgmma_target(lower))
        return FALSE;
    if (!ptx_wgmma_has(&form, &shapes))
        return fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "wgmma has no shape .m%un%uk%u of .%s: it has %s", form.m,
                    form.n, form.k, ptx_types[s->types[1]].name, shapes);
    form.m = 16; /* of each warp */
    gboolean a_in_registers = lower->args[1].kind == ARG_VECTOR;
    if (s->n_args < 4 || !check_registers(lower, 0, ptx_fragment_registers(&form, MATRIX_D), 4))
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "wgmma.mma_async has four operands at least");
    if (!read_wgmma_choices(lower, &ins, &form, a_in_registers) || !read_descriptor(lower, &ins, 2, 1) ||
        !read_scale(lower, &ins))
        return FALSE;
    set_words(&ins, s);
    ins.imm = ptx_matrix_pack(&form);
    if (a_in_registers) {
        if (!check_registers(lower, 1, 4, 4))
            return FALSE;
        ins.vec2 = add_places(lower, 1, &ins.n_vec2);
        add_places(lower, 0, &ins.n_vec2); /* accumulators are read, too */
    } else if (!read_descriptor(lower, &ins, 1, 0)) {
        return FALSE;
    }
    if (!a_in_registers)
        ins.vec2 = add_places(lower, 0, &ins.n_vec2);
    ins.vec = add_places(lower, 0, &ins.n_vec);
    ins.src_bytes[3] = 4;
    ptx_lower_add(lower, &ins);
    return TRUE;
}

gboolean ptx_lower_wgmma_order(PtxLower *lower)
{
    PtxIns ins = ptx_lower_new(lower);
    if (!check_wgmma_target(lower))
        return FALSE;
    if (ins.op == OP_WGMMA_WAIT)
        ins.imm = lower->args[0].value;
    ptx_lower_add(lower, &ins);
    return TRUE;
}

/* setmaxnreg moves registers between warps, of which a simulated warp always has as many as it needs. */
gboolean ptx_lower_setmaxnreg(PtxLower *lower)
{
    guint64 n = lower->args[0].value;
    const PtxUnit *unit = lower->body->unit;
    if (!unit->exact)
        return fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "setmaxnreg needs a target as sm_90a; the target is sm_%u",
                    unit->sm);
    if (n < 24 || n > 256 || n % 8)
        return fail(lower, &lower->args[0], PTX_LOAD_ERROR_SYNTAX, "setmaxnreg takes a multiple of 8 from 24 to 256");
    return TRUE;
}
