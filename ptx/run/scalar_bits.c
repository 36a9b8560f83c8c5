/* Logic, shifts, fields of bits, permutations, dot products of bytes, and addresses within a cluster. */
#include "ptx/run/exec.h"
#include "ptx/run/scalar.h"

static gint64 sign_extend(guint64 value, guint bits) { return (gint64)(value << (64 - bits)) >> (64 - bits); }

static guint64 shift(const PtxIns *ins, guint64 a, guint64 by, guint bits)
{
    by &= 0xffffffffu;
    if (ins->op == OP_SHL)
        return by >= bits ? 0 : a << by;
    if (ptx_type_is_signed((PtxType)ins->type))
        return (guint64)(sign_extend(a, bits) >> MIN(by, bits - 1));
    return by >= bits ? 0 : a >> by;
}

static guint64 funnel(const PtxIns *ins, const guint64 *in)
{
    guint64 pair = in[1] << 32 | in[0], by = in[2] & 0xffffffffu;
    by = ins->flags & FLAG_WRAP ? by & 31 : MIN(by, 32);
    return ins->flags & FLAG_RIGHT ? pair >> by : by == 32 ? pair : (pair << by) >> 32;
}

static guint64 permute(const PtxIns *ins, const guint64 *in)
{
    guint64 pool = in[1] << 32 | in[0], out = 0;
    guint at = in[2] & 3;
    static const guint8 rows[6][4][4] = {{{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
                                         {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
                                         {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
                                         {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
                                         {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
                                         {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};
    for (guint i = 0; i < 4; i++) {
        guint select = ins->mode >= W_F4E && ins->mode <= W_RC16 ? rows[ins->mode - W_F4E][at][i]
                                                                 : in[2] >> (4 * i) & 15;
        guint64 byte = pool >> (8 * (select & 7)) & 0xff;
        if (select & 8)
            byte = byte & 0x80 ? 0xff : 0;
        out |= byte << (8 * i);
    }
    return out;
}

/* Positions and lengths have 8 bits; the measured chip takes more into account for 64-bit operands. */
static guint field(guint64 operand, guint bits)
{
    return bits == 64 ? (guint)MIN(operand & 0xffffffffu, 255u) : (guint)(operand & 0xff);
}

static guint64 extract(const PtxIns *ins, const guint64 *in, guint bits)
{
    guint position = field(in[1], bits), length = field(in[2], bits);
    gboolean is_signed = ptx_type_is_signed((PtxType)ins->type);
    guint sign_at = MIN(position + length - 1, bits - 1);
    guint64 sign = length && is_signed ? in[0] >> sign_at & 1 : 0, out = 0;
    for (guint i = 0; i < bits; i++)
        out |= (i < length && position + i < bits ? in[0] >> (position + i) & 1 : sign) << i;
    return out;
}

static guint64 insert(const guint64 *in, guint bits)
{
    guint position = field(in[2], bits), length = field(in[3], bits);
    guint64 out = in[1];
    for (guint i = 0; i < length && position + i < bits; i++)
        out = (out & ~((guint64)1 << (position + i))) | (in[0] >> i & 1) << (position + i);
    return out;
}

static guint64 find(const PtxIns *ins, guint64 a, guint bits)
{
    if (ptx_type_is_signed((PtxType)ins->type) && a >> (bits - 1) & 1)
        a = ~a & (bits == 64 ? G_MAXUINT64 : ((guint64)1 << bits) - 1);
    if (a == 0)
        return 0xffffffffu;
    guint at = 63u - (guint)__builtin_clzll(a);
    return ins->flags & FLAG_SHIFTAMT ? bits - 1 - at : at;
}

/* The offset-th set bit from base on, upwards or downwards; none: all ones. */
static guint64 find_nth(const guint64 *in)
{
    gint offset = (gint)(guint32)in[2];
    guint32 mask = (guint32)in[0], base = (guint32)in[1] & 31;
    if (offset == 0)
        return mask >> base & 1 ? base : 0xffffffffu;
    for (gint at = (gint)base, left = offset; at >= 0 && at<32; at += offset> 0 ? 1 : -1)
        if (mask >> at & 1) {
            left -= offset > 0 ? 1 : -1;
            if (left == 0)
                return (guint64)at;
        }
    return 0xffffffffu;
}

static guint64 sign_extend_field(const PtxIns *ins, const guint64 *in)
{
    guint32 n = (guint32)in[1];
    n = ins->flags & FLAG_WRAP ? n & 31 : n;
    gboolean is_signed = ptx_type_is_signed((PtxType)ins->type);
    if (n >= 32)
        return in[0];
    if (n == 0)
        return 0;
    guint64 low = in[0] & (((guint64)1 << n) - 1);
    return is_signed ? (guint64)sign_extend(low, n) : low;
}

static guint64 mask_of(const PtxIns *ins, const guint64 *in)
{
    guint64 from = (guint32)in[0], length = (guint32)in[1];
    if (ins->flags & FLAG_WRAP) {
        from &= 31;
        length &= 31;
    }
    if (from >= 32 || length == 0)
        return 0;
    return ((length >= 32 ? 0xffffffffu : ((guint64)1 << length) - 1) << from) & 0xffffffffu;
}

static gint64 part(guint64 value, guint at, guint bits, gboolean is_signed)
{
    guint64 low = value >> (at * bits) & (((guint64)1 << bits) - 1);
    return is_signed ? sign_extend(low, bits) : (gint64)low;
}

static guint64 dot(const PtxIns *ins, const guint64 *in)
{
    gboolean a_signed = ptx_type_is_signed((PtxType)ins->type), b_signed = ptx_type_is_signed((PtxType)ins->type2);
    guint64 sum = in[2];
    if (ins->op == OP_DP4A)
        for (guint i = 0; i < 4; i++)
            sum += (guint64)(part(in[0], i, 8, a_signed) * part(in[1], i, 8, b_signed));
    else
        for (guint i = 0; i < 2; i++)
            sum +=
                (guint64)(part(in[0], i, 16, a_signed) * part(in[1], i + (ins->flags & FLAG_HI ? 2 : 0), 8, b_signed));
    return sum;
}

static guint64 lop3(const PtxIns *ins, guint64 *in)
{
    guint64 out = 0;
    for (guint i = 0; i < 32; i++)
        out |= (ins->imm >> ((in[0] >> i & 1) << 2 | (in[1] >> i & 1) << 1 | (in[2] >> i & 1)) & 1) << i;
    in[4] = ins->combine == W_OR ? (out != 0) | (in[3] & 1) : (out != 0) & (in[3] & 1);
    return out;
}

static guint64 reverse(guint64 a, guint bits)
{
    guint64 out = 0;
    for (guint i = 0; i < bits; i++)
        out |= (a >> i & 1) << (bits - 1 - i);
    return out;
}

static guint64 is_space(const PtxIns *ins, guint64 va, const PtxCta *cta)
{
    guint64 offset, rank;
    PtxSpace space = ptx_space_of(va, &offset);
    const PtxImage *image = cta->grid->image;
    switch ((PtxSpace)ins->space) {
    case SPACE_SHARED_CLUSTER: return space == SPACE_SHARED_CLUSTER;
    case SPACE_SHARED:
        rank = offset >> PTX_CLUSTER_SHIFT;
        return space == SPACE_SHARED_CLUSTER && (rank == 0 || rank == cta->rank + 1);
    case SPACE_CONST: return va >= image->const_base && va < image->const_base + image->module->const_bytes;
    default: return space == (PtxSpace)ins->space;
    }
}

static guint64 map_rank(const PtxIns *ins, const guint64 *in)
{
    guint64 window = ins->space == SPACE_SHARED ? 0 : PTX_SHARED_WINDOW;
    return window | ((guint64)(guint32)in[1] + 1) << PTX_CLUSTER_SHIFT | (in[0] & ((1u << PTX_CLUSTER_SHIFT) - 1));
}

guint64 ptx_bits_op(const PtxIns *ins, guint64 *in, const PtxCta *cta)
{
    guint bits = 8u * ptx_types[ins->type].memory;
    switch ((PtxOp)ins->op) {
    case OP_AND: return in[0] & in[1];
    case OP_OR: return in[0] | in[1];
    case OP_XOR: return in[0] ^ in[1];
    case OP_NOT: return ~in[0];
    case OP_CNOT: return in[0] == 0;
    case OP_LOP3: return lop3(ins, in);
    case OP_SHL:
    case OP_SHR: return shift(ins, in[0], in[1], bits);
    case OP_SHF: return funnel(ins, in);
    case OP_PRMT: return permute(ins, in);
    case OP_POPC: return (guint64)__builtin_popcountll(in[0]);
    case OP_CLZ: return in[0] ? (guint64)__builtin_clzll(in[0]) - (64 - bits) : bits;
    case OP_BFIND: return find(ins, in[0], bits);
    case OP_FNS: return find_nth(in);
    case OP_BREV: return reverse(in[0], bits);
    case OP_BFE: return extract(ins, in, bits);
    case OP_BFI: return insert(in, bits);
    case OP_SZEXT: return sign_extend_field(ins, in);
    case OP_BMSK: return mask_of(ins, in);
    case OP_DP4A:
    case OP_DP2A: return dot(ins, in);
    case OP_SELP: return in[2] & 1 ? in[0] : in[1];
    case OP_ISSPACEP: return is_space(ins, in[0], cta);
    case OP_MAPA: return map_rank(ins, in);
    case OP_GETCTARANK: {
        guint64 rank = (in[0] & 0xffffffffu) >> PTX_CLUSTER_SHIFT;
        return rank ? rank - 1 : cta->rank;
    }
    default: return in[0] & 0xfffffu; /* mbarrier.pending_count: see mbarrier.c for the fields */
    }
}
