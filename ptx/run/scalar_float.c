/* f32, f32x2, f64 and mixed precision. Approximations are the correctly rounded value, which lies within every error
 * bound that PTX states for them; subnormals are flushed where the instruction says .ftz. */
#include <math.h>

#include "ptx/run/scalar.h"

#define PI 3.14159265358979323846

static PtxWord round_of(const PtxIns *ins) { return ins->flags & FLAG_EXPLICIT ? (PtxWord)ins->mode : W_RN; }

static guint64 finish(const PtxIns *ins, guint64 bits)
{
    if (ins->flags & FLAG_FTZ)
        bits = ptx_f32_flush(bits);
    if (ins->flags & FLAG_SAT) {
        float value = ptx_float(bits);
        bits = ptx_f32_is_nan(bits) || value <= 0 ? 0 : value >= 1 ? 0x3f800000u : bits;
    }
    return ptx_f32_is_nan(bits) ? PTX_NAN_F32 : bits;
}

static guint64 rounded(const PtxIns *ins, double exact, guint64 zero_sign_of_sum)
{
    PtxWord mode = round_of(ins);
    if (exact == 0 && mode == W_RM && zero_sign_of_sum)
        return 0x80000000u; /* a sum that vanishes is -0 when rounding down */
    return ptx_format_round(&ptx_format_f32, exact, mode, FALSE);
}

static guint64 sum_vanishes(double a, double b)
{
    return a + b == 0 && !(a == 0 && b == 0 && signbit(a) == signbit(b));
}

static guint64 min_max(const PtxIns *ins, guint64 a, guint64 b)
{
    guint64 sign = 0;
    if (ins->flags & (FLAG_XORSIGN | FLAG_ABS)) {
        sign = ins->flags & FLAG_XORSIGN ? (a ^ b) & 0x80000000u : 0;
        a &= 0x7fffffffu;
        b &= 0x7fffffffu;
    }
    gboolean a_nan = ptx_f32_is_nan(a), b_nan = ptx_f32_is_nan(b);
    if ((a_nan && b_nan) || ((a_nan || b_nan) && (ins->flags & FLAG_NAN)))
        return PTX_NAN_F32;
    if (a_nan || b_nan)
        return (a_nan ? b : a) | sign;
    float x = ptx_float(a), y = ptx_float(b);
    gboolean a_less = x < y || (x == y && signbit(x) && !signbit(y));
    return ((ins->op == OP_MIN) == a_less ? a : b) | sign;
}

static double approximate(PtxOp op, double x)
{
    switch (op) {
    case OP_RCP: return 1 / x;
    case OP_SQRT: return sqrt(x);
    case OP_RSQRT: return 1 / sqrt(x);
    case OP_SIN: return sin(x);
    case OP_COS: return cos(x);
    case OP_LG2: return log2(x);
    case OP_EX2: return exp2(x);
    default: return tanh(x);
    }
}

static guint64 unary(const PtxIns *ins, guint64 a)
{
    double x = ptx_float(a);
    gboolean exact = ins->flags & FLAG_EXPLICIT && !(ins->flags & FLAG_APPROX);
    if (ins->op == OP_RCP && exact)
        return rounded(ins, ptx_odd_div(1, x), 0);
    if (ins->op == OP_SQRT && exact)
        return rounded(ins, ptx_odd_sqrt(x), 0);
    return ptx_float_bits((float)approximate((PtxOp)ins->op, x));
}

static guint64 single(const PtxIns *ins, const guint64 *in)
{
    double a = ptx_float(in[0]), b = ptx_float(in[1]), c = ptx_float(in[2]);
    switch ((PtxOp)ins->op) {
    case OP_ADD: return rounded(ins, ptx_odd_add(a, b), sum_vanishes(a, b));
    case OP_SUB: return rounded(ins, ptx_odd_add(a, -b), sum_vanishes(a, -b));
    case OP_MUL_LO: return rounded(ins, a * b, 0);
    case OP_FMA: return rounded(ins, ptx_odd_fma(a, b, c), sum_vanishes(a * b, c));
    case OP_DIV:
        if (ins->flags & FLAG_APPROX && fabs(b) > 0x1p126 && isfinite(b) && isfinite(a)) /* stated: 0 beyond 2^126 */
            return ptx_float_bits(copysignf(0, (float)(copysign(1, a) * copysign(1, b))));
        return rounded(ins, ptx_odd_div(a, b), 0);
    case OP_MIN:
    case OP_MAX: {
        guint64 best = min_max(ins, in[0], in[1]);
        return ins->flags & FLAG_THREE ? min_max(ins, best, in[2]) : best;
    }
    case OP_ABS: return in[0] & 0x7fffffffu;
    case OP_NEG: return in[0] ^ 0x80000000u;
    case OP_COPYSIGN: return (in[1] & 0x7fffffffu) | (in[0] & 0x80000000u);
    default: return unary(ins, in[0]);
    }
}

