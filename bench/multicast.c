/* Multicast: bandwidth, latency and barrier of multimem.st, .red and .ld_reduce, in the manner of
 * nvloom's tests (one_to_all, all_to_all). */
#include <string.h>

#include "bench/world.h"

#define MC_ROUNDS 32u
#define MC_BARRIERS 8192u /* counters, a line each */

/* ---- bandwidth */

typedef struct {
    LoopSpec loop;
    guint64 rank, ranks; /* of all_to_all: which slice */
} McArgs;

static void mc_program(FoCta *cta, const void *args)
{
    const McArgs *mc = args;
    LoopSpec loop = mc->loop;
    loop.first = (guint64)fo_cta(cta) * fo_threads(cta);
    loop.step = (guint64)fo_ctas(cta) * fo_threads(cta);
    bench_loop(cta, &loop);
}

static gboolean mc_kind(const char *variant, UopKind *kind, gboolean *all)
{
    static const struct {
        const char *name;
        UopKind kind;
        gboolean all;
    } kinds[] = {
        {"one_to_all", UOP_MC_STORE, FALSE}, {"all_to_all", UOP_MC_STORE, TRUE}, {"red", UOP_MC_RED, FALSE},
        {"all_red", UOP_MC_RED, TRUE},       {"ld_reduce", UOP_MC_LOAD, FALSE},  {"all_ld_reduce", UOP_MC_LOAD, TRUE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(kinds[i].name, variant) != 0)
            continue;
        *kind = kinds[i].kind;
        *all = kinds[i].all;
        return TRUE;
    }
    return FALSE;
}

static gboolean mc_bw_run(BenchWorld *world, GError **error)
{
    UopKind kind;
    gboolean all;
    guint32 n;
    FoAddress own[VAS_GPUS_MAX];
    const BenchRequest *request = world->request;
    if (!bench_parse_count(world, &n, error))
        return FALSE;
    if (!mc_kind(request->variant, &kind, &all))
        return bench_refuse_variant(world, error);
    FoAddress base = bench_multicast(world, n, world->bytes, request->bytes, FALSE, own, error);
    if (base == 0)
        return FALSE;
    guint64 slice = world->bytes / (all ? n : 1) / 128 * 128;
    for (guint32 g = 0; g < (all ? n : 1); g++) {
        McArgs mc = {.loop = {.width = 16,
                              .unroll = kind == UOP_MC_LOAD ? 8 : 1,
                              .tail_unroll = 8,
                              .n_regs = 1,
                              .elements = slice / 16}};
        bench_part(&mc.loop, kind, 0, base + g * slice);
        if (kind == UOP_MC_LOAD)
            bench_part(&mc.loop, UOP_ARITH, 0, 0);
        bench_launch(world, g, request->gpus, mc_program, &mc, sizeof mc, request->ctas, request->threads, slice);
    }
    if (!bench_go(world, error))
        return FALSE;
    SimTime last_ps = 0;
    for (guint i = 0; i < world->flows->len; i++)
        last_ps = MAX(last_ps, ((BenchFlow *)g_ptr_array_index(world->flows, i))->end_ps);
    bench_add_row(world, request->gpus, slice, 1, last_ps, "GB/s");
    return TRUE;
}

static guint64 mc_crossings(const BenchSetup *setup, const BenchRequest *request)
{
    (void)setup;
    guint64 n = (guint64)MAX(2, g_ascii_strtoull(request->gpus, NULL, 10));
    return request->bytes / LINE_BYTES * 2 * (n + 1);
}

const BenchTest bench_multicast_bw = {
    "multicast_bw",
    "one_to_all, all_to_all, red, all_red, ld_reduce, all_ld_reduce",
    "multimem.st, .red, .ld_reduce by one GPU or by all, each on its slice; payload of one GPU",
    {"multicast_bw", "all_to_all", "8", 16, 1024, 16u << 20},
    mc_bw_run,
    mc_crossings,
    NULL};

/* ---- latency: back-to-back, dependent */

typedef struct {
    FoAddress base, mine;
    gboolean load;
    guint64 *marks;
} McLatencyArgs;

