/* fanout coll: collectives on a simulated system, in the columns of nccl-tests.
 *
 * Each row is a simulation of its own, so that a row's numbers do not depend on the rows before it. */
#include <string.h>

#include "cli/coll_args.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/system.h"
#include "coll/coll.h"
#include "model/fabric/usage.h"
#include "sim/param/size.h"
#include "traces/record/from_coll.h"

#define COLL_ROWS_MAX 4096

static const Column coll_columns[] = {
    COLUMN_TEXT(op, "op", "the collective"),
    COLUMN_U64(bytes, "size", "B", "total size, as nccl-tests counts it"),
    COLUMN_U64(count, "count", "elements", "elements in that size"),
    COLUMN_TEXT(type, "type", "element type"),
    COLUMN_TEXT(redop, "redop", "reduction, none for moves"),
    COLUMN_TEXT(algo, "algo", "which algorithm ran"),
    COLUMN_TEXT(proto, "proto", "which protocol"),
    COLUMN_U64(gpus, "gpus", "", "ranks"),
    COLUMN_U64(ctas, "ctas", "", "of each rank's kernel"),
    COLUMN_FIXED(time_us, "time", "us", 2, "from the launch to the end of the last rank"),
    COLUMN_FIXED(kernel_us, "kernel", "us", 2, "the same without launch and exit"),
    COLUMN_FIXED(algbw_GBps, "algbw", "GB/s", 2, "size / time"),
    COLUMN_FIXED(busbw_GBps, "busbw", "GB/s", 2, "algbw with nccl-tests' factor of the operation"),
    COLUMN_FIXED(up_pct, "up", "%", 1, "time in which the links to the switches carried flits, mean"),
    COLUMN_FIXED(down_pct, "down", "%", 1, "the same of the links from the switches"),
    COLUMN_BOOL(verified, "verified", "every byte of every rank's result is right; - not checked"),
    COLUMN_TEXT(fidelity, "fidelity", "packet: every packet; flow: rates; auto: rates of short runs in packets"),
    COLUMN_END,
};

/* ---- rows */

static void coll_add_row(Table *table, const CollSpec *spec, const CollResult *result, guint32 gpus,
                         const Usage usage[USAGE_DIRECTIONS])
{
    gboolean sums = spec->op == COLL_ALL_REDUCE || spec->op == COLL_REDUCE_SCATTER;
    table_text(table, coll_op_name(spec->op));
    table_u64(table, spec->bytes);
    table_u64(table, spec->bytes / numeric_type_bytes(spec->type));
    table_text(table, numeric_type_name(spec->type));
    table_text(table, sums ? numeric_op_name(spec->reduce) : "none");
    table_text(table, coll_algo_name(result->algo));
    table_text(table, coll_proto_name(result->proto));
    table_u64(table, gpus);
    table_u64(table, result->ctas);
    table_fixed(table, (double)result->time_ps / 1e6);
    table_fixed(table, (double)result->kernel_ps / 1e6);
    table_fixed(table, (double)result->algbw_MBps / 1e3);
    table_fixed(table, (double)result->busbw_MBps / 1e3);
    table_fixed(table, usage[USAGE_UP].mean_pct);
    table_fixed(table, usage[USAGE_DOWN].mean_pct);
    if (result->check == COLL_NOT_CHECKED)
        table_null(table);
    else
        table_bool(table, result->check == COLL_VERIFIED);
    table_text(table, coll_fidelity_name(result->fidelity));
}

typedef struct {
    const System *system;
    const Options *options;
    const CollPlan *plan;
    Report *report;
    Table *table;
    guint64 best_ps[COLL_ALGOS_MAX]; /* of the last size, by position in -a */
    CollAlgo took[COLL_ALGOS_MAX];
    gboolean alone;                  /* one row: operations and links are told in full */
    guint wrong;
    gboolean extrapolated, flows;    /* some row is */
    Trace *record;                   /* --record; NULL: none */
} CollRows;

static guint32 coll_gpus(const CollRows *rows)
{
    return rows->plan->gpus ? rows->plan->gpus : (guint32)rows->system->spec.system.gpus;
}

/* Whoever wants all bytes wants packets. */
static CollFidelity coll_wanted(const Options *options)
{
    if (options->fidelity == COLL_FIDELITY_AUTO && options->data == DATA_FULL)
        return COLL_PACKET;
    return options->fidelity;
}

