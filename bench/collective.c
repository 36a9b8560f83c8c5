/* Hand-written collectives over plain peer loads and stores, with flag barriers of each CTA, timed
 * inside the kernel over back-to-back iterations. */
#include <string.h>

#include "bench/world.h"

#define RANKS_MAX 8u
#define COLL_WARM 2u
#define COLL_PUSH_ITERATIONS 5u /* the program warms up 8 times and times 20 (h200/p2pbench.cu) */
#define COLL_FLAGS (1u << 20)
#define COLL_FLAG_BYTES (RANKS_MAX * 16) /* of a CTA, all ranks */
#define COLL_STAGGER_PS 1000000u
#define COLL_CYCLE_PS 505u /* 1980 MHz */

typedef enum { COLL_BARRIER_ONLY, COLL_ONESHOT_PULL, COLL_TWOSHOT_PULL, COLL_PUSH_GATHER } CollBody;

typedef struct {
    CollBody body;
    guint32 me, n, iterations;
    guint64 bytes; /* of a rank's input */
    FoAddress in[RANKS_MAX], out[RANKS_MAX], scratch[RANKS_MAX], flags[RANKS_MAX];
    guint64 reload_ps;
    SimTime *mark; /* begin, end, and end of one more barrier */
} CollArgs;

static FoAddress coll_flag(const CollArgs *args, guint32 owner, guint32 cta, guint32 from)
{
    return args->flags[owner] + cta * COLL_FLAG_BYTES + from * 16;
}

/* What a barrier takes beside its flags: a remainder, calibrated on the barrier rows, and never twice the same, since
 * CTAs do not stay in step. A part of it is known: while a few lanes of a warp poll with acquire, each turn takes 106
 * cycles longer (docs/measurements/warp_loops.csv). That an acquire drops local memory from the L1, as was thought, was
 * measured and is not so: it takes 68 to 72 cycles before and after one. */
static void coll_reload(FoCta *cta, const CollArgs *args, guint64 turn)
{
    guint64 mix = hash_mix((turn * 1000 + args->me) * 1000 + fo_cta(cta) + 1);
    fo_sleep_ps(cta, args->reload_ps * 3 / 4 + mix % MAX(args->reload_ps / 2, 1));
}

/* Instructions between memory accesses, in cycles of one warp: from one access's issue to the next one's,
 * `after` the earlier one has left the warp (its registers are used again). Counted in the program as nvcc 13.0
 * compiles it for sm_90, from its control codes: remainders by the number of ranks take about 240 cycles each
 * (conversions and reciprocals 30, local memory 41, constants 40: calibrated on one-shot rows of 8 CTAs).
 * Warps that share a scheduler delay each other by a sixteenth each. */
static void coll_work(const FoCta *cta, LoopSpec *loop, UopKind kind, guint64 cycles, guint64 after)
{
    guint64 warps = (fo_threads(cta) + WARP_LANES - 1) / WARP_LANES, share = 15 + (warps + 3) / 4;
    bench_part(loop, kind, 0, cycles * share / 16 * COLL_CYCLE_PS)->after_ps = (guint32)(after * COLL_CYCLE_PS);
}

static void coll_bar(FoCta *cta, const CollArgs *args, FoReg *flag, guint64 generation)
{
    FoAddress theirs[RANKS_MAX], mine[RANKS_MAX];
    for (guint32 r = 0; r < args->n; r++) {
        theirs[r] = coll_flag(args, r, fo_cta(cta), args->me);
        mine[r] = coll_flag(args, args->me, fo_cta(cta), r);
    }
    fo_sync(cta);
    fo_only(cta, 0, args->n);
    coll_reload(cta, args, generation);
    fo_set_u64(cta, flag, generation);
    fo_st_sys_at(cta, theirs, flag, FO_RELEASE);
    fo_poll_at(cta, mine, args->n, 8, FO_GE, generation, FO_ACQUIRE);
    fo_all(cta);
    fo_sync(cta);
}

static LoopSpec coll_loop(const FoCta *cta, guint64 bytes, guint32 regs)
{
    return (LoopSpec){.width = 16,
                      .unroll = 1,
                      .n_regs = regs,
                      .elements = bytes / 16,
                      .first = (guint64)fo_cta(cta) * fo_threads(cta),
                      .step = (guint64)fo_ctas(cta) * fo_threads(cta)};
}

