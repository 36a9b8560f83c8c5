/* The handlers of what loops are made of, as loops over 32 lanes that compilers turn into vector instructions. This
 * file is included once for each instruction set (hot.c, hot_v3.c), hence no guard; HOT(name) names a clone's
 * functions. All clones give the same bits, and the same as scalar.h: there is no contraction and no reassociation. */
#include "ptx/run/exec.h"
#include "ptx/run/scalar.h"
#include "model/memory/numeric_convert.h"
#include "ptx/run/matrix_lanes.h"

#define LANES(T, name, at) const T *name = ptx_lanes(warp, ins->src[at])
#define OUT(T) T *d = ptx_lanes_out(warp, ins->dst)
/* Each lane on its own: operands and result may be the same registers. */
#define EACH(expression)                                                                                               \
    do {                                                                                                               \
        if (G_LIKELY(mask == PTX_FULL_MASK)) {                                                                         \
            _Pragma("GCC ivdep") for (guint l = 0; l < PTX_LANES; l++) d[l] = (expression);                            \
        } else {                                                                                                       \
            _Pragma("GCC ivdep") for (guint l = 0; l < PTX_LANES; l++) d[l] = mask >> l & 1 ? (expression) : d[l];     \
        }                                                                                                              \
    } while (0)

#define UNARY(name, D, A, expression)                                                                                  \
    static void HOT(name)(PtxWarp * warp, const PtxIns *ins, guint32 mask)                                             \
    {                                                                                                                  \
        OUT(D);                                                                                                        \
        LANES(A, a, 0);                                                                                                \
        EACH((D)(expression));                                                                                         \
    }
#define BINARY(name, D, A, B, expression)                                                                              \
    static void HOT(name)(PtxWarp * warp, const PtxIns *ins, guint32 mask)                                             \
    {                                                                                                                  \
        OUT(D);                                                                                                        \
        LANES(A, a, 0);                                                                                                \
        LANES(B, b, 1);                                                                                                \
        EACH((D)(expression));                                                                                         \
    }
#define TERNARY(name, D, A, B, C, expression)                                                                          \
    static void HOT(name)(PtxWarp * warp, const PtxIns *ins, guint32 mask)                                             \
    {                                                                                                                  \
        OUT(D);                                                                                                        \
        LANES(A, a, 0);                                                                                                \
        LANES(B, b, 1);                                                                                                \
        LANES(C, c, 2);                                                                                                \
        EACH((D)(expression));                                                                                         \
    }

