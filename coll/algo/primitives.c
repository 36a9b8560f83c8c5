/* See primitives.h. */
#include "coll/algo/primitives.h"

#define PRIM_UNROLL 8u                /* ncclCollUnroll, compute capability 8.0 and later */
#define PRIM_SIMPLE_STEP (512u << 10) /* NCCL_BUFFSIZE 4 MiB / NCCL_STEPS; NCCL_P2P_NVL_CHUNKSIZE */
#define PRIM_SLICE_PARTS 32u          /* a slice is not cut finer than 1/32 of its steps */
#define PRIM_CLOCK_PS 505u            /* a cycle of the H100 whose times these are, 1980 MHz */
#define LL_LINES_THREAD 8u            /* NCCL_LL_LINES_PER_THREAD */
#define LL_THREADS 512u               /* NCCL_LL_MAX_NTHREADS */
#define LL128_THREADS 640u            /* NCCL_LL128_MAX_NTHREADS */
#define LL128_LINES_THREAD 120u       /* NCCL_LL128_ELEMS_PER_THREAD, of 8 B */

/* What NCCL's code takes beside its accesses, flags and fences, in nanoseconds. A kernel reads its arguments, its
 * communicator and its work, then its warps look their connections up one after the other; each slice (Simple) and each
 * step (LL, LL128) has its instructions, more of them where a kernel runs a kind of primitive for the first time, and
 * so has each unit of lines of a warp (device/ll.c).
 * Nanoseconds are those of the GPU that was measured: elsewhere they are so many cycles of the SM's clock.
 * source: docs/measurements/nccl_stages.csv, clocks read in NCCL's own kernels on H100; of sends and receives, a kernel
 * of their own, nccl_send.csv: their first slice comes 4.6 us after it begins, 0.35 for the clocks, as with rings.
 * beside_ns: a slice's pointers and roles are in shared memory and read one after the other; such a load takes 15 ns,
 * and 119 to 125 beside nine warps that send and nine that receive (lsu_beside.csv). By NCCL's clocks (nccl_send.csv) a
 * sender has 2.39 us before a slice's copy, 0.64 until its warps have met and 0.64 until it is posted; less 0.8 for the
 * clocks, 0.9 for step_ns and 0.5 for the barriers and polls that are simulated. */
typedef struct {
    guint32 begin_ns, begin_warp_ns; /* a kernel's first instruction to its first primitive; and for each warp */
    guint32 step_ns, empty_ns;       /* a slice or step; one without data */
    guint32 beside_ns;               /* in addition one with data while another group of its CTA copies */
    guint32 first_ns, first_sum_ns;  /* in addition the first of its kind; and if that adds */
    guint32 unit_ns, sum_ns;         /* a unit of lines; and where it adds */
    guint32 end_ns, end_warp_ns;     /* the last primitive to the kernel's end */
} PrimProgram;

static const PrimProgram prim_simple = {.begin_ns = 3050,
                                        .begin_warp_ns = 200,
                                        .step_ns = 900,
                                        .empty_ns = 300,
                                        .first_ns = 450,
                                        .end_ns = 630,
                                        .end_warp_ns = 94};
static const PrimProgram prim_p2p = {
    .begin_ns = 4250, .step_ns = 900, .beside_ns = 1500, .empty_ns = 300, .first_ns = 450, .end_ns = 200};
static const PrimProgram prim_ll = {
    .begin_ns = 1880, .begin_warp_ns = 6, .step_ns = 350, .empty_ns = 350, .end_ns = 200};
static const PrimProgram prim_ll128 = {.begin_ns = 2400,
                                       .begin_warp_ns = 137,
                                       .step_ns = 1000,
                                       .empty_ns = 1000,
                                       .first_ns = 500,
                                       .first_sum_ns = 1100,
                                       .unit_ns = 14,
                                       .sum_ns = 48,
                                       .end_ns = 80,
                                       .end_warp_ns = 54};

static const PrimProgram *prim_program(const Coll *coll)
{
    if (coll->proto == COLL_LL)
        return &prim_ll;
    if (coll->proto == COLL_LL128)
        return &prim_ll128;
    return coll->algo == COLL_P2P ? &prim_p2p : &prim_simple;
}

