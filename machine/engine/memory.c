/* The engine's part of memory and multicast objects: regions, address space, members and binds. */
#include "machine/engine/endpoint.h"

#include <gio/gio.h>

McObject *engine_object(Engine *engine, guint32 number)
{
    if (number & ENGINE_UNICAST)
        return engine_unicast(engine, number)->object;
    return number < engine->objects->len ? g_ptr_array_index(engine->objects, number) : NULL;
}

static ObjectNote *note_of(Engine *engine, guint32 object)
{
    if (object & ENGINE_UNICAST)
        return &engine_unicast(engine, object)->note;
    if (object >= engine->notes->len)
        g_array_set_size(engine->notes, object + 1);
    return &g_array_index(engine->notes, ObjectNote, object);
}

guint64 engine_handle(const Engine *engine, guint32 object)
{
    return object < engine->notes->len ? g_array_index(engine->notes, ObjectNote, object).handle : 0;
}

static void region_new(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    g_autoptr(GError) error = NULL;
    Memory *memory = engine->fabric->memory;
    MemRegion *region = request->source ? memory_region_around(memory, (guint16)request->gpu, request->bytes,
                                                               (guint8 *)(guintptr)request->source)
                                        : memory_region_from_fd(memory, (guint16)request->gpu, (guint16)request->width,
                                                                request->bytes, request->fd, request->offset, &error);

    reply->status = region ? ENGINE_OK : ENGINE_NO_MEMORY;
    if (!region)
        log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, sim_now_ps(engine->sim), "%s", error->message);
    else
        reply->value = region->id;
    if (region)
        memory_keep_l2(engine->fabric->memory, region, engine->fabric->spec.gpu.l2_bytes);
    if (region)
        region->lock = (pthread_mutex_t *)(guintptr)request->argument;
}

static void map(Engine *engine, const EngineRequest *request)
{
    MemRegion *region = request->region != 0 ? memory_region(engine->fabric->memory, request->region) : NULL;
    McObject *object = engine_object(engine, request->object);

    vas_map(engine_vas(engine, request->client), request->address, request->bytes, region, object, request->offset);
    if (object) {
        ObjectWindow window = {request->address, request->bytes, request->offset, object->id};
        g_array_append_val(engine->windows, window);
    }
}

static void unmap(Engine *engine, const EngineRequest *request)
{
    vas_unmap(engine_vas(engine, request->client), request->address, request->bytes);
    for (guint i = 0; i < engine->windows->len; i++)
        if (g_array_index(engine->windows, ObjectWindow, i).va == request->address)
            g_array_remove_index(engine->windows, i--);
}

static void object_new(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    if (request->access == ENGINE_OBJECT_ENDPOINT_UNICAST) {
        reply->value = engine_unicast_new(engine, request->bytes);
        return;
    }
    McObject *object = fabric_mc_object(engine->fabric, (guint32)request->value, request->bytes);

    g_assert(object->id == engine->objects->len);
    reply->value = object->id;
    g_ptr_array_add(engine->objects, object);
    *note_of(engine, object->id) = (ObjectNote){.bytes = request->bytes,
                                                .team = (guint32)request->value,
                                                .members = g_string_new(NULL),
                                                .kind = (EngineObjectKind)request->access};
}

/* Processes number endpoints each for itself: the lowest number of all is the one that reports say. */
static void object_handle(ObjectNote *note, guint64 handle)
{
    if (note->kind == ENGINE_OBJECT_MULTICAST || note->handle == 0 || handle < note->handle)
        note->handle = handle;
}

static void object_member(Engine *engine, const EngineRequest *request)
{
    GString *members = note_of(engine, request->object)->members;

    mcobject_add_member(engine_object(engine, request->object), (guint16)request->gpu);
    g_string_append_printf(members, "%s%u", members->len > 0 ? " " : "", request->gpu);
}

void engine_bury(Engine *engine)
{
    for (guint i = 0; i < engine->graveyard->len; i++) {
        McObject *object = g_ptr_array_index(engine->graveyard, i);
        if (object->mcid != MC_MCID_NONE)
            fabric_mc_detach(engine->fabric, object);
        mcobject_free(object);
    }
    g_ptr_array_set_size(engine->graveyard, 0);
}

/* Work under way may still write to it. */
static void object_free(Engine *engine, guint32 number)
{
    g_ptr_array_add(engine->graveyard, engine_object(engine, number));
    engine_endpoints_forget(engine, engine_object(engine, number));
    if (number & ENGINE_UNICAST)
        engine_unicast(engine, number)->object = NULL;
    else
        engine->objects->pdata[number] = NULL;
    if (engine->running == 0)
        engine_bury(engine);
}

static void object_bind(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    McObject *object = engine_object(engine, request->object);
    MemRegion *region = memory_region(engine->fabric->memory, request->region);

    if (!mcobject_bind(object, (guint16)request->gpu, request->address, region, request->offset, request->bytes))
        reply->status = ENGINE_INVALID;
    else
        note_of(engine, request->object)->binds++;
}

