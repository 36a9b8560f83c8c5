/* The device program that executes a plan's operations: one CTA a thread block.
 *
 * Packet forms (LL) store a flag beside each 8 bytes of data: twice the bytes, and no signal; here
 * flags are raised after the data, one for each piece of a buffer (plan_packets.c). */
#include "traces/replay/plan_run.h"

typedef struct {
    FoCta *cta;
    const PlanRun *run;
    guint32 rank;
    FoReg *one;
    guint64 waited[PLAN_CHANNELS_MAX]; /* signals consumed, by channel */
    guint64 met[PLAN_BARRIERS_MAX];
} Block;

static FoAddress flag_at(const Block *block, guint32 rank, guint32 flag)
{
    return block->run->rank[rank].va[PLAN_BUFFERS] + (guint64)flag * PLAN_FLAG_BYTES;
}

/* Everything the block stored is performed before. */
static void raise_flag(Block *block, FoAddress flag)
{
    fo_only(block->cta, 0, 1);
    fo_set_u64(block->cta, block->one, 1);
    fo_red(block->cta, flag, block->one, FO_U64, FO_ADD, FO_RELAXED);
    fo_all(block->cta);
}

static void meet(Block *block)
{
    fo_fence(block->cta);
    fo_sync(block->cta);
}

static void await_flag(Block *block, FoAddress flag, guint64 value)
{
    fo_only(block->cta, 0, 1);
    fo_poll(block->cta, flag, 8, FO_GE, value, FO_ACQUIRE);
    fo_all(block->cta);
    fo_sync(block->cta);
}

static FoAddress address_of(const Block *block, const PlanOp *op, const PlanRef *ref, guint64 *bytes)
{
    guint64 offset = plan_part(block->run, op, ref, bytes);
    if (ref->channel >= 0) {
        guint32 window = block->run->rank[block->rank].windows[ref->channel];
        return g_array_index(block->run->windows, PlanWindow, window).va + offset;
    }
    return block->run->rank[ref->rank].va[ref->buffer] + offset;
}

static void await_packets(Block *block, const PlanOp *op)
{
    for (guint32 i = op->packet_src; i < op->n_src; i++) {
        const PlanRef *ref = &op->src[i];
        guint64 bytes, offset = plan_part(block->run, op, ref, &bytes);
        guint32 n = 0, flag = bytes > 0 ? plan_packets_flags(block->run, ref->rank, ref->buffer, offset, bytes, &n) : 0;
        for (guint32 k = 0; k < n; k++)
            await_flag(block, flag_at(block, ref->rank, flag + k), 1);
    }
}

static void raise_packets(Block *block, guint32 rank, PlanBuffer buffer, guint64 offset, guint64 bytes)
{
    guint32 n, flag = plan_packets_flags(block->run, rank, buffer, offset, bytes, &n);
    for (guint32 k = 0; k < n; k++)
        raise_flag(block, flag_at(block, rank, flag + k));
}

static void send_packets(Block *block, const PlanOp *op)
{
    gboolean any = FALSE;
    for (guint32 i = op->packet_dst; i < op->n_dst; i++) {
        const PlanRef *ref = &op->dst[i];
        guint64 bytes, offset = plan_part(block->run, op, ref, &bytes);
        if (bytes == 0)
            continue;
        if (!any) {
            meet(block);
            any = TRUE;
        }
        if (ref->channel < 0) {
            raise_packets(block, ref->rank, ref->buffer, offset, bytes);
            continue;
        }
        guint32 window = block->run->rank[block->rank].windows[ref->channel];
        const PlanWindow *to = &g_array_index(block->run->windows, PlanWindow, window);
        for (guint k = 0; k < to->ranks->len; k++)
            raise_packets(block, g_array_index(to->ranks, guint32, k), to->buffer, offset, bytes);
    }
}

