/* Loaded latency: dependent loads while another GPU streams to or from the same memory.
 *
 * Whether the chased lines are still in L2 follows from how much the stream moved since they were
 * touched last. The CUDA program walks the same lines in each run of its list of CTA counts, so that the
 * bytes between two touches are the rest of the previous run's and the beginning of this one's. */
#include <stdio.h>
#include <string.h>

#include "bench/world.h"
#include "sim/rng.h"

#define LOADED_LOADS 600u
#define LOADED_PROGRAM_LOADS 4064u /* of the program: the touches are that far apart */
#define LOADED_FOOTPRINT (256ull << 20)
#define LOADED_ITERATIONS 64u
/* A 64-bit remainder before each load. Source: docs/measurements/remainder.csv, 512 threads; a load waits for it, and
 * the next remainder for the load: 110 and 140 ns one after the other. */
#define LOADED_MODULO_PS 109700u

typedef struct {
    BenchWorld *world;
    FoAddress chase[2]; /* lines in L2, lines not in L2 */
    FoAddress stream;
    gboolean write;
    guint64 pause_ps;
    guint32 ctas, ctas_before;
    gboolean evicted; /* nothing of the previous run is left */
    guint64 l2_bytes;
    gboolean stop;
    const guint64 *requests; /* of the GPU that streams */
} Loaded;
typedef struct {
    Loaded *loaded;
} LoadedArgs;

static void loaded_stream(FoCta *cta, const void *args)
{
    Loaded *loaded = ((const LoadedArgs *)args)->loaded;
    guint64 n = LOADED_FOOTPRINT / 16, step = (guint64)fo_ctas(cta) * fo_threads(cta);
    guint64 id = (guint64)fo_cta(cta) * fo_threads(cta);
    LoopSpec loop = {.width = 16, .unroll = 1, .n_regs = 1, .step = step, .elements = LOADED_ITERATIONS * step};
    if (!loaded->write)
        bench_part(&loop, UOP_DELAY, 0, LOADED_MODULO_PS);
    LoopPart *part = bench_part(&loop, loaded->write ? UOP_STORE : UOP_LOAD, 0, 0);
    if (loaded->pause_ps) /* a load is under way meanwhile: nothing needs it yet */
        bench_part(&loop, UOP_DELAY, 0, loaded->pause_ps);
    if (!loaded->write)
        bench_part(&loop, UOP_ARITH, 0, 0);
    loop.first = id;
    for (guint64 at = 0; !loaded->stop; at = (at + LOADED_ITERATIONS * step) % n) {
        part->base = loaded->stream + at * 16;
        bench_loop(cta, &loop);
        fo_wait(cta);
    }
}

/* So far, whole lines each; the chase's own are too few to count. */
static guint64 loaded_moved(const Loaded *loaded) { return loaded->ctas ? *loaded->requests * LINE_BYTES : 0; }

/* Bytes that the stream moved since the program's load number i was made in the previous run. */
static gboolean loaded_in_l2(const Loaded *loaded, double rate, double i)
{
    double run_ps = LOADED_PROGRAM_LOADS * 1.0e6, share = i / LOADED_PROGRAM_LOADS;
    double before = loaded->ctas ? (double)loaded->ctas_before / loaded->ctas : 0;
    return !loaded->evicted && rate * run_ps * (share + before * (1 - share)) <= (double)loaded->l2_bytes;
}

static void loaded_chase(FoCta *cta, const void *args)
{
    Loaded *loaded = ((const LoadedArgs *)args)->loaded;
    guint64 *marks = loaded->world->marks;
    Rng rng;
    FoReg *value = fo_reg(cta, 8);
    rng_init(&rng, sim_seed(loaded->world->sim), "api/bench/loaded");
    fo_only(cta, 0, 1);
    fo_sleep_ps(cta, 20000000); /* the stream gets going */
    fo_wait(cta);
    for (guint32 i = 0; i <= LOADED_LOADS; i++) {
        if (i == 0) {
            marks[0] = fo_time_ps(cta);
            marks[2] = loaded_moved(loaded);
        }
        double rate = fo_time_ps(cta) > 0 ? (double)loaded_moved(loaded) / (double)fo_time_ps(cta) : 0;
        gboolean hit = loaded_in_l2(loaded, rate, (double)i * LOADED_PROGRAM_LOADS / LOADED_LOADS);
        fo_ld_sys(cta, value, loaded->chase[!hit] + rng_below(&rng, 32768) * LINE_BYTES, FO_RELAXED);
        guint64 got;
        fo_get(cta, value, 0, &got);
    }
    marks[1] = fo_time_ps(cta);
    marks[3] = loaded_moved(loaded);
    loaded->stop = TRUE;
}

