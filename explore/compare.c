/* See compare.h. */
#include "explore/compare.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "explore/side.h"
#include "explore/store.h"

typedef struct {
    Comparison *all;
} Compare;

/* ---- values */

static char *compare_text(JsonNode *node)
{
    if (!node || !JSON_NODE_HOLDS_VALUE(node))
        return NULL;
    if (json_node_get_value_type(node) == G_TYPE_STRING)
        return json_node_dup_string(node);
    if (json_node_get_value_type(node) == G_TYPE_DOUBLE) {
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        return g_strdup(g_ascii_formatd(text, sizeof text, "%.15g", json_node_get_double(node)));
    }
    if (json_node_get_value_type(node) == G_TYPE_INT64)
        return g_strdup_printf("%" G_GINT64_FORMAT, json_node_get_int(node));
    return g_strdup(json_node_get_boolean(node) ? "true" : "false");
}

static gboolean compare_is(JsonNode *node, GType type)
{
    return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type;
}

static gboolean compare_is_number(JsonNode *node)
{
    return compare_is(node, G_TYPE_INT64) || compare_is(node, G_TYPE_DOUBLE);
}

static void compare_add(Compare *compare, const char *where, const char *key, JsonNode *a, JsonNode *b)
{
    Difference one = {g_strdup(where), g_strdup(key), compare_text(a), compare_text(b), NAN, NAN};
    if (compare_is_number(a) && compare_is_number(b)) {
        double from = json_node_get_double(a), to = json_node_get_double(b);
        one.change = to - from;
        one.change_pct = from != 0 ? 100 * (to - from) / fabs(from) : NAN;
    }
    g_array_append_val(compare->all->differences, one);
}

static void compare_values(Compare *compare, const char *where, const char *key, JsonNode *a, JsonNode *b)
{
    g_autofree char *text_a = compare_text(a), *text_b = compare_text(b);
    compare->all->compared++;
    if (g_strcmp0(text_a, text_b) == 0)
        compare->all->equal++;
    else
        compare_add(compare, where, key, a, b);
}

/* Members of both, in a's order, then those of b alone. Tables are left out. */
static void compare_members(Compare *compare, const char *where, JsonObject *a, JsonObject *b)
{
    JsonObjectIter iter;
    const char *key;
    JsonNode *node;
    json_object_iter_init_ordered(&iter, a);
    while (json_object_iter_next_ordered(&iter, &key, &node))
        if (!JSON_NODE_HOLDS_ARRAY(node) && !JSON_NODE_HOLDS_OBJECT(node)) {
            if (json_object_has_member(b, key))
                compare_values(compare, where, key, node, json_object_get_member(b, key));
            else
                compare_add(compare, where, key, node, NULL);
        }
    json_object_iter_init_ordered(&iter, b);
    while (json_object_iter_next_ordered(&iter, &key, &node))
        if (!JSON_NODE_HOLDS_ARRAY(node) && !JSON_NODE_HOLDS_OBJECT(node) && !json_object_has_member(a, key))
            compare_add(compare, where, key, NULL, node);
}

/* ---- which rows belong together */

typedef struct {
    JsonArray *rows[2];
    GPtrArray *keys; /* members that tell rows apart: borrowed from the first row */
} Pairing;

static JsonObject *pairing_row(const Pairing *pairing, guint side, guint row)
{
    JsonNode *node = json_array_get_element(pairing->rows[side], row);
    return JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

/* The values of a member; NULL: some row's is no `type`. */
static GHashTable *pairing_values(const Pairing *pairing, guint side, const char *key, GType type)
{
    GHashTable *values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint r = 0; r < json_array_get_length(pairing->rows[side]); r++) {
        JsonObject *row = pairing_row(pairing, side, r);
        JsonNode *node = row ? json_object_get_member(row, key) : NULL;
        if (!compare_is(node, type)) {
            g_hash_table_unref(values);
            return NULL;
        }
        g_hash_table_add(values, compare_text(node));
    }
    return values;
}

static guint pairing_common(GHashTable *a, GHashTable *b)
{
    GHashTableIter iter;
    gpointer value;
    guint n = 0;
    g_hash_table_iter_init(&iter, a);
    while (g_hash_table_iter_next(&iter, &value, NULL))
        n += g_hash_table_contains(b, value);
    return n;
}

/* Words tell rows apart, unless all rows of each table have one word and the two tables' differ; so do whole numbers of
 * which one table has all that the other has. */
static gboolean pairing_fits(const Pairing *pairing, const char *key, GType type)
{
    GHashTable *a = pairing_values(pairing, 0, key, type), *b = a ? pairing_values(pairing, 1, key, type) : NULL;
    gboolean fits = FALSE;
    if (b) {
        guint common = pairing_common(a, b);
        gboolean one_each = g_hash_table_size(a) == 1 && g_hash_table_size(b) == 1;
        fits = type == G_TYPE_STRING ? common > 0 || !one_each
                                     : common == MIN(g_hash_table_size(a), g_hash_table_size(b));
    }
    if (a)
        g_hash_table_unref(a);
    if (b)
        g_hash_table_unref(b);
    return fits;
}

