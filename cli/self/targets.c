/* Every figure of the simulator's own speed that has a target, with the target beside it.
 *
 * Other simulators' figures are of another machine: each is divided by what that machine's binary heap holds a second,
 * as ours is by this machine's, run beside it. Sources: shared/reference/PEERS.md, 1 (packets/s) and 5b (the heap,
 * 10,000 pending, 58.3 ns). */
#include "cli/self/speed.h"

#include <math.h>
#include <sys/resource.h>

#include "cli/live/progress.h"
#include "cli/self/cost.h"
#include "cli/self/counted.h"
#include "cli/self/typed.h"

#define PEERS_HEAP_NS 58.3
#define MIB (1ull << 20)
#define GIB (1ull << 30)

static const Column row_columns[] = {
    COLUMN_TEXT(what, "what", "the figure"),
    COLUMN_FIXED(figure, "figure", "", 3, "here and now"),
    COLUMN_TEXT(unit, "unit", "of figure and target"),
    COLUMN_TEXT(bound, "bound", "at least, or at most"),
    COLUMN_FIXED(target, "target", "", 2, "of the figure"),
    COLUMN_BOOL(met, "met", "the target"),
    COLUMN_END,
};

typedef struct {
    const Options *options;
    Table *table;
    guint runs;
    GError **error;
} Targets;

static void targets_row(Targets *targets, const char *what, double figure, const char *unit, gboolean at_least,
                        double target)
{
    Table *table = targets->table;
    table_text(table, what);
    table_fixed(table, figure);
    table_text(table, unit);
    table_text(table, at_least ? "at least" : "at most");
    table_fixed(table, target);
    table_bool(table, at_least ? figure >= target : figure <= target);
}

static double targets_heap_per_s(void)
{
    guint64 unused;
    return speed_heap_holds_per_s(SPEED_PENDING, SPEED_HOLDS, &unused);
}

/* ---- uniform traffic */

/* Hops over the heap's holds, the median; *cost: of the last run, whose counts are those of all. */
static gboolean targets_uniform(Targets *targets, guint endpoints, double *hops, SpeedCost *cost)
{
    double of_heap[RUNS_MAX];
    for (guint r = 0; r < targets->runs; r++) {
        double heap_per_s = targets_heap_per_s();
        if (!speed_cost_uniform(targets->options, endpoints, SPEED_PACKETS, NULL, cost, targets->error))
            return FALSE;
        of_heap[r] = (double)cost->hops / cost->cpu_s / heap_per_s;
    }
    *hops = speed_median(of_heap, targets->runs);
    return TRUE;
}

static double targets_peer(double packets, double peer_Mpackets_per_s)
{
    return packets / (peer_Mpackets_per_s * 1e6 * PEERS_HEAP_NS * 1e-9);
}

static gboolean targets_of_packets(Targets *targets)
{
    double hops8, hops72;
    SpeedCost small, large;
    if (!targets_uniform(targets, 8, &hops8, &small) || !targets_uniform(targets, 72, &hops72, &large))
        return FALSE;
    double packets8 = hops8 * (double)small.packets / (double)small.hops;
    double packets72 = hops72 * (double)large.packets / (double)large.hops;
    targets_row(targets, "uniform, packets over htsim's, 8 endpoints", targets_peer(packets8, 2.287), "", TRUE, 1.9);
    targets_row(targets, "uniform, packets over htsim's, 72", targets_peer(packets72, 1.312), "", TRUE, 2.2);
    targets_row(targets, "uniform, packets over SST merlin's, 8", targets_peer(packets8, 0.583), "", TRUE, 6);
    targets_row(targets, "uniform, packets over SST merlin's, 72", targets_peer(packets72, 0.506), "", TRUE, 6);
    return TRUE;
}

/* ---- what people wait for, over what it took before the hot path was rebuilt */

/* before_Mholds: CPU time of the build before, in millions of holds of the heap on the machine where it was measured,
 * both by turns (the machine: see docs/performance.md). memory_MB: at most so much; 0: no target. */
