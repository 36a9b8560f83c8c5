/* Queues that flows know nothing of: what the simulations of model/flow/egress_share.h and model/flow/load_rate.h say
 * of a loop's stores and loads, and what model/flow/head_of_line.h says of full links down, for loop_flow.c. */
#ifndef DEVICE_FLOW_QUEUE_SHARE_H
#define DEVICE_FLOW_QUEUE_SHARE_H

#include "device/flow/cost.h"
#include "model/flow/egress_share.h"
#include "model/flow/rates.h"

/* Of a link's flits, what packets reach at full load: the hash loads links unevenly for a while,
 * and queues run empty. Calibrated against packet fidelity on all_gather and reduce_scatter
 * (docs/performance.md). */
#define FLOW_LINK_PER_MILLE 994u

/* A FlowShare; user: the Fabric. */
guint32 device_queue_share(guint32 resource, guint32 flows, guint32 issue_ps, guint32 kind, gpointer user);
/* What a GPU's stores get now of its ports, beside requests of loads if there are any. */
PortShare device_queue_port(const Gpu *gpu);
/* Some of its loops store to others, and some load from them. */
static inline gboolean device_queue_meets(const Gpu *gpu) { return gpu->flows.asking && gpu->flows.storing; }
/* How requests of its loads get to the ports, a number of model/flow/egress_share.h; *ask_ps: the LSU's time of one, 0:
 * it does not load from others, or it stores to them, too. */
guint32 device_queue_asks(const FoCta *cta, const DeviceCost *cost, const LoopSpec *spec, guint32 *ask_ps);
/* After each solving: what packets beside flows, and fences, wait for; when shares change by themselves. */
SimTime device_queue_solved(gpointer user);
/* SMs that the CTA's launch takes. */
guint32 device_queue_sms(const FoCta *cta);
/* The weight of a loop that loads from others, where these hold it up. */
guint32 device_queue_weight(const FoCta *cta, const DeviceCost *cost, const LoopSpec *spec);
/* LSU time between two of a loop's packets for the links. */
guint64 device_queue_ps(const DeviceCost *cost);
/* How its stores get to the ports: a number of model/flow/egress_share.h; 0 if they do not. */
guint32 device_queue_kind(const FoCta *cta, const DeviceCost *cost, const LoopSpec *spec);
/* Its lines as work: CTAs that store are not equally fast. */
guint64 device_queue_work(const FoCta *cta, const DeviceCost *cost, guint32 kind, guint64 lines);
/* Of its work, what finds room in the queues before the ports when all of the launch store as fast as they can. */
guint64 device_queue_room(const FoCta *cta, const DeviceCost *cost, guint32 kind);
/* Lines a second that its GPU's ports can send. */
guint64 device_queue_ports(const DeviceCost *cost);
/* Its class, for so many lines. *limit: lines a second of one CTA; less if its warps' loads wait for each other. */
FlowClass *device_queue_class(const FoCta *cta, const DeviceCost *cost, const LoopSpec *spec, guint64 *limit,
                              guint32 kind, guint64 lines);

#endif
