/* What crosses between the GPUs and one switch, and the ports that decide at a window's end: internal to
 * model/parallel. */
#ifndef MODEL_PARALLEL_MAILBOX_H
#define MODEL_PARALLEL_MAILBOX_H

#include "model/fastpath/fastpath.h"
#include "model/parallel/parallel.h"
#include "sim/engine/domain.h"

typedef struct {
    SimTime at_ps; /* when the packet arrives */
    Link *link;
    Packet packet;
} PacketMessage;
typedef struct {
    SimTime due_ps; /* when the sender has the credits */
    Link *link;
    guint32 flits;
    Vc vc;
} CreditMessage;

/* What one side writes in a window. */
typedef struct {
    GArray *packets, *credits; /* PacketMessage, CreditMessage */
    GArray *slots;             /* guint32: data slots given back */
} Mailbox;

/* One side of what goes on between the GPUs and a switch. */
typedef struct {
    Mailbox box[2]; /* by the window's parity: one is written while the other side empties the other one */
    Sim *sim;
    DataPool *data;
    guint32 window;
    SimTime first_ps;    /* the earliest message of this window takes effect */
    GPtrArray *deferred; /* Links whose ports decide at the end of the window */
    guint done, kept;    /* at a window's end: gone through so far; of these stay */
    SimTime next_ps;     /* when the first of those that stay has something to do */
} __attribute__((aligned(64))) Side;

enum { SIDE_GPUS, SIDE_SWITCH, SIDES };
typedef struct {
    Side side[SIDES];
} Pair;

struct Parallel {
    Fabric *fabric;
    guint32 n;
    Pair pair[]; /* by switch, or one for all of them */
};

/* What a link at a boundary keeps, and a trunk: Link.boundary. */
typedef struct {
    LinkOps ops; /* the fast engine's, but for what crosses */
    const LinkOps *inner;
    Side *near, *far;  /* of the sender, of the receiver */
    gboolean deferred; /* in near->deferred */
} Boundary;

static inline Boundary *link_boundary(const Link *link) { return link->boundary; }
static inline Mailbox *side_writing(Side *side) { return &side->box[side->window & 1]; }

/* When the port of a deferred link has something to do again that has no event; SIMTIME_NEVER: nothing. */
SimTime boundary_next_ps(const Link *link);
extern const SimExchange parallel_exchange; /* window.c */

#endif
