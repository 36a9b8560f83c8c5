/* Which GPUs' ports stand still because a link down is full.
 *
 * Packets for a GPU whose links down are full wait in the switch, in the buffers behind the links up that they came by,
 * and these are their sender's, whatever they are for: when all of them wait there for a full link, whatever the sender
 * has for others waits behind them, in its ports and in the queues before them (first in, first out). So for a while
 * GPUs send more than links down take; then one that stores to several others is as slow as the slowest of these,
 * while max-min fair rates would give the others what that one leaves.
 *
 * Modelled: how much waits of each sender for each receiver; a link down serves who came first, so those that wait as
 * they are many there; a sender has as much under way and waiting as the buffers take. Acknowledgements take turns with
 * what is sent: the fewer, the faster a GPU's packets for another follow each other. Left out: that links of one GPU
 * differ; multicast stores, which all links down have alike; links down that also bring what was loaded. */
#ifndef MODEL_FLOW_HEAD_OF_LINE_H
#define MODEL_FLOW_HEAD_OF_LINE_H

#include "model/sm/sm.h"

typedef struct PortHolds PortHolds;
PortHolds *port_holds_new(const Fabric *fabric);
void port_holds_free(PortHolds *holds);

/* From now on, in flits a second: first nothing, then what one GPU sends to another, packets that take a link so long
 * and are answered by so many flits at least. */
void port_holds_begin(PortHolds *holds, SimTime now_ps);
void port_holds_send(PortHolds *holds, guint32 from, guint32 to, guint64 flits, guint32 packet_ps, guint64 acks);
/* When what GPUs may send changes by itself; SIMTIME_NEVER: not before the next port_holds_begin. */
SimTime port_holds_end(PortHolds *holds);

/* What a GPU's stores get of its links up, in millionths, if they would get `most` alone: less by acknowledgements of
 * what it is sent, and if links down hold it up. */
guint32 port_holds_share(PortHolds *holds, guint32 gpu, guint32 most, SimTime now_ps);
#define PORT_FREE 1000000u
/* How long what a GPU sends waits in the switch at most, as of port_holds_end. */
SimTime port_holds_wait_ps(const PortHolds *holds, guint32 gpu);
/* Whether its ports stand still for others' full links: its buffers in the switches are full. */
gboolean port_holds_full(const PortHolds *holds, guint32 gpu);
/* How many writes, in thousandths, one acknowledgement answers when they come so long after each other. */
guint64 port_acks_merged(const FabricSpec *spec, SimTime every_ps);

#endif
