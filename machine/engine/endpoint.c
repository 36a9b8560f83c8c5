/* Logical endpoints of programs: which object an identifier leads to, unicast ones, what the report says. */
#include "machine/engine/endpoint.h"

EngineUnicast *engine_unicast(const Engine *engine, guint32 number)
{
    return g_ptr_array_index(engine->unicasts, number & ~ENGINE_UNICAST);
}

guint32 engine_unicast_new(Engine *engine, guint64 bytes)
{
    Fabric *fabric = engine->fabric;
    EngineUnicast *made = g_new0(EngineUnicast, 1);

    made->object = mcobject_new(fabric->memory, 0, 1, bytes, (guint16)fabric->spec.system.gpus);
    made->object->left = fabric->left;
    made->note =
        (ObjectNote){.bytes = bytes, .team = 1, .kind = ENGINE_OBJECT_ENDPOINT_UNICAST, .members = g_string_new(NULL)};
    g_ptr_array_add(engine->unicasts, made);
    return ENGINE_UNICAST | (engine->unicasts->len - 1);
}

void engine_endpoint_request(Engine *engine, const EngineRequest *request, McObject *object, EngineReply *reply)
{
    EndpointTable *table = vas_endpoints_make(engine_vas(engine, request->client), engine->spec.clique_gpus);

    switch (request->op) {
    case ENGINE_ENDPOINT_RESERVE: endpoint_reserve(table, (guint32)request->value, (guint32)request->bytes); return;
    case ENGINE_ENDPOINT_RELEASE: endpoint_release(table, (guint32)request->value, (guint32)request->bytes); return;
    default:
        if (!endpoint_set(table, (guint32)request->value, object, request->access))
            reply->status = ENGINE_INVALID;
    }
}

void engine_endpoints_forget(Engine *engine, const McObject *object)
{
    for (guint i = 0; i < engine->vases->len; i++)
        if (engine_vas(engine, i))
            endpoint_forget(vas_endpoints(engine_vas(engine, i)), object);
}

/* ---- the report */

static const Column endpoint_columns[] = {
    COLUMN_TEXT(target, "target", "as operations name it"),
    COLUMN_U64(id, "id", "", "in the program; of several processes the lowest"),
    COLUMN_TEXT(kind, "kind", "unicast or multicast"),
    COLUMN_U64(bytes, "bytes", "B", "of the endpoint"),
    COLUMN_U64(team, "team", "GPUs", "that it was created for"),
    COLUMN_TEXT(members, "members", "GPUs of it, in the order in which they were added"),
    COLUMN_U64(binds, "binds", "", "that were made, of all processes"),
    COLUMN_END,
};

/* Processes make theirs in the order in which the host lets them run: rows are in that of GPUs and identifiers. */
static gint compare_notes(gconstpointer a, gconstpointer b)
{
    const ObjectNote *x = *(const ObjectNote *const *)a, *y = *(const ObjectNote *const *)b;
    guint64 of_x = g_ascii_strtoull(x->members->str, NULL, 10), of_y = g_ascii_strtoull(y->members->str, NULL, 10);

    return of_x != of_y ? (of_x < of_y ? -1 : 1) : (x->handle > y->handle) - (x->handle < y->handle);
}

static Table *endpoint_row(Report *report, Table *table, const ObjectNote *note, const char *target)
{
    if (!table)
        table = report_add_table(report, "logical_endpoints", "Logical endpoints", endpoint_columns, 0);
    table_text(table, target);
    table_u64(table, note->handle);
    table_text(table, target ? "multicast" : "unicast");
    table_u64(table, note->bytes);
    table_u64(table, note->team);
    table_text(table, note->members->str);
    table_u64(table, note->binds);
    return table;
}

void engine_endpoints_report(Engine *engine, Report *report)
{
    g_autoptr(GPtrArray) unicasts = g_ptr_array_new();
    Table *table = NULL;

    for (guint i = 0; i < engine->unicasts->len; i++)
        g_ptr_array_add(unicasts, &engine_unicast(engine, i)->note);
    g_ptr_array_sort(unicasts, compare_notes);
    for (guint i = 0; i < unicasts->len; i++)
        table = endpoint_row(report, table, g_ptr_array_index(unicasts, i), NULL);
    for (guint i = 1; i < engine->notes->len; i++) {
        const ObjectNote *note = &g_array_index(engine->notes, ObjectNote, i);
        g_autofree char *target = g_strdup_printf("multicast %u", i);
        if (note->kind != ENGINE_OBJECT_MULTICAST)
            table = endpoint_row(report, table, note, target);
    }
}
