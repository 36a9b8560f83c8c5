/* Bandwidth: grid-stride loops of one or several flows, each timed as its stream sees it. */
#include <stdio.h>
#include <string.h>

#include "bench/world.h"

typedef struct {
    LoopSpec loop;
    guint32 reps;
} FlowArgs;

static void flow_program(FoCta *cta, const void *args)
{
    const FlowArgs *flow = args;
    LoopSpec loop = flow->loop;
    guint64 each = loop.lanes == 1 ? WARP_LANES : 1; /* an element a warp, or a thread */
    loop.first = (guint64)fo_cta(cta) * fo_threads(cta) / each;
    loop.step = (guint64)fo_ctas(cta) * fo_threads(cta) / each;
    for (guint32 r = 0; r < flow->reps; r++)
        bench_loop(cta, &loop);
}

/* The loops of `stream`: reads keep 8 in flight, then go one by one. */
static gboolean flow_stream(const char *variant, FoAddress base, guint64 bytes, FlowArgs *flow)
{
    static const struct {
        const char *name;
        guint32 width;
        UopKind kind;
    } kinds[] = {{"read16", 16, UOP_LOAD},   {"read8", 8, UOP_LOAD},     {"read4", 4, UOP_LOAD},
                 {"write16", 16, UOP_STORE}, {"write8", 8, UOP_STORE},   {"write4", 4, UOP_STORE},
                 {"red_add_u32", 4, UOP_RED}};
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(variant, kinds[i].name) != 0)
            continue;
        *flow = (FlowArgs){.reps = 1};
        flow->loop.width = kinds[i].width;
        flow->loop.elements = bytes / kinds[i].width;
        flow->loop.n_regs = 1;
        flow->loop.unroll = kinds[i].kind == UOP_LOAD ? 8 : 1;
        bench_part(&flow->loop, kinds[i].kind, 0, base)->type = FO_U32;
        if (kinds[i].kind == UOP_LOAD)
            bench_part(&flow->loop, UOP_ARITH, 0, 0);
        return TRUE;
    }
    return FALSE;
}

static guint64 flow_crossings(const BenchSetup *setup, const BenchRequest *request)
{
    (void)setup;
    return request->bytes / LINE_BYTES * 4;
}

static gboolean stream_run(BenchWorld *world, GError **error)
{
    guint32 from, to;
    FlowArgs flow;
    const BenchRequest *request = world->request;
    if (!bench_parse_pair(world, &from, &to, error))
        return FALSE;
    FoAddress base = bench_memory(world, to, world->bytes, request->bytes);
    if (!flow_stream(request->variant, base, world->bytes, &flow))
        return bench_refuse_variant(world, error);
    bench_launch(world, from, request->gpus, flow_program, &flow, sizeof flow, request->ctas,
                 request->threads, world->bytes);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_flows(world);
    return TRUE;
}

const BenchTest bench_stream = {
    "stream_bw", "read16, read8, read4, write16, write8, write4, red_add_u32",
    "a grid-stride loop over a peer's memory",
    {"stream_bw", "read16", "0>1", 132, 1024, 64u << 20}, stream_run, flow_crossings};
const BenchTest bench_by_size = {
    "kernel_bw_by_size", "read16, write16", "the same at any size: launch cost included",
    {"kernel_bw_by_size", "read16", "0>1", 132, 1024, 4u << 20}, stream_run, flow_crossings};

/* ---- parts of lines */

