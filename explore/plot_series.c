/* Rows put together to what is drawn; see plot.h. */
#include "explore/plot_parts.h"

#include <math.h>
#include <string.h>

#include "explore/spec.h"
#include "explore/store.h"
#include "sim/param/size.h"

typedef struct {
    guint series, row;
    double x, y;  /* places */
    double value; /* that has a median: y, or z of a heat map */
} PlotRow;

/* The place of a row on an axis; NaN: none. */
static double plot_place(const PlotAxis *axis, guint row)
{
    guint at;
    if (!axis->names)
        return axis->column->number[row];
    return g_ptr_array_find_with_equal_func(axis->names, plot_text(axis->column, row), g_str_equal, &at) ? at + 1 : NAN;
}

static gint plot_by_place(gconstpointer a, gconstpointer b)
{
    const PlotRow *first = a, *second = b;
    const double keys[][2] = {{first->series, second->series},
                              {first->x, second->x},
                              {first->y, second->y},
                              {first->value, second->value},
                              {first->row, second->row}};
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* "nvls, 64K" */
static char *plot_series_name(const FrameColumn *const *by, guint n_by, guint row)
{
    GString *name = g_string_new(NULL);
    for (guint i = 0; i < n_by; i++) {
        gboolean is_size = strcmp(by[i]->unit, "B") == 0 && by[i]->is_whole && by[i]->number[row] >= 1;
        g_autofree char *text = is_size ? size_format((guint64)by[i]->number[row]) : g_strdup(plot_text(by[i], row));
        g_string_append_printf(name, "%s%s", i ? ", " : "", text);
    }
    return g_string_free(name, FALSE);
}

static guint plot_find_series(Plot *plot, GHashTable *known, char *name)
{
    gpointer at;
    if (g_hash_table_lookup_extended(known, name, NULL, &at)) {
        g_free(name);
        return GPOINTER_TO_UINT(at);
    }
    PlotSeries *series = g_new0(PlotSeries, 1);
    series->name = name;
    series->marks = g_array_new(FALSE, FALSE, sizeof(PlotMark));
    g_ptr_array_add(plot->series, series);
    g_hash_table_insert(known, name, GUINT_TO_POINTER(plot->series->len - 1));
    return plot->series->len - 1;
}

/* Between two values where it falls between: what spreadsheets and numpy give. */
static double plot_quantile(const PlotRow *rows, guint n, double part)
{
    double at = part * (n - 1);
    guint below = (guint)at, above = MIN(below + 1, n - 1);
    return rows[below].value + (rows[above].value - rows[below].value) * (at - below);
}

static void plot_add_mark(Plot *plot, const PlotRow *rows, guint n)
{
    PlotMark mark = {
        .x = rows->x, .y = rows->y, .rows = n, .row = rows->row, .low = rows->value, .high = rows[n - 1].value};
    double middle = plot_quantile(rows, n, 0.5);
    mark.q1 = plot_quantile(rows, n, 0.25);
    mark.q3 = plot_quantile(rows, n, 0.75);
    if (plot->kind == PLOT_HEAT)
        mark.z = middle;
    else
        mark.y = middle;
    g_array_append_val(((PlotSeries *)plot->series->pdata[rows->series])->marks, mark);
}

/* Neighbours of one series and one place become one mark; every row of a Pareto front stays one. */
static void plot_put_together(Plot *plot, GArray *rows)
{
    const PlotRow *all = (const PlotRow *)(gpointer)rows->data;
    guint most = 1;
    for (guint i = 0, n; i < rows->len; i += n) {
        for (n = 1; i + n < rows->len && plot->kind != PLOT_PARETO; n++)
            if (all[i].series != all[i + n].series || all[i].x != all[i + n].x ||
                (plot->kind == PLOT_HEAT && all[i].y != all[i + n].y))
                break;
        plot_add_mark(plot, all + i, n);
        most = MAX(most, n);
    }
    if (most > 1 && plot->kind == PLOT_LINES)
        g_ptr_array_add(plot->notes, g_strdup_printf("up to %u points share a place: the line has their median, the "
                                                     "bars go from the smallest to the largest",
                                                     most));
    if (most > 1 && plot->kind == PLOT_HEAT)
        g_ptr_array_add(plot->notes,
                        g_strdup_printf("up to %u points share a place: the colour is their median", most));
}

/* ---- the front */

static gboolean plot_is_better(const PlotAxis *axis, double a, double b) { return axis->lower ? a < b : a > b; }

static void plot_find_front(Plot *plot, PlotSeries *series)
{
    PlotMark *marks = (PlotMark *)(gpointer)series->marks->data;
    for (guint i = 0; i < series->marks->len; i++) {
        gboolean beaten = FALSE;
        for (guint k = 0; k < series->marks->len && !beaten; k++)
            beaten = !plot_is_better(&plot->x, marks[i].x, marks[k].x) &&
                     !plot_is_better(&plot->y, marks[i].y, marks[k].y) &&
                     (marks[i].x != marks[k].x || marks[i].y != marks[k].y);
        marks[i].front = !beaten;
    }
}

/* ---- all of it */

static gboolean plot_check_gathered(const Plot *plot, const GArray *gathered, GError **error)
{
    const FrameColumn *value = plot->kind == PLOT_HEAT ? plot->z.column : plot->y.column;
    if (gathered->len == 0)
        g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "no point has both '%s' and '%s'", plot->x.column->name,
                    value->name);
    else if (plot->series->len > PLOT_SERIES_MOST)
        g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER,
                    "%u lines, one for each of %s, are more than the %d that "
                    "can be told apart; choose some with --where COLUMN=VALUE, or name what tells them apart with --by",
                    plot->series->len, plot->by, PLOT_SERIES_MOST);
    else
        return TRUE;
    return FALSE;
}

