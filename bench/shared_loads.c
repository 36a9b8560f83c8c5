/* Loads of the same lines by all GPUs, which a switch may merge ([switch] merge_entries). */
#include <stdio.h>
#include <string.h>

#include "bench/world.h"

#define SHARED_GPUS_MAX 64u

typedef struct {
    LoopSpec loop;
    FoAddress base[SHARED_GPUS_MAX];
    guint32 homes, own; /* GPUs 0..homes - 1 have what all load; own: this one loads nothing of itself */
    guint64 start_ps;
} SharedArgs;

/* CTAs take the homes in turn, so that all are asked at once. */
static void shared_program(FoCta *cta, const void *args)
{
    const SharedArgs *shared = args;
    LoopSpec loop = shared->loop;
    const guint32 home = (guint32)fo_cta(cta) % shared->homes, turn = (guint32)fo_cta(cta) / shared->homes;
    if (home == shared->own)
        return;
    if (shared->start_ps)
        fo_sleep_ps(cta, shared->start_ps);
    loop.first = (guint64)turn * fo_threads(cta);
    loop.step = (guint64)(fo_ctas(cta) / shared->homes) * fo_threads(cta);
    bench_part(&loop, UOP_LOAD, 0, shared->base[home]);
    bench_loop(cta, &loop);
}

/* "all_skew3us": all GPUs load from all, and the last one starts 3 us after the first. */
static gboolean shared_parse(const char *variant, gboolean *all, guint64 *skew_ps)
{
    char who[4];
    guint32 skew_us;
    int end = 0;
    if (sscanf(variant, "%3[a-z]_skew%uus%n", who, &skew_us, &end) != 2 || end == 0 || variant[end] != '\0')
        return FALSE;
    *skew_ps = (guint64)skew_us * 1000000;
    *all = strcmp(who, "all") == 0;
    return *all || strcmp(who, "one") == 0;
}

/* Packets of one kind on all links from GPUs, or to them. */
static guint64 shared_packets(const Fabric *fabric, PacketKind kind, gboolean up)
{
    guint64 packets = 0;
    for (guint64 g = 0; g < fabric->spec.system.gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++)
            packets += (up ? fabric->gpu[g].up : fabric->gpu[g].down)[l].count[kind].packets;
    return packets;
}

static gboolean shared_run(BenchWorld *world, GError **error)
{
    gboolean all;
    guint32 n;
    guint64 skew_ps;
    const BenchRequest *request = world->request;
    SharedArgs shared = {
        .loop = {.width = 16, .unroll = 4, .tail_unroll = 4, .n_regs = 1, .elements = world->bytes / 16}};
    if (!bench_parse_count(world, &n, error))
        return FALSE;
    if (!shared_parse(request->variant, &all, &skew_ps))
        return bench_refuse_variant(world, error);
    shared.homes = all ? n : 1;
    if (n > SHARED_GPUS_MAX || request->ctas % shared.homes) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST,
                    "shared_loads: %u CTAs on %u GPUs; right are at most %u "
                    "GPUs, and a multiple of their number",
                    request->ctas, n, SHARED_GPUS_MAX);
        return FALSE;
    }
    for (guint32 g = 0; g < shared.homes; g++)
        shared.base[g] = bench_memory(world, g, world->bytes, request->bytes);
    for (guint32 g = all ? 0 : 1; g < n; g++) {
        shared.own = g;
        shared.start_ps = skew_ps * g / (n - 1);
        bench_launch(world, g, request->gpus, shared_program, &shared, sizeof shared, request->ctas, request->threads,
                     world->bytes);
    }
    if (!bench_go(world, error))
        return FALSE;
    SimTime first_ps = SIMTIME_NEVER, last_ps = 0;
    for (guint i = 0; i < world->flows->len; i++) {
        const BenchFlow *flow = g_ptr_array_index(world->flows, i);
        first_ps = MIN(first_ps, flow->begin_ps);
        last_ps = MAX(last_ps, flow->end_ps);
    }
    bench_add_row(world, request->gpus, world->bytes * (all ? n - 1 : 1), 1, last_ps - first_ps, "GB/s");
    /* as a quotient of two counts, which a row has as thousandths */
    bench_add_row(world, request->gpus, 0, shared_packets(world->fabric, PACKET_READ_RSP, TRUE),
                  shared_packets(world->fabric, PACKET_READ_RSP, FALSE) * 1000, "loads/answer");
    return TRUE;
}

static const char *shared_loads_packets(const BenchRequest *request)
{
    (void)request;
    return "lines that several GPUs ask for at once are single requests and answers, which flows have none of";
}

const BenchTest bench_shared_loads = {
    "shared_loads",
    "one_skew0us, all_skew0us, all_skew3us, ...",
    "GPUs load the same lines, of one of them or of all, and start within so long: payload of one, loads that an "
    "answer serves (switch.merge_entries)",
    {"shared_loads", "all_skew0us", "8", 8, 128, 512u << 10},
    shared_run,
    NULL,
    shared_loads_packets};
