/* Primitives of NCCL's kernels: move a chunk from up to three neighbours (and the own input) to the own output
 * and up to three neighbours, in NCCL's protocols.
 *
 * As published for NCCL (src/device/prims_simple.h, prims_ll.h, prims_ll128.h): a connection has a buffer
 * of PRIM_STEPS slots at the receiver (or at the sender, where data is read: p2p.cc, on GPUs of compute
 * capability 8.0). Simple: a tail counter at the receiver tells how many steps were put in; a chunk goes
 * in slices; each slice is moved by one loop; then all the group's warps meet, and its last warp, which
 * copies nothing if the group sends, fences and posts while the others begin the next slice. LL and
 * LL128: a flag travels in each 8 B (120 B) of data, so that neither fence nor counter is needed and the
 * link carries 2 (16/15) times the data. All: a head counter at the sender tells how many were taken out.
 * A group is some warps of a CTA: all of them in a ring, the two directions in a tree or of send and receive.
 * Left out: user buffers registered with the communicator (slots are then not used). */
#ifndef COLL_ALGO_PRIMITIVES_H
#define COLL_ALGO_PRIMITIVES_H

#include "coll/internal.h"

#define PRIM_STEPS 8u
#define PRIM_PEERS 3u
#define PRIM_POST_THREADS 96u /* NCCL_SIMPLE_EXTRA_GROUP_IF_NTHREADS_GE */

typedef struct {
    FoAddress slots;
    FoAddress tail; /* the receiver's (Simple) */
    FoAddress head; /* the sender's */
    guint64 step;
    guint64 *saved; /* where the next kernel of this rank finds it (NCCL's conn->step) */
} PrimPeer;

typedef struct {
    FoCta *cta;
    const Coll *coll;
    guint32 first, threads; /* the group: of the CTA's threads */
    guint32 workers;        /* those that copy */
    guint32 barrier;        /* its first named barrier */
    guint32 slice_steps;    /* slots that one slice takes (Simple) */
    guint32 slices;         /* of a chunk */
    gboolean beside;        /* another group of the CTA copies during the next move */
    guint64 step_bytes;     /* of a slot */
    guint32 n_from, n_to;
    PrimPeer from[PRIM_PEERS], to[PRIM_PEERS];
    guint32 ran;                 /* kinds of moves that this kernel has run: bits */
    FoReg *flag[2 * PRIM_PEERS]; /* posted */
    FoReg *seen[2 * PRIM_PEERS]; /* counters as last seen */
} Prim;

/* One chunk's move. Addresses are of the chunk's start; 0: not there. */
typedef struct {
    gboolean receive, send; /* from, and to, all peers */
    FoAddress input;        /* own data that is added or sent */
    FoAddress output;       /* own result */
    guint64 bytes;
} PrimMove;

/* The two ends of the connection from one rank's CTA to another's: `sender_k` and `receiver_k` number a CTA's
 * connections at either end, below coll->connections. */
PrimPeer prim_to(const Coll *coll, guint32 cta, guint32 sender, guint32 sender_k, guint32 receiver, guint32 receiver_k);
PrimPeer prim_from(const Coll *coll, guint32 cta, guint32 sender, guint32 sender_k, guint32 receiver,
                   guint32 receiver_k);

/* A group of a CTA; `group` numbers it within the CTA, 0 to 2; `sends`: its program may send. */
void prim_init(Prim *prim, FoCta *cta, const Coll *coll, guint32 group, guint32 first, guint32 threads, gboolean sends);
void prim_move(Prim *prim, const PrimMove *move);
void prim_end(Prim *prim); /* after the last move */
/* For programs that move their slices themselves: what NCCL's code of protocol Simple takes the active warps before the
 * first slice, before each slice's accesses (more where it is the first), and after the last. */
void prim_cta_begin(FoCta *cta, const Coll *coll);
void prim_cta_slice(FoCta *cta, const Coll *coll, gboolean first);
void prim_cta_end(FoCta *cta, const Coll *coll);
/* Bytes of slot and of data in it that the protocol uses for one step. */
guint64 prim_step_bytes(CollProto proto);
guint64 prim_step_data(CollProto proto);

#endif
