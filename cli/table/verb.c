/* fanout table: latency tables for planners of serving systems, each cell with how far off it may be.
 *
 * Cells are simulated as `fanout validate` simulates rows of measurements, so that errors there say something on
 * cells here; validate/error_model.h has the rule of which do. */
#include "config.h"

#include <math.h>

#include "cli/live/live.h"
#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "cli/system.h"
#include "cli/table/rows.h"
#include "cli/validate/table.h"

#define TABLE_COLUMNS_MAX 24
#define TABLE_CROSSINGS 1000000

typedef struct {
    const Options *options;
    const TableWords *words;
    const TablePlan *plan;
    GPtrArray *rows;   /* ValidateRow */
    gboolean *written; /* by row: its result is in the journal, if there is one */
    guint shown, done; /* rows of the table; results that have come */
    TableWriter *writer;
    Report *report;
    Table *table;
    Live *live;
    ValidateJournal *journal; /* or NULL */
} TableVerb;

static ParamSet *table_system(const char *preset, FabricSpec *spec, void *user, GError **error)
{
    const TableVerb *verb = user;
    System *system = g_new0(System, 1); /* lives as long as the worker */
    (void)preset;
    if (!system_load(system, NULL, verb->options, error)) {
        g_free(system);
        return NULL;
    }
    *spec = system->spec;
    return system->params;
}

/* A cell that cannot be simulated is no row: a planner would stumble over it. */
static void table_show(TableVerb *verb, const ValidateRow *row)
{
    if (row->skipped)
        report_add_note(verb->report, "no row for %s: %s", row->name, row->skipped);
    else
        table_writer_add(verb->writer, verb->table, row);
}

static gboolean table_has(const ValidateRow *row) { return row->skipped || !isnan(row->simulated); }

static void table_progress(guint done, guint all, guint first, void *user)
{
    TableVerb *verb = user;
    guint before = verb->done;
    const ValidateRow *last = NULL;
    (void)done;
    (void)all;
    live_lock(verb->live);
    for (guint i = 0; i < verb->rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(verb->rows, i);
        if (verb->written[i] || !table_has(row))
            continue;
        verb->written[i] = TRUE;
        verb->done++;
        last = row;
        if (verb->journal && !row->known)
            validate_journal_add(verb->journal, row);
    }
    for (; verb->shown < first; verb->shown++)
        table_show(verb, g_ptr_array_index(verb->rows, verb->shown));
    live_unlock(verb->live, verb->done - before);
    if (last)
        progress_step(live_progress(verb->live), "%s", last->name);
}

/* What is finished behind a gap, when the run ends early. */
static void table_end(void *user)
{
    TableVerb *verb = user;
    for (guint i = verb->shown; i < verb->rows->len; i++)
        if (verb->written[i])
            table_show(verb, g_ptr_array_index(verb->rows, i));
}

static void table_notes(const TableVerb *verb)
{
    report_add_note(verb->report, "time: as %s calls it, %s; kernels alone: fanout coll",
                    coll_library_names[verb->plan->library],
                    verb->plan->graph ? "in a CUDA graph" : "one call after the other from the host");
    report_add_note(
        verb->report,
        "time: as simulated (model), without the error that is expected from measured rows like this one "
        "(near; --neighbours off leaves it in); +-: nine of ten are not further off; -: no row is near, and "
        "the model stands alone (docs/planning.md)");
}

