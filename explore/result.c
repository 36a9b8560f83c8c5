/* See result.h. */
#include "explore/result.h"

#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/wait.h>

/* Rows of a report's first table that become outputs one by one. */
#define RESULT_ROWS_MAX 16

static void result_clear_output(gpointer data)
{
    Output *output = data;
    g_free(output->name);
    g_free(output->text);
}

static void result_add(GArray *outputs, const char *name, guint row, JsonNode *node)
{
    Output output = {.name = row ? g_strdup_printf("%s_%u", name, row + 1) : g_strdup(name)};
    GType type = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;
    if (type == G_TYPE_INT64) {
        output.type = OUTPUT_INTEGER;
        output.integer = json_node_get_int(node);
    } else if (type == G_TYPE_BOOLEAN) {
        output.type = OUTPUT_INTEGER;
        output.integer = json_node_get_boolean(node);
    } else if (type == G_TYPE_DOUBLE) {
        output.type = OUTPUT_REAL;
        output.real = json_node_get_double(node);
    } else if (type == G_TYPE_STRING) {
        output.type = OUTPUT_TEXT;
        output.text = g_strdup(json_node_get_string(node));
    } else if (!JSON_NODE_HOLDS_NULL(node)) {
        g_free(output.name);
        return;
    }
    g_array_append_val(outputs, output);
}

static void result_add_members(GArray *outputs, JsonObject *object, guint row, const char *const *but)
{
    JsonObjectIter iter;
    const char *name;
    JsonNode *node;
    json_object_iter_init_ordered(&iter, object);
    while (json_object_iter_next_ordered(&iter, &name, &node))
        if ((!but || !g_strv_contains(but, name)) && !JSON_NODE_HOLDS_ARRAY(node) && !JSON_NODE_HOLDS_OBJECT(node))
            result_add(outputs, name, row, node);
}

/* Facts that are inputs, or the same for all points, are left out. */
static void result_add_report(GArray *outputs, JsonObject *report)
{
    static const char *const known[] = {"schema", "report", "version", "seed",   "fidelity",
                                        "system", "title",  "set",     "config", NULL};
    result_add_members(outputs, report, 0, known);
    JsonNode *rows = json_object_get_member(report, "rows");
    if (!rows)
        return;
    if (JSON_NODE_HOLDS_OBJECT(rows))
        result_add_members(outputs, json_node_get_object(rows), 0, NULL);
    if (!JSON_NODE_HOLDS_ARRAY(rows))
        return;
    JsonArray *list = json_node_get_array(rows);
    for (guint i = 0; i < MIN(json_array_get_length(list), RESULT_ROWS_MAX); i++) {
        JsonNode *row = json_array_get_element(list, i);
        if (JSON_NODE_HOLDS_OBJECT(row))
            result_add_members(outputs, json_node_get_object(row), i, NULL);
    }
}

static gboolean result_read(Result *result, const char *out, gsize bytes)
{
    g_autoptr(JsonParser) parser = json_parser_new();
    if (!json_parser_load_from_data(parser, out, (gssize)bytes, NULL))
        return FALSE;
    JsonNode *root = json_parser_get_root(parser);
    if (!root || !JSON_NODE_HOLDS_OBJECT(root))
        return FALSE;
    result_add_report(result->outputs, json_node_get_object(root));
    return TRUE;
}

/* The lines of standard error as one text, without "fanout VERB: " before them. */
static char *result_error(const char *err, gsize bytes)
{
    enum { LONGEST = 4096 };
    g_autofree char *text = g_utf8_make_valid(err, (gssize)MIN(bytes, LONGEST));
    g_strchomp(text);
    const char *colon = g_str_has_prefix(text, "fanout ") ? strstr(text, ": ") : NULL;
    return *text ? g_strdup(colon ? colon + 2 : text) : NULL;
}

Result *result_new(int wait_status, const char *out, gsize out_bytes, const char *err, gsize err_bytes)
{
    Result *result = g_new0(Result, 1);
    int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    result->outputs = g_array_new(FALSE, FALSE, sizeof(Output));
    g_array_set_clear_func(result->outputs, result_clear_output);
    result->error = result_error(err, err_bytes);
    result->status = code == 0 ? "done" : code == 2 ? "wrong" : code < 0 ? "died" : "failed";
    gboolean read = result_read(result, out, out_bytes);
    if (code == 0 && !read) {
        result->status = "failed";
        g_free(result->error);
        result->error = g_strdup("its report is no JSON");
    }
    if (!result->error && code != 0)
        result->error = code < 0 ? g_strdup_printf("ended by signal %d", WTERMSIG(wait_status))
                                 : g_strdup_printf("exit code %d", code);
    return result;
}

void result_free(Result *result)
{
    g_array_unref(result->outputs);
    g_free(result->error);
    g_free(result);
}

const char *result_unit(const char *name)
{
    static const struct {
        const char *end, *unit;
    } units[] = {{"GBps", "GB/s"}, {"MBps", "MB/s"},       {"ps", "ps"},      {"ns", "ns"},
                 {"us", "us"},     {"ms", "ms"},           {"s", "s"},        {"pct", "%"},
                 {"bytes", "B"},   {"packets", "packets"}, {"flits", "flits"}};
    g_autofree char *base = g_strdup(name);
    char *last = strrchr(base, '_');
    if (last && last[1] && strspn(last + 1, "0123456789") == strlen(last + 1)) /* "_2": the second row's */
        *last = 0;
    last = strrchr(base, '_');
    const char *end = last ? last + 1 : base;
    for (guint i = 0; i < G_N_ELEMENTS(units); i++)
        if (strcmp(end, units[i].end) == 0 && (last || strlen(end) > 2))
            return units[i].unit;
    return "";
}
