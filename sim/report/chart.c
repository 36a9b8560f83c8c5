/* A chart as SVG: axes with round numbers, one colour for each series, and a legend of words below, which breaks into
 * lines where the window is narrow. */
#include <math.h>
#include <string.h>

#include "sim/report/chart_parts.h"

#define CHART_VALUES_MAX 12u /* of an axis that has a tick at each */

static const char *const chart_marks[MARKUP_COLOURS] = {
    "s0 mark", "s1 mark", "s2 mark", "s3 mark",  "s4 mark",  "s5 mark",  "s6 mark",
    "s7 mark", "s8 mark", "s9 mark", "s10 mark", "s11 mark", "s12 mark", "s13 mark",
};

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

/* Whether others have a value between two of this series', which then has none there: a line over it would say that it
 * had, as where each size has the algorithm that is best there. */
static gboolean chart_is_gap(const Chart *chart, gboolean log, const char *run, double from, double to)
{
    double at;
    for (guint r = 0; r < table_rows(chart->table); r++)
        if (strcmp(chart_name(chart, r, chart->split), run) == 0 && chart_value(chart->table, r, chart->x, log, &at) &&
            at > MIN(from, to) && at < MAX(from, to))
            return TRUE;
    return FALSE;
}

static void chart_end_line(GString *path, guint colour, GString *out)
{
    g_string_append_printf(out, "<polyline points=\"%s\" fill=\"none\" class=\"s%u\" stroke-width=\"1.5\"/>\n",
                           path->str, colour);
    g_string_truncate(path, 0);
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
    const gboolean lines = (chart->flags & CHART_LINES) != 0;
    double last_x = 0;
    for (guint r = 0; r < table_rows(chart->table); r++) {
        double at_x, at_y;
        if (!chart_has(chart, r, run, name))
            continue;
        if (!chart_value(chart->table, r, chart->x, x->log, &at_x) ||
            !chart_value(chart->table, r, column, y->log, &at_y))
            continue;
        char px[G_ASCII_DTOSTR_BUF_SIZE], py[G_ASCII_DTOSTR_BUF_SIZE];
        if (lines && path->len && chart_is_gap(chart, x->log, run, last_x, at_x))
            chart_end_line(path, colour, out);
        last_x = at_x;
        g_ascii_formatd(px, sizeof px, "%.1f", chart_x(x, at_x));
        g_ascii_formatd(py, sizeof py, "%.1f", chart_y(y, at_y));
        g_string_append_printf(path, "%s%s,%s", path->len ? " " : "", px, py);
        if (chart->flags & CHART_NO_POINTS)
            continue;
        g_string_append_printf(out, "<circle cx=\"%s\" cy=\"%s\" r=\"3\" class=\"f%u\">", px, py, colour);
        markup_append(out, "<title>%s %s, %s</title></circle>\n", name, table_cell(chart->table, r, chart->x)->text,
                      table_cell(chart->table, r, column)->text);
    }
    if (lines)
        chart_end_line(path, colour, out);
    g_string_free(path, TRUE);
}

/* ---- the legend, in words of the page: those of a picture would shrink with it */

static char *chart_label_of(const Chart *chart, const char *name, guint column)
{
    const char *head = chart->n_y > 1 ? chart->table->columns[column].head : "";
    return g_strdup_printf("%s%s%s", name, *name && *head ? ", " : "", head);
}

void report_write_legend(const char *const *names, guint n, gboolean areas, const guint *colour, GString *out)
{
    g_string_append(out, "<ul class=\"legend\">");
    for (guint i = 0; i < n; i++) {
        const guint c = colour ? colour[i] : i;
        g_string_append(out, "<li><svg class=\"sign\" viewBox=\"0 0 20 12\" aria-hidden=\"true\">");
        if (areas)
            g_string_append_printf(out, "<rect width=\"20\" height=\"12\" class=\"f%u\"/>", c % MARKUP_COLOURS);
        else
            chart_line(out, 0, 6, 20, 6, chart_marks[c % MARKUP_COLOURS]);
        markup_append(out, "</svg>%s</li>", names[i]);
    }
    g_string_append(out, "</ul>\n");
}

static void chart_legend(const Chart *chart, const GPtrArray *names, GString *out)
{
    g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < names->len; i++)
        for (guint c = 0; c < chart->n_y; c++)
            g_ptr_array_add(labels, chart_label_of(chart, g_ptr_array_index(names, i), chart->y[c]));
    if (labels->len > 1 || (labels->len && *(const char *)labels->pdata[0]))
        report_write_legend((const char *const *)labels->pdata, labels->len, (chart->flags & CHART_BARS) != 0, NULL,
                            out);
}

static void chart_write(const Chart *chart, const Axis *across, const Axis *up, const char *run, const char *title,
                        GString *out)
{
    g_autoptr(GPtrArray) names = chart_names(chart, chart->series);
    g_autoptr(GString) body = g_string_new(NULL);
    g_autofree char *y_name = NULL;
    Axis x = *across, y = *up;
    guint n = 0;
    if (chart->flags & CHART_BARS)
        chart_histogram(chart, &x, &y, run, names, body, &y_name);
    for (guint i = 0; i < names->len && !(chart->flags & CHART_BARS); i++)
        for (guint c = 0; c < chart->n_y; c++)
            chart_draw(chart, &x, &y, chart->y[c], run, g_ptr_array_index(names, i), n++ % MARKUP_COLOURS, body);
    /* As wide as the page lets it: a size in pixels would be cropped by a narrow window. */
    markup_append(out, "<figure class=\"chart\" tabindex=\"0\"><figcaption>%s</figcaption>\n", title);
    g_string_append_printf(out, "<svg viewBox=\"0 0 %d %d\"", (int)(CHART_LEFT + CHART_WIDTH + CHART_RIGHT),
                           (int)(CHART_TOP + CHART_HEIGHT + CHART_BELOW));
    markup_append(out, " role=\"img\"><title>%s</title>\n", title);
    chart_axes(chart, &x, &y, y_name, out);
    g_string_append(out, body->str);
    g_string_append(out, "</svg>\n");
    chart_legend(chart, names, out);
    g_string_append(out, "</figure>\n");
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
    g_autoptr(GArray) few = chart_values(chart, chart->x, x.log, CHART_VALUES_MAX);
    if (chart->flags & CHART_LINES && !(chart->flags & CHART_STEPS) && few->len < 2)
        return; /* a line of one point: the table says it better */
    if (x.log && !(chart->flags & (CHART_BARS | CHART_DIAGONAL)) && few->len <= CHART_VALUES_MAX)
        x.at = few;
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
        chart_write(chart, &x, &y, run, title, out);
    }
    g_string_append(out, "</div>\n");
}
