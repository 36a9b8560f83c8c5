/* Instructions whose operands are read and written by their roles alone. */
#include <string.h>

#include "ptx/translate/lower.h"

static guint role_bytes(const PtxLower *lower, char role)
{
    const PtxStatement *s = lower->statement;
    guint first = s->n_types ? ptx_types[s->types[0]].bytes : 4;
    switch (role) {
    case ROLE_DST:
    case ROLE_DST_CVT:
    case ROLE_SRC: return first;
    case ROLE_DST_WIDE:
    case ROLE_SRC_WIDE: return 2 * first;
    case ROLE_SRC_LAST:
    case ROLE_SRC_ANY:
    case ROLE_DST_ANY: return s->n_types ? ptx_types[s->types[s->n_types - 1]].bytes : 4;
    case ROLE_SRC_64: return 8;
    case ROLE_DST_PRED:
    case ROLE_DST_PAIR:
    case ROLE_SRC_PRED: return 0;
    default: return 4;
    }
}

static guint8 stored_bytes(const PtxLower *lower, const PtxArg *arg, guint bytes)
{
    guint have = arg->kind == ARG_REG ? ptx_lower_bytes(lower, arg) : bytes;
    return (guint8)(have ? have : 1); /* 1: a predicate */
}

/* Predicates that are negated, or numbers, get a place of their own. */
static guint32 predicate_source(PtxLower *lower, const PtxArg *arg)
{
    if (arg->kind == ARG_INT)
        return ptx_lower_constant(lower, (arg->value != 0) != arg->negated ? PTX_FULL_MASK : 0, 4);
    if (!arg->negated)
        return PLACE_OF_REG(arg->index);
    PtxIns ins = ptx_lower_new(lower);
    ins.op = OP_NOT;
    ins.type = ins.type2 = T_PRED;
    ins.cost = COST_FREE;
    ins.guard = PLACE_NONE;
    ins.src[0] = PLACE_OF_REG(arg->index);
    ins.src_bytes[0] = ins.dst_bytes = 1;
    ins.dst = PLACE_OF_REG(ptx_body_register(lower->body, T_PRED));
    ptx_lower_add(lower, &ins);
    return ins.dst;
}

static void set_flags(PtxIns *ins, const PtxStatement *s)
{
    static const struct {
        guint8 word;
        guint32 flag;
    } flags[] = {{W_FTZ, FLAG_FTZ},
                 {W_SAT, FLAG_SAT},
                 {W_RELU, FLAG_RELU},
                 {W_NAN_, FLAG_NAN},
                 {W_XORSIGN, FLAG_XORSIGN},
                 {W_ABS, FLAG_ABS},
                 {W_OOB, FLAG_OOB},
                 {W_APPROX, FLAG_APPROX},
                 {W_FULL, FLAG_FULL},
                 {W_HI, FLAG_HI},
                 {W_CC, FLAG_CC},
                 {W_WRAP, FLAG_WRAP},
                 {W_R, FLAG_RIGHT},
                 {W_SHIFTAMT, FLAG_SHIFTAMT},
                 {W_SATFINITE, FLAG_SATFINITE},
                 {W_RNI, FLAG_INTEGER},
                 {W_RZI, FLAG_INTEGER},
                 {W_RMI, FLAG_INTEGER},
                 {W_RPI, FLAG_INTEGER},
                 {W_NOFTZ, FLAG_NOFTZ},
                 {W_ARRIVE_DROP, FLAG_DROP},
                 {W_PARITY, FLAG_PARITY},
                 {W_NOINC, FLAG_NOINC},
                 {W_READ, FLAG_READ}};
    static const guint8 rounds[] = {W_RN, W_RZ, W_RM, W_RP, W_RNA, W_RNI, W_RZI, W_RMI, W_RPI};
    static const guint8 combines[] = {W_AND, W_OR, W_XOR};
    for (guint i = 0; i < G_N_ELEMENTS(flags); i++)
        if (ptx_statement_has(s, flags[i].word))
            ins->flags |= flags[i].flag;
    for (guint i = 0; i < G_N_ELEMENTS(rounds); i++)
        if (ptx_statement_has(s, rounds[i])) {
            ins->mode = rounds[i];
            ins->flags |= FLAG_EXPLICIT;
        }
    for (guint i = 0; i < G_N_ELEMENTS(combines); i++)
        if (ptx_statement_has(s, combines[i]))
            ins->combine = combines[i];
    if (s->op == OP_CARRY_ADD || s->op == OP_CARRY_SUB || s->op == OP_CARRY_MAD)
        ins->flags |= s->name[3] == 'c' ? FLAG_CARRY : 0;
}

