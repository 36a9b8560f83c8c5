/* fanout validate: every row of reference CSV files, simulated and compared. */
#include <math.h>
#include <string.h>

#include "cli/live/live.h"
#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "cli/system.h"
#include "cli/validate/table.h"
#include "sim/param/whole.h"
#include "validate/error_model.h"
#include "validate/validate.h"

static const Column row_columns[] = {
    COLUMN_TEXT(file, "file", "that the row stands in"),
    COLUMN_U64(line, "line", "", "in the file"),
    COLUMN_TEXT(group, "group", "that it belongs to"),
    COLUMN_TEXT(name, "row", "what is simulated"),
    {"measured", "measured", "", CELL_FIXED, 3, "the reference"},
    {"simulated", "simulated", "", CELL_FIXED, 3, "ours"},
    COLUMN_TEXT(unit, "unit", "of both"),
    COLUMN_FIXED(error_pct, "error", "%", 2, "(simulated - measured) / measured"),
    COLUMN_FLAG(extrapolated, "extrapolated", "from smaller sizes"),
    COLUMN_FIXED(check_pct, "check", "%", 2, "how far the middle size is off the line"),
    COLUMN_TEXT(skipped, "skipped", "why it was not simulated"),
    COLUMN_TEXT(system, "system", "that it was simulated on"),
    COLUMN_TEXT(more, "more", "what the file's own columns say"),
    COLUMN_TEXT(half, "half", "of the rows: parameters may come from calibrate, judge says how good they are"),
    COLUMN_END,
};

#define MEASURED_PRESET "dgx-h200"

typedef struct {
    const Options *options;
    GPtrArray *rows; /* ValidateRow, as the files have them */
    GPtrArray *done; /* those that are simulated or skipped: they do not change any more */
    guint shown;     /* rows of the table: the first of all without a gap */
    Report *report;
    Table *table;
    Live *live;
    ValidateJournal *journal; /* or NULL */
    const char *errors;       /* file to write, or NULL */
    const char *half;         /* of the rows, or NULL */
    guint sample, of;         /* rows of each group and half at most, G_MAXINT: all; rows of the files */
} ValidateUser;

static ParamSet *validate_system(const char *preset, FabricSpec *spec, void *user, GError **error)
{
    const ValidateUser *with = user;
    System *system = g_new0(System, 1); /* lives as long as the worker */
    if (!system_load(system, with->options->system ? NULL : preset, with->options, error)) {
        g_free(system);
        return NULL;
    }
    *spec = system->spec;
    return system->params;
}

static void validate_add_row(const ValidateUser *with, const ValidateRow *row)
{
    Table *table = with->table;
    const char *system = with->options->system;
    table_text(table, row->file);
    table_u64(table, row->line);
    table_text(table, row->group);
    table_text(table, row->name);
    table_fixed(table, row->measured);
    table_fixed(table, row->simulated);
    table_text(table, row->unit);
    table_fixed(table, row->error_pct);
    table_bool(table, row->extrapolated);
    table_fixed(table, row->extrapolated ? row->check_pct : NAN);
    table_text(table, row->skipped);
    table_text(table, system ? system : row->preset ? row->preset : MEASURED_PRESET);
    table_text(table, row->more);
    table_text(table, validate_half_names[validate_half(row)]);
}

static gboolean validate_is_new(const ValidateUser *with, const ValidateRow *row)
{
    return (row->skipped || !isnan(row->simulated)) && !g_ptr_array_find(with->done, row, NULL);
}

static void validate_take_row(ValidateUser *with, ValidateRow *row)
{
    g_ptr_array_add(with->done, row);
    if (with->journal && !row->known)
        validate_journal_add(with->journal, row);
}