static const struct {
    const char *what;
    SpeedColl coll;
    double before_Mholds, time, memory_MB;
} waits[] = {
    {"256 MiB NVLS without data", {.system = "dgx-h100", .algo = COLL_NVLS, .bytes = 256 * MIB}, 90.8, 1.45, 0},
    {"16 MiB NVLS without data, gb200-nvl72",
     {.system = "gb200-nvl72", .algo = COLL_NVLS, .bytes = 16 * MIB},
     46.5,
     1.35,
     0},
    {"1 MiB all_reduce by default (ring, LL)",
     {.system = "dgx-h100", .algo = COLL_AUTO, .bytes = MIB, .keep_bytes = TRUE},
     15.8,
     0.5,
     0},
    {"16 MiB NVLS with data",
     {.system = "dgx-h100", .algo = COLL_NVLS, .bytes = 16 * MIB, .keep_bytes = TRUE},
     39.1,
     0.4,
     0},
    {"16 MiB NVLS with data, gb200-nvl72",
     {.system = "gb200-nvl72", .algo = COLL_NVLS, .bytes = 16 * MIB, .keep_bytes = TRUE},
     486,
     0.4,
     1000},
    {"256 MiB NVLS with data",
     {.system = "dgx-h100", .algo = COLL_NVLS, .bytes = 256 * MIB, .keep_bytes = TRUE},
     681,
     0.4,
     2500},
};

/* All that a user waits for, building the system and verifying the result included. */
static gboolean targets_wait_coll(const Options *options, const SpeedColl *coll, SpeedCost *cost, GError **error)
{
    double start_s = speed_cpu_s();
    if (!speed_cost_coll(options, coll, cost, error))
        return FALSE;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    cost->cpu_s = speed_cpu_s() - start_s;
    cost->memory_bytes = (guint64)usage.ru_maxrss * 1024; /* at most, not at the end */
    return TRUE;
}

static gboolean targets_wait(const Options *options, guint64 which, SpeedCost *cost, GError **error)
{
    SpeedColl coll = waits[which].coll;
    coll.op = COLL_ALL_REDUCE;
    return targets_wait_coll(options, &coll, cost, error);
}

/* Each in a process of its own, so that its memory is its own. */
static gboolean targets_of_waits(Targets *targets)
{
    for (guint64 i = 0; i < G_N_ELEMENTS(waits); i++) {
        double heap_per_s = targets_heap_per_s();
        SpeedSide side = {.one = targets_wait, .what = i};
        if (!speed_sides(targets->options, &side, 1, 0, targets->error))
            return FALSE;
        g_autofree char *time = g_strdup_printf("%s: time over what it was", waits[i].what);
        g_autofree char *memory = g_strdup_printf("%s: memory", waits[i].what);
        double holds = speed_side_s(&side) * heap_per_s;
        targets_row(targets, time, holds / 1e6 / waits[i].before_Mholds, "", FALSE, waits[i].time);
        if (waits[i].memory_MB > 0)
            targets_row(targets, memory, (double)side.cost.memory_bytes / 1e6, "MB", FALSE, waits[i].memory_MB);
    }
    return TRUE;
}

/* ---- what bytes that move cost */

#define DATA_BYTES (4 * MIB)
#define DATA_GPUS 72

/* A SpeedOne. */
static gboolean targets_one_data(const Options *options, guint64 keep_bytes, SpeedCost *cost, GError **error)
{
    SpeedColl coll = {.system = "gb200-nvl72",
                      .op = COLL_ALL_REDUCE,
                      .algo = COLL_NVLS,
                      .bytes = DATA_BYTES,
                      .keep_bytes = keep_bytes != 0};
    return targets_wait_coll(options, &coll, cost, error);
}

/* The buffers: what each GPU sends, and what it receives. */
static gboolean targets_of_data(Targets *targets)
{
    SpeedSide side[] = {{.one = targets_one_data, .what = FALSE}, {.one = targets_one_data, .what = TRUE}};
    if (!speed_sides(targets->options, side, G_N_ELEMENTS(side), 0, targets->error))
        return FALSE;
    targets_row(targets, "4 MiB NVLS, gb200-nvl72: time with data over without",
                speed_side_s(&side[1]) / speed_side_s(&side[0]), "", FALSE, 2);
    targets_row(targets, "the same: memory over the buffers",
                (double)side[1].cost.memory_bytes / (2.0 * DATA_BYTES * DATA_GPUS), "", FALSE, 2);
    return TRUE;
}

/* ---- instructions */

static gboolean targets_of_instructions(Targets *targets)
{
    g_autoptr(GArray) rows = counted_rows(targets->options, targets->error);
    for (guint i = 0; rows && i < rows->len; i++) {
        const CountedRow *row = &g_array_index(rows, CountedRow, i);
        targets_row(targets, row->what, row->figure, "", FALSE, row->target);
    }
    return rows != NULL;
}

/* ---- what people type */

static gboolean targets_of_typed(Targets *targets)
{
    g_autoptr(GArray) rows = typed_rows(targets->runs, targets_heap_per_s, targets->error);
    for (guint i = 0; rows && i < rows->len; i++) {
        const TypedRow *row = &g_array_index(rows, TypedRow, i);
        g_autofree char *what = g_strdup_printf("%s: time over that of 9d1d89e", row->what);
        targets_row(targets, what, row->figure, "", FALSE, row->target);
    }
    return rows != NULL;
}

