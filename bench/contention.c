/* Bandwidth of several flows at once: kernels of several GPUs, and reads and writes mixed. */
#include <stdio.h>
#include <string.h>

#include "bench/bandwidth.h"

typedef struct {
    const char *name;
    guint32 n;
    guint8 pair[12][2];
} FlowCase;
static const FlowCase flow_cases[] = {
    {"single", 1, {{0, 1}}},
    {"pair_bidir", 2, {{0, 1}, {1, 0}}},
    {"incast2", 2, {{1, 0}, {2, 0}}},
    {"incast3", 3, {{1, 0}, {2, 0}, {3, 0}}},
    {"two_pairs", 2, {{0, 1}, {2, 3}}},
    {"ring4", 4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
    {"two_pairs_bidir", 4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}}},
    {"incast2_plus_victim", 3, {{1, 0}, {2, 0}, {2, 3}}},
    {"outcast3", 3, {{0, 1}, {0, 2}, {0, 3}}},
    {"alltoall4_sum",
     12,
     {{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 3}, {3, 0}, {3, 1}, {3, 2}}},
};

static const FlowCase *flow_find_case(const char *variant, gboolean *write)
{
    *write = g_str_has_prefix(variant, "write_");
    if (!*write && !g_str_has_prefix(variant, "read_"))
        return NULL;
    const char *name = strchr(variant, '_') + 1;
    for (guint i = 0; i < G_N_ELEMENTS(flow_cases); i++)
        if (strcmp(flow_cases[i].name, name) == 0)
            return &flow_cases[i];
    return NULL;
}

static gboolean flow_is_sum(const FlowCase *set) { return set->n == 12; }
static guint32 flow_reps(const FlowCase *set) { return flow_is_sum(set) || strcmp(set->name, "outcast3") == 0 ? 1 : 2; }

static guint32 flow_of_source(const FlowCase *set, guint32 from)
{
    guint32 n = 0;
    for (guint32 i = 0; i < set->n; i++)
        n += set->pair[i][0] == from;
    return n;
}

/* CTAs of one source, its flows together: the request tells those of the flow it names (or the first). */
static guint32 flow_sm_share(const FlowCase *set, const BenchRequest *request)
{
    guint32 from = set->pair[0][0], to;
    if (sscanf(request->gpus, "%u>%u", &from, &to) != 2 || flow_of_source(set, from) == 0)
        from = set->pair[0][0];
    return request->ctas * flow_of_source(set, from);
}

static gboolean contention_run(BenchWorld *world, GError **error)
{
    gboolean write;
    const BenchRequest *request = world->request;
    const FlowCase *set = flow_find_case(request->variant, &write);
    if (!set)
        return bench_refuse_variant(world, error);
    for (guint32 i = 0; i < set->n; i++) {
        guint32 from = set->pair[i][0], to = set->pair[i][1];
        char gpus[16];
        BandwidthArgs flow;
        g_snprintf(gpus, sizeof gpus, "%u>%u", from, to);
        if (MAX(from, to) >= world->fabric->spec.system.gpus) {
            g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST, "contention: '%s' needs 4 GPUs", request->variant);
            return FALSE;
        }
        FoAddress base = bench_memory(world, to, world->bytes, request->bytes);
        bandwidth_stream(write ? "write16" : "read16", base, world->bytes, &flow);
        flow.reps = flow_reps(set);
        guint32 ctas = MAX(1, flow_sm_share(set, request) / flow_of_source(set, from));
        bench_launch(world, from, gpus, bandwidth_program, &flow, sizeof flow, ctas, request->threads,
                     world->bytes * flow.reps);
    }
    if (!bench_go(world, error))
        return FALSE;
    if (!flow_is_sum(set)) {
        bench_add_flows(world);
        return TRUE;
    }
    double rate = 0; /* the sum of the flows' own rates */
    for (guint i = 0; i < world->flows->len; i++) {
        const BenchFlow *flow = g_ptr_array_index(world->flows, i);
        rate += (double)flow->amount / (double)(flow->end_ps - flow->begin_ps);
    }
    guint64 sum = world->bytes * set->n;
    bench_add_row(world, "all", sum, 1, (SimTime)((double)sum / rate), "GB/s");
    return TRUE;
}

static guint64 contention_crossings(const BenchSetup *setup, const BenchRequest *request)
{
    gboolean write;
    const FlowCase *set = flow_find_case(request->variant, &write);
    (void)setup;
    return set ? request->bytes / LINE_BYTES * 4 * set->n * flow_reps(set) : 0;
}

/* A GPU that runs several kernels at once: up to 60 % off (docs/flows.md). */
static const char *contention_packets(const BenchRequest *request)
{
    gboolean write;
    const FlowCase *set = flow_find_case(request->variant, &write);
    for (guint32 i = 0; set && i < set->n; i++)
        if (flow_of_source(set, set->pair[i][0]) > 1)
            return "kernels of one GPU take SMs and queues from each other, of which flows know nothing";
    return NULL;
}