gboolean plot_gather(Plot *plot, const PlotRows *rows, const FrameColumn *const *by, guint n_by, GError **error)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GArray) gathered = g_array_new(FALSE, FALSE, sizeof(PlotRow));
    const FrameColumn *value = plot->kind == PLOT_HEAT ? plot->z.column : plot->y.column;
    for (guint i = 0; i < rows->rows->len; i++) {
        PlotRow one = {.row = g_array_index(rows->rows, guint, i)};
        one.x = plot_place(&plot->x, one.row);
        one.value = value->number[one.row];
        one.y = plot->kind == PLOT_HEAT ? plot_place(&plot->y, one.row) : 0;
        if (!isfinite(one.x) || !isfinite(one.y) || !isfinite(one.value))
            continue;
        one.series = plot_find_series(plot, known, plot_series_name(by, n_by, one.row));
        g_array_append_val(gathered, one);
    }
    if (!plot_check_gathered(plot, gathered, error))
        return FALSE;
    if (gathered->len < rows->rows->len)
        g_ptr_array_add(plot->notes,
                        g_strdup_printf("not drawn: %u points that have not both '%s' and '%s'",
                                        rows->rows->len - gathered->len, plot->x.column->name, value->name));
    g_array_sort(gathered, plot_by_place);
    plot_put_together(plot, gathered);
    for (guint s = 0; s < plot->series->len && plot->kind == PLOT_PARETO; s++)
        plot_find_front(plot, plot->series->pdata[s]);
    return TRUE;
}

/* ---- axes */

static void plot_stretch(PlotAxis *axis, double value)
{
    axis->least = MIN(axis->least, value);
    axis->most = MAX(axis->most, value);
}

/* A scale of factors where values span a factor of 30 (x) or, of times, 100 (y). */
static void plot_choose_log(PlotAxis *axis, double span)
{
    axis->log = !axis->names && axis->least > 0 && axis->most / axis->least >= span;
}

static gboolean plot_check_log(PlotAxis *axis, const char *name, GError **error)
{
    if (axis->log && (axis->names || axis->least <= 0)) {
        g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "--log %s: '%s' has values without a logarithm", name,
                    axis->column->name);
        return FALSE;
    }
    axis->log_2 = axis->log && axis->column->is_whole && axis->most / axis->least <= 1e9;
    return TRUE;
}

static int plot_compare_places(gconstpointer a, gconstpointer b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

GArray *plot_places(const Plot *plot)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint s = 0; s < plot->series->len; s++) {
        const GArray *marks = ((const PlotSeries *)plot->series->pdata[s])->marks;
        for (guint i = 0; i < marks->len; i++) {
            const double x = g_array_index(marks, PlotMark, i).x;
            guint known = 0;
            while (known < places->len && g_array_index(places, double, known) != x)
                known++;
            if (known == places->len)
                g_array_append_val(places, x);
        }
    }
    g_array_sort(places, plot_compare_places);
    return places;
}

/* Steps of one factor, as of a sweep that doubles: three places or more. */
static gboolean plot_goes_by_a_factor(const Plot *plot)
{
    g_autoptr(GArray) places = plot_places(plot);
    const double *at = (const double *)places->data;
    if (places->len < 3 || at[0] <= 0)
        return FALSE;
    for (guint i = 2; i < places->len; i++)
        if (fabs(at[i] / at[i - 1] - at[1] / at[0]) > 1e-6 * at[1] / at[0])
            return FALSE;
    return at[1] / at[0] > 1.25;
}

gboolean plot_scale(Plot *plot, const char *log, GError **error)
{
    PlotAxis *axes[] = {&plot->x, &plot->y, &plot->z};
    for (guint i = 0; i < G_N_ELEMENTS(axes); i++) {
        axes[i]->least = INFINITY;
        axes[i]->most = -INFINITY;
    }
    for (guint s = 0; s < plot->series->len; s++) {
        const GArray *marks = ((const PlotSeries *)plot->series->pdata[s])->marks;
        for (guint i = 0; i < marks->len; i++) {
            const PlotMark *mark = &g_array_index(marks, PlotMark, i);
            plot_stretch(&plot->x, mark->x);
            plot_stretch(&plot->y, plot->kind == PLOT_LINES || plot->kind == PLOT_BOX ? mark->low : mark->y);
            plot_stretch(&plot->y, plot->kind == PLOT_LINES || plot->kind == PLOT_BOX ? mark->high : mark->y);
            plot_stretch(&plot->z, mark->z);
        }
    }
    if (log && plot->kind == PLOT_HEAT) {
        g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "--log: the axes of a heat map have a place for each value");
        return FALSE;
    }
    plot_choose_log(&plot->x, 30);
    plot_choose_log(&plot->y, spec_is_time(plot->y.column->name) ? 100 : INFINITY);
    if (!plot->x.names && plot->kind == PLOT_LINES && plot_goes_by_a_factor(plot))
        plot->x.log = TRUE;
    if (log) {
        plot->x.log = strchr(log, 'x') != NULL;
        plot->y.log = strchr(log, 'y') != NULL;
    }
    return plot_check_log(&plot->x, "x", error) && plot_check_log(&plot->y, "y", error);
}
