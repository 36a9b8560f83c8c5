/* Values become text once, here, so that no two formats can disagree about a digit. */
#include <math.h>
#include <string.h>

#include "sim/report/parts.h"

Cell cell_u64(guint64 value) { return (Cell){g_strdup_printf("%" G_GUINT64_FORMAT, value), CELL_U64}; }

Cell cell_fixed(double value, guint decimals)
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

Cell cell_text(const char *value) { return (Cell){value ? g_utf8_make_valid(value, -1) : NULL, CELL_TEXT}; }

Cell cell_bool(gboolean value) { return (Cell){g_strdup(value ? "true" : "false"), CELL_BOOL}; }

static void cell_clear(gpointer cell) { g_free(((Cell *)cell)->text); }

Table *table_new(const char *key, const char *title, const Column *columns, TableFlags flags)
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
    return table;
}

void table_free(Table *table)
{
    g_free(table->key);
    g_free(table->title);
    g_array_free(table->cells, TRUE);
    g_free(table);
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

void table_fixed_by(Table *table, double value, guint decimals)
{
    table_add(table, cell_fixed(value, MIN(decimals, table_next_column(table)->decimals)));
}

void table_null(Table *table) { table_add(table, (Cell){NULL, table_next_column(table)->type}); }

guint table_rows(const Table *table)
{
    g_assert(table->cells->len % table->n_columns == 0);
    return table->cells->len / table->n_columns;
}
