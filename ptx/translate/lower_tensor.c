/* Copies by tensor maps, and the instructions that change such maps. */
#include "ptx/translate/lower.h"

static guint rank_of(const PtxStatement *s)
{
    static const guint8 words[] = {W_DIM_1, W_DIM_2, W_DIM_3, W_DIM_4, W_DIM_5};
    guint rank = 0;
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (ptx_statement_has(s, words[i]))
            rank = i + 1;
    return rank;
}

static gboolean lower_coordinates(PtxLower *lower, PtxIns *ins, const PtxArg *map, guint rank)
{
    PtxArg vector = *map;
    guint8 width;
    vector.kind = ARG_VECTOR;
    vector.index = map->parts;
    if (map->n != rank)
        return ptx_lower_fail(lower, map, PTX_LOAD_ERROR_SYNTAX, "there is a coordinate for each dimension");
    ins->vec = ptx_lower_vector(lower, &vector, 4, T_S32, FALSE, &ins->n_vec, &width);
    if (width != 4)
        return ptx_lower_fail(lower, map, PTX_LOAD_ERROR_SYNTAX, "coordinates have 32 bits");
    return TRUE;
}

/* Behind the mbarrier: im2col's offsets, and the mask of a multicast. */
static gboolean lower_rest(PtxLower *lower, PtxIns *ins, guint rank)
{
    const PtxStatement *s = lower->statement;
    gboolean im2col = ptx_statement_has(s, W_IM2COL), multicast = ptx_statement_has(s, W_MULTICAST_CLUSTER);
    guint at = 3;
    guint8 n, width;
    if (s->n_args != 3u + im2col + multicast)
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX,
                              "offsets follow with .im2col, a mask of CTAs with .multicast::cluster, and nothing else");
    if (im2col) {
        const PtxArg *offsets = &lower->args[at++];
        ins->vec2 = ptx_lower_vector(lower, offsets, 2, T_U16, FALSE, &n, &width);
        if (n != rank - 2 || width != 2)
            return ptx_lower_fail(lower, offsets, PTX_LOAD_ERROR_SYNTAX,
                                  "offsets have 16 bits, and are two less than the dimensions");
        ins->n_vec2 = n;
    }
    if (multicast) {
        const PtxArg *mask = &lower->args[at];
        guint32 place = ptx_lower_vector(lower, mask, 2, T_U16, FALSE, &n, &width);
        if (n != 1 || width != 2)
            return ptx_lower_fail(lower, mask, PTX_LOAD_ERROR_SYNTAX, "the mask of CTAs has 16 bits");
        if (!im2col)
            ins->vec2 = place;
        ins->n_vec2++;
        ins->flags |= FLAG_THREE; /* the last of vec2 is the mask */
    }
    return TRUE;
}

gboolean ptx_lower_tensor(PtxLower *lower)
{
    static const guint8 ops[] = {W_ADD, W_MIN, W_MAX, W_INC, W_DEC, W_AND, W_OR, W_XOR};
    const PtxStatement *s = lower->statement;
    PtxIns ins = ptx_lower_new(lower);
    gboolean loads = ins.op == OP_TENSOR_G2S;
    gboolean im2col = ptx_statement_has(s, W_IM2COL) || ptx_statement_has(s, W_IM2COL_NO_OFFS);
    const PtxArg *map = &lower->args[loads ? 1 : 0], *shared = &lower->args[loads ? 0 : 1];
    guint rank = rank_of(s);
    ins.space = SPACE_SHARED;
    ins.mode = im2col ? W_IM2COL : W_TILE;
    if (im2col && rank < 3)
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, "im2col takes 3 to 5 dimensions");
    for (guint i = 0; i < G_N_ELEMENTS(ops); i++)
        if (ptx_statement_has(s, ops[i]))
            ins.combine = ops[i];
    ptx_lower_base(lower, &ins, 0, shared);
    ptx_lower_base(lower, &ins, 1, map);
    if (!lower_coordinates(lower, &ins, map, rank))
        return FALSE;
    if (loads) {
        ptx_lower_base(lower, &ins, 3, &lower->args[2]);
        if (!lower_rest(lower, &ins, rank))
            return FALSE;
    }
    ptx_lower_add(lower, &ins);
    return TRUE;
}

