/* One request of a client: every field is checked, its numbers become the engine's, and what it makes gets a number of
 * the client's own. See server.h. */
#include "machine/wire/session_parts.h"

#include <string.h>

#define ROWS_MAX (1u << 20)           /* of one copy from or to pageable memory */
#define FILLED_MAX ((guint64)4 << 30) /* bytes of pageable memory that one fill writes */

static guint32 array_number(const GArray *numbers, guint32 number)
{
    return number < numbers->len ? g_array_index(numbers, guint32, number) : 0;
}

static guint32 array_add(GArray *numbers, GArray *free, guint32 value)
{
    guint32 none = 0, number = server_number(free);

    if (number != 0) {
        g_array_index(numbers, guint32, number) = value;
        return number;
    }

    if (numbers->len == 0)
        g_array_append_val(numbers, none);
    g_array_append_val(numbers, value);
    return numbers->len - 1;
}

static gboolean has_room(const GArray *numbers, const GArray *free)
{
    return numbers->len < NUMBERS_MAX || free->len > 0;
}

/* The engine's number of a context, which a client names as it likes; made when `make` says so. 0: none. */
static guint32 context_number(ServerClient *client, guint32 number, gboolean make)
{
    if (number == 0 || number >= NUMBERS_MAX)
        return 0;
    if (number >= client->contexts->len) {
        if (!make)
            return 0;
        g_array_set_size(client->contexts, number + 1);
    }
    guint32 *known = &g_array_index(client->contexts, guint32, number);
    if (*known == 0 && make)
        *known = ++client->server->next_context;
    return *known;
}

/* ---- streams and events */

static gboolean take_stream(ServerConnection *connection, int descriptor)
{
    ServerClient *client = connection->client;
    Engine *engine = client->server->engine;
    EngineCall *call = &connection->call;
    EngineRequest *r = &call->request;
    guint32 known;

    switch (r->op) {
    case ENGINE_STREAM_NEW:
        if (!session_is_gpu(client, r->gpu) || r->access > 2 ||
            !has_room(client->streams, client->free[SERVER_STREAMS]) ||
            !(r->object = context_number(client, r->object, TRUE)))
            return session_refuse(call, ENGINE_INVALID);
        if (client->lowest_gpu < 0 || (gint32)r->gpu < client->lowest_gpu)
            client->lowest_gpu = (gint32)r->gpu;
        engine_take(engine, call);
        call->reply.value = array_add(client->streams, client->free[SERVER_STREAMS], (guint32)call->reply.value + 1);
        return TRUE;
    case ENGINE_STREAM_FREE:
        known = array_number(client->streams, r->stream);
        if (!known)
            return session_refuse(call, ENGINE_INVALID);
        g_array_index(client->streams, guint32, r->stream) = 0;
        g_array_append_val(client->free[SERVER_STREAMS], r->stream);
        r->stream = known - 1;
        engine_take(engine, call);
        return TRUE;
    case ENGINE_EVENT_NEW:
        r->argument = has_room(client->events, client->free[SERVER_EVENTS])
                          ? (guint64)(guintptr)shared_event_page(descriptor)
                          : 0;
        if (!has_room(client->events, client->free[SERVER_EVENTS]))
            return session_refuse(call, ENGINE_NO_MEMORY);
        engine_take(engine, call);
        call->reply.value = array_add(client->events, client->free[SERVER_EVENTS], (guint32)call->reply.value + 1);
        return TRUE;
    default:
        known = array_number(client->events, r->event);
        if (!known)
            return session_refuse(call, ENGINE_INVALID);
        g_array_index(client->events, guint32, r->event) = 0;
        g_array_append_val(client->free[SERVER_EVENTS], r->event);
        r->event = known - 1;
        engine_take(engine, call);
        return TRUE;
    }
}

static gboolean translate_event(const ServerClient *client, EngineRequest *r)
{
    guint32 known = array_number(client->events, r->event);

    r->event = known ? known - 1 : 0;
    return known != 0;
}

static gboolean translate_stream(const ServerClient *client, EngineRequest *r)
{
    guint32 known = array_number(client->streams, r->stream);

    r->stream = known ? known - 1 : 0;
    return known != 0;
}

static gboolean is_transfer(const EngineRequest *r)
{
    guint64 rows = r->op == ENGINE_COPY || r->height == 0 ? 1 : r->height, all, span;
    gboolean fill = r->op == ENGINE_FILL, host = (r->access & ENGINE_HOST_BOTH) != 0;

    if ((r->bytes == 0 && rows > 1) || (host && rows > ROWS_MAX) || (fill && host && r->bytes > FILLED_MAX / rows))
        return FALSE;
    if (r->bytes > BYTES_MAX || !g_uint64_checked_mul(&all, rows, r->bytes) || all > BYTES_MAX ||
        !g_uint64_checked_mul(&span, rows, MAX(r->pitch, r->source_pitch)) || span > BYTES_MAX ||
        r->address >= ADDRESS_MAX || r->source >= ADDRESS_MAX)
        return FALSE;
    return r->access <= (ENGINE_HOST_BOTH | ENGINE_HOST_EARLY) && r->wait <= ENGINE_ANSWER_STARTED &&
           (!fill || ((r->width == 1 || r->width == 2 || r->width == 4) && r->bytes % r->width == 0 &&
                      !(r->access & ENGINE_HOST_SOURCE)));
}