static ExitCode table_run(TableVerb *verb, const ValidateSetup *setup, const System *system, GError **error)
{
    guint width[TABLE_COLUMNS_MAX];
    g_autofree char *title = g_strdup_printf("calls of %s on %s", coll_library_names[verb->plan->library],
                                             system->name);
    Report *report = verb->report = report_new("table", title);
    options_describe(verb->options, report);
    system_describe(system, report);
    report_add_text(report, "program", coll_library_names[verb->plan->library]);
    if (verb->plan->nccl) {
        g_autofree char *nccl = coll_nccl_format(verb->plan->nccl);
        report_add_text(report, "nccl", nccl);
    }
    report_add_text(report, "timing", verb->plan->graph ? "graph" : "eager");
    system_describe_run(system, verb->options, NULL, report);
    verb->table = report_add_table(report, "rows", "", table_writer_columns(verb->writer), 0);
    table_writer_widths(verb->writer, verb->rows, width);
    verb->live = live_new(verb->options, report, verb->table, verb->rows->len, width);
    live_on_end(verb->live, table_end, verb);
    ExitCode code = EXIT_USER;
    if (validate_run(setup, verb->rows, error)) {
        table_progress(0, 0, verb->rows->len, verb);
        live_lock(verb->live);
        table_writer_answer(verb->writer, verb->rows, report);
        table_notes(verb);
        live_unlock(verb->live, 0);
        code = live_finish(verb->live, error);
    } else {
        live_abandon(verb->live);
    }
    for (guint i = 0; verb->options->format == REPORT_CSV && i < verb->rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(verb->rows, i);
        if (row->skipped)
            g_printerr("fanout table: no row for %s: %s\n", row->name, row->skipped);
    }
    report_free(report);
    return code;
}

static ExitCode table_resumed(TableVerb *verb, const ValidateSetup *setup, const System *system, GError **error)
{
    const char *resume = verb->words->resume;
    g_autofree char *settings = validate_settings(verb->options, setup);
    if (resume && !(verb->journal = validate_journal_open(verb->rows, resume, settings, error)))
        return EXIT_USER;
    ExitCode code = table_run(verb, setup, system, error);
    GError *written = NULL;
    if (validate_journal_close(verb->journal, &written))
        return code;
    if (code != EXIT_DONE) {
        g_clear_error(&written);
        return code;
    }
    g_propagate_error(error, written);
    return EXIT_USER;
}

/* Simulates what --measured has, and makes it neighbours. */
static gboolean table_add_measured(TableVerb *verb, ValidateSetup setup, const System *system, ValidateErrors *errors,
                                   GError **error)
{
    g_autoptr(GPtrArray) rows = validate_rows_new();
    setup.progress = NULL;
    if (!validate_load_planner(rows, verb->words->measured, system->name, error))
        return FALSE;
    g_printerr("fanout table: simulating %u measured rows of %s first\n", rows->len, verb->words->measured);
    if (!validate_run(&setup, rows, error))
        return FALSE;
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        if (row->skipped)
            g_printerr("fanout table: %s is no neighbour: %s\n", row->name, row->skipped);
    }
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        ValidateCell cell;
        if (row->skipped || !(row->simulated > 0) || !validate_cell_of(row, &cell))
            continue;
        cell.preset = TABLE_MEASURED;
        cell.arch = system->spec.sm.arch;
        validate_errors_put(errors, &cell, row->measured, row->simulated);
    }
    return TRUE;
}

static ExitCode table_of(const Options *options, const TableWords *words, const TablePlan *plan, const System *system,
                         GError **error)
{
    TableVerb verb = {.options = options, .words = words, .plan = plan};
    ValidateSetup setup = {.system = table_system,
                           .user = &verb,
                           .measured_preset = system->name,
                           .seed = options->seed,
                           .calendar = options->calendar,
                           .engine = options->engine,
                           .crossings_max = (guint64)words->crossings,
                           .jobs = (guint)words->jobs,
                           .watch = monitor_page(options->monitor, 0),
                           .progress = table_progress,
                           .fidelity = options->fidelity};
    ValidateErrors *errors = validate_errors_new(words->errors, error);
    ExitCode code = EXIT_USER;
    verb.rows = table_rows_new(plan, system);
    verb.written = g_new0(gboolean, verb.rows->len + 1);
    gboolean good = errors && (!words->measured || table_add_measured(&verb, setup, system, errors, error));
    verb.writer = good ? table_writer_new(plan, system, options, errors, error) : NULL;
    if (verb.writer && verb.rows->len == 0)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--sizes: none of them gives each rank 16 bytes; larger ones are "
                    "right");
    else if (verb.writer)
        code = table_resumed(&verb, &setup, system, error);
    if (verb.writer)
        table_writer_free(verb.writer);
    validate_errors_free(errors);
    g_free(verb.written);
    g_ptr_array_free(verb.rows, TRUE);
    return code;
}