const BenchTest bench_contention = {"contention",
                                    "{read,write}_{single,pair_bidir,incast2,incast3,two_pairs,ring4,two_pairs_bidir,"
                                    "incast2_plus_victim,outcast3,alltoall4_sum}",
                                    "several flows at once; ctas are those of each flow",
                                    {"contention", "read_pair_bidir", "all", 132, 1024, 32u << 20},
                                    contention_run,
                                    contention_crossings,
                                    contention_packets};

/* ---- reads and writes mixed */

typedef struct {
    BandwidthArgs read, write;
    guint32 read_ctas;
} MixedArgs;

static void mixed_program(FoCta *cta, const void *args)
{
    const MixedArgs *mixed = args;
    gboolean read = fo_cta(cta) < mixed->read_ctas;
    guint32 ctas = read ? mixed->read_ctas : fo_ctas(cta) - mixed->read_ctas;
    guint32 index = read ? fo_cta(cta) : fo_cta(cta) - mixed->read_ctas;
    LoopSpec loop = read ? mixed->read.loop : mixed->write.loop;
    loop.first = (guint64)index * fo_threads(cta);
    loop.step = (guint64)ctas * fo_threads(cta);
    bench_loop(cta, &loop);
}

static void mixed_launch(BenchWorld *world, guint32 gpu, guint32 read_from, guint32 write_to, guint32 read_ctas,
                         const char *gpus)
{
    const BenchRequest *request = world->request;
    MixedArgs mixed = {.read_ctas = read_ctas};
    guint32 parts = (read_ctas > 0) + (read_ctas < request->ctas);
    bandwidth_stream("read16", bench_memory(world, read_from, world->bytes, request->bytes), world->bytes, &mixed.read);
    bandwidth_stream("write16", bench_memory(world, write_to, world->bytes, request->bytes), world->bytes,
                     &mixed.write);
    bench_launch(world, gpu, gpus, mixed_program, &mixed, sizeof mixed, request->ctas, request->threads,
                 world->bytes * parts);
}

static gboolean mixed_single_run(BenchWorld *world, GError **error)
{
    guint32 from, to;
    if (!bench_parse_pair(world, &from, &to, error))
        return FALSE;
    if (strcmp(world->request->variant, "read_and_write_same_peer") != 0)
        return bench_refuse_variant(world, error);
    mixed_launch(world, from, to, to, world->request->ctas / 2, world->request->gpus);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_flows(world);
    return TRUE;
}

static gboolean mixed_ring_run(BenchWorld *world, GError **error)
{
    const char *variant = world->request->variant;
    guint32 ctas = world->request->ctas, n = MIN(4, (guint32)world->fabric->spec.system.gpus);
    guint32 read_ctas = strcmp(variant, "read_next") == 0 ? ctas : strcmp(variant, "write_prev") == 0 ? 0 : ctas / 2;
    if (strcmp(variant, "read_next") != 0 && strcmp(variant, "write_prev") != 0 &&
        strcmp(variant, "read_next_write_prev") != 0)
        return bench_refuse_variant(world, error);
    for (guint32 g = 0; g < n; g++)
        mixed_launch(world, g, (g + 1) % n, (g + n - 1) % n, read_ctas, "per_gpu");
    if (!bench_go(world, error))
        return FALSE;
    double rate = 0;
    guint64 amount = 0;
    for (guint i = 0; i < world->flows->len; i++) {
        const BenchFlow *flow = g_ptr_array_index(world->flows, i);
        amount = flow->amount;
        rate += (double)amount / (double)(flow->end_ps - flow->begin_ps) / n;
    }
    bench_add_row(world, "per_gpu", amount, 1, (SimTime)((double)amount / rate), "GB/s");
    return TRUE;
}

static guint64 mixed_crossings(const BenchSetup *setup, const BenchRequest *request)
{
    (void)setup;
    return request->bytes / LINE_BYTES * 8 * (strcmp(request->test, "mixed_ring") == 0 ? 4 : 1);
}

const BenchTest bench_mixed_single = {"mixed_single",
                                      "read_and_write_same_peer",
                                      "half of the CTAs read a peer, half write it",
                                      {"mixed_single", "read_and_write_same_peer", "0>1", 132, 1024, 32u << 20},
                                      mixed_single_run,
                                      mixed_crossings,
                                      NULL};
static const char *mixed_packets(const BenchRequest *request)
{
    return strcmp(request->variant, "read_next_write_prev") == 0
               ? "requests of loads queue behind stores, of which flows know nothing"
               : NULL;
}

const BenchTest bench_mixed_ring = {"mixed_ring",
                                    "read_next_write_prev, read_next, write_prev",
                                    "four GPUs: each reads the next and writes the previous one",
                                    {"mixed_ring", "read_next_write_prev", "per_gpu", 132, 1024, 16u << 20},
                                    mixed_ring_run,
                                    mixed_crossings,
                                    mixed_packets};
