/* See plot_script.h. */
#include "explore/plot_script.h"

#include <math.h>
#include <string.h>

#include "explore/plot_parts.h"
#include "sim/param/size.h"
#include "sim/report/words.h"

/* Okabe and Ito's colours, which people tell apart who see red and green as one; without their yellow, which is none
 * on white. The second half of the lines is dashed. */
static const char *const script_colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                             "#56b4e9", "#e69f00", "#555555", "#7b4fa3"};
#define SCRIPT_COLOURS G_N_ELEMENTS(script_colours)
#define SCRIPT_TICKS 12u

/* A word in single quotes: gnuplot reads nothing inside as its own but another such quote. */
static void script_word(GString *out, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_string_append_c(out, '\'');
    for (const char *at = valid; *at; at++)
        g_string_append_printf(out, *at == '\'' ? "''" : "%c", (guchar)*at < ' ' ? ' ' : *at);
    g_string_append_c(out, '\'');
}

static void script_number(GString *out, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_c(out, ' ');
    g_string_append(out, isfinite(value) ? g_ascii_formatd(text, sizeof text, "%.15g", value) : "NaN");
}

static char *script_label(const FrameColumn *column, double value)
{
    if (strcmp(column->unit, "B") == 0 && value >= 1 && value == floor(value) && value < 9e18)
        return size_format((guint64)value);
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    return g_strdup(g_ascii_formatd(text, sizeof text, "%.6g", value));
}

/* ---- axes */

/* Names, each at its place; of many, every other one or fewer, so that they can be read. */
static void script_named_ticks(GString *out, const PlotAxis *axis, char letter)
{
    guint step = (axis->names->len + 23) / 24;
    g_string_append_printf(out, "set %ctics (", letter);
    for (guint i = 0; i < axis->names->len; i += step) {
        const char *name = axis->names->pdata[i];
        g_autofree char *label = axis->column->is_number && strcmp(name, "-") != 0
                                     ? script_label(axis->column, g_ascii_strtod(name, NULL))
                                     : g_strdup(name);
        g_string_append(out, i ? ", " : "");
        script_word(out, label);
        g_string_append_printf(out, " %u", i + 1);
    }
    g_string_append_printf(out, ")%s\n", letter == 'x' && axis->names->len > 8 ? " rotate by -35" : "");
    g_string_append_printf(out, "set %crange [0.5:%u.5]\n", letter, axis->names->len);
}

/* Powers of two of a logarithmic axis of whole numbers, multiples of a power of two of one of bytes: other round
 * numbers are none there. The rest is left to gnuplot. */
static void script_scale_ticks(GString *out, const PlotAxis *axis, char letter)
{
    gboolean is_bytes = strcmp(axis->column->unit, "B") == 0 && axis->column->is_whole;
    double first = 0, step = 0;
    if (axis->log_2) {
        first = exp2(floor(log2(axis->least)));
        step = exp2(ceil(MAX(1, log2(axis->most / first) / SCRIPT_TICKS)));
    } else if (is_bytes && !axis->log && axis->most > axis->least) {
        step = exp2(ceil(log2((axis->most - axis->least) / 8)));
        first = floor(axis->least / step) * step;
    }
    if (step == 0)
        return;
    const char *comma = "";
    g_string_append_printf(out, "set %ctics (", letter);
    for (double at = first; at <= axis->most * 1.0000001; at = axis->log_2 ? at * step : at + step) {
        g_autofree char *label = script_label(axis->column, at);
        g_string_append(out, comma);
        script_word(out, label);
        script_number(out, at);
        comma = ", ";
    }
    g_string_append(out, ")\n");
}

/* Some room beyond the values; a scale that is not one of factors begins at 0, or lengths could not be compared. */
static void script_range(GString *out, const PlotAxis *axis, char letter, gboolean from_zero)
{
    double least = axis->least, most = axis->most, room = (most - least) / 20;
    if (axis->log) {
        double factor = MAX(pow(most / least, 0.04), 1.05);
        least /= factor;
        most *= factor;
    } else {
        if (from_zero && least > 0)
            room = (most - (least = 0)) / 20;
        if (room <= 0)
            room = most != 0 ? fabs(most) / 10 : 1;
        least = from_zero && axis->least >= 0 ? 0 : least - room;
        most += room;
    }
    g_string_append_printf(out, "set %crange [", letter);
    script_number(out, least);
    g_string_append(out, ":");
    script_number(out, most);
    g_string_append(out, "]\n");
}

