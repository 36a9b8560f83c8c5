/* Lamport: the one-shot all-reduce of serving frameworks (TensorRT-LLM's allReduceFusionKernels.cu, which FlashInfer
 * and SGLang have, too). Each thread stores 16 B of its rank's data to every rank, polls what comes from every rank
 * until no word says "nothing here yet", makes that memory empty again and stores the sum: no barrier, no fence, no
 * flag.
 *
 * Each rank has room for all ranks' data twice: calls take turns, so that a rank that is a call ahead does not
 * overwrite what another has not read. A rank can be no more than one call ahead, since each needs all ranks' data.
 *
 * TensorRT-LLM's kernels of several trays (mnnvlAllreduceKernels.cu) are Lamport's, too. One-shot stores each 16 B
 * once, to a multicast address. Two-shot stores each slice to the rank that sums it, which stores the sum to a
 * multicast address; all ranks poll their memory for it and copy it out. Here the sum goes by way of the own memory.
 * Left out: what the frameworks fuse with it (norms, quantisation). */
#include "coll/internal.h"

#define LAMPORT_TURNS 2u
#define LAMPORT_WIDTH 16u
#define LAMPORT_CLK                                                                                                    \
    700u /* of its instructions beside accesses: TensorRT-LLM's kernel as PTX, executed, takes so much
                          * more with two ranks */

