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
    guint32 due;          /* low half of the ps when the timer is over, while count is not 0 */
    guint32 head;         /* chain of the requester's Txns */
    guint16 src, dst;     /* of the packet */
    guint16 count;
    guint8 kind;          /* PACKET_ACK or PACKET_MC_DONE */
    guint8 flits;
} AckMerge;
G_STATIC_ASSERT(sizeof(AckMerge) == 16);

void ack_init(AckMerge *ack, PacketKind kind, guint32 flits, guint16 src, guint16 dst);
/* Adds the transaction of a request that is acknowledged at at_ps, to leave by `link`; `next` is where its Txn keeps
 * the chain, which ends there. */
void ack_add(AckMerge *ack, Link *link, Packet request, guint32 *next, guint64 merge_max, SimTime timer_ps,
             SimTime at_ps);
void ack_flush(AckMerge *ack, Link *link);
/* A timer of the link's lane is over at at_ps: its packet has the kind and the ends of `ack`. */
void ack_expire(AckMerge *ack, Link *link, SimTime at_ps);

#endif
