/* The axes of a chart: what they span, where their ticks stand, what they are called. */
#include <math.h>
#include <string.h>

#include "sim/param/size.h"
#include "sim/report/chart_parts.h"
#include "sim/report/words.h"

const char *chart_name(const Chart *chart, guint row, guint column)
{
    if (column == chart->table->n_columns)
        return "";
    const char *text = table_cell(chart->table, row, column)->text;
    return text ? text : "-";
}

gboolean chart_has(const Chart *chart, guint row, const char *run, const char *name)
{
    return strcmp(chart_name(chart, row, chart->split), run) == 0 &&
           strcmp(chart_name(chart, row, chart->series), name) == 0;
}

gboolean chart_value(const Table *table, guint row, guint column, gboolean log, double *value)
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

Axis chart_axis(const Chart *chart, const guint *column, guint n, gboolean log)
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
double chart_step(const Axis *axis)
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

char *chart_label(const Axis *axis, double value)
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

double chart_x(const Axis *axis, double value)
{
    return CHART_LEFT + CHART_WIDTH * (value - axis->min) / (axis->max - axis->min);
}

double chart_y(const Axis *axis, double value)
{
    return CHART_TOP + CHART_HEIGHT * (1 - (value - axis->min) / (axis->max - axis->min));
}

void chart_line(GString *out, double x1, double y1, double x2, double y2, const char *kind)
{
    g_string_append(out, "<line");
    markup_number(out, "%.1f", "x1", x1);
    markup_number(out, "%.1f", "y1", y1);
    markup_number(out, "%.1f", "x2", x2);
    markup_number(out, "%.1f", "y2", y2);
    g_string_append_printf(out, " class=\"%s\"/>\n", kind);
}

/* kind: a class of the page's style, or "". */
static void chart_text(GString *out, double x, double y, const char *anchor, const char *kind, const char *text)
{
    g_string_append(out, "<text");
    markup_number(out, "%.1f", "x", x);
    markup_number(out, "%.1f", "y", y);
    g_string_append_printf(out, " text-anchor=\"%s\"", anchor);
    if (*kind)
        g_string_append_printf(out, " class=\"%s\"", kind);
    markup_append(out, ">%s</text>\n", text);
}

/* thin: a label that gives way to its neighbours where the window is narrow. */
static void chart_tick_x(const Axis *x, double at, gboolean thin, GString *out)
{
    g_autofree char *label = chart_label(x, at);
    chart_line(out, chart_x(x, at), CHART_TOP, chart_x(x, at), CHART_TOP + CHART_HEIGHT, "grid");
    chart_text(out, chart_x(x, at), CHART_TOP + CHART_HEIGHT + 18, "middle", thin ? "below thin" : "below", label);
}

/* At each value where there are few; else at whole powers of two on a logarithmic axis, and at round numbers where it
 * has hardly any. */
static void chart_ticks_x(const Axis *x, GString *out)
{
    const gboolean few = x->log && x->max - x->min < 2;
    const Axis plain = {.min = exp2(x->min), .max = exp2(x->max), .column = x->column};
    const Axis *of = few ? &plain : x;
    const double step = chart_step(of);
    for (guint i = 0; x->at && i < x->at->len; i++)
        chart_tick_x(x, g_array_index(x->at, double, i), x->at->len > 8 && i % 2, out);
    for (double at = ceil(of->min / step) * step; !x->at && at <= of->max + step / 1e6; at += step)
        chart_tick_x(x, few ? log2(at) : at, FALSE, out);
}

/* Words with the unit, and the key by which a table or a script has it in small print. */
static void chart_title(GString *out, double x, double y, const char *anchor, const char *words, const char *key)
{
    g_string_append(out, "<text");
    markup_number(out, "%.1f", "x", x);
    markup_number(out, "%.1f", "y", y);
    g_string_append_printf(out, " text-anchor=\"%s\">", anchor);
    markup_append(out, "%s", words);
    if (key)
        markup_append(out, " <tspan class=\"key\">%s</tspan>", key);
    g_string_append(out, "</text>\n");
}

/* What several columns of one unit are together. */
static const char *chart_words_of_unit(const char *unit)
{
    return strcmp(unit, "GB/s") == 0    ? "throughput (GB/s)"
           : strcmp(unit, "tags") == 0  ? "tags in use"
           : strcmp(unit, "times") == 0 ? "waits that began, each interval"
                                        : unit;
}

static void chart_titles(const Chart *chart, const Axis *x, const Axis *y, const char *y_name, GString *out)
{
    g_autofree char *across = report_axis_title(x->column->key, x->column->unit);
    g_autofree char *up = y_name            ? g_strdup(y_name)
                          : chart->n_y == 1 ? report_axis_title(y->column->key, y->column->unit)
                                            : g_strdup(chart_words_of_unit(y->column->unit));
    chart_title(out, CHART_LEFT + CHART_WIDTH / 2, CHART_TOP + CHART_HEIGHT + 42, "middle", across, x->column->key);
    chart_title(out, CHART_LEFT, CHART_TOP - 12, "start", up, !y_name && chart->n_y == 1 ? y->column->key : NULL);
}

void chart_axes(const Chart *chart, const Axis *x, const Axis *y, const char *y_name, GString *out)
{
    double bottom = CHART_TOP + CHART_HEIGHT, right = CHART_LEFT + CHART_WIDTH;
    chart_ticks_x(x, out);
    double step = chart_step(y);
    for (double at = ceil(y->min / step) * step; at <= y->max + step / 1e6; at += step) {
        g_autofree char *label = chart_label(y, at);
        chart_line(out, CHART_LEFT, chart_y(y, at), right, chart_y(y, at), "grid");
        chart_text(out, CHART_LEFT - 6, chart_y(y, at) + 4, "end", "", label);
    }
    chart_line(out, CHART_LEFT, bottom, right, bottom, "axis");
    chart_line(out, CHART_LEFT, CHART_TOP, CHART_LEFT, bottom, "axis");
    if (chart->flags & CHART_DIAGONAL)
        chart_line(out, CHART_LEFT, bottom, right, CHART_TOP, "axis");
    chart_titles(chart, x, y, y_name, out);
}

static int chart_compare(gconstpointer a, gconstpointer b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

GArray *chart_values(const Chart *chart, guint column, gboolean log, guint most)
{
    GArray *values = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint r = 0; r < table_rows(chart->table) && values->len <= most; r++) {
        double value;
        guint known = 0;
        if (!chart_value(chart->table, r, column, log, &value))
            continue;
        while (known < values->len && g_array_index(values, double, known) != value)
            known++;
        if (known == values->len)
            g_array_append_val(values, value);
    }
    g_array_sort(values, chart_compare);
    return values;
}
