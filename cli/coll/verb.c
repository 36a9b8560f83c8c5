/* fanout coll: collectives on a simulated system, in the columns of nccl-tests. */
#include "cli/coll/rows.h"
#include "cli/coll/table.h"
#include "cli/coll/views.h"
#include "cli/hints.h"
#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "coll/coll.h"
#include "sim/param/size.h"
#include "sim/report/file.h"
#include "traces/format/write.h"

#define COLL_WHERE_BYTES (16u << 20) /* a page of rows up to this size says where the time went */
static void coll_add_notes(CollRows *rows)
{
    live_lock(rows->live);
    coll_auto_notes(rows->taken, rows->report);
    coll_late_notes(rows->late, rows->report);
    if (rows->plan->skipped)
        report_add_note(rows->report, "left out of -d all: %s", rows->plan->skipped);
    if (rows->extrapolated)
        report_add_note(rows->report, "fidelity auto: beyond --crossings time is that of flows at the rates of short "
                                      "runs in packets; --fidelity packet simulates every packet");
    if (rows->flows)
        report_add_note(rows->report, "fidelity flow: time is that of flows with max-min fair rates; how far off "
                                      "they are: docs/flows.md. --fidelity packet simulates every packet");
    if (rows->few_turns)
        report_add_note(rows->report,
                        "of a pipeline of 32 turns or more 16 ran, with what is left of one, whose counters these are; "
                        "each further turn takes what the last eight of them do");
    system_add_parameters(rows->system, rows->report, TABLE_NO_TEXT);
    live_unlock(rows->live, 0);
}

/* Kineto's traces have the times of operations, which a list of what ran has not. */
static gboolean coll_check_record(const char *record, GError **error)
{
    if (!write_check_name(record, error) || !file_check("--record", record, error))
        return FALSE;
    if (!g_str_has_suffix(record, ".json"))
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                "--record: %s: a trace of Kineto has times; write .et (Chakra), .goal or .trace, which fanout replay "
                "--record FILE.json gives times",
                record);
    return FALSE;
}

static gboolean coll_check_rows(CollRows *rows, const char *record, gboolean where, gboolean animate, guint *n,
                                guint64 *last, GError **error)
{
    CollPlan *plan = rows->plan;
    const Options *options = rows->options;
    const CollSpec first = coll_plan_spec(plan, options, rows->type, plan->min, plan->algo[0]);
    return (!record || coll_check_record(record, error)) &&
           coll_plan_check(plan, rows->system, options, coll_rows_gpus(rows), n, last, &rows->checked, error) &&
           (!options->stats || file_check("--stats", options->stats, error)) &&
           coll_views_check_wave(options, &first, coll_rows_gpus(rows), *n, error) &&
           samples_check_rows(options, where, animate, *n, error);
}

static ExitCode coll_report(const System *system, const Options *options, CollPlan *plan, const char *record,
                            gboolean where, gboolean animate, GError **error)
{
    guint n, width[COLL_COLUMNS];
    guint64 last = plan->min;
    g_autofree char *title = g_strdup_printf("%s on %s", coll_op_name(plan->spec.op), system->name);
    g_autofree char *settings = coll_args_settings(plan, options);
    CollRows rows = {.system = system, .options = options, .plan = plan};
    if (!coll_check_rows(&rows, record, where, animate, &n, &last, error)) {
        run_close(&rows.checked);
        return EXIT_USER;
    }
    hints_iterations(plan->gpus);
    rows.alone = n == 1;
    Report *report = rows.report = report_new("coll", title);
    options_describe(options, report);
    system_describe(system, report);
    system_describe_run(system, options, settings, report);
    rows.table = report_add_table(report, "rows", "", coll_table_columns, 0);
    report_add_chart(report, rows.table, "bus bandwidth", "bytes", "busbw_GBps", "algo", CHART_LINES | CHART_LOG_X);
    if (record)
        rows.record = record_coll_new("coll", coll_rows_gpus(&rows));
    rows.taken = coll_auto_new();
    rows.late = coll_late_new();
    rows.anchors = coll_anchors_new();
    rows.answer = coll_answer_new(plan, coll_rows_gpus(&rows));
    coll_table_widths(plan, width);
    rows.live = live_new(options, report, rows.table, n + (coll_rows_compare(&rows) ? 1 : 0), width);
    ExitCode code = EXIT_USER;
    if (samples_open(&rows.samples, options, n <= SERIES_RUNS ? report : NULL, error)) {
        rows.samples.live = rows.live;
        samples_watch(&rows.samples, options, report, where, animate, n);
        if (samples_open_timeline(&rows.samples, options, n == 1, rows.live, error))
            code = coll_rows_run(&rows, last, error);
    }
    gboolean whole = code == EXIT_DONE || (code == EXIT_WRONG && (!error || !*error));
    coll_add_notes(&rows);
    if (whole) {
        const gboolean saved = !record || record_coll_save(rows.record, record, error);
        ExitCode written = live_finish(rows.live, saved ? error : NULL);
        written = saved ? written : EXIT_USER;
        code = written != EXIT_DONE ? written : code;
    } else {
        live_abandon(rows.live);
    }
    run_close(&rows.checked);
    code = samples_close(&rows.samples, code, error);
    coll_auto_free(rows.taken);
    coll_late_free(rows.late);
    coll_anchors_free(rows.anchors);
    coll_answer_free(rows.answer);
    trace_free(rows.record);
    report_free(report);
    return rows.lost && code == EXIT_DONE ? EXIT_USER : code;
}

#define COLL_WHERE_TEXT                                                                                                \
    "take the time of every request apart: wires, credits, tags, memory, ...; in a page of up to 4 rows of up to 16M " \
    "it is there anyway"