/* Rows appear in the order of the files, whichever worker was first. */
static void validate_progress(guint done, guint all, guint first, void *user)
{
    ValidateUser *with = user;
    guint before = with->done->len;
    (void)done;
    (void)all;
    live_lock(with->live);
    for (guint i = 0; i < with->rows->len; i++)
        if (validate_is_new(with, g_ptr_array_index(with->rows, i)))
            validate_take_row(with, g_ptr_array_index(with->rows, i));
    for (; with->shown < first; with->shown++)
        validate_add_row(with, g_ptr_array_index(with->rows, with->shown));
    guint more = with->done->len - before;
    live_unlock(with->live, more);
    for (guint i = 0; i < more; i++)
        progress_step(live_progress(with->live), "%s",
                      ((ValidateRow *)g_ptr_array_index(with->done, before + i))->name);
}

#define RECORD_SLACK_PCT 0.3

/* key: what a line begins with; NULL: the group's own name, else of each group. */
static gboolean validate_is_worse(const GPtrArray *groups, const char *const *key, const char *line, GString *worse)
{
    g_auto(GStrv) words = g_strsplit(line, " ", 3); /* name, median, p90 */
    if (g_strv_length(words) != 3)
        return FALSE;
    for (guint i = 0; i < groups->len; i++) {
        const ValidateSummary *group = g_ptr_array_index(groups, i);
        if (strcmp(key ? key[i] : group->name, words[0]) != 0 || isnan(group->median_abs_pct))
            continue;
        if (group->median_abs_pct <= g_ascii_strtod(words[1], NULL) + RECORD_SLACK_PCT &&
            group->p90_abs_pct <= g_ascii_strtod(words[2], NULL) + RECORD_SLACK_PCT)
            return FALSE;
        g_string_append_printf(worse, "%s%s: median %.2f %%, p90 %.2f %%; recorded %s and %s", worse->len ? "; " : "",
                               words[0], group->median_abs_pct, group->p90_abs_pct, words[1], words[2]);
        return TRUE;
    }
    return FALSE;
}

/* What a recorded line may name, and the errors of each. */
typedef struct {
    GPtrArray *groups; /* ValidateSummary */
    GPtrArray *keys;   /* by group; NULL: their own names */
} ValidateNamed;

static void validate_find_named(const GPtrArray *rows, ValidateNamed named[1 + VALIDATE_HALVES])
{
    named[0] = (ValidateNamed){validate_summarize(rows, VALIDATE_BY_GROUP), NULL};
    for (guint half = 0; half < VALIDATE_HALVES; half++) {
        GPtrArray *keys = g_ptr_array_new_with_free_func(g_free);
        for (const ValidateFidelity *group = validate_fidelity; group->key; group++)
            g_ptr_array_add(keys, g_strconcat(group->key, ".", validate_half_names[half], NULL));
        GPtrArray *some = validate_rows_of(rows, (ValidateHalf)half);
        named[1 + half] = (ValidateNamed){validate_summarize(some, VALIDATE_BY_FIDELITY), keys};
        g_ptr_array_free(some, TRUE);
    }
}

/* Compares with a file of lines "NAME MEDIAN P90", NAME a group or KEY.HALF of published rows ("hopper8.judge"); FALSE:
 * one is worse than recorded there. */
static gboolean validate_check_record(const GPtrArray *rows, const char *path, GError **error)
{
    g_autofree char *text = NULL;
    if (!whole_read(path, &text, NULL, error))
        return FALSE;
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    g_autoptr(GString) worse = g_string_new(NULL);
    ValidateNamed named[1 + VALIDATE_HALVES];
    gboolean good = TRUE;
    validate_find_named(rows, named);
    for (char **line = lines; *line; line++)
        for (guint i = 0; **line != '#' && i < G_N_ELEMENTS(named); i++) {
            const char *const *keys = named[i].keys ? (const char *const *)named[i].keys->pdata : NULL;
            good = !validate_is_worse(named[i].groups, keys, *line, worse) && good;
        }
    for (guint i = 0; i < G_N_ELEMENTS(named); i++) {
        g_ptr_array_free(named[i].groups, TRUE);
        g_clear_pointer(&named[i].keys, g_ptr_array_unref);
    }
    if (!good)
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "worse than recorded in %s: %s", path, worse->str);
    return good;
}

