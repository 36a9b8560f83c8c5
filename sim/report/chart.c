/* A chart as SVG: axes with round numbers, one colour for each series, a legend below. */
#include "sim/param/size.h"
#include "sim/report/parts.h"

#include <math.h>
#include <string.h>

#define CHART_LEFT 70.0
#define CHART_TOP 34.0
#define CHART_WIDTH 560.0
#define CHART_HEIGHT 300.0
#define CHART_RIGHT 20.0
#define CHART_BELOW 44.0 /* numbers and the name of the axis */
#define CHART_LEGEND 18.0 /* a row of it */
#define CHART_TICKS 6

typedef struct {
    double min, max; /* of the values, or of their logarithms */
    gboolean log;
    const Column *column;
} Axis;

/* FALSE: the value does not exist, or has no logarithm. */
static gboolean chart_value(const Table *table, guint row, guint column, gboolean log, double *value)
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
    if (axis->column->type == CELL_U64)
        rough = MAX(rough, 1);
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

/* kind: a class of the page's style, which knows light and dark. */
static void chart_line(GString *out, double x1, double y1, double x2, double y2, const char *kind)
{
    g_string_append(out, "<line");
    markup_number(out, "%.1f", "x1", x1);
    markup_number(out, "%.1f", "y1", y1);
    markup_number(out, "%.1f", "x2", x2);
    markup_number(out, "%.1f", "y2", y2);
    g_string_append_printf(out, " class=\"%s\"/>\n", kind);
}

static void chart_text(GString *out, double x, double y, const char *anchor, const char *text)
{
    g_string_append(out, "<text");
    markup_number(out, "%.1f", "x", x);
    markup_number(out, "%.1f", "y", y);
    g_string_append_printf(out, " text-anchor=\"%s\">", anchor);
    markup_append(out, "%s</text>\n", text);
}

static void chart_tick_x(const Axis *x, double at, GString *out)
{
    g_autofree char *label = chart_label(x, at);
    chart_line(out, chart_x(x, at), CHART_TOP, chart_x(x, at), CHART_TOP + CHART_HEIGHT, "grid");
    chart_text(out, chart_x(x, at), CHART_TOP + CHART_HEIGHT + 16, "middle", label);
}

/* Whole powers of two on a logarithmic axis, round numbers where it has hardly any. */
static void chart_ticks_x(const Axis *x, GString *out)
{
    const gboolean few = x->log && x->max - x->min < 2;
    const Axis plain = {.min = exp2(x->min), .max = exp2(x->max), .column = x->column};
    const Axis *of = few ? &plain : x;
    const double step = chart_step(of);
    for (double at = ceil(of->min / step) * step; at <= of->max + step / 1e6; at += step)
        chart_tick_x(x, few ? log2(at) : at, out);
}