/* A tick at each point of a logarithmic axis, where there are few. */
static gboolean script_point_ticks(GString *out, const Plot *plot)
{
    g_autoptr(GArray) places = plot_places(plot);
    if (!plot->x.log || places->len > SCRIPT_TICKS)
        return FALSE;
    g_string_append(out, "set xtics (");
    for (guint i = 0; i < places->len; i++) {
        const double at = g_array_index(places, double, i);
        g_autofree char *label = script_label(plot->x.column, at);
        g_string_append(out, i ? ", " : "");
        script_word(out, label);
        script_number(out, at);
    }
    g_string_append(out, ")\n");
    return TRUE;
}

/* The names by which the database has what the axes say in words, in small print. */
static void script_keys(GString *out, const Plot *plot)
{
    g_autofree char *keys = g_strdup_printf("x: %s, y: %s%s%s", plot->x.column->name, plot->y.column->name,
                                            plot->kind == PLOT_HEAT ? ", colour: " : "",
                                            plot->kind == PLOT_HEAT ? plot->z.column->name : "");
    g_string_append(out, "set label 9 ");
    script_word(out, keys);
    g_string_append(out, " at screen 0.988, screen 0.975 right font ',10' textcolor '#555555'\n");
}

static void script_axis(GString *out, const Plot *plot, const PlotAxis *axis, char letter, gboolean from_zero)
{
    g_autofree char *title = report_axis_title(axis->column->name, axis->column->unit);
    g_string_append_printf(out, "set %s ", letter == 'x' ? "xlabel" : letter == 'y' ? "ylabel" : "cblabel");
    script_word(out, title);
    g_string_append(out, letter == 'z' ? " offset 2\n" : "\n");
    if (letter == 'z')
        return;
    if (axis->names) {
        script_named_ticks(out, axis, letter);
        return;
    }
    if (axis->log)
        g_string_append_printf(out, "set logscale %c %s\n", letter, axis->log_2 ? "2" : "10");
    script_range(out, axis, letter, from_zero);
    if (letter != 'x' || !script_point_ticks(out, plot))
        script_scale_ticks(out, axis, letter);
}

/* What the picture alone would not say: which points it leaves out, and which it puts together. */
static void script_notes(const Plot *plot, GString *out)
{
    if (plot->notes->len == 0)
        return;
    g_string_append(out, "set bmargin 6\n");
    for (guint i = 0; i < MIN(plot->notes->len, 2); i++) {
        g_string_append_printf(out, "set label %u ", i + 1);
        script_word(out, plot->notes->pdata[i]);
        g_string_append_printf(out, " at screen 0.012, screen 0.0%s font ',10' textcolor '#555555'\n", i ? "2" : "5");
    }
}

static void script_head(const Plot *plot, PlotFormat format, GString *out)
{
    g_string_append(
        out, format == PLOT_SVG
                 ? "set terminal svg size 900,540 dynamic noenhanced font 'DejaVu Sans,13' background '#ffffff'\n"
                 : "set terminal pngcairo size 1350,810 noenhanced font 'DejaVu Sans,14' background '#ffffff' "
                   "linewidth 1.5\n");
    g_string_append(out, "set encoding utf8\nset title ");
    script_word(out, plot->title ? plot->title : "");
    g_string_append(out, "\nset tics nomirror out\nset border 3 linecolor '#555555'\n");
    g_string_append(out, plot->kind == PLOT_HEAT ? "set colorbox\n" : "set grid linecolor '#dddddd' linetype 1\n");
    script_axis(out, plot, &plot->x, 'x', FALSE);
    script_axis(out, plot, &plot->y, 'y', plot->kind != PLOT_PARETO);
    if (plot->kind == PLOT_HEAT)
        script_axis(out, plot, &plot->z, 'z', FALSE);
    if (*plot->by) {
        g_string_append(out, "set key outside right top Left reverse samplen 2 width 1 title ");
        script_word(out, plot->by);
        g_string_append_c(out, '\n');
    } else {
        g_string_append(out, plot->kind == PLOT_PARETO ? "set key outside right top Left reverse samplen 2\n"
                                                       : "unset key\n");
    }
    script_keys(out, plot);
    script_notes(plot, out);
    for (guint i = 0; i < PLOT_SERIES_MOST; i++)
        g_string_append_printf(out,
                               "set style line %u linecolor '%s' dashtype %u linewidth 2 pointtype %u "
                               "pointsize 0.7\n",
                               i + 1, script_colours[i % SCRIPT_COLOURS], i < SCRIPT_COLOURS ? 1u : 2u,
                               i < SCRIPT_COLOURS ? 7u : 6u);
}

/* ---- data */

