/* A report in one of its formats: each is a file of its own. */
#include <stdio.h>
#include <string.h>

#include "sim/report/file.h"
#include "sim/report/parts.h"

const char *const report_formats[] = {"text", "json", "csv", "html", "fields", NULL};

GString *report_format(const Report *report, ReportFormat format)
{
    static void (*const writers[])(const Report *, GString *) = {
        [REPORT_TEXT] = report_write_text, [REPORT_JSON] = report_write_json,     [REPORT_CSV] = report_write_csv,
        [REPORT_HTML] = report_write_html, [REPORT_FIELDS] = report_write_fields,
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