BINARY(add_32, guint32, guint32, guint32, a[l] + b[l])
BINARY(sub_32, guint32, guint32, guint32, a[l] - b[l])
BINARY(mul_32, guint32, guint32, guint32, a[l] * b[l])
BINARY(and_32, guint32, guint32, guint32, a[l] & b[l])
BINARY(or_32, guint32, guint32, guint32, a[l] | b[l])
BINARY(xor_32, guint32, guint32, guint32, a[l] ^ b[l])
UNARY(not_32, guint32, guint32, ~a[l])
UNARY(neg_32, guint32, guint32, 0u - a[l])
BINARY(min_s32, gint32, gint32, gint32, MIN(a[l], b[l]))
BINARY(max_s32, gint32, gint32, gint32, MAX(a[l], b[l]))
BINARY(min_u32, guint32, guint32, guint32, MIN(a[l], b[l]))
BINARY(max_u32, guint32, guint32, guint32, MAX(a[l], b[l]))
BINARY(shl_32, guint32, guint32, guint32, b[l] > 31 ? 0 : a[l] << (b[l] & 31))
BINARY(shr_u32, guint32, guint32, guint32, b[l] > 31 ? 0 : a[l] >> (b[l] & 31))
BINARY(shr_s32, gint32, gint32, guint32, a[l] >> MIN(b[l], 31u))
TERNARY(mad_32, guint32, guint32, guint32, guint32, a[l] * b[l] + c[l])
BINARY(mul_wide_u32, guint64, guint32, guint32, (guint64)a[l] * b[l])
BINARY(mul_wide_s32, gint64, gint32, gint32, (gint64)a[l] * b[l])
TERNARY(mad_wide_u32, guint64, guint32, guint32, guint64, (guint64)a[l] * b[l] + c[l])
TERNARY(mad_wide_s32, guint64, gint32, gint32, guint64, (guint64)((gint64)a[l] * b[l]) + c[l])
BINARY(add_64, guint64, guint64, guint64, a[l] + b[l])
BINARY(sub_64, guint64, guint64, guint64, a[l] - b[l])
BINARY(mul_64, guint64, guint64, guint64, a[l] * b[l])
BINARY(and_64, guint64, guint64, guint64, a[l] & b[l])
BINARY(or_64, guint64, guint64, guint64, a[l] | b[l])
BINARY(xor_64, guint64, guint64, guint64, a[l] ^ b[l])
BINARY(min_s64, gint64, gint64, gint64, MIN(a[l], b[l]))
BINARY(max_s64, gint64, gint64, gint64, MAX(a[l], b[l]))
BINARY(min_u64, guint64, guint64, guint64, MIN(a[l], b[l]))
BINARY(max_u64, guint64, guint64, guint64, MAX(a[l], b[l]))
BINARY(shl_64, guint64, guint64, guint32, b[l] > 63 ? 0 : a[l] << (b[l] & 63))
BINARY(shr_u64, guint64, guint64, guint32, b[l] > 63 ? 0 : a[l] >> (b[l] & 63))
BINARY(shr_s64, gint64, gint64, guint32, a[l] >> MIN(b[l], 63u))
TERNARY(mad_64, guint64, guint64, guint64, guint64, a[l] * b[l] + c[l])
BINARY(mul_hi_u32, guint32, guint32, guint32, (guint64)a[l] * b[l] >> 32)
BINARY(mul_hi_s32, gint32, gint32, gint32, (gint64)a[l] * b[l] >> 32)
BINARY(mul_hi_u64, guint64, guint64, guint64, (unsigned __int128)a[l] * b[l] >> 64)
/* Divisors of 0 give what the measured chip does (scalar_integer.c). */
BINARY(div_u32, guint32, guint32, guint32, b[l] ? a[l] / b[l] : 0xffffffffu)
BINARY(rem_u32, guint32, guint32, guint32, b[l] ? a[l] % b[l] : a[l])
BINARY(div_s32, gint32, gint32, gint32, b[l] ? (gint32)((gint64)a[l] / b[l]) : -1)
BINARY(rem_s32, gint32, gint32, gint32, b[l] ? (gint32)((gint64)a[l] % b[l]) : a[l])
BINARY(div_u64, guint64, guint64, guint64, b[l] ? a[l] / b[l] : G_MAXUINT64)
BINARY(rem_u64, guint64, guint64, guint64, b[l] ? a[l] % b[l] : G_MAXUINT64)
BINARY(div_s64, gint64, gint64, gint64, b[l] == -1 ? (gint64)(0 - (guint64)a[l]) : b[l] ? a[l] / b[l] : -1)
UNARY(clz_32, guint32, guint32, a[l] ? (guint32)__builtin_clz(a[l]) : 32)
UNARY(popc_32, guint32, guint32, __builtin_popcount(a[l]))
UNARY(widen_u32, guint64, guint32, a[l])
UNARY(widen_s32, gint64, gint32, a[l])
UNARY(narrow_64, guint32, guint64, a[l])
UNARY(widen_u16, guint32, guint16, a[l])
UNARY(narrow_32, guint16, guint32, a[l])

/* f32: NaN results are canonical. */
static inline guint32 HOT(canonical)(float value)
{
    guint32 bits = ptx_float_bits(value);
    return value != value ? PTX_NAN_F32 : bits;
}
BINARY(add_f32, guint32, float, float, HOT(canonical)(a[l] + b[l]))
BINARY(sub_f32, guint32, float, float, HOT(canonical)(a[l] - b[l]))
BINARY(mul_f32, guint32, float, float, HOT(canonical)(a[l] * b[l]))
TERNARY(fma_f32, guint32, float, float, float, HOT(canonical)(__builtin_fmaf(a[l], b[l], c[l])))

/* Pairs of halves: 64 of them side by side. */
#define PAIRS(name, from, to, expression)                                                                              \
    static void HOT(name)(PtxWarp * warp, const PtxIns *ins, guint32 mask)                                             \
    {                                                                                                                  \
        float a[2 * PTX_LANES], b[2 * PTX_LANES];                                                                      \
        guint32 out[PTX_LANES];                                                                                        \
        OUT(guint32);                                                                                                  \
        from(a, ptx_lanes(warp, ins->src[0]), 2 * PTX_LANES);                                                          \
        from(b, ptx_lanes(warp, ins->src[1]), 2 * PTX_LANES);                                                          \
        for (guint l = 0; l < 2 * PTX_LANES; l++)                                                                      \
            a[l] = expression;                                                                                         \
        to(out, a, 2 * PTX_LANES);                                                                                     \
        EACH(out[l]);                                                                                                  \
    }
