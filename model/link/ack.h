/* Acknowledgement accumulators: several writes answered by one packet.
 *
 * What hardware it stands for: NVLink's collapsed responses. One accumulator for each sending port and requester.
 * Modelled: it is flushed when it holds `merge_max` writes, or a time after its first one (a timer of the port, which
 * is never taken back: one whose writes have left finds others, or none), or when its owner says so.
 * Source: 0.126 acknowledgements a write where writes go both ways, about one where reads and writes mix: NVLink
 * counters, docs/measurements; H200, mixed_ring. */
#ifndef MODEL_LINK_ACK_H
#define MODEL_LINK_ACK_H

#include "model/link/link.h"

typedef struct {
    SimTime due_ps; /* when the first write has waited long enough, while any is held */
    guint32 head;   /* of a chain of the requester's transactions: the latest write */
    guint32 held;   /* writes; 0: none */
} AckMerge;

/* Adds the writes of a transaction chain, from `txn` to the one whose link in the chain is *next, to what `link` will
 * answer; they are acknowledged at at_ps. `as` is the packet that they leave as, but for its txn. */
void ack_add(AckMerge *ack, Link *link, Packet as, guint32 txn, guint32 *next, guint64 merge_max, SimTime timer_ps,
             SimTime at_ps);
/* What is held leaves now. */
void ack_flush(AckMerge *ack, Link *link, Packet as);
/* For a LinkExpire: a timer is over at at_ps. TRUE: *answer leaves. */
gboolean ack_expire(AckMerge *ack, Packet as, SimTime at_ps, Packet *answer);

#endif