static gboolean loaded_parse(BenchWorld *world, guint32 *chase, guint32 *stream, Loaded *loaded, GError **error)
{
    char op[8];
    int end = 0;
    guint32 pause = 0;
    const char *variant = world->request->variant;
    if (sscanf(variant, "chase%u>%u_bg_%7[a-z]_%u>%u_pause%u%n", &chase[0], &chase[1], op, &stream[0], &stream[1],
               &pause, &end) != 6 ||
        variant[end] != '\0' || (strcmp(op, "read") != 0 && strcmp(op, "write") != 0))
        return bench_refuse_variant(world, error);
    for (int i = 0; i < 2; i++)
        if (MAX(chase[i], stream[i]) >= world->fabric->spec.system.gpus)
            return bench_refuse_variant(world, error);
    loaded->write = strcmp(op, "write") == 0;
    loaded->pause_ps = (guint64)pause * 1000;
    return TRUE;
}

static gboolean loaded_run(BenchWorld *world, GError **error)
{
    static const guint32 counts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128};
    guint32 chase[2], stream[2], ctas = world->request->ctas;
    Loaded loaded = {.world = world, .ctas = ctas, .l2_bytes = world->fabric->spec.gpu.l2_bytes};
    if (!loaded_parse(world, chase, stream, &loaded, error))
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(counts) && counts[i] < ctas; i++)
        loaded.ctas_before = counts[i];
    loaded.requests = &world->fabric->gpu[stream[0]].requests;
    loaded.evicted = ctas == 0 || (ctas == 1 && loaded.pause_ps);
    for (int i = 0; i < 2; i++)
        loaded.chase[i] = bench_memory(world, chase[1], 4u << 20, i ? G_MAXUINT64 : 0);
    loaded.stream = bench_memory(world, stream[1], 2 * LOADED_FOOTPRINT, LOADED_FOOTPRINT);
    LoadedArgs args = {&loaded};
    if (ctas)
        bench_launch(world, stream[0], "", loaded_stream, &args, sizeof args, ctas, 512, 0);
    bench_launch(world, chase[0], "", loaded_chase, &args, sizeof args, 1, 1, 0);
    if (!bench_go(world, error))
        return FALSE;
    char gpus[16];
    g_snprintf(gpus, sizeof gpus, "%u>%u", chase[0], chase[1]);
    SimTime time_ps = world->marks[1] - world->marks[0];
    g_strlcpy(bench_add_row(world, gpus, 0, LOADED_LOADS + 1, time_ps, "ns")->test, "loaded_latency_ns", 32);
    g_snprintf(gpus, sizeof gpus, "%u>%u", stream[0], stream[1]);
    BenchRow *row = bench_add_row(world, gpus, MAX(world->marks[3] - world->marks[2], 1), 1, time_ps, "GB/s");
    g_strlcpy(row->test, "loaded_latency_bg", 32);
    return TRUE;
}

static const char *loaded_packets(const BenchRequest *request)
{
    (void)request;
    return "what is timed is how long single loads wait in queues that a stream fills, and flows have none";
}

#define LOADED_USUAL(name)                                                                                             \
    {                                                                                                                  \
        name, "chase0>1_bg_read_2>1_pause0", "0>1", 32, 512, 4u << 20                                                  \
    }
const BenchTest bench_loaded = {"loaded_latency_ns",
                                "chaseA>B_bg_{read,write}_C>D_pause{0,200,1000}",
                                "dependent loads while `ctas` CTAs stream",
                                LOADED_USUAL("loaded_latency_ns"),
                                loaded_run,
                                NULL,
                                loaded_packets};
const BenchTest bench_loaded_bg = {"loaded_latency_bg",
                                   "chaseA>B_bg_{read,write}_C>D_pause{0,200,1000}",
                                   "what the stream of the same runs gets",
                                   LOADED_USUAL("loaded_latency_bg"),
                                   loaded_run,
                                   NULL,
                                   loaded_packets};
