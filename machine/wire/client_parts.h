/* Inside a client's side of the wire. */
#ifndef MACHINE_WIRE_CLIENT_PARTS_H
#define MACHINE_WIRE_CLIENT_PARTS_H

#include <pthread.h>

#include "machine/wire/client.h"
#include "machine/wire/program_client.h"
#include "machine/wire/registered.h"

/* What the owner has of a kernel's image, under its numbers. */
typedef struct {
    guint32 module, image;
} Upload;

typedef struct {
    int fd;
    guint8 *room; /* WIRE_PAYLOAD_MAX bytes, for what comes behind an answer */
    struct WireClient *client;
} Connection;

typedef struct WireClient {
    char *name;
    pthread_key_t key;      /* of each thread's Connection */
    pthread_mutex_t lock;   /* of what follows */
    GPtrArray *connections; /* Connection */
    GHashTable *uploads;    /* PtxImage -> Upload */
    int service_fd, wake_fd;
    const gint *signalled; /* NULL: not asked for */
    void (*on_signal)(int number);
    guint8 seated[1025]; /* atomic: of a process without a rank: it has memory of this GPU, or of the host (last) */
    gint lost;           /* atomic: the owner is gone, and it was said */
    const MachinePage *page;
    guint32 number;
    Engine *engine;
    ProgramClient *programs;
    Registered *registered;
} WireClient;

/* ask.c: the end of a thread's connection, for its key; one request and its answer. *text (may be NULL) gets what
 * came behind it, to be freed. */
void wire_connection_end(void *connection);
EngineStatus wire_ask(WireClient *client, const EngineRequest *request, const void *payload, gsize bytes,
                      int descriptor, EngineReply *reply, char **text);

/* upload.c: a launch, whose kernel's image goes to the owner the first time. */
EngineStatus upload_launch(WireClient *client, const EngineRequest *request, EngineReply *reply);
void upload_image_gone(void *self, const void *image);

#endif
