/* setp, set, slct, testp. */
#include <math.h>

#include "ptx/run/scalar.h"

static gboolean compare_floats(PtxWord mode, double a, double b)
{
    gboolean unordered = isnan(a) || isnan(b);
    switch (mode) {
    case W_EQ: return a == b;
    case W_NE: return !unordered && a != b;
    case W_LT: return a < b;
    case W_LE: return a <= b;
    case W_GT: return a > b;
    case W_GE: return a >= b;
    case W_EQU: return unordered || a == b;
    case W_NEU: return unordered || a != b;
    case W_LTU: return unordered || a < b;
    case W_LEU: return unordered || a <= b;
    case W_GTU: return unordered || a > b;
    case W_GEU: return unordered || a >= b;
    case W_NUM: return !unordered;
    default: return unordered; /* nan */
    }
}

static gboolean compare_integers(PtxWord mode, gint64 a, gint64 b, gboolean is_signed)
{
    gboolean less = is_signed ? a < b : (guint64)a < (guint64)b;
    switch (mode) {
    case W_EQ: return a == b;
    case W_NE: return a != b;
    case W_LT: return less;
    case W_LE: return less || a == b;
    case W_GT: return !less && a != b;
    case W_GE: return !less;
    case W_LO: return (guint64)a < (guint64)b;
    case W_LS: return (guint64)a <= (guint64)b;
    case W_HI: return (guint64)a > (guint64)b;
    default: return (guint64)a >= (guint64)b; /* hs */
    }
}

static double half_value(const PtxIns *ins, PtxType type, guint64 bits)
{
    gboolean is_bf16 = type == T_BF16 || type == T_BF16X2;
    if ((ins->flags & FLAG_FTZ) && !(bits & (is_bf16 ? 0x7f80u : 0x7c00u)))
        bits &= 0x8000u;
    return ptx_format_value(is_bf16 ? &ptx_format_bf16 : &ptx_format_f16, bits);
}

static gboolean compare(const PtxIns *ins, PtxType type, guint64 a, guint64 b)
{
    guint bits = 8u * ptx_types[type].memory;
    PtxWord mode = (PtxWord)ins->mode;
    switch (type) {
    case T_F16:
    case T_BF16:
    case T_F16X2:
    case T_BF16X2: return compare_floats(mode, half_value(ins, type, a & 0xffff), half_value(ins, type, b & 0xffff));
    case T_F32:
        if (ins->flags & FLAG_FTZ) {
            a = ptx_f32_flush(a);
            b = ptx_f32_flush(b);
        }
        return compare_floats(mode, ptx_float(a), ptx_float(b));
    case T_F64: return compare_floats(mode, ptx_double(a), ptx_double(b));
    default: {
        guint shift = 64 - bits;
        gboolean is_signed = ptx_type_is_signed(type);
        gint64 x = is_signed ? (gint64)(a << shift) >> shift : (gint64)(a << shift >> shift);
        gint64 y = is_signed ? (gint64)(b << shift) >> shift : (gint64)(b << shift >> shift);
        return compare_integers(mode, x, y, is_signed);
    }
    }
}

static gboolean combine(const PtxIns *ins, gboolean value, guint64 with)
{
    with &= 1;
    switch (ins->combine) {
    case W_AND: return value && with;
    case W_OR: return value || with;
    case W_XOR: return value != (gboolean)with;
    default: return value;
    }
}

static guint64 set(const PtxIns *ins, const guint64 *in)
{
    static const struct {
        guint8 type;
        guint64 one;
    } ones[] = {{T_F32, 0x3f800000u}, {T_F16, 0x3c00}, {T_BF16, 0x3f80}, {T_F16X2, 0x3c00}, {T_BF16X2, 0x3f80}};
    guint64 one = G_MAXUINT64, out = 0;
    PtxType type = ins->type2;
    gboolean pairs = type == T_F16X2 || type == T_BF16X2, single = ins->type == T_F16X2 || ins->type == T_BF16X2;
    for (guint i = 0; i < G_N_ELEMENTS(ones); i++)
        if (ones[i].type == ins->type)
            one = ones[i].one;
    if (!pairs)
        return combine(ins, compare(ins, type, in[0], in[1]), in[2]) ? one : 0;
    for (guint i = 0; i < 2; i++)
        if (combine(ins, compare(ins, type, in[0] >> (16 * i) & 0xffff, in[1] >> (16 * i) & 0xffff), in[2]))
            out |= (single ? one : 0xffffu) << (16 * i);
    return out;
}

static guint64 test(const PtxIns *ins, guint64 a)
{
    int class = ins->type == T_F32 ? fpclassify(ptx_float(a)) : fpclassify(ptx_double(a));
    switch (ins->mode) {
    case W_FINITE: return class != FP_INFINITE && class != FP_NAN;
    case W_INFINITE: return class == FP_INFINITE;
    case W_NUMBER: return class != FP_NAN;
    case W_NOTANUMBER: return class == FP_NAN;
    case W_NORMAL: return class == FP_NORMAL || class == FP_ZERO; /* the measured chip counts zero in */
    default: return class == FP_SUBNORMAL;
    }
}

static guint64 choose(const PtxIns *ins, const guint64 *in)
{
    if (ins->type2 == T_S32)
        return (gint32)(guint32)in[2] >= 0 ? in[0] : in[1];
    guint64 c = ins->flags & FLAG_FTZ ? ptx_f32_flush(in[2]) : in[2];
    return ptx_float(c) >= 0 ? in[0] : in[1]; /* NaN chooses the second */
}

guint64 ptx_compare_op(const PtxIns *ins, guint64 *in)
{
    PtxType type = ins->type2;
    switch ((PtxOp)ins->op) {
    case OP_SET: return set(ins, in);
    case OP_SLCT: return choose(ins, in);
    case OP_TESTP: return test(ins, in[0]);
    default: break;
    }
    gboolean first = compare(ins, type, in[0], in[1]), second = !first;
    if (type == T_F16X2 || type == T_BF16X2)
        second = compare(ins, type, in[0] >> 16, in[1] >> 16);
    in[4] = combine(ins, second, in[2]);
    return combine(ins, first, in[2]);
}
