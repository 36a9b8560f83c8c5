/* Flows: bulk work as rates instead of packets, for `--fidelity flow` and `auto`.
 *
 * What it stands for: a loop of many packets of the same few kinds, whose requests and answers load the links, L2 and
 * HBM of several GPUs at once. Modelled: max-min fair rates. All flows grow alike (by their weights, where queues fill
 * up) until a resource is full or a flow reaches its own limit (its window over its round trip, its SM's issue); those
 * it holds up keep their rate and the others go on growing. Rates are solved anew at every instant at which a flow
 * begins or ends and are exact in between: no time step. Left out: queues, but for what FlowShare says of them (a
 * flow's latency is its owner's to add), the order of packets, tags.
 *
 * Integers only: amounts are thousandths of a unit (flit, byte) that one line of work takes of a
 * resource, capacities thousandths of a unit a second, rates lines a second, work 10^-6 lines.
 * Flows that use the same amounts of the same resources are one class and have one rate, so that
 * the cost of solving grows with the classes, not with the CTAs. */
#ifndef MODEL_FLOW_RATES_H
#define MODEL_FLOW_RATES_H

#include "sim/engine/sim.h"

/* How a flow is held up by a resource that is full. HELD: it waits. BEHIND: what queues elsewhere goes on to it, and
 * waits between the two: what it has where it queues sees to that (FlowShare), unless others are HELD there. RIDES: it
 * takes what it takes (acknowledgements, on a channel of their own), only others wait. TURNS: it waits, and where it is
 * this that holds it up it takes turns with those that queue there: its weight counts (others' wherever they queue). */
typedef enum { FLOW_HELD, FLOW_BEHIND, FLOW_RIDES, FLOW_TURNS } FlowWay;

typedef struct {
    guint32 resource;
    guint32 amount;   /* > 0 */
    guint32 issue_ps; /* > 0: one that queues there and takes so long to issue; the resource is shared */
    guint32 kind;     /* of queuing, for FlowShare */
    FlowWay way;
} FlowUse;

/* Millionths of its capacity that this resource has while `flows` queue there that take `issue_ps` each
 * in the mean, most of them of that kind (1 to FLOW_ALL); see model/flow/egress_share.h. */
#define FLOW_ALL 1000000u
typedef guint32 (*FlowShare)(guint32 resource, guint32 flows, guint32 issue_ps, guint32 kind, gpointer user);

#define FLOW_LINE 1000000u /* one line, in the unit of work */

/* all * part / of, rounded down, however large the product; 0 of nothing. */
static inline guint64 flow_part(guint64 all, guint64 part, guint64 of)
{
    guint64 product;
    if (of == 0)
        return 0;
    if (__builtin_mul_overflow(all, part, &product))
        return (guint64)((__uint128_t)all * part / of);
    return product / of;
}

typedef struct FlowClass FlowClass;
typedef struct FlowItem FlowItem;
typedef void (*FlowDone)(FlowItem *item, SimTime now_ps);
struct FlowItem { /* embedded in its owner */
    FlowItem *next;
    FlowClass *class; /* while it is under way */
    guint64 target;   /* of what its class has served */
    guint64 rest;     /* of its work; 0: none. When no more than that is left */
    FlowDone passed;  /* is called once, and the item goes on; may begin others, but not at once */
    FlowDone done;    /* called once, the item is out by then */
};

typedef struct FlowNet FlowNet;
FlowNet *flow_new(Sim *sim, guint32 resources);
void flow_free(FlowNet *net); /* nothing may be under way, or its owners are gone with it */
/* share: NULL: all of it, always; solved: called whenever rates have changed, says when shares will by themselves, or
 * SIMTIME_NEVER. */
void flow_set_share(FlowNet *net, FlowShare share, SimTime (*solved)(gpointer user), gpointer user);
/* Of every class under way what it uses, and the lines a second of all its flows. */
typedef void (*FlowSeen)(const FlowUse *use, guint32 n, guint64 lines, gpointer user);
void flow_see(const FlowNet *net, FlowSeen seen, gpointer user);
/* Whether no flow is held up by a resource but those behind others' queues. */
gboolean flow_is_behind(const FlowNet *net, guint32 resource);
/* All that flows could have of a resource is used, as solved last. */
gboolean flow_is_full(const FlowNet *net, guint32 resource);
void flow_set_capacity(FlowNet *net, guint32 resource, guint64 capacity);
guint64 flow_capacity(const FlowNet *net, guint32 resource);
/* The class of these uses (sorted by resource, each once; copied) and limit (lines a second, > 0), of weight
 * FLOW_WEIGHT: where several queue for all that a resource has, their rates are as their weights. It belongs to the
 * net. */
FlowClass *flow_class(FlowNet *net, const FlowUse *use, guint32 n, guint64 limit);
#define FLOW_WEIGHT 1000u
/* The same with another limit and weight. */
FlowClass *flow_class_like(FlowNet *net, FlowClass *class, guint64 limit, guint32 weight);
/* From now on `work` is done at the class's rate. */
void flow_begin(FlowNet *net, FlowClass *class, FlowItem *item, guint64 work);
/* Of an item under way: what is left of its work now, and its rate, lines a second as solved last. */
guint64 flow_left(const FlowNet *net, const FlowItem *item);
guint64 flow_rate(const FlowItem *item);
/* From now on it goes on at another class's rate; nothing if it is over. */
void flow_change(FlowNet *net, FlowItem *item, FlowClass *class);

#endif
