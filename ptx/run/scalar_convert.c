/* cvt: between integers and floating point of all widths, with rounding and saturation. */
#include <math.h>

#include "ptx/run/scalar.h"

static const PtxFormat *format_of(PtxType type)
{
    switch (type) {
    case T_F16:
    case T_F16X2: return &ptx_format_f16;
    case T_BF16:
    case T_BF16X2: return &ptx_format_bf16;
    case T_F32: return &ptx_format_f32;
    case T_TF32: return &ptx_format_tf32;
    case T_E4M3X2: return &ptx_format_e4m3;
    case T_E5M2X2: return &ptx_format_e5m2;
    case T_E2M3X2: return &ptx_format_e2m3;
    case T_E3M2X2: return &ptx_format_e3m2;
    case T_E2M1X2: return &ptx_format_e2m1;
    default: return NULL;
    }
}

static gint64 extend(guint64 value, PtxType type)
{
    guint shift = 64 - 8u * ptx_types[type].memory;
    return ptx_type_is_signed(type) ? (gint64)(value << shift) >> shift : (gint64)(value << shift >> shift);
}

/* ---- to integers */

static guint64 saturate(PtxType type, gint64 value, gboolean from_unsigned)
{
    guint bits = 8u * ptx_types[type].memory;
    gint64 most = bits == 64 ? G_MAXINT64 : ((gint64)1 << (bits - 1)) - 1;
    if (ptx_type_is_signed(type)) {
        if (from_unsigned)
            return (guint64)value > (guint64)most ? (guint64)most : (guint64)value;
        return (guint64)CLAMP(value, -most - 1, most);
    }
    guint64 top = bits == 64 ? G_MAXUINT64 : ((guint64)1 << bits) - 1;
    if (!from_unsigned && value < 0)
        return 0;
    return MIN((guint64)value, top);
}

static double to_whole(double value, PtxWord mode)
{
    switch (mode) {
    case W_RZI:
    case W_RZ: return trunc(value);
    case W_RMI:
    case W_RM: return floor(value);
    case W_RPI:
    case W_RP: return ceil(value);
    default: return nearbyint(value);
    }
}

static guint64 float_to_integer(const PtxIns *ins, double value)
{
    PtxType type = ins->type;
    guint bits = 8u * ptx_types[type].memory;
    if (isnan(value)) {
        if (bits == 64 || ins->type2 == T_F64)
            return bits == 64 ? (guint64)1 << 63 : bits == 32 ? 0x80000000u : 0;
        return 0;
    }
    value = to_whole(value, (PtxWord)ins->mode);
    if (ptx_type_is_signed(type)) {
        double edge = ldexp(1, (int)bits - 1);
        if (value >= edge)
            return ((guint64)1 << (bits - 1)) - 1;
        if (value < -edge)
            return (guint64)(gint64)-1 << (bits - 1);
        return (guint64)(gint64)value;
    }
    if (value <= 0)
        return 0;
    return value >= ldexp(1, (int)bits) ? (bits == 64 ? G_MAXUINT64 : ((guint64)1 << bits) - 1) : (guint64)value;
}

/* ---- to floating point */

static guint64 clamp_unit(PtxType type, guint64 bits)
{
    double value = type == T_F64 ? ptx_double(bits) : ptx_format_value(format_of(type), bits);
    if (isnan(value) || value <= 0)
        return 0;
    return value < 1 ? bits : type == T_F64 ? ptx_double_bits(1) : ptx_format_round(format_of(type), 1, W_RN, FALSE);
}

static guint64 finish_float(const PtxIns *ins, guint64 bits)
{
    PtxType type = ins->type;
    if ((ins->flags & FLAG_FTZ) && type == T_F32)
        bits = ptx_f32_flush(bits);
    if (ins->flags & FLAG_SAT)
        bits = clamp_unit(type, bits);
    return bits;
}

static guint64 integer_to_float(const PtxIns *ins, guint64 raw)
{
    PtxType type = ins->type, from = ins->type2;
    gint64 value = extend(raw, from);
    gboolean negative = ptx_type_is_signed(from) && value < 0;
    PtxWord mode = ins->flags & FLAG_EXPLICIT ? (PtxWord)ins->mode : W_RN;
    if (type == T_F64)
        return ptx_double_bits(ptx_directed(ptx_type_is_signed(from) ? DIRECTED_FROM_S64 : DIRECTED_FROM_U64, 0, 0, 0,
                                            (guint64)value, mode));
    double exact = ptx_odd_integer(negative ? 0 - (guint64)value : (guint64)value);
    return ptx_format_round(format_of(type), negative ? -exact : exact, mode, FALSE);
}

/* NaN as the measured chip gives it: f64 to f32 and widening keep the quiet form of each. */
static guint64 nan_of(PtxType type, PtxType from, guint64 raw)
{
    if (type == T_F64 && from == T_F32)
        return (raw & 0x80000000u) << 32 | 0x7ff8000000000000u | (raw & 0x007fffffu) << 29;
    if (type == T_F64 && from == T_F64)
        return raw | 0x0008000000000000u;
    if (type == T_F64)
        return 0x7fffffffe0000000u;
    if (from == T_F64)
        return type == T_F32 ? 0x7fc00000u : type == T_F16 ? 0x7e00u : 0x7fc0u;
    if (type == T_F32)
        return PTX_NAN_F32;
    return PTX_NAN_F16;
}

