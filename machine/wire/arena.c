/* Which addresses of a GPU, or of the host, the memory of each process of a job has, so that none follows from who
 * asked first: links are chosen by addresses, and so an order that the host has chosen would be seen in times.
 *
 * A GPU has arenas (model/memory/memory.h). A rank's memory on its own GPU lies in arena 0, where it would lie in a job
 * of one process; on other GPUs, and on the host, each rank has an arena of its own. Processes that no launcher has
 * numbered take seats: before its first memory of a GPU such a process asks for one (WIRE_OP_SEAT) and is answered when
 * all others are quiet, and all at once are, in the order of the rule of time. The first has arena 0 there, and each
 * further one an arena of its own.
 *
 * Left out: threads of one process that take memory of one GPU at the same time. */
#include "machine/wire/session_parts.h"

#define ARENAS_MAX 65535u

static gboolean is_ranked(const ServerClient *client) { return client->rank >= 0; }

/* Its place in the tables of seats: GPUs by number, the host behind them. */
static guint32 place_of(const ServerClient *client, guint32 gpu)
{
    return gpu == MEMORY_HOST ? client->server->spec.gpus : gpu;
}

static guint32 *seat_at(ServerClient *client, guint32 gpu)
{
    if (client->seats->len == 0)
        g_array_set_size(client->seats, client->server->spec.gpus + 1);
    return &g_array_index(client->seats, guint32, place_of(client, gpu));
}

guint32 arena_of(ServerClient *client, guint32 gpu)
{
    guint32 n_gpus = client->server->spec.gpus;

    if (is_ranked(client))
        return (guint32)client->rank % n_gpus == gpu ? 0 : (guint32)client->rank % ARENAS_MAX + 1;
    guint32 seat = *seat_at(client, gpu);
    return seat <= 1 ? 0 : ARENAS_MAX - (seat - 2) % (ARENAS_MAX - 1);
}

gboolean arena_ask(ServerConnection *connection, gboolean *answered)
{
    ServerClient *client = connection->client;
    EngineCall *call = &connection->call;

    if (call->request.gpu != MEMORY_HOST && !session_is_gpu(client, call->request.gpu))
        return session_refuse(call, ENGINE_INVALID);
    if (is_ranked(client) || *seat_at(client, call->request.gpu) != 0)
        return TRUE;
    *answered = FALSE;
    engine_wait_quiet(client->server->engine, call);
    return TRUE;
}

void arena_take(ServerConnection *connection)
{
    ServerClient *client = connection->client;
    Server *server = client->server;
    guint32 gpu = connection->call.request.gpu, *seat = seat_at(client, gpu);

    if (server->seats->len == 0)
        g_array_set_size(server->seats, server->spec.gpus + 1);
    if (*seat == 0) /* another thread of it may have asked, too */
        *seat = ++g_array_index(server->seats, guint32, place_of(client, gpu));
}
