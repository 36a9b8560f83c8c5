/* fanout coll: collectives on a simulated system, in the columns of nccl-tests.
 *
 * Each row is a simulation of its own, so that a row's numbers do not depend on the rows before it. */
#include <string.h>

#include "cli/coll/answer.h"
#include "cli/coll/args.h"
#include "cli/coll/auto.h"
#include "cli/coll/plan.h"
#include "cli/coll/table.h"
#include "cli/coll/views.h"
#include "cli/hints.h"
#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "cli/live/live.h"
#include "cli/run.h"
#include "cli/live/samples.h"
#include "cli/system.h"
#include "coll/coll.h"
#include "sim/param/size.h"
#include "sim/report/file.h"
#include "traces/record/from_coll.h"

#define COLL_WHERE_BYTES (16u << 20) /* a page of rows up to this size says where the time went */

typedef struct {
    const System *system;
    const Options *options;
    const CollPlan *plan;
    Report *report;
    Table *table;
    Live *live;
    CollResult last[COLL_ALGOS_MAX]; /* of the last size, by position in -a */
    guint type;                      /* of the plan's, under way */
    gboolean alone;                  /* one row: operations and links are told in full */
    guint wrong;
    gboolean extrapolated, flows; /* some row is */
    gboolean lost;                /* the waveform could not be written, which has been said */
    Trace *record;                /* --record; NULL: none */
    Samples samples;
    CollAuto *taken;      /* what auto stood for */
    CollAnchors *anchors; /* of one size for the next */
    CollAnswer *answer;
} CollRows;

static guint32 coll_gpus(const CollRows *rows)
{
    return rows->plan->gpus ? rows->plan->gpus : (guint32)rows->system->spec.system.gpus;
}

static void coll_on_candidate(const char *algo, const char *proto, guint index, guint all, void *user)
{
    progress_note(live_progress(user), "%s %s, %u of %u", algo, proto, index, all);
}

static CollSpec coll_spec_of(const CollRows *rows, guint64 bytes, CollAlgo algo)
{
    return coll_plan_spec(rows->plan, rows->options, rows->type, bytes, algo);
}

/* What a simulation gave, and its counters. */
static void coll_take(CollRows *rows, Run *run, const UsageMark *mark, const CollSpec *spec, const CollResult *result)
{
    Usage usage[USAGE_DIRECTIONS];
    for (guint d = 0; d < USAGE_DIRECTIONS; d++)
        usage[d] = usage_of(run->fabric, mark, (UsageDirection)d, NULL, 0);
    coll_table_add(rows->table, spec, result, coll_gpus(rows), usage);
    coll_answer_add(rows->answer, run->fabric, spec, result, usage, &rows->samples);
    if (rows->alone)
        coll_answer_write(rows->answer, rows->report); /* before its row is printed */
    rows->extrapolated |= result->fidelity == COLL_FIDELITY_AUTO;
    rows->flows |= result->fidelity == COLL_FLOW;
    if (rows->record)
        record_coll_add(rows->record, spec, result);
    if (rows->alone) {
        usage_add_operations(run->fabric, rows->report);
        usage_add_links(run->fabric, mark, rows->report);
        usage_add_switches(run->fabric, rows->report);
        fault_add_table(run->fabric, rows->report);
    }
    if (run->fabric->n_faults) {
        const FabricFault *first = &g_array_index(run->fabric->faults, FabricFault, 0);
        rows->wrong++;
        report_add_note(rows->report,
                        "%s, %" G_GUINT64_FORMAT " bytes: %" G_GUINT64_FORMAT " requests ended with an error, at which "
                        "a program would end; the first, of gpu%u at %.3f us: %s",
                        coll_algo_name(result->algo), spec->bytes, run->fabric->n_faults, first->gpu,
                        (double)first->time_ps / PS_PER_US, fault_kind_text(first->kind));
    } else if (result->check == COLL_WRONG) {
        rows->wrong++;
        report_add_note(rows->report, "%s, %" G_GUINT64_FORMAT " bytes: %s", coll_algo_name(result->algo), spec->bytes,
                        result->wrong);
    }
}

