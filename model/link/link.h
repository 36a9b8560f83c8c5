/* A link: one direction of one NVLink, with the port that sends into it.
 *
 * What hardware it stands for: the transmit port of a GPU or switch (a queue for each virtual channel,
 * credits, the arbiter between the channels) and the wire behind it.
 * Modelled: a queue and flit credits for each VC, packet-granular round robin between VCs,
 * serialization at the flit rate, flight time, credits that return in batches of time one flight later,
 * VC-wise arrival in order, optional bit errors with replay, link down and degraded.
 * Decisions are made when somebody looks, in order and each as of its time. A far end that has nothing to decide when a
 * packet arrives is told as the packet goes on the wire (link_set_early), and what it answers or passes on waits in
 * lanes and the inbox of its own port (link_set_lanes, link_push_coming): neither changes what happens when. Nor does
 * it that a look takes in first what has joined by now, and then makes the decisions, each of what had joined before it
 * (link_settle.h), or that a GPU's own requests wait for the next look (link_push.h).
 * Three knobs trade exactness for speed, exact by default. `train_packets`: two packets of one instruction to one
 * chunk are one packet everywhere, with the flits of both. `commit_ahead_ps`: the arbiter decides that
 * much before the wire is free, on what waits by then; `drain_ps`: an arrival takes along what arrives on the
 * same channel that much later. What is handled early keeps its own time.
 * Left out: training, power states, the flits of the data-link layer (their cost is in the flit rate).
 * Sources: two VCs on access links, credits for each VC: HARDWARE.md 1.3; 23.55 GB/s of flits: h200.
 *
 * Upstream asks link_room() or knows its own bound; the link never refuses link_push(). The sink accepts
 * always: credits guarantee it room, and it gives them back with link_credit(). */
#ifndef MODEL_LINK_LINK_H
#define MODEL_LINK_LINK_H

#include "model/fastpath/inbox.h"
#include "model/link/credit.h"
#include "model/link/packet.h"
#include "model/link/ring.h"
#include "model/shared/probe.h"
#include "sim/engine/sim.h"
#include "sim/param/param.h"
#include "sim/rng.h"
#include "sim/stat.h"

typedef struct {
    guint64 rate_MBps;          /* flits of one direction */
    guint64 flight_ps;          /* port to port */
    guint64 credits_switch_flits; /* buffer of each VC at a switch ingress */
    guint64 credits_gpu_flits;  /* buffer of each VC at a GPU ingress */
    guint64 credit_batch_ps;    /* credits freed within so long travel back together */
    guint64 error_ppb;          /* packets hit by a bit error, per 10^9 */
    guint64 replay_ps;          /* time lost until the packet is sent again */
    guint64 commit_ahead_ps;    /* decisions are made so long before their time; 0: exact */
    guint64 drain_ps;           /* arrivals of one channel are handled together over so long; 0: exact */
    guint64 train_packets;      /* of one instruction that are handled as one; 1: exact */
} LinkSpec;
extern const ParamRow link_params[];

typedef struct Link Link;
typedef struct LinkLog LinkLog;
struct LinkDomain;
typedef void (*LinkSink)(void *node, Link *link, Packet packet, SimTime now_ps);
/* See link_set_early(). */
typedef gboolean (*LinkEarly)(void *node, Link *link, Packet packet, SimTime at_ps);
typedef void (*LinkDrained)(void *node, Link *link, Vc vc); /* a queue fell below its mark */

typedef struct {
    SimTime at_ps;
    guint32 flits;
} LinkReturn;
RING_DEFINE(LinkReturnRing, link_return, LinkReturn)

/* What joins this link's queues at a time known beforehand: see link_set_lanes(). */
typedef struct {
    SimTime at_ps;
    Packet packet;
} LinkReady;
RING_DEFINE(LinkReadyRing, link_ready, LinkReady)
/* Pushes: requests of a GPU's own, each since its time, that wait for somebody to look (link_push.h). */
typedef enum { LINK_LANE_PUSHES, LINK_LANE_REQUESTS, LINK_LANE_TIMERS, LINK_LANE_ANSWERS, LINK_LANES } LinkLane;
/* Serves what a lane of requests or timers holds at at_ps; TRUE: *answer goes into VC_RSP's queue (others may, by
 * link_push()). It may be called later than that. */
