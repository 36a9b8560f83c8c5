/* See coll_prim.h. */
#include "api/coll_prim.h"

#define PRIM_UNROLL 4u
#define PRIM_SIMPLE_STEP (512u << 10) /* NCCL_BUFFSIZE 4 MiB / NCCL_STEPS */
#define PRIM_SLICE_MIN (32u << 10)    /* a slice is not cut finer than 1/32 of two steps */
#define LL_LINES_THREAD 8u            /* NCCL_LL_LINES_PER_THREAD */
#define LL128_LINES_THREAD 120u       /* NCCL_LL128_ELEMS_PER_THREAD, of 8 B */

guint64 prim_step_bytes(CollProto proto, guint32 threads)
{
    if (proto == COLL_LL)
        return (guint64)LL_LINES_THREAD * threads * 16;
    if (proto == COLL_LL128)
        return (guint64)LL128_LINES_THREAD * threads * 8 / 128 * 128;
    return PRIM_SIMPLE_STEP;
}

guint64 prim_step_data(CollProto proto, guint32 threads)
{
    guint64 bytes = prim_step_bytes(proto, threads);
    return proto == COLL_LL ? bytes / 2 : proto == COLL_LL128 ? bytes / 128 * 120 : bytes;
}

void prim_init(Prim *prim, FoCta *cta, const Coll *coll)
{
    *prim = (Prim){.cta = cta, .coll = coll, .slice_steps = 1, .slices = 1};
    prim->step_bytes = coll->step_bytes;
    for (guint32 i = 0; i < 2 * PRIM_PEERS; i++)
        prim->flag[i] = fo_reg(cta, 8);
}

static FoAddress prim_slot(const Prim *prim, const PrimPeer *peer)
{
    return peer->slots + peer->step % PRIM_STEPS * prim->step_bytes;
}

/* Waits, one warp for each peer at the same time, for data (Simple) and for room. */
static void prim_wait(Prim *prim, const PrimMove *move, gboolean tails)
{
    FoCta *cta = prim->cta;
    guint32 warps = (fo_threads(cta) + WARP_LANES - 1) / WARP_LANES, turn = 0;
    gboolean waited = FALSE;
    for (guint32 i = 0; tails && move->receive && i < prim->n_from; i++) {
        fo_only(cta, turn++ % warps * WARP_LANES, 1);
        fo_poll(cta, prim->from[i].tail, 8, FO_GE, prim->from[i].step + prim->slice_steps, FO_ACQUIRE);
        waited = TRUE;
    }
    for (guint32 i = 0; move->send && i < prim->n_to; i++) {
        PrimPeer *to = &prim->to[i];
        if (to->step + prim->slice_steps <= PRIM_STEPS)
            continue;
        fo_only(cta, turn++ % warps * WARP_LANES, 1);
        fo_poll(cta, to->head, 8, FO_GE, to->step + prim->slice_steps - PRIM_STEPS, FO_RELAXED);
        waited = TRUE;
    }
    fo_all(cta);
    if (waited)
        fo_sync(cta);
}

static void prim_post(Prim *prim, const PrimMove *move, gboolean tails)
{
    FoCta *cta = prim->cta;
    if (tails && move->send)
        fo_fence(cta);
    if ((tails && move->send) || move->receive)
        fo_sync(cta);
    fo_only(cta, 0, 1);
    for (guint32 i = 0; move->send && i < prim->n_to; i++) {
        prim->to[i].step += prim->slice_steps;
        if (!tails)
            continue;
        fo_set_u64(cta, prim->flag[i], prim->to[i].step);
        fo_st_sys(cta, prim->to[i].tail, prim->flag[i], FO_RELAXED);
    }
    for (guint32 i = 0; move->receive && i < prim->n_from; i++) {
        FoReg *flag = prim->flag[PRIM_PEERS + i];
        prim->from[i].step += prim->slice_steps;
        fo_set_u64(cta, flag, prim->from[i].step);
        fo_st_sys(cta, prim->from[i].head, flag, FO_RELAXED);
    }
    fo_all(cta);
}

static void prim_slice_simple(Prim *prim, const PrimMove *move, guint64 offset, guint64 bytes)
{
    const Coll *coll = prim->coll;
    FoLoop loop = {.bytes = bytes, .width = 16, .unroll = PRIM_UNROLL, .type = (FoType)coll->spec.type,
                   .op = (FoOp)coll->spec.reduce, .step = fo_threads(prim->cta)};
    prim_wait(prim, move, TRUE);
    for (guint32 i = 0; move->receive && i < prim->n_from; i++)
        loop.source[loop.sources++].base =
            move->received ? move->received + offset : prim_slot(prim, &prim->from[i]);
    if (move->input)
        loop.source[loop.sources++].base = move->input + offset;
    if (move->output)
        loop.destination[loop.destinations++] = (FoStream){FO_ST, move->output + offset};
    for (guint32 i = 0; move->send && i < prim->n_to; i++)
        loop.destination[loop.destinations++] =
            (FoStream){FO_ST, move->direct[i] ? move->direct[i] + offset : prim_slot(prim, &prim->to[i])};
    for (guint32 i = 0; i < loop.sources + loop.destinations; i++) {
        guint64 base = i < loop.sources ? loop.source[i].base : loop.destination[i - loop.sources].base;
        while (base % loop.width)
            loop.width /= 2;
    }
    if (bytes && loop.destinations)
        fo_loop(prim->cta, &loop);
    prim_post(prim, move, TRUE);
}

/* One step of LL or LL128. Flags are step numbers, so that old lines are never taken for new ones. */
static void prim_step_ll(Prim *prim, const PrimMove *move, guint64 bytes)
{
    const Coll *coll = prim->coll;
    FoLl ll = {.kind = coll->proto == COLL_LL ? FO_LL : FO_LL128, .bytes = (bytes + 3) / 4 * 4,
               .input = move->input, .type = (FoType)coll->spec.type, .op = (FoOp)coll->spec.reduce};
    ll.output = move->output ? move->output : move->received;
    prim_wait(prim, move, FALSE);
    for (guint32 i = 0; move->receive && i < prim->n_from; i++) {
        ll.from_flag = (guint32)prim->from[i].step + 1;
        ll.from[ll.n_from++] = prim_slot(prim, &prim->from[i]);
    }
    for (guint32 i = 0; move->send && i < prim->n_to; i++) {
        ll.to_flag = (guint32)prim->to[i].step + 1;
        ll.to[ll.n_to++] = prim_slot(prim, &prim->to[i]);
    }
    if (bytes)
        fo_ll(prim->cta, &ll);
    prim_post(prim, move, FALSE);
}

/* A short or empty chunk has all its slices all the same, so that counters agree. */
void prim_move(Prim *prim, const PrimMove *move)
{
    if (prim->coll->proto != COLL_SIMPLE) {
        prim_step_ll(prim, move, move->bytes);
        return;
    }
    guint64 slice = (prim->chunk / prim->slices + 15) / 16 * 16, done = 0;
    if (prim->slices > 1)
        slice = MAX(slice, PRIM_SLICE_MIN);
    for (guint32 s = 0; s < prim->slices; s++) {
        guint64 bytes = MIN(slice, move->bytes - done);
        prim_slice_simple(prim, move, done, bytes);
        done += bytes;
    }
}
