/* Video instructions, scalar (33 bits within, saturated or wrapped to 32) and on 2 or 4 parts of a word. Selectors of
 * bytes and masks of results are refused when a body is read. */
#include "ptx/run/scalar.h"

enum {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_MAD,
    VIDEO_SET,
    VIDEO_AVRG
};

typedef struct {
    guint variant, parts;
    PtxType d, a, b;
    gboolean plus_one;
} Video;

static Video video_of(const PtxIns *ins)
{
    return (Video){.variant = ins->imm & 0xff,
                   .d = ins->imm >> 8 & 0xff,
                   .a = ins->imm >> 16 & 0xff,
                   .b = ins->imm >> 24 & 0xff,
                   .parts = ins->imm >> 32 & 0xff,
                   .plus_one = ins->imm >> 40 & 1};
}

static gint64 take(guint64 value, guint at, guint bits, PtxType type)
{
    guint64 field = value >> (at * bits) & (((guint64)1 << bits) - 1);
    return ptx_type_is_signed(type) ? (gint64)(field << (64 - bits)) >> (64 - bits) : (gint64)field;
}

static gint64 clamp(gint64 value, guint bits, PtxType type)
{
    gint64 most = ptx_type_is_signed(type) ? ((gint64)1 << (bits - 1)) - 1 : ((gint64)1 << bits) - 1;
    return CLAMP(value, ptx_type_is_signed(type) ? -most - 1 : 0, most);
}

static gboolean compare(PtxWord mode, gint64 a, gint64 b)
{
    switch (mode) {
    case W_EQ: return a == b;
    case W_NE: return a != b;
    case W_LT: return a < b;
    case W_LE: return a <= b;
    case W_GT: return a > b;
    default: return a >= b;
    }
}

static gint64 operate(const PtxIns *ins, const Video *v, gint64 a, gint64 b)
{
    guint by = (guint)((guint64)b & 0xffffffffu);
    by = ins->flags & FLAG_WRAP ? by & 31 : MIN(by, 32u);
    switch (v->variant) {
    case VIDEO_ADD: return a + b;
    case VIDEO_SUB: return a - b;
    case VIDEO_ABSDIFF: return a > b ? a - b : b - a;
    case VIDEO_MIN: return MIN(a, b);
    case VIDEO_MAX: return MAX(a, b);
    case VIDEO_SHL: return (gint64)((guint64)a << by);
    case VIDEO_SHR: return a >> by;
    case VIDEO_AVRG: { /* rounded away from zero */ gint64 sum = a + b; return (sum + (sum >= 0)) >> 1;
    }
    default: return compare((PtxWord)ins->mode, a, b);
    }
}

static guint64 multiply_add(const PtxIns *ins, const Video *v, const guint64 *in, gint64 a, gint64 b)
{
    gint64 c = ptx_type_is_signed(v->a) || ptx_type_is_signed(v->b) ? (gint64)(gint32)(guint32)in[2]
                                                                    : (gint64)(guint32)in[2];
    __int128 sum = (__int128)a * b + c + (v->plus_one ? 1 : 0);
    sum >>= ins->mode == W_SHR7 ? 7 : ins->mode == W_SHR15 ? 15 : 0;
    if (ins->flags & FLAG_SAT) {
        gboolean is_signed = ptx_type_is_signed(v->a) || ptx_type_is_signed(v->b);
        __int128 most = is_signed ? G_MAXINT32 : G_MAXUINT32, least = is_signed ? G_MININT32 : 0;
        sum = sum > most ? most : sum < least ? least : sum;
    }
    return (guint64)sum & 0xffffffffu;
}

guint64 ptx_video_op(const PtxIns *ins, guint64 *in)
{
    Video v = video_of(ins);
    if (ins->op == OP_VIDEO) {
        gint64 a = take(in[0], 0, 32, v.a),
               b = take(in[1], 0, 32, v.variant == VIDEO_SHL || v.variant == VIDEO_SHR ? T_U32 : v.b);
        if (v.variant == VIDEO_MAD)
            return multiply_add(ins, &v, in, a, b);
        gint64 value = operate(ins, &v, a, b);
        if (ins->flags & FLAG_SAT)
            value = clamp(value, 32, v.d);
        gint64 c = take(in[2], 0, 32, v.d), d = take((guint64)value, 0, 32, v.d);
        value = ins->combine == W_ADD   ? d + c
                : ins->combine == W_MIN ? MIN(d, c)
                : ins->combine == W_MAX ? MAX(d, c)
                                        : d;
        return (guint64)value & 0xffffffffu;
    }
    guint bits = 32 / v.parts;
    guint64 out = 0, sum = in[2];
    for (guint i = 0; i < v.parts; i++) {
        gint64 value = operate(ins, &v, take(in[0], i, bits, v.a), take(in[1], i, bits, v.b));
        if (ins->flags & FLAG_SAT)
            value = clamp(value, bits, v.d);
        out |= ((guint64)value & (((guint64)1 << bits) - 1)) << (i * bits);
        sum += (guint64)value;
    }
    return (ins->combine == W_ADD ? sum : out) & 0xffffffffu;
}