static guint64 float_to_float(const PtxIns *ins, guint64 raw)
{
    PtxType type = ins->type, from = ins->type2;
    if ((ins->flags & FLAG_FTZ) && from == T_F32)
        raw = ptx_f32_flush(raw);
    double value = from == T_F64 ? ptx_double(raw) : ptx_format_value(format_of(from), raw);
    if (isnan(value))
        return ins->flags & FLAG_SAT ? 0 : nan_of(type, from, raw);
    if (ins->flags & FLAG_INTEGER)
        value = copysign(to_whole(value, (PtxWord)ins->mode), value);
    guint64 bits =
        type == T_F64
            ? ptx_double_bits(value)
            : ptx_format_round(format_of(type), value,
                               ins->flags & FLAG_EXPLICIT && !(ins->flags & FLAG_INTEGER) ? (PtxWord)ins->mode : W_RN,
                               FALSE);
    return finish_float(ins, bits);
}

/* ---- narrow formats, one and in pairs */

static guint64 narrow(const PtxIns *ins, const PtxFormat *format, double value)
{
    if ((ins->flags & FLAG_RELU) && !isnan(value) && signbit(value))
        value = 0;
    guint64 bits = ptx_format_round(format, value, (PtxWord)ins->mode, ins->flags & FLAG_SATFINITE);
    return format == &ptx_format_tf32 ? bits << 13 : bits;
}

static guint64 narrow_pair(const PtxIns *ins, guint64 *in)
{
    PtxType type = ins->type, from = ins->type2;
    const PtxFormat *format = format_of(type);
    guint shift = format->bits == 16 ? 16 : type == T_E2M1X2 ? 4 : 8;
    double high, low;
    if (from == T_F32) {
        high = ptx_float(in[0]);
        low = ptx_float(in[1]);
    } else {
        high = ptx_format_value(format_of(from), in[0] >> 16 & 0xffff);
        low = ptx_format_value(format_of(from), in[0] & 0xffff);
    }
    return narrow(ins, format, high) << shift | narrow(ins, format, low);
}

static guint64 widen_pair(const PtxIns *ins, guint64 raw)
{
    const PtxFormat *from = format_of((PtxType)ins->type2);
    guint shift = ins->type2 == T_E2M1X2 ? 4 : 8;
    guint64 mask = ((guint64)1 << from->bits) - 1, out = 0;
    for (guint i = 0; i < 2; i++) {
        double value = ptx_format_value(from, raw >> (shift * i) & mask);
        guint64 bits = isnan(value) ? PTX_NAN_F16 : ptx_format_round(&ptx_format_f16, value, W_RN, FALSE);
        if ((ins->flags & FLAG_RELU) && bits >> 15 && !isnan(value))
            bits = 0;
        out |= bits << (16 * i);
    }
    return out;
}

static guint64 pack(const PtxIns *ins, const guint64 *in)
{
    PtxType type = ins->type;
    guint bits = 8u * ptx_types[type].memory;
    guint64 mask = ((guint64)1 << bits) - 1;
    guint64 a = saturate(type, (gint32)(guint32)in[0], FALSE) & mask,
            b = saturate(type, (gint32)(guint32)in[1], FALSE) & mask;
    guint64 pair = a << bits | b;
    return ins->src_bytes[2] ? in[2] << (2 * bits) | pair : pair;
}

guint64 ptx_convert_op(const PtxIns *ins, guint64 *in)
{
    PtxType type = ins->type, from = ins->type2;
    if (ins->op == OP_CVT_PACK)
        return pack(ins, in);
    if (from == T_E4M3X2 || from == T_E5M2X2 || from == T_E2M3X2 || from == T_E3M2X2 || from == T_E2M1X2)
        return widen_pair(ins, in[0]);
    if (type == T_TF32 ||
        ((type == T_F16 || type == T_BF16) && from == T_F32 && (ins->flags & (FLAG_RELU | FLAG_SATFINITE)))) {
        double value = ptx_float(in[0]);
        if (type == T_TF32 && isnan(value) && ins->mode == W_RNA) /* rounds the bits, whatever they mean */
            return (in[0] + 0x1000u) & 0xffffe000u;
        return narrow(ins, format_of(type), value);
    }
    if (format_of(type) && ptx_types[type].memory <= 4 &&
        (type == T_F16X2 || type == T_BF16X2 || type == T_E4M3X2 || type == T_E5M2X2 || type == T_E2M3X2 ||
         type == T_E3M2X2 || type == T_E2M1X2))
        return narrow_pair(ins, in);
    if (ptx_type_is_float(type))
        return ptx_type_is_float(from) ? float_to_float(ins, in[0] & (from == T_F64   ? G_MAXUINT64
                                                                      : from == T_F32 ? 0xffffffffu
                                                                                      : 0xffffu))
                                       : integer_to_float(ins, in[0]);
    if (ptx_type_is_float(from)) {
        guint64 raw = (ins->flags & FLAG_FTZ) && from == T_F32 ? ptx_f32_flush(in[0]) : in[0];
        double value = from == T_F64 ? ptx_double(raw)
                                     : ptx_format_value(format_of(from), raw & (from == T_F32 ? 0xffffffffu : 0xffffu));
        return float_to_integer(ins, value);
    }
    gint64 value = extend(in[0], from);
    if (ins->flags & FLAG_SAT)
        return saturate(type, value, !ptx_type_is_signed(from));
    return (guint64)extend((guint64)value, type);
}