/* The word that says what is done: a comparison, a shuffle's mode, ... */
static void set_mode(PtxIns *ins, const PtxStatement *s)
{
    static const guint8 modes[] = {W_EQ,
                                   W_NE,
                                   W_LT,
                                   W_LE,
                                   W_GT,
                                   W_GE,
                                   W_LS,
                                   W_HS,
                                   W_EQU,
                                   W_NEU,
                                   W_LTU,
                                   W_LEU,
                                   W_GTU,
                                   W_GEU,
                                   W_NUM,
                                   W_NANC,
                                   W_FINITE,
                                   W_INFINITE,
                                   W_NUMBER,
                                   W_NOTANUMBER,
                                   W_NORMAL,
                                   W_SUBNORMAL,
                                   W_F4E,
                                   W_B4E,
                                   W_RC8,
                                   W_ECL,
                                   W_ECR,
                                   W_RC16,
                                   W_UP,
                                   W_DOWN,
                                   W_BFLY,
                                   W_IDX,
                                   W_ALL,
                                   W_ANY,
                                   W_UNI,
                                   W_BALLOT,
                                   W_POPC,
                                   W_LAUNCH_DEPENDENTS,
                                   W_SHR7,
                                   W_SHR15,
                                   W_LAYOUT_V0,
                                   W_LAYOUT_V1,
                                   W_PHASE_PRIMARY,
                                   W_PHASE_CONDITIONAL};
    static const guint8 actions[] = {W_ADD, W_MIN, W_MAX, W_INC, W_DEC, W_AND, W_OR, W_XOR};
    for (guint i = 0; i < G_N_ELEMENTS(modes); i++)
        if (ptx_statement_has(s, modes[i]))
            ins->mode = modes[i];
    if (s->op == OP_SETP || s->op == OP_SET) {
        if (ptx_statement_has(s, W_LO))
            ins->mode = W_LO;
        if (ptx_statement_has(s, W_HI)) {
            ins->mode = W_HI;
            ins->flags &= ~(guint32)FLAG_HI;
        }
    }
    static const guint8 scopes[] = {W_CTA, W_CLUSTER, W_GPU, W_SYS, W_GL};
    static const guint8 orders[] = {W_SC, W_ACQ_REL, W_ACQUIRE, W_RELEASE, W_RELAXED, W_WAIT};
    for (guint i = 0; i < G_N_ELEMENTS(scopes); i++)
        if (ptx_statement_has(s, scopes[i]))
            ins->scope = scopes[i];
    for (guint i = 0; i < G_N_ELEMENTS(orders); i++)
        if (ptx_statement_has(s, orders[i]))
            ins->order = orders[i];
    if (s->op == OP_REDUX || s->op == OP_BULK_RED_S2G || s->op == OP_BULK_RED_S2S || s->op == OP_BULK_MC ||
        s->op == OP_RED_ASYNC || s->op == OP_VIDEO || s->op == OP_VIDEO_SIMD)
        for (guint i = 0; i < G_N_ELEMENTS(actions); i++)
            if (ptx_statement_has(s, actions[i]))
                ins->combine = actions[i];
}

/* Which of a family of names it is, for those that share an operation. */
static void set_variant(PtxIns *ins, const PtxStatement *s)
{
    static const char *const video[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax",
                                        "vshl", "vshr", "vmad",     "vset", "vavrg"};
    if (s->op == OP_VIDEO || s->op == OP_VIDEO_SIMD) {
        guint variant = 0;
        for (guint i = 0; i < G_N_ELEMENTS(video); i++)
            if (g_str_has_prefix(s->row->name, video[i]))
                variant = i;
        ins->imm = variant | (guint64)s->types[0] << 8 | (guint64)s->types[1] << 16 |
                   (guint64)(s->n_types > 2 ? s->types[2] : s->types[1]) << 24 |
                   (guint64)(s->row->name[strlen(s->row->name) - 1] == '2' ? 2 : 4) << 32 |
                   (guint64)ptx_statement_has(s, W_PO) << 40;
    }
    if (s->op == OP_MIX_ADD && s->row->name[0] == 's')
        ins->flags |= FLAG_NEGATE_C;
    if (s->op == OP_BAR_CLUSTER_ARRIVE || s->op == OP_MAPA || s->op == OP_GETCTARANK)
        ins->space = ptx_statement_has(s, W_SHARED) || ptx_statement_has(s, W_SHARED_CTA) ||
                             ptx_statement_has(s, W_SHARED_CLUSTER)
                         ? SPACE_SHARED
                         : SPACE_GENERIC;
    if (s->op >= OP_CP_ASYNC && s->op <= OP_MBAR_LAYOUT)
        ins->space = ptx_statement_has(s, W_SHARED) || ptx_statement_has(s, W_SHARED_CTA) ||
                             ptx_statement_has(s, W_SHARED_CLUSTER)
                         ? SPACE_SHARED
                         : SPACE_GENERIC;
    if ((s->op == OP_BULK_G2S && ptx_statement_has(s, W_MULTICAST_CLUSTER)) || ptx_statement_has(s, W_CP_MASK))
        ins->flags |= FLAG_THREE; /* a mask is the last operand */
}