/* What is finished: rows behind a gap too, and the summaries of all of them. */
static void validate_end(void *user)
{
    ValidateUser *with = user;
    for (guint i = with->shown; i < with->rows->len; i++)
        if (g_ptr_array_find(with->done, g_ptr_array_index(with->rows, i), NULL))
            validate_add_row(with, g_ptr_array_index(with->rows, i));
    if (with->rows->len < with->of)
        report_add_note(with->report,
                        "%u of %u rows: those of --half, and of each group and half as many as --sample says, drawn by "
                        "the hash of their ids; what is said of a group is said of these",
                        with->rows->len, with->of);
    validate_table_add(with->report, with->done);
}

static void validate_widths(const GPtrArray *rows, guint width[])
{
    static const guint usual[] = {0, 4, 0, 0, 12, 12, 6, 8, 0, 0, 7, 0, 0, 0};
    memcpy(width, usual, sizeof usual);
    for (guint i = 0; i < rows->len; i++) {
        const ValidateRow *row = g_ptr_array_index(rows, i);
        width[0] = MAX(width[0], (guint)strlen(row->file));
        width[2] = MAX(width[2], (guint)strlen(row->group));
        width[3] = MAX(width[3], (guint)strlen(row->name));
    }
}

static void validate_describe(const Options *options, Report *report)
{
    g_autofree char *sets = options->sets ? g_strjoinv(" ", options->sets) : g_strdup("");
    g_autofree char *settings = g_strdup_printf("%s%s%s%s", options->config ? "--config " : "",
                                                options->config ? options->config : "",
                                                options->config && *sets ? " " : "", sets);
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, options->seed);
    options_describe(options, report);
    report_add_run(report, "settings", settings);
    report_add_run(report, "seed", seed);
}

static ExitCode validate_all(ValidateUser *with, const ValidateSetup *setup, const char *record, GError **error)
{
    guint width[G_N_ELEMENTS(row_columns)];
    Report *report = with->report = report_new("validate", "simulated against measured");
    validate_describe(with->options, report);
    with->table = report_add_table(report, "rows", "", row_columns, 0);
    report_add_chart(report, with->table, "parity by group: a point on the diagonal agrees", "measured", "simulated",
                     "group", CHART_LOG_X | CHART_LOG_Y | CHART_DIAGONAL);
    report_add_chart(report, with->table, "parity by unit", "measured", "simulated", "unit",
                     CHART_LOG_X | CHART_LOG_Y | CHART_DIAGONAL);
    with->done = g_ptr_array_new();
    validate_widths(with->rows, width);
    with->live = live_new(with->options, report, with->table, with->rows->len, width);
    live_on_end(with->live, validate_end, with);
    ExitCode code = EXIT_USER;
    if (validate_run(setup, with->rows, error)) {
        validate_progress(0, 0, with->rows->len, with); /* where all were skipped nothing was run */
        code = live_finish(with->live, error);
        if (code == EXIT_DONE && with->errors && !validate_errors_save(with->rows, with->errors, error))
            code = EXIT_USER;
        if (code == EXIT_DONE && record && !validate_check_record(with->rows, record, error))
            code = EXIT_WRONG;
    } else {
        live_abandon(with->live);
    }
    g_ptr_array_free(with->done, TRUE);
    report_free(report);
    return code;
}

static ExitCode validate_resumed(ValidateUser *with, const ValidateSetup *setup, const char *record, const char *resume,
                                 GError **error)
{
    g_autofree char *settings = validate_settings(with->options, setup);
    if (resume && !(with->journal = validate_journal_open(with->rows, resume, settings, error)))
        return EXIT_USER;
    ExitCode code = validate_all(with, setup, record, error);
    GError *written = NULL;
    if (!validate_journal_close(with->journal, &written)) {
        if (code == EXIT_DONE) {
            g_propagate_error(error, written);
            return EXIT_USER;
        }
        g_clear_error(&written);
    }
    return code;
}

