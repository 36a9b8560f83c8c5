/* What a line of a bulk loop costs as a flow: see loop_flow.c. Internal to these two files. */
#ifndef DEVICE_FLOW_COST_H
#define DEVICE_FLOW_COST_H

#include "device/device.h"
#include "model/flow/issue_rate.h"
#include "model/gpu/hbm.h"

/* Resources of each GPU; OUT: its up links, as far as its own SMs' stores get there (model/flow/egress_share.h);
 * INGRESS: the switch ports behind its up links, which a replication holds for rounds. */
enum { FLOW_UP, FLOW_OUT, FLOW_DOWN, FLOW_INGRESS, FLOW_L2, FLOW_HBM, FLOW_RESOURCES };

/* What a loop does to links, for their statistics: thousandths a line. */
typedef struct {
    guint16 gpu;
    guint8 down, kind;
    guint32 packets, flits;
} DeviceCharge;

/* While a loop is looked at. */
typedef struct {
    const Fabric *fabric;
    FoCta *cta;
    guint32 gpu;     /* that runs it */
    guint64 *amount; /* by resource */
    guint64 *rides;  /* likewise, what is not held up there: acknowledgements */
    GArray *charges;
    guint64 packets, flits; /* of one stream: thousandths of data packets and of their data flits a line */
    gboolean partial, remote_loads, multicast_stores;
    guint64 ahead_flits; /* thousandths: what a line's ld_reduce takes of up links more than of down
                            links */
    guint32 loads, stores, local_stores;
    guint32 targets, peers, own_loads, own_stores; /* unicast accesses of an element: stores to others, loads from them,
                                                    * loads and stores of the own memory */
    guint32 remote_stores;                         /* thousandths of packets that queue at this GPU's ports, */
    guint64 ingress_ps;                            /* of a stored packet at the switch's port */
    guint64 out_flits;                             /* and of their flits */
    IssueLoop *loop_steps;                         /* its steps */
    SimTime head_ps, tail_ps;
    guint64 room_lines;    /* a second, of the launch */
    guint64 hbm[HBM_WAYS]; /* thousandths of bytes of HBM: of this GPU, if the others run the same loop */
    guint32 warp_packets;  /* of one instruction of a warp */
    guint32 missed_lines;  /* of HBM that an element's loads of a warp ask for, */
    guint32 missed_parts;  /* that a packet's answer waits for, */
    guint32 missed_loads;  /* and in how many instructions, */
    SimTime missed_ps;     /* what the farthest of them takes if it is not late; 0: no load misses, */
    SimTime answer_ps;     /* the head if nothing is late, */
    SimTime packet_ps;     /* and a packet in the mean; 0: as the head (device_cost_hbm) */
    SimTime away_ps;       /* to its first store to others: device_cost_limit */
} DeviceCost;

/* Adds what a part of the loop costs; FALSE: flows do not have it. */
gboolean device_cost_part(DeviceCost *cost, const LoopSpec *spec, const LoopPart *part);
/* Once all parts are added: HBM's turns take their time, and its loads that miss are late. */
void device_cost_hbm(DeviceCost *cost, const LoopSpec *spec, guint64 lines);
/* From the memory instruction before this step, or of the turn before, to the next one. */
SimTime device_cost_gap_ps(const DeviceCost *cost, guint32 step);
/* LSU time of a line. */
guint64 device_cost_issue_ps(const DeviceCost *cost);
/* Lines a second that one CTA can do alone, when it has so many. */
guint64 device_cost_limit(DeviceCost *cost, const LoopSpec *spec, guint64 lines);
/* Once that is known: time from its first answers to its first store to others. */
SimTime device_cost_lead_ps(const DeviceCost *cost);
/* Time that is lost while sums are pulled ahead of their stores. */
SimTime device_cost_ahead_ps(const DeviceCost *cost, guint64 lines);

#endif
