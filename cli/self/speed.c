/* The benches of the simulator itself: what runs, what it costs, and the table of it. */
#include "cli/self/speed.h"

#include <math.h>
#include <string.h>

#include "cli/self/cost.h"
#include "sim/param/whole.h"

#define LOSS_PERCENT 15

static const Column row_columns[] = {
    COLUMN_TEXT(bench, "bench", "what runs"),
    COLUMN_U64(what, "what", "", "endpoints, bytes, or events pending"),
    COLUMN_FIXED(Mpackets_per_s, "packets", "M/s", 2, "requests and what follows from each, in millions"),
    COLUMN_FIXED(Mhops_per_s, "hops", "M/s", 2, "packets that crossed a link, in millions"),
    COLUMN_FIXED(Mevents_per_s, "events", "M/s", 2, "of the calendar, in millions"),
    COLUMN_FIXED(events_per_packet, "events", "/packet", 2, ""),
    COLUMN_FIXED(events_per_hop, "events", "/hop", 2, ""),
    COLUMN_FIXED(hop_ns, "hop", "ns", 1, "CPU time"),
    COLUMN_FIXED(packet_bytes, "memory", "B/packet", 0, "taken while running, for each packet in flight at the peak"),
    COLUMN_FIXED(of_heap, "of heap", "", 3, "hops (or events) a second, over the heap's holds a second"),
    COLUMN_FIXED(of_wheel, "of wheel", "", 3, "the same over the bare wheel's"),
    COLUMN_FIXED(target, "target", "", 2, "of the ratio to the heap"),
    COLUMN_BOOL(met, "met", "the target"),
    COLUMN_END,
};

typedef struct {
    const Options *options;
    Report *report;
    Table *table;
    guint runs;
    char **record; /* lines to compare with; NULL: none */
    GString *worse;
} Speed;

/* ---- rows */

static void speed_compare(Speed *speed, const char *bench, guint64 what, double ratio)
{
    g_autofree char *key = g_strdup_printf("%s/%" G_GUINT64_FORMAT " ", bench, what);
    for (char **line = speed->record; line && *line; line++) {
        if (!g_str_has_prefix(*line, key))
            continue;
        double recorded = g_ascii_strtod(*line + strlen(key), NULL);
        if (ratio < recorded * (100 - LOSS_PERCENT) / 100)
            g_string_append_printf(speed->worse, "%s%s%.3f of the heap, recorded %.3f", speed->worse->len ? "; " : "",
                                   key, ratio, recorded);
    }
}

static void speed_fixed_over(Table *table, double value, double over)
{
    table_fixed(table, over > 0 ? value / over : NAN);
}

/* The median run's figures. ratio and of_wheel are medians of their own: yardsticks run beside each run. */
static void speed_add(Speed *speed, const char *bench, guint64 what, const SpeedCost *cost, double *heap, double *wheel,
                      double *cpu_s, guint runs, double target)
{
    Table *table = speed->table;
    double s = speed_median(cpu_s, runs), work = (double)(cost->hops ? cost->hops : cost->events);
    double ratio = speed_median(heap, runs);
    table_text(table, bench);
    table_u64(table, what);
    speed_fixed_over(table, (double)cost->packets / 1e6, cost->packets ? s : 0);
    speed_fixed_over(table, (double)cost->hops / 1e6, cost->hops ? s : 0);
    speed_fixed_over(table, (double)cost->events / 1e6, s);
    speed_fixed_over(table, (double)cost->events, (double)cost->packets);
    speed_fixed_over(table, (double)cost->events, (double)cost->hops);
    table_fixed(table, s / work * 1e9);
    speed_fixed_over(table, (double)cost->memory_bytes, (double)cost->peak_packets);
    table_fixed(table, ratio);
    table_fixed(table, speed_median(wheel, runs));
    table_fixed(table, target > 0 ? target : NAN);
    if (target > 0)
        table_bool(table, ratio >= target);
    else
        table_null(table);
    speed_compare(speed, bench, what, ratio);
}

