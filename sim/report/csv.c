/* CSV (RFC 4180): the report's first table, a header of keys, nothing else in the file. */
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

void report_write_csv(const Report *report, GString *out)
{
    if (report->tables->len == 0)
        return;
    const Table *table = g_ptr_array_index(report->tables, 0);
    for (guint c = 0; c < table->n_columns; c++) {
        g_string_append(out, c ? "," : "");
        csv_field(out, table->columns[c].key);
    }
    g_string_append_c(out, '\n');
    for (guint r = 0; r < table_rows(table); r++) {
        for (guint c = 0; c < table->n_columns; c++) {
            const char *text = table_cell(table, r, c)->text;
            g_string_append(out, c ? "," : "");
            csv_field(out, text ? text : "");
        }
        g_string_append_c(out, '\n');
    }
}
