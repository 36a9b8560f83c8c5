/* What a report is made of, put together: facts, notes, tables, charts, pictures. */
#include "sim/report/parts.h"

#include <string.h>

static void fact_clear(gpointer fact)
{
    g_free(((Fact *)fact)->key);
    g_free(((Fact *)fact)->cell.text);
}

static void chart_clear(gpointer chart) { g_free(((Chart *)chart)->title); }

static void picture_clear(gpointer picture)
{
    g_free(((Picture *)picture)->title);
    g_free(((Picture *)picture)->svg);
}

Report *report_new(const char *kind, const char *title)
{
    Report *report = g_new0(Report, 1);
    report->kind = g_strdup(kind);
    report->title = g_utf8_make_valid(title, -1);
    report->facts = g_array_new(FALSE, FALSE, sizeof(Fact));
    g_array_set_clear_func(report->facts, fact_clear);
    report->tables = g_ptr_array_new_with_free_func((GDestroyNotify)table_free);
    report->charts = g_array_new(FALSE, FALSE, sizeof(Chart));
    g_array_set_clear_func(report->charts, chart_clear);
    report->pictures = g_array_new(FALSE, FALSE, sizeof(Picture));
    g_array_set_clear_func(report->pictures, picture_clear);
    report->scenes = g_ptr_array_new_with_free_func((GDestroyNotify)scene_free);
    report->answers = g_ptr_array_new_with_free_func(g_free);
    report->notes = g_ptr_array_new_with_free_func(g_free);
    report->page_notes = g_ptr_array_new_with_free_func(g_free);
    report->run = g_array_new(FALSE, FALSE, sizeof(Fact));
    report->kept = g_ptr_array_new_with_free_func(g_free);
    g_array_set_clear_func(report->run, fact_clear);
    return report;
}

void report_free(Report *report)
{
    if (!report)
        return;
    g_free(report->kind);
    g_free(report->title);
    g_free(report->command);
    g_array_free(report->facts, TRUE);
    g_ptr_array_free(report->tables, TRUE);
    g_array_free(report->charts, TRUE);
    g_array_free(report->pictures, TRUE);
    g_ptr_array_free(report->scenes, TRUE);
    g_ptr_array_free(report->answers, TRUE);
    g_ptr_array_free(report->notes, TRUE);
    g_ptr_array_free(report->page_notes, TRUE);
    g_array_free(report->run, TRUE);
    g_ptr_array_free(report->kept, TRUE);
    g_free(report);
}

gpointer report_keep(Report *report, gpointer memory)
{
    g_ptr_array_add(report->kept, memory);
    return memory;
}

static void report_add_fact(Report *report, const char *key, Cell cell, const char *unit)
{
    for (guint i = 0; i < report->facts->len; i++)
        g_assert(strcmp(g_array_index(report->facts, Fact, i).key, key) != 0);
    Fact fact = {g_strdup(key), cell, unit};
    g_array_append_val(report->facts, fact);
}

void report_set_command(Report *report, const char *command)
{
    g_free(report->command);
    report->command = g_strdup(command);
}

void report_add_text(Report *report, const char *key, const char *value)
{
    report_add_fact(report, key, cell_text(value), "");
}

void report_add_u64(Report *report, const char *key, guint64 value, const char *unit)
{
    report_add_fact(report, key, cell_u64(value), unit);
}

void report_add_fixed(Report *report, const char *key, double value, guint decimals, const char *unit)
{
    report_add_fact(report, key, cell_fixed(value, decimals), unit);
}

void report_add_bool(Report *report, const char *key, gboolean value)
{
    report_add_fact(report, key, cell_bool(value), "");
}

void report_add_run(Report *report, const char *key, const char *value)
{
    Fact fact = {g_strdup(key), cell_text(value), ""};
    g_array_append_val(report->run, fact);
}

static void G_GNUC_PRINTF(2, 0) report_note(GPtrArray *notes, const char *format, va_list args)
{
    g_autofree char *text = g_strdup_vprintf(format, args);
    g_ptr_array_add(notes, g_utf8_make_valid(text, -1));
}

void report_add_answer(Report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_note(report->answers, format, args);
    va_end(args);
}

void report_add_note(Report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_note(report->notes, format, args);
    va_end(args);
}

void report_add_page_note(Report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report_note(report->page_notes, format, args);
    va_end(args);
}

Table *report_add_table(Report *report, const char *key, const char *title, const Column *columns, TableFlags flags)
{
    Table *table = table_new(key, title, columns, flags);
    g_ptr_array_add(report->tables, table);
    return table;
}

static guint table_find_column(const Table *table, const char *key)
{
    guint c = 0;
    while (c < table->n_columns && strcmp(table->columns[c].key, key) != 0)
        c++;
    return c;
}

void report_add_chart(Report *report, const Table *table, const char *title, const char *x, const char *y,
                      const char *series, ChartFlags flags)
{
    report_add_chart_split(report, table, title, NULL, x, y, series, flags);
}

void report_add_chart_split(Report *report, const Table *table, const char *title, const char *split, const char *x,
                            const char *y, const char *series, unsigned flags)
{
    Chart chart = {.table = table,
                   .title = g_utf8_make_valid(title, -1),
                   .x = table_find_column(table, x),
                   .series = series ? table_find_column(table, series) : table->n_columns,
                   .split = split ? table_find_column(table, split) : table->n_columns,
                   .flags = flags};
    g_assert(chart.x < table->n_columns);
    g_auto(GStrv) keys = g_strsplit(y, ",", 0);
    for (char **key = keys; *key; key++) {
        g_assert(chart.n_y < CHART_Y_MAX);
        chart.y[chart.n_y] = table_find_column(table, *key);
        g_assert(chart.y[chart.n_y++] < table->n_columns);
    }
    g_assert(chart.n_y > 0);
    g_assert(!series || chart.series < table->n_columns);
    g_assert(!split || chart.split < table->n_columns);
    g_array_append_val(report->charts, chart);
}

void report_add_picture(Report *report, const char *title, const char *svg)
{
    Picture picture = {g_utf8_make_valid(title, -1), g_strdup(svg), FALSE};
    g_array_append_val(report->pictures, picture);
}

void report_add_map(Report *report, const char *title, const char *svg)
{
    Picture picture = {g_utf8_make_valid(title, -1), g_strdup(svg), TRUE};
    g_array_append_val(report->pictures, picture);
}
