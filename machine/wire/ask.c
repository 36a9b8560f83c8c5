/* A thread of a client asks its owner: one request and its answer, on the thread's own connection. See client.h. */
#include "machine/wire/client_parts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void wire_connection_end(void *data)
{
    Connection *connection = data;
    WireClient *client = connection->client;

    pthread_mutex_lock(&client->lock);
    g_ptr_array_remove_fast(client->connections, connection);
    pthread_mutex_unlock(&client->lock);
    close(connection->fd);
    g_free(connection->room);
    g_free(connection);
}

static Connection *connection_of_thread(WireClient *client)
{
    Connection *connection = pthread_getspecific(client->key);
    WireHello hello;
    WireWelcome welcome;

    if (connection)
        return connection;
    wire_introduce(&hello, WIRE_ROLE_CALLER, TRUE);
    int fd = wire_dial(client->name, &hello, &welcome, NULL);
    if (fd < 0)
        return NULL;
    connection = g_new0(Connection, 1);
    connection->fd = fd;
    connection->client = client;
    pthread_setspecific(client->key, connection);
    pthread_mutex_lock(&client->lock);
    g_ptr_array_add(client->connections, connection);
    pthread_mutex_unlock(&client->lock);
    return connection;
}

static EngineStatus say_lost(WireClient *client)
{
    if (g_atomic_int_compare_and_exchange(&client->lost, 0, 1))
        fprintf(stderr, "fanout: the owner of the simulated machine (fanout exec) has ended; calls of this process "
                        "answer CUDA_ERROR_DEVICE_UNAVAILABLE from now on\n");
    return ENGINE_GONE;
}

EngineStatus wire_ask(WireClient *client, const EngineRequest *request, const void *payload, gsize bytes,
                      int descriptor, EngineReply *reply, char **text)
{
    Connection *connection = connection_of_thread(client);
    WireCall call = {.head = wire_head(WIRE_CALL), .request = *request, .bytes = (guint32)bytes};
    WireReply answer;

    memset(reply, 0, sizeof *reply);
    if (!connection)
        return say_lost(client);
    if (!connection->room)
        connection->room = g_malloc(WIRE_PAYLOAD_MAX);
    if (!message_send(connection->fd, &call, sizeof call, payload, bytes, descriptor))
        return say_lost(client);
    gssize n = message_receive(connection->fd, &answer, sizeof answer, connection->room, WIRE_PAYLOAD_MAX, NULL, 0);
    if (n < (gssize)sizeof answer || answer.head.magic != WIRE_MAGIC || answer.head.kind != WIRE_REPLY ||
        n != (gssize)(sizeof answer + answer.bytes))
        return say_lost(client);
    *reply = answer.reply;
    if (answer.bytes > 0 && text)
        *text = g_strndup((const char *)connection->room, answer.bytes);
    else if (answer.bytes > 0) /* kernels have printed */
        fwrite(connection->room, 1, answer.bytes, stdout);
    if (answer.more) {
        const EngineRequest rest = {.op = WIRE_OP_PRINTS};
        EngineReply unused;
        wire_ask(client, &rest, NULL, 0, -1, &unused, NULL);
    }
    return (EngineStatus)reply->status;
}