static void script_data(const Plot *plot, guint s, GString *out)
{
    const PlotSeries *series = plot->series->pdata[s];
    /* Boxes of one x stand side by side. */
    double width = 0.7 / plot->series->len, shift = plot->kind == PLOT_BOX ? (s + 0.5) * width - 0.35 : 0;
    g_string_append_printf(out, "$s%u << END\n", s);
    for (guint i = 0; i < series->marks->len; i++) {
        const PlotMark *mark = &g_array_index(series->marks, PlotMark, i);
        const double values[] = {mark->x + shift, mark->y, mark->low, mark->q1, mark->q3, mark->high, mark->z};
        for (guint k = 0; k < G_N_ELEMENTS(values); k++)
            script_number(out, values[k]);
        g_string_append_c(out, '\n');
    }
    g_string_append(out, "END\n");
    if (plot->kind != PLOT_PARETO)
        return;
    g_string_append_printf(out, "$f%u << END\n", s); /* the front, in the order of x, which marks have */
    for (guint i = 0; i < series->marks->len; i++) {
        const PlotMark *mark = &g_array_index(series->marks, PlotMark, i);
        if (!mark->front)
            continue;
        script_number(out, mark->x);
        script_number(out, mark->y);
        g_string_append_c(out, '\n');
    }
    g_string_append(out, "END\n");
}

static gboolean script_has_bars(const PlotSeries *series)
{
    for (guint i = 0; i < series->marks->len; i++)
        if (g_array_index(series->marks, PlotMark, i).low < g_array_index(series->marks, PlotMark, i).high)
            return TRUE;
    return FALSE;
}

static void script_draw_series(const Plot *plot, guint s, GString *out)
{
    const PlotSeries *series = plot->series->pdata[s];
    const guint style = s + 1;
    g_autofree char *front = g_strdup_printf("%s%s", series->name, *series->name ? ": front" : "Pareto front");
    g_string_append_printf(out, "%s$s%u using ", s ? ", " : "plot ", s);
    if (plot->kind == PLOT_LINES) {
        g_string_append_printf(out, "1:2 with linespoints linestyle %u title ", style);
        script_word(out, series->name);
        if (script_has_bars(series))
            g_string_append_printf(out, ", $s%u using 1:2:3:6 with yerrorbars linestyle %u notitle", s, style);
    } else if (plot->kind == PLOT_PARETO) {
        g_string_append_printf(out, "1:2 with points pointtype 7 pointsize 0.6 linecolor '%s' title ",
                               plot->series->len > 1 ? script_colours[s % SCRIPT_COLOURS] : "#999999");
        script_word(out, *series->name ? series->name : "points");
        g_string_append_printf(out, ", $f%u using 1:2 with linespoints linestyle %u title ", s, style);
        script_word(out, front);
    } else if (plot->kind == PLOT_BOX) {
        g_string_append_printf(out,
                               "1:4:3:6:5 with candlesticks whiskerbars 0.5 linestyle %u fillstyle solid 0.25 "
                               "title ",
                               style);
        script_word(out, series->name);
        g_string_append_printf(out, ", $s%u using 1:2:2:2:2 with candlesticks linestyle %u linewidth 3 notitle", s,
                               style);
    } else {
        g_string_append(out, "1:2:(0.5):(0.5):7 with boxxyerror fillstyle solid noborder linecolor palette notitle");
    }
}

/* Numbers in the cells, where there is room for them. */
static void script_draw_numbers(const Plot *plot, GString *out)
{
    if (plot->kind != PLOT_HEAT || plot->x.names->len > 12 || plot->y.names->len > 16)
        return;
    double middle = (plot->z.least + plot->z.most) / 2;
    for (guint dark = 0; dark < 2; dark++) {
        g_string_append_printf(out, ", $s0 using 1:($7 %s", dark ? "<" : ">=");
        script_number(out, middle);
        g_string_append_printf(out, " ? $2 : NaN):(sprintf('%%.4g', $7)) with labels textcolor '%s' notitle",
                               dark ? "#ffffff" : "#000000");
    }
}

char *plot_script(const Plot *plot, PlotFormat format)
{
    GString *out = g_string_new(NULL);
    script_head(plot, format, out);
    if (plot->kind == PLOT_HEAT) /* viridis: equal steps look equal, in grey too */
        g_string_append(out, "set palette defined (0 '#440154', 1 '#46327e', 2 '#365c8d', 3 '#277f8e', 4 '#1fa187', "
                             "5 '#4ac16d', 6 '#a0da39', 7 '#fde725')\n");
    if (plot->kind == PLOT_BOX) {
        g_string_append(out, "set boxwidth");
        script_number(out, 0.6 / plot->series->len);
        g_string_append(out, "\n");
    }
    for (guint s = 0; s < plot->series->len; s++)
        script_data(plot, s, out);
    for (guint s = 0; s < plot->series->len; s++)
        script_draw_series(plot, s, out);
    script_draw_numbers(plot, out);
    g_string_append_c(out, '\n');
    return g_string_free(out, FALSE);
}
