/* NVLS through the library's own buffers, as NCCL does it for buffers that are not registered
 * (src/device/all_reduce.h and its like; layout from src/transport/nvls.cc).
 *
 * Rank h is the head of slot h of every channel; with more than 32 ranks the first 32 are heads, and the others
 * only scatter and gather (NCCL_MAX_NVLS_ARITY; src/graph/search.cc cuts the NVLS graph to so many). Of a
 * channel's CTA some warps scatter: they copy the user's data into the own copy of all heads' slots; some reduce:
 * they pull their head's slot from all ranks with multimem.ld_reduce and store it with multimem.st into a second
 * slot of all ranks; some gather: they copy that slot of all heads to the user. The three run as a pipeline of
 * eight slots, told by counters: the head learns what all ranks have scattered or gathered by
 * multimem.ld_reduce.min, and tells them by multimem.st. all_gather has no scatter (the head stores its own data),
 * reduce_scatter no gather.
 * Sizes of chunks and numbers of warps are NCCL's. Left out: nodes, registered buffers (that is `nvls`). */
#include "coll/algo/primitives.h"

#define BUFFERED_THREADS 640u       /* of a CTA, NCCL_MAX_NTHREADS: enough for any number of ranks */
#define BUFFERED_STEPS 8u           /* NCCL_STEPS */
#define BUFFERED_WARPS 20u          /* NCCL_MAX_NTHREADS / 32 */
#define BUFFERED_CHUNK (128u << 10) /* NCCL_NVLS_CHUNKSIZE */
#define BUFFERED_HEADS 32u          /* NCCL_MAX_NVLS_ARITY */
#define BUFFERED_POST_WARPS 2u      /* more have one that posts (prims_simple.h) */
#define BUFFERED_UNROLL 8u          /* copies */
#define BUFFERED_INSTRUCTIONS 100u  /* assumed: of a warp that copies 8 x 16 B a thread, beside the accesses */
#define BUFFERED_CYCLE_PS 505u      /* 1980 MHz; a scheduler starts one instruction a cycle, an SM has four */
#define BUFFERED_MC_UNROLL 4u       /* multimem */

enum { FLAG_SCATTERED, FLAG_REDUCED, FLAG_SPREAD, FLAG_GATHERED, FLAG_KINDS };

typedef struct {
    guint32 first, count; /* threads */
    guint32 workers;      /* of them; the last warp of those that send posts, while the others go on */
    guint32 barrier;      /* and the next one */
    FoReg *flag[2];
} BufferedGroup;

typedef struct {
    FoCta *cta;
    const Coll *coll;
    guint32 rank, n, heads;
    guint64 chunk; /* of one slot in this turn */
    guint64 step;  /* turns so far */
    BufferedGroup scatter, reduce, gather;
} Buffered;

static guint32 buffered_heads(guint32 n) { return MIN(n, BUFFERED_HEADS); }

/* NCCL's enqueue.cc: smaller chunks until every head of every channel has several. */
static guint64 buffered_chunk(const CollSpec *spec, guint32 ctas, guint32 n)
{
    static const struct {
        guint64 times, limit;
    } rules[] = {{64, 64u << 10}, {8, 32u << 10}, {2, 16u << 10}};
    guint64 chunk = spec->nvls_chunk_bytes ? spec->nvls_chunk_bytes : BUFFERED_CHUNK;
    guint64 at_once = (guint64)ctas * buffered_heads(n);
    guint64 bytes = spec->as_bytes ? spec->as_bytes : spec->bytes;
    for (guint32 i = 0; i < G_N_ELEMENTS(rules); i++)
        if (bytes < rules[i].times * at_once * chunk && chunk > rules[i].limit)
            chunk = rules[i].limit;
    return bytes > spec->bytes ? MIN(chunk, BUFFERED_CHUNK) : chunk;
}

static guint64 buffered_chunk_of(const Coll *coll) { return buffered_chunk(&coll->spec, coll->ctas, coll->n); }

static guint64 buffered_turn_bytes(const CollSpec *spec, guint32 ctas, guint32 n)
{
    return (guint64)ctas * buffered_heads(n) * buffered_chunk(spec, ctas, n);
}

static guint64 buffered_slots(const Coll *coll)
{
    return 2ull * buffered_heads(coll->n) * BUFFERED_STEPS * buffered_chunk_of(coll);
}

static guint64 buffered_control(guint32 n) { return (guint64)FLAG_KINDS * buffered_heads(n) * 16; }

