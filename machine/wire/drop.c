/* A connection ends, by its other side or because of what it sent; it is freed after the events at hand. */
#include "machine/wire/server_parts.h"

#include <errno.h>
#include <unistd.h>

void server_drop(ServerConnection *connection, const char *why)
{
    Server *server = connection->server;
    ServerClient *client = connection->client;

    if (connection->gone)
        return;
    connection->gone = TRUE;
    if (why)
        log_line(server->spec.log, LOG_CUDA, LOG_WARN, 0, "a connection of process %d is closed: %s",
                 client ? (int)client->pid : 0, why);
    close(connection->fd);
    if (connection->busy) {
        shared_object_left(connection);
        engine_call_gone(server->engine, &connection->call);
    }
    connection->busy = FALSE;
    if (client) {
        client->connections--;
        if (client->service == connection)
            client->service = NULL;
        if (client->timing == connection)
            client->timing = NULL;
        if (client->program_connection == connection)
            client->program_connection = NULL;
    }
    g_ptr_array_add(server->ended, connection);
}

void server_unsent(ServerConnection *connection, const char *why)
{
    server_drop(connection, errno == EPIPE || errno == ECONNRESET ? NULL : why);
}
