/* A link: one direction of one NVLink, with the port that sends into it.
 *
 * What hardware it stands for: the transmit port of a GPU or switch (a queue for each virtual channel, credits, the
 * arbiter between the channels) and the wire behind it, up to the receiver's ingress buffer.
 * Modelled: a queue and flit credits for each VC, packet-granular round robin between VCs, serialization at the flit
 * rate, flight time, credits that return in batches of time one flight later, arrival in order within a VC, optional
 * bit errors with replay, links that are down, given up, or degraded.
 * Left out: training, power states, the flits of the data-link layer (their cost is in the flit rate).
 * Sources: two VCs on access links, credits for each VC: docs/hardware.md, "Virtual channels and rate"; 23.55 GB/s of
 * flits: measured on H200.
 *
 * accept: link_push(). advance: link_advance() makes the arbiter's decisions that are due. depart: link_transmit() puts
 * a packet on the wire; it reaches the receiver's sink one flight later. A sender knows its own bound and asks
 * link_has_room(); the link never refuses link_push(). The sink accepts always, because credits guarantee that it has
 * room, and it returns them with link_credit().
 *
 * How a port comes to do these things in time is the engine's business (LinkOps): the reference engine gives every step
 * an event of its own (model/link/event_driven.c); the fast engine makes decisions lazily and schedules arrivals
 * ahead (model/fastpath/). */
#ifndef MODEL_LINK_LINK_H
#define MODEL_LINK_LINK_H

#include "model/shared/packet.h"
#include "model/shared/policies.h"
#include "model/shared/probe.h"
#include "model/shared/spec.h"
#include "sim/engine/sim.h"
#include "sim/rng.h"
#include "sim/stat.h"

typedef struct Link Link;

/* The engine's part of a port: one table for each engine and kind of port. */
typedef struct {
    /* A packet joins the queue of its VC now; it starts on the wire at not_before_ps at the earliest (0: at once). */
    void (*push)(Link *link, Packet packet, SimTime not_before_ps);
    /* Makes every decision of the arbiter that is due up to now_ps, each as of its own time. */
    void (*advance)(Link *link, SimTime now_ps);
    /* A packet is on the wire and will arrive at at_ps. TRUE: the receiver knows, and needs no event. */
    gboolean (*arrive)(Link *link, Packet packet, SimTime at_ps);
    /* The receiver has freed credits, which reach the sender at due_ps. */
    void (*credit)(Link *link, Vc vc, guint32 flits, SimTime due_ps);
    /* A packet with HELD_INPUT_SHARED starts on the wire at start_ps. */
    void (*release)(Link *link, Packet packet, SimTime start_ps);
    /* Sees to it that the next decision is made in time. */
    void (*follow_up)(Link *link);
    /* The first of link->timers has changed: link->expire is to be called when it is due. */
    void (*timer)(Link *link);
} LinkOps;

typedef void (*LinkSink)(void *node, Link *link, Packet packet, SimTime now_ps);
typedef void (*LinkDrained)(void *node, Link *link, Vc vc); /* a queue fell below its low-water mark */

/* The owner of a port wanted to be called now. TRUE: *answer joins the queue of VC_RSP. */
typedef gboolean (*LinkExpire)(void *node, Link *link, Packet timer, SimTime now_ps, Packet *answer);

/* A dead link lost a packet that was to start on the wire at at_ps, which may be a flight ago. */
typedef void (*LinkLose)(Link *link, Packet packet, SimTime at_ps);

typedef enum {
    LINK_UP,
    LINK_DOWN, /* down: what waits goes on when it comes up */
    LINK_DEAD, /* given up: what waits, and all that comes, is lost */
} LinkStatus;

/* Credits on their way back, in order of the time at which the sender has them. */
typedef struct {
    SimTime at_ps;
    guint32 flits;
} LinkReturn;
RING_DEFINE(LinkReturnRing, link_return, LinkReturn)
RING_DEFINE(LinkJoinedRing, link_joined, SimTime)

typedef struct {
    guint64 packets, flits;
} LinkCount;

