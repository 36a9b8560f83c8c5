/* A multicast queue: the replicas of one team that arrive at the egress ports of one spray group, written once.
 *
 * When a switch replicates a request, each member's port gets the same replica at the same time. In the fast engine the
 * switch writes it down once, and each port keeps a cursor: it takes in the replicas that are new to it when it is
 * looked at, as of the times at which they came. Because a port takes in many at a time, its state is brought into the
 * processor's cache once for all of them; this is what the queue is for.
 * The queue has an event, so that all its ports are looked at before what they send would reach the far end.
 * A port follows one queue at a time. A team that meets a port which follows another team's queue, with replicas in it,
 * hands out its replicas one by one (switch_spread()).
 *
 * A request keeps its place in the ingress buffer until the replica with the most packets before it has left
 * (switch_spread()). Which one that is turns out when all ports have taken theirs in; it may have left by then. */
#ifndef MODEL_FASTPATH_MULTICAST_QUEUE_H
#define MODEL_FASTPATH_MULTICAST_QUEUE_H

#include "model/fastpath/port.h"
#include "model/switch/switch.h"

typedef struct {
    SimTime at_ps;   /* when it was replicated, */
    guint64 order;   /* and by which event of that instant: Event.order */
    SimTime left_ps; /* when the holder's replica left; SIMTIME_NEVER: it has not */
    Packet replica;
    guint32 round_ps; /* from one round of the replication to the next */
    guint16 port;     /* whose ingress buffer it is in */
    guint16 members;  /* that have not taken it in, */
    guint16 unsent;   /* and have not sent it */
    guint16 holder;   /* member with the longest queue so far, its own replica included; */
    guint32 longest;  /* this long; 0: all are on the wires */
} McArrival;
RING_DEFINE(McArrivalRing, mc_arrival, McArrival)

typedef struct McQueue {
    Switch *sw;
    guint32 rail; /* link number of its ports */
    guint32 n_members;
    const guint16 *member;
    McArrivalRing ring;
    guint32 first, end; /* number of the first one in the ring, and of the one that comes next */
    gboolean follows;   /* all ports of the team follow this queue */
    Event advance;
} McQueue;

void multicast_queue_free(gpointer queue);
/* A SwitchSpread. */
void multicast_queue_spread(Switch *sw, guint32 p, Packet replica, const McEntry *entry, SimTime now_ps);

/* Whether there are replicas that this port has not taken in, and the first of them. */
static inline gboolean multicast_queue_waits(const FastPort *port)
{
    return port->replicas && port->joined != port->replicas->end;
}
static inline McArrival *multicast_queue_next(const FastPort *port)
{
    return mc_arrival_nth(&port->replicas->ring, port->joined - port->replicas->first);
}
void multicast_queue_join(FastPort *port);                                 /* it joins the queue of its port */
void multicast_queue_release(Link *link, Packet packet, SimTime start_ps); /* LinkOps */

#endif