static char *pairing_name(const Pairing *pairing, JsonObject *row)
{
    GString *name = g_string_new(NULL);
    for (guint k = 0; k < pairing->keys->len; k++) {
        g_autofree char *text = compare_text(json_object_get_member(row, pairing->keys->pdata[k]));
        g_string_append_printf(name, "%s%s", k ? "\n" : "", text ? text : "-");
    }
    return g_string_free(name, FALSE);
}

static gboolean pairing_is_unique(const Pairing *pairing, guint side)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint r = 0; r < json_array_get_length(pairing->rows[side]); r++) {
        JsonObject *row = pairing_row(pairing, side, r);
        if (row && !g_hash_table_add(seen, pairing_name(pairing, row)))
            return FALSE;
    }
    return TRUE;
}

static void pairing_choose(Pairing *pairing)
{
    static const GType types[] = {G_TYPE_STRING, G_TYPE_INT64};
    JsonObject *first = json_array_get_length(pairing->rows[0]) ? pairing_row(pairing, 0, 0) : NULL;
    for (guint t = 0; first && t < G_N_ELEMENTS(types); t++) {
        JsonObjectIter iter;
        const char *key;
        json_object_iter_init_ordered(&iter, first);
        while (json_object_iter_next_ordered(&iter, &key, NULL)) {
            if (pairing_is_unique(pairing, 0) && pairing_is_unique(pairing, 1))
                return;
            if (pairing_fits(pairing, key, types[t]))
                g_ptr_array_add(pairing->keys, (gpointer)key);
        }
    }
}

/* Rows of the same name are numbered, so that each has a name of its own. */
static char **pairing_names(const Pairing *pairing, guint side)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    guint n = json_array_get_length(pairing->rows[side]);
    char **names = g_new0(char *, n + 1);
    for (guint r = 0; r < n; r++) {
        JsonObject *row = pairing_row(pairing, side, r);
        char *name = row ? pairing_name(pairing, row) : g_strdup("");
        guint times = GPOINTER_TO_UINT(g_hash_table_lookup(seen, name)) + 1;
        g_hash_table_replace(seen, g_strdup(name), GUINT_TO_POINTER(times));
        names[r] = times > 1 ? g_strdup_printf("%s\n#%u", name, times) : g_strdup(name);
        g_free(name);
    }
    return names;
}

/* For people: the table, and of the row's name what differs among the rows. */
static char *pairing_where(const Pairing *pairing, const char *table, const char *name)
{
    g_auto(GStrv) words = g_strsplit(name, "\n", -1);
    GString *where = g_string_new(NULL);
    for (guint k = 0; words[k]; k++) {
        guint values = 2; /* "#2" always stands there */
        if (k < pairing->keys->len) {
            const char *key = pairing->keys->pdata[k];
            GType type = compare_is(json_object_get_member(pairing_row(pairing, 0, 0), key), G_TYPE_STRING)
                             ? G_TYPE_STRING
                             : G_TYPE_INT64;
            g_autoptr(GHashTable) a = pairing_values(pairing, 0, key, type), b = pairing_values(pairing, 1, key, type);
            values = g_hash_table_size(a) + g_hash_table_size(b) - pairing_common(a, b);
        }
        if (values > 1)
            g_string_append_printf(where, "%s%s", where->len ? " " : "", words[k]);
    }
    char *text = where->len ? g_strdup_printf("%s[%s]", table, where->str) : g_strdup(table);
    g_string_free(where, TRUE);
    return text;
}

static void compare_table(Compare *compare, const char *table, JsonArray *a, JsonArray *b)
{
    Pairing pairing = {{a, b}, g_ptr_array_new()};
    pairing_choose(&pairing);
    g_auto(GStrv) of_a = pairing_names(&pairing, 0), of_b = pairing_names(&pairing, 1);
    g_autoptr(GHashTable) in_b = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint r = 0; of_b[r]; r++)
        g_hash_table_insert(in_b, of_b[r], GUINT_TO_POINTER(r + 1));
    for (guint r = 0; of_a[r]; r++) {
        g_autofree char *where = pairing_where(&pairing, table, of_a[r]);
        guint other = GPOINTER_TO_UINT(g_hash_table_lookup(in_b, of_a[r]));
        JsonObject *row_a = pairing_row(&pairing, 0, r), *row_b = other ? pairing_row(&pairing, 1, other - 1) : NULL;
        g_hash_table_remove(in_b, of_a[r]);
        if (row_a && row_b)
            compare_members(compare, where, row_a, row_b);
        else if (row_a) {
            Difference one = {g_steal_pointer(&where), g_strdup(""), g_strdup("a row"), NULL, NAN, NAN};
            g_array_append_val(compare->all->differences, one);
        }
    }
    for (guint r = 0; of_b[r]; r++)
        if (g_hash_table_contains(in_b, of_b[r])) {
            Difference one = {pairing_where(&pairing, table, of_b[r]), g_strdup(""), NULL, g_strdup("a row"), NAN, NAN};
            g_array_append_val(compare->all->differences, one);
        }
    g_ptr_array_unref(pairing.keys);
}

