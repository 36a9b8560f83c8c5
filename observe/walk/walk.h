/* One packet's path: a single operation is sent through the fabric, and every probe point it passes becomes a step with
 * its time and the source file that models the stage. Where it waits, a step of its own says how long and for what.
 *
 * Stages of constant latency before and behind a port are part of a link's flight in the model (so that they
 * cost no event); the steps show them where they happen in hardware: a packet is on the wire only after it
 * has passed them. */
#ifndef OBSERVE_WALK_WALK_H
#define OBSERVE_WALK_WALK_H

#include "model/fabric/fabric.h"
#include "observe/recording.h"
#include "observe/walk/recorder.h"

typedef enum {
    WALK_STORE,
    WALK_LOAD,
    WALK_ATOMIC,
    WALK_MC_STORE,
    WALK_MC_RED,
    WALK_MC_LOAD_REDUCE,
    WALK_FABRIC_PUT,
    WALK_FABRIC_PULLRED,
    WALK_OPS
} WalkOp;
extern const char *const walk_ops[];      /* "store", "load", ... "fabric.pullred", NULL: by WalkOp */
extern const char *const walk_meanings[]; /* a line about each */

/* What a packet waits for where the fabric is busy. */
typedef enum {
    WALK_WAIT_NONE,
    WALK_WAIT_ROOM,    /* the queue of its GPU's port is full */
    WALK_WAIT_PACKETS, /* others stand before it in a port's queue */
    WALK_WAIT_CREDITS, /* the wire is free, and the buffer at its far end is full */
    WALK_WAIT_ANSWERS, /* at its target, whose port has too many answers to send */
    WALK_WAIT_MERGE,   /* an acknowledgement, for other writes that it can answer, too */
    WALK_REASONS
} WalkReason;
extern const char *const walk_reasons[]; /* "packets before it"; by WalkReason, NULL at the end */

typedef struct {
    SimTime at_ps;  /* since the instruction was issued */
    guint sequence; /* among those of the same time */
    guint depth;    /* 1: replicas and their answers */
    ProbeStage stage;
    const char *file;  /* "model/switch/switch.c" */
    char *unit;        /* "switch1", "gpu0.link3.up" */
    char *text;        /* what happens there, for a person */
    WalkReason reason; /* a wait begins here, of */
    SimTime wait_ps;   /* this time; or WALK_WAIT_NONE and 0 */
} WalkStep;

/* Traffic beside the walked operation, which the caller makes: unicast writes, since only these can be told from it. */
typedef struct {
    SimTime warm_up_ps;      /* the operation is issued so long after the start */
    void (*end)(void *user); /* called when its answer is there: no more traffic is wanted */
    void *user;
} WalkBackground;

/* What goes along with a walk; each may be NULL. */
typedef struct {
    const WalkBackground *background; /* NULL: the fabric is otherwise idle */
    Recorder *recorder;               /* what moved and changed goes there, with the steps */
    Recording *recording;             /* of the fabric, which records the walk */
    const gint *stop;                 /* looked at (atomic): not 0 ends it early, with the steps that there are */
} WalkWith;

/* Sends one warp's operation (32 lanes of 4 B; an atomic: one lane), or one of 128 B of the fabric engine, from GPU 0,
 * to GPU 1 or to a team of GPUs 0 .. n_gpus - 1, and returns the WalkSteps in the order of time; free with
 * walk_free(). *right: the bytes it left behind, or brought, are what they should be. The fabric must be idle, with
 * bytes, and is idle again, unless an answer did not come: then *right is FALSE, and its simulation must not run any
 * further. background: NULL on an otherwise idle fabric. GError: no such team can be made (too few GPUs, no
 * multicast). */
GArray *walk_run(Fabric *fabric, WalkOp op, guint32 n_gpus, const WalkBackground *background, gboolean *right,
                 GError **error);
/* The same, with more. One that was stopped early is not right. */
GArray *walk_record(Fabric *fabric, WalkOp op, guint32 n_gpus, const WalkWith *with, gboolean *right, GError **error);
void walk_free(GArray *steps);

/* picture.c: the path in one line, for example "gpu0 --link17--> switch3 --link17--> gpu1 --link17--> ...", read from
 * the steps that were taken; replicas and their answers are one arrow with their number. Free with g_free(). */
char *walk_picture(const GArray *steps);

#endif
