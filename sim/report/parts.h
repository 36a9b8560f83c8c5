/* What a report is made of, for its writers only: one file for each format. */
#ifndef SIM_REPORT_PARTS_H
#define SIM_REPORT_PARTS_H

#include "sim/report/figures.h"
#include "sim/report/scene.h"

typedef struct {
    char *text; /* as it is written, without quotes or escapes; NULL: the value does not exist */
    CellType type;
} Cell;

typedef struct {
    char *key;
    Cell cell;
    const char *unit;
} Fact;

/* table.c; texts are copied */
Cell cell_u64(guint64 value);
Cell cell_fixed(double value, guint decimals); /* NaN: does not exist */
Cell cell_text(const char *value);
Cell cell_bool(gboolean value);
Table *table_new(const char *key, const char *title, const Column *columns, TableFlags flags);
void table_free(Table *table);

struct Table {
    char *key, *title;
    const Column *columns;
    guint n_columns;
    TableFlags flags;
    GArray *cells; /* Cell, row by row */
};

typedef struct {
    const Table *table;
    char *title;
    guint x, series, split; /* columns; series, split: table->n_columns when there is none */
    guint y[CHART_Y_MAX], n_y;
    unsigned flags;
} Chart;

typedef struct {
    char *title, *svg;
    gboolean map; /* one of parts that are said */
} Picture;

struct Report {
    char *kind, *title;
    char *command;         /* that makes this report, or NULL */
    GArray *facts;         /* Fact */
    GPtrArray *tables;     /* Table */
    GArray *charts;        /* Chart */
    GArray *pictures;      /* Picture */
    GPtrArray *scenes;     /* Scene */
    GPtrArray *answers;    /* char: what was found out */
    GPtrArray *notes;      /* char */
    GPtrArray *page_notes; /* char: in pages only */
    GPtrArray *kept;       /* memory that tables point to, freed with the report */
    GArray *run;           /* Fact: what tells runs apart, in each row of CSV */
};

static inline const Cell *table_cell(const Table *table, guint row, guint column)
{
    return &g_array_index(table->cells, Cell, row * table->n_columns + column);
}

/* Series and parts are drawn in the classes s0, s1, ... (lines) and f0, f1, ... (areas) of page.css. */
#define MARKUP_COLOURS 14u

/* Markup: text whose arguments are escaped; an attribute whose number has that format ("%.1f") in every locale. */
void markup_append(GString *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
void markup_text(GString *out, const char *text);
void markup_number(GString *out, const char *format, const char *name, double value);
/* Printable ASCII without any of `special`, as most words are: such a text stands for itself, here and in JSON. */
gboolean markup_is_plain(const char *text, const char *special);

/* Their pieces, for reports that grow (stream.h). width: one for each column, at least as wide as wanted. */
void report_text_answers(const Report *report, guint first, GString *out); /* and those behind it */
void report_text_facts(const Report *report, GString *out);
void report_text_widths(const Table *table, glong *width); /* widens them to heads and to the rows that are there */
void report_text_head(const Table *table, const glong *width, GString *out);
void report_text_row(const Table *table, const glong *width, guint row, GString *out);
void report_text_rest(const Report *report, const Table *but, GString *out); /* other tables, and notes */
void report_csv_head(const Report *report, GString *out);
void report_csv_row(const Report *report, const Table *table, guint row, GString *out);

void report_write_text(const Report *report, GString *out);
void report_write_json(const Report *report, GString *out);
void report_write_csv(const Report *report, GString *out);
void report_write_fields(const Report *report, GString *out);
void report_write_html(const Report *report, GString *out);
void report_write_chart(const Chart *chart, GString *out); /* SVG inside the page */
/* A list of names with what marks each: lines, or areas. colour: by name; NULL: in order. */
void report_write_legend(const char *const *names, guint n, gboolean areas, const guint *colour, GString *out);
/* Of CHART_STACKED. colours: names of the parts that have one so far: the same part has the same in all of a page. */
void report_write_stack(const Chart *chart, GPtrArray *colours, GString *out);
void report_write_scene(const Scene *scene, GString *out); /* JSON for scene.js */
const char *report_scene_title(const Scene *scene);
const char *report_scene_note(const Scene *scene); /* "": none */

#endif