/* Offset of head h's slot of this turn in the buffers of all ranks; half 0: to be summed, 1: sums. */
static guint64 buffered_slot(const Buffered *b, guint32 head, guint32 half)
{
    guint64 chunk = buffered_chunk_of(b->coll), c = fo_cta(b->cta);
    return (((c * 2 + half) * b->heads + head) * BUFFERED_STEPS + b->step % BUFFERED_STEPS) * chunk;
}

static guint64 buffered_flag(const Buffered *b, guint32 kind, guint32 head)
{
    return fo_cta(b->cta) * b->coll->control_stride + CONTROL_FLAGS(b->n) + (kind * b->heads + head) * 16ull;
}

static void buffered_begin(const Buffered *b, const BufferedGroup *group)
{
    fo_only(b->cta, group->first, group->workers);
    fo_sync_active(b->cta, group->barrier);
    prim_cta_slice(b->cta, b->coll, b->step == 0);
}

/* The slot is done: returns the first thread of those that post. */
static guint32 buffered_end(const Buffered *b, const BufferedGroup *group)
{
    fo_only(b->cta, group->first, group->count);
    fo_sync_active(b->cta, group->barrier + 1);
    return group->workers < group->count ? group->first + group->workers : group->first;
}

static void buffered_copy(const Buffered *b, const BufferedGroup *group, FoStream from, FoStream to, guint64 bytes)
{
    const Coll *coll = b->coll;
    gboolean multimem = from.access != FO_LD || to.access != FO_ST;
    gboolean vector = numeric_is_float(coll->spec.type) && coll->spec.type != NUMERIC_F64;
    FoLoop loop = {.width = from.access != FO_LD_REDUCE || vector ? 16 : numeric_type_bytes(coll->spec.type),
                   .unroll = multimem ? BUFFERED_MC_UNROLL : BUFFERED_UNROLL,
                   .sources = 1,
                   .destinations = 1,
                   .source[0] = from,
                   .destination[0] = to,
                   .type = (FoType)coll->spec.type,
                   .op = (FoOp)coll->spec.reduce,
                   .acc = (FoAcc)coll->spec.acc};
    loop.delay_ps = fo_threads(b->cta) / WARP_LANES / 4 * BUFFERED_INSTRUCTIONS * BUFFERED_CYCLE_PS;
    while ((from.base | to.base) % loop.width)
        loop.width /= 2;
    loop.width = MAX(loop.width, 4);
    loop.bytes = (bytes + loop.width - 1) / loop.width * loop.width;
    loop.unroll_step = WARP_LANES;
    loop.warp_step = (guint64)loop.unroll * WARP_LANES;
    loop.step = loop.warp_step * (group->workers / WARP_LANES);
    if (bytes)
        fo_loop(b->cta, &loop);
}

/* All counters of one kind, one for each head, in the GPU's own memory. */
static void buffered_own_flags(const Buffered *b, guint32 kind, FoAddress *address)
{
    for (guint32 h = 0; h < b->heads; h++)
        address[h] = b->coll->control.va[b->rank] + buffered_flag(b, kind, h);
}

static void buffered_poll_own(const Buffered *b, const BufferedGroup *group, guint32 kind, guint64 value, FoOrder order)
{
    FoAddress address[BUFFERED_HEADS];
    buffered_own_flags(b, kind, address);
    fo_only(b->cta, group->first, b->heads);
    fo_poll_at(b->cta, address, b->heads, 8, FO_GE, value, order);
}

/* This head's counter at all ranks, in turns where the group has fewer threads than there are ranks. */
static void buffered_poll_all(const Buffered *b, guint32 thread, guint32 kind, guint64 value)
{
    FoAddress address[b->n];
    for (guint32 r = 0; r < b->n; r++)
        address[r] = b->coll->control.va[r] + buffered_flag(b, kind, b->rank);
    const guint32 turn = MIN(b->n, b->reduce.count);
    for (guint32 first = 0; first < b->n; first += turn) {
        fo_only(b->cta, thread, MIN(turn, b->n - first));
        fo_poll_members(b->cta, &address[first], MIN(turn, b->n - first), 8, value, FO_ACQUIRE);
    }
}

static void buffered_post_own(const Buffered *b, const BufferedGroup *group, guint32 kind, gboolean fence)
{
    FoAddress address[BUFFERED_HEADS];
    buffered_own_flags(b, kind, address);
    fo_only(b->cta, buffered_end(b, group), b->heads);
    if (fence)
        fo_fence(b->cta);
    fo_set_u64(b->cta, group->flag[0], b->step + 1);
    fo_st_sys_at(b->cta, address, group->flag[0], FO_RELAXED);
}