static ExitCode coll_run_verb(int argc, char **argv, GError **error)
{
    CollWords words = {.gpus = COLL_NOT_GIVEN,
                       .ctas = COLL_NOT_GIVEN,
                       .threads = COLL_NOT_GIVEN,
                       .iterations = 1,
                       .crossings = COLL_AUTO_CROSSINGS};
    gboolean where = FALSE, animate = FALSE;
    const GOptionEntry own[] = {
        {"gpus", 'n', 0, G_OPTION_ARG_INT, &words.gpus, "ranks: GPUs 0 to N-1 (all)", "N"},
        {"minbytes", 'b', 0, G_OPTION_ARG_STRING, &words.min, "first size (1M)", "SIZE"},
        {"bytes", 0, 0, G_OPTION_ARG_STRING, &words.min, "the same as -b: one size, unless -e is given", "SIZE"},
        {"maxbytes", 'e', 0, G_OPTION_ARG_STRING, &words.max, "last size (the first)", "SIZE"},
        {"stepfactor", 'f', 0, G_OPTION_ARG_STRING, &words.factor, "from size to size (2)", "F"},
        {"algo", 'a', 0, G_OPTION_ARG_STRING, &words.algos,
         "ring, tree, oneshot, twoshot, nvls, nvls_oneshot, nvls_buffered, push, pull, direct, p2p, "
         "lamport, endpoint, pullred, sym_ll, sym_llmc, sym_lsa, sym_mc, sym, sym_unicast; auto (--program's choice), "
         "best, unicast (the fastest, and the fastest without multicast, of all)",
         "ALGO,..."},
        {"program", 0, 0, G_OPTION_ARG_STRING, &words.program,
         "whose choice auto is: nccl (its buffers), nccl-registered (the user's), nccl-sym (symmetric memory), trtllm, "
         "vllm, sglang (nccl)",
         "PROGRAM"},
        {"nccl", 0, 0, G_OPTION_ARG_STRING, &words.nccl,
         "whose tables and choices: NCCL's of that version, 2.23 to 2.32 (the newest read, 2.30.7)", "VERSION"},
        {"no-compare", 0, 0, G_OPTION_ARG_NONE, &words.no_compare,
         "with several ALGO: do not look for the fastest without multicast", NULL},
        {"what-if", 0, 0, G_OPTION_ARG_NONE, &words.what_if,
         "run the fastest row again with twice of what held it up, as text and pages do with short ones", NULL},
        {"no-what-if", 0, 0, G_OPTION_ARG_NONE, &words.no_what_if, "never do so", NULL},
        {"proto", 'p', 0, G_OPTION_ARG_STRING, &words.proto,
         "of ring, tree and p2p (all_to_all, sendrecv): simple, ll, ll128", "P"},
        {"datatype", 'd', 0, G_OPTION_ARG_STRING, &words.type,
         "element type (float); all: every one that the operation and the algorithms have", "DTYPE"},
        {"op", 'o', 0, G_OPTION_ARG_STRING, &words.reduce, "sum, prod, min, max, avg, and, or, xor (sum)", "OP"},
        {"ctas", 0, 0, G_OPTION_ARG_INT, &words.ctas, "CTAs of a rank (the algorithm's own)", "N"},
        {"threads", 0, 0, G_OPTION_ARG_INT, &words.threads, "threads of a CTA (the algorithm's own)", "N"},
        {"root", 0, 0, G_OPTION_ARG_INT, &words.root, "root rank of broadcast, reduce, gather, scatter (0)", "R"},
        {"crossings", 0, 0, G_OPTION_ARG_INT64, &words.crossings,
         "with --fidelity auto: beyond so many link crossings rows are flows (100000000)", "N"},
        {"warmup", 'w', 0, G_OPTION_ARG_INT, &words.warmup, "runs before the counted ones (0)", "N"},
        {"record", 0, 0, G_OPTION_ARG_FILENAME, &words.record,
         "write what ran as a trace: FILE.et (Chakra), .goal or .trace", "FILE"},
        {"where", 0, 0, G_OPTION_ARG_NONE, &where, COLL_WHERE_TEXT, NULL},
        {"animate", 0, 0, G_OPTION_ARG_NONE, &animate, SAMPLES_ANIMATE_TEXT, NULL},
        {"iters", 0, 0, G_OPTION_ARG_INT, &words.iterations, "runs to take the mean of (1)", "N"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    CollPlan plan = {0};
    System system;
    if (options_parse(&options, &verb_coll, own, &argc, &argv, &code, error)) {
        code = EXIT_USER;
        options.has_own_file = words.record != NULL;
        if (options_check_args(&verb_coll, argc, argv, 1, 1, error) && coll_args_parse(&plan, argv[1], &words, error) &&
            system_load(&system, NULL, &options, error)) {
            gboolean small = options.html && options.cores <= 1 && options.fidelity != COLL_FLOW &&
                             plan.max <= COLL_WHERE_BYTES && samples_check_where(&options, NULL);
            samples_choose_engine(&options, plan.max);
            where |= animate;
            if ((small || !where || samples_check_where(&options, error)) && monitor_open(&options, error))
                code = coll_report(&system, &options, &plan, words.record, small || where, animate, error);
            system_clear(&system);
        }
        g_free(plan.skipped);
        monitor_close(&options);
        options_clear(&options);
    }
    coll_args_clear(&words);
    return code;
}

const Verb verb_coll = {
    .name = "coll",
    .usage = "OP",
    .text = "run a collective: all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, sendrecv, "
            "reduce, gather, scatter",
    .flags = VERB_FIDELITY | VERB_FLOWS | VERB_CORES | VERB_STATS | VERB_WAVEFORM | VERB_TIMELINE | VERB_MONITOR,
    .run = coll_run_verb,
};