static gboolean sparse_run(BenchWorld *world, GError **error)
{
    guint32 from, to, seg, stride;
    char op[8];
    int end = 0;
    const BenchRequest *request = world->request;
    if (!bench_parse_pair(world, &from, &to, error))
        return FALSE;
    if (sscanf(request->variant, "%7[a-z]_seg%u_stride%u%n", op, &seg, &stride, &end) != 3 ||
        request->variant[end] != '\0' || (strcmp(op, "read") != 0 && strcmp(op, "write") != 0) ||
        (seg % 16 && seg != 4) || seg == 0 || seg > stride || stride % 16)
        return bench_refuse_variant(world, error);
    gboolean read = strcmp(op, "read") == 0;
    guint64 lines = world->bytes / seg;
    FoAddress base = bench_memory(world, to, lines * stride, request->bytes / seg * stride);
    FlowArgs flow = {.reps = 1};
    flow.loop = (LoopSpec){.width = seg == 4 ? 4 : 16, .unroll = read ? 4 : 1, .tail_unroll = 4, .n_regs = 1};
    flow.loop.per_segment = seg / flow.loop.width;
    flow.loop.segment_stride = stride;
    flow.loop.elements = lines * flow.loop.per_segment;
    bench_part(&flow.loop, read ? UOP_LOAD : UOP_STORE, 0, base);
    if (read)
        bench_part(&flow.loop, UOP_ARITH, 0, 0);
    bench_launch(world, from, request->gpus, flow_program, &flow, sizeof flow, request->ctas,
                 request->threads, lines * seg);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_flows(world);
    return TRUE;
}

static guint64 sparse_crossings(const BenchSetup *setup, const BenchRequest *request)
{
    guint32 seg = 128;
    const char *at = strstr(request->variant, "_seg");
    (void)setup;
    if (at)
        sscanf(at, "_seg%u", &seg);
    return request->bytes / MAX(seg, 1) * 4;
}

const BenchTest bench_sparse = {
    "sparse_bw", "{read,write}_seg{16,32,64,96,128}_stride{128,256}, write_seg4_stride128",
    "a loop that touches a part of each stride",
    {"sparse_bw", "read_seg32_stride128", "0>1", 264, 1024, 16u << 20}, sparse_run, sparse_crossings};

/* ---- local copies to and from a peer */

static gboolean copy_kernel_run(BenchWorld *world, GError **error)
{
    guint32 from, to;
    const BenchRequest *request = world->request;
    if (!bench_parse_pair(world, &from, &to, error))
        return FALSE;
    gboolean push = strcmp(request->variant, "local_to_remote") == 0;
    if (!push && strcmp(request->variant, "remote_to_local") != 0)
        return bench_refuse_variant(world, error);
    FoAddress mine = bench_memory(world, from, world->bytes, request->bytes);
    FoAddress peer = bench_memory(world, to, world->bytes, request->bytes);
    FlowArgs flow = {.reps = 1};
    flow.loop = (LoopSpec){.width = 16, .unroll = 4, .tail_unroll = 4, .n_regs = 1,
                           .elements = world->bytes / 16};
    bench_part(&flow.loop, UOP_LOAD, 0, push ? mine : peer);
    bench_part(&flow.loop, UOP_STORE, 0, push ? peer : mine);
    bench_launch(world, from, request->gpus, flow_program, &flow, sizeof flow, request->ctas,
                 request->threads, world->bytes);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_flows(world);
    return TRUE;
}

const BenchTest bench_copy_kernel = {
    "copy_kernel", "local_to_remote, remote_to_local", "a grid-stride copy, 4 x 16 B in flight",
    {"copy_kernel", "local_to_remote", "0>1", 132, 1024, 64u << 20}, copy_kernel_run, flow_crossings};

