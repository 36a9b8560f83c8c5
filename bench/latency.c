/* Latencies: dependent loads and atomics, flags to and fro, messages.
 *
 * The CUDA programs repeat each figure thousands of times; a few hundred times are enough here, where
 * nothing else is on the machine. */
#include <string.h>

#include "bench/world.h"
#include "sim/rng.h"

#define CHASE_LOADS 2000u
#define CHASE_PROGRAM_LOADS 4064u /* of the program, which walks the same ones in each of its runs */
#define PINGPONG_ROUNDS 64u

typedef struct {
    FoAddress base;
    guint32 *line; /* order of the lines; NULL: always the first one */
    guint32 n, warm;
    gboolean atomic;
    guint64 *marks;
} ChaseArgs;

static void chase_program(FoCta *cta, const void *args)
{
    const ChaseArgs *chase = args;
    FoReg *value = fo_reg(cta, 8), *zero = fo_reg(cta, 8);
    fo_only(cta, 0, 1);
    fo_set_u64(cta, zero, 0);
    fo_wait(cta);
    for (guint32 i = 0; i < chase->warm + chase->n; i++) {
        if (i == chase->warm)
            chase->marks[0] = fo_time_ps(cta);
        FoAddress at = chase->base + (chase->line ? (guint64)chase->line[i] * LINE_BYTES : 0);
        if (chase->atomic)
            fo_atom(cta, value, at, zero, FO_U64, FO_ADD, FO_RELAXED);
        else
            fo_ld_sys(cta, value, at, FO_RELAXED);
        guint64 got;
        fo_get(cta, value, 0, &got);
    }
    chase->marks[1] = fo_time_ps(cta);
}

/* n different lines of a footprint, in random order (all of it when it has fewer). */
static guint32 *chase_lines(BenchWorld *world, guint64 lines, guint32 n)
{
    Rng rng;
    guint32 *line = g_new(guint32, n);
    rng_init(&rng, sim_seed(world->sim), "api/bench/chase");
    for (guint32 i = 0; i < n; i++)
        line[i] = (guint32)rng_below(&rng, lines);
    return line;
}

static gboolean chase_run(BenchWorld *world, gboolean atomic, guint64 footprint, GError **error)
{
    guint32 from, to;
    if (!bench_parse_pair(world, &from, &to, error))
        return FALSE;
    if (strcmp(world->request->variant, from == to ? "local" : "remote") != 0)
        return bench_refuse_variant(world, error);
    ChaseArgs chase = {.base = bench_memory(world, to, world->bytes, footprint),
                       .n = CHASE_LOADS,
                       .warm = 64,
                       .atomic = atomic,
                       .marks = world->marks};
    if (!atomic)
        chase.line = chase_lines(world, MAX(world->bytes / LINE_BYTES, 1), chase.n + chase.warm);
    bench_launch(world, from, world->request->gpus, chase_program, &chase, sizeof chase, 1, 1, 0);
    gboolean good = bench_go(world, error);
    g_free(chase.line);
    if (good)
        bench_add_row(world, world->request->gpus, 0, chase.n, world->marks[1] - world->marks[0], "ns");
    return good;
}

static gboolean load_latency_run(BenchWorld *world, GError **error)
{
    return chase_run(world, FALSE, MIN(world->bytes, CHASE_PROGRAM_LOADS * LINE_BYTES), error);
}

static gboolean dram_latency_run(BenchWorld *world, GError **error)
{
    return chase_run(world, FALSE, G_MAXUINT64, error); /* each line is visited once */
}

static gboolean atomic_latency_run(BenchWorld *world, GError **error) { return chase_run(world, TRUE, 0, error); }

const BenchTest bench_load_latency = {"load_latency",
                                      "local, remote",
                                      "dependent loads over lines that are in L2",
                                      {"load_latency", "remote", "0>1", 1, 1, 262144},
                                      load_latency_run,
                                      NULL,
                                      NULL};
const BenchTest bench_dram_latency = {"dram_latency",
                                      "local, remote",
                                      "dependent loads that miss L2",
                                      {"dram_latency", "remote", "0>1", 1, 1, 1u << 31},
                                      dram_latency_run,
                                      NULL,
                                      NULL};
const BenchTest bench_atomic_latency = {"atomic_latency",
                                        "local, remote",
                                        "dependent atomics on one line",
                                        {"atomic_latency", "remote", "0>1", 1, 1, 8},
                                        atomic_latency_run,
                                        NULL,
                                        NULL};

