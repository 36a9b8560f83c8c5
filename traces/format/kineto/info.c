/* distributedInfo of a Kineto trace: rank, number of ranks, process groups. */
#include "traces/format/kineto/kineto.h"

#include <string.h>

gboolean kineto_wanted(void *user, const char *key)
{
    (void)user;
    return strcmp(key, "distributedInfo") == 0;
}

/* {"rank": 0, "world_size": 2, "pg_config": [{"pg_name": "0", "ranks": [0, 1], ...}]} */
gboolean kineto_member(void *user, const Json *info, GError **error)
{
    Kineto *kineto = user;
    const char *path = input_path(kineto->reader->input);
    const Json *rank = json_get(info, "rank"), *world = json_get(info, "world_size");
    if ((rank && (!json_i64(rank, &kineto->rank) || kineto->rank < 0)) ||
        (world && (!json_i64(world, &kineto->world) || kineto->world < 1))) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s:%u: distributedInfo: \"rank\" and \"world_size\" should "
                    "be whole numbers",
                    path, info->line);
        return FALSE;
    }
    const Json *list = json_get(info, "pg_config");
    for (const Json *at = list ? list->first : NULL; at != NULL; at = at->next) {
        const char *name = json_string(json_get(at, "pg_name"));
        const Json *members = json_get(at, "ranks");
        GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (const Json *m = members ? members->first : NULL; m != NULL; m = m->next) {
            guint64 value = RECORD_WORLD_MAX;
            guint32 small = json_u64(m, &value) && value < RECORD_WORLD_MAX ? value : RECORD_WORLD_MAX;
            g_array_append_val(ranks, small);
            if (small == RECORD_WORLD_MAX) {
                g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                            "%s:%u: distributedInfo: \"ranks\" of group \"%s\" "
                            "should be whole numbers",
                            path, info->line, name ? name : "");
                g_array_free(ranks, TRUE);
                return FALSE;
            }
        }
        g_hash_table_insert(kineto->groups, g_strdup(name ? name : ""), ranks);
    }
    return TRUE;
}

/* distributedInfo stands before the events, as PyTorch writes it: reading stops where they begin. */
static gboolean identify_item(void *user, const Json *item, GError **error)
{
    (void)user;
    (void)item;
    g_set_error_literal(error, TRACE_ERROR, TRACE_ERROR_VALUE, "the events begin");
    return FALSE;
}

static gboolean identify_member(void *user, const Json *info, GError **error)
{
    (void)error;
    TraceIdentity *identity = user;
    gint64 rank, world;
    if (json_i64(json_get(info, "rank"), &rank) && rank >= 0 && rank < RECORD_WORLD_MAX)
        identity->rank = rank;
    if (json_i64(json_get(info, "world_size"), &world) && world >= 1 && world <= RECORD_WORLD_MAX)
        identity->world = world;
    return TRUE;
}

void kineto_identify(Input *input, TraceIdentity *identity)
{
    JsonHandler handler = {.array = "traceEvents",
                           .item = identify_item,
                           .wanted = kineto_wanted,
                           .member = identify_member,
                           .user = identity};
    GError *broken = NULL;
    json_stream(input, &handler, &broken); /* what is wrong in it, its reading will say */
    g_clear_error(&broken);
}
