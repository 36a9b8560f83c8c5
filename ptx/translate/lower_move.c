/* mov in all its forms, cvta, isspacep. */
#include "ptx/translate/lower.h"

/* mov.b64 %rd, {%r1, %r2}; mov.b64 {%r1, _}, %rd. */
static gboolean lower_pack(PtxLower *lower, const PtxArg *vector, const PtxArg *whole, gboolean is_dst)
{
    PtxIns ins = ptx_lower_new(lower);
    guint total = ptx_types[ins.type].memory, part = total / vector->n;
    if (part * vector->n != total || (part != 2 && part != 4 && part != 8 && part != 1) || whole->kind == ARG_VECTOR)
        return ptx_lower_fail(lower, vector, PTX_LOAD_ERROR_SYNTAX, "the parts of the vector do not make up the type");
    for (guint i = 0; i < vector->n; i++) {
        const PtxArg *at = &g_array_index(lower->body->parts, PtxArg, vector->index + i);
        if ((at->kind == ARG_REG && ptx_lower_bytes(lower, at) != MAX(part, 2u)) ||
            (is_dst && at->kind != ARG_REG && at->kind != ARG_SINK) || (!is_dst && at->kind == ARG_SINK))
            return ptx_lower_fail(lower, at, PTX_LOAD_ERROR_SYNTAX, "a part of the vector has another width");
    }
    if ((is_dst || whole->kind == ARG_REG) && (whole->kind != ARG_REG || ptx_lower_bytes(lower, whole) != total) &&
        whole->kind != ARG_INT)
        return ptx_lower_fail(lower, whole, PTX_LOAD_ERROR_SYNTAX, "the register is not as wide as the type");
    ins.vec = ptx_lower_vector(lower, vector, MAX(part, 2u), T_B32, is_dst, &ins.n_vec, &ins.src_bytes[3]);
    ins.dst2_bytes = (guint8)part; /* of a part in the whole */
    if (is_dst) {
        ins.src[0] = ptx_lower_source(lower, whole, total, ins.type);
        ins.src_bytes[0] = (guint8)total;
    } else {
        ins.dst = PLACE_OF_REG(whole->index);
        ins.dst_bytes = (guint8)total;
    }
    ptx_lower_add(lower, &ins);
    return TRUE;
}

gboolean ptx_lower_mov(PtxLower *lower)
{
    const PtxArg *dst = &lower->args[0], *src = &lower->args[1];
    if (src->kind == ARG_VECTOR && dst->kind == ARG_REG)
        return lower_pack(lower, src, dst, FALSE);
    if (dst->kind == ARG_VECTOR)
        return lower_pack(lower, dst, src, TRUE);
    PtxIns ins = ptx_lower_new(lower);
    guint bytes = ptx_types[ins.type].bytes;
    if (dst->kind != ARG_REG || ptx_lower_bytes(lower, dst) != bytes)
        return ptx_lower_fail(lower, dst, PTX_LOAD_ERROR_SYNTAX, "the register is not as wide as the type");
    if (src->kind == ARG_REG && ptx_lower_bytes(lower, src) != bytes)
        return ptx_lower_fail(lower, src, PTX_LOAD_ERROR_SYNTAX, "the register is not as wide as the type");
    if (src->kind == ARG_LABEL)
        return ptx_lower_fail(lower, src, PTX_LOAD_ERROR_SYMBOL, "nothing has this name here");
    ins.dst = PLACE_OF_REG(dst->index);
    ins.dst_bytes = (guint8)(bytes ? bytes : 1);
    if (src->kind == ARG_SREG) { /* straight into its register */
        ins.op = OP_SREG;
        ins.mode = (guint8)src->index;
        ins.space = SPACE_REG;
    } else if (bytes == 0 && src->kind == ARG_INT) {
        ins.src[0] = ptx_lower_constant(lower, src->value ? PTX_FULL_MASK : 0, 4);
    } else {
        ins.src[0] = ptx_lower_source(lower, src, bytes, ins.type);
    }
    ins.src_bytes[0] = ins.dst_bytes;
    ptx_lower_add(lower, &ins);
    return TRUE;
}

static PtxSpace space_of(const PtxStatement *statement)
{
    static const struct {
        guint8 word, space;
    } rows[] = {{W_GLOBAL, SPACE_GLOBAL},     {W_LOCAL, SPACE_LOCAL},
                {W_CONST, SPACE_CONST},       {W_PARAM, SPACE_PARAM},
                {W_PARAM_ENTRY, SPACE_PARAM}, {W_SHARED, SPACE_SHARED},
                {W_SHARED_CTA, SPACE_SHARED}, {W_SHARED_CLUSTER, SPACE_SHARED_CLUSTER}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (ptx_statement_has(statement, rows[i].word))
            return rows[i].space;
    return SPACE_GENERIC;
}

gboolean ptx_lower_cvta(PtxLower *lower)
{
    const PtxArg *dst = &lower->args[0], *src = &lower->args[1];
    PtxIns ins = ptx_lower_new(lower);
    guint bytes = ptx_types[ins.type].bytes;
    PtxSpace space = space_of(lower->statement);
    guint64 window = space == SPACE_SHARED || space == SPACE_SHARED_CLUSTER ? PTX_SHARED_WINDOW
                     : space == SPACE_LOCAL                                 ? PTX_LOCAL_WINDOW
                     : space == SPACE_PARAM                                 ? PTX_PARAM_WINDOW
                                                                            : 0;
    if (dst->kind != ARG_REG || ptx_lower_bytes(lower, dst) != bytes ||
        (src->kind == ARG_REG && ptx_lower_bytes(lower, src) != bytes))
        return ptx_lower_fail(lower, dst, PTX_LOAD_ERROR_SYNTAX, "the registers are not as wide as the type");
    if (bytes != 8)
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_UNSUPPORTED, "generic addresses have 64 bits");
    ins.dst = PLACE_OF_REG(dst->index);
    ins.src[0] = ptx_lower_source(lower, src, bytes, T_U64);
    ins.dst_bytes = ins.src_bytes[0] = (guint8)bytes;
    ins.imm = ptx_statement_has(lower->statement, W_TO) ? 0 - window : window;
    if (ins.imm == 0)
        ins.op = OP_MOV;
    ptx_lower_add(lower, &ins);
    return TRUE;
}

gboolean ptx_lower_isspacep(PtxLower *lower)
{
    const PtxArg *src = &lower->args[1];
    PtxIns ins = ptx_lower_new(lower);
    if (src->kind == ARG_REG && ptx_lower_bytes(lower, src) != 8)
        return ptx_lower_fail(lower, src, PTX_LOAD_ERROR_UNSUPPORTED, "generic addresses have 64 bits");
    ins.dst = PLACE_OF_REG(lower->args[0].index);
    ins.dst_bytes = 1;
    ins.src[0] = ptx_lower_source(lower, src, 8, T_U64);
    ins.src_bytes[0] = 8;
    ins.space = (guint8)space_of(lower->statement);
    ptx_lower_add(lower, &ins);
    return TRUE;
}
