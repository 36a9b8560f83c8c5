/* The queue of a link's channel: what flies, and behind it what waits for the wire. */
#ifndef MODEL_LINK_RING_H
#define MODEL_LINK_RING_H

#include "model/link/packet.h"
#include "sim/engine/simtime.h"

/* 12 bytes: thousands of them may wait. */
typedef struct {
    Packet packet;
    guint32 due; /* low half of the ps when it arrives, once it is on the wire: nothing flies for 4 ms */
} __attribute__((packed, aligned(4))) LinkSlot;

/* One channel, half a cache line: its packets, but for those of a log, each written once. Those in flight, from `head`
 * on, and behind them those that wait for the wire, from `wire` on. Both count on and on: back to 0 when nothing is
 * left, so that a short queue stays in the same few cache lines. */
typedef struct {
    LinkSlot *at;
    guint32 head, wire;
    guint32 mask;       /* size, a power of two or 0, less 1 */
    guint32 waiting;    /* packets that wait for the wire, those of a log among them */
    gint32 credits;     /* flits the far buffer has room for */
    guint32 delay_ps;   /* from the end of serialization to arrival, all fixed stages included */
} LinkRing;
G_STATIC_ASSERT(sizeof(LinkRing) == 32);
static inline LinkSlot *link_slot(const LinkRing *ring, guint32 n) { return &ring->at[n & ring->mask]; }
void link_ring_grow(LinkRing *ring);
static inline gboolean link_ring_is_full(const LinkRing *ring, guint32 waiting)
{
    return ring->wire + waiting - ring->head == ring->mask + 1;
}
/* After each time that the head moves on: half of the array is enough where a quarter is used, and laps are short. But
 * a port takes in ahead (replicas_stage()) no more than there are slots, and 16 would end many a round early. */
#define LINK_RING_LEAST_SLOTS 64u
static inline void link_ring_lap(LinkRing *ring, guint32 waiting)
{
    if (G_UNLIKELY((ring->head & ring->mask) == 0) && ring->mask >= LINK_RING_LEAST_SLOTS &&
        ring->wire + waiting - ring->head <= ring->mask / 4)
        ring->mask /= 2;
}
/* When a packet in flight arrives; it is not earlier than now. */
static inline SimTime link_due_ps(const LinkSlot *slot, SimTime now_ps)
{
    return now_ps + (guint32)(slot->due - (guint32)now_ps);
}

#endif
