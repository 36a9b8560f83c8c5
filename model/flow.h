/* Flows: bulk work as rates instead of packets, for `--fidelity flow` and `auto`.
 *
 * What it stands for: a loop of many packets of the same few kinds, whose requests and answers load
 * the links, L2 and HBM of several GPUs at once. Modelled: max-min fair rates. All flows grow alike
 * until a resource is full or a flow reaches its own limit (its window over its round trip, its
 * SM's issue); those it holds up keep their rate and the others go on growing. Rates are solved
 * anew at every instant at which a flow begins or ends and are exact in between: no time step. Left
 * out: queues (a flow's latency is its owner's to add), the order of packets, tags.
 *
 * Integers only: amounts are thousandths of a unit (flit, byte) that one line of work takes of a
 * resource, capacities thousandths of a unit a second, rates lines a second, work 10^-6 lines.
 * Flows that use the same amounts of the same resources are one class and have one rate, so that
 * the cost of solving grows with the classes, not with the CTAs. */
#ifndef MODEL_FLOW_H
#define MODEL_FLOW_H

#include "sim/sim.h"

typedef struct {
    guint32 resource;
    guint32 amount;   /* > 0 */
    guint32 issue_ps; /* > 0: one that queues there and takes so long to issue; the resource is shared */
    guint32 kind;     /* of queuing, for FlowShare */
} FlowUse;

/* Thousandths of its capacity that a resource has while `flows` queue there that take `issue_ps` each
 * in the mean, of the largest kind among them (1 to 1000); see model/port_share.h. */
typedef guint32 (*FlowShare)(guint32 flows, guint32 issue_ps, guint32 kind, gpointer user);

#define FLOW_LINE 1000000u /* one line, in the unit of work */

typedef struct FlowClass FlowClass;
typedef struct FlowItem FlowItem;
typedef void (*FlowDone)(FlowItem *item, SimTime now_ps);
struct FlowItem { /* embedded in its owner */
    FlowItem *next;
    guint64 target; /* of what its class has served */
    FlowDone done;  /* called once, the item is out by then */
};

typedef struct FlowNet FlowNet;
FlowNet *flow_new(Sim *sim, guint32 resources);
void flow_free(FlowNet *net); /* nothing may be under way, or its owners are gone with it */
void flow_set_share(FlowNet *net, FlowShare share, gpointer user); /* none: all of it, always */
void flow_set_capacity(FlowNet *net, guint32 resource, guint64 capacity);
/* The class of these uses (sorted by resource, each once; copied) and limit (lines a second, > 0).
 * It belongs to the net. */
FlowClass *flow_class(FlowNet *net, const FlowUse *use, guint32 n, guint64 limit);
/* From now on `work` is done at the class's rate. */
void flow_begin(FlowNet *net, FlowClass *class, FlowItem *item, guint64 work);
/* Solves were made so far; for reports and tests. */
guint64 flow_solves(const FlowNet *net);
/* The rate of each flow of the class, in lines a second, as solved last. */
guint64 flow_rate(const FlowClass *class);

#endif