/* `row`: what it gave becomes one; else it is the caller's alone. */
static ExitCode coll_simulate(CollRows *rows, const CollSpec *spec, gboolean row, CollResult *result, GError **error)
{
    Run run;
    guint32 gpus = coll_gpus(rows);
    gboolean flows = !row || coll_fidelity(gpus, spec) != COLL_PACKET;
    if (!run_open(&run, rows->system, rows->options, flows ? G_MAXUINT64 : spec->bytes * 2 * gpus, error))
        return EXIT_USER;
    ExitCode code = EXIT_USER;
    GError *why = NULL;
    CollGroup *group = coll_group_new(run.fabric, NULL, gpus, &why);
    UsageMark *mark = usage_mark(run.fabric);
    g_autofree char *size = size_format(spec->bytes);
    g_autofree char *name = g_strdup_printf("%s %s %s", coll_op_name(spec->op), size, coll_algo_name(spec->algo));
    Recording *recording = recording_new(run.fabric, row && !flows ? &rows->samples.spec : &rows->samples.watched,
                                         name);
    Recording *ending = recording;
    if (group) {
        coll_group_on_candidate(group, coll_on_candidate, rows->live);
        coll_group_watch(group, rows->samples.watched.watch);
        coll_group_share_anchors(group, rows->anchors);
    }
    if (group && coll_run(group, spec, result, &why)) {
        if (recording_end(g_steal_pointer(&ending), &why)) {
            live_lock(rows->live);
            if (row) {
                coll_take(rows, &run, mark, spec, result);
                coll_auto_add(rows->taken, group, spec, result);
                if (coll_group_left_out(group))
                    report_add_note(rows->report, "best, %s: without multicast, since %s", size,
                                    coll_group_left_out(group));
            }
            live_unlock(rows->live, 1);
            code = EXIT_DONE;
        }
        coll_group_free(group);
    } else if (g_error_matches(why, COLL_ERROR, COLL_ERROR_STUCK)) {
        code = EXIT_WRONG; /* what still runs is left to run_close */
    } else if (group) {
        coll_group_free(group);
    }
    if (why)
        g_propagate_error(error, why);
    usage_mark_free(mark);
    recording_cut(ending); /* of a run that got stuck */
    recording_end(ending, NULL);
    recording_free(recording);
    rows->lost |= !sim_trace_end(run.sim);
    run_close(&run);
    return code;
}

/* ---- how much faster */

static void coll_compare(CollRows *rows, guint64 bytes, const CollResult *base)
{
    live_lock(rows->live);
    coll_answer_compare(rows->plan, rows->last, bytes, base, rows->report);
    live_unlock(rows->live, 0);
}

static gboolean coll_wants_compare(const CollRows *rows)
{
    return rows->plan->compare && rows->plan->algos > 1 && rows->plan->types == 1;
}

static ExitCode coll_compare_size(CollRows *rows, guint64 bytes, GError **error)
{
    for (guint a = 0; a < rows->plan->algos; a++)
        if (rows->plan->algo[a] == COLL_UNICAST && rows->plan->spec.proto == COLL_PROTO_AUTO) {
            coll_compare(rows, bytes, &rows->last[a]);
            return EXIT_DONE;
        }
    CollSpec spec = coll_spec_of(rows, bytes, COLL_UNICAST);
    CollResult base;
    GError *why = NULL;
    spec.proto = COLL_PROTO_AUTO;
    spec.check = FALSE;
    progress_set_hint(live_progress(rows->live), "the rows are done, --no-compare leaves this out");
    progress_step(live_progress(rows->live), "the fastest without multicast");
    ExitCode code = coll_simulate(rows, &spec, FALSE, &base, &why);
    if (code == EXIT_DONE)
        coll_compare(rows, bytes, &base);
    if (g_error_matches(why, COLL_ERROR, COLL_ERROR_SPEC)) { /* all of them need it: nothing to compare with */
        g_clear_error(&why);
        code = EXIT_DONE;
    }
    if (why)
        g_propagate_error(error, why);
    return code;
}

/* ---- all of them */

static void coll_add_answer(CollRows *rows)
{
    live_lock(rows->live);
    coll_answer_write(rows->answer, rows->report);
    live_unlock(rows->live, 0);
}

static ExitCode coll_all_rows(CollRows *rows, guint64 last, GError **error)
{
    const CollPlan *plan = rows->plan;
    ExitCode code = EXIT_DONE;
    COLL_SIZES(plan, type, bytes)
    {
        rows->type = type;
        for (guint a = 0; a < plan->algos && code == EXIT_DONE; a++) {
            if (plan->skip[type][a])
                continue;
            CollSpec spec = coll_spec_of(rows, bytes, plan->algo[a]);
            g_autofree char *size = size_format(bytes);
            progress_step(live_progress(rows->live), "%s %s, %s", coll_op_name(spec.op), size,
                          coll_algo_name(spec.algo));
            code = coll_simulate(rows, &spec, TRUE, &rows->last[a], error);
        }
    }
    if (!rows->alone)
        coll_add_answer(rows);
    if (code == EXIT_DONE && coll_wants_compare(rows))
        code = coll_compare_size(rows, last, error);
    return code == EXIT_DONE && rows->wrong ? EXIT_WRONG : code;
}

