/* How many requests took how long: bars of one width.
 *
 * A histogram in memory has buckets that double in width with every power of two; drawn with their counts as heights,
 * an even spread looks like steps, and a second peak like a wall. Here all bars have one width on the axis, of time
 * where the longest is within HISTOGRAM_NEAR times the shortest, of the logarithm where it is not, and the requests of
 * a bucket are shared out evenly over the bars that it lies in. So equal areas are equal numbers of requests. */
#include <math.h>
#include <string.h>

#include "sim/report/chart_parts.h"

#define HISTOGRAM_BARS 90
#define HISTOGRAM_NEAR 64.0 /* the longest over the shortest of a plain axis */

/* From `first` on; places on the axis, which are logarithms where it is logarithmic. */
typedef struct {
    double first, width;
    guint n;
} Bars;

static double histogram_place(const Axis *x, double value) { return x->log ? log2(value) : value; }

/* A bar is 1, 2 or 5 times a power of ten wide, and `least` or more, or a part of a doubling. */
static Bars histogram_bars(Axis *x, double least)
{
    const double low = x->log ? exp2(x->min) : x->min, high = x->log ? exp2(x->max) : x->max;
    Bars bars = {0};
    x->log = x->log && high / low > HISTOGRAM_NEAR;
    if (x->log) {
        bars.width = 1 / floor(CLAMP(HISTOGRAM_BARS / (x->max - x->min), 1, 8));
    } else {
        const double rough = MAX((high - low) / HISTOGRAM_BARS, least), power = pow(10, floor(log10(MAX(rough, 1e-6))));
        const double part = rough / power;
        bars.width = power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
        x->min = low;
        x->max = high;
    }
    bars.first = floor(x->min / bars.width) * bars.width;
    bars.n = (guint)ceil((x->max - bars.first) / bars.width - 1e-9);
    bars.n = MAX(bars.n, 1);
    x->min = bars.first;
    x->max = bars.first + bars.n * bars.width;
    return bars;
}

/* A bucket's requests, by the share of it that lies in each bar. */
static void histogram_share(const Axis *x, const Bars *bars, double from, double to, double count, double *height)
{
    const double a = histogram_place(x, from), b = histogram_place(x, MAX(to, from));
    guint first = (guint)CLAMP(floor((a - bars->first) / bars->width), 0, bars->n - 1);
    for (guint i = first; i < bars->n; i++) {
        const double left = bars->first + i * bars->width, right = left + bars->width;
        if (left >= b && i > first)
            return;
        const double low = MAX(a, left), high = MIN(b, right);
        const double wide = x->log ? exp2(high) - exp2(low) : high - low;
        height[i] += to > from ? count * MAX(wide, 0) / (to - from) : i == first ? count : 0;
    }
}

static void histogram_sum(const Chart *chart, const Axis *x, const Bars *bars, const char *run, const char *name,
                          double *height)
{
    memset(height, 0, bars->n * sizeof *height);
    for (guint r = 0; r < table_rows(chart->table); r++) {
        double from, to, count;
        if (chart_has(chart, r, run, name) && chart_value(chart->table, r, chart->x, FALSE, &from) &&
            chart_value(chart->table, r, chart->x + 1, FALSE, &to) &&
            chart_value(chart->table, r, chart->y[0], FALSE, &count) && from > 0)
            histogram_share(x, bars, from, to, count, height);
    }
}

/* One series: its bars, and the line over them, by which series behind each other are told apart. */
static void histogram_draw(const Axis *x, const Axis *y, const Bars *bars, const double *height, const char *name,
                           guint colour, const char *unit, GString *out)
{
    GString *line = g_string_new(NULL);
    char px[G_ASCII_DTOSTR_BUF_SIZE], py[G_ASCII_DTOSTR_BUF_SIZE];
    const double bottom = CHART_TOP + CHART_HEIGHT;
    for (guint i = 0; i < bars->n; i++) {
        const double left = bars->first + i * bars->width, right = left + bars->width;
        const double top = chart_y(y, height[i]);
        for (guint end = 0; end < 2; end++) {
            g_ascii_formatd(px, sizeof px, "%.1f", chart_x(x, end ? right : left));
            g_ascii_formatd(py, sizeof py, "%.1f", top);
            g_string_append_printf(line, "%s%s,%s", line->len ? " " : "", px, py);
        }
        if (height[i] <= 0)
            continue;
        g_string_append(out, "<rect");
        markup_number(out, "%.1f", "x", chart_x(x, left));
        markup_number(out, "%.1f", "y", top);
        markup_number(out, "%.1f", "width", chart_x(x, right) - chart_x(x, left));
        markup_number(out, "%.1f", "height", bottom - top);
        g_string_append_printf(out, " class=\"f%u\" fill-opacity=\".4\">", colour);
        g_ascii_formatd(px, sizeof px, "%.4g", x->log ? exp2(left) : left);
        g_ascii_formatd(py, sizeof py, "%.4g", x->log ? exp2(right) : right);
        markup_append(out, "<title>%s %s to %s %s: %.0f</title></rect>\n", name, px, py, unit, height[i]);
    }
    g_string_append_printf(out, "<polyline fill=\"none\" class=\"s%u\" stroke-width=\"1.2\" points=\"%s\"/>\n", colour,
                           line->str);
    g_string_free(line, TRUE);
}

/* The highest bar of all series. */
static double histogram_most(const Chart *chart, const Axis *x, const Bars *bars, const char *run,
                             const GPtrArray *names)
{
    g_autofree double *height = g_new0(double, bars->n);
    double most = 0;
    for (guint s = 0; s < names->len; s++) {
        histogram_sum(chart, x, bars, run, g_ptr_array_index(names, s), height);
        for (guint i = 0; i < bars->n; i++)
            most = MAX(most, height[i]);
    }
    return most;
}

/* As wide as the narrowest bucket. */
static double histogram_bucket(const Chart *chart)
{
    double least = 0, from, to;
    for (guint r = 0; r < table_rows(chart->table); r++)
        if (chart_value(chart->table, r, chart->x, FALSE, &from) &&
            chart_value(chart->table, r, chart->x + 1, FALSE, &to) && to > from && (least == 0 || to - from < least))
            least = to - from;
    return least;
}

void chart_histogram(const Chart *chart, Axis *x, Axis *y, const char *run, const GPtrArray *names, GString *out,
                     char **y_name)
{
    const Axis asked = *x;
    Bars bars = histogram_bars(x, 0);
    double most = histogram_most(chart, x, &bars, run, names);
    if (most < 1) { /* so few requests that a bar would have a part of one */
        *x = asked;
        bars = histogram_bars(x, histogram_bucket(chart));
        most = histogram_most(chart, x, &bars, run, names);
    }
    const char *unit = chart->table->columns[chart->x].unit;
    g_autofree double *height = g_new0(double, bars.n);
    y->min = 0;
    y->max = most > 0 ? most : 2;
    for (guint s = 0; s < names->len; s++) {
        histogram_sum(chart, x, &bars, run, g_ptr_array_index(names, s), height);
        histogram_draw(x, y, &bars, height, g_ptr_array_index(names, s), s % MARKUP_COLOURS, unit, out);
    }
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(text, sizeof text, "%.4g", x->log ? 1 / bars.width : bars.width);
    *y_name = x->log ? g_strdup_printf("requests in each bar (%s to a doubling)", text)
                     : g_strdup_printf("requests in every %s %s", text, unit);
}