/* ---- flags and messages */

typedef struct {
    FoAddress mine, peer, dst;
    guint64 bytes; /* of the message; 0: only the flag */
    guint32 rounds, warm;
    gboolean first, ordered;
    guint64 *marks;
} PingArgs;

static void ping_put(FoCta *cta, const PingArgs *ping)
{
    LoopSpec put = {.elements = ping->bytes / 16, .width = 16, .unroll = 1, .n_regs = 1, .step = fo_threads(cta)};
    bench_part(&put, UOP_STORE, 0, ping->dst);
    fo_all(cta);
    bench_loop(cta, &put);
    fo_fence(cta);
    fo_sync(cta);
    fo_only(cta, 0, 1);
}

static void ping_program(FoCta *cta, const void *args)
{
    const PingArgs *ping = args;
    FoReg *value = fo_reg(cta, 8);
    FoOrder release = ping->ordered ? FO_RELEASE : FO_RELAXED;
    FoOrder acquire = ping->ordered ? FO_ACQUIRE : FO_RELAXED;
    for (guint32 i = 1; i <= ping->warm + ping->rounds; i++) {
        if (i == ping->warm + 1) {
            fo_wait(cta);
            ping->marks[ping->first ? 0 : 2] = fo_time_ps(cta);
        }
        if (ping->first && ping->bytes)
            ping_put(cta, ping);
        fo_only(cta, 0, 1);
        fo_set_u64(cta, value, i);
        if (ping->first)
            fo_st_sys(cta, ping->peer, value, release);
        fo_poll(cta, ping->mine, 8, FO_GE, i, acquire);
        if (!ping->first)
            fo_st_sys(cta, ping->peer, value, release);
        if (ping->first && ping->bytes)
            fo_sync(cta);
    }
    fo_wait(cta);
    ping->marks[ping->first ? 1 : 3] = fo_time_ps(cta);
}

static gboolean ping_run(BenchWorld *world, guint64 bytes, gboolean ordered, GError **error)
{
    guint32 a, b, rounds = bytes > 65536 ? 12 : PINGPONG_ROUNDS;
    if (!bench_parse_pair(world, &a, &b, error))
        return FALSE;
    FoAddress flag_a = bench_flags(world, a, 4096), flag_b = bench_flags(world, b, 4096);
    PingArgs at_a = {.mine = flag_a,
                     .peer = flag_b,
                     .bytes = bytes,
                     .rounds = rounds,
                     .warm = 4,
                     .first = TRUE,
                     .ordered = ordered,
                     .marks = world->marks};
    PingArgs at_b = at_a;
    at_b.mine = flag_b;
    at_b.peer = flag_a;
    at_b.first = FALSE;
    if (bytes)
        at_a.dst = bench_memory(world, b, bytes, bytes);
    bench_launch(world, b, "", ping_program, &at_b, sizeof at_b, 1, world->request->threads, 0);
    bench_launch(world, a, "", ping_program, &at_a, sizeof at_a, 1, world->request->threads, 0);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_row(world, world->request->gpus, 0, rounds, world->marks[1] - world->marks[0], "ns");
    return TRUE;
}

static gboolean pingpong_run(BenchWorld *world, GError **error)
{
    gboolean ordered = strcmp(world->request->variant, "release_acquire") == 0;
    if (!ordered && strcmp(world->request->variant, "relaxed") != 0)
        return bench_refuse_variant(world, error);
    return ping_run(world, 0, ordered, error);
}

static gboolean message_run(BenchWorld *world, GError **error)
{
    if (strcmp(world->request->variant, "put_fence_flag") != 0)
        return bench_refuse_variant(world, error);
    return ping_run(world, world->bytes, FALSE, error);
}

const BenchTest bench_pingpong = {"flag_pingpong_rtt",
                                  "relaxed, release_acquire",
                                  "two GPUs answer each other's flag",
                                  {"flag_pingpong_rtt", "relaxed", "0>1", 1, 1, 8},
                                  pingpong_run,
                                  NULL,
                                  NULL};
const BenchTest bench_message = {"message_rtt",
                                 "put_fence_flag",
                                 "stores, a fence, a flag; the peer answers with a flag",
                                 {"message_rtt", "put_fence_flag", "0>1", 1, 1024, 65536},
                                 message_run,
                                 NULL,
                                 NULL};
