/* Primitives of ring and tree collectives: move a chunk from up to three neighbours (and the own input) to
 * the own output and up to three neighbours, in NCCL's protocols.
 *
 * As published for NCCL (src/device/prims_simple.h, prims_ll.h, prims_ll128.h): a connection has a buffer
 * of PRIM_STEPS slots at the receiver. Simple: a tail counter at the receiver tells how many steps
 * were put in; a chunk goes in slices; each slice is moved by one loop, then fenced, then posted. LL and
 * LL128: a flag travels in each 8 B (120 B) of data, so that neither fence nor counter is needed and the
 * link carries 2 (16/15) times the data. All: a head counter at the sender tells how many were taken out.
 * Left out: the extra warp that posts in Simple; posting costs its time in the first warp here. */
#ifndef API_COLL_PRIM_H
#define API_COLL_PRIM_H

#include "api/coll_internal.h"

#define PRIM_STEPS 8u
#define PRIM_PEERS 3u

typedef struct {
    FoAddress slots;  /* receiving: own memory; sending: the peer's */
    FoAddress tail;   /* receiving: own counter; sending: the peer's (Simple) */
    FoAddress head;   /* receiving: the peer's counter; sending: the own one */
    guint64 step;
} PrimPeer;

typedef struct {
    FoCta *cta;
    const Coll *coll;
    guint32 slice_steps;       /* slots that one slice takes (Simple) */
    guint32 slices;            /* of a chunk */
    guint64 step_bytes;        /* of a slot */
    guint64 chunk;             /* bytes of a whole chunk now: slices are cut from it */
    guint32 n_from, n_to;
    PrimPeer from[PRIM_PEERS], to[PRIM_PEERS];
    FoReg *flag[2 * PRIM_PEERS];
} Prim;

/* One chunk's move. Addresses are of the chunk's start; 0: not there. */
typedef struct {
    gboolean receive, send; /* from, and to, all peers */
    FoAddress received;     /* Simple: the sender has put it there, into the own result, not into a slot */
    FoAddress input;        /* own data that is added or sent */
    FoAddress output;       /* own result */
    FoAddress direct[PRIM_PEERS]; /* Simple: peers' results that it goes into, instead of slots */
    guint64 bytes;
} PrimMove;

/* Slots of connection k of a CTA at a rank, and the counters of a CTA. */
static inline FoAddress prim_slots(const Coll *coll, guint32 rank, guint32 cta, guint32 k)
{
    return coll->scratch.va[rank] +
           ((guint64)cta * coll->connections + k) * PRIM_STEPS * coll->step_bytes;
}
static inline FoAddress prim_tail(const Coll *coll, guint32 rank, guint32 cta, guint32 k)
{
    return coll_control(coll, rank, cta) + CONTROL_TAIL + k * 128;
}
static inline FoAddress prim_head(const Coll *coll, guint32 rank, guint32 cta, guint32 k)
{
    return coll_control(coll, rank, cta) + CONTROL_HEAD + k * 128;
}

void prim_init(Prim *prim, FoCta *cta, const Coll *coll);
void prim_move(Prim *prim, const PrimMove *move);
/* Bytes of slot and of data in it that the protocol uses for one step. */
guint64 prim_step_bytes(CollProto proto, guint32 threads);
guint64 prim_step_data(CollProto proto, guint32 threads);

#endif
