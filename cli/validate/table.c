/* See validate_table.h. */
#include "config.h"

#include "cli/validate/table.h"
#include "sim/param/whole.h"
#include "validate/error_model.h"

#include <math.h>

static const Column summary_columns[] = {
    COLUMN_TEXT(name, "name", "of the file or group"),
    COLUMN_U64(rows, "rows", "", "in it"),
    COLUMN_U64(skipped, "skipped", "", "of them not simulated"),
    COLUMN_FIXED(median_abs_pct, "median", "%", 2, "of the absolute errors"),
    COLUMN_FIXED(p90_abs_pct, "p90", "%", 2, "of the absolute errors"),
    COLUMN_FIXED(max_abs_pct, "max", "%", 2, "of the absolute errors"),
    COLUMN_FIXED(mean_pct, "mean", "%", 2, "of the signed errors"),
    COLUMN_END,
};

static const Column target_columns[] = {
    COLUMN_TEXT(name, "groups", "that one target is for"),
    COLUMN_U64(rows, "rows", "", "in them"),
    COLUMN_U64(skipped, "skipped", "", "of them not simulated"),
    COLUMN_FIXED(median_abs_pct, "median", "%", 2, "reached"),
    COLUMN_FIXED(median_target_pct, "target", "%", 0, "aimed at"),
    COLUMN_FIXED(p90_abs_pct, "p90", "%", 2, "reached"),
    COLUMN_FIXED(p90_target_pct, "target", "%", 0, "aimed at"),
    COLUMN_BOOL(met, "met", "both targets"),
    COLUMN_END,
};

static const Column fidelity_columns[] = {
    COLUMN_TEXT(name, "published rows", "by machine, GPUs, size and timing"),
    COLUMN_TEXT(half, "half", "parameters may come from calibrate; judge says how good they are"),
    COLUMN_U64(rows, "rows", "", "in it"),
    COLUMN_U64(skipped, "skipped", "", "of them not simulated"),
    COLUMN_FIXED(median_abs_pct, "median", "%", 2, "of the absolute errors"),
    COLUMN_FIXED(median_target_pct, "target", "%", 0, "aimed at"),
    COLUMN_FIXED(p90_abs_pct, "p90", "%", 2, "of the absolute errors"),
    COLUMN_FIXED(p90_target_pct, "target", "%", 0, "aimed at"),
    COLUMN_FIXED(max_abs_pct, "max", "%", 2, "of the absolute errors"),
    COLUMN_FIXED(max_target_pct, "target", "%", 0, "aimed at"),
    COLUMN_FIXED(mean_pct, "mean", "%", 2, "of the signed errors; below 0: simulated too fast"),
    COLUMN_BOOL(met, "met", "all targets"),
    COLUMN_U64(near_rows, "near", "rows", "that have neighbours in the other half"),
    COLUMN_FIXED(near_median_pct, "median", "%", 2, "of these, when their neighbours' errors are taken out"),
    COLUMN_FIXED(near_p90_pct, "p90", "%", 2, "of these, when their neighbours' errors are taken out"),
    COLUMN_END,
};

static void table_add_summary(Report *report, const GPtrArray *rows, ValidateBy by, const char *key, const char *title,
                              TableFlags flags)
{
    GPtrArray *all = validate_summarize(rows, by);
    Table *table = report_add_table(report, key, title, summary_columns, flags);
    for (guint i = 0; i < all->len; i++) {
        const ValidateSummary *summary = g_ptr_array_index(all, i);
        table_text(table, summary->name);
        table_u64(table, summary->rows);
        table_u64(table, summary->skipped);
        table_fixed(table, summary->median_abs_pct);
        table_fixed(table, summary->p90_abs_pct);
        table_fixed(table, summary->max_abs_pct);
        table_fixed(table, summary->mean_pct);
    }
    g_ptr_array_free(all, TRUE);
}

/* What was reached, and what was aimed at: null where nothing was. */
static void table_add_reached(Table *table, double reached_pct, double target_pct)
{
    table_fixed(table, reached_pct);
    table_fixed(table, target_pct > 0 ? target_pct : NAN);
}

static void table_add_targets(Report *report, const GPtrArray *rows)
{
    GPtrArray *all = validate_summarize(rows, VALIDATE_BY_TARGET);
    Table *table = report_add_table(report, "targets", "targets and figures reached", target_columns, 0);
    for (guint i = 0; i < all->len; i++) {
        const ValidateSummary *summary = g_ptr_array_index(all, i);
        const ValidateTarget *target = &validate_targets[i];
        if (summary->rows == 0)
            continue;
        table_text(table, summary->name);
        table_u64(table, summary->rows);
        table_u64(table, summary->skipped);
        table_add_reached(table, summary->median_abs_pct, target->median_pct);
        table_add_reached(table, summary->p90_abs_pct, target->p90_pct);
        if (target->median_pct > 0 && !isnan(summary->median_abs_pct))
            table_bool(table, summary->median_abs_pct <= target->median_pct && summary->p90_abs_pct <= target->p90_pct);
        else
            table_null(table);
    }
    g_ptr_array_free(all, TRUE);
}

