/* Collectives over plain loads and stores to peers, the shapes of custom kernels (h200/p2pbench.cu):
 * one-shot and two-shot pull all-reduce, push all-gather, pull reduce-scatter, push broadcast,
 * all-to-all and send-receive.
 *
 * Those of serving frameworks differ in their barriers, and in how a slice's sum gets to the others. Sources:
 *   vllm    custom_all_reduce.cuh: volatile flags before and behind one-shot; two-shot has them before, a release in
 *           the middle and nothing behind
 *   sglang  custom_all_reduce_pull.cuh: two-shot sums a slice and stores it to all ranks, between volatile flags and a
 *           release
 *   trtllm  allReduceFusionKernels.cu, twoshot_sync: each rank copies its data to where others read it, sums a slice,
 *           stores it to all ranks and copies the sums out, with a release after the copy and one after the stores
 * Instructions beside accesses: a kernel's come to 800 cycles, which is what vLLM's takes as PTX, executed, more than
 * its accesses. */
#include "coll/internal.h"

#define FRAMEWORK_CLK 800u

#define DIRECT_UNROLL 4u

static FoLoop direct_loop(const Coll *coll, guint64 bytes)
{
    return (FoLoop){.bytes = bytes,
                    .width = 16,
                    .unroll = DIRECT_UNROLL,
                    .type = (FoType)coll->spec.type,
                    .op = (FoOp)coll->spec.reduce};
}

static void direct_run(FoCta *cta, FoLoop *loop)
{
    for (guint32 s = 0; s < loop->sources; s++)
        while (loop->source[s].base % loop->width)
            loop->width /= 2;
    for (guint32 d = 0; d < loop->destinations; d++)
        while (loop->destination[d].base % loop->width)
            loop->width /= 2;
    if (loop->bytes)
        fo_loop(cta, loop);
}

/* out[to] = sum over all ranks of in[from]; own rank first, then the next ones. More than FO_LOOP_MAX
 * ranks are summed in rounds, each adding to what the last one stored. */
static void direct_sum(FoCta *cta, const Coll *coll, guint32 rank, guint64 from, FoAddress to, guint64 bytes)
{
    for (guint32 done = 0; done < coll->n;) {
        FoLoop loop = direct_loop(coll, bytes);
        loop.unroll = 1;
        if (done)
            loop.source[loop.sources++].base = to;
        while (done < coll->n && loop.sources < FO_LOOP_MAX)
            loop.source[loop.sources++].base = coll->in.va[(rank + done++) % coll->n] + from;
        loop.destinations = 1;
        loop.destination[0] = (FoStream){FO_ST, to};
        direct_run(cta, &loop);
    }
}

static void direct_copy(FoCta *cta, const Coll *coll, FoAddress from, FoAddress to, guint64 bytes)
{
    FoLoop loop = direct_loop(coll, bytes);
    if (coll->spec.kernel == COLL_KERNEL_TRTLLM)
        loop.unroll = 1;
    loop.sources = loop.destinations = 1;
    loop.source[0].base = from;
    loop.destination[0] = (FoStream){FO_ST, to};
    direct_run(cta, &loop);
}

/* in[from] to every rank's out[to], read once. */
static void direct_push(FoCta *cta, const Coll *coll, guint32 rank, FoAddress from, guint64 to, guint64 bytes)
{
    for (guint32 done = 0; done < coll->n;) {
        FoLoop loop = direct_loop(coll, bytes);
        loop.unroll = 1;
        loop.sources = 1;
        loop.source[0].base = from;
        while (done < coll->n && loop.destinations < FO_LOOP_MAX)
            loop.destination[loop.destinations++] = (FoStream){FO_ST, coll->out.va[(rank + done++) % coll->n] + to};
        direct_run(cta, &loop);
    }
}

/* Two-shot: sum the own slice into scratch, meet, gather the others' sums. */
static void direct_twoshot(FoCta *cta, const Coll *coll, guint32 rank, FoReg *flag)
{
    guint64 bytes, start = coll_slice(coll, rank, &bytes);
    direct_sum(cta, coll, rank, start, coll->scratch.va[rank], bytes);
    coll_barrier_flags(cta, coll, rank, 2, flag);
    for (guint32 i = 0; i < coll->n; i++) {
        guint32 r = (rank + i) % coll->n;
        start = coll_slice(coll, r, &bytes);
        direct_copy(cta, coll, coll->scratch.va[r], coll->out.va[rank] + start, bytes);
    }
}

