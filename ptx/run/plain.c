/* Handlers of instructions that are no function of one lane's operands: moves, packs, predicates, carries, special
 * registers. */
#include "ptx/run/exec.h"

void ptx_run_mov(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint8 *to = ptx_lanes_out(warp, ins->dst);
    const guint8 *from = ptx_lanes(warp, ins->src[0]);
    guint bytes = ins->dst_bytes;
    if (bytes == 1) {
        guint32 *predicate = (guint32 *)(void *)to;
        *predicate = (*predicate & ~mask) | (ptx_predicate(warp, ins->src[0]) & mask);
    } else if (mask == PTX_FULL_MASK) {
        memmove(to, from, PTX_LANES * bytes);
    } else {
        for (guint l = 0; l < PTX_LANES; l++)
            if (mask >> l & 1)
                memcpy(to + l * bytes, from + l * bytes, bytes);
    }
}

/* Two words and a double one, as most packs are: both parts are named, and their registers are words. */
static gboolean pack_words(PtxWarp *warp, const PtxIns *ins, guint32 mask, const guint32 *places)
{
    if (ins->n_vec != 2 || ins->dst2_bytes != 4 || ins->src_bytes[3] != 4 || places[0] == PLACE_NONE ||
        places[1] == PLACE_NONE)
        return FALSE;
    if (ins->dst == PLACE_NONE) {
        guint64 from[PTX_LANES]; /* registers of parts may lie where the whole one did */
        memcpy(from, ptx_lanes(warp, ins->src[0]), sizeof from);
        guint32 *low = ptx_lanes_out(warp, places[0]), *high = ptx_lanes_out(warp, places[1]);
        for (guint l = 0; l < PTX_LANES; l++) {
            low[l] = mask >> l & 1 ? (guint32)from[l] : low[l];
            high[l] = mask >> l & 1 ? (guint32)(from[l] >> 32) : high[l];
        }
    } else {
        guint32 low[PTX_LANES], high[PTX_LANES];
        memcpy(low, ptx_lanes(warp, places[0]), sizeof low);
        memcpy(high, ptx_lanes(warp, places[1]), sizeof high);
        guint64 *to = ptx_lanes_out(warp, ins->dst);
        for (guint l = 0; l < PTX_LANES; l++)
            to[l] = mask >> l & 1 ? (guint64)high[l] << 32 | low[l] : to[l];
    }
    return TRUE;
}

/* Parts into a whole, or a whole into parts: ins->dst2_bytes is the part's size in the whole. */
void ptx_run_pack(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    const guint32 *places = &warp->current->frame->code->places[ins->vec];
    guint part = ins->dst2_bytes, width = ins->src_bytes[3], total = part * ins->n_vec;
    if (pack_words(warp, ins, mask, places))
        return;
    for (guint l = 0; l < PTX_LANES; l++) {
        guint8 whole[16] = {0};
        if (!(mask >> l & 1))
            continue;
        if (ins->dst == PLACE_NONE) {
            memcpy(whole, (const guint8 *)ptx_lanes(warp, ins->src[0]) + l * total, total);
            for (guint i = 0; i < ins->n_vec; i++)
                if (places[i] != PLACE_NONE) {
                    guint8 *to = (guint8 *)ptx_lanes_out(warp, places[i]) + l * width;
                    memset(to, 0, width);
                    memcpy(to, whole + i * part, part);
                }
        } else {
            for (guint i = 0; i < ins->n_vec; i++)
                memcpy(whole + i * part, (const guint8 *)ptx_lanes(warp, places[i]) + l * width, part);
            memcpy((guint8 *)ptx_lanes_out(warp, ins->dst) + l * total, whole, total);
        }
    }
}

void ptx_run_predicate(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint32 a = ptx_predicate(warp, ins->src[0]), b = ins->src[1] != PLACE_NONE ? ptx_predicate(warp, ins->src[1]) : 0;
    guint32 out = ins->op == OP_AND ? a & b : ins->op == OP_OR ? a | b : ins->op == OP_XOR ? a ^ b : ~a;
    guint32 *to = ptx_lanes_out(warp, ins->dst);
    *to = (*to & ~mask) | (out & mask);
}

/* add.cc, addc, sub.cc, subc, mad.cc, madc: the carry of each lane lives in the warp. */
void ptx_run_carry(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint bytes = ins->dst_bytes, bits = 8 * bytes;
    guint64 top = bits == 64 ? G_MAXUINT64 : ((guint64)1 << bits) - 1;
    for (guint l = 0; l < PTX_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        guint64 a = ptx_lane_get(warp, ins->src[0], bytes, l), b = ptx_lane_get(warp, ins->src[1], bytes, l);
        unsigned __int128 carry = ins->flags & FLAG_CARRY ? warp->carry >> l & 1 : 0, sum;
        if (ins->op == OP_CARRY_MAD) {
            PtxIns multiply = *ins;
            guint64 in[5] = {a, b, 0, 0, 0};
            multiply.op = ins->flags & FLAG_HI ? OP_MUL_HI : OP_MUL_LO;
            multiply.flags = 0;
            a = ptx_scalar_find((PtxOp)multiply.op)(&multiply, in, warp->cta) & top;
            b = ptx_lane_get(warp, ins->src[2], bytes, l);
        }
        if (ins->op == OP_CARRY_SUB)
            sum = (unsigned __int128)a - b - carry;
        else
            sum = (unsigned __int128)a + b + carry;
        ptx_lane_set(warp, ins->dst, bytes, l, (guint64)sum & top);
        if (ins->flags & FLAG_CC)
            warp->carry = (warp->carry & ~(1u << l)) | (guint32)(sum >> bits & 1) << l;
    }
}

