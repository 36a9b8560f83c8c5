/* One NVSwitch: ingress, unicast route, multicast table, crossbar, egress, reduction unit.
 *
 * A packet arrives (switch_accept), is routed to an egress port by its destination, or replicated to the
 * ports of its multicast ID; it keeps its place in the ingress buffer until it leaves the egress. The
 * answers of replicas are gathered at the requester's port (reduction.h), and one goes back; what the switch keeps of a
 * request until then is a record (record.h).
 *
 * Modelled: a virtual output queue for each (egress, VC), the pipeline's latency, the ingress held for
 * the rounds of a replication (its buffer until the replica with the longest queue before it has left),
 * tags and reduction buffer for each requester's port, in-order ingress
 * (a multicast request that waits for a tag blocks requests behind it).
 * Left out: crossbar output contention (its ports are 1.8 times as fast as a link), tile columns.
 * Sources: docs/hardware.md, "The switch", "Multicast tables", "Answers and sums". */
#ifndef MODEL_SWITCH_SWITCH_H
#define MODEL_SWITCH_SWITCH_H

#include "model/link/ack.h"
#include "model/link/link.h"
#include "model/shared/fabric.h"
#include "model/switch/component.h"
#include "model/switch/multicast_table.h"

#define SWITCH_NO_ROUTE 0xffffu /* in Switch.route */
#define SWITCH_NO_LINK 0xffu    /* in Switch.link_rail: it does not pass here */

typedef struct McRecord McRecord; /* record.h */

typedef struct {
    struct Switch *sw;
    guint32 number;     /* of this port */
    struct Switch *far; /* at its other end, a trunk's; NULL: a GPU, */
    guint16 gpu;        /* this one, */
    guint8 link, rail;  /* by this link of it; which one of those that pass this switch that is */
    PacketRing wait;    /* requests that a replication or a missing tag holds up, in order */
    SimTime busy_until_ps;
    Event advance;
    guint32 multicast_tags, reduction_tags; /* free */
    guint64 reduction_bytes;                /* free */
    AckMerge done;                          /* merged acknowledgements to the requester */
    guint64 stalls_tag, stalls_buffer, stalls_rounds;
    guint64 reduction_peak_bytes;
} SwitchPort;

/* Hands the replicas of a request that port p took in to the members' ports, and sees to it that the request's place in
 * the ingress buffer is freed. `replica` is what all of them are, but for dst. */
typedef void (*SwitchSpread)(struct Switch *sw, guint32 p, Packet replica, const McEntry *entry, SimTime now_ps);

/* A unit of a switch that sees what is for one GPU where it would be routed: a request whose turn it is, an answer as
 * it comes. TRUE: the unit has taken it, and its place in the ingress buffer. Where there is a unit, the fast engine
 * leaves all that is for one GPU to events. */
typedef struct {
    void (*open)(struct Switch *sw); /* sets sw->unit_state */
    void (*clear)(struct Switch *sw);
    gboolean (*request)(struct Switch *sw, guint32 p, Packet packet, SimTime now_ps);
    gboolean (*answer)(struct Switch *sw, guint32 p, Packet packet, SimTime now_ps);
} SwitchUnit;
extern const SwitchUnit switch_merge; /* merge.c */

typedef struct SwitchComponent SwitchComponent;

typedef struct Switch {
    Fabric *fabric;
    Sim *sim;
    const SwitchSpec *spec;
    guint32 id, ports;
    guint32 links;     /* of each GPU that pass this switch, */
    guint8 *link_rail; /* and of a link of a GPU, which of these it is: its rail here */
    guint16 *route;    /* of GPU g and a rail at g * links + rail: the egress port */
    gboolean spine;    /* its ports are trunks, and it replicates to leaf switches */
    Link **out, **in;  /* by port */
    void *fast;        /* the fast engine's state of this switch; NULL: the reference engine */
    SwitchPort *port;
    SwitchSpread spread;                             /* switch_spread(), unless the fast engine does it */
    void (*go_on)(SwitchPort *port, SimTime now_ps); /* a tag has come back to a port where requests wait */
    McTable table;
    McRequests *requests; /* the shared side of the records */
    DataPool *data;
    McRecord *record;               /* [0] unused */
    guint32 record_free;            /* head of the list of those that were used, linked by McRecord.txn; 0: none */
    guint32 record_top, record_max; /* those above `top` were never used */
    guint32 records_used;
    guint64 replicated, reduced, multicast_requests, invalid_mcid;
    guint64 crumbstore_mcto_err, crumbstore_rto_err;
    const SwitchUnit *unit; /* NULL: there is none */
    void *unit_state;
    SwitchComponent *component; /* which has its ports; NULL: it is the built-in switch */
    guint32 timeout_key;        /* where packets may be lost: order of the first record's time-out in an instant */
    char *path;
} Switch;
extern const StatRow switch_stats[];
extern const StatRow switch_port_stats[];

/* Its ports; what is there and where packets leave is the caller's to fill in (model/fabric/switches.c). `name` is
 * taken. */
void switch_init(Switch *sw, Fabric *fabric, Sim *sim, DataPool *data, guint32 id, guint32 ports, char *name);
void switch_clear(Switch *sw);
void switch_take(Switch *sw, Link *from, guint32 port);                    /* what arrives on `from`, at that port */
void switch_send(Switch *sw, Link *to, guint32 port);                      /* what leaves there */
void switch_accept(void *port, Link *from, Packet packet, SimTime now_ps); /* a LinkSink */
/* A packet for one GPU joins the queue of its egress port. */
void switch_route(Switch *sw, guint32 port, Packet packet, SimTime now_ps);
/* The SwitchSpread that gives each member's port its replica at once. */
void switch_spread(Switch *sw, guint32 p, Packet replica, const McEntry *entry, SimTime now_ps);
/* Time that the crossbar takes for one round of a replication. */
SimTime switch_round_ps(const Switch *sw, Packet packet);
/* Which of the links that pass this switch a packet that came in at a port travels on. A packet from a GPU says so from
 * now on. */
static inline guint32 switch_take_rail(const SwitchPort *port, Packet *packet)
{
    if (port->far)
        return port->sw->link_rail[packet->link];
    packet->link = port->link;
    return port->rail;
}
/* The egress port towards a GPU, on a rail. */
static inline guint32 switch_port_of(const Switch *sw, guint32 gpu, guint32 rail)
{
    return sw->route[gpu * sw->links + rail];
}
/* The egress port of a unicast packet that came in at a port: towards the same link of the GPU that it is for. */
static inline guint32 switch_egress(const SwitchPort *port, Packet *packet)
{
    const guint32 rail = switch_take_rail(port, packet);
    return switch_port_of(port->sw, packet_target(*packet), rail);
}
void switch_on_advance(Event *event, SimTime now_ps);  /* of SwitchPort.advance: requests that waited go on */
void switch_advance(SwitchPort *port, SimTime now_ps); /* the same, at once */
gboolean switch_is_quiet(const Switch *sw);
char *switch_waiter_text(void *sw);

/* component.c: a shared object's table, or NULL where there is none to load; a switch, connected to its links, becomes
 * a component's. GError: it does not load, has another version, or cannot be this switch. */
gboolean component_load(const char *path, const FoComponent **component, GError **error);
gboolean component_attach(Switch *sw, const FoComponent *component, GError **error);
void component_detach(Switch *sw);
guint32 component_in_use(const Switch *sw); /* requests of teams that it has opened and not closed */

#endif
