/* The JSON form of Chakra traces: {"workload_graph": [{"Id": .., "NodeType": .., ...}, ...]}. */
#include <string.h>

#include "traces/format/chakra/chakra.h"

static int chakra_json_probe(const char *head, gsize n)
{
    (void)n;
    return strstr(head, "\"workload_graph\"") ? 95 : 0;
}

/* A member that should be a whole number of 0 or more; absent: stays. */
static void take_number(ChakraNode *node, const Json *item, const char *key, guint64 *value)
{
    const Json *member = json_get(item, key);
    if (!member || json_u64(member, value) || node->bad_text)
        return;
    char *is = json_describe(member);
    node->bad_text = g_strdup_printf("\"%s\" is %s; it should be a whole number", key, is);
    g_free(is);
}

static void take_deps(ChakraNode *node, const Json *item, const char *key)
{
    const Json *list = json_get(item, key);
    for (const Json *at = list ? list->first : NULL; at != NULL; at = at->next) {
        guint64 id;
        if (json_u64(at, &id)) {
            g_array_append_val(node->deps, id);
        } else if (!node->bad_text) {
            char *is = json_describe(at);
            node->bad_text = g_strdup_printf("\"%s\" holds %s; it should hold ids", key, is);
            g_free(is);
        }
    }
    if (list && list->type != JSON_ARRAY && !node->bad_text)
        node->bad_text = g_strdup_printf("\"%s\" should be a list of ids", key);
}

static void take_attribute(ChakraNode *node, const Json *item, ChakraAttribute attribute)
{
    const Json *member = json_get(item, chakra_attribute_names[attribute]);
    if (!member)
        return;
    node->has[attribute] = TRUE;
    if (member->type == JSON_BOOL) {
        node->value[attribute] = member->truth;
    } else if (!json_i64(member, &node->value[attribute])) {
        node->has[attribute] = FALSE;
        if (!node->bad_text) {
            char *is = json_describe(member);
            node->bad_text = g_strdup_printf("\"%s\" is %s; it should be a whole number below 2^63",
                                             chakra_attribute_names[attribute], is);
            g_free(is);
        }
    }
}

static gboolean chakra_json_item(void *user, const Json *item, GError **error)
{
    Chakra *chakra = user;
    ChakraNode node = {
        .where = reader_here(chakra->reader, item->line, item->byte, -1),
        .name = json_string(json_get(item, "Name")),
        .pg_name = json_string(json_get(item, "pg_name")),
        .deps = g_array_new(FALSE, FALSE, sizeof(guint64)),
    };
    gboolean ok;
    guint64 id;
    if (!json_u64(json_get(item, "Id"), &id) || id > G_MAXINT64) {
        char *is = json_describe(json_get(item, "Id"));
        ok = reader_problem(chakra->reader, node.where, "wrong node", error,
                            "\"Id\" is %s; it should be a whole number below 2^63", is);
        g_free(is);
    } else {
        node.where.node = id;
        take_number(&node, item, "NodeType", &node.type);
        take_number(&node, item, "runtime", &node.duration_us);
        take_number(&node, item, "duration_micros", &node.duration_us);
        static const char *const deps[] = {"ctrl_deps", "ctrlDeps", "data_deps", "dataDeps"};
        for (guint i = 0; i < G_N_ELEMENTS(deps); i++)
            take_deps(&node, item, deps[i]);
        for (int i = 0; i < CHAKRA_ATTRIBUTES; i++)
            take_attribute(&node, item, i);
        const Json *dims = json_get(item, "involved_dim");
        for (const Json *at = dims ? dims->first : NULL; at != NULL; at = at->next)
            node.partial_dims |= at->type == JSON_BOOL && !at->truth;
        ok = chakra_add(chakra, &node, error);
    }
    g_array_free(node.deps, TRUE);
    return ok;
}

static gboolean chakra_json_read(Reader *reader, GError **error)
{
    Chakra chakra;
    gboolean ok = chakra_init(&chakra, reader, error);
    if (ok) {
        JsonHandler handler = {.array = "workload_graph", .item = chakra_json_item, .user = &chakra};
        GError *broken = NULL;
        ok = json_stream(reader->input, &handler, &broken) || reader_skip(reader, &broken, error);
    }
    ok = ok && chakra_finish(&chakra, error);
    chakra_clear(&chakra);
    return ok;
}

const TraceFormat trace_format_chakra_json = {
    .name = "chakra-json",
    .title = "MLCommons Chakra (JSON)",
    .probe = chakra_json_probe,
    .read = chakra_json_read,
    .per_rank = TRUE,
};
