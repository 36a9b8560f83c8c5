/* Connections of an owner, and the processes that they are of. See server.h. */
#ifndef MACHINE_WIRE_CONNECTION_H
#define MACHINE_WIRE_CONNECTION_H

#include "machine/wire/server_parts.h"

/* What an event of the poll is about: the lowest bits of its datum. */
enum { ABOUT_CONNECTION, ABOUT_CLIENT, ABOUT_LISTEN, ABOUT_OTHER, ABOUT_MASK = 3 };

void connection_watch(const Server *server, int fd, gpointer thing, guint about); /* adds it to the poll */
void connection_accept(Server *server);                                           /* a process has come */
void connection_take(ServerConnection *connection);                               /* it has sent something */
void connection_bury(Server *server);             /* frees those that have ended, and the processes with them */
void connection_client_end(ServerClient *client); /* the process is gone */

#endif
