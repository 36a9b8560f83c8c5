/* See plot.h: which columns and which rows. */
#include "explore/plot_parts.h"

#include <math.h>
#include <string.h>

#include "explore/spec.h"
#include "explore/store.h"
#include "sim/param/nearest.h"

const char *const plot_kinds[] = {"lines", "heat", "pareto", "box", NULL};

static gboolean plot_refuse(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, STORE_ERROR, STORE_ERROR_OTHER, what);
    return FALSE;
}

const char *plot_text(const FrameColumn *column, guint row)
{
    const char *text = column->text->pdata[row];
    return text ? text : "-";
}

static gint plot_by_number(gconstpointer a, gconstpointer b)
{
    const char *const *texts[] = {a, b};
    double first = g_ascii_strtod(*texts[0], NULL), second = g_ascii_strtod(*texts[1], NULL);
    return first < second ? -1 : first > second;
}

/* Values of the rows in order: numbers ascend, words as they come. Caller frees the array alone. */
static GPtrArray *plot_names(const PlotRows *rows, const FrameColumn *column)
{
    GPtrArray *names = g_ptr_array_new();
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rows->rows->len; i++) {
        const char *text = plot_text(column, g_array_index(rows->rows, guint, i));
        if (g_hash_table_add(known, (gpointer)text))
            g_ptr_array_add(names, (gpointer)text);
    }
    if (column->is_number)
        g_ptr_array_sort(names, plot_by_number);
    return names;
}

/* ---- rows */

static gboolean plot_where(const PlotRows *rows, const char *word, const FrameColumn **column, const char **value,
                           GError **error)
{
    const char *equals = strchr(word, '=');
    if (!equals)
        return plot_refuse(error, "--where: '%s' is not COLUMN=VALUE", word);
    g_autofree char *name = g_strndup(word, (gsize)(equals - word));
    *value = equals + 1;
    if (!(*column = frame_column(rows->frame, name, "--where", error)))
        return FALSE;
    g_autoptr(GPtrArray) names = plot_names(rows, *column);
    if (g_ptr_array_find_with_equal_func(names, *value, g_str_equal, NULL))
        return TRUE;
    g_ptr_array_add(names, NULL);
    g_autofree char *hint = nearest_hint(*value, (const char *const *)names->pdata);
    return plot_refuse(error, "--where: no row has %s=%s%s", name, *value, hint);
}

static void plot_keep(PlotRows *rows, const FrameColumn *column, const char *value)
{
    for (guint i = rows->rows->len; i-- > 0;)
        if (strcmp(plot_text(column, g_array_index(rows->rows, guint, i)), value) != 0)
            g_array_remove_index(rows->rows, i);
}

static gboolean plot_choose_rows(Plot *plot, PlotRows *rows, const PlotAsk *ask, GError **error)
{
    if (rows->frame->rows == 0)
        return plot_refuse(error, "it has no points yet");
    for (guint r = 0; r < rows->frame->rows; r++)
        g_array_append_val(rows->rows, r);
    for (guint i = 0; ask->where && ask->where[i]; i++) {
        const FrameColumn *column = NULL;
        const char *value = NULL;
        if (!plot_where(rows, ask->where[i], &column, &value, error))
            return FALSE;
        plot_keep(rows, column, value);
    }
    g_autofree char *only = ask->where && ask->where[0] ? g_strjoinv(", ", (char **)ask->where) : NULL;
    if (only)
        g_ptr_array_add(plot->notes, g_strdup_printf("only points with %s", only));
    const FrameColumn *status = frame_column(rows->frame, "status", "", error);
    guint all = rows->rows->len;
    if (!status)
        return FALSE;
    plot_keep(rows, status, "done");
    if (rows->rows->len == 0)
        return plot_refuse(error, "none of its %u points is done; 'fanout sweep --retry' runs them again", all);
    if (all > rows->rows->len)
        g_ptr_array_add(plot->notes, g_strdup_printf("not drawn: %u points that are not done", all - rows->rows->len));
    return TRUE;
}

/* ---- columns */

static guint plot_count_values(const PlotRows *rows, const FrameColumn *column)
{
    g_autoptr(GPtrArray) names = plot_names(rows, column);
    return names->len;
}

