/* NCCL's kernels for symmetric memory (src/device/symmetric), whose buffers every rank can address:
 *
 *   sym_ll    each rank's packs go as LL lines to all ranks, which sum (or keep) what comes: no barrier
 *   sym_llmc  the same, the lines stored once to a multicast address
 *   sym_lsa   loads from all peers, stores to all peers (AllReduce_RSxLD_AGxST, AllGather_ST, ReduceScatter_LD)
 *   sym_mc    multimem.ld_reduce, multimem.st (AllReduce_RSxLDMC_AGxSTMC, AllGather_STMC, ReduceScatter_LDMC)
 *
 * Warps take stretches of consecutive packs in turn, first by rank, then by CTA, then by warp. The first
 * barrier arrives relaxed and waits with acquire, the last one arrives with release and waits relaxed.
 * Left out: rings of the LL buffer's two halves beyond two, TMA, several works in a kernel. */
#include "coll/internal.h"

#define SYM_CELL 1024u    /* NCCL_SYM_KERNEL_CELL_SIZE: CTAs share LL data in cells */
#define SYM_LSA_PACKS 4u  /* of 16 B in flight of a thread and peer */
#define SYM_MC_BYTES 128u /* in flight of a thread */
#define SYM_UNROLL_MAX 16u

/* ---- barriers */

static void sym_fence(FoCta *cta, const Coll *coll)
{
    if (coll->fabric->spec.sm.fence_gpu_wide)
        fo_only(cta, 0, 1); /* __syncthreads and one thread's fence cover the CTA */
    fo_fence(cta);
    fo_all(cta);
}

static void sym_barrier(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, gboolean multimem)
{
    const FoMultimem add = {.type = FO_U64, .op = FO_ADD, .order = FO_RELAXED, .scope = FO_SCOPE_SYS};
    FoOrder order = gen == 1 ? FO_ACQUIRE : FO_RELAXED;
    FoReg *flag = fo_reg(cta, 8);
    guint32 c = fo_cta(cta);
    fo_sync(cta);
    if (gen > 1)
        sym_fence(cta, coll);
    if (multimem) {
        guint64 offset = c * coll->control_stride + CONTROL_MC_FLAG;
        fo_only(cta, 0, 1);
        fo_set_u64(cta, flag, 1);
        fo_multimem_red(cta, coll->control.mc_va + offset, flag, &add);
        fo_poll(cta, coll->control.va[rank] + offset, 8, FO_GE, gen * coll->n, order);
    } else {
        fo_only(cta, 0, coll_flag_threads(coll));
        fo_set_u64(cta, flag, gen);
        coll_exchange_flags(cta, coll, rank, gen, flag, order);
    }
    fo_all(cta);
    fo_sync(cta);
}

/* What a session leaves for the next kernel: its epoch, in the GPU's own memory. */
static void sym_leave(FoCta *cta, const Coll *coll, guint32 rank)
{
    FoReg *epoch = fo_reg(cta, 8);
    fo_only(cta, 0, 1);
    fo_set_u64(cta, epoch, 1);
    fo_st_sys(cta, coll_control(coll, rank, fo_cta(cta)) + CONTROL_EPOCH, epoch, FO_RELAXED);
    fo_all(cta);
    fo_sync(cta);
}

/* ---- who does what: elements of `loop->width` in stretches of `unroll` x 32 */

/* turns: stretches are dealt to ranks in turn (all_reduce); else the data is this rank's alone. */
static void sym_deal(FoCta *cta, const Coll *coll, guint32 rank, gboolean turns, FoLoop *loop)
{
    guint64 ranks = turns ? coll->n : 1, stretch = (guint64)loop->unroll * WARP_LANES;
    guint64 warps = (fo_threads(cta) + WARP_LANES - 1) / WARP_LANES;
    loop->first = ((turns ? rank : 0) + ranks * fo_cta(cta)) * stretch;
    loop->warp_step = ranks * fo_ctas(cta) * stretch;
    loop->unroll_step = WARP_LANES;
    loop->step = loop->warp_step * warps;
}

/* Moves the piece [from, to) of the streams' data. */
static void sym_piece(FoCta *cta, const Coll *coll, guint32 rank, gboolean turns, const FoLoop *whole, guint64 from,
                      guint64 to)
{
    FoLoop loop = *whole;
    if (from >= to)
        return;
    loop.bytes = (to - from + loop.width - 1) / loop.width * loop.width;
    for (guint32 s = 0; s < loop.sources; s++)
        loop.source[s].base += from;
    for (guint32 d = 0; d < loop.destinations; d++)
        loop.destination[d].base += from;
    sym_deal(cta, coll, rank, turns, &loop);
    fo_loop(cta, &loop);
}