/* One-shot works out the remainders of all ranks but its own once, two-shot at each load. */
static void coll_pull(FoCta *cta, const CollArgs *args, guint64 bytes, guint64 offset, FoAddress to)
{
    gboolean once = args->body == COLL_ONESHOT_PULL;
    LoopSpec loop = coll_loop(cta, bytes, args->n);
    for (guint32 r = 0; r < args->n; r++) {
        if (r == 0)
            coll_work(cta, &loop, UOP_WORK, once ? 354 : 324, once ? 342 : 312);
        else
            coll_work(cta, &loop, UOP_WORK, !once ? 238 : r == 1 ? 68 : r == 2 ? 4 : 42, 0);
        bench_part(&loop, UOP_LOAD, r, args->in[(args->me + r) % args->n] + offset);
    }
    for (guint32 r = 1; r < args->n; r++)
        bench_part(&loop, UOP_ARITH, 0, 0)->with = (guint8)r;
    coll_work(cta, &loop, UOP_DELAY, once ? 75 : 39, 0);
    bench_part(&loop, UOP_STORE, 0, to);
    coll_reload(cta, args, bytes);
    bench_loop(cta, &loop);
}

static void coll_gather(FoCta *cta, const CollArgs *args, guint64 slice)
{
    LoopSpec loop = coll_loop(cta, slice, args->n);
    for (guint32 r = 0; r < args->n; r++) {
        coll_work(cta, &loop, UOP_WORK, r == 0 ? 447 : 246, 0);
        bench_part(&loop, UOP_LOAD, r, args->scratch[(args->me + r) % args->n]);
    }
    for (guint32 r = 0; r < args->n; r++) {
        coll_work(cta, &loop, UOP_WORK, r == 0 ? 344 : 242, r == 0 ? 0 : r == 1 ? 165 : 229);
        for (guint32 all = 0; r == 0 && all < args->n; all++)
            bench_part(&loop, UOP_ARITH, all, 0);
        bench_part(&loop, UOP_STORE, r, args->out[args->me] + (args->me + r) % args->n * slice);
    }
    coll_reload(cta, args, slice + 1);
    bench_loop(cta, &loop);
}

static void coll_push(FoCta *cta, const CollArgs *args)
{
    LoopSpec loop = coll_loop(cta, args->bytes, 1);
    bench_part(&loop, UOP_LOAD, 0, args->in[args->me]);
    for (guint32 r = 0; r < args->n; r++) {
        coll_work(cta, &loop, UOP_WORK, r == 0 ? 283 : r == 1 ? 126 : 78, r == 0 ? 0 : 65);
        bench_part(&loop, UOP_STORE, 0, args->out[(args->me + r) % args->n] + args->me * args->bytes);
    }
    coll_work(cta, &loop, UOP_WORK, 162 - 21 * MIN(args->n, 6), 0);
    coll_reload(cta, args, args->bytes);
    bench_loop(cta, &loop);
    fo_fence(cta);
}

static void coll_program(FoCta *cta, const void *data)
{
    const CollArgs *args = data;
    FoReg *flag = fo_reg(cta, 8);
    /* kernels and CTAs of a real launch do not begin together */
    fo_sleep_ps(cta, hash_mix(args->me * 1000 + fo_cta(cta) + 1) % COLL_STAGGER_PS);
    guint64 generation = 0, slice = args->bytes / 16 / args->n * 16;
    for (guint32 i = 0; i < COLL_WARM + args->iterations; i++) {
        if (i == COLL_WARM && fo_cta(cta) == 0) {
            fo_wait(cta);
            args->mark[0] = fo_time_ps(cta);
        }
        if (args->body != COLL_PUSH_GATHER)
            coll_bar(cta, args, flag, ++generation);
        if (args->body == COLL_ONESHOT_PULL)
            coll_pull(cta, args, args->bytes, 0, args->out[args->me]);
        if (args->body == COLL_TWOSHOT_PULL) {
            coll_pull(cta, args, slice, args->me * slice, args->scratch[args->me]);
            coll_bar(cta, args, flag, ++generation);
            coll_gather(cta, args, slice);
        }
        if (args->body == COLL_PUSH_GATHER) {
            coll_push(cta, args);
            coll_bar(cta, args, flag, ++generation);
        }
    }
    if (fo_cta(cta) == 0) {
        fo_wait(cta);
        args->mark[1] = fo_time_ps(cta);
    }
    coll_bar(cta, args, flag, ++generation);
    fo_wait(cta);
    if (fo_cta(cta) == 0)
        args->mark[2] = fo_time_ps(cta);
}

