/* Integer arithmetic. */
#include "ptx/run/scalar.h"

static gint64 sign_extend(guint64 value, guint bits) { return (gint64)(value << (64 - bits)) >> (64 - bits); }
static guint64 low(guint64 value, guint bits) { return bits >= 64 ? value : value & (((guint64)1 << bits) - 1); }

static guint64 clamp_s32(gint64 value) { return (guint64)CLAMP(value, (gint64)G_MININT32, (gint64)G_MAXINT32); }

static guint64 multiply_high(guint64 a, guint64 b, guint bits, gboolean is_signed)
{
    if (bits < 64)
        return is_signed ? (guint64)((gint64)a * (gint64)b >> bits) : a * b >> bits;
    if (is_signed)
        return (guint64)((__int128)(gint64)a * (gint64)b >> 64);
    return (guint64)((unsigned __int128)a * b >> 64);
}

static guint64 divide(guint64 a, guint64 b, guint bits, gboolean is_signed, gboolean remainder)
{
    if (low(b, bits) == 0) /* undefined: what the measured chip does */
        return remainder && bits < 64 ? a : G_MAXUINT64;
    if (!is_signed)
        return remainder ? a % b : a / b;
    if ((gint64)b == -1)
        return remainder ? 0 : 0 - a;
    return (guint64)(remainder ? (gint64)a % (gint64)b : (gint64)a / (gint64)b);
}

static guint64 pick(const PtxIns *ins, guint64 a, guint64 b, gboolean is_signed)
{
    gboolean less = is_signed ? (gint64)a < (gint64)b : a < b;
    guint64 best = (ins->op == OP_MIN) == less ? a : b;
    return (ins->flags & FLAG_RELU) && (gint64)best < 0 ? 0 : best;
}

static guint64 halves(const PtxIns *ins, const guint64 *in)
{
    gboolean is_signed = ins->type == T_S16X2;
    guint64 out = 0;
    for (guint i = 0; i < 2; i++) {
        guint64 a = low(in[0] >> (16 * i), 16), b = low(in[1] >> (16 * i), 16);
        if (is_signed) {
            a = (guint64)sign_extend(a, 16);
            b = (guint64)sign_extend(b, 16);
        }
        out |= low(ins->op == OP_ADD ? a + b : pick(ins, a, b, is_signed), 16) << (16 * i);
    }
    return out;
}

static guint64 twenty_four(const PtxIns *ins, const guint64 *in, gboolean is_signed)
{
    guint64 a = is_signed ? (guint64)sign_extend(in[0], 24) : low(in[0], 24);
    guint64 b = is_signed ? (guint64)sign_extend(in[1], 24) : low(in[1], 24);
    guint64 product = a * b;
    product = ins->flags & FLAG_HI ? (is_signed ? (guint64)((gint64)product >> 16) : product >> 16) : product;
    if (ins->op == OP_MUL24)
        return product;
    if (ins->flags & FLAG_SAT)
        return clamp_s32(sign_extend(product, 32) + sign_extend(in[2], 32));
    return product + in[2];
}

guint64 ptx_integer_op(const PtxIns *ins, guint64 *in)
{
    if (ins->type == T_U16X2 || ins->type == T_S16X2)
        return halves(ins, in);
    guint bits = 8u * ptx_types[ins->type].memory;
    gboolean is_signed = ptx_type_is_signed((PtxType)ins->type),
             wide = ins->op == OP_MUL_WIDE || ins->op == OP_MAD_WIDE;
    guint64 v[3];
    for (guint i = 0; i < 3; i++)
        v[i] = i == 2 && wide ? in[2] : is_signed ? (guint64)sign_extend(in[i], bits) : low(in[i], bits);
    switch ((PtxOp)ins->op) {
    case OP_ADD: return ins->flags & FLAG_SAT ? clamp_s32((gint64)v[0] + (gint64)v[1]) : v[0] + v[1];
    case OP_SUB: return ins->flags & FLAG_SAT ? clamp_s32((gint64)v[0] - (gint64)v[1]) : v[0] - v[1];
    case OP_MUL_LO:
    case OP_MUL_WIDE: return v[0] * v[1];
    case OP_MUL_HI: return multiply_high(v[0], v[1], bits, is_signed);
    case OP_MAD_LO:
    case OP_MAD_WIDE: return v[0] * v[1] + v[2];
    case OP_MAD_HI: {
        guint64 high = multiply_high(v[0], v[1], bits, is_signed);
        return ins->flags & FLAG_SAT ? clamp_s32((gint64)high + (gint64)v[2]) : high + v[2];
    }
    case OP_MUL24:
    case OP_MAD24: return twenty_four(ins, in, is_signed);
    case OP_SAD: {
        gboolean less = is_signed ? (gint64)v[0] < (gint64)v[1] : v[0] < v[1];
        return v[2] + (less ? v[1] - v[0] : v[0] - v[1]);
    }
    case OP_DIV: return divide(v[0], v[1], bits, is_signed, FALSE);
    case OP_REM: return divide(v[0], v[1], bits, is_signed, TRUE);
    case OP_ABS: return (gint64)v[0] < 0 ? 0 - v[0] : v[0];
    case OP_NEG: return 0 - v[0];
    default: return pick(ins, v[0], v[1], is_signed);
    }
}