/* ---- tensormap */

/* PTX counts element types in another order than the driver. */
static guint64 element_type(guint64 value)
{
    static const guint8 types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
    return value < G_N_ELEMENTS(types) ? types[value] : 15;
}

gboolean ptx_lower_tensormap_replace(PtxLower *lower)
{
    static const guint8 fields[] = {W_GLOBAL_ADDRESS, W_RANK,           W_BOX_DIM,          W_GLOBAL_DIM,
                                    W_GLOBAL_STRIDE,  W_ELEMENT_STRIDE, W_ELEMTYPE,         W_INTERLEAVE_LAYOUT,
                                    W_SWIZZLE_MODE,   W_FILL_MODE,      W_SWIZZLE_ATOMICITY};
    const PtxStatement *s = lower->statement;
    PtxIns ins = ptx_lower_new(lower);
    const PtxArg *value = &lower->args[s->n_args - 1u];
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
        if (ptx_statement_has(s, fields[i]))
            ins.mode = fields[i];
    gboolean ordered = ins.mode == W_BOX_DIM || ins.mode == W_GLOBAL_DIM || ins.mode == W_GLOBAL_STRIDE ||
                       ins.mode == W_ELEMENT_STRIDE;
    gboolean wide = ins.mode == W_GLOBAL_ADDRESS || ins.mode == W_GLOBAL_STRIDE;
    if (ptx_statement_has(s, W_GLOBAL))
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_UNSUPPORTED,
                              "tensor maps are changed in shared memory and copied from there; in global memory this "
                              "is not simulated");
    if (s->n_args != 2u + ordered || (wide ? ins.type != T_B64 : ins.type != T_B32))
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX,
                              "a dimension's number stands before the value, if the field has one; addresses and "
                              "strides are .b64, others .b32");
    if (value->kind == ARG_REG && ptx_lower_bytes(lower, value) != ptx_types[ins.type].bytes)
        return ptx_lower_fail(lower, value, PTX_LOAD_ERROR_SYNTAX, "the value is as wide as the type");
    PtxArg number = *value;
    if (ins.mode == W_ELEMTYPE && value->kind == ARG_INT)
        number.value = element_type(value->value);
    ins.space = SPACE_SHARED;
    ptx_lower_address(lower, &ins, 0, &lower->args[0]);
    ins.src[2] = ptx_lower_source(lower, &number, ptx_types[ins.type].bytes, (PtxType)ins.type);
    ins.src_bytes[2] = ptx_types[ins.type].bytes;
    if (ordered) {
        if (lower->args[1].kind != ARG_INT)
            return ptx_lower_fail(lower, &lower->args[1], PTX_LOAD_ERROR_SYNTAX, "a dimension's number is a constant");
        ins.src[3] = ptx_lower_constant(lower, lower->args[1].value, 4);
        ins.src_bytes[3] = 4;
    }
    ptx_lower_add(lower, &ins);
    return TRUE;
}

/* The copy, and a fence behind it that waits until it is performed: a tensor map is read without a packet. */
gboolean ptx_lower_tensormap_copy(PtxLower *lower)
{
    PtxIns ins = ptx_lower_new(lower), fence = ptx_lower_new(lower);
    if (lower->args[2].value != 128)
        return ptx_lower_fail(lower, &lower->args[2], PTX_LOAD_ERROR_SYNTAX, "a tensor map has 128 bytes");
    ins.space = SPACE_SHARED;
    ptx_lower_base(lower, &ins, 0, &lower->args[0]);
    ptx_lower_base(lower, &ins, 1, &lower->args[1]);
    ptx_lower_add(lower, &ins);
    fence.op = OP_FENCE;
    fence.scope = W_SYS;
    fence.order = W_ACQ_REL;
    fence.cost = COST_SYNC;
    ptx_lower_add(lower, &fence);
    return TRUE;
}