static ExitCode table_run_verb(int argc, char **argv, GError **error)
{
    TableWords words = {.jobs = (gint)g_get_num_processors(), .crossings = TABLE_CROSSINGS};
    const GOptionEntry own[] = {
        {"ops", 0, 0, G_OPTION_ARG_STRING, &words.ops, "operations (all_reduce,all_gather,reduce_scatter,all_to_all)",
         "OP,..."},
        {"gpus", 'n', 0, G_OPTION_ARG_STRING, &words.gpus, "numbers of ranks; '...' goes on (2,4,... up to all)",
         "N,..."},
        {"sizes", 0, 0, G_OPTION_ARG_STRING, &words.sizes, "total sizes; '...' goes on (1K,8K,...,32M)", "SIZE,..."},
        {"datatype", 'd', 0, G_OPTION_ARG_STRING, &words.type, "element type (half)", "DTYPE"},
        {"program", 0, 0, G_OPTION_ARG_STRING, &words.program,
         "who calls: nccl, nccl-registered, nccl-sym, trtllm, vllm, sglang (nccl)", "PROGRAM"},
        {"nccl", 0, 0, G_OPTION_ARG_STRING, &words.nccl,
         "whose tables and choices: NCCL's of that version, 2.23 to 2.32 (the newest read, 2.30.7)", "VERSION"},
        {"timing", 0, 0, G_OPTION_ARG_STRING, &words.timing,
         "calls one by one (eager) or in a CUDA graph (graph; of frameworks always)", "TIMING"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &words.jobs, "worker processes at a time", "N"},
        {"crossings", 0, 0, G_OPTION_ARG_INT64, &words.crossings,
         "with --fidelity auto: beyond so many link crossings a cell is flows (1000000)", "N"},
        {"neighbours", 0, 0, G_OPTION_ARG_STRING, &words.neighbours,
         "correct cells by measured rows near them (on), or leave the model alone (off)", "WHICH"},
        {"errors", 0, 0, G_OPTION_ARG_FILENAME, &words.errors,
         "the measured rows, written by fanout validate --errors (those that come with Fanout)", "FILE"},
        {"measured", 0, 0, G_OPTION_ARG_FILENAME, &words.measured,
         "measured rows of this system, as planners' nccl_perf.txt: simulated first, they are neighbours, too", "FILE"},
        {"resume", 0, 0, G_OPTION_ARG_FILENAME, &words.resume,
         "add each cell's result to FILE as it is done, and leave out those whose results are there", "FILE"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (options_parse(&options, &verb_table, own, &argc, &argv, &code, error)) {
        System system;
        TablePlan plan = {0};
        code = EXIT_USER;
        if (words.crossings < 1 || words.jobs < 1)
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--jobs and --crossings: at least 1");
        else if (options_check_args(&verb_table, argc, argv, 0, 0, error) &&
                 system_load(&system, NULL, &options, error)) {
            if (table_args_parse(&plan, &words, &system.spec, error)) {
                if (monitor_open(&options, error))
                    code = table_of(&options, &words, &plan, &system, error);
                table_args_clear(&plan);
            }
            system_clear(&system);
        }
        monitor_close(&options);
        options_clear(&options);
    }
    table_words_clear(&words);
    return code;
}

const Verb verb_table = {
    .name = "table",
    .usage = "",
    .text = "latency tables for planners of serving systems, each cell with its uncertainty",
    .flags = VERB_FLOWS | VERB_FIDELITY | VERB_MONITOR,
    .no_views = "each of its cells is a simulation of its own; coll runs a single one and writes them",
    .run = table_run_verb,
};