static void buffered_post_all(const Buffered *b, const BufferedGroup *group, guint32 thread, guint32 kind, guint32 reg)
{
    const FoMultimem form = {.type = FO_B64, .order = FO_RELAXED, .scope = FO_SCOPE_SYS};
    fo_only(b->cta, thread, 1);
    fo_set_u64(b->cta, group->flag[reg], b->step + 1);
    /* thread t's element stands at address + t * width */
    FoAddress address = b->coll->control.mc_va + buffered_flag(b, kind, b->rank) - thread * 8ull;
    fo_multimem_st(b->cta, address, group->flag[reg], &form);
}

/* ---- one turn of each group; bytes_of: of head h's chunk */

/* Heads share an all_reduce's `total`; of the others each has so many. */
static guint64 buffered_bytes(const Buffered *b, guint64 total, guint32 head)
{
    guint64 start = b->coll->spec.op == COLL_ALL_REDUCE ? MIN(head * b->chunk, total) : 0;
    return MIN(b->chunk, total - start);
}

static void buffered_scatter(const Buffered *b, guint64 at, guint64 apart, guint64 total)
{
    const Coll *coll = b->coll;
    if (b->step >= BUFFERED_STEPS)
        buffered_poll_own(b, &b->scatter, FLAG_REDUCED, b->step + 1 - BUFFERED_STEPS, FO_RELAXED);
    buffered_begin(b, &b->scatter);
    for (guint32 h = 0; h < b->heads; h++)
        buffered_copy(b, &b->scatter, (FoStream){FO_LD, coll->in.va[b->rank] + at + h * apart},
                      (FoStream){FO_ST, coll->scratch.va[b->rank] + buffered_slot(b, h, 0)},
                      buffered_bytes(b, total, h));
    buffered_post_own(b, &b->scatter, FLAG_SCATTERED, TRUE);
}

static void buffered_gather(const Buffered *b, guint64 at, guint64 apart, guint64 total)
{
    const Coll *coll = b->coll;
    buffered_poll_own(b, &b->gather, FLAG_SPREAD, b->step + 1, FO_ACQUIRE);
    buffered_begin(b, &b->gather);
    for (guint32 h = 0; h < b->heads; h++)
        buffered_copy(b, &b->gather, (FoStream){FO_LD, coll->scratch.va[b->rank] + buffered_slot(b, h, 1)},
                      (FoStream){FO_ST, coll->out.va[b->rank] + at + h * apart}, buffered_bytes(b, total, h));
    buffered_post_own(b, &b->gather, FLAG_GATHERED, FALSE);
}

