/* Few lines again and again: which links a footprint spreads over, and what several readers of it get. */
#include <stdio.h>
#include <string.h>

#include "bench/world.h"
#include "sim/rng.h"

/* ---- footprints: every 8 lanes read one line, the lines of a warp coalesce when equal */

#define FOOT_STEP 7919u

typedef struct {
    FoAddress base;
    guint32 lines, stride, rounds;
    gboolean write;
} FootArgs;

/* The compiler keeps eight rounds of loads in flight. */
static void foot_program(FoCta *cta, const void *data)
{
    const FootArgs *args = data;
    FoReg *reg[8];
    for (guint32 i = 0; i < 8; i++)
        reg[i] = fo_reg(cta, 16);
    FoAddress *at = g_new(FoAddress, fo_threads(cta));
    for (guint32 round = 0; round < args->rounds; round++) {
        for (guint32 t = 0; t < fo_threads(cta); t++) {
            guint64 group = ((guint64)fo_cta(cta) * fo_threads(cta) + t) / 8;
            guint64 line = (group + (guint64)round * FOOT_STEP) % args->lines;
            at[t] = args->base + line * args->stride + t % 8 * 16;
        }
        if (args->write)
            fo_st_at(cta, at, reg[0]);
        else
            fo_ld_at(cta, reg[round % 8], at); /* waits for what it brought 8 rounds ago */
    }
    for (guint32 i = 0; i < 8 && !args->write; i++) /* waits for the last rounds */
        fo_combine(cta, reg[i], reg[i], FO_U32, FO_OR);
    g_free(at);
}

#define FOOT_ROUNDS 256u
#define HOT_ROUNDS 128u

static gboolean foot_run(BenchWorld *world, GError **error)
{
    guint32 from, to, stride;
    char op[8];
    int end = 0;
    const BenchRequest *request = world->request;
    if (!bench_parse_pair(world, &from, &to, error))
        return FALSE;
    if (sscanf(request->variant, "%7[a-z]_stride%u%n", op, &stride, &end) != 2 || request->variant[end] != '\0' ||
        (strcmp(op, "read") != 0 && strcmp(op, "write") != 0) || stride % 128 || stride == 0)
        return bench_refuse_variant(world, error);
    FootArgs foot = {.lines = (guint32)MAX(request->bytes / LINE_BYTES, 1),
                     .stride = stride,
                     .write = strcmp(op, "write") == 0,
                     .rounds = FOOT_ROUNDS};
    foot.base = bench_memory(world, to, (guint64)foot.lines * stride, (guint64)foot.lines * LINE_BYTES);
    guint64 amount = (guint64)request->ctas * request->threads / 8 * foot.rounds * LINE_BYTES;
    bench_launch(world, from, request->gpus, foot_program, &foot, sizeof foot, request->ctas, request->threads, amount);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_flows(world);
    return TRUE;
}

static gboolean hot_run(BenchWorld *world, GError **error)
{
    guint32 k, to, stride;
    int end = 0;
    const BenchRequest *request = world->request;
    if (sscanf(request->gpus, "%u>%u%n", &k, &to, &end) != 2 || to != 0 || k == 0 ||
        k >= world->fabric->spec.system.gpus) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST, "hot_lines: gpus '%s': give K>0", request->gpus);
        return FALSE;
    }
    if (sscanf(request->variant, "read_stride%u%n", &stride, &end) != 1 || stride % 128 || stride == 0)
        return bench_refuse_variant(world, error);
    FootArgs foot = {.lines = (guint32)MAX(request->bytes / LINE_BYTES, 1), .stride = stride, .rounds = HOT_ROUNDS};
    foot.base = bench_memory(world, 0, (guint64)foot.lines * stride, 0);
    guint64 amount = (guint64)request->ctas * request->threads / 8 * foot.rounds * LINE_BYTES;
    for (guint32 g = 1; g <= k; g++)
        bench_launch(world, g, request->gpus, foot_program, &foot, sizeof foot, request->ctas, request->threads,
                     amount);
    if (!bench_go(world, error))
        return FALSE;
    double rate = 0;
    for (guint i = 0; i < world->flows->len; i++) {
        const BenchFlow *flow = g_ptr_array_index(world->flows, i);
        rate += (double)flow->amount / (double)(flow->end_ps - flow->begin_ps);
    }
    bench_add_row(world, request->gpus, amount * k, 1, (SimTime)((double)(amount * k) / rate), "GB/s");
    return TRUE;
}

static guint64 foot_crossings(const BenchSetup *setup, const BenchRequest *request)
{
    (void)setup;
    return (guint64)request->ctas * request->threads / 8 * FOOT_ROUNDS * 4;
}

const BenchTest bench_footprint = {"footprint_bw",
                                   "{read,write}_stride{128,256,...}",
                                   "few lines again and again",
                                   {"footprint_bw", "read_stride128", "0>1", 132, 512, 65536},
                                   foot_run,
                                   foot_crossings,
                                   NULL};
const BenchTest bench_hot_lines = {"hot_lines",
                                   "read_stride256",
                                   "K GPUs read the same few lines of GPU 0",
                                   {"hot_lines", "read_stride256", "2>0", 132, 512, 2048},
                                   hot_run,
                                   foot_crossings,
                                   NULL};
