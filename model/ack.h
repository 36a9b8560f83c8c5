/* Acknowledgement accumulators: several writes answered by one packet.
 *
 * What hardware it stands for: NVLink's collapsed responses. One accumulator for each (sending port,
 * requester). It is flushed when it holds `merge_max` writes, after `timer_ps`, or when a read response
 * goes to the same requester (see gpu_target.c).
 * Source: 0.126 a write where writes go both ways, about one where reads and writes mix: NVLink counters,
 * docs/measurements; h200 mixed_ring. */
#ifndef MODEL_ACK_H
#define MODEL_ACK_H

#include "model/link.h"

typedef struct { /* one cache line */
    Event timer;          /* its `spare`: of the packet, the source above the destination */
    Link *link;           /* where the packet goes out */
    SimTime read_left_ps; /* when the last read response to this requester was handed to the port; 0: none was */
    guint32 head;         /* chain of the requester's Txns */
    guint16 count;
    guint8 kind;          /* PACKET_ACK or PACKET_MC_DONE */
    guint8 flits;
} AckMerge;
G_STATIC_ASSERT(sizeof(AckMerge) == 64);

void ack_init(AckMerge *ack, Link *link, PacketKind kind, guint32 flits, guint16 src, guint16 dst);
/* Adds one acknowledged transaction; `next` is where its Txn keeps the chain. */
void ack_add(AckMerge *ack, guint32 txn, guint32 *next, guint64 merge_max, SimTime timer_ps);
void ack_flush(AckMerge *ack);

#endif
