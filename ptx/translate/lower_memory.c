/* Loads, stores, atomics and multimem instructions. */
#include "ptx/forms.h"
#include "ptx/translate/lower.h"

static guint8 word_among(const PtxStatement *statement, const guint8 *words, guint n)
{
    for (guint i = 0; i < n; i++)
        if (ptx_statement_has(statement, words[i]))
            return words[i];
    return W_NONE;
}

static void set_space(PtxIns *ins, const PtxStatement *statement)
{
    static const struct {
        guint8 word, space;
    } rows[] = {{W_GLOBAL, SPACE_GLOBAL}, {W_LOCAL, SPACE_LOCAL},       {W_CONST, SPACE_CONST},
                {W_PARAM, SPACE_PARAM},   {W_PARAM_ENTRY, SPACE_PARAM}, {W_PARAM_FUNC, SPACE_PARAM},
                {W_SHARED, SPACE_SHARED}, {W_SHARED_CTA, SPACE_SHARED}, {W_SHARED_CLUSTER, SPACE_SHARED_CLUSTER}};
    ins->space = SPACE_GENERIC;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (ptx_statement_has(statement, rows[i].word))
            ins->space = rows[i].space;
    ins->cost = ins->space == SPACE_SHARED || ins->space == SPACE_SHARED_CLUSTER ? COST_SHARED
                : ins->space == SPACE_LOCAL                                      ? COST_LOCAL
                : ins->space == SPACE_CONST || ins->space == SPACE_PARAM         ? COST_BANK
                                                                                 : COST_GLOBAL;
}

static void set_order(PtxIns *ins, const PtxStatement *statement)
{
    static const guint8 orders[] = {W_RELAXED, W_ACQUIRE, W_RELEASE, W_ACQ_REL, W_VOLATILE, W_MMIO, W_SC, W_WEAK};
    static const guint8 scopes[] = {W_CTA, W_CLUSTER, W_GPU, W_SYS};
    static const guint8 modes[] = {W_ADD, W_MIN, W_MAX, W_INC, W_DEC, W_CAS, W_EXCH, W_AND, W_OR, W_XOR};
    ins->order = word_among(statement, orders, G_N_ELEMENTS(orders));
    if (ptx_statement_has(statement, W_CV)) /* "fetch again": ptxas makes it a volatile load, LDG.STRONG.SYS */
        ins->order = W_VOLATILE;
    ins->scope = word_among(statement, scopes, G_N_ELEMENTS(scopes));
    ins->mode = word_among(statement, modes, G_N_ELEMENTS(modes));
    ins->combine = ptx_statement_has(statement, W_ACC_F32)   ? W_ACC_F32
                   : ptx_statement_has(statement, W_ACC_F16) ? W_ACC_F16
                   : ptx_statement_has(statement, W_CG)      ? W_CG
                                                             : W_NONE;
    if (ins->order == W_RELEASE || ins->order == W_ACQ_REL)
        ins->flags |= FLAG_RELEASE;
    if (ins->order == W_ACQUIRE || ins->order == W_ACQ_REL)
        ins->flags |= FLAG_ACQUIRE;
    if (ptx_statement_has(statement, W_NC))
        ins->flags |= FLAG_NC;
    if (ptx_statement_has(statement, W_NOFTZ))
        ins->flags |= FLAG_NOFTZ;
}

