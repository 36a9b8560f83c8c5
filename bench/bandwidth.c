/* Bandwidth: grid-stride loops of one flow, timed as its stream sees it; of several: contention.c. */
#include <stdio.h>
#include <string.h>

#include "bench/bandwidth.h"

void bandwidth_program(FoCta *cta, const void *args)
{
    const BandwidthArgs *flow = args;
    LoopSpec loop = flow->loop;
    guint64 each = loop.lanes == 1 ? WARP_LANES : 1; /* an element a warp, or a thread */
    loop.first = (guint64)fo_cta(cta) * fo_threads(cta) / each;
    loop.step = (guint64)fo_ctas(cta) * fo_threads(cta) / each;
    for (guint32 r = 0; r < flow->reps; r++)
        bench_loop(cta, &loop);
}

gboolean bandwidth_stream(const char *variant, FoAddress base, guint64 bytes, BandwidthArgs *flow)
{
    static const struct {
        const char *name;
        guint32 width;
        UopKind kind;
    } kinds[] = {{"read16", 16, UOP_LOAD},   {"read8", 8, UOP_LOAD},   {"read4", 4, UOP_LOAD},
                 {"write16", 16, UOP_STORE}, {"write8", 8, UOP_STORE}, {"write4", 4, UOP_STORE},
                 {"red_add_u32", 4, UOP_RED}};
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(variant, kinds[i].name) != 0)
            continue;
        *flow = (BandwidthArgs){.reps = 1};
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
    BandwidthArgs flow;
    const BenchRequest *request = world->request;
    if (!bench_parse_pair(world, &from, &to, error))
        return FALSE;
    FoAddress base = bench_memory(world, to, world->bytes, request->bytes);
    if (!bandwidth_stream(request->variant, base, world->bytes, &flow))
        return bench_refuse_variant(world, error);
    bench_launch(world, from, request->gpus, bandwidth_program, &flow, sizeof flow, request->ctas, request->threads,
                 world->bytes);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_flows(world);
    return TRUE;
}

const BenchTest bench_stream = {"stream_bw",
                                "read16, read8, read4, write16, write8, write4, red_add_u32",
                                "a grid-stride loop over a peer's memory",
                                {"stream_bw", "read16", "0>1", 132, 1024, 64u << 20},
                                stream_run,
                                flow_crossings,
                                NULL};
const BenchTest bench_by_size = {"kernel_bw_by_size",
                                 "read16, write16",
                                 "the same at any size: launch cost included",
                                 {"kernel_bw_by_size", "read16", "0>1", 132, 1024, 4u << 20},
                                 stream_run,
                                 flow_crossings,
                                 NULL};

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
    BandwidthArgs flow = {.reps = 1};
    flow.loop = (LoopSpec){.width = seg == 4 ? 4 : 16, .unroll = read ? 4 : 1, .tail_unroll = 4, .n_regs = 1};
    flow.loop.per_segment = seg / flow.loop.width;
    flow.loop.segment_stride = stride;
    flow.loop.elements = lines * flow.loop.per_segment;
    bench_part(&flow.loop, read ? UOP_LOAD : UOP_STORE, 0, base);
    if (read)
        bench_part(&flow.loop, UOP_ARITH, 0, 0);
    bench_launch(world, from, request->gpus, bandwidth_program, &flow, sizeof flow, request->ctas, request->threads,
                 lines * seg);
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

const BenchTest bench_sparse = {"sparse_bw",
                                "{read,write}_seg{16,32,64,96,128}_stride{128,256}, write_seg4_stride128",
                                "a loop that touches a part of each stride",
                                {"sparse_bw", "read_seg32_stride128", "0>1", 264, 1024, 16u << 20},
                                sparse_run,
                                sparse_crossings,
                                NULL};

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
    BandwidthArgs flow = {.reps = 1};
    flow.loop = (LoopSpec){.width = 16, .unroll = 4, .tail_unroll = 4, .n_regs = 1, .elements = world->bytes / 16};
    bench_part(&flow.loop, UOP_LOAD, 0, push ? mine : peer);
    bench_part(&flow.loop, UOP_STORE, 0, push ? peer : mine);
    bench_launch(world, from, request->gpus, bandwidth_program, &flow, sizeof flow, request->ctas, request->threads,
                 world->bytes);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_flows(world);
    return TRUE;
}

const BenchTest bench_copy_kernel = {"copy_kernel",
                                     "local_to_remote, remote_to_local",
                                     "a grid-stride copy, 4 x 16 B in flight",
                                     {"copy_kernel", "local_to_remote", "0>1", 132, 1024, 64u << 20},
                                     copy_kernel_run,
                                     flow_crossings,
                                     NULL};

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
    BandwidthArgs flow = {.reps = 1};
    flow.loop = (LoopSpec){.width = 4, .unroll = 1, .n_regs = 1, .elements = one ? world->bytes : world->bytes / 4};
    if (one) { /* the compiler adds up a warp's lanes that share a word: its leader's atomic brings the sum */
        flow.loop.per_segment = 1;
        flow.loop.segment_stride = 0;
        flow.loop.lanes = flow.loop.warp_step = 1;
        flow.loop.elements = (world->bytes + WARP_LANES - 1) / WARP_LANES;
    }
    bench_part(&flow.loop, UOP_ATOM, 0, base)->type = FO_U32;
    bench_part(&flow.loop, UOP_ARITH, 0, 0);
    bench_launch(world, from, request->gpus, bandwidth_program, &flow, sizeof flow, request->ctas, request->threads,
                 world->bytes);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_flows(world);
    if (one)
        g_array_index(world->rows, BenchRow, 0).unit = "Gops/s";
    return TRUE;
}

const BenchTest bench_atomics = {"atomics",
                                 "coalesced_u32, one_word",
                                 "returning atomics of every lane",
                                 {"atomics", "coalesced_u32", "0>1", 264, 1024, 16u << 20},
                                 atomics_run,
                                 flow_crossings,
                                 NULL};
