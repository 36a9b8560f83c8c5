/* CSV (RFC 4180): the report's first table, a header of keys, and in each row what tells its run from others. */
#include "sim/report/parts.h"

#include <string.h>

static void csv_field(GString *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        g_string_append(out, text);
        return;
    }
    g_string_append_c(out, '"');
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *p);
    }
    g_string_append_c(out, '"');
}

void report_csv_head(const Report *report, GString *out)
{
    const Table *table = g_ptr_array_index(report->tables, 0);
    for (guint c = 0; c < table->n_columns; c++) {
        g_string_append(out, c ? "," : "");
        csv_field(out, table->columns[c].key);
    }
    for (guint i = 0; i < report->run->len; i++) {
        g_string_append_c(out, ',');
        csv_field(out, g_array_index(report->run, Fact, i).key);
    }
    g_string_append_c(out, '\n');
}

void report_csv_row(const Report *report, const Table *table, guint row, GString *out)
{
    for (guint c = 0; c < table->n_columns; c++) {
        const char *text = table_cell(table, row, c)->text;
        g_string_append(out, c ? "," : "");
        csv_field(out, text ? text : "");
    }
    for (guint i = 0; i < report->run->len; i++) {
        const Fact *fact = &g_array_index(report->run, Fact, i);
        g_string_append_c(out, ',');
        csv_field(out, fact->cell.text ? fact->cell.text : "");
    }
    g_string_append_c(out, '\n');
}

void report_write_csv(const Report *report, GString *out)
{
    if (report->tables->len == 0)
        return;
    const Table *table = g_ptr_array_index(report->tables, 0);
    report_csv_head(report, out);
    for (guint r = 0; r < table_rows(table); r++)
        report_csv_row(report, table, r, out);
}