static gboolean one_all_reduce(const Options *options, CollAlgo algo, guint64 bytes, SpeedCost *cost, GError **error)
{
    SpeedColl what = {.op = COLL_ALL_REDUCE, .algo = algo, .bytes = bytes};
    return speed_cost_coll(options, &what, cost, error);
}

static gboolean one_ring(const Options *options, guint64 bytes, SpeedCost *cost, GError **error)
{
    return one_all_reduce(options, COLL_RING, bytes, cost, error);
}

static gboolean one_nvls(const Options *options, guint64 bytes, SpeedCost *cost, GError **error)
{
    return one_all_reduce(options, COLL_NVLS, bytes, cost, error);
}

static gboolean one_engine(const Options *options, guint64 pending, SpeedCost *cost, GError **error)
{
    guint64 ours, heaps;
    (void)error;
    *cost = (SpeedCost){.events = SPEED_HOLDS,
                        .cpu_s = SPEED_HOLDS /
                                 speed_sim_holds_per_s((guint)pending, SPEED_HOLDS, options->calendar, &ours)};
    speed_heap_holds_per_s((guint)pending, SPEED_HOLDS, &heaps);
    g_assert(ours == heaps); /* both simulated the same */
    return TRUE;
}

/* Runs it in rounds, each beside the yardsticks: so many runs a round that they take as long as these, or one. */
static gboolean speed_row(Speed *speed, const char *bench, SpeedOne one, guint64 what, double target, GError **error)
{
    double heap[RUNS_MAX], wheel[RUNS_MAX], cpu_s[RUNS_MAX];
    guint pending = one == one_engine ? (guint)what : SPEED_PENDING;
    guint64 unused;
    SpeedCost cost;
    for (guint r = 0; r < speed->runs; r++) {
        double heap_per_s = speed_heap_holds_per_s(pending, SPEED_HOLDS, &unused), sum_s = 0;
        double wheel_per_s = speed_wheel_holds_per_s(pending, SPEED_HOLDS, &unused);
        guint runs = 0;
        for (; runs == 0 || sum_s < SPEED_ROUND_S; runs++) {
            if (!one(speed->options, what, &cost, error))
                return FALSE;
            sum_s += cost.cpu_s;
        }
        cpu_s[r] = sum_s / runs;
        double per_s = (double)(cost.hops ? cost.hops : cost.events) / cpu_s[r];
        heap[r] = per_s / heap_per_s;
        wheel[r] = per_s / wheel_per_s;
    }
    speed_add(speed, bench, what, &cost, heap, wheel, cpu_s, speed->runs, target);
    return TRUE;
}

static gboolean one_heap(const Options *options, guint64 pending, SpeedCost *cost, GError **error)
{
    guint64 unused;
    (void)options, (void)error;
    *cost = (SpeedCost){.cpu_s = SPEED_HOLDS / speed_heap_holds_per_s((guint)pending, SPEED_HOLDS, &unused)};
    return TRUE;
}

static gboolean one_wheel(const Options *options, guint64 pending, SpeedCost *cost, GError **error)
{
    guint64 unused;
    (void)options, (void)error;
    *cost = (SpeedCost){.cpu_s = SPEED_HOLDS / speed_wheel_holds_per_s((guint)pending, SPEED_HOLDS, &unused)};
    return TRUE;
}

/* Rows that are compared with each other, side by side with the yardsticks. */
static gboolean speed_grow(Speed *speed, const char *bench, SpeedOne one, guint64 least, guint64 by, guint n,
                           GError **error)
{
    enum { HEAP, WHEEL, ROWS };
    SpeedSide side[16] = {
        [HEAP] = {.one = one_heap, .what = SPEED_PENDING}, [WHEEL] = {.one = one_wheel, .what = SPEED_PENDING}};
    for (guint i = 0; i < n; i++, least *= by)
        side[ROWS + i] = (SpeedSide){.one = one, .what = least};
    if (!speed_sides(speed->options, side, ROWS + n, speed->runs * SPEED_ROUND_S, error))
        return FALSE;
    double heap_s = speed_side_s(&side[HEAP]) / SPEED_HOLDS, wheel_s = speed_side_s(&side[WHEEL]) / SPEED_HOLDS;
    for (const SpeedSide *row = side + ROWS; row < side + ROWS + n; row++) {
        double cpu_s = speed_side_s(row), hop_s = cpu_s / (double)row->cost.hops;
        double heap = heap_s / hop_s, wheel = wheel_s / hop_s;
        speed_add(speed, bench, row->what, &row->cost, &heap, &wheel, &cpu_s, 1, 0);
    }
    return TRUE;
}

