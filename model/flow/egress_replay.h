/* One simulation of stores through the ports: see egress_share.h. */
#ifndef MODEL_FLOW_EGRESS_REPLAY_H
#define MODEL_FLOW_EGRESS_REPLAY_H

#include "model/flow/egress_share.h"

typedef struct {
    guint32 sms;
    guint64 issue_ps; /* what an LSU takes for a packet */
    const PortKind *kind;
} PortReplayed;
/* So many SMs of a GPU store, and load if `loads` has any: in equal parts of all queues then. */
PortShare port_play(const Fabric *fabric, const PortReplayed *stores, const PortReplayed *loads);

#endif
