/* JSON: one object, "schema" first. YAJL's generator, since it takes numbers as the text they have.
 */
#include "config.h"

#include "sim/report/json.h"
#include "sim/report/parts.h"

#include <string.h>

void report_json_string(yajl_gen gen, const char *text)
{
    yajl_gen_status status = yajl_gen_string(gen, (const unsigned char *)text, strlen(text));
    g_assert(status == yajl_gen_status_ok);
}

void report_json_end(yajl_gen gen, GString *out)
{
    const unsigned char *text;
    size_t len;
    yajl_gen_get_buf(gen, &text, &len);
    g_string_append_len(out, (const char *)text, (gssize)len);
    yajl_gen_free(gen);
}

static void json_cell(yajl_gen gen, const Cell *cell)
{
    if (!cell->text)
        yajl_gen_null(gen);
    else if (cell->type == CELL_TEXT)
        report_json_string(gen, cell->text);
    else if (cell->type == CELL_BOOL || cell->type == CELL_FLAG)
        yajl_gen_bool(gen, cell->text[0] == 't');
    else
        yajl_gen_number(gen, cell->text, strlen(cell->text));
}

static void json_row(yajl_gen gen, const Table *table, guint row)
{
    yajl_gen_map_open(gen);
    for (guint c = 0; c < table->n_columns; c++) {
        report_json_string(gen, table->columns[c].key);
        json_cell(gen, table_cell(table, row, c));
    }
    yajl_gen_map_close(gen);
}

static void json_table(yajl_gen gen, const Table *table)
{
    report_json_string(gen, table->key);
    if (table->flags & TABLE_ONE_ROW) {
        json_row(gen, table, 0);
        return;
    }
    yajl_gen_array_open(gen);
    for (guint r = 0; r < table_rows(table); r++)
        json_row(gen, table, r);
    yajl_gen_array_close(gen);
}

static void json_texts(yajl_gen gen, const char *key, const GPtrArray *texts)
{
    report_json_string(gen, key);
    yajl_gen_array_open(gen);
    for (guint i = 0; i < texts->len; i++)
        report_json_string(gen, g_ptr_array_index(texts, i));
    yajl_gen_array_close(gen);
}

void report_write_json(const Report *report, GString *out)
{
    yajl_gen gen = yajl_gen_alloc(NULL);
    yajl_gen_config(gen, yajl_gen_beautify, 1);
    yajl_gen_config(gen, yajl_gen_indent_string, " ");
    yajl_gen_map_open(gen);
    report_json_string(gen, "schema");
    report_json_string(gen, "fanout/1");
    report_json_string(gen, "report");
    report_json_string(gen, report->kind);
    report_json_string(gen, "version");
    report_json_string(gen, PACKAGE_VERSION);
    json_texts(gen, "answer", report->answers);
    for (guint i = 0; i < report->facts->len; i++) {
        const Fact *fact = &g_array_index(report->facts, Fact, i);
        report_json_string(gen, fact->key);
        json_cell(gen, &fact->cell);
    }
    for (guint i = 0; i < report->tables->len; i++)
        json_table(gen, g_ptr_array_index(report->tables, i));
    json_texts(gen, "notes", report->notes);
    yajl_gen_map_close(gen);
    report_json_end(gen, out);
}

static void json_column(yajl_gen gen, const Column *column)
{
    static const char *const types[] = {[CELL_TEXT] = "string",
                                        [CELL_U64] = "integer",
                                        [CELL_FIXED] = "number",
                                        [CELL_BOOL] = "boolean",
                                        [CELL_FLAG] = "boolean"};
    const char *const pairs[] = {"key",  column->key,         "unit", column->unit,
                                 "type", types[column->type], "text", column->text};
    yajl_gen_map_open(gen);
    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++)
        report_json_string(gen, pairs[i] ? pairs[i] : "");
    yajl_gen_map_close(gen);
}

void report_write_fields(const Report *report, GString *out)
{
    static const char *const always[] = {"schema", "report", "version", "answer", "notes"};
    yajl_gen gen = yajl_gen_alloc(NULL);
    yajl_gen_config(gen, yajl_gen_beautify, 1);
    yajl_gen_config(gen, yajl_gen_indent_string, " ");
    yajl_gen_map_open(gen);
    report_json_string(gen, "facts");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < G_N_ELEMENTS(always); i++)
        report_json_string(gen, always[i]);
    for (guint i = 0; i < report->facts->len; i++)
        report_json_string(gen, g_array_index(report->facts, Fact, i).key);
    yajl_gen_array_close(gen);
    report_json_string(gen, "tables");
    yajl_gen_array_open(gen);
    for (guint i = 0; i < report->tables->len; i++) {
        const Table *table = g_ptr_array_index(report->tables, i);
        yajl_gen_map_open(gen);
        report_json_string(gen, "key");
        report_json_string(gen, table->key);
        report_json_string(gen, "title");
        report_json_string(gen, table->title);
        report_json_string(gen, "fields");
        yajl_gen_array_open(gen);
        for (guint c = 0; c < table->n_columns; c++)
            json_column(gen, &table->columns[c]);
        yajl_gen_array_close(gen);
        yajl_gen_map_close(gen);
    }
    yajl_gen_array_close(gen);
    yajl_gen_map_close(gen);
    report_json_end(gen, out);
    g_string_append_c(out, '\n');
}
