/* See side.h. */
#include "explore/side.h"

#include <json-glib/json-glib.h>
#include <math.h>

#include "observe/series/tables.h"
#include "observe/series/latency_breakdown.h"
#include "sim/param/whole.h"

static void side_cell(Table *table, const Column *column, JsonNode *node, const char *side)
{
    const gboolean value = node && JSON_NODE_HOLDS_VALUE(node);
    if (column->type == CELL_TEXT) {
        const char *text = value && json_node_get_value_type(node) == G_TYPE_STRING ? json_node_get_string(node) : NULL;
        g_autofree char *run = side ? g_strdup_printf("%s: %s", side, text ? text : "-") : g_strdup(text);
        table_text(table, run);
    } else if (!value || json_node_get_value_type(node) == G_TYPE_STRING) {
        table_null(table);
    } else if (column->type == CELL_U64) {
        table_u64(table, (guint64)MAX(json_node_get_int(node), 0));
    } else {
        table_fixed(table, json_node_get_double(node));
    }
}

/* The rows of one table of one report; its first column says of which run they are. */
static guint side_rows(Table *table, const Column *columns, const char *key, JsonObject *report, const char *side)
{
    JsonNode *node = json_object_get_member(report, key);
    JsonArray *rows = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
    for (guint r = 0; rows && r < json_array_get_length(rows); r++) {
        JsonNode *row = json_array_get_element(rows, r);
        for (const Column *column = columns; JSON_NODE_HOLDS_OBJECT(row) && column->key; column++)
            side_cell(table, column, json_object_get_member(json_node_get_object(row), column->key),
                      column == columns ? side : NULL);
    }
    return rows != NULL;
}

gboolean side_parse(JsonParser *parser, const char *path, GError **error)
{
    g_autofree char *text = NULL;
    gsize length = 0;
    return whole_read(path, &text, &length, error) && json_parser_load_from_data(parser, text, (gssize)length, error);
}

guint side_add(Report *report, const char *a, const char *b)
{
    const char *const paths[2] = {a, b}, *const sides[2] = {"a", "b"};
    JsonObject *root[2] = {NULL, NULL};
    g_autoptr(JsonParser) parser_a = json_parser_new(), parser_b = json_parser_new();
    JsonParser *const parser[2] = {parser_a, parser_b};
    gboolean in_time = FALSE, where = FALSE;
    for (int i = 0; i < 2; i++) {
        JsonNode *node = side_parse(parser[i], paths[i], NULL) ? json_parser_get_root(parser[i]) : NULL;
        root[i] = node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
        in_time |= root[i] && json_object_has_member(root[i], "in_time");
        where |= root[i] && json_object_has_member(root[i], "where");
    }
    SeriesTables series = {.report = report};
    LatencyTables parts = {.report = report};
    guint found = 0;
    if (in_time)
        series_tables_begin(&series);
    if (where)
        latency_breakdown_tables_begin(&parts);
    for (int i = 0; i < 2; i++) {
        if (in_time && root[i]) {
            found += side_rows(series.in_time, series_in_time_columns, "in_time", root[i], sides[i]);
            found += side_rows(series.latencies, series_latency_columns, "latencies", root[i], sides[i]);
        }
        if (where && root[i]) {
            found += side_rows(parts.run, latency_breakdown_run_columns, "where", root[i], sides[i]);
            found += side_rows(parts.requests, latency_breakdown_request_columns, "where_requests", root[i], sides[i]);
        }
    }
    return found;
}
