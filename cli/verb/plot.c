/* fanout plot: pictures of a sweep's database (explore/plot.h), drawn by gnuplot. */
#include "config.h"

#include <string.h>

#include "cli/options.h"
#include "explore/plot_script.h"
#include "sim/report/file.h"

typedef struct {
    char *kind, *title;
    char **out, **by, **column;
    PlotAsk ask;
    char *x, *y, *z, *log, *better, **where;
} PlotWords;

/* ---- the report */

#define PLOT_COLUMNS_MOST 9
#define PLOT_SERIES COLUMN_TEXT(series, "line", "which line, by the columns named above")
#define PLOT_X COLUMN_TEXT(x, "x", "where")
#define PLOT_POINTS COLUMN_U64(points, "points", "", "how many were put together there")

static const Column plot_columns[][PLOT_COLUMNS_MOST] = {
    [PLOT_LINES] = {PLOT_SERIES, PLOT_X, COLUMN_FIXED(y, "y", "", 3, "the median of the points there"),
                    COLUMN_FIXED(low, "smallest", "", 3, "of the points there"),
                    COLUMN_FIXED(high, "largest", "", 3, "of the points there"), PLOT_POINTS, COLUMN_END},
    [PLOT_HEAT] = {PLOT_X, COLUMN_TEXT(y, "y", "where"), COLUMN_FIXED(z, "z", "", 3, "the median of the points there"),
                   PLOT_POINTS, COLUMN_END},
    [PLOT_PARETO] = {PLOT_SERIES, PLOT_X, COLUMN_FIXED(y, "y", "", 3, "where"),
                     COLUMN_U64(id, "id", "", "the point's number in the database"),
                     COLUMN_TEXT(point, "point", "its inputs that vary"), COLUMN_END},
    [PLOT_BOX] = {PLOT_SERIES, PLOT_X, COLUMN_FIXED(low, "smallest", "", 3, "of the points there"),
                  COLUMN_FIXED(q1, "first quartile", "", 3, "a quarter is no larger"),
                  COLUMN_FIXED(median, "median", "", 3, "half is no larger"),
                  COLUMN_FIXED(q3, "third quartile", "", 3, "three quarters are no larger"),
                  COLUMN_FIXED(high, "largest", "", 3, "of the points there"), PLOT_POINTS, COLUMN_END},
};

/* Heads are the sweep's own names, and x is a number where its axis is a scale. */
static void plot_name_columns(const Plot *plot, Column *columns)
{
    memcpy(columns, plot_columns[plot->kind], sizeof plot_columns[0]);
    for (Column *column = columns; column->key; column++) {
        const PlotAxis *axis = strcmp(column->key, "x") == 0   ? &plot->x
                               : strcmp(column->key, "y") == 0 ? &plot->y
                               : strcmp(column->key, "z") == 0 ? &plot->z
                                                               : NULL;
        if (!axis)
            continue;
        column->head = axis->column->name;
        column->unit = axis->column->unit;
        if (column->type == CELL_TEXT && axis->names)
            continue;
        column->type = CELL_FIXED;
        column->decimals = axis == &plot->x || plot->kind == PLOT_PARETO ? axis->column->decimals
                                                                         : MAX(axis->column->decimals, 3);
    }
}

static void plot_add_place(Table *table, const PlotAxis *axis, double place)
{
    if (axis->names)
        table_text(table, axis->names->pdata[(guint)place - 1]);
    else
        table_fixed(table, place);
}

static void plot_add_row(const Plot *plot, const Frame *frame, const PlotSeries *series, const PlotMark *mark,
                         Table *table)
{
    if (plot->kind != PLOT_HEAT)
        table_text(table, *series->name ? series->name : NULL);
    plot_add_place(table, &plot->x, mark->x);
    if (plot->kind == PLOT_BOX) {
        const double five[] = {mark->low, mark->q1, mark->y, mark->q3, mark->high};
        for (guint i = 0; i < G_N_ELEMENTS(five); i++)
            table_fixed(table, five[i]);
    } else {
        plot_add_place(table, &plot->y, mark->y);
    }
    if (plot->kind == PLOT_HEAT)
        table_fixed(table, mark->z);
    if (plot->kind == PLOT_LINES) {
        table_fixed(table, mark->low);
        table_fixed(table, mark->high);
    }
    if (plot->kind == PLOT_PARETO) {
        g_autofree char *point = frame_point(frame, mark->row);
        table_u64(table, (guint64)((const FrameColumn *)frame->columns->pdata[0])->number[mark->row]);
        table_text(table, point);
    } else {
        table_u64(table, mark->rows);
    }
}