/* Whether `of` says what `column` is: tied keys, and what belongs to a word. */
static gboolean plot_follows(const PlotRows *rows, const FrameColumn *column, const FrameColumn *of)
{
    g_autoptr(GHashTable) value = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rows->rows->len; i++) {
        guint row = g_array_index(rows->rows, guint, i);
        const char *now = plot_text(column, row), *before = g_hash_table_lookup(value, plot_text(of, row));
        if (before && strcmp(before, now) != 0)
            return FALSE;
        g_hash_table_insert(value, (gpointer)plot_text(of, row), (gpointer)now);
    }
    return TRUE;
}

/* The varying input with the most values, the first of several; of numbers if there are some. */
static const FrameColumn *plot_choose_input(const PlotRows *rows, const FrameColumn *but)
{
    const FrameColumn *best = NULL;
    guint most = 1;
    for (guint c = 0; c < rows->frame->columns->len; c++) {
        const FrameColumn *column = rows->frame->columns->pdata[c];
        guint values = column->is_input ? plot_count_values(rows, column) : 0;
        gboolean better = best && best->is_number != column->is_number ? column->is_number : values > most;
        if (values > 1 && better && !(but && plot_follows(rows, column, but))) {
            best = column;
            most = values;
        }
    }
    return best;
}

/* The sweep's metric, what the field looks at first, or any output that varies. */
static const FrameColumn *plot_choose_output(const PlotRows *rows, const FrameColumn *but)
{
    const char *const first[] = {frame_fact(rows->frame, "metric"), "busbw_GBps", "time_us"};
    for (guint i = 0; i < G_N_ELEMENTS(first); i++) {
        const FrameColumn *column = first[i] ? frame_column(rows->frame, first[i], "", NULL) : NULL;
        if (column && column != but && column->is_number)
            return column;
    }
    for (guint c = 0; c < rows->frame->columns->len; c++) {
        const FrameColumn *column = rows->frame->columns->pdata[c];
        if (c > 0 && !column->is_input && column != but && column->is_number && plot_count_values(rows, column) > 1)
            return column;
    }
    return NULL;
}

static gboolean plot_axis(const PlotRows *rows, PlotAxis *axis, const char *name, const char *option,
                          const FrameColumn *chosen, GError **error)
{
    axis->column = name ? frame_column(rows->frame, name, option, error) : chosen;
    if (!axis->column && !name)
        plot_refuse(error, "%s: nothing in it varies that could be drawn there; name a column", option);
    return axis->column != NULL;
}

static gboolean plot_needs_numbers(const PlotAxis *axis, const char *option, GError **error)
{
    return axis->column->is_number || plot_refuse(error, "%s: '%s' is words, not numbers", option, axis->column->name);
}

static gboolean plot_choose_axes(Plot *plot, const PlotRows *rows, const PlotAsk *ask, GError **error)
{
    gboolean pareto = ask->kind == PLOT_PARETO, heat = ask->kind == PLOT_HEAT;
    const FrameColumn *x = ask->x ? NULL : pareto ? plot_choose_output(rows, NULL) : plot_choose_input(rows, NULL);
    if (!plot_axis(rows, &plot->x, ask->x, "-x", x, error))
        return FALSE;
    const FrameColumn *y = heat ? plot_choose_input(rows, plot->x.column) : plot_choose_output(rows, plot->x.column);
    if (!plot_axis(rows, &plot->y, ask->y, "-y", ask->y ? NULL : y, error) ||
        (pareto && !plot_needs_numbers(&plot->x, "-x", error)) || (!heat && !plot_needs_numbers(&plot->y, "-y", error)))
        return FALSE;
    if (ask->z && !heat)
        return plot_refuse(error, "-z: only a heat map has one");
    if (heat && (!plot_axis(rows, &plot->z, ask->z, "-z", ask->z ? NULL : plot_choose_output(rows, NULL), error) ||
                 !plot_needs_numbers(&plot->z, "-z", error)))
        return FALSE;
    if (heat || ask->kind == PLOT_BOX || !plot->x.column->is_number)
        plot->x.names = plot_names(rows, plot->x.column);
    if (heat)
        plot->y.names = plot_names(rows, plot->y.column);
    return TRUE;
}