static gboolean atomics_run(BenchWorld *world, GError **error)
{
    guint32 from, to;
    const BenchRequest *request = world->request;
    if (!bench_parse_pair(world, &from, &to, error))
        return FALSE;
    gboolean one = strcmp(request->variant, "one_word") == 0;
    if (!one && strcmp(request->variant, "coalesced_u32") != 0)
        return bench_refuse_variant(world, error);
    FoAddress base = bench_memory(world, to, one ? 4 : world->bytes, one ? 4 : request->bytes);
    FlowArgs flow = {.reps = 1};
    flow.loop = (LoopSpec){.width = 4, .unroll = 1, .n_regs = 1,
                           .elements = one ? world->bytes : world->bytes / 4};
    if (one) { /* the compiler adds up a warp's lanes that share a word: its leader's atomic brings the sum */
        flow.loop.per_segment = 1;
        flow.loop.segment_stride = 0;
        flow.loop.lanes = flow.loop.warp_step = 1;
        flow.loop.elements = (world->bytes + WARP_LANES - 1) / WARP_LANES;
    }
    bench_part(&flow.loop, UOP_ATOM, 0, base)->type = FO_U32;
    bench_part(&flow.loop, UOP_ARITH, 0, 0);
    bench_launch(world, from, request->gpus, flow_program, &flow, sizeof flow, request->ctas,
                 request->threads, world->bytes);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_flows(world);
    if (one)
        g_array_index(world->rows, BenchRow, 0).unit = "Gops/s";
    return TRUE;
}

const BenchTest bench_atomics = {
    "atomics", "coalesced_u32, one_word", "returning atomics of every lane",
    {"atomics", "coalesced_u32", "0>1", 264, 1024, 16u << 20}, atomics_run, flow_crossings};

/* ---- many flows at once */

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
    {"alltoall4_sum", 12, {{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 3}, {3, 0},
                           {3, 1}, {3, 2}}},
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
static guint32 flow_reps(const FlowCase *set)
{
    return flow_is_sum(set) || strcmp(set->name, "outcast3") == 0 ? 1 : 2;
}

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
        FlowArgs flow;
        g_snprintf(gpus, sizeof gpus, "%u>%u", from, to);
        if (MAX(from, to) >= world->fabric->spec.system.gpus) {
            g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST, "contention: '%s' needs 4 GPUs",
                        request->variant);
            return FALSE;
        }
        FoAddress base = bench_memory(world, to, world->bytes, request->bytes);
        flow_stream(write ? "write16" : "read16", base, world->bytes, &flow);
        flow.reps = flow_reps(set);
        guint32 ctas = MAX(1, flow_sm_share(set, request) / flow_of_source(set, from));
        bench_launch(world, from, gpus, flow_program, &flow, sizeof flow, ctas, request->threads,
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

const BenchTest bench_contention = {
    "contention",
    "{read,write}_{single,pair_bidir,incast2,incast3,two_pairs,ring4,two_pairs_bidir,"
    "incast2_plus_victim,outcast3,alltoall4_sum}",
    "several flows at once; ctas are those of each flow",
    {"contention", "read_pair_bidir", "all", 132, 1024, 32u << 20}, contention_run,
    contention_crossings};

/* ---- reads and writes mixed */

typedef struct {
    FlowArgs read, write;
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

static void mixed_launch(BenchWorld *world, guint32 gpu, guint32 read_from, guint32 write_to,
                         guint32 read_ctas, const char *gpus)
{
    const BenchRequest *request = world->request;
    MixedArgs mixed = {.read_ctas = read_ctas};
    guint32 parts = (read_ctas > 0) + (read_ctas < request->ctas);
    flow_stream("read16", bench_memory(world, read_from, world->bytes, request->bytes), world->bytes,
                &mixed.read);
    flow_stream("write16", bench_memory(world, write_to, world->bytes, request->bytes), world->bytes,
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
    guint32 read_ctas = strcmp(variant, "read_next") == 0    ? ctas
                        : strcmp(variant, "write_prev") == 0 ? 0
                                                             : ctas / 2;
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

const BenchTest bench_mixed_single = {
    "mixed_single", "read_and_write_same_peer", "half of the CTAs read a peer, half write it",
    {"mixed_single", "read_and_write_same_peer", "0>1", 132, 1024, 32u << 20}, mixed_single_run,
    mixed_crossings};
const BenchTest bench_mixed_ring = {
    "mixed_ring", "read_next_write_prev, read_next, write_prev",
    "four GPUs: each reads the next and writes the previous one",
    {"mixed_ring", "read_next_write_prev", "per_gpu", 132, 1024, 16u << 20}, mixed_ring_run,
    mixed_crossings};