/* Sources that exceed four places of an instruction: a vector in PtxCode.places. */
static gboolean lower_operand(PtxLower *lower, PtxIns *ins, char role, const PtxArg *arg, guint *sources)
{
    guint bytes = role_bytes(lower, role);
    switch (role) {
    case ROLE_DST:
    case ROLE_DST_CVT:
    case ROLE_DST_WIDE:
    case ROLE_DST_32:
    case ROLE_DST_ANY:
    case ROLE_DST_PRED:
        ins->dst = arg->kind == ARG_SINK ? PLACE_NONE : PLACE_OF_REG(arg->index);
        ins->dst_bytes = arg->kind == ARG_SINK ? 0 : stored_bytes(lower, arg, bytes);
        return TRUE;
    case ROLE_DST_PAIR:
        ins->dst2 = arg->kind == ARG_SINK ? PLACE_NONE : PLACE_OF_REG(arg->index);
        ins->dst2_bytes = arg->kind == ARG_SINK ? 0 : 1;
        return TRUE;
    case ROLE_DST_8: { /* a third result */
        guint32 place = PLACE_OF_REG(arg->index);
        ins->vec = lower->places->len;
        ins->n_vec = 1;
        g_array_append_val(lower->places, place);
        return TRUE;
    }
    case ROLE_IMMEDIATE:
        if (strchr(lower->statement->row->operands, ROLE_ADDRESS))
            break; /* imm is the address's offset */
        ins->imm = arg->value;
        return TRUE;
    case ROLE_ADDRESS: ptx_lower_base(lower, ins, (*sources)++, arg); return TRUE;
    default: break;
    }
    if (*sources == 4 && (ins->flags & FLAG_THREE)) { /* a mask behind four others */
        ins->vec = ptx_lower_vector(lower, arg, 2, T_U16, FALSE, &ins->n_vec, &ins->dst2_bytes);
        return TRUE;
    }
    if (*sources == 4)
        return ptx_lower_fail(lower, arg, PTX_LOAD_ERROR_SYNTAX, "an operand too many");
    gboolean predicate = role == ROLE_SRC_PRED || (arg->kind == ARG_REG && ptx_lower_bytes(lower, arg) == 0) ||
                         (role == ROLE_SRC && bytes == 0);
    if (arg->kind == ARG_REG && ptx_lower_bytes(lower, arg) > 0)
        bytes = ptx_lower_bytes(lower, arg);
    ins->src[*sources] = predicate ? predicate_source(lower, arg)
                                   : ptx_lower_source(lower, arg, MAX(bytes, 2u),
                                                      lower->statement->n_types ? ins->type2 : T_B32);
    ins->src_bytes[*sources] = predicate ? 1 : (guint8)MAX(bytes, 2u);
    ++*sources;
    return TRUE;
}

gboolean ptx_lower_plain(PtxLower *lower)
{
    const PtxStatement *s = lower->statement;
    PtxIns ins = ptx_lower_new(lower);
    guint at = 0, sources = 0;
    set_flags(&ins, s);
    set_mode(&ins, s);
    set_variant(&ins, s);
    for (const char *role = s->row->operands; *role; role++) {
        if (*role == '?')
            continue;
        if (*role == ROLE_DST_PAIR) {
            if (at < s->n_args && lower->args[at].paired)
                lower_operand(lower, &ins, *role, &lower->args[at++], &sources);
            continue;
        }
        if (at >= s->n_args)
            break;
        if (s->op == OP_ST_ASYNC && *role == ROLE_SRC_ANY) { /* a vector of values */
            ins.vec = ptx_lower_vector(lower, &lower->args[at++], role_bytes(lower, *role), ins.type, FALSE, &ins.n_vec,
                                       &ins.src_bytes[3]);
            continue;
        }
        if (!lower_operand(lower, &ins, *role, &lower->args[at++], &sources))
            return FALSE;
    }
    if (s->op == OP_SETP || s->op == OP_SET) {
        if (sources == 2)
            ins.combine = W_NONE;
        else if (ins.combine == W_NONE)
            return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "a third operand needs .and, .or or .xor");
    }
    if (s->op == OP_MIN || s->op == OP_MAX)
        ins.flags |= sources == 3 ? FLAG_THREE : 0;
    if (s->op == OP_CREATEPOLICY) { /* a policy has no effect */
        ins.src[0] = ptx_lower_constant(lower, 0, 8);
        ins.src_bytes[0] = 8;
    }
    if (s->op == OP_ELECT || s->op == OP_ACTIVEMASK)
        ins.type2 = T_B32;
    ptx_lower_add(lower, &ins);
    return TRUE;
}
