/* f16 and bf16, alone, in pairs, and mixed with f32. */
#include <math.h>

#include "ptx/run/scalar.h"

typedef struct {
    const PtxFormat *format;
    gboolean is_bf16;
} Half;

static gboolean is_nan(const Half *half, guint64 bits)
{
    return (bits & 0x7fffu) > (half->is_bf16 ? 0x7f80u : 0x7c00u);
}

static guint64 flush(const PtxIns *ins, const Half *half, guint64 bits)
{
    guint64 exponent = half->is_bf16 ? 0x7f80u : 0x7c00u;
    return (ins->flags & FLAG_FTZ) && !(bits & exponent) ? bits & 0x8000u : bits;
}

static guint64 min_max(const PtxIns *ins, const Half *half, guint64 a, guint64 b)
{
    guint64 sign = 0;
    if (ins->flags & (FLAG_XORSIGN | FLAG_ABS)) {
        sign = ins->flags & FLAG_XORSIGN ? (a ^ b) & 0x8000u : 0;
        a &= 0x7fffu;
        b &= 0x7fffu;
    }
    gboolean a_nan = is_nan(half, a), b_nan = is_nan(half, b);
    if ((a_nan && b_nan) || ((a_nan || b_nan) && (ins->flags & FLAG_NAN)))
        return PTX_NAN_F16;
    if (a_nan || b_nan)
        return (a_nan ? b : a) | sign;
    double x = ptx_format_value(half->format, a), y = ptx_format_value(half->format, b);
    gboolean a_less = x < y || (x == y && signbit(x) && !signbit(y));
    return ((ins->op == OP_MIN) == a_less ? a : b) | sign;
}

static guint64 finish(const PtxIns *ins, const Half *half, double value)
{
    guint64 bits = ptx_format_round(half->format, value, W_RN, FALSE);
    bits = flush(ins, half, bits);
    if (ins->flags & FLAG_SAT) {
        double now = ptx_format_value(half->format, bits);
        bits = isnan(now) || now <= 0 ? 0 : now >= 1 ? ptx_format_round(half->format, 1, W_RN, FALSE) : bits;
    }
    if ((ins->flags & FLAG_RELU) && !is_nan(half, bits) && (bits & 0x8000u))
        bits = 0;
    return is_nan(half, bits) ? PTX_NAN_F16 : bits;
}

#define OOB_NAN 0xffffu

static guint64 one(const PtxIns *ins, const Half *half, const guint64 *in)
{
    guint64 bits[3];
    double v[3];
    for (guint i = 0; i < 3; i++) {
        bits[i] = flush(ins, half, in[i]);
        v[i] = ptx_format_value(half->format, bits[i]);
    }
    switch ((PtxOp)ins->op) {
    case OP_ADD: return finish(ins, half, ptx_odd_add(v[0], v[1]));
    case OP_SUB: return finish(ins, half, ptx_odd_add(v[0], -v[1]));
    case OP_MUL_LO: return finish(ins, half, v[0] * v[1]);
    case OP_FMA:
        if ((ins->flags & FLAG_OOB) && (in[0] == OOB_NAN || in[1] == OOB_NAN))
            return 0;
        return finish(ins, half, ptx_odd_fma(v[0], v[1], v[2]));
    case OP_MIN:
    case OP_MAX: return min_max(ins, half, bits[0], bits[1]);
    case OP_ABS: return is_nan(half, bits[0]) ? PTX_NAN_F16 : bits[0] & 0x7fffu;
    case OP_NEG: return is_nan(half, bits[0]) ? PTX_NAN_F16 : bits[0] ^ 0x8000u;
    case OP_EX2: return finish(ins, half, exp2(v[0]));
    default: return finish(ins, half, tanh(v[0]));
    }
}

guint64 ptx_half_op(const PtxIns *ins, guint64 *in)
{
    PtxType type = ins->type;
    if (ins->op == OP_MIX_ADD || ins->op == OP_MIX_FMA) { /* the halves are exact in f32 */
        const PtxFormat *format = ins->type2 == T_BF16 ? &ptx_format_bf16 : &ptx_format_f16;
        PtxIns plain = *ins;
        plain.type = plain.type2 = T_F32;
        guint64 wide[5] = {0};
        guint n = ins->op == OP_MIX_ADD ? 1 : 2;
        for (guint i = 0; i < n; i++)
            wide[i] = ptx_float_bits((float)ptx_format_value(format, in[i]));
        wide[n] = in[n];
        if (ins->flags & FLAG_NEGATE_C)
            wide[n] ^= 0x80000000u;
        plain.op = ins->op == OP_MIX_ADD ? OP_ADD : OP_FMA;
        return ptx_float_op(&plain, wide);
    }
    Half half = {.is_bf16 = type == T_BF16 || type == T_BF16X2};
    half.format = half.is_bf16 ? &ptx_format_bf16 : &ptx_format_f16;
    guint n = type == T_F16X2 || type == T_BF16X2 ? 2 : 1;
    guint64 out = 0;
    for (guint i = 0; i < n; i++) {
        guint64 part[3];
        for (guint o = 0; o < 3; o++)
            part[o] = in[o] >> (16 * i) & 0xffffu;
        out |= one(ins, &half, part) << (16 * i);
    }
    return out;
}