/* The sums of the own slice of `from`, stored to that place behind `to_at` of all ranks' `to`. */
static void direct_sum_push(FoCta *cta, const Coll *coll, const CollBuffer *from, const CollBuffer *to, guint64 to_at,
                            guint32 rank)
{
    guint64 bytes, start = coll_slice(coll, rank, &bytes);
    FoLoop loop = direct_loop(coll, bytes);
    loop.unroll = 1;
    for (guint32 r = 0; r < coll->n; r++) {
        loop.source[loop.sources++].base = from->va[(rank + r) % coll->n] + start;
        loop.destination[loop.destinations++] = (FoStream){FO_ST, to->va[(rank + r) % coll->n] + to_at + start};
    }
    direct_run(cta, &loop);
}

static guint64 twoshot_bytes(const CollSpec *spec, guint64 slice)
{
    return spec->kernel == COLL_KERNEL_TRTLLM ? 2 * ((spec->bytes + 255) / 256 * 256) : slice + 256;
}

/* `loads` of the GPU's own memory, of which each needs the one before: counters and tables that say where flags are. */
static void direct_look_up(FoCta *cta, const Coll *coll, guint32 loads)
{
    fo_sleep_ps(cta, loads * coll->fabric->spec.gpu.local_ps);
}

static void direct_trtllm(FoCta *cta, const Coll *coll, guint32 rank, FoReg *flag)
{
    guint64 bytes, sums = twoshot_bytes(&coll->spec, 0) / 2; /* where they are in scratch */
    FoAddress own = coll->scratch.va[rank];
    direct_look_up(cta, coll, 2);
    for (guint32 r = 0; r < coll->n; r++) { /* a CTA has the same lines of a slice in each step */
        guint64 start = coll_slice(coll, r, &bytes);
        direct_copy(cta, coll, coll->in.va[rank] + start, own + start, bytes);
    }
    coll_barrier_flags(cta, coll, rank, 1, flag);
    direct_sum_push(cta, coll, &coll->scratch, &coll->scratch, sums, rank);
    coll_barrier_flags(cta, coll, rank, 2, flag);
    for (guint32 r = 0; r < coll->n; r++) {
        guint64 start = coll_slice(coll, r, &bytes);
        direct_copy(cta, coll, own + sums + start, coll->out.va[rank] + start, bytes);
    }
}

/* All-reduce as a framework's kernel does it. */
static void direct_framework(FoCta *cta, const Coll *coll, guint32 rank, FoReg *flag)
{
    fo_sleep_ps(cta, FRAMEWORK_CLK * coll->fabric->spec.sm.clock_ps);
    if (coll->spec.kernel == COLL_KERNEL_TRTLLM) {
        direct_trtllm(cta, coll, rank, flag);
        return;
    }
    direct_look_up(cta, coll, 1);
    coll_barrier_relaxed(cta, coll, rank, 1, flag);
    if (coll->spec.kernel == COLL_KERNEL_SGLANG) {
        direct_sum_push(cta, coll, &coll->in, &coll->out, 0, rank);
        direct_look_up(cta, coll, 1);
        coll_barrier_flags(cta, coll, rank, 2, flag);
    } else if (coll->algo == COLL_TWOSHOT) {
        direct_twoshot(cta, coll, rank, flag);
    } else {
        direct_sum(cta, coll, rank, 0, coll->out.va[rank], coll->spec.bytes);
        direct_look_up(cta, coll, 1);
        coll_barrier_relaxed(cta, coll, rank, 2, flag);
    }
}

static void direct_all_to_all(FoCta *cta, const Coll *coll, guint32 rank)
{
    guint64 slice = coll->spec.bytes / coll->n;
    for (guint32 i = 0; i < coll->n; i++) {
        guint32 r = (rank + i) % coll->n;
        if (coll->algo == COLL_PULL)
            direct_copy(cta, coll, coll->in.va[r] + rank * slice, coll->out.va[rank] + r * slice, slice);
        else
            direct_copy(cta, coll, coll->in.va[rank] + r * slice, coll->out.va[r] + rank * slice, slice);
    }
}