typedef gboolean (*LinkServe)(void *node, Link *link, const LinkReady *request, SimTime at_ps, Packet *answer);

#define LINK_WATCHED 1u /* bit errors, or an observer */
#define LINK_LEAVES 2u  /* to another domain */
#define LINK_DRAINS 1u /* drain_ps is not 0 */
#define LINK_FAR 2u    /* the far end is in another domain */
typedef void (*LinkSettle)(Link *link, SimTime now_ps);

/* A virtual channel at its far end. */
typedef struct {
    Event arrive;
} LinkVc;

typedef struct {
    guint64 packets, flits;
} LinkCount;
/* Four to a cache line: reads and writes and their answers, those that switches replicate and reduce, the rest. */
#define LINK_COUNTS 16u
extern const guint8 link_count_at[LINK_COUNTS]; /* by PacketKind */

/* What a look at a port touches lies in few cache lines, since there may be thousands of ports, and lines that one end
 * writes apart from what the other one looks at. */
struct Link {
    SimFine free_at;         /* end of the last serialization */
    SimFine flit_time;
    Sim *sim;
    LinkFreed *ingress;      /* of the sending switch, by port: whose credits departing packets free */
    guint64 queue_peak;      /* packets */
    guint32 logged;          /* the last ones that wait in VC_CREQ's queue are in `log`, */
    guint32 log_next;        /* from there on */
    guint32 ahead_ps;        /* commit_ahead_ps */
    guint8 last_vc;          /* served last: the other one goes first */
    guint8 starved;          /* bit for each VC that lacked credits: the next ones may wake a blocked link */
    guint8 down;
    guint8 someone_waits;    /* drained_below of some channel is set */
    guint8 sending;          /* `send` is pending */
    guint8 blocked;          /* the wire is free, but what waits has no credits (or the link is down) */
    guint8 rare;             /* LINK_WATCHED, LINK_LEAVES: link_wire() looks closer */
    guint8 ready;            /* bit for each VC that something in a lane or the inbox may join */
    guint8 late;             /* in its domain's list of links that decide at the end of a window */
    guint8 mixed;            /* since its lane was empty, requests other than replicas have come into it */
    guint8 serving;          /* something of a lane, at serving_ps */

    LinkRing ring[VCS];

    /* what both ends look at and nothing changes, so that it may lie in the caches of two processors */
    void *source_node, *sink_node;
    LinkEarly early;         /* and the kinds of packets for it, a bit each */
    struct Link *answers;    /* see link_set_answers() */
    LinkSettle settle;       /* link_settle_lanes(), or one that has `serve` in it */
    LinkCredits *credit;     /* the sender's */
    struct LinkDomain *far_domain; /* where the far end is, and the sender is not; NULL: both are in one */
    guint32 slack_ps;        /* a decision may be made later than it was due, but not by so much */
    guint16 early_kinds;
    guint16 sink_port;       /* number of this link at the receiving node */

    SimTime ready_ps;        /* when the first of them joins its queue, as far as known, */
    guint64 ready_order;     /* and its place among what happens at that instant */
    SimTime first_ps[LINK_LANES]; /* of each lane; SIMTIME_NEVER: it is empty */
    SimTime gate_open_ps;    /* when the last answer left a queue that held requests up */
    guint32 gate;            /* answers in the queue that hold requests up */
    guint32 in_time;         /* requests in the lane that must be served when it is time */

    Event send;              /* only where no arrival would bring us back in time: link_settle() */
    Inbox *inbox;            /* packets of many other links that will join */
    guint32 drained_below[VCS];  /* call `drained` when the queue gets shorter than this; 0: never */
    LinkLog *log;            /* see model/fastpath/link_log.h; NULL: none */

    LinkReadyRing lane[LINK_LANES];
    guint64 request_order;   /* of a request among what happens when it arrives */
    LinkServe serve;
    SimTime serving_ps;
    guint32 source_port;     /* number of this link at the sending node */
    guint16 log_gpu;         /* whose packets of the log leave here, */
    guint16 log_member;      /* and which one of those who follow it this is */

    LinkCount count[LINK_COUNTS]; /* by the sender: see link_count() */