guint64 prim_step_bytes(CollProto proto)
{
    if (proto == COLL_LL)
        return (guint64)LL_LINES_THREAD * LL_THREADS * 16;
    if (proto == COLL_LL128)
        return (guint64)LL128_LINES_THREAD * LL128_THREADS * 8;
    return PRIM_SIMPLE_STEP;
}

guint64 prim_step_data(CollProto proto)
{
    guint64 bytes = prim_step_bytes(proto);
    return proto == COLL_LL ? bytes / 2 : proto == COLL_LL128 ? bytes / 128 * 120 : bytes;
}

static PrimPeer prim_peer(const Coll *coll, guint32 cta, guint32 sender, guint32 sender_k, guint32 receiver,
                          guint32 receiver_k)
{
    gboolean read = coll->read && coll->proto == COLL_SIMPLE;
    guint64 slot = (guint64)cta * coll->connections + (read ? sender_k : receiver_k);
    return (PrimPeer){.slots = coll->scratch.va[read ? sender : receiver] + slot * PRIM_STEPS * coll->step_bytes,
                      .tail = coll_control(coll, receiver, cta) + CONTROL_TAIL + receiver_k * 128,
                      .head = coll_control(coll, sender, cta) + CONTROL_HEAD + sender_k * 128};
}

static void prim_restore(PrimPeer *peer, const Coll *coll, guint32 rank, guint32 cta, guint32 way, guint32 k)
{
    peer->saved = &coll->steps[(((guint64)rank * coll->ctas + cta) * 2 + way) * coll->connections + k];
    peer->step = *peer->saved;
}

PrimPeer prim_to(const Coll *coll, guint32 cta, guint32 sender, guint32 sender_k, guint32 receiver, guint32 receiver_k)
{
    PrimPeer peer = prim_peer(coll, cta, sender, sender_k, receiver, receiver_k);
    prim_restore(&peer, coll, sender, cta, 0, sender_k);
    return peer;
}

PrimPeer prim_from(const Coll *coll, guint32 cta, guint32 sender, guint32 sender_k, guint32 receiver,
                   guint32 receiver_k)
{
    PrimPeer peer = prim_peer(coll, cta, sender, sender_k, receiver, receiver_k);
    prim_restore(&peer, coll, receiver, cta, 1, receiver_k);
    return peer;
}

static FoAddress prim_slot(const Prim *prim, const PrimPeer *peer)
{
    return peer->slots + peer->step % PRIM_STEPS * prim->step_bytes;
}

static void prim_all(const Prim *prim) { fo_only(prim->cta, prim->first, prim->threads); }

/* Waits, one warp for each peer at the same time, for data (Simple) and for room. NCCL polls with volatile loads. */
static void prim_wait(Prim *prim, const PrimMove *move, gboolean tails)
{
    FoCta *cta = prim->cta;
    guint32 warps = (prim->workers + WARP_LANES - 1) / WARP_LANES, turn = 0;
    for (guint32 i = 0; tails && move->receive && i < prim->n_from; i++) {
        fo_only(cta, prim->first + turn++ % warps * WARP_LANES, 1);
        fo_poll_seen(cta, prim->seen[PRIM_PEERS + i], prim->from[i].tail, FO_GE, prim->from[i].step + prim->slice_steps,
                     FO_RELAXED);
    }
    for (guint32 i = 0; move->send && i < prim->n_to; i++) {
        PrimPeer *to = &prim->to[i];
        if (to->step + prim->slice_steps <= PRIM_STEPS)
            continue;
        fo_only(cta, prim->first + turn++ % warps * WARP_LANES, 1);
        fo_poll_seen(cta, prim->seen[i], to->head, FO_GE, to->step + prim->slice_steps - PRIM_STEPS, FO_RELAXED);
    }
    fo_only(cta, prim->first, prim->workers);
    if (tails || move->send)
        fo_sync_active(cta, prim->barrier);
}

/* What takes the measured GPU so long takes this one as many cycles. */
static guint64 prim_ps(const Coll *coll, guint64 ns)
{
    return ns * 1000 * coll->fabric->spec.sm.clock_ps / PRIM_CLOCK_PS;
}