static gboolean coll_run_body(BenchWorld *world, CollBody body, const char *variant, GError **error)
{
    const BenchRequest *request = world->request;
    CollArgs args = {.body = body, .reload_ps = world->fabric->spec.gpu.local_ps};
    SimTime mark[RANKS_MAX][3], worst_ps = 0;
    if (!bench_parse_count(world, &args.n, error))
        return FALSE;
    if (strcmp(request->variant, variant) != 0)
        return bench_refuse_variant(world, error);
    if (args.n > RANKS_MAX || request->threads < args.n || request->ctas > COLL_FLAGS / COLL_FLAG_BYTES) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST,
                    "%s: %u ranks with %u CTAs of %u threads: up to %u ranks, "
                    "a thread for each, and up to %u CTAs are right",
                    request->test, args.n, request->ctas, request->threads, RANKS_MAX, COLL_FLAGS / COLL_FLAG_BYTES);
        return FALSE;
    }
    args.bytes = body == COLL_PUSH_GATHER ? world->bytes / args.n : world->bytes;
    args.iterations = world->bytes > (16u << 20) ? 1 : world->bytes > (1u << 20) ? 2 : world->bytes > 65536 ? 6 : 40;
    /* CTA 0's share of full links is not the others': how far it falls behind before it is timed, and how much of that
     * it makes up for when the others are through, depends on how many iterations come before and after */
    if (body == COLL_PUSH_GATHER)
        args.iterations = MAX(args.iterations, COLL_PUSH_ITERATIONS);
    guint64 footprint = 2 * request->bytes;
    if (body == COLL_TWOSHOT_PULL)
        footprint += request->bytes / args.n;
    if (body == COLL_PUSH_GATHER)
        footprint = request->bytes + request->bytes / args.n;
    for (guint32 r = 0; r < args.n; r++) {
        args.flags[r] = bench_flags(world, r, COLL_FLAGS);
        /* Stores do not displace it. What all ranks read at the same time, its owner reads first, and so from DRAM:
         * it hides behind the others' trips. */
        args.in[r] = bench_memory(world, r, world->bytes, body == COLL_ONESHOT_PULL ? 0 : request->bytes);
        args.out[r] = bench_memory(world, r, world->bytes, footprint);
        args.scratch[r] = bench_memory(world, r, world->bytes, footprint);
    }
    for (args.me = 0; args.me < args.n; args.me++) {
        args.mark = mark[args.me];
        bench_launch(world, args.me, "", coll_program, &args, sizeof args, request->ctas, request->threads, 0);
    }
    if (!bench_go(world, error))
        return FALSE;
    /* the program's timed part ends with one more barrier than iterations */
    guint32 program_iterations = body == COLL_BARRIER_ONLY ? 0 : world->bytes > (1u << 20) ? 20 : 100;
    for (guint32 r = 0; r < args.n; r++) {
        SimTime time_ps = (mark[r][1] - mark[r][0]) / args.iterations;
        if (program_iterations)
            time_ps += (mark[r][2] - mark[r][1]) / program_iterations;
        worst_ps = MAX(worst_ps, time_ps);
    }
    bench_add_row(world, request->gpus, 0, 1, worst_ps, "ns");
    return TRUE;
}

static gboolean barrier_run(BenchWorld *world, GError **error)
{
    return coll_run_body(world, COLL_BARRIER_ONLY, "release_acquire_flags", error);
}
static gboolean oneshot_run(BenchWorld *world, GError **error)
{
    return coll_run_body(world, COLL_ONESHOT_PULL, "fp32", error);
}
static gboolean twoshot_run(BenchWorld *world, GError **error)
{
    return coll_run_body(world, COLL_TWOSHOT_PULL, "fp32", error);
}
static gboolean push_run(BenchWorld *world, GError **error)
{
    return coll_run_body(world, COLL_PUSH_GATHER, "total_bytes", error);
}

static guint64 coll_crossings(const BenchSetup *setup, const BenchRequest *request)
{
    guint64 n = (guint64)MAX(2, g_ascii_strtoull(request->gpus, NULL, 10));
    (void)setup;
    /* crossings of one iteration, the local accesses counted too, times how many there are */
    guint64 times = COLL_WARM + (strcmp(request->test, "allgather_push") == 0 ? COLL_PUSH_ITERATIONS : 1);
    return request->bytes / LINE_BYTES * 5 * n * (n - 1) * times / (request->test[0] == 'a' && n > 2 ? 2 : 1);
}

const BenchTest bench_barrier = {"barrier",
                                 "release_acquire_flags",
                                 "flag barriers of each CTA, back to back",
                                 {"barrier", "release_acquire_flags", "2", 8, 64, 0},
                                 barrier_run,
                                 NULL,
                                 NULL};
const BenchTest bench_oneshot = {"allreduce_oneshot_pull",
                                 "fp32",
                                 "barrier, then every rank loads all inputs and sums",
                                 {"allreduce_oneshot_pull", "fp32", "2", 8, 512, 65536},
                                 oneshot_run,
                                 coll_crossings,
                                 NULL};
const BenchTest bench_twoshot = {"allreduce_twoshot_pull",
                                 "fp32",
                                 "barrier, reduce the own slice, barrier, gather the slices",
                                 {"allreduce_twoshot_pull", "fp32", "2", 8, 512, 65536},
                                 twoshot_run,
                                 coll_crossings,
                                 NULL};
const BenchTest bench_push = {"allgather_push",
                              "total_bytes",
                              "every rank stores its slice to all, fence, barrier",
                              {"allgather_push", "total_bytes", "2", 8, 512, 65536},
                              push_run,
                              coll_crossings,
                              NULL};