    LinkVc vc[VCS];          /* of who receives */
    LinkFreed freed;
    LinkFreed *listed;       /* where switches look for that, or NULL */
    guint32 switch_port;     /* at whichever end is a switch: addressee of letters between domains */
    guint16 odd;             /* LINK_DRAINS, LINK_FAR: link_arrive() looks closer */
    guint16 more;            /* the packet after the one just taken comes along with it: link_goes_on() */

    SimTime retry_ps;        /* blocked: when the first credit comes, as far as known */
    struct LinkDomain *domain; /* where the sender is, and the far end is not */
    LinkReturnRing credit_far[VCS]; /* those of batches out of reach, in order of time */
    LinkDrained drained;
    LinkRing far[VCS] __attribute__((aligned(64))); /* in flight to another domain, whose letters bring them here */
    Sim *far_sim;
    LinkCredits *book;       /* two, for the domain of the far end: one to write, one on its way */
    LinkCredits *own_credit; /* unless they lie together with others' */
    Inbox own_inbox;
    SimTime drain_ps;
    LinkSink sink;
    guint64 error_ppb, replay_ps;
    Probe probe;
    void *probe_user;
    guint64 credit_stalls;   /* times the arbiter found packets but no credits */
    guint64 replays;
    Rng rng;
    char *path;              /* "gpu0.link3.up" */
} __attribute__((aligned(64)));
#define LINK_LINE(member, n) G_STATIC_ASSERT(G_STRUCT_OFFSET(Link, member) == (n) * 64)
LINK_LINE(ring, 1);
LINK_LINE(source_node, 2);
LINK_LINE(ready_ps, 3);
LINK_LINE(send, 4); /* as CALENDAR_FETCH_LINES says */
LINK_LINE(lane, 5);
LINK_LINE(count, 7);
LINK_LINE(vc, 11);
extern const StatRow link_stats[];

/* number: of this link among all, which fixes the order of what happens at one instant. */
void link_init(Link *link, Sim *sim, const LinkSpec *spec, guint64 credit_flits, guint32 number,
               const char *path);
void link_clear(Link *link);
Link *link_array_new(guint32 n); /* zeroed; g_aligned_free */
/* Who takes what arrives, all of it when it arrives. A stage that has own arrival functions (link_arrive) sets them
 * afterwards, and link_set_early(). */
void link_set_sink(Link *link, LinkSink sink, void *node, guint32 port);
/* Hands a packet to the port. not_before_ps: earliest start on the wire (a later crossbar round); 0: now. */
void link_push(Link *link, Packet packet, SimTime not_before_ps);
/* Lanes. Requests that the link's source answers on VC_RSP, known before they arrive, need no event: they are served
 * in order, each when it arrives or, while `gate` answers wait at the port, when one of these has left. So are answers
 * that need some more time, which wait for nothing, and timers (ack_merge.h), which go before all else of their
 * instant. At one instant a request counts as what arrives on request_link's VC_CREQ. in_time: it may not be served
 * later than it is due. It goes before those that come later and are known already. */
void link_set_lanes(Link *link, LinkServe serve, guint32 gate, const Link *request_link);
void link_push_request(Link *link, Packet request, SimTime at_ps, gboolean in_time);
static inline void link_push_timer(Link *link, Packet packet, SimTime at_ps); /* not before the one before it */
/* Something has come into a lane or the inbox that may be the next one, or has to be served when it is due. */
void link_note_more(Link *link, gboolean in_time);
/* Some have come into a lane, the first one of them at at_ps: behind others it changes nothing yet. */
static inline __attribute__((always_inline)) void link_lane_more(Link *link, LinkLane lane, SimTime at_ps)
{
    gboolean first = link->first_ps[lane] == SIMTIME_NEVER;
    if (first)
        link->first_ps[lane] = at_ps;
    if (G_UNLIKELY(first || link->in_time))
        link_note_more(link, link->in_time != 0);
}
static inline __attribute__((always_inline)) void link_push_lane(Link *link, LinkLane lane, Packet packet,
                                                                SimTime at_ps)
{
    *link_ready_push(&link->lane[lane]) = (LinkReady){at_ps, packet};
    link_lane_more(link, lane, at_ps);
}
/* Several, in order of time. */
static inline void link_push_lane_all(Link *link, LinkLane lane, const LinkReady *ready, guint32 n)
{
    link_ready_append(&link->lane[lane], ready, n);
    link_lane_more(link, lane, ready->at_ps);
}
static inline __attribute__((always_inline)) void link_push_behind(Link *link, LinkLane lane, Packet packet,
                                                                  SimTime at_ps)
{
    LinkReadyRing *ring = &link->lane[lane];
    SimTime last_ps = ring->count ? link_ready_nth(ring, ring->count - 1)->at_ps : 0;
    link_push_lane(link, lane, packet, MAX(at_ps, last_ps));
}
static inline void link_push_timer(Link *link, Packet packet, SimTime at_ps)
{
    link_push_behind(link, LINK_LANE_TIMERS, packet, at_ps);
}
/* Replicas on `link` whose member needs no look at their record are told to the lane of requests of `answers`, the
 * member's port back, and to nobody else; NULL: to whom link_set_early() says. */