/* Of the files' rows those that --half and --sample ask for. */
static gboolean validate_draw(ValidateUser *with, GError **error)
{
    guint half = 0;
    with->of = with->rows->len;
    while (with->half && half < VALIDATE_HALVES && strcmp(with->half, validate_half_names[half]) != 0)
        half++;
    if (half == VALIDATE_HALVES) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--half: '%s' is unknown; known are %s and %s", with->half,
                    validate_half_names[VALIDATE_CALIBRATE], validate_half_names[VALIDATE_JUDGE]);
        return FALSE;
    }
    if (with->half)
        validate_rows_keep(with->rows, (ValidateHalf)half);
    if (with->sample < G_MAXINT)
        validate_rows_sample(with->rows, with->sample);
    return TRUE;
}

static ExitCode validate_files(ValidateUser *with, const ValidateSetup *setup, const char *record, const char *resume,
                               char **files, GError **error)
{
    with->rows = validate_rows_new();
    gboolean good = !record || g_file_test(record, G_FILE_TEST_EXISTS);
    if (!good)
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "--record: there is no file '%s'", record);
    for (; good && *files; files++)
        good = validate_load(with->rows, *files, error);
    good = good && validate_draw(with, error);
    ExitCode code = good ? validate_resumed(with, setup, record, resume, error) : EXIT_USER;
    g_ptr_array_free(with->rows, TRUE);
    return code;
}

static ExitCode validate_run_verb(int argc, char **argv, GError **error)
{
    gint64 crossings = BENCH_CROSSINGS;
    gint jobs = (gint)g_get_num_processors(), sample = G_MAXINT;
    char *record = NULL, *resume = NULL, *errors = NULL, *half = NULL;
    const GOptionEntry own[] = {
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &jobs, "worker processes at a time", "N"},
        {"crossings", 0, 0, G_OPTION_ARG_INT64, &crossings,
         "beyond so many link crossings a row is extrapolated from smaller sizes", "N"},
        {"sample", 0, 0, G_OPTION_ARG_INT, &sample,
         "simulate so many rows of each group and half at most, drawn by the hash of their ids (default: all)", "N"},
        {"half", 0, 0, G_OPTION_ARG_STRING, &half, "simulate rows of this half alone: calibrate, or judge", "HALF"},
        {"record", 0, 0, G_OPTION_ARG_FILENAME, &record,
         "lines 'GROUP MEDIAN P90': exit with 2 when a group has become worse", "FILE"},
        {"errors", 0, 0, G_OPTION_ARG_FILENAME, &errors,
         "write what published rows measured and simulated, for fanout table --errors", "FILE"},
        {"resume", 0, 0, G_OPTION_ARG_FILENAME, &resume,
         "add each row's result to FILE as it is done, and leave out the rows whose results are there", "FILE"},
        {NULL}};
    Options options;
    ExitCode code;
    if (!options_parse(&options, &verb_validate, own, &argc, &argv, &code, error))
        return code;
    ValidateUser user = {.options = &options, .errors = errors, .half = half, .sample = (guint)sample};
    ValidateSetup setup = {.system = validate_system,
                           .user = &user,
                           .measured_preset = MEASURED_PRESET,
                           .seed = options.seed,
                           .calendar = options.calendar,
                           .engine = options.engine,
                           .crossings_max = (guint64)crossings,
                           .jobs = (guint)MAX(jobs, 1),
                           .progress = validate_progress,
                           .fidelity = options.fidelity};
    code = EXIT_USER;
    if (crossings < 1 || jobs < 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--jobs and --crossings: at least 1");
    else if (sample < 1)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--sample: %d; at least 1 row, or leave it out for all", sample);
    else if (options_check_args(&verb_validate, argc, argv, 1, G_MAXINT, error) && monitor_open(&options, error)) {
        setup.watch = monitor_page(options.monitor, 0);
        code = validate_files(&user, &setup, record, resume, argv + 1, error);
    }
    monitor_close(&options);
    options_clear(&options);
    g_free(record);
    g_free(resume);
    g_free(errors);
    g_free(half);
    return code;
}

const Verb verb_validate = {
    .name = "validate",
    .usage = "FILE.csv...",
    .text = "simulate every row of reference measurements and print the errors",
    .flags = VERB_FLOWS | VERB_MONITOR,
    .no_views = "its rows are many simulations, and each file shows one; bench runs a single row and writes them",
    .run = validate_run_verb,
};