/* Where y is largest and smallest, or what is on the front. */
static void plot_add_answer(const Plot *plot, Report *report)
{
    const PlotMark *most = NULL, *least = NULL;
    guint front = 0, all = 0;
    for (guint s = 0; s < plot->series->len; s++) {
        const GArray *marks = ((const PlotSeries *)plot->series->pdata[s])->marks;
        for (guint i = 0; i < marks->len; i++, all++) {
            const PlotMark *mark = &g_array_index(marks, PlotMark, i);
            front += mark->front;
            most = !most || mark->y > most->y ? mark : most;
            least = !least || mark->y < least->y ? mark : least;
        }
    }
    if (plot->kind == PLOT_PARETO)
        report_add_answer(report,
                          "%u of %u points are on the front: no other is as good in %s and better in %s, or the "
                          "other way round",
                          front, all, plot->x.column->name, plot->y.column->name);
    else if (plot->kind == PLOT_LINES && !plot->x.names && most && most != least)
        report_add_answer(report, "%s is largest at %s = %.15g (%.6g %s), and smallest at %.15g (%.6g %s)",
                          plot->y.column->name, plot->x.column->name, most->x, most->y, plot->y.column->unit, least->x,
                          least->y, plot->y.column->unit);
}

static Report *plot_report(const Plot *plot, const Frame *frame, const char *database, Column *columns)
{
    Report *report = report_new("plot", plot->title ? plot->title : "");
    report_add_text(report, "database", database);
    report_add_text(report, "kind", plot_kinds[plot->kind]);
    report_add_text(report, "x", plot->x.column->name);
    report_add_text(report, "y", plot->y.column->name);
    report_add_text(report, "z", plot->kind == PLOT_HEAT ? plot->z.column->name : NULL);
    report_add_text(report, "by", *plot->by ? plot->by : NULL);
    plot_add_answer(plot, report);
    plot_name_columns(plot, columns);
    Table *table = report_add_table(report, "rows", plot->kind == PLOT_PARETO ? "the front" : "", columns, 0);
    for (guint s = 0; s < plot->series->len; s++) {
        const PlotSeries *series = plot->series->pdata[s];
        for (guint i = 0; i < series->marks->len; i++) {
            const PlotMark *mark = &g_array_index(series->marks, PlotMark, i);
            if (plot->kind != PLOT_PARETO || mark->front)
                plot_add_row(plot, frame, series, mark, table);
        }
    }
    for (guint i = 0; i < plot->notes->len; i++)
        report_add_note(report, "%s", (const char *)plot->notes->pdata[i]);
    const char *version = frame_fact(frame, "version"), *state = frame_fact(frame, "state");
    if (g_strcmp0(version, PACKAGE_VERSION) != 0)
        report_add_note(report, "made by fanout %s; this is fanout %s, whose results may differ",
                        version ? version : "?", PACKAGE_VERSION);
    if (g_strcmp0(state, "complete") != 0)
        report_add_note(report, "the sweep is not complete: %u points are there so far", frame->rows);
    return report;
}

/* ---- files */

/* "tags.db" is drawn as "tags.svg", where the command runs. */
static char *plot_default_out(const char *database)
{
    g_autofree char *base = g_path_get_basename(database);
    char *dot = strrchr(base, '.');
    if (dot && dot != base)
        *dot = 0;
    return g_strconcat(base, ".svg", NULL);
}

static gboolean plot_check_out(const PlotWords *words, GError **error)
{
    for (guint i = 0; words->out[i]; i++) {
        const char *out = words->out[i];
        if (!g_str_has_suffix(out, ".svg") && !g_str_has_suffix(out, ".png") && !g_str_has_suffix(out, ".html")) {
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--out: '%s' ends in none of .svg, .png and .html", out);
            return FALSE;
        }
        if (!file_check("--out", out, error))
            return FALSE;
    }
    return TRUE;
}

/* The <svg> element alone: a page has its own first line. */
static char *plot_inline(GBytes *svg)
{
    gsize n;
    const char *bytes = g_bytes_get_data(svg, &n);
    g_autofree char *text = g_strndup(bytes, n);
    const char *at = strstr(text, "<svg");
    return g_strdup(at ? at : "");
}

static gboolean plot_write(const PlotWords *words, const Options *options, const Plot *plot, Report *report,
                           GError **error)
{
    g_autoptr(GBytes) svg = plot_draw(plot, PLOT_SVG, error);
    g_autofree char *element = svg ? plot_inline(svg) : NULL;
    if (!svg)
        return FALSE;
    report_set_command(report, options->command);
    report_add_picture(report, plot->title ? plot->title : plot->y.column->name, element);
    for (guint i = 0; words->out[i]; i++) {
        const char *out = words->out[i];
        if (g_str_has_suffix(out, ".html")) {
            if (!report_save(report, REPORT_HTML, out, error))
                return FALSE;
            continue;
        }
        g_autoptr(GBytes) drawn = g_str_has_suffix(out, ".png") ? plot_draw(plot, PLOT_PNG, error) : g_bytes_ref(svg);
        gsize n = 0;
        const char *bytes = drawn ? g_bytes_get_data(drawn, &n) : NULL;
        if (!drawn || !file_write(out, bytes, n, error))
            return FALSE;
    }
    return TRUE;
}

