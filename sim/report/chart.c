/* A chart as SVG: axes with round numbers, one colour for each series, a legend beside it. */
#include "sim/param/size.h"
#include "sim/report/parts.h"

#include <math.h>
#include <string.h>

#define CHART_LEFT 70.0
#define CHART_TOP 34.0
#define CHART_WIDTH 560.0
#define CHART_HEIGHT 300.0
#define CHART_LEGEND 180.0
#define CHART_TICKS 6

static const char *const colours[] = {"#1b6ca8", "#d1495b", "#2f9e6e", "#edae49",
                                      "#7b4fa3", "#5c6b73", "#c2678d", "#3a86a8"};

typedef struct {
    double min, max; /* of the values, or of their logarithms */
    gboolean log;
    const Column *column;
} Axis;

/* FALSE: the value does not exist, or has no logarithm. */
static gboolean chart_value(const Table *table, guint row, guint column, gboolean log,
                            double *value)
{
    const char *text = table_cell(table, row, column)->text;
    if (!text)
        return FALSE;
    *value = g_ascii_strtod(text, NULL);
    if (log && *value <= 0)
        return FALSE;
    *value = log ? log2(*value) : *value;
    return TRUE;
}

/* Over all of `column`, of which the axis has the name of the first. */
static Axis chart_axis(const Chart *chart, const guint *column, guint n, gboolean log)
{
    Axis axis = {.min = INFINITY, .max = -INFINITY, .log = log};
    axis.column = &chart->table->columns[*column];
    for (guint c = 0; c < n; c++)
        for (guint r = 0; r < table_rows(chart->table); r++) {
            double value;
            if (chart_value(chart->table, r, column[c], log, &value)) {
                axis.min = MIN(axis.min, value);
                axis.max = MAX(axis.max, value);
            }
        }
    if (!log)
        axis.min = MIN(axis.min, 0); /* lengths are compared from zero */
    if (!(axis.max > axis.min)) {
        axis.min = isfinite(axis.min) ? axis.min - 1 : 0;
        axis.max = axis.min + 2;
    }
    return axis;
}

/* 1, 2 or 5 times a power of ten, about CHART_TICKS steps over the axis; whole powers of two on a
 * logarithmic one. */