static void run_loop(Block *block, const PlanOp *op, guint32 first_src, guint32 n_src, guint32 first_dst, guint32 n_dst)
{
    static const FoOp ops[] = {[RECORD_SUM] = FO_ADD, [RECORD_MIN] = FO_MIN, [RECORD_MAX] = FO_MAX};
    gboolean reduces = op->kind == PLAN_SWITCH_REDUCE_STORE;
    FoLoop loop = {.width = 16,
                   .unroll = 4,
                   .step = fo_threads(block->cta),
                   .type = FO_F16,
                   .acc = FO_ACC_F32,
                   .op = op->reduction < G_N_ELEMENTS(ops) ? ops[op->reduction] : FO_ADD};
    guint64 bytes = 0;
    for (guint32 i = 0; i < n_src; i++) {
        FoAddress base = address_of(block, op, &op->src[first_src + i], &bytes);
        loop.source[loop.sources++] = (FoStream){reduces ? FO_LD_REDUCE : FO_LD, base};
    }
    for (guint32 i = 0; i < n_dst; i++) {
        const PlanRef *ref = &op->dst[first_dst + i];
        FoAddress base = address_of(block, op, ref, &bytes);
        loop.destination[loop.destinations++] = (FoStream){ref->channel >= 0 ? FO_MULTIMEM_ST : FO_ST, base};
    }
    gboolean doubled = op->packet && op->kind == PLAN_PUT;
    loop.bytes = bytes * (doubled ? 2 : 1);
    if (loop.bytes > 0)
        fo_loop(block->cta, &loop);
}

static void run_move(Block *block, const PlanOp *op)
{
    await_packets(block, op);
    if (op->kind == PLAN_REDUCE)
        run_loop(block, op, 0, op->n_src, 0, op->n_dst);
    else
        for (guint32 i = 0; i < op->n_dst; i++)
            run_loop(block, op, MIN(i, op->n_src - 1), 1, i, 1);
    send_packets(block, op);
    if (op->signal && op->n_peers > 0) {
        meet(block);
        for (guint32 i = 0; i < op->n_peers; i++)
            raise_flag(block, flag_at(block, op->peers[i], block->run->rank[block->rank].theirs[op->channels[i]]));
    }
}

static void run_op(Block *block, const PlanOp *op)
{
    switch (op->kind) {
    case PLAN_NOP:
    case PLAN_FLUSH: fo_sync(block->cta); break;
    case PLAN_BARRIER:
        meet(block);
        raise_flag(block, flag_at(block, block->rank, PLAN_FLAG_BARRIER + op->barrier_id));
        block->met[op->barrier_id] += op->barrier_blocks;
        await_flag(block, flag_at(block, block->rank, PLAN_FLAG_BARRIER + op->barrier_id), block->met[op->barrier_id]);
        break;
    case PLAN_SIGNAL:
        meet(block);
        for (guint32 i = 0; i < op->n_peers; i++)
            raise_flag(block, flag_at(block, op->peers[i], block->run->rank[block->rank].theirs[op->channels[i]]));
        break;
    case PLAN_WAIT:
        for (guint32 i = 0; i < op->n_peers; i++)
            await_flag(block, flag_at(block, block->rank, op->channels[i]), ++block->waited[op->channels[i]]);
        break;
    default: run_move(block, op);
    }
}

void plan_program(FoCta *cta, const void *args)
{
    const PlanArgs *a = args;
    const PlanRank *rank = &g_array_index(a->run->plan->ranks, PlanRank, a->rank);
    Block *block = g_new0(Block, 1);
    block->cta = cta;
    block->run = a->run;
    block->rank = a->rank;
    block->one = fo_reg(cta, 8);
    const GArray *ops = g_array_index(rank->blocks, PlanBlock, fo_cta(cta)).ops;
    for (guint i = 0; i < ops->len; i++)
        run_op(block, &g_array_index(ops, PlanOp, i));
    g_free(block);
}