static FoLoop sym_loop(const Coll *coll)
{
    return (FoLoop){.type = (FoType)coll->spec.type, .op = (FoOp)coll->spec.reduce, .acc = (FoAcc)coll->spec.acc};
}

static gboolean sym_aligned(const FoLoop *loop, guint32 width)
{
    guint64 all = 0;
    for (guint32 s = 0; s < loop->sources; s++)
        all |= loop->source[s].base;
    for (guint32 d = 0; d < loop->destinations; d++)
        all |= loop->destination[d].base;
    return all % width == 0;
}

/* ---- loads and stores */

/* Chunks of four warps' stretches of 16 B packs, as far as all CTAs of all ranks get one, then the same
 * of 4 B packs, then single elements. */
static void sym_lsa_move(FoCta *cta, const Coll *coll, guint32 rank, gboolean turns, FoLoop *loop, guint64 bytes)
{
    guint64 at = 0, parties = (guint64)fo_ctas(cta) * (turns ? coll->n : 1);
    static const struct {
        guint32 width, batch;
    } rules[] = {{16, 2}, {4, 4}};
    for (guint32 i = 0; i < G_N_ELEMENTS(rules); i++) {
        guint64 chunk = 4ull * SYM_LSA_PACKS * WARP_LANES * rules[i].width * parties;
        if (!sym_aligned(loop, rules[i].width))
            continue;
        loop->width = rules[i].width;
        loop->unroll = SYM_LSA_PACKS;
        loop->batch_first = 2; /* the own one and the next rank's */
        loop->batch = rules[i].batch;
        sym_piece(cta, coll, rank, turns, loop, at, at + (bytes - at) / chunk * chunk);
        at += (bytes - at) / chunk * chunk;
    }
    loop->width = 4;
    loop->unroll = 1;
    loop->batch_first = loop->batch = 0;
    sym_piece(cta, coll, rank, turns, loop, at, bytes);
}

static void program_sym_lsa(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    CollOp op = coll->spec.op;
    guint64 slice = coll->spec.bytes / coll->n;
    FoLoop loop = sym_loop(coll);
    sym_barrier(cta, coll, a->rank, 1, FALSE);
    for (guint32 i = 0; i < coll->n; i++) {
        guint32 r = (a->rank + i) % coll->n;
        if (op != COLL_ALL_GATHER || i == 0)
            loop.source[loop.sources++].base = coll->in.va[r] + (op == COLL_REDUCE_SCATTER ? a->rank * slice : 0);
        if (op != COLL_REDUCE_SCATTER || i == 0)
            loop.destination[loop.destinations++] =
                (FoStream){FO_ST, coll->out.va[r] + (op == COLL_ALL_GATHER ? a->rank * slice : 0)};
    }
    sym_lsa_move(cta, coll, a->rank, op == COLL_ALL_REDUCE, &loop, op == COLL_ALL_REDUCE ? coll->spec.bytes : slice);
    sym_barrier(cta, coll, a->rank, 2, FALSE);
    sym_leave(cta, coll, a->rank);
}

/* ---- multimem */

static void sym_mc_move(FoCta *cta, const Coll *coll, guint32 rank, gboolean turns, FoLoop *loop, guint64 bytes)
{
    gboolean vector = numeric_is_float(coll->spec.type) && coll->spec.type != NUMERIC_F64;
    gboolean copies = loop->source[0].access == FO_LD;
    guint32 element = MAX(numeric_type_bytes(coll->spec.type), 4);
    loop->width = vector || copies ? 16 : element;
    loop->unroll = MIN(SYM_MC_BYTES / loop->width, SYM_UNROLL_MAX);
    guint64 chunk = (guint64)loop->unroll * loop->width * WARP_LANES, whole = 0;
    if (sym_aligned(loop, loop->width))
        whole = bytes / chunk * chunk;
    sym_piece(cta, coll, rank, turns, loop, 0, whole);
    loop->width = copies || bytes % element ? 4 : element;
    loop->unroll = 4;
    sym_piece(cta, coll, rank, turns, loop, whole, bytes);
}