/* Teams that faults have left no entry since they were made are refused, too. */
static void object_ready(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    McObject *object = engine_object(engine, request->object);
    char **text = (char **)(gpointer)request->argument;
    g_autoptr(GError) why = NULL;

    if (request->object & ENGINE_UNICAST)
        return; /* it takes no entry */
    if (object->mcid == MC_MCID_NONE ? fabric_mc_attach(engine->fabric, object, &why)
                                     : fabric_mc_holds(engine->fabric, object))
        return;
    reply->status = ENGINE_FULL;
    if (text)
        *text = g_strdup(why ? why->message : "[fault] has left no link number to all its members meanwhile");
}

gboolean engine_memory_request(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    VasMapping *mapping;

    switch (request->op) {
    case ENGINE_REGION_NEW: region_new(engine, request, reply); return TRUE;
    case ENGINE_REGION_FREE:
        memory_region_unref(engine->fabric->memory, memory_region(engine->fabric->memory, request->region));
        return TRUE;
    case ENGINE_MAP: map(engine, request); return TRUE;
    case ENGINE_UNMAP: unmap(engine, request); return TRUE;
    case ENGINE_ACCESS:
        mapping = vas_find(engine_vas(engine, request->client), request->address);
        vas_set_access(mapping, (guint16)request->gpu, (VasAccess)request->access);
        return TRUE;
    case ENGINE_ENDPOINT_RESERVE:
    case ENGINE_ENDPOINT_RELEASE:
    case ENGINE_ENDPOINT_SET:
        engine_endpoint_request(engine, request, request->object != 0 ? engine_object(engine, request->object) : NULL,
                                reply);
        return TRUE;
    case ENGINE_OBJECT_NEW: object_new(engine, request, reply); return TRUE;
    case ENGINE_OBJECT_FREE: object_free(engine, request->object); return TRUE;
    case ENGINE_OBJECT_HANDLE: object_handle(note_of(engine, request->object), request->value); return TRUE;
    case ENGINE_OBJECT_MEMBER: object_member(engine, request); return TRUE;
    case ENGINE_OBJECT_READY: object_ready(engine, request, reply); return TRUE;
    case ENGINE_OBJECT_BIND: object_bind(engine, request, reply); return TRUE;
    case ENGINE_OBJECT_UNBIND:
        mcobject_unbind(engine_object(engine, request->object), (guint16)request->gpu, request->address,
                        request->bytes);
        return TRUE;
    default: return FALSE;
    }
}

static const Column object_columns[] = {
    COLUMN_TEXT(target, "target", "as operations name it"),
    COLUMN_TEXT(handle, "handle", "in the program: the first of this process"),
    COLUMN_U64(bytes, "bytes", "B", "of the object"),
    COLUMN_U64(team, "team", "GPUs", "that it was created for"),
    COLUMN_TEXT(members, "members", "GPUs that were added, in order"),
    COLUMN_U64(binds, "binds", "", "that were made, of all processes"),
    COLUMN_END,
};

void engine_table_hex(Table *table, guint64 value)
{
    g_autofree char *text = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", value);
    table_text(table, value != 0 ? text : NULL);
}

#define OBJECTS_SAID 4u /* of many objects the first are said, and the table has all */

/* Whether what was bound is whole: a team that is not complete is what programs wait for without knowing. */
static void object_answer(const ObjectNote *note, guint number, Report *report)
{
    g_auto(GStrv) members = g_strsplit(note->members->str, " ", -1);
    const guint n = *note->members->str ? g_strv_length(members) : 0;
    const gboolean endpoint = note->kind != ENGINE_OBJECT_MULTICAST;

    report_add_answer(report, "%s %u has %u of the %u GPUs of its team; memory was bound %u times%s",
                      endpoint ? "endpoint" : "multicast", endpoint ? (guint)note->handle : number, n,
                      (guint)note->team, (guint)note->binds,
                      n < note->team    ? ": its team is not complete"
                      : note->binds < n ? ": not every GPU has memory in it"
                                        : "");
}

void engine_objects_report(Engine *engine, Report *report)
{
    Table *table = NULL;
    guint said = 0;

    for (guint i = 1; i < engine->notes->len && said < OBJECTS_SAID; i++, said++)
        object_answer(&g_array_index(engine->notes, ObjectNote, i), i, report);
    for (guint i = 1; i < engine->notes->len; i++) {
        const ObjectNote *note = &g_array_index(engine->notes, ObjectNote, i);
        g_autofree char *target = g_strdup_printf("multicast %u", i);
        if (note->kind != ENGINE_OBJECT_MULTICAST)
            continue;
        if (!table)
            table = report_add_table(report, "multicast_objects", "Multicast objects", object_columns, 0);
        table_text(table, target);
        engine_table_hex(table, note->handle);
        table_u64(table, note->bytes);
        table_u64(table, note->team);
        table_text(table, note->members->str);
        table_u64(table, note->binds);
    }
    engine_endpoints_report(engine, report);
}
