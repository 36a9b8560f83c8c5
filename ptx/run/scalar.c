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

#define bits ptx_bits_op
#define SCALAR(name, lowering, family, traits) [OP_##name] = family,
static const PtxScalar scalars[OP_COUNT] = {
#include "ptx/operations.h"
};

PtxScalar ptx_scalar_find(PtxOp op) { return scalars[op]; }