static gboolean speed_growth(Speed *speed, GError **error)
{
    return speed_grow(speed, "uniform", speed_one_uniform, 2, 2, 8, error) &&
           speed_grow(speed, "nvls", one_nvls, 1 << 20, 4, 6, error);
}

static gboolean speed_bench(Speed *speed, const char *name, GError **error)
{
    if (strcmp(name, "engine") == 0)
        return speed_row(speed, name, one_engine, 100, 0, error) &&
               speed_row(speed, name, one_engine, 1000, 0, error) &&
               speed_row(speed, name, one_engine, SPEED_PENDING, 1 / 0.6, error);
    if (strcmp(name, "uniform") == 0)
        return speed_row(speed, name, speed_one_uniform, 8, 0.75, error) &&
               speed_row(speed, name, speed_one_uniform, 72, 0.75, error);
    if (strcmp(name, "ring") == 0)
        return speed_row(speed, name, one_ring, 16 << 20, 0, error);
    if (strcmp(name, "nvls") == 0)
        return speed_row(speed, name, one_nvls, 16 << 20, 0, error);
    return speed_growth(speed, error);
}

static gboolean speed_benches_run(Speed *speed, const char *name, GError **error)
{
    if (strcmp(name, "speed") != 0)
        return speed_bench(speed, name, error);
    for (const SpeedBench *bench = speed_benches; bench->name; bench++)
        if (bench->common && !speed_bench(speed, bench->name, error))
            return FALSE;
    return TRUE;
}

ExitCode speed_run(const Options *options, const char *name, guint runs, const char *record, GError **error)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    if (strcmp(name, "cores") == 0)
        return speed_cores(options, MIN(runs | 1, RUNS_MAX), error);
    if (strcmp(name, "targets") == 0)
        return speed_targets(options, MIN(runs | 1, RUNS_MAX), error);
    if (record && !whole_read(record, &text, NULL, error))
        return EXIT_USER;
    lines = text ? g_strsplit(text, "\n", 0) : NULL;
    Speed speed = {.options = options,
                   .runs = MIN(runs | 1, RUNS_MAX),
                   .record = lines,
                   .worse = g_string_new(NULL),
                   .report = report_new("bench", speed_find(name)->text)};
    options_describe(options, speed.report);
    report_add_u64(speed.report, "runs", speed.runs, "");
    speed.table = report_add_table(speed.report, "rows", "", row_columns, 0);
    report_add_chart(speed.report, speed.table, "cost of a hop", "what", "hop_ns", "bench", CHART_LINES | CHART_LOG_X);
    gboolean growth = strcmp(name, "growth") == 0;
    report_add_note(speed.report,
                    "CPU time of one core; %s; yardsticks: the hold model on a plain binary heap "
                    "and on a bare timing wheel, %u pending, run beside %s",
                    growth ? "means of runs that go on by turns of 0.1 s" : "medians", SPEED_PENDING,
                    growth ? "them" : "each run");
    ExitCode code = EXIT_USER;
    if (speed_benches_run(&speed, name, error)) {
        code = options_write(options, speed.report, error);
        if (code == EXIT_DONE && speed.worse->len) {
            code = EXIT_WRONG;
            g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "slower than recorded in %s by more than %d %%: %s", record,
                        LOSS_PERCENT, speed.worse->str);
        }
    }
    report_free(speed.report);
    g_string_free(speed.worse, TRUE);
    return code;
}
