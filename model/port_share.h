/* What the SMs of one GPU get through its ports when all of them store as fast as they can.
 *
 * A packet goes to the link of its address's hash, and an SM whose packet finds that port's queue full
 * waits for it with all that stands behind. So some ports run dry while others have SMs waiting: links
 * of a GPU that stores are never all busy, the less so the fewer SMs store and the longer each takes
 * to issue. Flows (model/flow.h) know nothing of queues; this tells them.
 *
 * Found by playing that one stage: SMs, hash and port queues as in gpu.c and sm.c, links that never
 * wait for credits. Some ten thousand packets, a fraction of a millisecond. */
#ifndef MODEL_PORT_SHARE_H
#define MODEL_PORT_SHARE_H

#include "model/fabric.h"

typedef struct {
    guint32 busy_per_mille;   /* of the links' time, once in the steady state */
    guint32 spread_per_mille; /* standard deviation of SMs' packets, over the square root of their number */
} PortShare;

/* Remembers what it was asked before. */
typedef struct PortShares PortShares;
PortShares *port_shares_new(const Fabric *fabric);
void port_shares_free(PortShares *shares);
/* sms: that store, 1 or more; issue_ps: LSU time of one store's packet, with the loads that go with it
 * (in steps of PORT_ISSUE_STEP_PS); strided: the SMs take turns of 8 KiB of one array, else each has an
 * array of its own; copies: so many GPUs get each 8 KiB, one after the other, by the same links (their memory
 * is laid out alike). */
PortShare port_share(PortShares *shares, guint32 sms, guint64 issue_ps, gboolean strided, guint32 copies);
#define PORT_ISSUE_STEP_PS 500u

#endif