/* The fields that every packet uses stand first. */
struct Link {
    /* the sending port */
    const LinkOps *ops;
    Sim *sim;        /* the sender's clock */
    void *fast;      /* the fast engine's state of this port; NULL: the reference engine */
    SimFine free_at; /* end of the last serialization */
    SimFine flit_time;
    gint32 credits[VCS];           /* flits that the far buffer has room for */
    guint32 delay_ps[VCS];         /* from the end of serialization to arrival, all fixed stages included */
    guint32 low_water[VCS];        /* call `drained` when a queue gets shorter than this; 0: never */
    guint8 last_vc;                /* served last: the other one goes first, */
    guint8 has_arbiter;            /* unless there is a policy's */
    guint8 blocked;                /* the wire is free, but what waits has no credits (or the link is down) */
    guint8 down;                   /* LinkStatus */
    guint8 watched;                /* there is a probe, bit errors, or a GPU that was slow */
    guint8 starved;                /* bit for each VC that lacked credits when the port was blocked */
    PacketRing queue[VCS];         /* waiting for the wire */
    Link **ingress;                /* of the sending switch, by port: links whose buffers departing packets free */
    guint64 queue_peak;            /* packets */
    LinkReturnRing returning[VCS]; /* credits that the sender does not have yet */
    SimTime retry_ps;              /* blocked: when the first credit comes, as far as known */
    guint32 credit_delay_ps;       /* from the end of a batch of credits to the sender */
    guint32 credit_shift;          /* a batch lasts 2^shift ps */
    Event send;                    /* the next decision */
    LinkDrained drained;
    void *source_node;      /* the sender, */
    guint32 source_port;    /* and the number of this link there */
    TimedPacketRing timers; /* what the port's owner waits for, in order of time, */
    LinkExpire expire;      /* and what is called then */
    Event timer;

    /* the wire's far end */
    LinkSink sink;
    void *sink_node;
    guint32 sink_port;           /* number of this link at the receiver */
    Sim *far_sim;                /* the receiver's clock */
    TimedPacketRing flight[VCS]; /* packets in flight that arrive by an event */
    Event arrival[VCS];          /* of the first of them */
    void *boundary;              /* the parallel engine's, where the ends are in two domains; or NULL */

    /* an arbiter that is not round robin (model/shared/policy.h) */
    const Policies *policies;
    guint32 run;                /* packets of last_vc in a row */
    LinkJoinedRing joined[VCS]; /* when what waits joined its queue */

    /* parameters and statistics */
    LinkCount count[PACKET_KINDS];      /* put on the wire */
    SimFine answer_delay, answers_last; /* of a GPU that is slow or was; the last one's arrival (0: it never was) */
    SimTime stalled_from_ps;            /* since when packets wait for a link that is down; SIMTIME_NEVER: none do */
    LinkLose lose;                      /* of a dead link */
    void *lose_user;
    guint64 credit_stalls; /* times the arbiter found packets but no credits */
    guint64 replays;
    guint64 error_ppb, replay_ps;
    Rng rng;
    Probe probe;
    void *probe_user;
    char *path; /* "gpu0.link3.up" */
};
extern const StatRow link_stats[];

/* ---- life: state.c */

/* number: of this link among all, which fixes the order of what happens at one instant. The reference engine runs it
 * unless another one takes it over. */
void link_init(Link *link, Sim *sim, const LinkSpec *spec, guint64 credit_flits, guint32 number, const char *path);
void link_clear(Link *link);
/* The receiver: `sink` is called for every packet that arrives. */
void link_set_sink(Link *link, LinkSink sink, void *node, guint32 port);
/* All fixed stages from the end of serialization to arrival. */
void link_set_delay(Link *link, Vc vc, SimTime delay_ps);
/* From now on `drained` is called whenever a packet leaves and the queue is shorter than this; 0: no more. */
void link_set_low_water(Link *link, Vc vc, guint32 below);
void link_set_state(Link *link, LinkStatus state);
void link_set_errors(Link *link, guint64 error_ppb);
void link_observe(Link *link, Probe probe, void *user); /* NULL: no observer */
/* The link is idle and all credits are at home, as conservation tests check after a run. */
gboolean link_is_quiet(const Link *link, guint64 credit_flits);
guint64 link_flits_total(const Link *link);
guint64 link_packets_total(const Link *link);
/* A line about packets that wait for credits here, to be freed; NULL: none wait. */
char *link_waiter_text(void *link);

