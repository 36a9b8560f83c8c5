/* fanout bench: micro-benchmarks of the fabric.
 *
 * Without a test it lists them. A test runs with its usual parameters unless others are given; several
 * sizes, CTA and thread counts may be given as lists, and every combination is run. */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/bench/answer.h"
#include "cli/live/live.h"
#include "cli/live/samples.h"
#include "cli/live/monitor/monitor.h"
#include "cli/hints.h"
#include "cli/options.h"
#include "cli/self/speed.h"
#include "cli/system.h"
#include "model/fabric/fault.h"
#include "sim/param/nearest.h"
#include "sim/param/size.h"

static const Column list_columns[] = {
    COLUMN_TEXT(test, "test", "what `fanout bench` takes"),
    COLUMN_TEXT(text, "what it does", "for people"),
    COLUMN_TEXT(variants, "variants", "for --variant"), /* last: some are long */
    COLUMN_END,
};

static const Column row_columns[] = {
    COLUMN_TEXT(test, "test", "name"),
    COLUMN_TEXT(variant, "variant", "of the test"),
    COLUMN_TEXT(gpus, "gpus", "who acts on whose memory, or how many"),
    COLUMN_U64(ctas, "ctas", "", "of the kernel"),
    COLUMN_U64(threads, "threads", "", "of a CTA"),
    COLUMN_U64(bytes, "bytes", "B", "size of the test"),
    {"value", "value", "", CELL_FIXED, 3, "the result"},
    COLUMN_TEXT(unit, "unit", "of the value"),
    COLUMN_FLAG(extrapolated, "extrapolated", "from three smaller sizes"),
    COLUMN_END,
};

typedef struct {
    char *variant, *gpus, *ctas, *threads, *bytes;
    gint64 crossings;
    char *record; /* of the simulator's own speed */
    gint runs;
    gboolean where, animate;
} BenchOwn;

static ExitCode bench_list(const Options *options, GError **error)
{
    Report *report = report_new("bench", "the micro-benchmarks");
    Table *table = report_add_table(report, "rows", "", list_columns, 0);
    for (const BenchTest *const *test = bench_tests; *test; test++) {
        table_text(table, (*test)->name);
        table_text(table, (*test)->text);
        table_text(table, (*test)->variants);
    }
    const SpeedBench *all = speed_find("speed");
    for (const SpeedBench *bench = all; bench->name; bench = bench == all ? speed_benches : bench + 1) {
        table_text(table, bench->name);
        table_text(table, bench->text);
        table_text(table, "");
    }
    ExitCode code = options_write(options, report, error);
    report_free(report);
    return code;
}

/* "1,4,16" into numbers; `usual` alone when there is no text. */
static GArray *bench_numbers(const char *what, const char *text, guint64 usual, guint64 max, gboolean size,
                             GError **error)
{
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_auto(GStrv) words = g_strsplit(text ? text : "", ",", 0);
    for (char **word = words; *word; word++) {
        guint64 value = 0;
        gboolean good = size ? size_parse(what, *word, &value, error)
                             : options_parse_u64(what, *word, 0, max, &value, error);
        if (!good) {
            if (strchr(*word, '.') || strchr(*word, '-') || strchr(*word, ':'))
                options_tell_more(*error, "; ",
                                  size ? "several are a list: 64K,256K,1M" : "several are a list: 1,4,16");
            g_array_free(numbers, TRUE);
            return NULL;
        }
        g_array_append_val(numbers, value);
    }
    if (numbers->len == 0)
        g_array_append_val(numbers, usual);
    return numbers;
}

/* What the faults of the only run have cost. */
static void bench_add_faults(const Fabric *fabric, void *report)
{
    g_autoptr(GArray) costs = fault_costs(fabric);
    fault_costs_report(costs, report);
    fault_costs_note_late(costs, sim_now_ps(fabric->sim), report);
}

/* A waveform is of one simulation, of packets. */
static gboolean bench_check_wave(const Options *options, const BenchSetup *setup, const GArray *all, GError **error)
{
    const guint n = all->len;
    if (options->vcd && n > 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--vcd: %u runs are %u simulations, and a waveform shows one: "
                    "give one of --bytes, --ctas and --threads",
                    n, n);
    else if (options->vcd && options->fidelity != COLL_PACKET)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--vcd: flows have no queues to show; write --fidelity packet");
    else if (options->vcd && bench_is_extrapolated(setup, &g_array_index(all, BenchRequest, 0)))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--vcd: so large a run is extrapolated from three smaller ones, "
                    "and a waveform shows one: give fewer --bytes, or more --crossings");
    else
        return TRUE;
    return FALSE;
}