static inline void link_set_answers(Link *link, Link *answers) { link->answers = answers; }
#define LINK_IN_TIME 0u /* Packet.hold of such a request in its lane */
/* A packet joins its channel's queue at at_ps, as if it were pushed then by what happens on `from`'s channel. */
void link_push_coming(Link *link, Packet packet, SimTime at_ps, const Link *from);
static inline LinkCount *link_count(Link *link, guint32 kind) { return &link->count[link_count_at[kind]]; }
static inline void link_count_packet(Link *link, Packet packet)
{
    LinkCount *count = link_count(link, packet.kind);
    count->packets += packet_count(packet);
    count->flits += packet.flits;
}
/* In its ring, the others are in a log. */
static inline guint32 link_in_ring(const Link *link, unsigned v)
{
    return link->ring[v].waiting - (v == VC_CREQ ? link->logged : 0);
}
static inline void link_count_peak(Link *link, guint32 waiting)
{
    if (G_UNLIKELY(waiting > link->queue_peak))
        link->queue_peak = waiting;
}
static inline gboolean link_waits(const Link *link)
{
    return (link->ring[VC_CREQ].waiting | link->ring[VC_RSP].waiting) != 0;
}
/* To another domain. */
static inline gboolean link_leaves(const Link *link) { return (link->rare & LINK_LEAVES) != 0; }
/* There may be something to decide. */
static inline gboolean link_is_unsettled(const Link *link)
{
    return (link->ring[VC_CREQ].waiting | link->ring[VC_RSP].waiting | link->ready) != 0;
}
/* Packets that wait in a channel's queue at this instant. */
guint32 link_queued(Link *link, Vc vc);
static inline gboolean link_has_room(Link *link, Vc vc, guint64 packets)
{
    guint32 pushed = vc == VC_CREQ ? link->lane[LINK_LANE_PUSHES].count : 0;
    gboolean known = (pushed != 0) | !(link->ready >> vc & 1); /* nobody could predict which */
    gboolean short_now = link->ring[vc].waiting + pushed < packets && known;
    return short_now || link_queued(link, vc) < packets; /* settling only shortens it, but for the other lanes */
}
/* All fixed stages from the end of serialization to arrival. */
void link_set_delay(Link *link, Vc vc, SimTime delay_ps);
/* From now on `drained` is called whenever a packet leaves and the queue is shorter than this; 0: no more. */
void link_set_drained(Link *link, Vc vc, guint32 below);
/* Where the receiver of a link puts what it frees of a channel's buffer: no look at what that end writes, if both are
 * in one domain. */
static inline LinkCredits *link_freed(Link *link, Vc v)
{
    return G_UNLIKELY(link->far_domain != NULL) ? link->freed[v] : link->credit;
}
/* The clock at that end: far_sim, without a look at that line where both ends have one clock. */
static inline Sim *link_far_sim(const Link *link)
{
    return G_UNLIKELY(link->far_domain != NULL) ? link->far_sim : link->sim;
}
void link_set_freed(Link *link, Vc v, LinkCredits *credits);
void link_list_freed(Link *link, LinkFreed *listed); /* from now on there, too */
/* Right after link_init(): its credits are kept in `credit` and `batches` (zeroed), side by side with others'. */
void link_place_credits(Link *link, LinkCredits *credit, LinkBatches *batches);
static inline void link_credit(Link *link, Vc v, guint32 flits, SimTime at_ps)
{
    link_credits_free(link_freed(link, v), v, flits, at_ps);
}
/* What the Events vc[v].arrive of a stage do: take one packet after the other,
 *     do { packet = link_arrive(link, v, &at_ps); ... at at_ps ... } while (link_goes_on(link));
 * mostly one; the next one is scheduled, or else it is due within drain_ps and comes right away. */
