/* Logical endpoints of programs: which object an identifier leads to, unicast ones, what the report says. */
#include "machine/engine/endpoint.h"

#include "device/kernel/kernel.h"
#include "model/gpu/fabric_engine.h"

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

guint32 engine_endpoint_uses(const Engine *engine, const McObject *object, guint16 gpu, guint64 offset)
{
    const McBind *bind = mcobject_lookup(object, gpu, offset);
    guint32 n = 0;

    for (guint g = 0; bind && g < engine->fabric->spec.system.gpus; g++)
        n += fabric_engine_uses(&engine->fabric->gpu[g], object, bind);
    return n;
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

static const Column report_columns[] = {
    COLUMN_U64(gpu, "GPU", "", "whose kernels submitted them"),
    COLUMN_U64(endpoint, "endpoint", "", "as they named it"),
    COLUMN_U64(report, "report", "", "what their mbarriers say, a bit a cause"),
    COLUMN_TEXT(cause, "cause", "what that means"),
    COLUMN_U64(operations, "operations", "", "that were completed so"),
    COLUMN_END,
};

/* A program need not look at reports, and then knows nothing of what did not arrive: the table is there for it. */
static void report_reports(Engine *engine, Report *report)
{
    Table *table = NULL;

    for (guint g = 0; g < engine->fabric->spec.system.gpus; g++) {
        const GArray *reports = engine->fabric->gpu[g].fabric_reports;
        for (guint i = 0; reports && i < reports->len; i++) {
            const FabricReport *row = &g_array_index(reports, FabricReport, i);
            if (!table)
                table = report_add_table(report, "fabric_reports", "Operations on endpoints that ended with a report",
                                         report_columns, 0);
            table_u64(table, g);
            table_u64(table, row->endpoint);
            table_u64(table, row->report);
            table_text(table, kernel_fabric_report_text(row->report));
            table_u64(table, row->operations);
        }
    }
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
    report_reports(engine, report);
}