/* ---- large collectives */

static gboolean targets_of_collectives(Targets *targets)
{
    SpeedColl what = {.system = "dgx-h100", .op = COLL_ALL_REDUCE, .algo = COLL_NVLS, .bytes = GIB};
    SpeedCost exact, flow, automatic;
    if (!speed_cost_coll(targets->options, &what, &exact, targets->error))
        return FALSE;
    what.fidelity = COLL_FLOW;
    if (!speed_cost_coll(targets->options, &what, &flow, targets->error))
        return FALSE;
    what.fidelity = COLL_FIDELITY_AUTO;
    if (!speed_cost_coll(targets->options, &what, &automatic, targets->error))
        return FALSE;
    targets_row(targets, "1 GiB NVLS, every packet: memory", (double)exact.memory_bytes / 1e6, "MB", FALSE, 300);
    targets_row(targets, "1 GiB NVLS in flows: times faster", exact.cpu_s / flow.cpu_s, "", TRUE, 200);
    targets_row(targets, "1 GiB NVLS by --fidelity auto: times faster", exact.cpu_s / automatic.cpu_s, "", TRUE, 200);
    what = (SpeedColl){.system = "gb200-nvl72",
                       .op = COLL_ALL_REDUCE,
                       .algo = COLL_NVLS,
                       .bytes = 16 * GIB,
                       .fidelity = COLL_FIDELITY_AUTO};
    if (!speed_cost_coll(targets->options, &what, &flow, targets->error))
        return FALSE;
    targets_row(targets, "16 GiB NVLS in flows, gb200-nvl72", flow.cpu_s, "s", FALSE, 1);
    return TRUE;
}

/* ---- flows against packets */

static const struct {
    CollOp op;
    CollAlgo algo;
} flow_cases[] = {
    {COLL_ALL_REDUCE, COLL_NVLS},     {COLL_ALL_REDUCE, COLL_TWOSHOT},  {COLL_ALL_REDUCE, COLL_RING},
    {COLL_ALL_REDUCE, COLL_TREE},     {COLL_ALL_GATHER, COLL_NVLS},     {COLL_ALL_GATHER, COLL_PUSH},
    {COLL_ALL_GATHER, COLL_RING},     {COLL_REDUCE_SCATTER, COLL_NVLS}, {COLL_REDUCE_SCATTER, COLL_PULL},
    {COLL_REDUCE_SCATTER, COLL_RING}, {COLL_BROADCAST, COLL_NVLS},      {COLL_BROADCAST, COLL_RING},
    {COLL_ALL_TO_ALL, COLL_DIRECT},   {COLL_SENDRECV, COLL_DIRECT},
};
#define FLOW_CASES G_N_ELEMENTS(flow_cases)

/* The median and the largest of what so many are off, sorted in place. */
static void targets_off(Targets *targets, const char *median, const char *maximum, double *off, guint n)
{
    speed_sort(off, n);
    targets_row(targets, median, (off[(n - 1) / 2] + off[n / 2]) / 2, "%", FALSE, 1);
    targets_row(targets, maximum, off[n - 1], "%", FALSE, 4);
}

/* With 1 crossing at most in packets, auto makes flows of everything. */
static gboolean targets_of_flows(Targets *targets)
{
    static const CollFidelity fidelity[] = {COLL_FIDELITY_AUTO, COLL_FLOW};
    double off[G_N_ELEMENTS(fidelity)][FLOW_CASES];
    for (gsize i = 0; i < FLOW_CASES; i++) {
        SpeedColl what = {.system = "dgx-h100",
                          .op = flow_cases[i].op,
                          .algo = flow_cases[i].algo,
                          .bytes = 256 * MIB,
                          .ranks = 4,
                          .crossings = 1};
        SpeedCost packets, flows;
        if (!speed_cost_coll(targets->options, &what, &packets, targets->error))
            return FALSE;
        for (gsize f = 0; f < G_N_ELEMENTS(fidelity); f++) {
            what.fidelity = fidelity[f];
            if (!speed_cost_coll(targets->options, &what, &flows, targets->error))
                return FALSE;
            off[f][i] = fabs((double)flows.time_ps / (double)packets.time_ps - 1) * 100;
        }
    }
    targets_off(targets, "14 collectives of 256 MiB, --fidelity auto off packets: median", "the same: maximum", off[0],
                FLOW_CASES);
    targets_off(targets, "the same, flows alone: median", "the same: maximum", off[1], FLOW_CASES);
    return TRUE;
}