/* ---- the verb */

static ExitCode plot_database(const PlotWords *words, const Options *options, const char *database, GError **error)
{
    Frame *frame = frame_load(database, "points", (const char *const *)words->column, error);
    if (!frame)
        return EXIT_USER;
    ExitCode code = EXIT_USER;
    Plot *plot = plot_new(frame, &words->ask, error);
    if (plot) {
        if (words->title) {
            g_free(plot->title);
            plot->title = g_strdup(words->title);
        }
        Column columns[PLOT_COLUMNS_MOST];
        Report *report = plot_report(plot, frame, database, columns);
        g_autofree char *files = g_strjoinv(", ", words->out);
        report_add_text(report, "files", *files ? files : NULL);
        if (plot_write(words, options, plot, report, error))
            code = options_write(options, report, error);
        report_free(report);
        plot_free(plot);
    } else {
        g_prefix_error(error, "'%s': ", database);
    }
    frame_free(frame);
    return code;
}

static gboolean plot_words(PlotWords *words, const Options *options, const char *database, GError **error)
{
    static const char *const logs[] = {"x", "y", "xy", "none", NULL};
    int kind = PLOT_LINES, log;
    if ((words->kind && !options_parse_name("--kind", words->kind, plot_kinds, &kind, error)) ||
        (words->log && !options_parse_name("--log", words->log, logs, &log, error)))
        return FALSE;
    if (!words->out) {
        words->out = g_new0(char *, 2);
        words->out[0] = options->html ? NULL : plot_default_out(database);
    }
    words->ask = (PlotAsk){.kind = (PlotKind)kind,
                           .x = words->x,
                           .y = words->y,
                           .z = words->z,
                           .by = (const char *const *)words->by,
                           .where = (const char *const *)words->where,
                           .log = words->log,
                           .better = words->better};
    return plot_check_out(words, error);
}

static void plot_clear(PlotWords *words)
{
    char *const texts[] = {words->kind, words->title, words->x, words->y, words->z, words->log, words->better};
    char **const lists[] = {words->out, words->by, words->column, words->where};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        g_strfreev(lists[i]);
}

static ExitCode plot_run_verb(int argc, char **argv, GError **error)
{
    PlotWords words = {0};
    const GOptionEntry own[] = {
        {"kind", 'k', 0, G_OPTION_ARG_STRING, &words.kind, "lines (unless given), heat, pareto, box", "KIND"},
        {"x", 'x', 0, G_OPTION_ARG_STRING, &words.x, "what is across (the input with the most values)", "COLUMN"},
        {"y", 'y', 0, G_OPTION_ARG_STRING, &words.y, "what is up (the metric, or busbw_GBps)", "COLUMN"},
        {"z", 'z', 0, G_OPTION_ARG_STRING, &words.z, "heat: what the colours are", "COLUMN"},
        {"by", 0, 0, G_OPTION_ARG_STRING_ARRAY, &words.by,
         "a line for each of its values; may be repeated (lines: every other input that varies)", "COLUMN|none"},
        {"where", 0, 0, G_OPTION_ARG_STRING_ARRAY, &words.where, "only points with this value; may be repeated",
         "COLUMN=VALUE"},
        {"column", 0, 0, G_OPTION_ARG_STRING_ARRAY, &words.column,
         "a column of one's own, of SQLite: 'area=\"switch.multicast_tags\" * 64'; may be repeated", "NAME=EXPRESSION"},
        {"log", 0, 0, G_OPTION_ARG_STRING, &words.log, "logarithmic axes: x, y, xy, none", "AXES"},
        {"better", 0, 0, G_OPTION_ARG_STRING, &words.better, "pareto: lower or higher, for x and y", "X,Y"},
        {"title", 0, 0, G_OPTION_ARG_STRING, &words.title, "over the picture (the sweep's)", "TEXT"},
        {"out", 'o', 0, G_OPTION_ARG_FILENAME_ARRAY, &words.out,
         "FILE.svg, FILE.png or FILE.html; may be repeated (DB.svg in this folder)", "FILE"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (options_parse(&options, &verb_plot, own, &argc, &argv, &code, error)) {
        code = EXIT_USER;
        if (options_check_args(&verb_plot, argc, argv, 1, 1, error) && plot_words(&words, &options, argv[1], error))
            code = plot_database(&words, &options, argv[1], error);
        options_clear(&options);
    }
    plot_clear(&words);
    return code;
}

const Verb verb_plot = {
    .name = "plot",
    .usage = "DB",
    .text = "a picture of a sweep: lines, heat map, Pareto front or box plot, as SVG, PNG or a page",
    .no_views = "it simulates nothing",
    .run = plot_run_verb,
};