static ExitCode coll_one_row(CollRows *rows, CollSpec *spec, guint a, GError **error)
{
    Run run;
    guint32 gpus = coll_gpus(rows);
    spec->fidelity = coll_wanted(rows->options);
    gboolean flows = coll_fidelity(gpus, spec) != COLL_PACKET;
    if (flows && rows->options->data == DATA_FULL) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--data full: flows move no bytes; write --fidelity packet, or leave --data away");
        return EXIT_USER;
    }
    if (flows && rows->options->cores > 1) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--cores: flows need no second core; write --fidelity packet, or leave --cores away");
        return EXIT_USER;
    }
    if (!run_open(&run, rows->system, rows->options, flows ? G_MAXUINT64 : spec->bytes * 2 * gpus, error))
        return EXIT_USER;
    ExitCode code = EXIT_USER;
    CollResult result = {0};
    GError *why = NULL;
    CollGroup *group = coll_group_new(run.fabric, NULL, gpus, &why);
    UsageMark *mark = usage_mark(run.fabric);
    if (group && coll_run(group, spec, &result, &why)) {
        Usage usage[USAGE_DIRECTIONS];
        for (guint d = 0; d < USAGE_DIRECTIONS; d++)
            usage[d] = usage_of(run.fabric, mark, (UsageDirection)d, NULL, 0);
        coll_add_row(rows->table, spec, &result, gpus, usage);
        rows->extrapolated |= result.fidelity == COLL_FIDELITY_AUTO;
        rows->flows |= result.fidelity == COLL_FLOW;
        if (rows->record)
            record_coll_add(rows->record, spec, &result);
        rows->best_ps[a] = result.time_ps;
        rows->took[a] = result.algo;
        if (rows->alone) {
            usage_add_operations(run.fabric, rows->report);
            usage_add_links(run.fabric, mark, rows->report);
            usage_add_switches(run.fabric, rows->report);
        }
        code = EXIT_DONE;
        if (result.check == COLL_WRONG) {
            rows->wrong++;
            report_add_note(rows->report, "%s, %" G_GUINT64_FORMAT " bytes: %s",
                            coll_algo_name(result.algo), spec->bytes, result.wrong);
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
    run_close(&run);
    return code;
}

static void coll_compare(CollRows *rows, guint64 bytes)
{
    guint best = 0;
    g_autofree char *size = size_format(bytes);
    for (guint a = 1; a < rows->plan->algos; a++)
        if (rows->best_ps[a] < rows->best_ps[best])
            best = a;
    for (guint a = 0; a < rows->plan->algos; a++)
        if (a != best)
            report_add_note(rows->report, "at %s %s is %.2f times as fast as %s", size,
                            coll_algo_name(rows->took[best]),
                            (double)rows->best_ps[a] / (double)rows->best_ps[best],
                            coll_algo_name(rows->took[a]));
}

static guint coll_count_rows(const CollPlan *plan)
{
    guint n = 0;
    for (guint64 bytes = plan->min; bytes <= plan->max && n < COLL_ROWS_MAX; bytes *= plan->factor) {
        n += plan->algos;
        if (bytes == 0)
            break;
    }
    return n;
}

static ExitCode coll_all_rows(CollRows *rows, GError **error)
{
    const CollPlan *plan = rows->plan;
    guint64 last = plan->min;
    guint n = 0;
    ExitCode code = EXIT_DONE;
    Progress *progress = progress_new(coll_count_rows(plan));
    rows->alone = plan->algos == 1 && (plan->min == 0 || plan->max / plan->factor < plan->min);
    for (guint64 bytes = plan->min; bytes <= plan->max && n < COLL_ROWS_MAX; bytes *= plan->factor) {
        last = bytes;
        for (guint a = 0; a < plan->algos && code == EXIT_DONE; a++, n++) {
            CollSpec spec = plan->spec;
            spec.bytes = bytes;
            spec.algo = plan->algo[a];
            g_autofree char *size = size_format(bytes);
            progress_step(progress, "%s %s, %s", coll_op_name(spec.op), size, coll_algo_name(spec.algo));
            code = coll_one_row(rows, &spec, a, error);
        }
        if (bytes == 0 || code != EXIT_DONE)
            break;
    }
    progress_free(progress);
    if (code != EXIT_DONE)
        return code;
    coll_compare(rows, last);
    if (rows->extrapolated)
        report_add_note(rows->report, "fidelity auto: beyond --crossings time is that of flows at the rates of short "
                        "runs in packets; --fidelity packet simulates every packet");
    if (rows->flows)
        report_add_note(rows->report, "fidelity flow: time is that of flows with max-min fair rates; how far off "
                        "they are: docs/flows.md. --fidelity packet simulates every packet");
    return rows->wrong ? EXIT_WRONG : EXIT_DONE;
}

static ExitCode coll_report(const System *system, const Options *options, const CollPlan *plan,
                            const char *record, GError **error)
{
    g_autofree char *title = g_strdup_printf("%s on %s", coll_op_name(plan->spec.op), system->name);
    Report *report = report_new("coll", title);
    CollRows rows = {.system = system, .options = options, .plan = plan, .report = report};
    options_describe(options, report);
    system_describe(system, report);
    rows.table = report_add_table(report, "rows", "", coll_columns, 0);
    report_add_chart(report, rows.table, "bus bandwidth", "bytes", "busbw_GBps", "algo",
                     CHART_LINES | CHART_LOG_X);
    if (record)
        rows.record = record_coll_new("coll", coll_gpus(&rows));
    ExitCode code = coll_all_rows(&rows, error);
    if (code == EXIT_DONE && record && !record_coll_save(rows.record, record, error))
        code = EXIT_USER;
    trace_free(rows.record);
    if (code == EXIT_DONE || (code == EXIT_WRONG && (!error || !*error))) {
        system_add_parameters(system, report, TABLE_NO_TEXT);
        ExitCode written = options_write(options, report, error);
        code = written != EXIT_DONE ? written : code;
    }
    report_free(report);
    return code;
}

static ExitCode coll_run_verb(int argc, char **argv, GError **error)
{
    CollWords words = {.gpus = COLL_NOT_GIVEN, .ctas = COLL_NOT_GIVEN, .threads = COLL_NOT_GIVEN, .iterations = 1,
                       .crossings = COLL_AUTO_CROSSINGS};
    const GOptionEntry own[] = {
        {"gpus", 'n', 0, G_OPTION_ARG_INT, &words.gpus, "ranks: GPUs 0 to N-1 (all)", "N"},
        {"minbytes", 'b', 0, G_OPTION_ARG_STRING, &words.min, "first size (1M)", "SIZE"},
        {"bytes", 0, 0, G_OPTION_ARG_STRING, &words.min, "the same as -b: one size, unless -e is given", "SIZE"},
        {"maxbytes", 'e', 0, G_OPTION_ARG_STRING, &words.max, "last size (the first)", "SIZE"},
        {"stepfactor", 'f', 0, G_OPTION_ARG_STRING, &words.factor, "from size to size (2)", "F"},
        {"algo", 'a', 0, G_OPTION_ARG_STRING, &words.algos,
         "ring, tree, oneshot, twoshot, nvls, nvls_oneshot, nvls_buffered, push, pull, direct, p2p, "
         "sym_ll, sym_llmc, sym_lsa, sym_mc, sym, sym_unicast, auto, best", "ALGO,..."},
        {"proto", 'p', 0, G_OPTION_ARG_STRING, &words.proto, "of ring and tree: simple, ll, ll128", "P"},
        {"datatype", 'd', 0, G_OPTION_ARG_STRING, &words.type, "element type (float)", "DTYPE"},
        {"op", 'o', 0, G_OPTION_ARG_STRING, &words.reduce, "sum, min, max, and, or, xor (sum)", "OP"},
        {"ctas", 0, 0, G_OPTION_ARG_INT, &words.ctas, "CTAs of a rank (the algorithm's own)", "N"},
        {"threads", 0, 0, G_OPTION_ARG_INT, &words.threads, "threads of a CTA (the algorithm's own)", "N"},
        {"root", 0, 0, G_OPTION_ARG_INT, &words.root, "root rank of broadcast (0)", "R"},
        {"crossings", 0, 0, G_OPTION_ARG_INT64, &words.crossings,
         "with --fidelity auto: beyond so many link crossings rows are flows (100000000)", "N"},
        {"warmup", 'w', 0, G_OPTION_ARG_INT, &words.warmup, "runs before the counted ones (0)", "N"},
        {"record", 0, 0, G_OPTION_ARG_FILENAME, &words.record,
         "write what ran as a trace: FILE.et (Chakra), .goal or .trace", "FILE"},
        {"iters", 0, 0, G_OPTION_ARG_INT, &words.iterations, "runs to take the mean of (1)", "N"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    CollPlan plan = {0};
    System system;
    if (options_parse(&options, &verb_coll, own, &argc, &argv, &code, error)) {
        code = EXIT_USER;
        if (options_check_args(&verb_coll, argc, argv, 1, 1, error) &&
            coll_args_parse(&plan, argv[1], &words, error) && system_load(&system, NULL, &options, error)) {
            code = coll_report(&system, &options, &plan, words.record, error);
            system_clear(&system);
        }
        options_clear(&options);
    }
    coll_args_clear(&words);
    return code;
}

const Verb verb_coll = {
    .name = "coll",
    .usage = "OP",
    .text = "run a collective: all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, sendrecv",
    .flags = VERB_FIDELITY | VERB_FLOWS | VERB_CORES,
    .run = coll_run_verb,
};
