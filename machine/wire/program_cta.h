/* Inside the client's side of device programs: a CTA as its function sees it. */
#ifndef MACHINE_WIRE_PROGRAM_CTA_H
#define MACHINE_WIRE_PROGRAM_CTA_H

#include <pthread.h>
#include <ucontext.h>

#include "machine/wire/program_client.h"
#include "device/calls.h"

typedef struct {
    FoProgram program;
    void *args;
    guint32 ctas, ended;
} ProgramLaunch;

/* A CTA as its function sees it. */
typedef struct {
    const FoCtaCalls *table; /* the first member of every FoCta */
    ProgramClient *client;
    ProgramLaunch *launch;
    guint64 launch_number;
    ProgramRun run;       /* the latest turn */
    guint32 first, count; /* threads that act */
    GPtrArray *registers; /* ProgramRegister */
    ucontext_t context;
    void *stack;
    gboolean ended;
} ProgramCta;

typedef struct {
    const ProgramCta *cta;
    gint32 number;
    guint32 width;
} ProgramRegister;

struct ProgramClient {
    char *name; /* of the owner's socket */
    int fd;
    pthread_mutex_t lock; /* of the next three */
    gboolean started;
    GHashTable *launches; /* number -> ProgramLaunch */
    guint64 n_launches;
    GHashTable *ctas; /* handle -> ProgramCta; of the thread alone, as all below */
    GByteArray *batch;
    ucontext_t thread;
    ProgramCta *running;
    GPtrArray *stacks; /* free ones */
};

/* program_calls.c: the table of such a CTA. Each call is a record in the client's batch; those that need an answer give
 * the turn back to the thread. */
extern const FoCtaCalls program_client_calls;
void program_add(ProgramCta *cta, ProgramRecord record, const void *payload, gsize bytes);
gboolean program_send(ProgramClient *client, const ProgramCta *cta, gboolean more); /* the batch so far */

#endif