/* The rules of multimem are those that device programs obey. */
static gboolean check_multimem(PtxLower *lower, const PtxIns *ins)
{
    static const struct {
        guint8 type, numeric;
    } types[] = {{T_U32, NUMERIC_U32},       {T_U64, NUMERIC_U64},       {T_S32, NUMERIC_S32},
                 {T_S64, NUMERIC_S64},       {T_B32, NUMERIC_B32},       {T_B64, NUMERIC_B64},
                 {T_F16, NUMERIC_F16},       {T_F16X2, NUMERIC_F16X2},   {T_BF16, NUMERIC_BF16},
                 {T_BF16X2, NUMERIC_BF16X2}, {T_F32, NUMERIC_F32},       {T_F64, NUMERIC_F64},
                 {T_E4M3, NUMERIC_E4M3},     {T_E4M3X2, NUMERIC_E4M3X2}, {T_E4M3X4, NUMERIC_E4M3X4},
                 {T_E5M2, NUMERIC_E5M2},     {T_E5M2X2, NUMERIC_E5M2X2}, {T_E5M2X4, NUMERIC_E5M2X4}};
    PtxMultimem form = {.vec = ins->n_vec};
    form.instruction = ins->op == OP_MC_LOAD ? PTX_LD_REDUCE : ins->op == OP_MC_STORE ? PTX_ST : PTX_RED;
    form.op = ins->mode == W_MIN   ? NUMERIC_MIN
              : ins->mode == W_MAX ? NUMERIC_MAX
              : ins->mode == W_AND ? NUMERIC_AND
              : ins->mode == W_OR  ? NUMERIC_OR
              : ins->mode == W_XOR ? NUMERIC_XOR
                                   : NUMERIC_ADD;
    for (guint i = 0; i < G_N_ELEMENTS(types); i++)
        if (types[i].type == ins->type)
            form.type = types[i].numeric;
    form.acc = ins->combine == W_ACC_F32 ? PTX_ACC_F32 : ins->combine == W_ACC_F16 ? PTX_ACC_F16 : PTX_ACC_DEFAULT;
    form.sem = ins->order == W_WEAK      ? PTX_WEAK
               : ins->order == W_RELAXED ? PTX_RELAXED
               : ins->order == W_ACQUIRE ? PTX_ACQUIRE
               : ins->order == W_RELEASE ? PTX_RELEASE
                                         : PTX_SEM_DEFAULT;
    form.scope = ins->scope == W_CTA       ? PTX_CTA
                 : ins->scope == W_CLUSTER ? PTX_CLUSTER
                 : ins->scope == W_GPU     ? PTX_GPU
                 : ins->scope == W_SYS     ? PTX_SYS
                                           : PTX_SCOPE_DEFAULT;
    PtxTarget target = {.sm = lower->body->unit->sm, .exact = lower->body->unit->exact};
    GError *error = NULL;
    if (ptx_check(&form, &target, &error))
        return TRUE;
    ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, error->message);
    g_error_free(error);
    return FALSE;
}

gboolean ptx_lower_memory(PtxLower *lower)
{
    const PtxStatement *statement = lower->statement;
    PtxIns ins = ptx_lower_new(lower);
    guint bytes = ptx_types[ins.type].memory;
    gboolean stores = ins.op == OP_ST || ins.op == OP_RED || ins.op == OP_MC_STORE || ins.op == OP_MC_RED;
    const PtxArg *address = &lower->args[stores ? 0 : 1], *data = &lower->args[stores ? 1 : 0];
    set_space(&ins, statement);
    set_order(&ins, statement);
    ins.type2 = ins.type;
    ins.dst_bytes = (guint8)bytes;
    ptx_lower_address(lower, &ins, 0, address);
    if (address->base == ARG_VAR && ins.space != g_array_index(lower->body->vars, PtxVar, address->index).space &&
        !(ins.space == SPACE_SHARED_CLUSTER) && ins.src[0] == PLACE_NONE)
        return ptx_lower_fail(lower, address, PTX_LOAD_ERROR_SYNTAX, "the variable is in another state space");
    ins.vec = ptx_lower_vector(lower, data, MAX(bytes, 2u), ins.type, !stores, &ins.n_vec, &ins.src_bytes[3]);
    if ((guint)ins.n_vec * bytes > 32)
        return ptx_lower_fail(lower, data, PTX_LOAD_ERROR_UNSUPPORTED, "an access of more than 32 bytes a thread");
    if (ins.op == OP_ATOM) {
        guint8 n;
        ins.vec2 = ptx_lower_vector(lower, &lower->args[2], MAX(bytes, 2u), ins.type, FALSE, &n, &ins.src_bytes[2]);
        ins.n_vec2 = n;
        if (n != ins.n_vec)
            return ptx_lower_fail(lower, &lower->args[2], PTX_LOAD_ERROR_SYNTAX, "vectors of different sizes");
        if ((ins.mode == W_CAS) != (statement->n_args == 4))
            return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "cas alone has a third operand");
        if (ins.mode == W_CAS) {
            ins.src[1] = ptx_lower_source(lower, &lower->args[3], MAX(bytes, 2u), ins.type);
            ins.src_bytes[1] = (guint8)MAX(bytes, 2u);
        }
        if (data->kind == ARG_SINK)
            ins.dst2_bytes = 1; /* the result is not wanted */
    }
    if ((ins.op == OP_MC_LOAD || ins.op == OP_MC_STORE || ins.op == OP_MC_RED) && !check_multimem(lower, &ins))
        return FALSE;
    ptx_lower_add(lower, &ins);
    return TRUE;
}