static guint64 prim_begin_ps(const FoCta *cta, const Coll *coll, const PrimProgram *program)
{
    return prim_ps(coll, program->begin_ns + fo_threads(cta) / WARP_LANES * program->begin_warp_ns);
}

static guint64 prim_end_ps(const FoCta *cta, const Coll *coll, const PrimProgram *program)
{
    return prim_ps(coll, program->end_ns + fo_threads(cta) / WARP_LANES * program->end_warp_ns);
}

/* What a slice or step of the active warps takes beside its accesses. */
static void prim_work(Prim *prim, const PrimMove *move, guint64 bytes)
{
    const PrimProgram *program = prim_program(prim->coll);
    guint32 kind = 1u << (move->receive | move->send << 1 | (move->input != 0) << 2 | (move->output != 0) << 3);
    guint32 first_ns = program->first_ns + (move->receive && move->input ? program->first_sum_ns : 0);
    guint64 work_ns = program->empty_ns;
    if (bytes)
        work_ns = program->step_ns + (prim->beside ? program->beside_ns : 0) + (prim->ran & kind ? 0 : first_ns);
    prim->ran |= bytes ? kind : 0;
    fo_sleep_ps(prim->cta, prim_ps(prim->coll, work_ns));
}

void prim_end(Prim *prim)
{
    for (guint32 i = 0; i < prim->n_to; i++)
        *prim->to[i].saved = prim->to[i].step;
    for (guint32 i = 0; i < prim->n_from; i++)
        *prim->from[i].saved = prim->from[i].step;
    prim_all(prim);
    fo_sleep_ps(prim->cta, prim_end_ps(prim->cta, prim->coll, prim_program(prim->coll)));
    fo_all(prim->cta);
}

void prim_init(Prim *prim, FoCta *cta, const Coll *coll, guint32 group, guint32 first, guint32 threads, gboolean sends)
{
    gboolean posts = coll->proto == COLL_SIMPLE && sends && threads >= PRIM_POST_THREADS;
    *prim = (Prim){.cta = cta,
                   .coll = coll,
                   .first = first,
                   .threads = threads,
                   .slice_steps = 1,
                   .slices = 1,
                   .workers = threads - (posts ? WARP_LANES : 0),
                   .barrier = 1 + 2 * group};
    prim->step_bytes = coll->step_bytes;
    for (guint32 i = 0; i < 2 * PRIM_PEERS; i++) {
        prim->flag[i] = fo_reg(cta, 8);
        prim->seen[i] = fo_reg(cta, 8);
    }
    prim_all(prim);
    fo_sleep_ps(cta, prim_begin_ps(cta, coll, prim_program(coll)));
}

/* By the group's last warp, after all its warps have met. `fence`: data went out that the tails announce. */
static void prim_post(Prim *prim, const PrimMove *move, gboolean tails, gboolean fence)
{
    FoCta *cta = prim->cta;
    guint32 last = prim->first + (prim->threads - 1) / WARP_LANES * WARP_LANES;
    gboolean told = tails && move->send;
    prim_all(prim);
    if (told && fence && !coll_fence_is_wide(prim->coll))
        fo_fence(cta);
    if (tails || move->receive)
        fo_sync_active(cta, prim->barrier + 1);
    fo_only(cta, last, 1);
    if (told && fence && coll_fence_is_wide(prim->coll))
        fo_fence(cta);
    for (guint32 i = 0; move->send && i < prim->n_to; i++) {
        prim->to[i].step += prim->slice_steps;
        if (!tails)
            continue;
        fo_set_u64(cta, prim->flag[i], prim->to[i].step);
        fo_st_sys_at(cta, &prim->to[i].tail, prim->flag[i], FO_RELAXED);
    }
    for (guint32 i = 0; move->receive && i < prim->n_from; i++) {
        FoReg *flag = prim->flag[PRIM_PEERS + i];
        prim->from[i].step += prim->slice_steps;
        fo_set_u64(cta, flag, prim->from[i].step);
        fo_st_sys_at(cta, &prim->from[i].head, flag, FO_RELAXED);
    }
    prim_all(prim);
}