/* ---- reports */

/* A table of one row is an object. */
static JsonArray *compare_rows(JsonObject *report, const char *key)
{
    JsonNode *node = json_object_get_member(report, key);
    JsonArray *rows = json_array_new();
    if (node && JSON_NODE_HOLDS_ARRAY(node)) {
        json_array_unref(rows);
        return json_array_ref(json_node_get_array(node));
    }
    if (node && JSON_NODE_HOLDS_OBJECT(node))
        json_array_add_object_element(rows, json_object_ref(json_node_get_object(node)));
    return rows;
}

static void compare_tables(Compare *compare, JsonObject *a, JsonObject *b, JsonObject *order, gboolean alone)
{
    JsonObjectIter iter;
    const char *key;
    JsonNode *node;
    json_object_iter_init_ordered(&iter, order);
    while (json_object_iter_next_ordered(&iter, &key, &node)) {
        if ((!JSON_NODE_HOLDS_ARRAY(node) && !JSON_NODE_HOLDS_OBJECT(node)) || strcmp(key, "notes") == 0 ||
            strcmp(key, "answer") == 0 || strcmp(key, "in_time") == 0 ||
            strcmp(key, "latencies") == 0 || /* side.h draws them */
            (alone && json_object_has_member(a, key)))
            continue;
        JsonArray *rows_a = compare_rows(a, key), *rows_b = compare_rows(b, key);
        compare_table(compare, key, rows_a, rows_b);
        json_array_unref(rows_a);
        json_array_unref(rows_b);
    }
}

static JsonParser *compare_load(const char *path, JsonObject **report, GError **error)
{
    JsonParser *parser = json_parser_new();
    g_autoptr(GError) why = NULL;
    JsonNode *root = side_parse(parser, path, &why) ? json_parser_get_root(parser) : NULL;
    const char *schema = NULL;
    *report = root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
    if (*report && compare_is(json_object_get_member(*report, "schema"), G_TYPE_STRING))
        schema = json_object_get_string_member(*report, "schema");
    if (g_strcmp0(schema, "fanout/1") == 0)
        return parser;
    g_set_error(error, STORE_ERROR, STORE_ERROR_OTHER, "'%s' is no report: %s", path,
                g_str_has_suffix(path, ".db") ? "it is a database, of which fanout plot draws"
                : why                         ? why->message
                : !root                       ? "it is empty, as of a run that failed or has not ended"
                                              : "it is JSON, but not of schema fanout/1, which --format json writes");
    g_object_unref(parser);
    return NULL;
}

/* Rows that only one report has come last: of two systems they are many, and say nothing of what both have. */
static int compare_by_size(gconstpointer a, gconstpointer b)
{
    const Difference *one = a, *other = b;
    gboolean row_one = *one->key == '\0', row_other = *other->key == '\0';
    if (row_one != row_other)
        return row_one - row_other;
    gboolean nan_one = isnan(one->change_pct), nan_other = isnan(other->change_pct);
    if (nan_one || nan_other)
        return nan_other - nan_one;
    double x = fabs(one->change_pct), y = fabs(other->change_pct);
    return (x < y) - (x > y);
}

static void compare_clear(gpointer data)
{
    Difference *one = data;
    g_free(one->where);
    g_free(one->key);
    g_free(one->a);
    g_free(one->b);
}

Comparison *compare_reports(const char *path_a, const char *path_b, GError **error)
{
    JsonObject *a, *b;
    g_autoptr(JsonParser) parser_a = compare_load(path_a, &a, error);
    g_autoptr(JsonParser) parser_b = parser_a ? compare_load(path_b, &b, error) : NULL;
    if (!parser_b)
        return NULL;
    Comparison *all = g_new0(Comparison, 1);
    Compare compare = {.all = all};
    all->differences = g_array_new(FALSE, FALSE, sizeof(Difference));
    g_array_set_clear_func(all->differences, compare_clear);
    all->kind_a = compare_text(json_object_get_member(a, "report"));
    all->kind_b = compare_text(json_object_get_member(b, "report"));
    compare_members(&compare, "", a, b);
    compare_tables(&compare, a, b, a, FALSE);
    compare_tables(&compare, a, b, b, TRUE);
    g_array_sort(all->differences, compare_by_size); /* GLib's sort of an array keeps the order of what is equal */
    return all;
}

void compare_free(Comparison *comparison)
{
    g_array_unref(comparison->differences);
    g_free(comparison->kind_a);
    g_free(comparison->kind_b);
    g_free(comparison);
}