PAIRS(add_bf16x2, convert_from_bf16, convert_to_bf16, a[l] + b[l])
PAIRS(sub_bf16x2, convert_from_bf16, convert_to_bf16, a[l] - b[l])
PAIRS(add_f16x2, convert_from_f16, convert_to_f16, a[l] + b[l])
PAIRS(sub_f16x2, convert_from_f16, convert_to_f16, a[l] - b[l])
PAIRS(mul_f16x2, convert_from_f16, convert_to_f16, a[l] * b[l])

/* Two words side by side, shifted: what is left of them above or below. */
#define PAIR(l) ((guint64)b[l] << 32 | a[l])
TERNARY(shf_l_wrap, guint32, guint32, guint32, guint32, PAIR(l) << (c[l] & 31) >> 32)
TERNARY(shf_r_wrap, guint32, guint32, guint32, guint32, PAIR(l) >> (c[l] & 31))
TERNARY(shf_l_clamp, guint32, guint32, guint32, guint32, c[l] > 31 ? a[l] : PAIR(l) << (c[l] & 31) >> 32)
TERNARY(shf_r_clamp, guint32, guint32, guint32, guint32, c[l] > 31 ? b[l] : PAIR(l) >> (c[l] & 31))

/* Comparisons give a bit a lane. */
#define COMPARE(name, T, operator)                                                                                     \
    static void HOT(name)(PtxWarp * warp, const PtxIns *ins, guint32 mask)                                             \
    {                                                                                                                  \
        guint32 bits = 0, *d = ptx_lanes_out(warp, ins->dst);                                                          \
        LANES(T, a, 0);                                                                                                \
        LANES(T, b, 1);                                                                                                \
        for (guint l = 0; l < PTX_LANES; l++)                                                                          \
            bits |= (guint32)(a[l] operator b[l]) << l;                                                                \
        *d = (*d & ~mask) | (bits & mask);                                                                             \
    }