static void prim_slice_simple(Prim *prim, const PrimMove *move, guint64 offset, guint64 bytes)
{
    const Coll *coll = prim->coll;
    FoLoop loop = {.bytes = bytes,
                   .width = 16,
                   .unroll = PRIM_UNROLL,
                   .type = (FoType)coll->spec.type,
                   .op = (FoOp)coll->spec.reduce,
                   .step = prim->workers};
    prim_wait(prim, move, TRUE);
    prim_work(prim, move, bytes);
    for (guint32 i = 0; move->receive && i < prim->n_from; i++)
        loop.source[loop.sources++].base = prim_slot(prim, &prim->from[i]);
    if (move->input)
        loop.source[loop.sources++].base = move->input + offset;
    if (move->output)
        loop.destination[loop.destinations++] = (FoStream){FO_ST, move->output + offset};
    for (guint32 i = 0; move->send && i < prim->n_to; i++)
        loop.destination[loop.destinations++] = (FoStream){FO_ST, prim_slot(prim, &prim->to[i])};
    for (guint32 i = 0; i < loop.sources + loop.destinations; i++) {
        guint64 base = i < loop.sources ? loop.source[i].base : loop.destination[i - loop.sources].base;
        while (base % loop.width)
            loop.width /= 2;
    }
    if (bytes && loop.destinations)
        fo_loop(prim->cta, &loop);
    prim_post(prim, move, TRUE, bytes > 0);
}

/* One step of LL or LL128. Flags are step numbers, so that old lines are never taken for new ones. */
static void prim_step_ll(Prim *prim, const PrimMove *move)
{
    const Coll *coll = prim->coll;
    const PrimProgram *program = prim_program(coll);
    FoLl ll = {.kind = coll->proto == COLL_LL ? FO_LL : FO_LL128,
               .bytes = (move->bytes + 3) / 4 * 4,
               .input = move->input,
               .output = move->output,
               .type = (FoType)coll->spec.type,
               .op = (FoOp)coll->spec.reduce};
    gboolean sums = coll->spec.op == COLL_ALL_REDUCE || coll->spec.op == COLL_REDUCE_SCATTER;
    ll.unit_ps = prim_ps(coll, program->unit_ns + (move->receive && move->input ? program->sum_ns : 0));
    ll.element = sums ? numeric_type_bytes(coll->spec.type) : 1; /* NCCL copies int8 (enqueue.cc) */
    prim_wait(prim, move, FALSE);
    prim_work(prim, move, move->bytes);
    for (guint32 i = 0; move->receive && i < prim->n_from; i++) {
        ll.from_flag = (guint32)prim->from[i].step + 1;
        ll.from[ll.n_from++] = prim_slot(prim, &prim->from[i]);
    }
    for (guint32 i = 0; move->send && i < prim->n_to; i++) {
        ll.to_flag = (guint32)prim->to[i].step + 1;
        ll.to[ll.n_to++] = prim_slot(prim, &prim->to[i]);
    }
    if (move->bytes)
        fo_ll(prim->cta, &ll);
    prim_post(prim, move, FALSE, FALSE);
}

/* A short or empty chunk has all its slices all the same, so that counters agree. */
void prim_move(Prim *prim, const PrimMove *move)
{
    if (prim->coll->proto != COLL_SIMPLE) {
        prim_step_ll(prim, move);
        return;
    }
    guint64 slice = (move->bytes + prim->slices * 16 - 1) / (prim->slices * 16) * 16, done = 0;
    slice = MAX(slice, prim->slice_steps * prim->step_bytes / PRIM_SLICE_PARTS);
    for (guint32 s = 0; s < prim->slices; s++) {
        guint64 bytes = MIN(slice, move->bytes - done);
        prim_slice_simple(prim, move, done, bytes);
        done += bytes;
    }
}

void prim_cta_begin(FoCta *cta, const Coll *coll) { fo_sleep_ps(cta, prim_begin_ps(cta, coll, &prim_simple)); }

void prim_cta_slice(FoCta *cta, const Coll *coll, gboolean first)
{
    fo_sleep_ps(cta, prim_ps(coll, prim_simple.step_ns + (first ? prim_simple.first_ns : 0)));
}

void prim_cta_end(FoCta *cta, const Coll *coll) { fo_sleep_ps(cta, prim_end_ps(cta, coll, &prim_simple)); }
