/* The owner's side of the wire: takes connections of the processes below `fanout exec`, and is the gate of its engine.
 *
 *     Server *server = server_new(&spec, &error);
 *     g_setenv(WIRE_ENV, server_name(server), TRUE);       // for the programs that are started now
 *     spec.gate = server_gate(server);
 *     Engine *engine = engine_new(&engine_spec, &error);
 *     server_begin(server, engine);
 *
 * Regions, multicast objects and events are one thing in the model however many processes have them: the memfd behind
 * them says which. Modules are read once for all processes that load the same texts. Each request is checked field by
 * field, as if an attacker had sent it: nothing that a client sends reaches an assertion of the engine or the model. */
#ifndef MACHINE_WIRE_SERVER_H
#define MACHINE_WIRE_SERVER_H

#include "machine/engine/gate.h"
#include "machine/wire/wire.h"

typedef struct Server Server;

typedef struct {
    guint32 gpus;         /* of the system */
    guint64 memory_bytes; /* of a GPU that programs can allocate */
    guint32 manager;      /* CudaFmState as the machine starts */
    Log *log;
} ServerSpec;

/* GError (GIO): the host gives no socket. */
Server *server_new(const ServerSpec *spec, GError **error);
const char *server_name(const Server *server);
MachinePage *server_page(Server *server);
char *server_page_path(const Server *server); /* g_free */
EngineGate *server_gate(Server *server);
void server_begin(Server *server, Engine *engine);
int server_listens(const Server *server); /* readable when a process has come */
void server_refuse(Server *server);       /* there will be no engine: no process is taken any more */
guint server_live(const Server *server);  /* processes that are not gone; atomic */

/* What the report says of the processes, in the order of their ranks. */
typedef struct {
    guint32 number;
    gint32 rank; /* as launchers say; else by the lowest GPU that it used; -1: it used none */
    const char *program;
    const char *part; /* what it left for the report, or NULL; part_bytes of it */
    gsize part_bytes;
    gboolean left; /* it left by itself; FALSE: it was killed, or lives */
    guint64 calls; /* requests that it has sent */
} ServerClientInfo;
/* g_array_unref. From the engine's thread, or when it stands still. */
GArray *server_clients(Server *server);
guint server_ever(const Server *server); /* processes that have used the driver, so far; atomic */

#endif
