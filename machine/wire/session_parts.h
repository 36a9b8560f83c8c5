/* Inside the owner's check of requests (session.c): what its two files share. */
#ifndef MACHINE_WIRE_SESSION_PARTS_H
#define MACHINE_WIRE_SESSION_PARTS_H

#include "machine/wire/server_parts.h"

#define NUMBERS_MAX (1u << 20) /* of each kind, of one client */
#define THINGS_MAX (1u << 16)  /* regions and objects of one client, and windows of it */
#define ADDRESS_MAX ((guint64)1 << 56)
#define BYTES_MAX ((guint64)1 << 48) /* of one copy or mapping */

static inline gboolean session_is_gpu(const ServerClient *client, guint32 gpu)
{
    return gpu < client->server->spec.gpus;
}

/* A text of a client that goes into reports and logs: an end, and letters alone. */
static inline void session_name(char *text, gsize room)
{
    text[room - 1] = '\0';
    for (char *at = text; *at != '\0'; at++)
        if (!g_ascii_isprint(*at))
            *at = '?';
}

/* The call is answered with that. */
static inline gboolean session_refuse(EngineCall *call, EngineStatus status)
{
    call->reply.status = status;
    return TRUE;
}

/* session_memory.c. `descriptor` as in session_take(). */
gboolean session_take_memory(ServerConnection *connection, int descriptor);
gboolean session_take_object(ServerConnection *connection, int descriptor, gboolean *answered);
gboolean session_take_endpoint(ServerConnection *connection);

/* session_time.c. FALSE: a run has no room for so long a sleep. */
gboolean session_check_sleep(ServerConnection *connection);
/* Timers, and what ends or avoids waits. */
gboolean session_take_timer(ServerConnection *connection, int descriptor, gboolean *answered);
void session_end_time(ServerClient *client);

#endif
