/* Inside the owner's side of the wire. */
#ifndef MACHINE_WIRE_SERVER_PARTS_H
#define MACHINE_WIRE_SERVER_PARTS_H

#include "machine/wire/server.h"
#include "device/kernel/kernel.h"
#include "fanout/device.h"

typedef struct ServerClient ServerClient;
typedef struct ServerConnection ServerConnection;
typedef enum {
    SERVER_REGIONS,
    SERVER_OBJECTS,
    SERVER_STREAMS,
    SERVER_EVENTS,
    SERVER_MODULES,
    SERVER_IMAGES,
    SERVER_TABLES
} ServerTable;

/* A number that is free; 0: a new one. */
static inline guint32 server_number(GArray *free)
{
    guint32 number = 0;

    if (free->len > 0) {
        number = g_array_index(free, guint32, free->len - 1);
        g_array_set_size(free, free->len - 1);
    }
    return number;
}

/* What a client has by numbers of its own, from 1 on, of which some may be given anew. */
static inline guint32 server_number_add(GPtrArray *table, GArray *free, gpointer thing)
{
    guint32 number = server_number(free);

    if (number != 0) {
        table->pdata[number] = thing;
        return number;
    }
    if (table->len == 0)
        g_ptr_array_add(table, NULL);
    g_ptr_array_add(table, thing);
    return table->len - 1;
}

static inline gpointer server_number_find(const GPtrArray *table, guint32 number)
{
    return number < table->len ? g_ptr_array_index(table, number) : NULL;
}

/* The file behind memory or a team's page; and where in it, and how much, for a part of one that was registered. */
typedef struct {
    guint64 device, inode, offset, part;
} SharedIdentity;

/* Memory that several processes may have. */
typedef struct {
    SharedIdentity identity;
    guint32 region; /* the engine's number */
    guint32 refs;   /* clients' numbers that mean it, binds of objects */
    guint16 gpu;
    guint64 bytes;
    guint64 charged; /* of the GPU's memory, to the process that made it */
    guint32 maker;   /* that process; 0: it has let go */
} SharedRegion;

/* A bind of a multicast object, which the team's page numbers. */
typedef struct {
    guint32 serial;
    gboolean retired; /* it was taken back: a process that is late must not make it again */
    guint16 gpu;
    guint64 offset, bytes;
    SharedRegion *region;
} SharedBind;

typedef struct {
    SharedIdentity identity;
    guint32 object; /* the engine's number */
    guint32 refs;
    guint32 team;
    guint32 kind; /* EngineObjectKind */
    guint64 bytes;
    GArray *members;    /* guint16 */
    GArray *binds;      /* SharedBind */
    gboolean ready;     /* it has an entry of the multicast table: its members are in order */
    guint32 changes;    /* of the team's page, as told */
    GPtrArray *waiting; /* EngineCall of those that wait for a change */
} SharedObject;

/* A mapping of an object, which keeps it. */
typedef struct {
    guint64 address;
    SharedObject *object;
} SharedWindow;

typedef struct {
    char *key; /* hash of the texts */
    PtxModule *module;
    guint32 refs;
} SharedModule;

typedef struct {
    SharedModule *module;
    PtxImage *image;
} ServerImage;

typedef struct {
    guint64 number;
    ServerClient *client;
    EngineAlarm *alarm;
} ServerTimer;

struct ServerConnection {
    int fd;
    Server *server;
    ServerClient *client; /* NULL: it has not said hello */
    gint32 tid;
    guint32 role;
    pid_t peer;
    guint64 sequence;
    EngineCall call;
    gboolean busy; /* the call is not answered */
    gboolean gone;
    KernelSpec spec; /* of a launch; its parameters are in `room` */
    FoKernel kernel; /* the same of a device program */
    char program_name[64];
    gpointer program_args;
    char *why;            /* of ENGINE_OBJECT_READY */
    SharedObject *object; /* of the call */
    guint64 slept_ps;     /* when the latest sleep began */
};