void ptx_run_cvta(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    guint64 *to = ptx_lanes_out(warp, ins->dst);
    const guint64 *from = ptx_lanes(warp, ins->src[0]);
    for (guint l = 0; l < PTX_LANES; l++)
        if (mask >> l & 1)
            to[l] = from[l] + ins->imm;
}

/* ---- special registers */

static guint64 of_axis(const PtxCta *cta, PtxSreg sreg)
{
    const PtxGrid *grid = cta->grid;
    guint axis = (guint)(sreg - SREG_TID_X) % 3;
    switch ((sreg - SREG_TID_X) / 3) {
    case 1: return grid->block[axis];
    case 2: return cta->index[axis];
    default: return grid->dim[axis];
    }
}

static guint64 of_cluster(const PtxCta *cta, PtxSreg sreg)
{
    const PtxGrid *grid = cta->grid;
    guint axis = (guint)(sreg - SREG_CLUSTERID_X) % 3;
    switch ((sreg - SREG_CLUSTERID_X) / 3) {
    case 0: return cta->index[axis] / grid->cluster[axis];
    case 1: return grid->dim[axis] / grid->cluster[axis];
    case 2: return cta->index[axis] % grid->cluster[axis];
    default: return grid->cluster[axis];
    }
}

static guint64 of_time(const PtxGrid *grid, PtxSreg sreg)
{
    guint64 now_ps = grid->host->now_ps(grid->user);
    guint64 timer = now_ps / 1000 / 32 * 32,
            clock = now_ps / MAX(grid->host->clock_ps, 1u); /* the timer steps by 32 ns */
    switch (sreg) {
    case SREG_CLOCK: return clock & 0xffffffffu;
    case SREG_CLOCK_HI: return clock >> 32;
    case SREG_CLOCK64: return clock;
    case SREG_GLOBALTIMER: return timer;
    case SREG_GLOBALTIMER_LO: return timer & 0xffffffffu;
    default: return timer >> 32;
    }
}

/* What all lanes of a warp see alike. */
static guint64 uniform_sreg(const PtxWarp *warp, PtxSreg sreg)
{
    const PtxCta *cta = warp->cta;
    const PtxGrid *grid = cta->grid;
    guint32 sms = 1, sm = 0;
    if (sreg >= SREG_NTID_X && sreg <= SREG_NCTAID_Z)
        return of_axis(cta, sreg);
    if (sreg >= SREG_CLUSTERID_X && sreg <= SREG_CLUSTER_NCTAID_Z)
        return of_cluster(cta, sreg);
    if (sreg >= SREG_CLOCK && sreg <= SREG_GLOBALTIMER_HI)
        return of_time(grid, sreg);
    if (sreg == SREG_SMID || sreg == SREG_NSMID) {
        sm = grid->host->sm ? grid->host->sm(grid->user, (PtxCta *)cta, &sms) : 0;
        return sreg == SREG_SMID ? sm : sms;
    }
    switch (sreg) {
    case SREG_WARPID: return warp->index;
    case SREG_NWARPID: return grid->n_warps;
    case SREG_GRIDID: return grid->id;
    case SREG_ENVREG1: return grid->workspace >> 32;
    case SREG_ENVREG2: return grid->workspace & 0xffffffffu;
    case SREG_CLUSTER_CTARANK: return cta->rank;
    case SREG_CLUSTER_NCTARANK: return cta->cluster_of->size;
    case SREG_IS_EXPLICIT_CLUSTER:
        return cta->cluster_of->size > 1 || grid->entry->explicit_cluster || grid->entry->cluster[0];
    case SREG_DYNAMIC_SMEM: return grid->dynamic_shared;
    case SREG_TOTAL_SMEM:
    case SREG_AGGR_SMEM: return cta->shared_bytes;
    default: return 0;
    }
}

static guint64 lane_sreg(const PtxWarp *warp, PtxSreg sreg, guint lane, guint64 uniform)
{
    const guint32 *block = warp->cta->grid->block;
    guint32 thread = warp->index * PTX_LANES + lane;
    switch (sreg) {
    case SREG_TID_X: return thread % block[0];
    case SREG_TID_Y: return thread / block[0] % block[1];
    case SREG_TID_Z: return thread / block[0] / block[1];
    case SREG_LANEID: return lane;
    case SREG_LANEMASK_EQ: return 1u << lane;
    case SREG_LANEMASK_LE: return (guint32)(((guint64)2 << lane) - 1);
    case SREG_LANEMASK_LT: return (1u << lane) - 1;
    case SREG_LANEMASK_GE: return (guint32) ~((1u << lane) - 1);
    case SREG_LANEMASK_GT: return (guint32) ~(((guint64)2 << lane) - 1);
    default: return uniform;
    }
}

void ptx_run_sreg(PtxWarp *warp, const PtxIns *ins, guint32 mask)
{
    ptx_account(warp, ins); /* the time is that of this instruction */
    PtxSreg sreg = ins->mode;
    guint64 uniform = 0;
    if (ins->space == SPACE_SHARED) /* where the dynamic part begins */
        uniform = warp->cta->grid->static_shared + ins->imm;
    else if (ins->space == SPACE_LOCAL)
        uniform = warp->current->frame->local_base + ins->imm;
    else
        uniform = uniform_sreg(warp, sreg);
    warp->effects += sreg >= SREG_CLOCK && sreg <= SREG_GLOBALTIMER_HI;
    for (guint l = 0; l < PTX_LANES; l++)
        if (mask >> l & 1)
            ptx_lane_set(warp, ins->dst, ins->dst_bytes, l,
                         ins->space == SPACE_REG ? lane_sreg(warp, sreg, l, uniform) : uniform);
}
