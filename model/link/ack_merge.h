/* Acknowledgement accumulators: several writes answered by one packet.
 *
 * What hardware it stands for: NVLink's collapsed responses. One accumulator for each (sending port,
 * requester). It is flushed when it holds `merge_max` writes, after `timer_ps`, or when a read response
 * goes to the same requester (see model/gpu/target.c). The timer is one of its port's lanes (link.h): no event.
 * Source: 0.126 a write where writes go both ways, about one where reads and writes mix: NVLink counters,
 * docs/measurements; h200 mixed_ring. */
#ifndef MODEL_LINK_ACK_MERGE_H
#define MODEL_LINK_ACK_MERGE_H

#include "model/link/link.h"

typedef struct {    /* eight to a cache line: each port of each GPU has one for every other GPU */
    guint32 due;    /* low half of the ps when the timer is over, while anything is held */
    guint32 held;   /* ACK_ONE for each write, and the head of a chain of the requester's Txns; 0: none */
} AckMerge;
G_STATIC_ASSERT(sizeof(AckMerge) == 8);
#define ACK_ONE (PACKET_TXN_MAX + 1)

static inline guint32 ack_head(const AckMerge *ack) { return ack->held & PACKET_TXN_MAX; }

/* `as`, here and below: the packet it leaves as, but for its txn. Adds the transaction of a request that is
 * acknowledged at at_ps, to leave by `link`; `next` is where its Txn keeps the chain, which ends there. */
void ack_add(AckMerge *ack, Packet as, Link *link, Packet request, guint32 *next, guint64 merge_max, SimTime timer_ps,
             SimTime at_ps);

/* Timers that are over by now come before what happens now. */
static inline void ack_settle(Link *link)
{
    if (link->ready && !link->serving)
        link_settle_now(link, sim_now_ps(link->sim));
}

/* What has been added up leaves. */
static inline Packet ack_close(AckMerge *ack, Packet as, gboolean train)
{
    as.bits += ack_head(ack) * PACKET_ONE(txn);
    ack->held = 0;
    return G_UNLIKELY(train) ? packet_as_train(as) : as;
}

/* For a LinkServe. A timer of the link's lane is over at at_ps: its packet is `as`. TRUE: *answer leaves. Timers are
 * not taken back: one whose writes have been answered finds others, or none. A timer is late where one that ends later
 * was told of before it (links that decide ahead). */
static inline gboolean ack_expire(AckMerge *ack, Packet as, SimTime at_ps, Packet *answer)
{
    if ((gint32)((guint32)at_ps - ack->due) < 0 || ack->held == 0) /* timers are 10 us at most */
        return FALSE;
    *answer = ack_close(ack, as, FALSE);
    return TRUE;
}

#endif