static gboolean bench_check_grid(const BenchRequest *request, GError **error)
{
    if (request->threads > 1024 || request->ctas > 65535 || request->bytes >= 1ull << 40) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "%u CTAs x %u threads over %" G_GUINT64_FORMAT " bytes: at most 65535 x 1024 over less "
                    "than 1 TiB are possible",
                    request->ctas, request->threads, request->bytes);
        return FALSE;
    }
    return TRUE;
}

/* Every combination that was asked for, the grids checked before the first one runs. */
static GArray *bench_requests(const BenchSetup *setup, const BenchTest *test, const BenchOwn *own, char *gpus,
                              GError **error)
{
    BenchRequest request = bench_usual(test, setup->spec, gpus);
    request.variant = own->variant ? own->variant : request.variant;
    request.gpus = own->gpus ? own->gpus : request.gpus;
    g_autoptr(GArray) ctas = bench_numbers("--ctas", own->ctas, request.ctas, 65535, FALSE, error);
    g_autoptr(GArray) threads = ctas ? bench_numbers("--threads", own->threads, request.threads, 1024, FALSE, error)
                                     : NULL;
    g_autoptr(GArray) bytes = threads ? bench_numbers("--bytes", own->bytes, request.bytes, 0, TRUE, error) : NULL;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(BenchRequest));
    gboolean good = bytes != NULL;
    for (guint b = 0; good && b < bytes->len; b++)
        for (guint c = 0; good && c < ctas->len; c++)
            for (guint t = 0; good && t < threads->len; t++) {
                request.bytes = g_array_index(bytes, guint64, b);
                request.ctas = (guint32)g_array_index(ctas, guint64, c);
                request.threads = (guint32)g_array_index(threads, guint64, t);
                g_array_append_val(all, request);
                good = bench_check_grid(&request, error);
            }
    if (!good)
        g_array_free(all, TRUE);
    return good ? all : NULL;
}

static gboolean bench_add(Live *live, Table *table, const BenchSetup *setup, const BenchRequest *request,
                          BenchAnswer *answer, gboolean last, GError **error)
{
    g_autofree char *size = size_format(request->bytes);
    progress_step(live_progress(live), "%s %s %s, %u x %u", request->test, request->variant, size, request->ctas,
                  request->threads);
    GArray *rows = bench_run(setup, request, error);
    if (!rows)
        return FALSE;
    live_lock(live);
    for (guint r = 0; r < rows->len; r++) {
        const BenchRow *row = &g_array_index(rows, BenchRow, r);
        table_text(table, row->test);
        table_text(table, request->variant);
        table_text(table, row->gpus);
        table_u64(table, row->ctas);
        table_u64(table, request->threads);
        table_u64(table, request->bytes);
        table_fixed(table, bench_row_value(row));
        table_text(table, row->unit);
        table_bool(table, row->extrapolated);
        bench_answer_row(answer, request, row);
    }
    if (last)
        bench_answer_end(answer, request->test);
    live_unlock(live, 1);
    g_array_free(rows, TRUE);
    return TRUE;
}

static ExitCode bench_all(const Options *options, Report *report, const BenchSetup *setup, Samples *samples,
                          const GArray *all, GError **error)
{
    Table *table = report_add_table(report, "rows", "", row_columns, 0);
    guint width[] = {0, 0, 4, 5, 7, 10, 10, 5, 0};
    const BenchRequest *first = &g_array_index(all, BenchRequest, 0);
    GError *why = NULL;
    width[0] = (guint)strlen(first->test);
    width[1] = (guint)strlen(first->variant);
    Live *live = live_new(options, report, table, all->len, width);
    samples->live = live;
    samples_open_timeline(samples, options, FALSE, live, &why);
    BenchAnswer answer = {.report = report};
    for (guint i = 0; i < all->len && !why; i++)
        bench_add(live, table, setup, &g_array_index(all, BenchRequest, i), &answer, i + 1 == all->len, &why);
    bench_answer_clear(&answer);
    if (!why)
        return live_finish(live, error);
    live_abandon(live);
    gboolean stuck = g_error_matches(why, BENCH_ERROR, BENCH_ERROR_STUCK) ||
                     g_error_matches(why, COLL_ERROR, COLL_ERROR_STUCK);
    g_propagate_error(error, why);
    return stuck ? EXIT_WRONG : EXIT_USER;
}

