/* Values become text once, here, so that no two formats can disagree about a digit. */
#include "sim/report/file.h"
#include "sim/report/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const report_formats[] = {"text", "json", "csv", "html", "fields", NULL};

static void cell_clear(gpointer cell) { g_free(((Cell *)cell)->text); }

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

static void table_free(gpointer data)
{
    Table *table = data;
    g_free(table->key);
    g_free(table->title);
    g_array_free(table->cells, TRUE);
    g_free(table);
}

Report *report_new(const char *kind, const char *title)
{
    Report *report = g_new0(Report, 1);
    report->kind = g_strdup(kind);
    report->title = g_utf8_make_valid(title, -1);
    report->facts = g_array_new(FALSE, FALSE, sizeof(Fact));
    g_array_set_clear_func(report->facts, fact_clear);
    report->tables = g_ptr_array_new_with_free_func(table_free);
    report->charts = g_array_new(FALSE, FALSE, sizeof(Chart));
    g_array_set_clear_func(report->charts, chart_clear);
    report->pictures = g_array_new(FALSE, FALSE, sizeof(Picture));
    g_array_set_clear_func(report->pictures, picture_clear);
    report->scenes = g_ptr_array_new_with_free_func((GDestroyNotify)scene_free);
    report->notes = g_ptr_array_new_with_free_func(g_free);
    report->page_notes = g_ptr_array_new_with_free_func(g_free);
    report->run = g_array_new(FALSE, FALSE, sizeof(Fact));
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
    g_ptr_array_free(report->notes, TRUE);
    g_ptr_array_free(report->page_notes, TRUE);
    g_array_free(report->run, TRUE);
    g_free(report);
}

static Cell cell_u64(guint64 value)
{
    return (Cell){g_strdup_printf("%" G_GUINT64_FORMAT, value), CELL_U64};
}

static Cell cell_fixed(double value, guint decimals)
{
    if (isnan(value))
        return (Cell){NULL, CELL_FIXED};
    g_assert(isfinite(value));
    char format[16], text[512];
    g_snprintf(format, sizeof format, "%%.%uf", MIN(decimals, 17));
    g_ascii_formatd(text, sizeof text, format, value);
    /* What rounds to zero is zero: no "-0.00". */
    gboolean is_zero = text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1);
    return (Cell){g_strdup(is_zero ? text + 1 : text), CELL_FIXED};
}

static Cell cell_text(const char *value)
{
    return (Cell){value ? g_utf8_make_valid(value, -1) : NULL, CELL_TEXT};
}

static Cell cell_bool(gboolean value)
{
    return (Cell){g_strdup(value ? "true" : "false"), CELL_BOOL};
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

void report_add_fixed(Report *report, const char *key, double value, guint decimals,
                      const char *unit)
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

Table *report_add_table(Report *report, const char *key, const char *title, const Column *columns,
                        TableFlags flags)
{
    Table *table = g_new0(Table, 1);
    table->key = g_strdup(key);
    table->title = g_utf8_make_valid(title, -1);
    table->columns = columns;
    while (columns[table->n_columns].key)
        table->n_columns++;
    g_assert(table->n_columns > 0);
    table->flags = flags;
    table->cells = g_array_new(FALSE, FALSE, sizeof(Cell));
    g_array_set_clear_func(table->cells, cell_clear);
    g_ptr_array_add(report->tables, table);
    return table;
}

static const Column *table_next_column(const Table *table)
{
    return &table->columns[table->cells->len % table->n_columns];
}

static void table_add(Table *table, Cell cell)
{
    g_assert(table_next_column(table)->type == cell.type);
    g_array_append_val(table->cells, cell);
}

void table_text(Table *table, const char *value) { table_add(table, cell_text(value)); }
void table_u64(Table *table, guint64 value) { table_add(table, cell_u64(value)); }

void table_bool(Table *table, gboolean value)
{
    Cell cell = cell_bool(value);
    cell.type = table_next_column(table)->type == CELL_FLAG ? CELL_FLAG : CELL_BOOL;
    table_add(table, cell);
}

void table_fixed(Table *table, double value)
{
    table_add(table, cell_fixed(value, table_next_column(table)->decimals));
}

void table_null(Table *table)
{
    table_add(table, (Cell){NULL, table_next_column(table)->type});
}

guint table_rows(const Table *table)
{
    g_assert(table->cells->len % table->n_columns == 0);
    return table->cells->len / table->n_columns;
}

static guint table_find_column(const Table *table, const char *key)
{
    guint c = 0;
    while (c < table->n_columns && strcmp(table->columns[c].key, key) != 0)
        c++;
    return c;
}

void report_add_chart(Report *report, const Table *table, const char *title, const char *x,
                      const char *y, const char *series, ChartFlags flags)
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

GString *report_format(const Report *report, ReportFormat format)
{
    static void (*const writers[])(const Report *, GString *) = {
        [REPORT_TEXT] = report_write_text,
        [REPORT_JSON] = report_write_json,
        [REPORT_CSV] = report_write_csv,
        [REPORT_HTML] = report_write_html,
        [REPORT_FIELDS] = report_write_fields,
    };
    for (guint i = 0; i < report->tables->len; i++) {
        const Table *table = g_ptr_array_index(report->tables, i);
        g_assert(!(table->flags & TABLE_ONE_ROW) || table_rows(table) == 1);
    }
    GString *out = g_string_new(NULL);
    writers[format](report, out);
    return out;
}

gboolean report_save(const Report *report, ReportFormat format, const char *path, GError **error)
{
    GString *out = report_format(report, format);
    gboolean good;
    if (strcmp(path, "-") == 0) {
        good = fwrite(out->str, 1, out->len, stdout) == out->len && fflush(stdout) == 0;
        if (!good)
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO, "cannot write standard output");
    } else {
        good = file_write(path, out->str, out->len, error);
    }
    g_string_free(out, TRUE);
    return good;
}