static guint64 lamport_stride(const CollSpec *spec) { return (spec->bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES; }

/* Of two-shot: a slice, of whole units of a warp. */
static guint64 lamport_slice(const CollSpec *spec, guint32 n)
{
    guint64 unit = LAMPORT_WIDTH * WARP_LANES;
    return (spec->bytes + n * unit - 1) / (n * unit) * unit;
}

/* Of a turn: a place for each rank's data; of two-shot for each rank's part of a slice, for all sums, and for the own
 * one. */
static guint64 lamport_turn(const CollSpec *spec, guint32 n)
{
    return spec->kernel == COLL_KERNEL_MNNVL_TWOSHOT ? (2 * n + 1) * lamport_slice(spec, n) : n * lamport_stride(spec);
}

static guint64 lamport_bytes(const CollSpec *spec, guint32 n) { return LAMPORT_TURNS * lamport_turn(spec, n); }

static void lamport_clear(const Coll *coll)
{
    for (guint32 r = 0; r < coll->n; r++) {
        guint32 *word = (guint32 *)(void *)memory_bytes(coll->scratch.region[r], 0);
        for (guint64 w = 0; w < lamport_bytes(&coll->spec, coll->n) / sizeof *word; w++)
            word[w] = FO_LAMPORT_EMPTY;
    }
}

/* Each thread 16 B to every rank, or once to all. */
static void lamport_oneshot(FoCta *cta, const Coll *coll, guint32 rank, guint64 turn)
{
    guint32 n = coll->n, c = fo_cta(cta), ctas = fo_ctas(cta);
    guint64 stride = lamport_stride(&coll->spec), warp = LAMPORT_WIDTH * WARP_LANES;
    guint64 units = (coll->spec.bytes + warp - 1) / warp, each = (guint64)coll->threads * LAMPORT_WIDTH;
    guint64 at = units * c / ctas * warp, end = MIN(units * (c + 1) / ctas * warp, coll->spec.bytes);
    gboolean multicast = coll->spec.kernel == COLL_KERNEL_MNNVL_ONESHOT;
    FoAddress to[n];
    for (; at < end; at += each) {
        FoAddress input = coll->in.va[rank] + at;
        FoExchange exchange = {.bytes = (MIN(each, end - at) + 3) / 4 * 4,
                               .ranks = n,
                               .n_to = multicast ? 1 : n,
                               .n_in = 1,
                               .to = to,
                               .input = &input,
                               .multimem = multicast,
                               .lamport = TRUE,
                               .from = coll->scratch.va[rank] + turn + at,
                               .from_stride = stride,
                               .output = coll->out.va[rank] + at,
                               .type = (FoType)coll->spec.type,
                               .op = (FoOp)coll->spec.reduce};
        for (guint32 i = 0; i < exchange.n_to; i++)
            to[i] = (multicast ? coll->scratch.mc_va : coll->scratch.va[(rank + i) % n]) + turn + rank * stride + at;
        fo_exchange(cta, &exchange);
    }
}

/* Each thread 16 B of each slice to the rank that sums it, and the sum of the own slice to all. */
static void lamport_twoshot(FoCta *cta, const Coll *coll, guint32 rank, guint64 turn)
{
    guint32 n = coll->n, c = fo_cta(cta), ctas = fo_ctas(cta);
    guint64 slice = lamport_slice(&coll->spec, n), warp = LAMPORT_WIDTH * WARP_LANES, units = slice / warp;
    guint64 at = units * c / ctas * warp, end = units * (c + 1) / ctas * warp;
    guint64 each = (guint64)coll->threads * LAMPORT_WIDTH;
    FoAddress own = coll->scratch.va[rank] + turn, sums = own + n * slice, to[n], input[n];
    for (; at < end; at += each) {
        FoAddress sum = sums + n * slice + at, all = coll->scratch.mc_va + turn + (n + rank) * slice + at;
        FoExchange scatter = {.bytes = MIN(each, end - at),
                              .ranks = n,
                              .n_to = n,
                              .n_in = n,
                              .to = to,
                              .input = input,
                              .lamport = TRUE,
                              .from = own + at,
                              .from_stride = slice,
                              .output = sum,
                              .type = (FoType)coll->spec.type,
                              .op = (FoOp)coll->spec.reduce};
        for (guint32 i = 0; i < n; i++) {
            guint32 r = (rank + i) % n;
            to[i] = coll->scratch.va[r] + turn + rank * slice + at;
            input[i] = coll->in.va[rank] + r * slice + at;
        }
        fo_exchange(cta, &scatter);
        FoExchange gather = {.bytes = scatter.bytes,
                             .ranks = n,
                             .n_to = 1,
                             .n_in = 1,
                             .to = &all,
                             .input = &sum,
                             .multimem = TRUE,
                             .lamport = TRUE,
                             .from = sums + at,
                             .from_stride = slice,
                             .output = coll->out.va[rank] + at,
                             .output_stride = slice,
                             .type = scatter.type,
                             .op = scatter.op};
        fo_exchange(cta, &gather);
    }
}

static void program_lamport(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint64 *calls = &coll->steps[((guint64)a->rank * coll->ctas + fo_cta(cta)) * 2]; /* other programs: their peers' */
    guint64 turn = (*calls)++ % LAMPORT_TURNS * lamport_turn(&coll->spec, coll->n);
    /* whose turn it is stands in device memory, and where that is, too, but in SGLang's */
    guint32 loads = coll->spec.kernel == COLL_KERNEL_SGLANG ? 1 : 2;
    fo_sleep_ps(cta, loads * coll->fabric->spec.gpu.local_ps + LAMPORT_CLK * coll->fabric->spec.sm.clock_ps);
    if (coll->spec.kernel == COLL_KERNEL_MNNVL_TWOSHOT)
        lamport_twoshot(cta, coll, a->rank, turn);
    else
        lamport_oneshot(cta, coll, a->rank, turn);
    /* all are gone before the call's number is the next one's */
    coll_leave(cta, coll, a->rank, *calls, fo_reg(cta, 8));
}

/* Two-shot's slices are of whole units, so that the last one would reach beyond the buffers. */
static gboolean lamport_check(const CollGroup *group, const CollSpec *spec, const CollRow *row, guint32 ctas,
                              guint32 threads, GError **error)
{
    (void)row, (void)ctas, (void)threads;
    return spec->kernel != COLL_KERNEL_MNNVL_TWOSHOT || lamport_slice(spec, group->n) * group->n == spec->bytes ||
           coll_refuse(error, "two-shot by multicast moves slices of whole 512 bytes: multiples of %u bytes are right",
                       group->n * LAMPORT_WIDTH * WARP_LANES);
}

static guint64 parts_all(CollOp op, guint64 n)
{
    (void)op;
    return (n - 1) * n;
}

static guint64 lamport_scratch(const Coll *coll) { return lamport_bytes(&coll->spec, coll->n); }

static const CollRow lamport_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_LAMPORT,
     .program = program_lamport,
     .ctas = 36,
     .threads = 512,
     .polled = TRUE},
};
const CollAlgorithm coll_algo_lamport = {
    COLL_ROWS(lamport_rows),
    .family = COLL_OF_PEERS,
    .parts = parts_all,
    .scratch = lamport_scratch,
    .clear = lamport_clear,
    .check = lamport_check,
    .how = "the one-shot kernel of TensorRT-LLM, FlashInfer and SGLang",
};
