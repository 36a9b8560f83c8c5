/* Text in the manner of nccl-tests: "#" before everything that is no row, columns aligned. */
#include "config.h"

#include "sim/report/parts.h"

#include <string.h>

static glong text_width(const char *text) { return g_utf8_strlen(text, -1); }

/* What a reader sees in a cell. */
static const char *text_of(const Cell *cell)
{
    if (!cell->text)
        return "-";
    if (cell->type == CELL_FLAG)
        return cell->text[0] == 't' ? "yes" : "";
    if (cell->type == CELL_BOOL)
        return cell->text[0] == 't' ? "yes" : "NO";
    return cell->text;
}

static void text_pad(GString *out, const char *text, glong width, gboolean left)
{
    glong pad = width - text_width(text);
    if (left)
        g_string_append(out, text);
    for (; pad > 0; pad--)
        g_string_append_c(out, ' ');
    if (!left)
        g_string_append(out, text);
}

static void text_end_line(GString *out)
{
    while (out->len && out->str[out->len - 1] == ' ')
        g_string_truncate(out, out->len - 1);
    g_string_append_c(out, '\n');
}

static char *text_unit(const Column *column)
{
    return *column->unit ? g_strdup_printf("(%s)", column->unit) : g_strdup("");
}

static gboolean text_has_units(const Table *table)
{
    for (guint c = 0; c < table->n_columns; c++)
        if (*table->columns[c].unit)
            return TRUE;
    return FALSE;
}

void report_text_widths(const Table *table, glong *width)
{
    guint rows = table_rows(table);
    for (guint c = 0; c < table->n_columns; c++) {
        g_autofree char *unit = text_unit(&table->columns[c]);
        width[c] = MAX(width[c], MAX(text_width(table->columns[c].head), text_width(unit)));
        for (guint r = 0; r < rows; r++)
            width[c] = MAX(width[c], text_width(text_of(table_cell(table, r, c))));
    }
}

void report_text_head(const Table *table, const glong *width, GString *out)
{
    g_string_append(out, "#\n");
    if (*table->title)
        g_string_append_printf(out, "# %s\n", table->title);
    for (int line = 0; line < (text_has_units(table) ? 2 : 1); line++) {
        g_string_append(out, "#");
        for (guint c = 0; c < table->n_columns; c++) {
            const Column *column = &table->columns[c];
            g_autofree char *text = line ? text_unit(column) : g_strdup(column->head);
            g_string_append(out, c ? "  " : " ");
            text_pad(out, text, width[c], column->type == CELL_TEXT);
        }
        text_end_line(out);
    }
}

void report_text_row(const Table *table, const glong *width, guint row, GString *out)
{
    for (guint c = 0; c < table->n_columns; c++) {
        g_string_append(out, "  ");
        text_pad(out, text_of(table_cell(table, row, c)), width[c], table->columns[c].type == CELL_TEXT);
    }
    text_end_line(out);
}

static void text_table(const Table *table, GString *out)
{
    g_autofree glong *width = g_new0(glong, table->n_columns);
    report_text_widths(table, width);
    report_text_head(table, width, out);
    for (guint r = 0; r < table_rows(table); r++)
        report_text_row(table, width, r, out);
}

void report_text_answers(const Report *report, guint first, GString *out)
{
    for (guint i = first; i < report->answers->len; i++)
        g_string_append_printf(out, "# > %s\n", (char *)g_ptr_array_index(report->answers, i));
}

void report_text_facts(const Report *report, GString *out)
{
    glong width = 0;
    g_string_append_printf(out, "# fanout %s %s", PACKAGE_VERSION, report->kind);
    g_string_append_printf(out, *report->title ? ": %s\n" : "\n", report->title);
    report_text_answers(report, 0, out);
    for (guint i = 0; i < report->facts->len; i++)
        width = MAX(width, text_width(g_array_index(report->facts, Fact, i).key));
    for (guint i = 0; i < report->facts->len; i++) {
        const Fact *fact = &g_array_index(report->facts, Fact, i);
        g_string_append(out, "#   ");
        text_pad(out, fact->key, width, TRUE);
        /* A "no" of a table stands out, since it is a result that did not verify; a fact is a fact. */
        gboolean is_no = fact->cell.type == CELL_BOOL && g_strcmp0(fact->cell.text, "false") == 0;
        g_string_append_printf(out, "  %s %s", is_no ? "no" : text_of(&fact->cell), fact->cell.text ? fact->unit : "");
        text_end_line(out);
    }
}

void report_text_rest(const Report *report, const Table *but, GString *out)
{
    for (guint i = 0; i < report->tables->len; i++) {
        const Table *table = g_ptr_array_index(report->tables, i);
        if (table != but && !(table->flags & TABLE_NO_TEXT))
            text_table(table, out);
    }
    if (report->notes->len)
        g_string_append(out, "#\n");
    for (guint i = 0; i < report->notes->len; i++)
        g_string_append_printf(out, "# %s\n", (char *)g_ptr_array_index(report->notes, i));
}

void report_write_text(const Report *report, GString *out)
{
    report_text_facts(report, out);
    report_text_rest(report, NULL, out);
}