static void program_direct(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint32 rank = a->rank;
    guint64 bytes = coll->spec.bytes, slice = bytes / coll->n;
    FoReg *flag = fo_reg(cta, 8);
    if (coll->spec.kernel == COLL_KERNEL_MOE) {
        coll_moe(cta, coll, rank);
        return;
    }
    if (coll->spec.kernel != COLL_KERNEL_PLAIN) {
        direct_framework(cta, coll, rank, flag);
        return;
    }
    coll_barrier_flags(cta, coll, rank, 1, flag);
    switch (coll->spec.op) {
    case COLL_ALL_REDUCE:
        if (coll->algo == COLL_ONESHOT)
            direct_sum(cta, coll, rank, 0, coll->out.va[rank], bytes);
        else
            direct_twoshot(cta, coll, rank, flag);
        break;
    case COLL_ALL_GATHER: direct_push(cta, coll, rank, coll->in.va[rank], rank * slice, slice); break;
    case COLL_REDUCE_SCATTER: direct_sum(cta, coll, rank, rank * slice, coll->out.va[rank], slice); break;
    case COLL_BROADCAST:
        if (rank == coll->spec.root)
            direct_push(cta, coll, rank, coll->in.va[rank], 0, bytes);
        break;
    case COLL_ALL_TO_ALL: direct_all_to_all(cta, coll, rank); break;
    case COLL_SENDRECV: direct_copy(cta, coll, coll->in.va[rank], coll->out.va[(rank + 1) % coll->n], bytes); break;
    default: g_assert_not_reached();
    }
    coll_barrier_flags(cta, coll, rank, 3, flag); /* no rank leaves while its data is still used */
}

/* All ranks together receive 2 (n - 1) times the data of a sum, so that some receive the mean or more. */
static guint64 parts_twice(CollOp op, guint64 n) { return op == COLL_ALL_REDUCE ? 2 * (n - 1) : n - 1; }

static guint64 parts_all(CollOp op, guint64 n)
{
    (void)op;
    return (n - 1) * n;
}

static guint64 twoshot_scratch(const Coll *coll) { return twoshot_bytes(&coll->spec, coll->spec.bytes / coll->n); }

static const CollRow oneshot_rows[] = {
    {.op = COLL_ALL_REDUCE, .algo = COLL_ONESHOT, .program = program_direct, .ctas = 36, .threads = 512},
};
const CollAlgorithm coll_algo_oneshot = {
    COLL_ROWS(oneshot_rows),
    .family = COLL_OF_PEERS,
    .parts = parts_all,
    .how = "a kernel of which every rank reads all peers' data",
};

static const CollRow twoshot_rows[] = {
    {.op = COLL_ALL_REDUCE, .algo = COLL_TWOSHOT, .program = program_direct, .ctas = 36, .threads = 512},
};
const CollAlgorithm coll_algo_twoshot = {
    COLL_ROWS(twoshot_rows),
    .family = COLL_OF_PEERS,
    .parts = parts_twice,
    .scratch = twoshot_scratch,
    .how = "a kernel of which every rank sums its part from all peers and stores it to them",
};

static const CollRow push_rows[] = {
    {.op = COLL_ALL_GATHER, .algo = COLL_PUSH, .program = program_direct, .ctas = 36, .threads = 512, .first = TRUE},
    {.op = COLL_BROADCAST, .algo = COLL_PUSH, .program = program_direct, .ctas = 36, .threads = 512, .first = TRUE},
};
const CollAlgorithm coll_algo_push = {
    COLL_ROWS(push_rows),
    .family = COLL_OF_PEERS,
    .how = "a kernel that stores to all peers",
};

static const CollRow pull_rows[] = {
    {.op = COLL_REDUCE_SCATTER,
     .algo = COLL_PULL,
     .program = program_direct,
     .ctas = 36,
     .threads = 512,
     .first = TRUE},
    {.op = COLL_ALL_TO_ALL, .algo = COLL_PULL, .program = program_direct, .ctas = 36, .threads = 512},
};
const CollAlgorithm coll_algo_pull = {
    COLL_ROWS(pull_rows),
    .family = COLL_OF_PEERS,
    .how = "a kernel that loads from all peers",
};

static const CollRow direct_rows[] = {
    {.op = COLL_ALL_TO_ALL, .algo = COLL_DIRECT, .program = program_direct, .ctas = 36, .threads = 512},
    {.op = COLL_SENDRECV, .algo = COLL_DIRECT, .program = program_direct, .ctas = 36, .threads = 512},
    {.op = COLL_BARRIER, .algo = COLL_DIRECT, .program = coll_program_barrier, .ctas = 1, .threads = 64, .first = TRUE},
};
const CollAlgorithm coll_algo_direct = {
    COLL_ROWS(direct_rows),
    .family = COLL_OF_PEERS,
    .how = "a kernel that stores each part to its peer",
};