void link_settle_now(Link *link, SimTime now_ps); /* every decision up to now; */
void link_see_to(Link *link);                     /* and afterwards: who sees to the next ones */
Packet link_arrive_odd(Link *link, Vc v, SimTime *at_ps);
Packet link_arrive_unsettled(Link *link, Vc v, SimTime now_ps);
static inline gboolean link_goes_on(const Link *link) { return G_UNLIKELY(link->more); }
/* The ring of what arrives. */
static inline LinkRing *link_flight(Link *link, Vc v)
{
    return G_UNLIKELY(link->odd) && link->far_domain ? &link->far[v] : &link->ring[v];
}
static inline gboolean link_flies(Link *link, Vc v)
{
    const LinkRing *ring = link_flight(link, v);
    return ring->wire != ring->head;
}
/* The packet that arrives next. */
static inline Packet link_next(Link *link, Vc v)
{
    const LinkRing *ring = link_flight(link, v);
    return link_slot(ring, ring->head)->packet;
}
static inline __attribute__((always_inline)) Packet link_arrive(Link *link, Vc v, SimTime *at_ps)
{
    LinkRing *ring = &link->ring[v];
    if (G_UNLIKELY(link->odd))
        return link_arrive_odd(link, v, at_ps);
    if (link_is_unsettled(link))
        return link_arrive_unsettled(link, v, *at_ps);
    Packet packet = link_slot(ring, ring->head)->packet;
    if (++ring->head != ring->wire)
        sim_at_key(link->sim, &link->vc[v].arrive, link_due_ps(link_slot(ring, ring->head), *at_ps));
    link_ring_lap(ring, 0);
    return packet;
}
/* A sink that needs no event of its own for packets of these kinds (a bit each): as such a packet goes on the wire, and
 * nothing else of its channel is in flight, `early` is told when it will arrive. TRUE: it has been seen to, arrival
 * and credits. It may depend on nothing that could still change until then. */
void link_set_early(Link *link, LinkEarly early, guint16 kinds);
static inline gboolean link_tell_early(Link *link, Packet packet, SimTime at_ps)
{
    return (link->early_kinds >> packet_kind(packet) & 1) && link->early(link->sink_node, link, packet, at_ps);
}
/* The last of the packets that wait in a channel, which is in no log, holds a place in that ingress buffer. */
static inline void link_hold_last(Link *link, Vc v, guint32 hold)
{
    link_slot(&link->ring[v], link->ring[v].wire + link_in_ring(link, v) - 1)->packet.hold = hold & HOLD_NONE;
}
#define LINK_OF_ARRIVAL(event, v) EVENT_OWNER(event, Link, vc[v].arrive)
void link_on_send(Event *event, SimTime now_ps); /* of Link.send */
/* For model/parallel/mailbox.c: credits from the other domain, in a book that is empty afterwards, or one by one, */
void link_credit_merge(Link *link, Vc vc, LinkCredits *book); /* of one channel */
void link_credit_return(Link *link, Vc vc, guint32 flits, SimTime at_ps);
/* and the end of a window: all decisions up to last_ps. When the next one is due, SIMTIME_NEVER when the link needs
 * no more care. */
SimTime link_close(Link *link, SimTime last_ps);
SimTime link_closed_ps(Link *link); /* the same when these have been made */
void link_set_down(Link *link, gboolean down);
void link_set_errors(Link *link, guint64 error_ppb);
void link_observe(Link *link, Probe probe, void *user); /* NULL: nobody */
guint64 link_credits_flying(const Link *link, Vc vc); /* freed, and not the sender's yet */
/* Idle with all credits at home: what conservation tests ask after a run. */
gboolean link_is_quiet(const Link *link, guint64 credit_flits);
guint64 link_flits_total(const Link *link);
guint64 link_packets_total(const Link *link);
/* NULL or a line about packets that wait for credits here. */
char *link_waiter_text(void *link);

#endif