/* What is queued in a stream. */
static gboolean check_work(ServerConnection *connection, const guint8 *payload, gsize bytes)
{
    ServerClient *client = connection->client;
    EngineRequest *r = &connection->call.request;

    if (!translate_stream(client, r) || !session_is_gpu(client, r->gpu))
        return FALSE;
    switch (r->op) {
    case ENGINE_COPY:
        r->region = context_number(client, r->region, FALSE);
        r->object = context_number(client, r->object, FALSE);
        return is_transfer(r) && r->width <= ENGINE_ENDPOINT_SOURCE && r->pitch <= G_MAXUINT32 &&
               r->source_pitch <= G_MAXUINT32;
    case ENGINE_COPY_2D:
    case ENGINE_FILL: return is_transfer(r);
    case ENGINE_RECORD:
    case ENGINE_WAIT_EVENT: return translate_event(client, r);
    case ENGINE_HOST_CALL: return TRUE;
    case ENGINE_WRITE_VALUE:
    case ENGINE_WAIT_VALUE:
        return (r->width == 4 || r->width == 8) && r->address % r->width == 0 && r->address < ADDRESS_MAX;
    case ENGINE_LAUNCH_PTX: return modules_launch(connection, payload, bytes);
    case ENGINE_LAUNCH: return programs_launch(connection, payload, bytes);
    default: return FALSE;
    }
}

static gboolean check_wait(ServerClient *client, EngineRequest *r)
{
    switch (r->op) {
    case ENGINE_WAIT_STREAM:
    case ENGINE_QUERY_STREAM: return translate_stream(client, r);
    case ENGINE_WAIT_RECORD:
    case ENGINE_QUERY_EVENT: return translate_event(client, r);
    case ENGINE_WAIT_CONTEXT:
        if (r->object == 0)
            return TRUE;
        r->object = context_number(client, r->object, FALSE);
        return r->object != 0;
    default: return FALSE;
    }
}

/* ---- what the wire answers itself */

static gboolean take_own(ServerConnection *connection, const guint8 *payload, gsize bytes, int descriptor,
                         gboolean *answered)
{
    ServerClient *client = connection->client;
    EngineCall *call = &connection->call;
    EngineRequest *r = &call->request;
    guint32 number = 0;

    switch (r->op) {
    case WIRE_OP_MODULE_NEW:
        session_refuse(call, modules_add(client, descriptor, &number));
        call->reply.value = number;
        return TRUE;
    case WIRE_OP_IMAGE_NEW:
        session_refuse(call, modules_image_new(client, r, &number));
        call->reply.value = number;
        return TRUE;
    case WIRE_OP_IMAGE_FREE: modules_image_free(client, r->object, r->region); return TRUE;
    case WIRE_OP_PRINTS: return TRUE;
    case WIRE_OP_SEAT: return arena_ask(connection, answered);
    case WIRE_OP_LEAVE:
        if (client->part->len + bytes > (64u << 20))
            return session_refuse(call, ENGINE_NO_MEMORY);
        g_byte_array_append(client->part, payload, (guint)bytes);
        client->left |= r->value != 0;
        return TRUE;
    default: return session_take_timer(connection, descriptor, answered);
    }
}

/* ---- all */

/* The order of calls that come within one standstill: rank, then process, thread and number within the thread. */
static void give_order(ServerConnection *connection, EngineRequest *r)
{
    const ServerClient *client = connection->client;
    guint32 rank = client->rank >= 0         ? (guint32)client->rank
                   : client->lowest_gpu >= 0 ? (guint32)client->lowest_gpu
                                             : G_MAXUINT32;

    r->client = client->number;
    r->order = (EngineOrder){rank, (guint32)client->pid, (guint32)connection->tid, 0, connection->sequence};
}