static void coll_add_notes(CollRows *rows)
{
    live_lock(rows->live);
    coll_auto_notes(rows->taken, rows->report);
    if (rows->plan->skipped)
        report_add_note(rows->report, "left out of -d all: %s", rows->plan->skipped);
    if (rows->extrapolated)
        report_add_note(rows->report, "fidelity auto: beyond --crossings time is that of flows at the rates of short "
                                      "runs in packets; --fidelity packet simulates every packet");
    if (rows->flows)
        report_add_note(rows->report, "fidelity flow: time is that of flows with max-min fair rates; how far off "
                                      "they are: docs/flows.md. --fidelity packet simulates every packet");
    system_add_parameters(rows->system, rows->report, TABLE_NO_TEXT);
    live_unlock(rows->live, 0);
}

static ExitCode coll_report(const System *system, const Options *options, CollPlan *plan, const char *record,
                            gboolean where, gboolean animate, GError **error)
{
    guint n, width[COLL_COLUMNS];
    guint64 last = plan->min;
    g_autofree char *title = g_strdup_printf("%s on %s", coll_op_name(plan->spec.op), system->name);
    g_autofree char *settings = coll_args_settings(plan, options);
    CollRows rows = {.system = system, .options = options, .plan = plan};
    const CollSpec first = coll_spec_of(&rows, plan->min, plan->algo[0]);
    if ((record && !file_check("--record", record, error)) ||
        !coll_plan_check(plan, system, options, coll_gpus(&rows), &n, &last, error) ||
        (options->stats && !file_check("--stats", options->stats, error)) ||
        !coll_views_check_wave(options, &first, coll_gpus(&rows), n, error))
        return EXIT_USER;
    if (!samples_check_rows(options, where, animate, n, error))
        return EXIT_USER;
    hints_iterations(plan->gpus);
    rows.alone = n == 1;
    Report *report = rows.report = report_new("coll", title);
    options_describe(options, report);
    system_describe(system, report);
    system_describe_run(system, options, settings, report);
    rows.table = report_add_table(report, "rows", "", coll_table_columns, 0);
    report_add_chart(report, rows.table, "bus bandwidth", "bytes", "busbw_GBps", "algo", CHART_LINES | CHART_LOG_X);
    if (record)
        rows.record = record_coll_new("coll", coll_gpus(&rows));
    rows.taken = coll_auto_new();
    rows.anchors = coll_anchors_new();
    rows.answer = coll_answer_new(plan, coll_gpus(&rows));
    coll_table_widths(plan, width);
    rows.live = live_new(options, report, rows.table, n + (coll_wants_compare(&rows) ? 1 : 0), width);
    ExitCode code = EXIT_USER;
    if (samples_open(&rows.samples, options, n <= SERIES_RUNS ? report : NULL, error)) {
        rows.samples.live = rows.live;
        samples_watch(&rows.samples, options, report, where, animate, n);
        if (samples_open_timeline(&rows.samples, options, n == 1, rows.live, error))
            code = coll_all_rows(&rows, last, error);
    }
    gboolean whole = code == EXIT_DONE || (code == EXIT_WRONG && (!error || !*error));
    coll_add_notes(&rows);
    if (whole) {
        ExitCode written = live_finish(rows.live, error);
        if (written == EXIT_DONE && record && !record_coll_save(rows.record, record, error))
            written = EXIT_USER;
        code = written != EXIT_DONE ? written : code;
    } else {
        live_abandon(rows.live);
    }
    code = samples_close(&rows.samples, code, error);
    coll_auto_free(rows.taken);
    coll_anchors_free(rows.anchors);
    coll_answer_free(rows.answer);
    trace_free(rows.record);
    report_free(report);
    return rows.lost && code == EXIT_DONE ? EXIT_USER : code;
}

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
        {"where", 0, 0, G_OPTION_ARG_NONE, &where,
         "take the time of every request apart: wires, credits, tags, memory, ...; in a page of up to 4 rows of up to "
         "16M it is there anyway",
         NULL},
        {"animate", 0, 0, G_OPTION_ARG_NONE, &animate, SAMPLES_ANIMATE_TEXT, NULL},
        {"iters", 0, 0, G_OPTION_ARG_INT, &words.iterations, "runs to take the mean of (1)", "N"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    CollPlan plan = {0};
    System system;
    if (options_parse(&options, &verb_coll, own, &argc, &argv, &code, error)) {
        code = EXIT_USER;
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
