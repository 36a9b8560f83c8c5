/* How calls come to an engine from elsewhere than the threads of its process: the gate of an owner (machine/wire).
 *
 * All of it happens on the engine's thread. The gate is asked for what has come (`take`), hands each request to
 * engine_take(), and is told the answers of those that had to wait (`answer`). */
#ifndef MACHINE_ENGINE_GATE_H
#define MACHINE_ENGINE_GATE_H

#include <pthread.h>

#include "machine/engine/engine.h"
#include "machine/engine/tree.h"

/* A call that a thread sleeps on. It lives until it is answered. */
typedef struct EngineCall {
    EngineRequest request;
    EngineReply reply;
    gboolean done;
    gboolean patient;    /* of engine_wait_quiet(): it does not go on before */
    pthread_cond_t cond; /* of a thread of this process */
    void *from;          /* the gate's; NULL: a thread of this process */
} EngineCall;

struct EngineGate {
    void *self;
    guint64 *seen_ps; /* atomic: simulated time as any caller knows it, for those elsewhere */
    /* Sleeps until something may have come, this descriptor is readable, or so long. */
    void (*wait)(void *self, int also_fd, guint64 timeout_us);
    gboolean (*take)(void *self); /* FALSE: nothing was there */
    void (*answer)(void *self, EngineCall *call);
    /* A stream of that client has come to a host function: engine_host_returned(engine, work) follows. */
    void (*host_call)(void *self, guint32 client, guint64 function, guint64 argument, void *work);
    /* The process whose memory a request of that client means; 0: it is gone. */
    pid_t (*process)(void *self, guint32 client);
    /* TreeSpins of tree.h */
    gboolean (*spins)(void *self, pid_t pid, pid_t tid, gboolean runs, TreeSpin *spin);
    int came_fd; /* readable when something has come */
};

/* TRUE: the reply is there; otherwise `answer` comes. */
gboolean engine_take(Engine *engine, EngineCall *call);
void engine_host_returned(Engine *engine, void *work);
/* A wait that something else than simulated time ends, by engine_answer_now(); where nothing can end it any more, it is
 * answered ENGINE_STUCK like the others. */
void engine_wait_outside(Engine *engine, EngineCall *call);
/* A thread that a message has woken: it is answered when all others are quiet. */
void engine_wait_woken(Engine *engine, EngineCall *call);
/* The same, also where others compute for long. No time passes. */
void engine_wait_quiet(Engine *engine, EngineCall *call);
void engine_answer_now(Engine *engine, EngineCall *call, EngineStatus status);
/* Who made a call that is not answered is gone. */
void engine_call_gone(Engine *engine, EngineCall *call);
/* Something is mapped there, in part at least. */
gboolean engine_client_maps(Engine *engine, guint32 client, guint64 address, guint64 bytes);

/* Where a region's bytes are mapped; NULL: there is no such region any more, or it has no bytes. */
const void *engine_region_bytes(Engine *engine, guint32 region);

/* Clients: each has an address space of its own. Number 0 is this process and is always there. */
void engine_client_new(Engine *engine, guint32 client);
/* Everything that is the client's own ends: its kernels are aborted, its queued work is dropped, its waits are not
 * answered. Its memory is kept while work that goes on may touch it. */
void engine_client_end(Engine *engine, guint32 client);

/* `fanout fabric`, between two slices of time. A fault from now on, as fault_add() has it. A GPU is reset: all its
 * contexts fail from now on (FAULT_RESET), their kernels are ended, what is queued is not done; how many there were. */
gboolean engine_degrade(Engine *engine, const char *key, const char *part, guint64 lasts_ps, GError **error);
guint engine_gpu_reset(Engine *engine, guint32 gpu);
gboolean engine_has_context(const Engine *engine, guint32 client, guint32 gpu); /* that client, on that GPU */

/* Something that is to happen in simulated time; the owner of the struct keeps it until it rang or was cleared. */
typedef struct EngineAlarm EngineAlarm;
EngineAlarm *engine_alarm_new(Engine *engine, guint64 after_ps, const EngineOrder *order, void (*ring)(void *user),
                              void *user);  /* is freed when it has rung */
void engine_alarm_free(EngineAlarm *alarm); /* it is not to ring any more */

#endif