guint64 ptx_float_op(const PtxIns *ins, guint64 *in)
{
    guint64 out = 0;
    guint pair = ins->type == T_F32X2 ? 2 : 1;
    for (guint i = 0; i < pair; i++) {
        guint64 part[3];
        for (guint o = 0; o < 3; o++) {
            part[o] = in[o] >> (32 * i) & 0xffffffffu;
            if (ins->flags & FLAG_FTZ)
                part[o] = ptx_f32_flush(part[o]);
        }
        guint64 bits = single(ins, part);
        gboolean moves = ins->op == OP_COPYSIGN;
        out |= (moves ? bits : finish(ins, bits)) << (32 * i);
    }
    return out;
}

/* ---- f64 */

static guint64 double_min_max(const PtxIns *ins, guint64 a, guint64 b)
{
    double x = ptx_double(a), y = ptx_double(b);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0x7fffffffffffffffu : isnan(x) ? b : a;
    gboolean a_less = x < y || (x == y && signbit(x) && !signbit(y));
    return (ins->op == OP_MIN) == a_less ? a : b;
}

/* PTX: the upper 32 bits of the result, from the upper 32 bits of the operand. */
static guint64 coarse(double value) { return ptx_double_bits(value) & 0xffffffff00000000u; }

static guint64 flush64(guint64 bits) { return bits & 0x7ff0000000000000u ? bits : bits & 0x8000000000000000u; }

/* The payload of the first operand that is NaN, made quiet. */
static guint64 keep_payload(guint64 result, const guint64 *in, guint n)
{
    if (!isnan(ptx_double(result)))
        return result;
    for (guint i = 0; i < n; i++)
        if (isnan(ptx_double(in[i])))
            return in[i] | 0x0008000000000000u;
    return 0xfff8000000000000u;
}

guint64 ptx_double_op(const PtxIns *ins, guint64 *in)
{
    double a = ptx_double(in[0]), b = ptx_double(in[1]), c = ptx_double(in[2]);
    PtxWord mode = round_of(ins);
    switch ((PtxOp)ins->op) {
    case OP_ADD: return keep_payload(ptx_double_bits(ptx_directed(DIRECTED_ADD, a, b, 0, 0, mode)), in, 2);
    case OP_SUB: return keep_payload(ptx_double_bits(ptx_directed(DIRECTED_ADD, a, -b, 0, 0, mode)), in, 2);
    case OP_MUL_LO: return keep_payload(ptx_double_bits(ptx_directed(DIRECTED_MUL, a, b, 0, 0, mode)), in, 2);
    case OP_FMA: return keep_payload(ptx_double_bits(ptx_directed(DIRECTED_FMA, a, b, c, 0, mode)), in, 3);
    case OP_DIV: return keep_payload(ptx_double_bits(ptx_directed(DIRECTED_DIV, a, b, 0, 0, mode)), in, 2);
    case OP_SQRT: return keep_payload(ptx_double_bits(ptx_directed(DIRECTED_SQRT, a, 0, 0, 0, mode)), in, 1);
    case OP_RCP:
        if (ins->flags & FLAG_APPROX)
            return flush64(coarse(1 / ptx_double(flush64(in[0] & 0xffffffff00000000u))));
        return keep_payload(ptx_double_bits(ptx_directed(DIRECTED_DIV, 1, a, 0, 0, mode)), in, 1);
    case OP_RSQRT: {
        double x = ins->flags & FLAG_FTZ ? ptx_double(flush64(in[0] & 0xffffffff00000000u)) : a;
        return coarse(1 / sqrt(x));
    }
    case OP_MIN:
    case OP_MAX: return double_min_max(ins, in[0], in[1]);
    case OP_ABS: return in[0] & 0x7fffffffffffffffu;
    case OP_NEG: return in[0] ^ 0x8000000000000000u;
    case OP_COPYSIGN: return (in[1] & 0x7fffffffffffffffu) | (in[0] & 0x8000000000000000u);
    default: return 0;
    }
}