/* ---- the sending port: link.c */

static inline void link_push(Link *link, Packet packet, SimTime not_before_ps)
{
    link->ops->push(link, packet, not_before_ps);
}
static inline void link_advance(Link *link, SimTime now_ps) { link->ops->advance(link, now_ps); }
static inline gboolean link_waits(const Link *link)
{
    return (link->queue[VC_CREQ].count | link->queue[VC_RSP].count) != 0;
}
/* Packets that wait in a channel's queue at this instant. */
static inline guint32 link_queued(Link *link, Vc vc)
{
    link_advance(link, sim_now_ps(link->sim));
    return link->queue[vc].count;
}
/* Only pushes make a queue of requests longer: what was too short before its decisions is so after them. */
static inline gboolean link_has_room(Link *link, Vc vc, guint32 packets)
{
    return (vc == VC_CREQ && link->queue[vc].count < packets) || link_queued(link, vc) < packets;
}
/* The port's owner wants `expire` to be called with that packet at at_ps, which is no earlier than that of the timer
 * before it. Timers come before everything else of their instant. */
void link_add_timer(Link *link, Packet timer, SimTime at_ps);

/* For engines. A packet joins its queue as of at_ps, all decisions before that being made; if the wire is free, the
 * arbiter decides at once, and what goes starts at `start` at the earliest. */
void link_join(Link *link, Packet packet, SimTime at_ps, SimFine start);
/* Every decision up to now_ps on what waits in the queues. */
void link_decide_due(Link *link, SimTime now_ps);
/* The next of these decisions; FALSE: none is due. */
gboolean link_decide_next(Link *link, SimTime now_ps);
/* Whether it may make a decision up to until_ps: asked before link_decide_next() where speed matters. */
static inline gboolean link_decision_is_due(const Link *link, SimTime until_ps)
{
    return link_waits(link) && (link->blocked || link->free_at <= simfine_from_ps(until_ps));
}
/* When the arbiter decides next, as far as is known; SIMTIME_NEVER: nothing waits, or no credits are on their way. */
SimTime link_decision_ps(const Link *link);
/* `send` fires at due_ps or before. */
void link_send_by(Link *link, SimTime due_ps);
void link_on_send(Event *event, SimTime now_ps);

/* ---- credits: receive.c */

/* The receiver freed `flits` of its buffer of a channel at at_ps (now, before or after). The sender has them one flight
 * after the end of the batch of time in which at_ps lies, whichever order the calls come in. */
void link_credit(Link *link, Vc vc, guint32 flits, SimTime at_ps);
/* The same for credits that reach the sender, which this wakes, at due_ps. */
void link_credit_return(Link *link, Vc vc, guint32 flits, SimTime due_ps);
/* Credits that have come back by at_ps are the sender's. */
void link_collect_credits(Link *link, Vc vc, SimTime at_ps);
static inline SimTime link_credits_due_ps(const Link *link, Vc vc)
{
    const LinkReturnRing *returning = &link->returning[vc];
    return returning->count ? returning->at[returning->head].at_ps : SIMTIME_NEVER;
}
guint64 link_credits_flying(const Link *link, Vc vc); /* freed, and not the sender's yet */

/* ---- arrivals: receive.c */

/* A packet will arrive by an event. */
void link_fly(Link *link, Packet packet, SimTime at_ps);
/* Whether packets of this channel are in flight that arrive by an event. */
static inline gboolean link_flies(const Link *link, Vc vc) { return link->flight[vc].count != 0; }

/* ---- the reference engine: model/link/event_driven.c */

extern const LinkOps link_reference_ops;
void link_reference_on_timer(Event *event, SimTime now_ps); /* of Link.timer */

#endif