static double chart_step(const Axis *axis)
{
    double rough = (axis->max - axis->min) / CHART_TICKS;
    if (axis->log)
        return MAX(1, ceil(rough));
    double power = pow(10, floor(log10(rough)));
    double part = rough / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static char *chart_label(const Axis *axis, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    double plain = axis->log ? exp2(value) : value;
    if (strcmp(axis->column->unit, "B") == 0 && plain >= 1 && plain == floor(plain))
        return size_format((guint64)plain);
    static const char *const thousands[] = {"", "k", "M", "G", "T"};
    guint power = 0;
    /* five digits would not fit */
    for (; fabs(plain) >= (power ? 1000 : 10000) && power + 1 < G_N_ELEMENTS(thousands); power++)
        plain /= 1000;
    g_ascii_formatd(text, sizeof text, power ? "%.3g" : "%.4g", plain);
    return g_strconcat(text, thousands[power], NULL);
}

static double chart_x(const Axis *axis, double value)
{
    return CHART_LEFT + CHART_WIDTH * (value - axis->min) / (axis->max - axis->min);
}

static double chart_y(const Axis *axis, double value)
{
    return CHART_TOP + CHART_HEIGHT * (1 - (value - axis->min) / (axis->max - axis->min));
}

/* kind: a colour, or a class of the page's style, which knows light and dark. */
static void chart_line(GString *out, double x1, double y1, double x2, double y2,
                       const char *kind)
{
    g_string_append(out, "<line");
    markup_number(out, "%.1f", "x1", x1);
    markup_number(out, "%.1f", "y1", y1);
    markup_number(out, "%.1f", "x2", x2);
    markup_number(out, "%.1f", "y2", y2);
    g_string_append_printf(out, " %s=\"%s\"/>\n", *kind == '#' ? "stroke" : "class", kind);
}

static void chart_text(GString *out, double x, double y, const char *anchor, const char *text)
{
    g_string_append(out, "<text");
    markup_number(out, "%.1f", "x", x);
    markup_number(out, "%.1f", "y", y);
    g_string_append_printf(out, " text-anchor=\"%s\">", anchor);
    markup_append(out, "%s</text>\n", text);
}

static void chart_axes(const Chart *chart, const Axis *x, const Axis *y, GString *out)
{
    double bottom = CHART_TOP + CHART_HEIGHT, right = CHART_LEFT + CHART_WIDTH;
    double step = chart_step(x);
    for (double at = ceil(x->min / step) * step; at <= x->max + step / 1e6; at += step) {
        char *label = chart_label(x, at);
        chart_line(out, chart_x(x, at), CHART_TOP, chart_x(x, at), bottom, "grid");
        chart_text(out, chart_x(x, at), bottom + 16, "middle", label);
        g_free(label);
    }
    step = chart_step(y);
    for (double at = ceil(y->min / step) * step; at <= y->max + step / 1e6; at += step) {
        char *label = chart_label(y, at);
        chart_line(out, CHART_LEFT, chart_y(y, at), right, chart_y(y, at), "grid");
        chart_text(out, CHART_LEFT - 6, chart_y(y, at) + 4, "end", label);
        g_free(label);
    }
    chart_line(out, CHART_LEFT, bottom, right, bottom, "axis");
    chart_line(out, CHART_LEFT, CHART_TOP, CHART_LEFT, bottom, "axis");
    if (chart->flags & CHART_DIAGONAL)
        chart_line(out, CHART_LEFT, bottom, right, CHART_TOP, "axis");
    char *name = g_strdup_printf("%s %s", x->column->head, x->column->unit);
    chart_text(out, CHART_LEFT + CHART_WIDTH / 2, bottom + 34, "middle", g_strstrip(name));
    g_free(name);
    name = g_strdup_printf("%s %s", chart->n_y == 1 ? y->column->head : "", y->column->unit);
    chart_text(out, CHART_LEFT, CHART_TOP - 12, "start", g_strstrip(name));
    g_free(name);
}

static const char *chart_name(const Chart *chart, guint row, guint column)
{
    if (column == chart->table->n_columns)
        return "";
    const char *text = table_cell(chart->table, row, column)->text;
    return text ? text : "-";
}

static const char *chart_series(const Chart *chart, guint row) { return chart_name(chart, row, chart->series); }

/* Of the run whose chart is drawn, and of that series. */
static gboolean chart_has(const Chart *chart, guint row, const char *run, const char *name)
{
    return strcmp(chart_name(chart, row, chart->split), run) == 0 && strcmp(chart_series(chart, row), name) == 0;
}

/* What a column says, each once, in the order of the rows. */
static GPtrArray *chart_names(const Chart *chart, guint column)
{
    GPtrArray *names = g_ptr_array_new();
    for (guint r = 0; r < table_rows(chart->table); r++) {
        const char *name = chart_name(chart, r, column);
        if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_ptr_array_add(names, (gpointer)name);
    }
    return names;
}

static void chart_bar(const Chart *chart, const Axis *x, const Axis *y, guint row, guint column, const char *colour,
                      GString *out)
{
    double from, to, high;
    if (!chart_value(chart->table, row, chart->x, x->log, &from) ||
        !chart_value(chart->table, row, chart->x + 1, x->log, &to) ||
        !chart_value(chart->table, row, column, y->log, &high))
        return;
    g_string_append(out, "<rect");
    markup_number(out, "%.1f", "x", chart_x(x, from));
    markup_number(out, "%.1f", "y", chart_y(y, high));
    markup_number(out, "%.1f", "width", MAX(chart_x(x, to) - chart_x(x, from), 0.5));
    markup_number(out, "%.1f", "height", CHART_TOP + CHART_HEIGHT - chart_y(y, high));
    g_string_append_printf(out, " fill=\"%s\" fill-opacity=\".6\">", colour);
    markup_append(out, "<title>%s %s to %s: %s</title></rect>\n", chart_series(chart, row),
                  table_cell(chart->table, row, chart->x)->text, table_cell(chart->table, row, chart->x + 1)->text,
                  table_cell(chart->table, row, column)->text);
}

/* The points of one series, and the line that joins them. */
static void chart_draw(const Chart *chart, const Axis *x, const Axis *y, guint column, const char *run,
                       const char *name, const char *colour, GString *out)
{
    GString *path = g_string_new(NULL);
    for (guint r = 0; r < table_rows(chart->table); r++) {
        double at_x, at_y;
        if (!chart_has(chart, r, run, name))
            continue;
        if (chart->flags & CHART_BARS)
            chart_bar(chart, x, y, r, column, colour, out);
        if (chart->flags & CHART_BARS || !chart_value(chart->table, r, chart->x, x->log, &at_x) ||
            !chart_value(chart->table, r, column, y->log, &at_y))
            continue;
        char px[G_ASCII_DTOSTR_BUF_SIZE], py[G_ASCII_DTOSTR_BUF_SIZE];
        g_ascii_formatd(px, sizeof px, "%.1f", chart_x(x, at_x));
        g_ascii_formatd(py, sizeof py, "%.1f", chart_y(y, at_y));
        g_string_append_printf(path, "%s%s,%s", path->len ? " " : "", px, py);
        if (chart->flags & CHART_NO_POINTS)
            continue;
        g_string_append_printf(out, "<circle cx=\"%s\" cy=\"%s\" r=\"3\" fill=\"%s\">", px, py,
                               colour);
        markup_append(out, "<title>%s %s, %s</title></circle>\n", name,
                      table_cell(chart->table, r, chart->x)->text,
                      table_cell(chart->table, r, column)->text);
    }
    if (chart->flags & CHART_LINES)
        g_string_append_printf(out,
                               "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" "
                               "stroke-width=\"1.5\"/>\n",
                               path->str, colour);
    g_string_free(path, TRUE);
}

/* One series, and its line of the legend, the n-th. */
static void chart_add_series(const Chart *chart, const Axis *x, const Axis *y, guint column, const char *run,
                             const char *name, guint n, GString *out)
{
    const char *colour = colours[n % G_N_ELEMENTS(colours)];
    const char *head = chart->n_y > 1 ? chart->table->columns[column].head : "";
    const double at = CHART_TOP + 8 + 18 * (double)n, left = CHART_LEFT + CHART_WIDTH + 14;
    chart_draw(chart, x, y, column, run, name, colour, out);
    if (!*name && !*head)
        return;
    g_autofree char *label = g_strdup_printf("%s%s%s", name, *name && *head ? ", " : "", head);
    chart_line(out, left, at, left + 18, at, colour);
    chart_text(out, left + 24, at + 4, "start", label);
}

static void chart_write(const Chart *chart, const Axis *x, const Axis *y, const char *run, const char *title,
                        GString *out)
{
    g_string_append(out, "<figure tabindex=\"0\"><svg");
    g_autoptr(GPtrArray) names = chart_names(chart, chart->series);
    gsize longest = 0; /* a letter is 8 wide or less */
    for (guint i = 0; i < names->len; i++)
        longest = MAX(longest, strlen(g_ptr_array_index(names, i)));
    /* As wide as the page lets it: a size in pixels would be cropped by a narrow window. */
    g_string_append_printf(out, " viewBox=\"0 0 %d %d\"",
                           (int)(CHART_LEFT + CHART_WIDTH + MAX(CHART_LEGEND, 44 + 8 * (double)longest)),
                           (int)(CHART_TOP + CHART_HEIGHT + 44));
    markup_append(out, " role=\"img\"><title>%s</title>\n", title);
    chart_axes(chart, x, y, out);
    guint n = 0;
    for (guint i = 0; i < names->len; i++)
        for (guint c = 0; c < chart->n_y; c++)
            chart_add_series(chart, x, y, chart->y[c], run, g_ptr_array_index(names, i), n++, out);
    markup_append(out, "</svg><figcaption>%s</figcaption></figure>\n", title);
}

static gboolean chart_is_zero(const Chart *chart)
{
    for (guint r = 0; r < table_rows(chart->table); r++)
        for (guint c = 0; c < chart->n_y; c++) {
            const char *text = table_cell(chart->table, r, chart->y[c])->text;
            if (text && g_ascii_strtod(text, NULL) != 0)
                return FALSE;
        }
    return TRUE;
}

static void chart_fit(const Chart *chart, const char *run, Axis *y)
{
    double most = 0, value;
    for (guint r = 0; r < table_rows(chart->table); r++)
        if (strcmp(chart_name(chart, r, chart->split), run) == 0 &&
            chart_value(chart->table, r, chart->y[0], y->log, &value))
            most = MAX(most, value);
    y->max = most > 0 ? most : 2;
}

void report_write_chart(const Chart *chart, GString *out)
{
    if (chart->flags & CHART_STACKED) {
        report_write_stack(chart, out);
        return;
    }
    const guint ends[2] = {chart->x, chart->x + 1};
    Axis x = chart_axis(chart, ends, chart->flags & CHART_BARS ? 2 : 1, (chart->flags & CHART_LOG_X) != 0);
    Axis y = chart_axis(chart, chart->y, chart->n_y, (chart->flags & CHART_LOG_Y) != 0);
    if (chart->flags & CHART_DIAGONAL) {
        x.min = y.min = MIN(x.min, y.min);
        x.max = y.max = MAX(x.max, y.max);
    }
    if (chart->flags & CHART_NO_POINTS && y.max <= 2 && chart_is_zero(chart))
        return;
    g_autoptr(GPtrArray) runs = chart_names(chart, chart->split);
    if (runs->len < 2) {
        chart_write(chart, &x, &y, runs->len ? g_ptr_array_index(runs, 0) : "", chart->title, out);
        return;
    }
    g_string_append(out, "<div class=\"side\">\n");
    for (guint i = 0; i < runs->len; i++) {
        const char *run = g_ptr_array_index(runs, i);
        g_autofree char *title = g_strdup_printf("%s: %s", chart->title, run);
        if (chart->flags & CHART_BARS) /* numbers of requests may be far apart: it is shapes that are compared */
            chart_fit(chart, run, &y);
        chart_write(chart, &x, &y, run, title, out);
    }
    g_string_append(out, "</div>\n");
}