static void program_sym_mc(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    CollOp op = coll->spec.op;
    guint64 slice = coll->spec.bytes / coll->n, mine = a->rank * slice;
    FoLoop loop = sym_loop(coll);
    loop.sources = loop.destinations = 1;
    sym_barrier(cta, coll, a->rank, 1, TRUE);
    loop.source[0] = op == COLL_ALL_GATHER
                         ? (FoStream){FO_LD, coll->in.va[a->rank]}
                         : (FoStream){FO_LD_REDUCE, coll->in.mc_va + (op == COLL_ALL_REDUCE ? 0 : mine)};
    loop.destination[0] = op == COLL_REDUCE_SCATTER
                              ? (FoStream){FO_ST, coll->out.va[a->rank]}
                              : (FoStream){FO_MULTIMEM_ST, coll->out.mc_va + (op == COLL_ALL_REDUCE ? 0 : mine)};
    sym_mc_move(cta, coll, a->rank, op == COLL_ALL_REDUCE, &loop, op == COLL_ALL_REDUCE ? coll->spec.bytes : slice);
    sym_barrier(cta, coll, a->rank, 2, TRUE);
    sym_leave(cta, coll, a->rank);
}

/* ---- LL lines to all */

static guint64 sym_slots(const Coll *coll) { return 2ull * coll->n * coll->threads * 16; }

/* Epoch e of a CTA: packs [offset, offset + bytes) of every part. */
static void sym_epoch(FoCta *cta, const Coll *coll, guint32 rank, guint32 epoch, guint64 offset, guint64 bytes)
{
    CollOp op = coll->spec.op;
    gboolean multimem = coll->algo == COLL_SYM_LLMC;
    guint64 slice = coll->spec.bytes / coll->n, stride = (guint64)coll->threads * 16;
    guint64 half = fo_cta(cta) * sym_slots(coll) + epoch % 2 * coll->n * stride;
    FoAddress to[coll->n], input[coll->n];
    FoExchange exchange = {.bytes = (bytes + 3) / 4 * 4,
                           .ranks = coll->n,
                           .to = to,
                           .input = input,
                           .multimem = multimem,
                           .flag = epoch + 1,
                           .from_stride = stride,
                           .type = (FoType)coll->spec.type,
                           .op = (FoOp)coll->spec.reduce};
    exchange.n_to = multimem ? 1 : coll->n;
    exchange.n_in = op == COLL_REDUCE_SCATTER ? coll->n : 1;
    for (guint32 i = 0; i < exchange.n_to; i++) {
        guint32 r = (rank + i) % coll->n;
        to[i] = (multimem ? coll->scratch.mc_va : coll->scratch.va[r]) + half + rank * stride;
        input[i] = coll->in.va[rank] + offset + (op == COLL_REDUCE_SCATTER ? r * slice : 0);
    }
    exchange.from = coll->scratch.va[rank] + half;
    exchange.output = coll->out.va[rank] + offset;
    exchange.output_stride = op == COLL_ALL_GATHER ? slice : 0;
    fo_exchange(cta, &exchange);
    fo_sync(cta);
}

static void program_sym_ll(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint64 total = coll->spec.op == COLL_ALL_REDUCE ? coll->spec.bytes : coll->spec.bytes / coll->n;
    guint64 cells = (total + SYM_CELL - 1) / SYM_CELL, c = fo_cta(cta), n = fo_ctas(cta);
    guint64 at = cells * c / n * SYM_CELL, end = MIN(cells * (c + 1) / n * SYM_CELL, total);
    guint64 each = (guint64)coll->threads * 8;
    /* where the input is stands in a descriptor in device memory, and the flag is the last kernel's epoch */
    fo_sleep_ps(cta, coll->fabric->spec.gpu.local_ps);
    for (guint32 epoch = 0; at < end; epoch++, at += each)
        sym_epoch(cta, coll, a->rank, epoch, at, MIN(each, end - at));
    sym_leave(cta, coll, a->rank);
}

/* All ranks together receive 2 (n - 1) times the data of a sum, so that some receive the mean or more. */
static guint64 parts_twice(CollOp op, guint64 n) { return op == COLL_ALL_REDUCE ? 2 * (n - 1) : n - 1; }

/* Lines of LL: flags take as much as data. */
static guint64 sym_ll_parts(CollOp op, guint64 n) { return op == COLL_ALL_REDUCE ? 2 * (n - 1) * n : 2 * (n - 1); }

static guint64 sym_ll_scratch(const Coll *coll) { return coll->ctas * sym_slots(coll); }