static void buffered_reduce(const Buffered *b, FoStream from, FoStream to, guint64 bytes)
{
    gboolean pulls = from.access == FO_LD_REDUCE, spreads = to.access == FO_MULTIMEM_ST;
    guint32 first = b->reduce.first, apart = (b->n + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    guint32 other = apart + b->n <= b->reduce.workers ? first + apart : first;
    if (b->rank >= b->heads)
        return;
    if (pulls)
        buffered_poll_all(b, first, FLAG_SCATTERED, b->step + 1);
    if (spreads && b->step >= BUFFERED_STEPS) /* at the same time */
        buffered_poll_all(b, other, FLAG_GATHERED, b->step + 1 - BUFFERED_STEPS);
    buffered_begin(b, &b->reduce);
    buffered_copy(b, &b->reduce, from, to, bytes);
    guint32 poster = buffered_end(b, &b->reduce);
    fo_only(b->cta, poster, 1);
    if (spreads) {
        fo_fence(b->cta);
        buffered_post_all(b, &b->reduce, poster, FLAG_SPREAD, 0);
    }
    if (pulls)
        buffered_post_all(b, &b->reduce, poster, FLAG_REDUCED, 1);
}

static void buffered_turn(Buffered *b, guint64 at, guint64 bytes)
{
    const Coll *coll = b->coll;
    guint64 slice = coll->spec.bytes / b->n;
    FoAddress pool = coll->scratch.mc_va;
    FoStream sum = {FO_LD_REDUCE, pool + buffered_slot(b, b->rank, 0)};
    FoStream spread = {FO_MULTIMEM_ST, pool + buffered_slot(b, b->rank, 1)};
    switch (coll->spec.op) {
    case COLL_ALL_REDUCE:
        buffered_scatter(b, at, b->chunk, bytes);
        buffered_reduce(b, sum, spread, buffered_bytes(b, bytes, b->rank));
        buffered_gather(b, at, b->chunk, bytes);
        break;
    case COLL_REDUCE_SCATTER:
        buffered_scatter(b, at, slice, bytes);
        buffered_reduce(b, sum, (FoStream){FO_ST, coll->out.va[b->rank] + at}, bytes);
        break;
    default:
        buffered_reduce(b, (FoStream){FO_LD, coll->in.va[b->rank] + at}, spread, bytes);
        buffered_gather(b, at, slice, bytes);
    }
    b->step++;
}

static void buffered_group(Buffered *b, BufferedGroup *group, gboolean sends, guint32 barrier, guint32 *warp,
                           guint32 warps)
{
    group->first = *warp * WARP_LANES;
    group->count = warps * WARP_LANES;
    group->workers = group->count - (sends && warps > BUFFERED_POST_WARPS ? WARP_LANES : 0);
    group->barrier = barrier;
    group->flag[0] = fo_reg(b->cta, 8);
    group->flag[1] = fo_reg(b->cta, 8);
    *warp += warps;
}

static void program_nvls_buffered(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    Buffered b = {.cta = cta, .coll = coll, .rank = a->rank, .n = coll->n, .heads = buffered_heads(coll->n)};
    gboolean all_reduce = coll->spec.op == COLL_ALL_REDUCE;
    guint32 all = fo_threads(cta) / WARP_LANES, at_warp = 0;
    guint32 reduce = MAX(all * (coll->n <= 6 && all_reduce ? 7 : 5) / BUFFERED_WARPS, 1), copy = all - reduce;
    buffered_group(&b, &b.scatter, TRUE, 1, &at_warp,
                   all_reduce                             ? (copy + 1) / 2
                   : coll->spec.op == COLL_REDUCE_SCATTER ? copy
                                                          : 0);
    buffered_group(&b, &b.gather, FALSE, 3, &at_warp, all - reduce - at_warp);
    buffered_group(&b, &b.reduce, all_reduce || coll->spec.op == COLL_ALL_GATHER, 5, &at_warp, reduce);
    prim_cta_begin(cta, coll);
    guint64 total = all_reduce ? coll->spec.bytes : coll->spec.bytes / coll->n, unit = 16;
    guint64 part = (total + fo_ctas(cta) * unit - 1) / (fo_ctas(cta) * unit) * unit;
    guint64 at = MIN(fo_cta(cta) * part, total), end = MIN(at + part, total);
    guint64 chunk = buffered_chunk_of(coll), heads = all_reduce ? b.heads : 1;
    while (at < end) {
        guint64 bytes = MIN(heads * chunk, end - at);
        b.chunk = MIN(chunk, (bytes + heads * unit - 1) / (heads * unit) * unit);
        buffered_turn(&b, at, bytes);
        at += bytes;
    }
    fo_all(cta);
    prim_cta_end(cta, coll);
}

static guint64 buffered_scratch(const Coll *coll) { return coll->ctas * buffered_slots(coll); }

static gboolean buffered_check(const CollGroup *group, const CollSpec *spec, const CollRow *row, guint32 ctas,
                               guint32 threads, GError **error)
{
    guint32 least = MIN(MAX(coll_threads_fit(group, 1), WARP_LANES) * 4, BUFFERED_THREADS);
    (void)row, (void)ctas;
    if (threads < least)
        return coll_refuse(error,
                           "nvls_buffered needs warps that scatter, reduce and gather, %u threads or more with "
                           "%u ranks, not %u",
                           least, group->n, threads);
    if (spec->op != COLL_ALL_REDUCE && group->n > COLL_NVLS_SLICED_RANKS)
        return coll_refuse(error, "%s with nvls_buffered goes up to %u ranks, not %u: every rank would be a head",
                           coll_op_name(spec->op), COLL_NVLS_SLICED_RANKS, group->n);
    return TRUE;
}

static const CollRow nvls_buffered_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_NVLS_BUFFERED,
     .program = program_nvls_buffered,
     .ctas = 16,
     .threads = 640,
     .multicast_lines = TRUE,
     .buffered = TRUE,
     .reduces_in_switch = TRUE,
     .flow_needs_samples = TRUE},
    {.op = COLL_ALL_GATHER,
     .algo = COLL_NVLS_BUFFERED,
     .program = program_nvls_buffered,
     .ctas = 16,
     .threads = 640,
     .multicast_lines = TRUE,
     .buffered = TRUE,
     .flow_needs_samples = TRUE},
    {.op = COLL_REDUCE_SCATTER,
     .algo = COLL_NVLS_BUFFERED,
     .program = program_nvls_buffered,
     .ctas = 16,
     .threads = 640,
     .multicast_lines = TRUE,
     .buffered = TRUE,
     .reduces_in_switch = TRUE,
     .flow_needs_samples = TRUE},
};
const CollAlgorithm coll_algo_nvls_buffered = {
    COLL_ROWS(nvls_buffered_rows), .family = COLL_OF_NCCL,  .turn = buffered_turn_bytes, .scratch = buffered_scratch,
    .control = buffered_control,   .check = buffered_check, .how = "NCCL_ALGO=NVLS",
};
