/* Acknowledgement accumulators: several writes answered by one packet.
 *
 * What hardware it stands for: NVLink's collapsed responses. One accumulator for each (sending port,
 * requester). It is flushed when it holds `merge_max` writes, after `timer_ps`, or when a read response
 * goes to the same requester (see gpu_target.c). The timer is one of its port's lanes (link.h): no event.
 * Source: 0.126 a write where writes go both ways, about one where reads and writes mix: NVLink counters,
 * docs/measurements; h200 mixed_ring. */
#ifndef MODEL_ACK_H
#define MODEL_ACK_H

#include "model/link.h"

typedef struct {          /* four to a cache line: each port of each GPU has one for every other GPU */
    Packet packet;        /* to send; its txn is the head of a chain of the requester's Txns, 0: none */
    guint32 due;          /* low half of the ps when the timer is over, while count is not 0 */
    guint32 count;
} AckMerge;
G_STATIC_ASSERT(sizeof(AckMerge) == 16);

/* kind: PACKET_ACK or PACKET_MC_DONE. */
void ack_init(AckMerge *ack, PacketKind kind, guint32 flits, guint16 src, guint16 dst);
/* Adds the transaction of a request that is acknowledged at at_ps, to leave by `link`; `next` is where its Txn keeps
 * the chain, which ends there. */
void ack_add(AckMerge *ack, Link *link, Packet request, guint32 *next, guint64 merge_max, SimTime timer_ps,
             SimTime at_ps);
void ack_flush(AckMerge *ack, Link *link);

/* Timers that are over by now come before what happens now. */
static inline void ack_settle(Link *link)
{
    if (link->ready && !link->serving)
        link_settle_now(link, sim_now_ps(link->sim));
}

/* What has been added up leaves. */
static inline Packet ack_close(AckMerge *ack, gboolean train)
{
    Packet packet = ack->packet;
    ack->count = 0;
    ack->packet.bits &= ~(Packet){.txn = PACKET_TXN_MAX}.bits;
    if (G_UNLIKELY(train)) {
        packet.train = 1;
        packet.flits = (packet.flits * 2u) & 0x1fu;
    }
    return packet;
}

/* For a LinkServe. A timer of the link's lane is over at at_ps: its packet has the kind and the ends of `ack`. TRUE:
 * *answer leaves. Timers are not taken back: one whose writes have been answered finds others, or none. A timer is late
 * where one that ends later was told of before it (links that decide ahead). */
static inline gboolean ack_expire(AckMerge *ack, SimTime at_ps, Packet *answer)
{
    if ((gint32)((guint32)at_ps - ack->due) < 0 || ack->count == 0) /* timers are 10 us at most */
        return FALSE;
    *answer = ack_close(ack, FALSE);
    return TRUE;
}

/* ack_add() for a LinkServe: TRUE: *answer leaves. */
static inline __attribute__((always_inline)) gboolean
ack_take(AckMerge *ack, Link *link, Packet request, guint32 *next, guint64 merge_max, SimTime timer_ps,
         SimTime at_ps, Packet *answer)
{
    guint32 count = ack->count, head = ack->packet.txn;
    *next = head; /* nothing follows the first one */
    ack->packet.bits += (guint64)request.txn - head;
    ack->count = count + packet_count(request);
    if (ack->count >= merge_max) {
        *answer = ack_close(ack, request.train && merge_max == 1);
        return TRUE;
    }
    if (count == 0) {
        ack->due = (guint32)(at_ps + timer_ps);
        link_push_timer(link, ack->packet, at_ps + timer_ps);
    }
    return FALSE;
}

#endif