/* "load_latency, dram_latency" of "latency"; NULL: no test has that word in its name. */
static char *bench_names_with(const GPtrArray *names, const char *word)
{
    GString *found = g_string_new(NULL);
    for (guint i = 0; i + 1 < names->len && strlen(word) > 2; i++)
        if (strstr(names->pdata[i], word))
            g_string_append_printf(found, "%s%s", found->len ? ", " : "", (const char *)names->pdata[i]);
    return g_string_free(found, found->len == 0);
}

static void bench_refuse_name(const char *name, GError **error)
{
    g_autofree char *meant = hints_not_a_verb(name);
    if (meant) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "no test '%s'; %s", name, meant);
        return;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const BenchTest *const *test = bench_tests; *test; test++)
        g_ptr_array_add(names, (gpointer)(*test)->name);
    for (const SpeedBench *bench = speed_benches; bench->name; bench++)
        g_ptr_array_add(names, (gpointer)bench->name);
    g_ptr_array_add(names, (gpointer) "speed");
    g_ptr_array_add(names, NULL);
    const char *near = nearest_name(name, (const char *const *)names->pdata);
    g_autofree char *having = near                             ? NULL
                              : strcmp(name, "bandwidth") == 0 ? bench_names_with(names, "_bw")
                                                               : bench_names_with(names, name);
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "no test '%s'%s%s%s 'fanout bench' lists them", name,
                near     ? "; did you mean '"
                : having ? "; did you mean "
                         : ";",
                near     ? near
                : having ? having
                         : "",
                near     ? "'?"
                : having ? "?"
                         : "");
}

/* What runs in packets though flows were asked for, each reason once. */
static void bench_add_packets(Report *report, const BenchSetup *setup, const GArray *all)
{
    g_autoptr(GPtrArray) said = g_ptr_array_new();
    for (guint i = 0; i < all->len; i++) {
        const BenchRequest *request = &g_array_index(all, BenchRequest, i);
        const char *why = bench_needs_packets(setup, request);
        if (why && !g_ptr_array_find_with_equal_func(said, why, g_str_equal, NULL)) {
            g_ptr_array_add(said, (gpointer)why);
            report_add_note(report, "%s %s runs in packets whatever --fidelity says: %s", request->test,
                            request->variant, why);
        }
    }
}

/* A measurement of Fanout's own speed, which has no simulated run to watch. */
static ExitCode bench_speed(Options *options, const char *name, const BenchOwn *own, GError **error)
{
    if (options->stats || options->vcd || options->perfetto || own->where || options->monitored) {
        const char *what = options->stats      ? "stats"
                           : options->vcd      ? "vcd"
                           : options->perfetto ? "perfetto"
                           : own->animate      ? "animate"
                           : own->where        ? "where"
                                               : "monitor";
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--%s: %s measures Fanout's own speed", what, name);
        return EXIT_USER;
    }
    if (options->fidelity == COLL_PACKET)
        return speed_run(options, name, (guint)own->runs, own->record, error);
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--fidelity: %s measures the speed of packets", name);
    return EXIT_USER;
}

