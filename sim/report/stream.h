/* A report that appears while it grows: the head and each row of one table as soon as they are there, the rest at the
 * end. Text and CSV grow; JSON is one object and comes whole at the end.
 *
 *     ReportStream *stream = report_stream_new(report, table, REPORT_TEXT, widths);
 *     ... table_u64(table, ...) ...
 *     report_stream_rows(stream, out);     what is new, to be written at once
 *     report_stream_end(stream, out);      what is left
 *
 * All of it together is what report_format() gives, but for the widths of text columns, which are not known before the
 * last row: widths[c] is how wide column c is at least (0: its head). */
#ifndef SIM_REPORT_STREAM_H
#define SIM_REPORT_STREAM_H

#include "sim/report/report.h"

typedef struct ReportStream ReportStream;

/* table: the report's first. widths: one for each column, copied; NULL: all 0. */
ReportStream *report_stream_new(const Report *report, const Table *table, ReportFormat format, const guint *widths);
/* Rows and their head alone, without the facts above them; before the first row. */
void report_stream_bare(ReportStream *stream);
/* Appends to `out`; nothing before there is a row. Whole rows only may be in the table. */
void report_stream_rows(ReportStream *stream, GString *out);
void report_stream_end(ReportStream *stream, GString *out);
void report_stream_free(ReportStream *stream);

#endif