static void mc_latency_program(FoCta *cta, const void *args)
{
    const McLatencyArgs *mc = args;
    FoMultimem form = {.type = FO_U32, .op = FO_ADD, .order = FO_RELAXED, .scope = FO_SCOPE_SYS};
    FoReg *value = fo_reg(cta, 4);
    fo_only(cta, 0, 1);
    fo_wait(cta);
    for (guint32 i = 0; i <= MC_ROUNDS; i++) {
        if (i == 1)
            mc->marks[0] = fo_time_ps(cta);
        if (mc->load) {
            guint32 got;
            fo_multimem_ld_reduce(cta, value, mc->base, &form);
            fo_get(cta, value, 0, &got);
        } else { /* the own copy comes back through the switch */
            fo_set_u64(cta, value, i + 1);
            fo_multimem_st(cta, mc->base, value, &form);
            fo_poll(cta, mc->mine, 4, FO_EQ, i + 1, FO_RELAXED);
            fo_wait(cta);
        }
    }
    mc->marks[1] = fo_time_ps(cta);
}

static gboolean mc_latency_run(BenchWorld *world, GError **error)
{
    guint32 n;
    FoAddress own[VAS_GPUS_MAX];
    McLatencyArgs mc = {.load = strcmp(world->request->variant, "ld_reduce") == 0, .marks = world->marks};
    if (!bench_parse_count(world, &n, error))
        return FALSE;
    if (!mc.load && strcmp(world->request->variant, "st_to_self") != 0)
        return bench_refuse_variant(world, error);
    mc.base = bench_multicast(world, n, 4096, 4096, TRUE, own, error);
    if (mc.base == 0)
        return FALSE;
    mc.mine = own[0];
    bench_launch(world, 0, "", mc_latency_program, &mc, sizeof mc, 1, 32, 0);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_row(world, world->request->gpus, 0, MC_ROUNDS, world->marks[1] - world->marks[0], "ns");
    return TRUE;
}

const BenchTest bench_multicast_latency = {"multicast_latency",
                                           "ld_reduce, st_to_self",
                                           "one operation after the other",
                                           {"multicast_latency", "ld_reduce", "8", 1, 32, 4096},
                                           mc_latency_run,
                                           NULL,
                                           NULL};

/* ---- barrier: multimem.red.release on a counter, then poll the own copy */

typedef struct {
    FoAddress base, mine;
    guint32 n;
    guint64 *marks;
} McBarrierArgs;

static void mc_barrier_program(FoCta *cta, const void *args)
{
    const McBarrierArgs *mc = args;
    FoMultimem form = {.type = FO_U32, .op = FO_ADD, .order = FO_RELEASE, .scope = FO_SCOPE_SYS};
    FoReg *one = fo_reg(cta, 4);
    for (guint32 i = 0; i <= MC_ROUNDS; i++) {
        if (i == 1) {
            fo_wait(cta);
            mc->marks[0] = fo_time_ps(cta);
        }
        fo_sync(cta);
        fo_only(cta, 0, 1);
        fo_set_u64(cta, one, 1);
        fo_multimem_red(cta, mc->base + fo_cta(cta) * 128, one, &form);
        fo_poll(cta, mc->mine + fo_cta(cta) * 128, 4, FO_GE, (guint64)(i + 1) * mc->n, FO_ACQUIRE);
        fo_all(cta);
        fo_sync(cta);
    }
    fo_wait(cta);
    mc->marks[1] = fo_time_ps(cta);
}

static gboolean mc_barrier_run(BenchWorld *world, GError **error)
{
    McBarrierArgs mc = {.marks = world->marks};
    FoAddress own[VAS_GPUS_MAX];
    if (!bench_parse_count(world, &mc.n, error))
        return FALSE;
    if (strcmp(world->request->variant, "multimem_red") != 0)
        return bench_refuse_variant(world, error);
    if (world->request->ctas > MC_BARRIERS) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST,
                    "multicast_barrier: %u CTAs, each with a counter of its "
                    "own; 1 to %u are right",
                    world->request->ctas, MC_BARRIERS);
        return FALSE;
    }
    mc.base = bench_multicast(world, mc.n, MC_BARRIERS * 128, 4096, TRUE, own, error);
    if (mc.base == 0)
        return FALSE;
    for (guint32 g = 0; g < mc.n; g++) {
        mc.mine = own[g];
        bench_launch(world, g, "", mc_barrier_program, &mc, sizeof mc, world->request->ctas, world->request->threads,
                     0);
    }
    if (!bench_go(world, error))
        return FALSE;
    bench_add_row(world, world->request->gpus, 0, MC_ROUNDS, world->marks[1] - world->marks[0], "ns");
    return TRUE;
}

const BenchTest bench_multicast_barrier = {"multicast_barrier",
                                           "multimem_red",
                                           "multimem.red on a counter, poll of the own copy",
                                           {"multicast_barrier", "multimem_red", "8", 1, 64, 0},
                                           mc_barrier_run,
                                           NULL,
                                           NULL};