static ExitCode bench_one(Options *options, const char *name, const BenchOwn *own, GError **error)
{
    System system;
    const BenchTest *test = bench_find(name);
    if (!test && speed_find(name))
        return bench_speed(options, name, own, error);
    if (!test) {
        bench_refuse_name(name, error);
        return EXIT_USER;
    }
    if (!system_load(&system, NULL, options, error))
        return EXIT_USER;
    BenchSetup setup = {.spec = &system.spec,
                        .seed = options->seed,
                        .calendar = options->calendar,
                        .engine = options->engine,
                        .crossings_max = (guint64)own->crossings,
                        .fidelity = options->fidelity};
    Samples samples;
    g_autofree char *title = g_strdup_printf("%s: %s", test->name, test->text);
    Report *report = report_new("bench", title);
    system_describe(&system, report);
    options_describe(options, report);
    g_autofree char *settings = own->crossings != BENCH_CROSSINGS
                                    ? g_strdup_printf("--crossings %" G_GINT64_FORMAT, own->crossings)
                                    : NULL;
    system_describe_run(&system, options, settings, report);
    char gpus[16];
    g_autoptr(GArray) all = bench_requests(&setup, test, own, gpus, error);
    guint64 most = 0;
    for (guint i = 0; all && i < all->len; i++)
        most = MAX(most, g_array_index(all, BenchRequest, i).bytes);
    samples_choose_engine(options, most);
    if (options->vcd)
        options->engine = SIM_ENGINE_REFERENCE;
    setup.engine = options->engine;
    gboolean lost = FALSE;
    setup.vcd_path = options->vcd;
    setup.vcd_lost = &lost;
    if (all && setup.fidelity == COLL_FLOW)
        bench_add_packets(report, &setup, all);
    if (all && all->len == 1) {
        setup.done = bench_add_faults;
        setup.done_user = report;
    }
    ExitCode code = EXIT_USER;
    if (all && samples_check(options, options->fidelity != COLL_PACKET, error) &&
        samples_check_timeline(options, options->fidelity != COLL_PACKET, error) &&
        bench_check_wave(options, &setup, all, error) &&
        samples_check_rows(options, own->where, own->animate, all->len, error) && monitor_open(options, error) &&
        samples_open(&samples, options, all->len <= SERIES_RUNS ? report : NULL, error)) {
        samples_watch(&samples, options, report, own->where, own->animate, all->len);
        samples.spec.points = samples.spec.points && options->fidelity == COLL_PACKET;
        setup.record = &samples.spec;
        code = samples_close(&samples, bench_all(options, report, &setup, &samples, all, error), error);
        code = lost && code == EXIT_DONE ? EXIT_USER : code;
    }
    report_free(report);
    system_clear(&system);
    return code;
}

static ExitCode bench_run_verb(int argc, char **argv, GError **error)
{
    BenchOwn own = {.crossings = BENCH_CROSSINGS, .runs = 5};
    const GOptionEntry entries[] = {
        {"variant", 0, 0, G_OPTION_ARG_STRING, &own.variant, "variant of the test", "NAME"},
        {"gpus", 'n', 0, G_OPTION_ARG_STRING, &own.gpus, "who acts on whose memory (0>1), or how many", "GPUS"},
        {"ctas", 0, 0, G_OPTION_ARG_STRING, &own.ctas, "CTAs of the kernel", "N[,N...]"},
        {"threads", 0, 0, G_OPTION_ARG_STRING, &own.threads, "threads of a CTA", "N[,N...]"},
        {"bytes", 'b', 0, G_OPTION_ARG_STRING, &own.bytes, "size of the test", "SIZE[,SIZE...]"},
        {"crossings", 0, 0, G_OPTION_ARG_INT64, &own.crossings,
         "beyond so many link crossings: three smaller sizes, extrapolated", "N"},
        {"where", 0, 0, G_OPTION_ARG_NONE, &own.where, SAMPLES_WHERE_TEXT, NULL},
        {"animate", 0, 0, G_OPTION_ARG_NONE, &own.animate, SAMPLES_ANIMATE_TEXT, NULL},
        {"runs", 0, 0, G_OPTION_ARG_INT, &own.runs,
         "engine to nvls: runs to take the median of (5); growth: 0.3 s of CPU time for each", "N"},
        {"record", 0, 0, G_OPTION_ARG_FILENAME, &own.record,
         "engine to growth: lines 'BENCH/WHAT RATIO': exit with 2 when a ratio to the heap lost 15 %", "FILE"},
        {.long_name = NULL}};
    Options options;
    ExitCode code;
    if (options_parse(&options, &verb_bench, entries, &argc, &argv, &code, error)) {
        code = EXIT_USER;
        own.where |= own.animate;
        if (own.crossings < 1 || own.runs < 1)
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--%s: at least 1", own.runs < 1 ? "runs" : "crossings");
        else if (options_check_args(&verb_bench, argc, argv, 0, 1, error) &&
                 (!own.where || samples_check_where(&options, error)))
            code = argc > 1 ? bench_one(&options, argv[1], &own, error) : bench_list(&options, error);
        monitor_close(&options);
        options_clear(&options);
    }
    g_free(own.variant);
    g_free(own.gpus);
    g_free(own.ctas);
    g_free(own.threads);
    g_free(own.bytes);
    g_free(own.record);
    return code;
}

const Verb verb_bench = {
    .name = "bench",
    .usage = "[TEST]",
    .text = "micro-benchmarks: latency, bandwidth, contention, multicast, own speed",
    .flags = VERB_FLOWS | VERB_STATS | VERB_TIMELINE | VERB_WAVEFORM | VERB_MONITOR,
    .run = bench_run_verb,
};
