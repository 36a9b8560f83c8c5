/* What flows of one SM share: its LSU, and its way to the ports; for loop_flow.c. Internal. */
#ifndef DEVICE_FLOW_SM_SHARE_H
#define DEVICE_FLOW_SM_SHARE_H

#include "model/fabric/fabric.h"
#include "model/flow/rates.h"
#include "model/sm/sm.h"

/* A loop of a CTA. */
typedef struct DeviceFlow {
    FlowItem item;
    guint32 sms;              /* that its launch takes */
    guint32 kind, issue_ps;   /* of its stores, for model/flow/egress_share.h; issue_ps 0: they do not leave the GPU */
    guint32 ask_kind, ask_ps; /* likewise of requests of loads, when nothing else leaves the GPU */
    Event event;
    GList alive; /* in Fabric.flows */
    Fabric *fabric;
    Warp *warp;
    FlowClass *class;       /* when it has its SM for itself, */
    guint64 limit, line_ps; /* with that limit, and its lines' time of the LSU; */
    FlowClass *piece;       /* of one loop of several in a row, of so many lines, limit and number */
    guint64 piece_lines, piece_limit, pieces;
    guint64 ports;                       /* lines a second that all of the GPU's ports can send, once it is issued */
    struct DeviceFlow *sm_next, *behind; /* behind: of the same warps, issued while this one still waits for ports */
    guint64 lines, work, tag;
    guint64 room;             /* work that finds room before the ports: its warps go on when no more is left */
    SimTime begin_ps;         /* since when it issues: */
    guint64 lsu;              /* so many lines a second, while there is room; */
    guint64 waiting, left_at; /* what was issued and not sent, and what was left of its work, at that time */
    SimTime at_ps;
    gboolean drains;              /* ports have room: what waits goes as fast as they can */
    SimTime turned_ps;            /* when that was last found otherwise */
    Event issued;                 /* its LSU is through with it, */
    SimTime gap_ps;               /* and its warps may go on so much later */
    gboolean reached;             /* a warp has come to it */
    gboolean under_way, released; /* it is served; its warps went on */
    SimTime head_ps, tail_ps;     /* before the first line, behind the last one */
    guint32 left, warps;          /* warps that went on, of so many */
    gboolean over;                /* the last store is performed */
    GArray *charges;
    Reg reg[]; /* by warp: pending until all is issued */
} DeviceFlow;

/* It stores from now on, or no more; it is one of its SM's, or no more: then device_sm_adjust. */
void device_sm_store(const DeviceFlow *flow, gboolean begins);
void device_sm_enter(DeviceFlow *flow);
void device_sm_leave(DeviceFlow *flow);
/* Limits and weights of the flows of all SMs that share this one's queue; of all of the GPU's, when others of its
 * queues have something to send than before. */
void device_sm_adjust(const Sm *sm);
/* Its work begins to be done. */
void device_sm_serve(DeviceFlow *flow);
/* What is still to be issued takes its LSU so long, if there is room. */
SimTime device_sm_issue_ps(const DeviceFlow *flow);
/* When rates were solved: who is served faster than its LSU issues. When to look at it again. */
SimTime device_sm_solved(Gpu *gpu);
/* The flow of the same warps that still waits for ports; NULL: there is none. */
DeviceFlow *device_sm_before(const DeviceFlow *flow);

/* What a packet beside a GPU's flows would wait for its port now; and what it takes until all is performed that its
 * flows have issued so far, 0: all that was is known to the warps that wait (warp_begin_store). */
SimTime device_sm_packet_ps(const Gpu *gpu);
SimTime device_sm_stored_ps(const Gpu *gpu);

#endif