static void chart_axes(const Chart *chart, const Axis *x, const Axis *y, GString *out)
{
    double bottom = CHART_TOP + CHART_HEIGHT, right = CHART_LEFT + CHART_WIDTH;
    chart_ticks_x(x, out);
    double step = chart_step(y);
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

static void chart_bar(const Chart *chart, const Axis *x, const Axis *y, guint row, guint column, guint colour,
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
    g_string_append_printf(out, " class=\"f%u\" fill-opacity=\".6\">", colour);
    markup_append(out, "<title>%s %s to %s: %s</title></rect>\n", chart_series(chart, row),
                  table_cell(chart->table, row, chart->x)->text, table_cell(chart->table, row, chart->x + 1)->text,
                  table_cell(chart->table, row, column)->text);
}

/* A line of steps: each value from the begin of its interval to the end. */
static void chart_draw_steps(const Chart *chart, const Axis *x, const Axis *y, guint column, const char *run,
                             guint colour, GString *out)
{
    char px[G_ASCII_DTOSTR_BUF_SIZE], py[G_ASCII_DTOSTR_BUF_SIZE], last[G_ASCII_DTOSTR_BUF_SIZE] = "";
    g_string_append_printf(out, "<polyline fill=\"none\" class=\"s%u\" stroke-width=\"1.5\" points=\"", colour);
    for (guint r = 0; r < table_rows(chart->table); r++) {
        double from, to, value;
        if (strcmp(chart_name(chart, r, chart->split), run) != 0 ||
            !chart_value(chart->table, r, chart->x - 1, FALSE, &from) ||
            !chart_value(chart->table, r, chart->x, FALSE, &to) ||
            !chart_value(chart->table, r, column, FALSE, &value) || to <= x->min || from >= x->max)
            continue;
        g_ascii_formatd(py, sizeof py, "%.1f", chart_y(y, value));
        if (strcmp(py, last) != 0) { /* where it is the same, the line goes on */
            g_ascii_formatd(px, sizeof px, "%.1f", chart_x(x, MAX(from, x->min)));
            g_string_append_printf(out, *last ? " %s,%s %s,%s" : "%s,%s", px, *last ? last : py, px, py);
            g_strlcpy(last, py, sizeof last);
        }
        g_ascii_formatd(px, sizeof px, "%.1f", chart_x(x, MIN(to, x->max)));
    }
    g_string_append_printf(out, *last ? " %s,%s\"/>\n" : "\"/>\n", px, last);
}

/* The points of one series, and the line that joins them. */
static void chart_draw(const Chart *chart, const Axis *x, const Axis *y, guint column, const char *run,
                       const char *name, guint colour, GString *out)
{
    if (chart->flags & CHART_STEPS) {
        chart_draw_steps(chart, x, y, column, run, colour, out);
        return;
    }
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
        g_string_append_printf(out, "<circle cx=\"%s\" cy=\"%s\" r=\"3\" class=\"f%u\">", px, py, colour);
        markup_append(out, "<title>%s %s, %s</title></circle>\n", name, table_cell(chart->table, r, chart->x)->text,
                      table_cell(chart->table, r, column)->text);
    }
    if (chart->flags & CHART_LINES)
        g_string_append_printf(out, "<polyline points=\"%s\" fill=\"none\" class=\"s%u\" stroke-width=\"1.5\"/>\n",
                               path->str, colour);
    g_string_free(path, TRUE);
}

/* Where the lines of a legend stand: as many beside each other as there is room for. */
typedef struct {
    guint columns, n; /* n: lines so far */
    double width;     /* of a column */
} Legend;

static char *chart_label_of(const Chart *chart, const char *name, guint column)
{
    const char *head = chart->n_y > 1 ? chart->table->columns[column].head : "";
    return g_strdup_printf("%s%s%s", name, *name && *head ? ", " : "", head);
}

static Legend chart_legend(const Chart *chart, const GPtrArray *names)
{
    glong longest = 0;
    for (guint i = 0; i < names->len; i++)
        for (guint c = 0; c < chart->n_y; c++) {
            g_autofree char *label = chart_label_of(chart, g_ptr_array_index(names, i), chart->y[c]);
            longest = MAX(longest, g_utf8_strlen(label, -1));
        }
    Legend legend = {.width = 40 + 8 * (double)longest}; /* a letter is 8 wide or less */
    legend.columns = (guint)MAX(1, (CHART_LEFT + CHART_WIDTH + CHART_RIGHT) / legend.width);
    return legend;
}

/* One series, and its line of the legend. */
static void chart_add_series(const Chart *chart, const Axis *x, const Axis *y, guint column, const char *run,
                             const char *name, Legend *legend, GString *out)
{
    const guint colour = legend->n % MARKUP_COLOURS, row = legend->n / legend->columns;
    const double left = legend->width * (legend->n % legend->columns) + 4;
    const double at = CHART_TOP + CHART_HEIGHT + CHART_BELOW + CHART_LEGEND * row + 8;
    g_autofree char *stroke = g_strdup_printf("s%u mark", colour), *label = chart_label_of(chart, name, column);
    chart_draw(chart, x, y, column, run, name, colour, out);
    if (!*label)
        return;
    legend->n++;
    chart_line(out, left, at, left + 18, at, stroke);
    chart_text(out, left + 24, at + 4, "start", label);
}

