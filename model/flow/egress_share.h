/* What the SMs of one GPU get through its ports when all of them store as fast as they can.
 *
 * A packet goes to the link of its address's hash. When that port's queue is full it waits in a queue between SMs and
 * ports (model/sm/egress_queue.c), with all that stands behind it whichever port that is for, until no more room is
 * left there and SMs stand still. So some ports run dry while packets for them wait elsewhere: links of a GPU that
 * stores are never all busy, and SMs that could just fill them do not. Flows (rates.h) know nothing of queues;
 * this tells them.
 *
 * Requests of loads take the same way, in turns with stores; when links back are full of their answers, all room before
 * these fills up, and stores wait behind requests.
 *
 * Found by playing that one stage: SMs, hash, queues and ports as in model/sm/sm.c, model/sm/egress_queue.c and
 * model/gpu/requester.c, links that never wait for credits but for answers. Some ten thousand packets, milliseconds of
 * computing; with loads ten times that. */
#ifndef MODEL_FLOW_EGRESS_SHARE_H
#define MODEL_FLOW_EGRESS_SHARE_H

#include "model/sm/sm.h"

/* How the SMs store. All of it counts as the same or as something else: no holes between the members. */
typedef struct {
    guint32 link_ps;   /* of a packet on its link, */
    guint32 packet_ps; /* and in the switch, if that takes longer: there so many wait before the link does */
    guint32 behind;
    guint32 warps;     /* of a CTA: they take turns, */
    guint32 unroll;    /* each with so many stores of 512 B, a CTA's turn apart; */
    guint32 copies;    /* and the same for so many GPUs one after the other, by the same links (their memory is laid out
                        * alike) */
    guint32 cluster;   /* so many CTAs each in one GPC; 0: none */
    guint32 strided;   /* the CTAs take turns in one array, else each has an array of its own */
    guint32 answer_ps; /* of loads: of an answer on the way back, */
    guint32 window;    /* and how many an SM has under way at most */
} PortKind;

typedef struct {
    guint32 per_mille; /* of what SMs or links could do, whichever is less: 1 to 1000, once in the steady state */
    guint32 queues_per_mille; /* standard deviation of an SM's packets, over the square root of their number, among
                               * queues that equally many SMs share, */
    guint32 spread_per_mille; /* and among SMs of one queue */
    guint64 wait_ps;          /* from a packet's issue to its link, in the mean, */
    guint64 worst_ps;         /* and what the last of those that wait at an instant still has to wait */
    guint32 loads_per_mille;  /* packets of an SM that loads over those of one that stores */
} PortShare;

/* SMs that do the same. */
typedef struct {
    guint32 sms, issue_ps, kind; /* issue_ps: LSU time of a packet; kind: a number of port_kind() */
} PortSide;

/* Remembers what it was asked before. */
typedef struct PortShares PortShares;
PortShares *port_shares_new(const Fabric *fabric);
void port_shares_free(PortShares *shares);
guint32 port_kind(PortShares *shares, const PortKind *kind); /* its number */
const PortKind *port_kind_of(const PortShares *shares, guint32 kind);
/* sms: that store, 1 or more; issue_ps: LSU time of one store's packet, with the loads that go with it (in steps of
 * PORT_ISSUE_STEP_PS). */
PortShare port_share(PortShares *shares, guint32 sms, guint64 issue_ps, guint32 kind);
/* What so many SMs get of the links' time, in millionths; all of it: it is not the ports that hold them up. */
guint32 port_share_links(PortShares *shares, guint32 sms, guint64 issue_ps, guint32 kind);
#define PORT_ALL 1000000u
/* What some SMs' stores and others' requests of loads get together, as many through each queue; per_mille is of the
 * links' time. */
PortShare port_share_mixed(PortShares *shares, const PortSide *stores, const PortSide *loads);
#define PORT_ISSUE_STEP_PS 500u

#endif
