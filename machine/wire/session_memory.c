/* Requests of a client about memory and multicast objects, checked field by field. See session.c. */
#include "machine/wire/session_parts.h"

#include "model/memory/address_space.h"

static gboolean is_range(guint64 address, guint64 bytes)
{
    return bytes > 0 && bytes <= BYTES_MAX && address < ADDRESS_MAX && bytes <= ADDRESS_MAX - address;
}

/* ---- memory */

static EngineStatus take_region_free(ServerClient *client, guint32 number)
{
    SharedRegion *region = shared_region(client, number);

    if (!region)
        return ENGINE_INVALID;
    client->regions->pdata[number] = NULL;
    g_array_append_val(client->free[SERVER_REGIONS], number);
    shared_region_leave(client, region);
    return ENGINE_OK;
}

static EngineStatus take_map(ServerClient *client, EngineCall *call)
{
    EngineRequest *r = &call->request;
    SharedRegion *region = r->region ? shared_region(client, r->region) : NULL;
    SharedObject *object = r->object ? shared_object(client, r->object) : NULL;
    guint64 room = region ? region->bytes : object ? object->bytes : 0;

    if (!region == !object || (object && object->kind != ENGINE_OBJECT_MULTICAST) ||
        client->windows->len >= THINGS_MAX || (r->address ^ r->offset) % WIRE_LINE != 0 ||
        !is_range(r->address, r->bytes) || r->bytes > room || r->offset > room - r->bytes ||
        engine_client_maps(client->server->engine, client->number, r->address, r->bytes))
        return ENGINE_INVALID;
    r->region = region ? region->region : 0;
    r->object = object ? object->object : 0;
    const SharedWindow window = {r->address, object};
    engine_take(client->server->engine, call);
    if (object) {
        object->refs++;
        g_array_append_val(client->windows, window);
    }
    return ENGINE_OK;
}

/* Objects stay as long as something of them is mapped. */
static void take_unmap(ServerClient *client, EngineCall *call)
{
    const EngineRequest *r = &call->request;
    Server *server = client->server;

    engine_take(server->engine, call);
    for (guint i = 0; i < client->windows->len;) {
        const SharedWindow window = g_array_index(client->windows, SharedWindow, i);
        if (window.address - r->address >= r->bytes ||
            engine_client_maps(server->engine, client->number, window.address, 1)) {
            i++;
            continue;
        }
        g_array_remove_index_fast(client->windows, i);
        shared_object_unref(server, window.object);
    }
}

static EngineStatus take_access(ServerClient *client, EngineCall *call)
{
    const EngineRequest *r = &call->request;

    if (!session_is_gpu(client, r->gpu) || r->access > 255 ||
        !engine_client_maps(client->server->engine, client->number, r->address, 1))
        return ENGINE_INVALID;
    engine_take(client->server->engine, call);
    return ENGINE_OK;
}

gboolean session_take_memory(ServerConnection *connection, int descriptor)
{
    ServerClient *client = connection->client;
    EngineCall *call = &connection->call;
    EngineRequest *r = &call->request;

    switch (r->op) {
    case ENGINE_REGION_NEW:
        if (client->regions->len >= THINGS_MAX && client->free[SERVER_REGIONS]->len == 0)
            return session_refuse(call, ENGINE_NO_MEMORY);
        return session_refuse(call, shared_region_new(client, call, descriptor));
    case ENGINE_REGION_FREE: return session_refuse(call, take_region_free(client, r->region));
    case ENGINE_MAP: return session_refuse(call, take_map(client, call));
    case ENGINE_UNMAP:
        if (!is_range(r->address, r->bytes))
            return session_refuse(call, ENGINE_INVALID);
        take_unmap(client, call);
        return TRUE;
    default: return session_refuse(call, take_access(client, call));
    }
}

/* ---- multicast objects */

static gboolean take_ready(ServerConnection *connection, SharedObject *object)
{
    EngineCall *call = &connection->call;

    if (object->members->len < object->team)
        return session_refuse(call, ENGINE_INVALID);
    shared_object_order(connection->client->server, object);
    call->request.object = object->object;
    call->request.argument = (guint64)(guintptr)&connection->why;
    engine_take(connection->client->server->engine, call);
    return TRUE;
}

gboolean session_take_object(ServerConnection *connection, int descriptor, gboolean *answered)
{
    ServerClient *client = connection->client;
    Server *server = client->server;
    EngineCall *call = &connection->call;
    EngineRequest *r = &call->request;
    SharedObject *object;

    *answered = TRUE;
    if (r->op == ENGINE_OBJECT_NEW)
        return session_refuse(call, client->objects->len < THINGS_MAX || client->free[SERVER_OBJECTS]->len > 0
                                        ? shared_object_new(client, call, descriptor)
                                        : ENGINE_NO_MEMORY);
    object = shared_object(client, r->object);
    if (!object)
        return session_refuse(call, ENGINE_INVALID);
    switch (r->op) {
    case ENGINE_OBJECT_FREE:
        client->objects->pdata[r->object] = NULL;
        g_array_append_val(client->free[SERVER_OBJECTS], r->object);
        shared_object_unref(server, object);
        return TRUE;
    case ENGINE_OBJECT_HANDLE:
        r->object = object->object;
        engine_take(server->engine, call);
        return TRUE;
    case ENGINE_OBJECT_MEMBER: return session_refuse(call, shared_object_member(server, object, call));
    case ENGINE_OBJECT_READY: return take_ready(connection, object);
    case ENGINE_OBJECT_BIND: return session_refuse(call, shared_object_bind(client, object, call));
    case ENGINE_OBJECT_UNBIND: return session_refuse(call, shared_object_unbind(server, object, call));
    case ENGINE_OBJECT_CHANGED: shared_object_changed(server, object, (guint32)r->value); return TRUE;
    default: /* ENGINE_OBJECT_WAIT */
        if (object->changes != 0 && (gint32)(object->changes - (guint32)r->value) > 0)
            return TRUE;
        g_ptr_array_add(object->waiting, call);
        connection->object = object;
        *answered = FALSE;
        engine_wait_outside(server->engine, call);
        return TRUE;
    }
}

/* ---- logical endpoints */

gboolean session_take_endpoint(ServerConnection *connection)
{
    const ServerClient *client = connection->client;
    EngineCall *call = &connection->call;
    EngineRequest *r = &call->request;
    const SharedObject *object = r->object ? shared_object(client, r->object) : NULL;

    if (r->op == ENGINE_ENDPOINT_SET && (r->value >= ENDPOINT_IDS_MAX || (r->object && !object)))
        return session_refuse(call, ENGINE_INVALID);
    if (r->op != ENGINE_ENDPOINT_SET &&
        (r->bytes == 0 || r->bytes > ENDPOINT_IDS_MAX || r->value > ENDPOINT_IDS_MAX - r->bytes))
        return session_refuse(call, ENGINE_INVALID);
    r->object = object ? object->object : 0;
    engine_take(client->server->engine, call);
    return TRUE;
}