static void chart_write(const Chart *chart, const Axis *x, const Axis *y, const char *run, const char *title,
                        GString *out)
{
    g_autoptr(GPtrArray) names = chart_names(chart, chart->series);
    g_autoptr(GString) body = g_string_new(NULL);
    Legend legend = chart_legend(chart, names);
    chart_axes(chart, x, y, body);
    for (guint i = 0; i < names->len; i++)
        for (guint c = 0; c < chart->n_y; c++)
            chart_add_series(chart, x, y, chart->y[c], run, g_ptr_array_index(names, i), &legend, body);
    /* As wide as the page lets it: a size in pixels would be cropped by a narrow window. */
    const guint rows = (legend.n + legend.columns - 1) / legend.columns;
    g_string_append_printf(out, "<figure tabindex=\"0\"><svg viewBox=\"0 0 %d %d\"",
                           (int)MAX(CHART_LEFT + CHART_WIDTH + CHART_RIGHT, legend.width),
                           (int)(CHART_TOP + CHART_HEIGHT + CHART_BELOW + CHART_LEGEND * rows));
    markup_append(out, " role=\"img\"><title>%s</title>\n", title);
    g_string_append(out, body->str);
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

/* The time in which something happens, where it is less than half: what was left out, to be said; else NULL. */
static char *chart_trim(const Chart *chart, Axis *x)
{
    const Table *table = chart->table;
    double first = INFINITY, last = -INFINITY, value, from, to;
    for (guint r = 0; r < table_rows(table); r++)
        for (guint c = chart->x + 1; c < table->n_columns; c++)
            if (chart_value(table, r, c, FALSE, &value) && value != 0 &&
                chart_value(table, r, chart->x - 1, FALSE, &from) && chart_value(table, r, chart->x, FALSE, &to)) {
                first = MIN(first, from);
                last = MAX(last, to);
            }
    if (!(last > first) || last - first > (x->max - x->min) / 2)
        return NULL;
    const double margin = (last - first) / 20, all = x->max;
    char text[2][G_ASCII_DTOSTR_BUF_SIZE];
    x->min = MAX(first - margin, x->min);
    x->max = MIN(last + margin, x->max);
    g_ascii_formatd(text[0], sizeof text[0], "%.4g", x->max - x->min);
    g_ascii_formatd(text[1], sizeof text[1], "%.4g", all);
    return g_strdup_printf("%s: the %s of %s %s in which packets were on their way", chart->title, text[0], text[1],
                           table->columns[chart->x].unit);
}

void report_write_chart(const Chart *chart, GString *out)
{
    const guint ends[2] = {chart->x, chart->x + 1};
    Axis x = chart_axis(chart, ends, chart->flags & CHART_BARS ? 2 : 1, (chart->flags & CHART_LOG_X) != 0);
    Axis y = chart_axis(chart, chart->y, chart->n_y, (chart->flags & CHART_LOG_Y) != 0);
    if (chart->flags & CHART_BARS && x.log && x.max - x.min < 0.5) { /* one bar is no wall */
        x.min -= 0.25;
        x.max += 0.25;
    }
    if (chart->flags & CHART_DIAGONAL) {
        x.min = y.min = MIN(x.min, y.min);
        x.max = y.max = MAX(x.max, y.max);
    }
    if (chart->flags & CHART_NO_POINTS && y.max <= 2 && chart_is_zero(chart))
        return;
    g_autofree char *trimmed = chart->flags & CHART_STEPS ? chart_trim(chart, &x) : NULL;
    const char *of = trimmed ? trimmed : chart->title;
    g_autoptr(GPtrArray) runs = chart_names(chart, chart->split);
    if (runs->len < 2) {
        chart_write(chart, &x, &y, runs->len ? g_ptr_array_index(runs, 0) : "", of, out);
        return;
    }
    g_string_append(out, "<div class=\"side\">\n");
    for (guint i = 0; i < runs->len; i++) {
        const char *run = g_ptr_array_index(runs, i);
        g_autofree char *title = g_strdup_printf("%s: %s", of, run);
        if (chart->flags & CHART_BARS) /* numbers of requests may be far apart: it is shapes that are compared */
            chart_fit(chart, run, &y);
        chart_write(chart, &x, &y, run, title, out);
    }
    g_string_append(out, "</div>\n");
}