struct ServerClient {
    Server *server;
    guint32 number;
    pid_t pid;
    int pid_fd;
    gint32 rank, lowest_gpu; /* -1: not told; none used */
    gboolean driver;         /* it makes calls of the driver */
    gboolean gone, left;
    char program[64];
    ServerConnection *service, *timing, *program_connection;
    guint connections;
    GPtrArray *regions;          /* by the client's number: SharedRegion, or NULL */
    GPtrArray *objects;          /* SharedObject */
    GArray *windows;             /* SharedWindow: what of them is mapped */
    GArray *streams, *events;    /* engine's number + 1; 0: none */
    GArray *free[SERVER_TABLES]; /* numbers of each table that may be given anew */
    GArray *seats;               /* arena.c: by GPU, from 1; 0: none yet */
    GArray *contexts;            /* by the client's number: the engine's; 0: none */
    GPtrArray *modules;          /* SharedModule */
    GPtrArray *images;           /* ServerImage */
    GHashTable *timers;          /* number -> ServerTimer */
    GString *prints;             /* of kernels, until the next answer */
    GByteArray *part;            /* of the report */
    guint64 calls, n_asked;
    GHashTable *works;         /* number -> work */
    const WireSpinPage *spins; /* mapped; NULL: none of its threads spins */
};

struct Server {
    ServerSpec spec;
    char *name;
    int listen_fd, epoll_fd, page_fd, spare_fd; /* spare: given up to refuse a connection when there are no more */
    MachinePage *page;
    EngineGate gate;
    Engine *engine;
    GPtrArray *clients; /* ServerClient by number; [0] NULL */
    GHashTable *by_pid;
    GPtrArray *connections; /* ServerConnection */
    GPtrArray *ended;       /* ServerConnection to be freed after the events at hand */
    GHashTable *regions;    /* identity -> SharedRegion */
    GHashTable *objects;    /* identity -> SharedObject */
    GHashTable *modules;    /* key -> SharedModule */
    GArray *seats;          /* arena.c: how many are taken of each GPU */
    guint64 module_bytes;
    guint32 next_context;
    gint ever, live;             /* atomic */
    int also_fd;                 /* of the engine, which the poll has */
    guint8 *room, *program_room; /* WIRE_PAYLOAD_MAX each */
    guint64 n_ctas;              /* of device programs, so far */
};

/* server.c */
void server_reply(ServerConnection *connection);
void server_drop(ServerConnection *connection, const char *why);
/* After a message_send() that failed: a process that was ended while its answer was under way has done nothing wrong,
 * so `why` is said only of a side that is still there. */
void server_unsent(ServerConnection *connection, const char *why);

/* session.c: one request. FALSE: nonsense, which ends the connection. *answered: the reply is there. `descriptor` is
 * the callee's, -1: none. */
gboolean session_take(ServerConnection *connection, const EngineRequest *sent, const guint8 *payload, gsize bytes,
                      int descriptor, gboolean *answered);
void session_end(ServerClient *client); /* the process is gone */

/* shared.c */
guint shared_identity_hash(gconstpointer identity);
gboolean shared_identity_equal(gconstpointer a, gconstpointer b);
EngineStatus shared_region_new(ServerClient *client, EngineCall *call, int fd);
void shared_tell_lost(Server *server);
SharedRegion *shared_region(const ServerClient *client, guint32 number);
void shared_region_unref(Server *server, SharedRegion *region);
void shared_region_leave(ServerClient *client, SharedRegion *region); /* the same, by a process that had it */
EngineStatus shared_object_new(ServerClient *client, EngineCall *call, int fd);
SharedObject *shared_object(const ServerClient *client, guint32 number);
void shared_object_unref(Server *server, SharedObject *object);
EngineStatus shared_object_member(Server *server, SharedObject *object, EngineCall *call);
EngineStatus shared_object_bind(ServerClient *client, SharedObject *object, EngineCall *call);
EngineStatus shared_object_unbind(Server *server, SharedObject *object, EngineCall *call);
void shared_object_order(Server *server, SharedObject *object); /* members by number, before it is set up */
EventPage *shared_event_page(int fd);                           /* for ENGINE_EVENT_NEW */
void shared_object_changed(Server *server, SharedObject *object, guint32 sequence);
void shared_object_left(ServerConnection *connection); /* its call, if it has one, waits for no object any more */

/* arena.c: where new memory of a client lies; it asks for its seat there; and has it, as it is answered. */
guint32 arena_of(ServerClient *client, guint32 gpu);
gboolean arena_ask(ServerConnection *connection, gboolean *answered);
void arena_take(ServerConnection *connection);

/* programs.c: the kernel of a device program's launch */
gboolean programs_launch(ServerConnection *connection, const guint8 *payload, gsize bytes);

/* modules.c */
EngineStatus modules_add(ServerClient *client, int fd, guint32 *number);
EngineStatus modules_image_new(ServerClient *client, const EngineRequest *request, guint32 *number);
void modules_image_free(ServerClient *client, guint32 image, guint32 module);
void modules_unref(Server *server, SharedModule *module);
/* The specification of a launch; FALSE: it names what is not there. */
gboolean modules_launch(ServerConnection *connection, const guint8 *payload, gsize bytes);

#endif
