/* See stream.h. */
#include "sim/report/stream.h"

#include "sim/report/parts.h"

struct ReportStream {
    const Report *report;
    const Table *table;
    ReportFormat format;
    glong *width;
    guint rows;    /* of the table, that are out */
    guint answers; /* the same */
    gboolean begun, bare;
};

ReportStream *report_stream_new(const Report *report, const Table *table, ReportFormat format, const guint *widths)
{
    ReportStream *stream = g_new0(ReportStream, 1);
    stream->report = report;
    stream->table = table;
    stream->format = format;
    stream->width = g_new0(glong, table->n_columns);
    for (guint c = 0; widths && c < table->n_columns; c++)
        stream->width[c] = widths[c];
    return stream;
}

void report_stream_bare(ReportStream *stream) { stream->bare = TRUE; }

void report_stream_free(ReportStream *stream)
{
    if (!stream)
        return;
    g_free(stream->width);
    g_free(stream);
}

static void stream_head(ReportStream *stream, GString *out)
{
    if (stream->begun)
        return;
    stream->begun = TRUE;
    if (stream->format == REPORT_CSV) {
        report_csv_head(stream->report, out);
    } else {
        if (!stream->bare)
            report_text_facts(stream->report, out);
        stream->answers = stream->report->answers->len;
        report_text_widths(stream->table, stream->width);
        report_text_head(stream->table, stream->width, out);
    }
}

void report_stream_rows(ReportStream *stream, GString *out)
{
    guint rows = table_rows(stream->table);
    if (rows == stream->rows || (stream->format != REPORT_TEXT && stream->format != REPORT_CSV))
        return;
    stream_head(stream, out);
    for (; stream->rows < rows; stream->rows++)
        if (stream->format == REPORT_CSV)
            report_csv_row(stream->report, stream->table, stream->rows, out);
        else
            report_text_row(stream->table, stream->width, stream->rows, out);
}

void report_stream_end(ReportStream *stream, GString *out)
{
    if (stream->format != REPORT_TEXT && stream->format != REPORT_CSV) {
        GString *whole = report_format(stream->report, stream->format);
        g_string_append_len(out, whole->str, (gssize)whole->len);
        g_string_free(whole, TRUE);
        return;
    }
    report_stream_rows(stream, out);
    stream_head(stream, out);
    if (stream->format != REPORT_TEXT)
        return;
    if (stream->answers < stream->report->answers->len)
        g_string_append(out, "#\n");
    report_text_answers(stream->report, stream->answers, out);
    report_text_rest(stream->report, stream->table, out);
}
