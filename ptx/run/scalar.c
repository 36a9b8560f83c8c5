/* The plain handler: an operation's scalar function, lane after lane. */
#include "ptx/run/scalar.h"

#include "ptx/run/exec.h"

guint64 ptx_lane_get(const PtxWarp *warp, guint32 place, guint bytes, guint lane)
{
    const guint8 *at = ptx_lanes(warp, place);
    guint64 value = 0;
    if (bytes == 1)
        return ptx_predicate(warp, place) >> lane & 1;
    memcpy(&value, at + (gsize)lane * bytes, MIN(bytes, 8u));
    return value;
}

void ptx_lane_set(PtxWarp *warp, guint32 place, guint bytes, guint lane, guint64 value)
{
    guint8 *at = ptx_lanes_out(warp, place);
    if (bytes == 1) {
        guint32 *predicate = (guint32 *)(void *)at;
        *predicate = (*predicate & ~(1u << lane)) | (guint32)(value & 1) << lane;
        return;
    }
    memcpy(at + (gsize)lane * bytes, &value, MIN(bytes, 8u));
}

void ptx_run_scalar(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    for (guint l = 0; l < PTX_LANES; l++) {
        guint64 in[5] = {0};
        if (!(mask >> l & 1))
            continue;
        for (guint s = 0; s < 4; s++)
            if (ins->src[s] != PLACE_NONE)
                in[s] = ptx_lane_get(warp, ins->src[s], ins->src_bytes[s], l);
        guint64 out = ins->scalar(ins, in, warp->cta);
        if (ins->dst != PLACE_NONE)
            ptx_lane_set(warp, ins->dst, ins->dst_bytes, l, out);
        if (ins->dst2 != PLACE_NONE)
            ptx_lane_set(warp, ins->dst2, ins->dst2_bytes, l, in[4]);
    }
}

/* ---- by kind of type */

static guint64 arithmetic(const PtxIns *ins, guint64 *in, const PtxCta *cta)
{
    (void)cta;
    switch ((PtxType)ins->type) {
    case T_F32:
        if (ins->op == OP_MIX_ADD || ins->op == OP_MIX_FMA)
            return ptx_half_op(ins, in);
        return ptx_float_op(ins, in);
    case T_F32X2: return ptx_float_op(ins, in);
    case T_F16:
    case T_BF16:
    case T_F16X2:
    case T_BF16X2: return ptx_half_op(ins, in);
    case T_F64: return ptx_double_op(ins, in);
    default: return ptx_integer_op(ins, in);
    }
}

static guint64 convert(const PtxIns *ins, guint64 *in, const PtxCta *cta)
{
    (void)cta;
    return ptx_convert_op(ins, in);
}

static guint64 compare(const PtxIns *ins, guint64 *in, const PtxCta *cta)
{
    (void)cta;
    return ptx_compare_op(ins, in);
}

static guint64 video(const PtxIns *ins, guint64 *in, const PtxCta *cta)
{
    (void)cta;
    return ptx_video_op(ins, in);
}

PtxScalar ptx_scalar_find(PtxOp op)
{
    switch (op) {
    case OP_SETP:
    case OP_SET:
    case OP_SLCT:
    case OP_TESTP: return compare;
    case OP_CVT:
    case OP_CVT_PACK: return convert;
    case OP_VIDEO:
    case OP_VIDEO_SIMD: return video;
    case OP_POPC:
    case OP_CLZ:
    case OP_BFIND:
    case OP_FNS:
    case OP_BREV:
    case OP_BFE:
    case OP_BFI:
    case OP_SZEXT:
    case OP_BMSK:
    case OP_DP4A:
    case OP_DP2A:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_CNOT:
    case OP_LOP3:
    case OP_SHL:
    case OP_SHR:
    case OP_SHF:
    case OP_PRMT:
    case OP_SELP:
    case OP_ISSPACEP:
    case OP_MAPA:
    case OP_GETCTARANK:
    case OP_MBAR_PENDING: return ptx_bits_op;
    default: return op > OP_NONE && op <= OP_LAST_SCALAR ? arithmetic : NULL;
    }
}
