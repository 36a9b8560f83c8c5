/* The fast engine's port: lazy evaluation of the same port that the reference engine runs event by event.
 *
 * Two ideas, both of which leave every result as it is (docs/fast-path.md):
 * - Lazy evaluation. A decision of the arbiter sees what had joined its queues before it, and nothing depends on when
 *   it is made, as long as it is made before the packet that it sends would arrive. So decisions have no events:
 *   link_advance(), which everything that needs the port calls first, makes all those that are due, each as of its own
 *   time, and one event per flight time and port is enough to see that it is called.
 * - Scheduled arrivals. A packet is put into the receiver's hands as it goes on the wire, with the time at which it
 *   will arrive, where the receiver can wait for that time without an event: a switch's egress port takes in packets
 *   that only pass through the switch (arrival queue), a GPU's port the requests that its GPU answers from the packet
 *   alone (pending queue).
 * A port takes everything up to a time in order: its decisions, what joins, its timers. Everything of one instant has
 * the order that its events would have had in the reference engine. */
#ifndef MODEL_FASTPATH_PORT_H
#define MODEL_FASTPATH_PORT_H

#include "model/fastpath/arrival_queue.h"
#include "model/link/link.h"

#define FAST_ORDER_FIRST 1u  /* timers, and requests that room was made for */
#define FAST_ORDER_ANSWER 2u /* what HBM has read */

typedef struct FastPort FastPort;
struct FastPort {
    Link *link;
    /* The next thing other than a decision: its time, its place within the instant, and what it is. */
    SimTime next_ps;
    guint64 next_order; /* by Event.order, or FAST_ORDER_*: these are behind faults, and before what links bring */
    gboolean serving;   /* a pending request is being served, as of */
    SimTime serving_ps; /* this time; what it pushes joins at that time */
    guint32 slack_ps;   /* a decision may be made so much later than it is due */
    void (*refresh)(FastPort *port); /* works next_ps and next_order out anew */

    /* a switch's egress port */
    ArrivalQueue arrivals;    /* packets that pass through the switch, */
    struct McQueue *replicas; /* and replicas of the team that it follows; NULL: of none. Its cursors there: */
    guint32 joined, sent;     /* numbers of the first replica that has not joined its queue, and not left it */
    guint32 member;           /* its place in that team */

    /* a GPU's port */
    TimedPacketRing pending; /* requests to be served, in order of time */
    TimedPacketRing answers; /* operands from HBM that will join its queue, in order of time */
    guint32 pending_in_time; /* those that must be served when it is time */
    guint32 response_limit;  /* requests are held up while so many answers wait */
    guint64 request_order;   /* of a request within the instant of its arrival */
    SimTime room_ps;         /* when the last answer left a queue that held requests up */
    Event wake;              /* something comes at the very instant of a decision that SMs wait for */
};

static inline FastPort *fast_port(const Link *link) { return link->fast; }

void fast_port_init(FastPort *port, Link *link);
/* LinkOps. */
void fast_port_push(Link *link, Packet packet, SimTime not_before_ps);
/* A packet joins now; pending requests are held up, or go on, if that fills the queue of answers, or makes room. */
void fast_port_join(FastPort *port, Packet packet, SimTime at_ps, SimTime not_before_ps);
void fast_port_follow_up(Link *link);
void fast_port_timer(Link *link);
/* When it must be advanced because something else depends on it at that very time: requests wait for room in its
 * queue, or a pending request concerns others than this port. SIMTIME_NEVER: nothing does. */
SimTime fast_port_in_time_ps(const FastPort *port);
/* In the reference engine whatever comes at the very instant of a decision makes it, since it pushes its answer; so SMs
 * that wait for room in the queue go on at its place within the instant. Here that takes an event, which this schedules
 * if there is such a thing. Part of every follow-up, and called when something is to come at link_decision_ps(). */
void fast_port_wake(FastPort *port);
/* Something new comes next, or may do so. */
void fast_port_note(FastPort *port);

/* Whether the next thing happens up to until_ps, and at that instant not after `order`. */
static inline gboolean fast_port_is_due(const FastPort *port, SimTime until_ps, guint64 order)
{
    return port->next_ps < until_ps || (port->next_ps == until_ps && port->next_order <= order);
}
static inline SimTime fast_port_timer_ps(const Link *link)
{
    return link->timers.count ? link->timers.at[link->timers.head].at_ps : SIMTIME_NEVER;
}
/* The first timer is due at at_ps. TRUE: it has an answer, which the caller lets join. */
gboolean fast_port_expire(FastPort *port, SimTime at_ps, Packet *answer);

#endif
