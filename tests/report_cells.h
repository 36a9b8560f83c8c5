/* What tests of reports share: a report as JSON, and one cell of one of its tables. */
#ifndef TESTS_REPORT_CELLS_H
#define TESTS_REPORT_CELLS_H

#include "tests/test.h"

#include <json-glib/json-glib.h>

#include "sim/report/report.h"

static inline JsonNode *cells_of(const Report *report)
{
    GString *text = report_format(report, REPORT_JSON);
    JsonNode *root = json_from_string(text->str, NULL);
    assert_non_null(root);
    g_string_free(text, TRUE);
    return root;
}

static inline guint cells_rows(JsonNode *root, const char *table)
{
    return json_array_get_length(json_object_get_array_member(json_node_get_object(root), table));
}

/* A cell as JSON has it: 12.00, "nvls", null. */
static inline void cell_is(JsonNode *root, const char *table, guint row, const char *key, const char *expected)
{
    JsonArray *rows = json_object_get_array_member(json_node_get_object(root), table);
    assert_non_null(rows);
    assert_true(row < json_array_get_length(rows));
    JsonNode *cell = json_object_get_member(json_array_get_object_element(rows, row), key);
    assert_non_null(cell);
    double number = 0;
    char *end = NULL;
    if (JSON_NODE_HOLDS_VALUE(cell) && json_node_get_value_type(cell) != G_TYPE_STRING) {
        number = json_node_get_double(cell);
        if (g_ascii_strtod(expected, &end) != number || end == expected)
            fail_msg("%s[%u].%s is %.17g, should be %s", table, row, key, number, expected);
        return;
    }
    const char *text = JSON_NODE_HOLDS_NULL(cell) ? "null" : json_node_get_string(cell);
    if (!text || strcmp(text, expected) != 0)
        fail_msg("%s[%u].%s is '%s', should be '%s'", table, row, key, text, expected);
}

/* The report has a sentence with that in it, in its answer or its notes. */
static inline void cells_says(JsonNode *root, const char *key, const char *expected)
{
    JsonArray *said = json_object_has_member(json_node_get_object(root), key)
                          ? json_object_get_array_member(json_node_get_object(root), key)
                          : NULL;
    for (guint i = 0; said && i < json_array_get_length(said); i++)
        if (strstr(json_array_get_string_element(said, i), expected))
            return;
    fail_msg("nothing in '%s' says '%s'", key, expected);
}
static inline void cells_note(JsonNode *root, const char *expected) { cells_says(root, "notes", expected); }

#endif
