/* fanout compare: two reports side by side (explore/compare.h). */
#include <math.h>
#include <string.h>

#include "cli/compare/headline.h"
#include "cli/options.h"
#include "explore/compare.h"
#include "explore/side.h"

static const Column compare_columns[] = {
    COLUMN_TEXT(where, "where", "the table, and what tells the row from others; nothing: a fact of the report"),
    COLUMN_TEXT(key, "key", "the value's name, which ends in its unit"),
    COLUMN_TEXT(a, "a", "in the first report"),
    COLUMN_TEXT(b, "b", "in the second report"),
    COLUMN_FIXED(change, "b - a", "", 3, "difference of numbers, in their unit"),
    COLUMN_FIXED(change_pct, "change", "%", 2, "difference of numbers, of a"),
    COLUMN_END,
};

#define COMPARE_NEAR 24u /* rows of text that is not asked for all */

typedef struct {
    double above;
    guint top;
    gboolean all; /* differences, in their own order */
} CompareAsk;

static gboolean compare_wanted(const Difference *one, double above)
{
    return isnan(one->change_pct) || fabs(one->change_pct) > above;
}

/* Of text: what is near to the answer, and of where the time went what changed most, first. */
static int compare_by_class(gconstpointer a, gconstpointer b)
{
    const Difference *const *one = a, *const *other = b;
    const int x = headline_class(*one), y = headline_class(*other);
    const double dx = fabs((*one)->change), dy = fabs((*other)->change);
    return x != y ? x - y : x == 2 ? (dx < dy) - (dx > dy) : 0;
}

/* Behind the point of a number as it stands in a report; one with an exponent may have any. */
static guint compare_decimals(const char *text)
{
    const char *point = text ? strpbrk(text, ".eE") : NULL;
    return !point ? 0 : *point == '.' ? (guint)strlen(point + 1) : G_MAXUINT;
}

static void compare_add_row(Table *table, const Difference *one)
{
    table_text(table, one->where);
    table_text(table, one->key);
    table_text(table, one->a);
    table_text(table, one->b);
    table_fixed_by(table, one->change, MAX(compare_decimals(one->a), compare_decimals(one->b)));
    table_fixed(table, one->change_pct);
}

static void compare_add_rows(const Comparison *comparison, const CompareAsk *ask, Report *report)
{
    Table *table = report_add_table(report, "rows", "", compare_columns, 0);
    g_autoptr(GPtrArray) wanted = g_ptr_array_new();
    guint near = 0, rest = 0;
    for (guint i = 0; i < comparison->differences->len; i++) {
        Difference *one = &g_array_index(comparison->differences, Difference, i);
        if (compare_wanted(one, ask->above))
            g_ptr_array_add(wanted, one);
    }
    if (!ask->all)
        g_ptr_array_sort(wanted, compare_by_class);
    for (guint i = 0; i < wanted->len && i < ask->top; i++) {
        const Difference *one = g_ptr_array_index(wanted, i);
        if (!ask->all && (headline_class(one) == HEADLINE_REST || near >= COMPARE_NEAR))
            rest++;
        else
            compare_add_row(table, one);
        near += !ask->all;
    }
    if (rest)
        report_add_note(report, "--all: %u more differ, farther from the answer", rest);
    if (wanted->len > ask->top)
        report_add_note(report, "--top: %u more differ", wanted->len - ask->top);
    if (comparison->differences->len > wanted->len)
        report_add_note(report, "--above: %u more differ, by no more than that",
                        comparison->differences->len - wanted->len);
}

static ExitCode compare_both(const Options *options, const char *a, const char *b, const CompareAsk *ask,
                             GError **error)
{
    Comparison *comparison = compare_reports(a, b, error);
    if (!comparison)
        return EXIT_USER;
    Report *report = report_new("compare", "two reports side by side");
    report_add_text(report, "a", a);
    report_add_text(report, "b", b);
    report_add_u64(report, "compared", comparison->compared, "values that both have");
    report_add_u64(report, "equal", comparison->equal, "of them");
    headline_add(report, comparison, a, b);
    compare_add_rows(comparison, ask, report);
    if (g_strcmp0(comparison->kind_a, comparison->kind_b) != 0)
        report_add_note(report, "a is a report of '%s' and b of '%s': few of their values mean the same",
                        comparison->kind_a ? comparison->kind_a : "?", comparison->kind_b ? comparison->kind_b : "?");
    if (options->html && side_add(report, a, b) == 0)
        report_add_note(report, "neither report has charts of its time: fanout ... --html FILE --format json writes "
                                "them into the JSON, too");
    ExitCode code = options_write(options, report, error);
    report_free(report);
    compare_free(comparison);
    return code;
}

static ExitCode compare_run_verb(int argc, char **argv, GError **error)
{
    gdouble above = 0;
    gint top = G_MAXINT;
    gboolean all = FALSE;
    const GOptionEntry own[] = {
        {"above", 0, 0, G_OPTION_ARG_DOUBLE, &above, "leave out numbers that differ by PCT percent or less", "PCT"},
        {"top", 0, 0, G_OPTION_ARG_INT, &top, "only the first N differences", "N"},
        {"all", 0, 0, G_OPTION_ARG_NONE, &all,
         "text, too, lists every difference, by how large it is; json and csv do anyway", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (options_parse(&options, &verb_compare, own, &argc, &argv, &code, error)) {
        const CompareAsk ask = {above, (guint)top, all || options.format != REPORT_TEXT};
        code = EXIT_USER;
        if (!(above >= 0) || top < 1)
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--%s: %s", top < 1 ? "top" : "above",
                        top < 1 ? "at least 1" : "a number of 0 or more");
        else if (options_check_args(&verb_compare, argc, argv, 2, 2, error))
            code = compare_both(&options, argv[1], argv[2], &ask, error);
        options_clear(&options);
    }
    return code;
}

const Verb verb_compare = {
    .name = "compare",
    .usage = "A.json B.json",
    .text = "two reports side by side: which is slower, why, and what else differs",
    .no_views = "it simulates nothing",
    .run = compare_run_verb,
};
