/* An arrival queue: packets that are known to join a port at a time in the future, the earliest first.
 *
 * Senders put a packet in when it goes on the wire (a scheduled arrival); the receiving port takes it out when it has
 * made all decisions up to that time. A binary heap, in order of time and, at one instant, of the arrival event that
 * the packet would have had, so that the order is that of the reference engine. */
#ifndef MODEL_FASTPATH_ARRIVAL_QUEUE_H
#define MODEL_FASTPATH_ARRIVAL_QUEUE_H

#include "model/shared/packet.h"
#include "sim/engine/simtime.h"

typedef struct {
    SimTime at_ps;
    guint64 order; /* among what happens at that instant: Event.order */
    Packet packet;
} Arrival;

typedef struct {
    Arrival *heap;
    guint32 count, capacity;
} ArrivalQueue;

void arrival_queue_clear(ArrivalQueue *queue);
void arrival_queue_push(ArrivalQueue *queue, Arrival arrival);
/* The earliest one; there is one. */
static inline const Arrival *arrival_queue_first(const ArrivalQueue *queue) { return queue->heap; }
void arrival_queue_drop(ArrivalQueue *queue); /* of that one */

#endif