/* ---- two cores */

static gboolean targets_of_cores(Targets *targets)
{
    double ratio[RUNS_MAX];
    guint runs = MAX(targets->runs, 5); /* each of a second or two: one in a busy moment says little */
    for (guint r = 0; r < runs; r++) {
        SpeedCost cost[2];
        if (!speed_cores_pair(targets->options, "gb200-nvl72", cost, targets->error))
            return FALSE;
        ratio[r] = cost[0].wall_s / cost[1].wall_s;
    }
    targets_row(targets, "two cores over one, gb200-nvl72, wall time", speed_median(ratio, runs), "", TRUE,
                SPEED_CORES_TARGET);
    return TRUE;
}

/* ---- kernels */

#define KERNELS_TARGET 4

static gboolean targets_of_kernels(Targets *targets)
{
    static const struct {
        const char *loop, *what, *beside;
        double target;
    } loops[] = {{"copy", "kernels: a loop that copies 16 bytes a lane", "the same over the heap's holds", 50},
                 {"sum", "kernels: a loop that sums bf16 pairs", "the same over the heap's holds", 20}};
    for (gsize l = 0; l < G_N_ELEMENTS(loops); l++) {
        double figure[RUNS_MAX], of_heap[RUNS_MAX];
        for (guint r = 0; r < targets->runs; r++) {
            double heap_per_s = targets_heap_per_s();
            figure[r] = speed_kernel_Minstructions_per_s(loops[l].loop);
            of_heap[r] = figure[r] * 1e6 / heap_per_s;
        }
        targets_row(targets, loops[l].what, speed_median(figure, targets->runs), "M warp-instructions/s", TRUE,
                    loops[l].target);
        targets_row(targets, loops[l].beside, speed_median(of_heap, targets->runs), "", TRUE,
                    loops[l].target * 1e6 * PEERS_HEAP_NS * 1e-9);
    }
    return TRUE;
}

static gboolean targets_of_fabric_kernels(Targets *targets)
{
    double product = 1;
    guint n = 0;
    for (const SpeedKernel *kernel = speed_fabric_kernels; kernel->name; kernel++, n++) {
        double ratio[RUNS_MAX], figure;
        for (guint r = 0; r < targets->runs; r++) {
            double heap_per_s = targets_heap_per_s();
            if (!speed_fabric_kernel(targets->options, kernel, &figure, targets->error))
                return FALSE;
            ratio[r] = figure * 1e6 / heap_per_s / kernel->was;
        }
        double median = speed_median(ratio, targets->runs);
        product *= median;
        targets_row(targets, kernel->what, median, "", TRUE, KERNELS_TARGET);
    }
    targets_row(targets, "the geometric mean of these", pow(product, 1.0 / n), "", TRUE, KERNELS_TARGET);
    return TRUE;
}

ExitCode speed_targets(const Options *options, guint runs, GError **error)
{
    Report *report = report_new("bench", "figures with a target");
    options_describe(options, report);
    report_add_u64(report, "runs", runs, "");
    Targets targets = {.options = options,
                       .runs = runs,
                       .error = error,
                       .table = report_add_table(report, "rows", "", row_columns, 0)};
    report_add_note(report,
                    "CPU time, two cores wall time; medians of runs where it is short; yardsticks run beside; "
                    "other programs on this machine count, but not in rows of instructions, which valgrind counts "
                    "where there is one. 'over what it was': before the hot path was rebuilt, see "
                    "docs/performance.md");
    static const struct {
        const char *what;
        gboolean (*run)(Targets *targets);
    } parts[] = {{"what people wait for", targets_of_waits}, /* it forks: while this process's memory is fresh */
                 {"data", targets_of_data},                  /* so does it */
                 {"whole commands", targets_of_typed},
                 {"instructions, counted by valgrind", targets_of_instructions},
                 {"uniform traffic", targets_of_packets},
                 {"collectives of 1 and 16 GiB", targets_of_collectives},
                 {"flows against packets", targets_of_flows},
                 {"two cores", targets_of_cores},
                 {"kernels", targets_of_kernels},
                 {"kernels with the fabric", targets_of_fabric_kernels}};
    Progress *progress = progress_new(G_N_ELEMENTS(parts));
    gboolean good = TRUE;
    for (gsize p = 0; good && p < G_N_ELEMENTS(parts); p++) {
        progress_step(progress, "%s", parts[p].what);
        good = parts[p].run(&targets);
    }
    progress_free(progress);
    ExitCode code = good ? options_write(options, report, error) : EXIT_USER;
    report_free(report);
    return code;
}
