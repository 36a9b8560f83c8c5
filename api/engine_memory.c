/* The engine's part of memory and multicast objects: regions, address space, members and binds. */
#include "api/engine_internal.h"

#include <gio/gio.h>

McObject *engine_object(Engine *engine, guint32 number)
{
    return number < engine->objects->len ? g_ptr_array_index(engine->objects, number) : NULL;
}

guint64 engine_handle(const Engine *engine, guint32 object)
{
    return object < engine->handles->len ? g_array_index(engine->handles, guint64, object) : 0;
}

static void object_handle(Engine *engine, const EngineRequest *request)
{
    if (request->object >= engine->handles->len)
        g_array_set_size(engine->handles, request->object + 1);
    g_array_index(engine->handles, guint64, request->object) = request->value;
}

static void region_new(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    g_autoptr(GError) error = NULL;
    MemRegion *region = memory_region_from_fd(engine->fabric->memory, (guint16)request->gpu,
                                              request->bytes, request->fd, &error);

    reply->status = region != NULL ? ENGINE_OK : ENGINE_NO_MEMORY;
    if (region == NULL)
        log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, sim_now_ps(engine->sim), "%s",
                 error->message);
    else
        reply->value = region->id;
    if (region != NULL)
        region->lock = (pthread_mutex_t *)(guintptr)request->argument;
}

static void map(Engine *engine, const EngineRequest *request)
{
    MemRegion *region =
        request->region != 0 ? memory_region(engine->fabric->memory, request->region) : NULL;
    McObject *object = engine_object(engine, request->object);

    vas_map(engine->vas, request->address, request->bytes, region, object, request->offset);
    if (object != NULL) {
        ObjectWindow window = {request->address, request->bytes, request->offset, object->id};
        g_array_append_val(engine->windows, window);
    }
}

static void unmap(Engine *engine, const EngineRequest *request)
{
    vas_unmap(engine->vas, request->address, request->bytes);
    for (guint i = 0; i < engine->windows->len; i++)
        if (g_array_index(engine->windows, ObjectWindow, i).va == request->address)
            g_array_remove_index(engine->windows, i--);
}

static void object_new(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    McObject *object = fabric_mc_object(engine->fabric, (guint32)request->value, request->bytes);

    g_assert(object->id == engine->objects->len);
    reply->value = object->id;
    g_ptr_array_add(engine->objects, object);
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
    engine->objects->pdata[number] = NULL;
    if (engine->running == 0)
        engine_bury(engine);
}

static void object_bind(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    McObject *object = engine_object(engine, request->object);
    MemRegion *region = memory_region(engine->fabric->memory, request->region);

    if (!mcobject_bind(object, (guint16)request->gpu, request->address, region, request->offset,
                       request->bytes))
        reply->status = ENGINE_INVALID;
}

gboolean engine_memory_request(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    VasMapping *mapping;

    switch (request->op) {
    case ENGINE_REGION_NEW:
        region_new(engine, request, reply);
        return TRUE;
    case ENGINE_REGION_FREE:
        memory_region_unref(engine->fabric->memory,
                            memory_region(engine->fabric->memory, request->region));
        return TRUE;
    case ENGINE_MAP:
        map(engine, request);
        return TRUE;
    case ENGINE_UNMAP:
        unmap(engine, request);
        return TRUE;
    case ENGINE_ACCESS:
        mapping = vas_find(engine->vas, request->address);
        vas_set_access(mapping, (guint16)request->gpu, (VasAccess)request->access);
        return TRUE;
    case ENGINE_OBJECT_NEW:
        object_new(engine, request, reply);
        return TRUE;
    case ENGINE_OBJECT_FREE:
        object_free(engine, request->object);
        return TRUE;
    case ENGINE_OBJECT_HANDLE:
        object_handle(engine, request);
        return TRUE;
    case ENGINE_OBJECT_MEMBER:
        mcobject_add_member(engine_object(engine, request->object), (guint16)request->gpu);
        return TRUE;
    case ENGINE_OBJECT_READY:
        if (!fabric_mc_attach(engine->fabric, engine_object(engine, request->object)))
            reply->status = ENGINE_FULL;
        return TRUE;
    case ENGINE_OBJECT_BIND:
        object_bind(engine, request, reply);
        return TRUE;
    case ENGINE_OBJECT_UNBIND:
        mcobject_unbind(engine_object(engine, request->object), (guint16)request->gpu,
                        request->address, request->bytes);
        return TRUE;
    default:
        return FALSE;
    }
}
