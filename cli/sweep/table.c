/* See frame_table.h. */
#include "cli/sweep/table.h"

#include <math.h>
#include <string.h>

static Column frame_table_column(const FrameColumn *column)
{
    CellType type = !column->is_number ? CELL_TEXT : column->is_whole ? CELL_U64 : CELL_FIXED;
    if (type == CELL_U64)
        for (guint r = 0; r < column->text->len; r++)
            if (column->number[r] < 0)
                type = CELL_FIXED;
    return (Column){column->name, column->name, column->unit, type, column->decimals, column->is_input ? "input" : ""};
}

static void frame_table_cell(Table *table, const Column *column, const FrameColumn *from, guint row)
{
    const char *text = from->text->pdata[row];
    if (!text)
        table_null(table);
    else if (column->type == CELL_TEXT)
        table_text(table, text);
    else if (column->type == CELL_U64)
        table_u64(table, g_ascii_strtoull(text, NULL, 10));
    else
        table_fixed(table, from->number[row]);
}

/* What lists of points leave out: it is the same for all, or long. The database has it. */
static gboolean frame_table_skips(const FrameColumn *column)
{
    return strcmp(column->name, "version") == 0 || strcmp(column->name, "command") == 0;
}

FrameTable *frame_table_add(Report *report, const Frame *frame, const char *key)
{
    FrameTable *all = g_new0(FrameTable, 1);
    all->columns = g_new0(Column, frame->columns->len + 1);
    const FrameColumn **from = g_new(const FrameColumn *, frame->columns->len);
    for (guint c = 0; c < frame->columns->len; c++)
        if (!frame_table_skips(frame->columns->pdata[c])) {
            from[all->n] = frame->columns->pdata[c];
            all->columns[all->n++] = frame_table_column(frame->columns->pdata[c]);
        }
    Table *table = report_add_table(report, key, "", all->columns, 0);
    for (guint r = 0; r < frame->rows; r++)
        for (guint c = 0; c < all->n; c++) {
            frame_table_cell(table, &all->columns[c], from[c], r);
            if (strcmp(from[c]->name, "status") == 0)
                all->not_done += g_strcmp0(from[c]->text->pdata[r], "done") != 0;
        }
    g_free(from);
    return all;
}

void frame_table_free(FrameTable *table)
{
    if (!table)
        return;
    g_free(table->columns);
    g_free(table);
}