/* Less of a time is better, and less of what is no output: that is a cost. */
static gboolean plot_choose_better(Plot *plot, const PlotRows *rows, const PlotAsk *ask, GError **error)
{
    PlotAxis *axes[] = {&plot->x, &plot->y};
    g_auto(GStrv) words = ask->better ? g_strsplit(ask->better, ",", -1) : NULL;
    if (ask->better && ask->kind != PLOT_PARETO)
        return plot_refuse(error, "--better: only a Pareto front asks what is better");
    if (words && g_strv_length(words) != 2)
        return plot_refuse(error, "--better: '%s' is not two words, for x and y: lower,higher", ask->better);
    for (guint i = 0; i < 2; i++) {
        guint at = 0;
        while (rows->frame->columns->pdata[at] != axes[i]->column)
            at++;
        gboolean is_output = !axes[i]->column->is_input && at < rows->frame->columns->len - rows->frame->own;
        axes[i]->lower = !is_output || spec_is_time(axes[i]->column->name);
        if (!words)
            continue;
        if (strcmp(words[i], "lower") != 0 && strcmp(words[i], "higher") != 0)
            return plot_refuse(error, "--better: '%s' is neither lower nor higher", words[i]);
        axes[i]->lower = strcmp(words[i], "lower") == 0;
    }
    return TRUE;
}

static gboolean plot_choose_by(Plot *plot, const PlotRows *rows, const PlotAsk *ask, GPtrArray *by, GError **error)
{
    for (guint i = 0; ask->by && ask->by[i]; i++) {
        const FrameColumn *column = frame_column(rows->frame, ask->by[i], "--by", NULL);
        if (!column && strcmp(ask->by[i], "none") == 0)
            continue;
        if (!column)
            return frame_column(rows->frame, ask->by[i], "--by", error) != NULL;
        g_ptr_array_add(by, (gpointer)column);
    }
    if (ask->kind == PLOT_HEAT && by->len > 0)
        return plot_refuse(error, "--by: a heat map has no lines; --where draws one of several");
    for (guint c = 0; c < rows->frame->columns->len && !ask->by && ask->kind == PLOT_LINES; c++) {
        const FrameColumn *column = rows->frame->columns->pdata[c];
        gboolean wanted = column->is_input && column != plot->x.column && plot_count_values(rows, column) > 1 &&
                          !plot_follows(rows, column, plot->x.column);
        for (guint i = 0; i < by->len && wanted; i++)
            wanted = !plot_follows(rows, column, by->pdata[i]);
        if (wanted)
            g_ptr_array_add(by, (gpointer)column);
    }
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < by->len; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "", ((const FrameColumn *)by->pdata[i])->name);
    plot->by = g_string_free(names, FALSE);
    return TRUE;
}

/* ---- all of it */

static void plot_free_series(gpointer data)
{
    PlotSeries *series = data;
    g_free(series->name);
    g_array_unref(series->marks);
    g_free(series);
}

void plot_free(Plot *plot)
{
    PlotAxis *axes[] = {&plot->x, &plot->y, &plot->z};
    for (guint i = 0; i < G_N_ELEMENTS(axes); i++)
        g_clear_pointer(&axes[i]->names, g_ptr_array_unref);
    g_ptr_array_unref(plot->series);
    g_ptr_array_unref(plot->notes);
    g_free(plot->title);
    g_free(plot->by);
    g_free(plot);
}

Plot *plot_new(const Frame *frame, const PlotAsk *ask, GError **error)
{
    Plot *plot = g_new0(Plot, 1);
    plot->kind = ask->kind;
    plot->title = g_strdup(frame_fact(frame, "title"));
    plot->series = g_ptr_array_new_with_free_func(plot_free_series);
    plot->notes = g_ptr_array_new_with_free_func(g_free);
    PlotRows rows = {frame, g_array_new(FALSE, FALSE, sizeof(guint))};
    g_autoptr(GPtrArray) by = g_ptr_array_new();
    gboolean good = plot_choose_rows(plot, &rows, ask, error) && plot_choose_axes(plot, &rows, ask, error) &&
                    plot_choose_better(plot, &rows, ask, error) && plot_choose_by(plot, &rows, ask, by, error) &&
                    plot_gather(plot, &rows, (const FrameColumn *const *)by->pdata, by->len, error) &&
                    plot_scale(plot, ask->log, error);
    g_array_unref(rows.rows);
    if (good)
        return plot;
    plot_free(plot);
    return NULL;
}