#define COMPARES(suffix, T)                                                                                            \
    COMPARE(eq_##suffix, T, ==)                                                                                        \
    COMPARE(ne_##suffix, T, !=)                                                                                        \
    COMPARE(lt_##suffix, T, <) COMPARE(le_##suffix, T, <=) COMPARE(gt_##suffix, T, >) COMPARE(ge_##suffix, T, >=)
COMPARES(s32, gint32)
COMPARES(u32, guint32)
COMPARES(s64, gint64)
COMPARES(u64, guint64)

#define SELECT(name, T)                                                                                                \
    static void HOT(name)(PtxWarp * warp, const PtxIns *ins, guint32 mask)                                             \
    {                                                                                                                  \
        OUT(T);                                                                                                        \
        LANES(T, a, 0);                                                                                                \
        LANES(T, b, 1);                                                                                                \
        guint32 c = ptx_predicate(warp, ins->src[2]);                                                                  \
        EACH(c >> l & 1 ? a[l] : b[l]);                                                                                \
    }
SELECT(select_32, guint32)
SELECT(select_64, guint64)

static void HOT(lop3_32)(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    OUT(guint32);
    LANES(guint32, a, 0);
    LANES(guint32, b, 1);
    LANES(guint32, c, 2);
    guint32 term[8]; /* all ones where the table has a one */
    for (guint i = 0; i < 8; i++)
        term[i] = 0u - (guint32)(ins->imm >> i & 1);
    EACH(
        (~a[l] & ((~b[l] & ((~c[l] & term[0]) | (c[l] & term[1]))) | (b[l] & ((~c[l] & term[2]) | (c[l] & term[3]))))) |
        (a[l] & ((~b[l] & ((~c[l] & term[4]) | (c[l] & term[5]))) | (b[l] & ((~c[l] & term[6]) | (c[l] & term[7]))))));
}

/* ---- which one */

#define ROW(op, type, name)                                                                                            \
    {                                                                                                                  \
        op, type, type, W_NONE, HOT(name)                                                                              \
    }
#define ROW_COMPARES(type, suffix)                                                                                     \
    {OP_SETP, type, type, W_EQ, HOT(eq_##suffix)}, {OP_SETP, type, type, W_NE, HOT(ne_##suffix)},                      \
        {OP_SETP, type, type, W_LT, HOT(lt_##suffix)}, {OP_SETP, type, type, W_LE, HOT(le_##suffix)},                  \
        {OP_SETP, type, type, W_GT, HOT(gt_##suffix)},                                                                 \
    {                                                                                                                  \
        OP_SETP, type, type, W_GE, HOT(ge_##suffix)                                                                    \
    }
static const struct {
    guint8 op, type, type2, mode;
    PtxHandler run;
} HOT(rows)[] = {
    ROW(OP_ADD, T_S32, add_32),
    ROW(OP_ADD, T_U32, add_32),
    ROW(OP_SUB, T_S32, sub_32),
    ROW(OP_SUB, T_U32, sub_32),
    ROW(OP_MUL_LO, T_S32, mul_32),
    ROW(OP_MUL_LO, T_U32, mul_32),
    ROW(OP_MAD_LO, T_S32, mad_32),
    ROW(OP_MAD_LO, T_U32, mad_32),
    ROW(OP_MUL_WIDE, T_U32, mul_wide_u32),
    ROW(OP_MUL_WIDE, T_S32, mul_wide_s32),
    ROW(OP_MAD_WIDE, T_U32, mad_wide_u32),
    ROW(OP_MAD_WIDE, T_S32, mad_wide_s32),
    ROW(OP_ADD, T_S64, add_64),
    ROW(OP_ADD, T_U64, add_64),
    ROW(OP_SUB, T_S64, sub_64),
    ROW(OP_SUB, T_U64, sub_64),
    ROW(OP_MUL_LO, T_S64, mul_64),
    ROW(OP_MUL_LO, T_U64, mul_64),
    ROW(OP_MAD_LO, T_S64, mad_64),
    ROW(OP_MAD_LO, T_U64, mad_64),
    ROW(OP_DIV, T_U32, div_u32),
    ROW(OP_REM, T_U32, rem_u32),
    ROW(OP_DIV, T_S32, div_s32),
    ROW(OP_REM, T_S32, rem_s32),
    ROW(OP_DIV, T_U64, div_u64),
    ROW(OP_REM, T_U64, rem_u64),
    ROW(OP_DIV, T_S64, div_s64),
    ROW(OP_CLZ, T_B32, clz_32),
    ROW(OP_POPC, T_B32, popc_32),
    ROW(OP_AND, T_B32, and_32),
    ROW(OP_OR, T_B32, or_32),
    ROW(OP_XOR, T_B32, xor_32),
    ROW(OP_NOT, T_B32, not_32),
    ROW(OP_AND, T_B64, and_64),
    ROW(OP_OR, T_B64, or_64),
    ROW(OP_XOR, T_B64, xor_64),
    ROW(OP_NEG, T_S32, neg_32),
    ROW(OP_MIN, T_S32, min_s32),
    ROW(OP_MAX, T_S32, max_s32),
    ROW(OP_MIN, T_U32, min_u32),
    ROW(OP_MAX, T_U32, max_u32),
    ROW(OP_MIN, T_S64, min_s64),
    ROW(OP_MAX, T_S64, max_s64),
    ROW(OP_MIN, T_U64, min_u64),
    ROW(OP_MAX, T_U64, max_u64),
    ROW(OP_SHL, T_B32, shl_32),
    ROW(OP_SHR, T_U32, shr_u32),
    ROW(OP_SHR, T_B32, shr_u32),
    ROW(OP_SHR, T_S32, shr_s32),
    ROW(OP_SHL, T_B64, shl_64),
    ROW(OP_SHR, T_U64, shr_u64),
    ROW(OP_SHR, T_B64, shr_u64),
    ROW(OP_SHR, T_S64, shr_s64),
    ROW(OP_ADD, T_F32, add_f32),
    ROW(OP_SUB, T_F32, sub_f32),
    ROW(OP_MUL_LO, T_F32, mul_f32),
    ROW(OP_FMA, T_F32, fma_f32),
    ROW(OP_ADD, T_BF16X2, add_bf16x2),
    ROW(OP_SUB, T_BF16X2, sub_bf16x2),
    ROW(OP_ADD, T_F16X2, add_f16x2),
    ROW(OP_SUB, T_F16X2, sub_f16x2),
    ROW(OP_MUL_LO, T_F16X2, mul_f16x2),
    ROW(OP_LOP3, T_B32, lop3_32),
    ROW(OP_SELP, T_B32, select_32),
    ROW(OP_SELP, T_U32, select_32),
    ROW(OP_SELP, T_S32, select_32),
    ROW(OP_SELP, T_F32, select_32),
    ROW(OP_SELP, T_B64, select_64),
    ROW(OP_SELP, T_U64, select_64),
    ROW(OP_SELP, T_S64, select_64),
    ROW(OP_SELP, T_F64, select_64),
    ROW_COMPARES(T_S32, s32),
    ROW_COMPARES(T_U32, u32),
    ROW_COMPARES(T_S64, s64),
    ROW_COMPARES(T_U64, u64),
    {OP_SETP, T_B32, T_B32, W_EQ, HOT(eq_u32)},
    {OP_SETP, T_B32, T_B32, W_NE, HOT(ne_u32)},
    {OP_SETP, T_B64, T_B64, W_EQ, HOT(eq_u64)},
    {OP_SETP, T_B64, T_B64, W_NE, HOT(ne_u64)},
    {OP_CVT, T_U64, T_U32, W_NONE, HOT(widen_u32)},
    {OP_CVT, T_S64, T_S32, W_NONE, HOT(widen_s32)},
    {OP_CVT, T_U32, T_U64, W_NONE, HOT(narrow_64)},
    {OP_CVT, T_S32, T_S64, W_NONE, HOT(narrow_64)},
    {OP_CVT, T_U32, T_U16, W_NONE, HOT(widen_u16)},
    {OP_CVT, T_U16, T_U32, W_NONE, HOT(narrow_32)},
};

/* The widths that a row's function takes are those of its types: a wider register goes the plain way. */
static gboolean HOT(widths_match)(const PtxIns *ins)
{
    guint bytes = ptx_types[ins->type].bytes;
    gboolean wide = ins->op == OP_MUL_WIDE || ins->op == OP_MAD_WIDE;
    if (ins->op == OP_SETP)
        return ins->dst != PLACE_NONE && ins->dst2 == PLACE_NONE && ins->combine == W_NONE;
    return ins->dst_bytes == (wide ? 2 * bytes : bytes) && ins->dst2 == PLACE_NONE &&
           ins->src_bytes[0] == ptx_types[ins->type2].bytes;
}

PtxHandler HOT(find)(const PtxIns *ins);
PtxHandler HOT(find)(const PtxIns *ins)
{
    if (ins->op == OP_SHF && ins->src_bytes[2] == 4)
        return ins->flags & FLAG_WRAP ? (ins->flags & FLAG_RIGHT ? HOT(shf_r_wrap) : HOT(shf_l_wrap))
                                      : (ins->flags & FLAG_RIGHT ? HOT(shf_r_clamp) : HOT(shf_l_clamp));
    if (ins->op == OP_MUL_HI && HOT(widths_match)(ins))
        return ins->type == T_U32   ? HOT(mul_hi_u32)
               : ins->type == T_S32 ? HOT(mul_hi_s32)
               : ins->type == T_U64 ? HOT(mul_hi_u64)
                                    : NULL;
    PtxWord mode = ins->op == OP_SETP ? ins->mode : ins->mode == W_RN ? W_NONE : (PtxWord)ins->mode;
    if ((ins->flags & ~(guint32)FLAG_EXPLICIT) || !HOT(widths_match)(ins))
        return NULL;
    for (guint i = 0; i < G_N_ELEMENTS(HOT(rows)); i++)
        if (HOT(rows)[i].op == ins->op && HOT(rows)[i].type == ins->type && HOT(rows)[i].type2 == ins->type2 &&
            HOT(rows)[i].mode == mode)
            return HOT(rows)[i].run;
    return NULL;
}

/* ---- what memory instructions do with their lanes */

static guint64 HOT(add_offset)(guint64 *restrict va, const guint64 *restrict base, guint64 offset)
{
    guint64 bits = 0;
    for (guint l = 0; l < PTX_LANES; l++) {
        va[l] = base[l] + offset;
        bits |= va[l];
    }
    return bits;
}

/* Four registers of words, and 16 bytes a lane. */
static void HOT(split)(guint32 *restrict a, guint32 *restrict b, guint32 *restrict c, guint32 *restrict d,
                       const guint32 *restrict lanes)
{
    for (guint l = 0; l < PTX_LANES; l++) {
        a[l] = lanes[4 * l];
        b[l] = lanes[4 * l + 1];
        c[l] = lanes[4 * l + 2];
        d[l] = lanes[4 * l + 3];
    }
}

static void HOT(join)(guint32 *restrict lanes, const guint32 *restrict a, const guint32 *restrict b,
                      const guint32 *restrict c, const guint32 *restrict d)
{
    for (guint l = 0; l < PTX_LANES; l++) {
        lanes[4 * l] = a[l];
        lanes[4 * l + 1] = b[l];
        lanes[4 * l + 2] = c[l];
        lanes[4 * l + 3] = d[l];
    }
}

const PtxHot *HOT(functions)(void);
const PtxHot *HOT(functions)(void)
{
    static const PtxHot functions = {HOT(add_offset), HOT(split), HOT(join), HOT(unpack), HOT(row_sums), HOT(cut_f32)};
    return &functions;
}
