/* Lamport: the one-shot all-reduce of serving frameworks (TensorRT-LLM's allReduceFusionKernels.cu, which FlashInfer
 * and SGLang have, too). Each thread stores 16 B of its rank's data to every rank, polls what comes from every rank
 * until no word says "nothing here yet", makes that memory empty again and stores the sum: no barrier, no fence, no
 * flag.
 *
 * Each rank has room for all ranks' data twice: calls take turns, so that a rank that is a call ahead does not
 * overwrite what another has not read. A rank can be no more than one call ahead, since each needs all ranks' data.
 * Left out: what the frameworks fuse with it (norms, quantisation). */
#include "coll/internal.h"

#define LAMPORT_TURNS 2u
#define LAMPORT_WIDTH 16u
#define LAMPORT_CLK 700u /* of its instructions beside accesses: TensorRT-LLM's kernel as PTX, executed, takes so much
                          * more with two ranks */

static guint64 lamport_stride(const CollSpec *spec) { return (spec->bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES; }

static guint64 lamport_bytes(const CollSpec *spec, guint32 n) { return LAMPORT_TURNS * n * lamport_stride(spec); }

static void lamport_clear(const Coll *coll)
{
    for (guint32 r = 0; r < coll->n; r++) {
        guint32 *word = (guint32 *)(void *)memory_bytes(coll->scratch.region[r], 0);
        for (guint64 w = 0; w < lamport_bytes(&coll->spec, coll->n) / sizeof *word; w++)
            word[w] = FO_LAMPORT_EMPTY;
    }
}

/* CTAs count themselves out; the first one sees all of them gone before the call's number is the next one's. */
static void lamport_leave(FoCta *cta, const Coll *coll, guint32 rank, guint64 calls)
{
    FoReg *one = fo_reg(cta, 8);
    FoAddress left = coll_control(coll, rank, 0) + CONTROL_EPOCH;
    fo_sync(cta);
    fo_only(cta, 0, 1);
    fo_set_u64(cta, one, 1);
    fo_red(cta, left, one, FO_U64, FO_ADD, FO_RELAXED);
    if (fo_cta(cta) == 0)
        fo_poll(cta, left, 8, FO_GE, calls * fo_ctas(cta), FO_RELAXED);
    fo_all(cta);
}

static void program_lamport(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint32 n = coll->n, c = fo_cta(cta), ctas = fo_ctas(cta);
    guint64 *calls = &coll->steps[((guint64)a->rank * coll->ctas + c) * 2]; /* where other programs keep their peers' */
    guint64 stride = lamport_stride(&coll->spec), turn = (*calls)++ % LAMPORT_TURNS * n * stride;
    guint64 warp = LAMPORT_WIDTH * WARP_LANES, units = (coll->spec.bytes + warp - 1) / warp;
    guint64 at = units * c / ctas * warp, end = MIN(units * (c + 1) / ctas * warp, coll->spec.bytes);
    guint64 each = (guint64)coll->threads * LAMPORT_WIDTH;
    FoAddress to[n];
    /* whose turn it is stands in device memory, and where that is, too, but in SGLang's */
    guint32 loads = coll->spec.kernel == COLL_KERNEL_SGLANG ? 1 : 2;
    fo_sleep_ps(cta, loads * coll->fabric->spec.gpu.local_ps + LAMPORT_CLK * coll->fabric->spec.sm.clock_ps);
    for (; at < end; at += each) {
        FoAddress input = coll->in.va[a->rank] + at;
        FoExchange exchange = {.bytes = (MIN(each, end - at) + 3) / 4 * 4, .ranks = n, .n_to = n, .n_in = 1, .to = to,
                               .input = &input, .lamport = TRUE, .from = coll->scratch.va[a->rank] + turn + at,
                               .from_stride = stride, .output = coll->out.va[a->rank] + at,
                               .type = (FoType)coll->spec.type, .op = (FoOp)coll->spec.reduce};
        for (guint32 i = 0; i < n; i++)
            to[i] = coll->scratch.va[(a->rank + i) % n] + turn + a->rank * stride + at;
        fo_exchange(cta, &exchange);
    }
    lamport_leave(cta, coll, a->rank, *calls);
}

static guint64 parts_all(CollOp op, guint64 n)
{
    (void)op;
    return (n - 1) * n;
}

static guint64 lamport_scratch(const Coll *coll) { return lamport_bytes(&coll->spec, coll->n); }

static const CollRow lamport_rows[] = {
    {.op = COLL_ALL_REDUCE, .algo = COLL_LAMPORT, .program = program_lamport, .ctas = 36, .threads = 512,
     .polled = TRUE},
};
const CollAlgorithm coll_algo_lamport = {
    COLL_ROWS(lamport_rows), .family = COLL_OF_PEERS, .parts = parts_all, .scratch = lamport_scratch,
    .clear = lamport_clear,
    .how = "the one-shot kernel of TensorRT-LLM, FlashInfer and SGLang",
};