/* The request, in whose fields nothing is the client's word alone. */
static gboolean take(ServerConnection *connection, const guint8 *payload, gsize bytes, int descriptor,
                     gboolean *answered)
{
    ServerClient *client = connection->client;
    EngineCall *call = &connection->call;
    EngineRequest *r = &call->request;

    switch (r->op) {
    case ENGINE_REGION_NEW:
    case ENGINE_REGION_FREE:
    case ENGINE_MAP:
    case ENGINE_UNMAP:
    case ENGINE_ACCESS: return session_take_memory(connection, descriptor);
    case ENGINE_OBJECT_NEW:
    case ENGINE_OBJECT_FREE:
    case ENGINE_OBJECT_HANDLE:
    case ENGINE_OBJECT_MEMBER:
    case ENGINE_OBJECT_READY:
    case ENGINE_OBJECT_BIND:
    case ENGINE_OBJECT_UNBIND:
    case ENGINE_OBJECT_CHANGED:
    case ENGINE_OBJECT_WAIT: return session_take_object(connection, descriptor, answered);
    case ENGINE_ENDPOINT_RESERVE:
    case ENGINE_ENDPOINT_RELEASE:
    case ENGINE_ENDPOINT_SET: return session_take_endpoint(connection);
    case ENGINE_STREAM_NEW:
    case ENGINE_STREAM_FREE:
    case ENGINE_EVENT_NEW:
    case ENGINE_EVENT_FREE: return take_stream(connection, descriptor);
    case ENGINE_WAIT_STREAM:
    case ENGINE_WAIT_RECORD:
    case ENGINE_WAIT_CONTEXT:
    case ENGINE_QUERY_STREAM:
    case ENGINE_QUERY_EVENT:
        if (!check_wait(client, r))
            return session_refuse(call, ENGINE_INVALID);
        break;
    case ENGINE_SLEEP:
        if (!session_check_sleep(connection))
            return session_refuse(call, ENGINE_FULL);
        break;
    case ENGINE_NOW:
    case ENGINE_SHARED: break;
    case ENGINE_COPY:
    case ENGINE_COPY_2D:
    case ENGINE_FILL:
    case ENGINE_RECORD:
    case ENGINE_WAIT_EVENT:
    case ENGINE_HOST_CALL:
    case ENGINE_WRITE_VALUE:
    case ENGINE_WAIT_VALUE:
    case ENGINE_LAUNCH_PTX:
    case ENGINE_LAUNCH:
        if (!check_work(connection, payload, bytes))
            return session_refuse(call, ENGINE_INVALID);
        break;
    case WIRE_OP_MODULE_NEW:
    case WIRE_OP_IMAGE_NEW:
    case WIRE_OP_IMAGE_FREE:
    case WIRE_OP_LEAVE:
    case WIRE_OP_PRINTS:
    case WIRE_OP_TIMER:
    case WIRE_OP_TIMER_END:
    case WIRE_OP_SLEEP_END:
    case WIRE_OP_WOKEN:
    case WIRE_OP_SEAT:
    case WIRE_OP_SPIN: return take_own(connection, payload, bytes, descriptor, answered);
    default: return FALSE;
    }
    *answered = engine_take(client->server->engine, call);
    return TRUE;
}

/* How often a program sleeps and looks whether something has come depends on when the host has it come; and how much of
 * what the ranks of a team share each tells the owner, on who came first. */
static gboolean is_of_host(guint32 op)
{
    return op < ENGINE_STREAM_NEW || op == ENGINE_NOW || op == ENGINE_SLEEP || op == WIRE_OP_SLEEP_END ||
           op == WIRE_OP_WOKEN || op == WIRE_OP_SEAT || op == WIRE_OP_SPIN || op == WIRE_OP_TIMER ||
           op == WIRE_OP_TIMER_END;
}

gboolean session_take(ServerConnection *connection, const EngineRequest *sent, const guint8 *payload, gsize bytes,
                      int descriptor, gboolean *answered)
{
    ServerClient *client = connection->client;
    EngineCall *call = &connection->call;
    EngineRequest *r = &call->request;

    *answered = TRUE;
    *call = (EngineCall){.request = *sent, .from = connection};
    connection->sequence++;
    client->calls += !is_of_host(sent->op);
    session_name(r->call, sizeof r->call);
    r->fd = -1;
    r->argument = r->op == ENGINE_HOST_CALL || r->op == WIRE_OP_TIMER || r->op == WIRE_OP_TIMER_END ? r->argument : 0;
    give_order(connection, r);
    return take(connection, payload, bytes, descriptor, answered);
}

void session_end(ServerClient *client)
{
    Server *server = client->server;
    GHashTableIter iter;
    gpointer value;

    session_end_time(client);
    engine_client_end(server->engine, client->number);
    g_hash_table_iter_init(&iter, client->works);
    while (g_hash_table_iter_next(&iter, NULL, &value)) /* functions that will not return any more */
        engine_host_returned(server->engine, value);
    g_hash_table_remove_all(client->works);
    for (guint i = 0; i < client->windows->len; i++)
        shared_object_unref(server, g_array_index(client->windows, SharedWindow, i).object);
    g_array_set_size(client->windows, 0);
    for (guint i = 1; i < client->objects->len; i++)
        if (client->objects->pdata[i])
            shared_object_unref(server, client->objects->pdata[i]);
    for (guint i = 1; i < client->regions->len; i++)
        if (client->regions->pdata[i])
            shared_region_leave(client, client->regions->pdata[i]);
    g_ptr_array_set_size(client->objects, 0);
    g_ptr_array_set_size(client->regions, 0);
}
