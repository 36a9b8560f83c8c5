/* Reports: facts, notes and tables, described once and written as text, JSON, CSV or HTML.
 *
 *     static const Column columns[] = {
 *         COLUMN_U64(bytes, "size", "B", "bytes a rank contributes"),
 *         COLUMN_TEXT(algo, "algo", "which algorithm"),
 *         COLUMN_FIXED(busbw_GBps, "busbw", "GB/s", 2, "what the busiest link must carry"),
 *         COLUMN_END,
 *     };
 *     Report *report = report_new("coll", "all_reduce on dgx-h100");
 *     report_add_text(report, "system", "dgx-h100");
 *     Table *table = report_add_table(report, "rows", "", columns, 0);
 *     table_u64(table, 1048576);      cells in the order of the columns; the last one ends the row
 *     table_text(table, "nvls");
 *     table_fixed(table, 312.5);
 *
 * Numbers are written with the decimals of their column, in the C locale, so that equal results are
 * equal bytes. Strings are copied; columns are not and must outlive the report. A value that does
 * not exist is "-" in text, nothing in CSV, null in JSON: never a zero. */
#ifndef SIM_REPORT_REPORT_H
#define SIM_REPORT_REPORT_H

#include <glib.h>

typedef enum { CELL_TEXT, CELL_U64, CELL_FIXED, CELL_BOOL, CELL_FLAG } CellType;

typedef struct {
    const char *key;  /* in JSON and CSV, with its unit: "busbw_GBps" */
    const char *head; /* over the column in text and HTML: "busbw" */
    const char *unit; /* under the head: "GB/s", or "" */
    CellType type;
    guint decimals;   /* of a CELL_FIXED */
    const char *text; /* what it means, a line for people */
} Column;

#define COLUMN_TEXT(key, head, text)                                                                                   \
    {                                                                                                                  \
#key, head, "", CELL_TEXT, 0, text                                                                             \
    }
#define COLUMN_U64(key, head, unit, text)                                                                              \
    {                                                                                                                  \
#key, head, unit, CELL_U64, 0, text                                                                            \
    }
#define COLUMN_FIXED(key, head, unit, decimals, text)                                                                  \
    {                                                                                                                  \
#key, head, unit, CELL_FIXED, decimals, text                                                                   \
    }
#define COLUMN_BOOL(key, head, text)                                                                                   \
    {                                                                                                                  \
#key, head, "", CELL_BOOL, 0, text                                                                             \
    }
/* A condition that is neither good nor bad: people see "yes", or nothing. */
#define COLUMN_FLAG(key, head, text)                                                                                   \
    {                                                                                                                  \
#key, head, "", CELL_FLAG, 0, text                                                                             \
    }
#define COLUMN_END                                                                                                     \
    {                                                                                                                  \
        NULL, NULL, NULL, CELL_TEXT, 0, NULL                                                                           \
    }

typedef struct Report Report;
typedef struct Table Table;

/* kind is the verb or program that reports ("coll"); title one line for people. */
Report *report_new(const char *kind, const char *title);
void report_free(Report *report);
/* Memory that its tables point to, columns or their words: g_free with the report. Returns it. */
gpointer report_keep(Report *report, gpointer memory);

/* The command that makes this report again, for its page; copied. */
void report_set_command(Report *report, const char *command);

/* Facts: single values, before the tables; in JSON members of the top object, in the order added. A
 * key is added once. unit, a literal, stands behind the value in text and HTML only ("" for none):
 * the key names it too. */
void report_add_text(Report *report, const char *key, const char *value); /* NULL: null */
void report_add_u64(Report *report, const char *key, guint64 value, const char *unit);
void report_add_fixed(Report *report, const char *key, double value, guint decimals, const char *unit); /* NaN: null */
void report_add_bool(Report *report, const char *key, gboolean value);
/* What tells this run from others (system, settings, seed): a column behind those of the table in each row of CSV, so
 * that files of several runs can be put together. Other formats have it among the facts. NULL: an empty field. */
void report_add_run(Report *report, const char *key, const char *value);
/* What the report found out, a sentence a call: text and pages open with it, and in JSON it is an element of "answer".
 * Of a report whose rows were printed before it was known, text has it right below them. */
void report_add_answer(Report *report, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A line for people behind the tables ("# ..."); in JSON an element of "notes". */
void report_add_note(Report *report, const char *format, ...) G_GNUC_PRINTF(2, 3);

typedef enum {
    TABLE_ONE_ROW = 1 << 0, /* exactly one row: in JSON an object instead of a list of objects */
    TABLE_NO_TEXT = 1 << 1, /* long: left out of the text format */
} TableFlags;

/* The table belongs to the report. The first table is the one that CSV writes. title: a line above
 * it in text and HTML, or "". */
Table *report_add_table(Report *report, const char *key, const char *title, const Column *columns, TableFlags flags);
void table_text(Table *table, const char *value); /* NULL: null */
void table_u64(Table *table, guint64 value);
void table_fixed(Table *table, double value); /* NaN: null; infinity is a programming error */
/* With fewer decimals than its column has: of a column whose rows are of several kinds. */
void table_fixed_by(Table *table, double value, guint decimals);
void table_bool(Table *table, gboolean value);
void table_null(Table *table); /* of any type */
guint table_rows(const Table *table);

/* A picture of a table, in HTML only: one point for each row whose x and y exist. */
typedef enum {
    CHART_LINES = 1 << 0, /* join the points of a series, in the order of the rows */
    CHART_LOG_X = 1 << 1, /* values <= 0 are left out */
    CHART_LOG_Y = 1 << 2,
    CHART_DIAGONAL = 1 << 3, /* x and y share one range, with the line y = x */
} ChartFlags;
/* x and y are keys of numeric columns, series of a text column or NULL; all copied. */
void report_add_chart(Report *report, const Table *table, const char *title, const char *x, const char *y,
                      const char *series, ChartFlags flags);

/* A picture, in HTML only: svg is a whole <svg> element, title says what it shows; copied. One of class "themed" uses
 * the classes of page.css for its colours; any other keeps the white paper that its program drew it for. */
void report_add_picture(Report *report, const char *title, const char *svg);

/* FIELDS: what the fields of the JSON mean, as JSON itself: {"facts": [KEY ...], "tables": [{"key", "title", "fields":
 * [{"key", "unit", "type", "text"} ...]} ...]}; type: JSON Schema's name of it ("integer"), or null. */
typedef enum { REPORT_TEXT, REPORT_JSON, REPORT_CSV, REPORT_HTML, REPORT_FIELDS } ReportFormat;
/* "text", "json", "csv", "html", "fields", NULL: by ReportFormat */
extern const char *const report_formats[];

/* The whole report in one format; caller frees with g_string_free. Unfinished rows are an error of
 * the program. Safe to call several times. */
GString *report_format(const Report *report, ReportFormat format);
/* The same into a file, "-" being standard output. GError: G_FILE_ERROR, naming the file. */
gboolean report_save(const Report *report, ReportFormat format, const char *path, GError **error);

#endif