static gboolean sym_ll_check(const CollGroup *group, const CollSpec *spec, const CollRow *row, guint32 ctas,
                             guint32 threads, GError **error)
{
    (void)ctas, (void)threads;
    return !coll_is_sliced(spec->op) || spec->bytes / group->n % 8 == 0 ||
           coll_refuse(error,
                       "%s moves parts of whole 8 bytes; a rank's part is %" G_GUINT64_FORMAT
                       " bytes here: sym_lsa can do that",
                       row->algo == COLL_SYM_LL ? "sym_ll" : "sym_llmc", spec->bytes / group->n);
}

static gboolean sym_lsa_check(const CollGroup *group, const CollSpec *spec, const CollRow *row, guint32 ctas,
                              guint32 threads, GError **error)
{
    (void)spec, (void)row, (void)ctas, (void)threads;
    return group->n <= FO_LOOP_MAX || coll_refuse(error, "sym_lsa sums up to %u ranks, not %u", FO_LOOP_MAX, group->n);
}

static const CollRow sym_ll_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_SYM_LL,
     .program = program_sym_ll,
     .threads = 512,
     .symmetric = TRUE,
     .polled = TRUE},
    {.op = COLL_ALL_GATHER,
     .algo = COLL_SYM_LL,
     .program = program_sym_ll,
     .threads = 512,
     .symmetric = TRUE,
     .polled = TRUE},
    {.op = COLL_REDUCE_SCATTER,
     .algo = COLL_SYM_LL,
     .program = program_sym_ll,
     .threads = 512,
     .symmetric = TRUE,
     .polled = TRUE},
};
const CollAlgorithm coll_algo_sym_ll = {
    COLL_ROWS(sym_ll_rows), .family = COLL_OF_SYMMETRIC_MEMORY,
    .parts = sym_ll_parts,  .scratch = sym_ll_scratch,
    .check = sym_ll_check,  .how = "NCCL on buffers in a symmetric window (ncclCommWindowRegister)",
};

static const CollRow sym_llmc_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_SYM_LLMC,
     .program = program_sym_ll,
     .threads = 512,
     .symmetric = TRUE,
     .polled = TRUE,
     .multicast_lines = TRUE},
    {.op = COLL_ALL_GATHER,
     .algo = COLL_SYM_LLMC,
     .program = program_sym_ll,
     .threads = 512,
     .symmetric = TRUE,
     .polled = TRUE,
     .multicast_lines = TRUE},
};
const CollAlgorithm coll_algo_sym_llmc = {
    COLL_ROWS(sym_llmc_rows), .family = COLL_OF_SYMMETRIC_MEMORY,
    .parts = sym_ll_parts,    .scratch = sym_ll_scratch,
    .check = sym_ll_check,    .how = "NCCL on buffers in a symmetric window (ncclCommWindowRegister)",
};

static const CollRow sym_lsa_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_SYM_LSA,
     .program = program_sym_lsa,
     .threads = 512,
     .symmetric = TRUE,
     .flow_needs_samples = TRUE},
    {.op = COLL_ALL_GATHER, .algo = COLL_SYM_LSA, .program = program_sym_lsa, .threads = 512, .symmetric = TRUE},
    {.op = COLL_REDUCE_SCATTER,
     .algo = COLL_SYM_LSA,
     .program = program_sym_lsa,
     .threads = 512,
     .symmetric = TRUE,
     .flow_needs_samples = TRUE},
};
const CollAlgorithm coll_algo_sym_lsa = {
    COLL_ROWS(sym_lsa_rows),
    .family = COLL_OF_SYMMETRIC_MEMORY,
    .parts = parts_twice,
    .check = sym_lsa_check,
    .how = "NCCL on buffers in a symmetric window (ncclCommWindowRegister)",
};

static const CollRow sym_mc_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_SYM_MC,
     .program = program_sym_mc,
     .threads = 512,
     .symmetric = TRUE,
     .multicast_in = TRUE,
     .multicast_out = TRUE,
     .reduces_in_switch = TRUE},
    {.op = COLL_ALL_GATHER,
     .algo = COLL_SYM_MC,
     .program = program_sym_mc,
     .threads = 512,
     .symmetric = TRUE,
     .multicast_out = TRUE},
    {.op = COLL_REDUCE_SCATTER,
     .algo = COLL_SYM_MC,
     .program = program_sym_mc,
     .threads = 512,
     .symmetric = TRUE,
     .multicast_in = TRUE,
     .reduces_in_switch = TRUE},
};
const CollAlgorithm coll_algo_sym_mc = {
    COLL_ROWS(sym_mc_rows),
    .family = COLL_OF_SYMMETRIC_MEMORY,
    .how = "NCCL on buffers in a symmetric window (ncclCommWindowRegister)",
};