/* near: of the rows that have neighbours, when these have corrected them. */
static void table_add_fidelity_row(Table *table, const ValidateSummary *summary, const ValidateSummary *near,
                                   const ValidateFidelity *group, const char *half)
{
    table_text(table, summary->name);
    table_text(table, half);
    table_u64(table, summary->rows);
    table_u64(table, summary->skipped);
    table_add_reached(table, summary->median_abs_pct, group->median_pct);
    table_add_reached(table, summary->p90_abs_pct, group->p90_pct);
    table_add_reached(table, summary->max_abs_pct, group->max_pct);
    table_fixed(table, summary->mean_pct);
    if (isnan(summary->median_abs_pct))
        table_null(table);
    else
        table_bool(table, summary->median_abs_pct <= group->median_pct && summary->p90_abs_pct <= group->p90_pct &&
                              (group->max_pct == 0 || summary->max_abs_pct <= group->max_pct));
    table_u64(table, near->rows);
    table_fixed(table, near->median_abs_pct);
    table_fixed(table, near->p90_abs_pct);
}

/* Both halves of each group side by side; no table where there is no published row of such a group. */
static void table_add_fidelity(Report *report, const GPtrArray *rows)
{
    ValidateErrors *errors = validate_errors_new(NULL, NULL); /* that come with Fanout; this run's take their place */
    validate_errors_add(errors, rows);
    GPtrArray *halves[VALIDATE_HALVES], *near[VALIDATE_HALVES];
    Table *table = NULL;
    for (guint half = 0; half < VALIDATE_HALVES; half++) {
        g_autoptr(GPtrArray) some = validate_rows_of(rows, (ValidateHalf)half);
        guint covered;
        g_autoptr(GPtrArray) corrected = validate_near_rows(errors, some, &covered);
        halves[half] = validate_summarize(some, VALIDATE_BY_FIDELITY);
        near[half] = validate_summarize(corrected, VALIDATE_BY_FIDELITY);
        if (half == VALIDATE_JUDGE && corrected->len)
            report_add_note(report,
                            "near: what is left when the errors of neighbours in the half to calibrate are taken out, "
                            "as fanout table does; %u of %u rows that judge lie within the uncertainty that it claims "
                            "for nine of ten",
                            covered, corrected->len);
    }
    for (guint i = 0; validate_fidelity[i].name; i++)
        for (guint half = 0; half < VALIDATE_HALVES; half++) {
            const ValidateSummary *summary = g_ptr_array_index(halves[half], i);
            if (summary->rows == 0)
                continue;
            if (!table)
                table = report_add_table(report, "fidelity", "published rows, by half", fidelity_columns, 0);
            table_add_fidelity_row(table, summary, g_ptr_array_index(near[half], i), &validate_fidelity[i],
                                   validate_half_names[half]);
        }
    g_autoptr(GPtrArray) judges = validate_rows_of(rows, VALIDATE_JUDGE);
    if (table)
        table_add_summary(report, judges, VALIDATE_BY_NCCL, "nccl",
                          "published rows of NCCL in the half that judges, by its version", 0);
    for (guint half = 0; half < VALIDATE_HALVES; half++) {
        g_ptr_array_free(halves[half], TRUE);
        g_ptr_array_free(near[half], TRUE);
    }
    validate_errors_free(errors);
}

static void table_add_answer(Report *report, const GPtrArray *rows)
{
    GPtrArray *all = validate_summarize(rows, VALIDATE_OVERALL);
    const ValidateSummary *summary = all->len ? g_ptr_array_index(all, 0) : NULL;
    if (summary && !isnan(summary->median_abs_pct))
        report_add_answer(
            report,
            "simulated and measured differ by %.1f %% in the median, by %.1f %% at the 90th percentile and "
            "by %.1f %% at most, over %" G_GUINT64_FORMAT " rows; %" G_GUINT64_FORMAT " were skipped",
            summary->median_abs_pct, summary->p90_abs_pct, summary->max_abs_pct, (guint64)summary->rows,
            (guint64)summary->skipped);
    g_ptr_array_free(all, TRUE);
}

void validate_table_add(Report *report, const GPtrArray *rows)
{
    table_add_answer(report, rows);
    table_add_summary(report, rows, VALIDATE_BY_FILE, "files", "by file", 0);
    table_add_summary(report, rows, VALIDATE_BY_GROUP, "groups", "by group", 0);
    if (rows->len) /* of none there is no row */
        table_add_summary(report, rows, VALIDATE_OVERALL, "overall", "", TABLE_ONE_ROW);
    table_add_targets(report, rows);
    table_add_fidelity(report, rows);
}

char *validate_settings(const Options *options, const ValidateSetup *setup)
{
    g_autofree char *sets = options->sets ? g_strjoinv(" ", options->sets) : g_strdup("");
    g_autofree char *config = NULL;
    if (options->config && !whole_read(options->config, &config, NULL, NULL))
        config = NULL; /* the systems say so */
    g_autofree char *text = g_strdup_printf("%s|%s|%s|%s|%" G_GUINT64_FORMAT "|%" G_GUINT64_FORMAT "|%d|%d|%d",
                                            PACKAGE_VERSION, options->system ? options->system : "", sets,
                                            config ? config : "", options->seed, setup->crossings_max, setup->fidelity,
                                            setup->calendar, setup->engine);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
}
