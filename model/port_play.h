/* One play of stores through the ports: see port_share.h. */
#ifndef MODEL_PORT_PLAY_H
#define MODEL_PORT_PLAY_H

#include "model/port_share.h"

typedef struct {
    guint32 sms;
    guint64 issue_ps; /* what an LSU takes for a packet */
    const PortKind *kind;
} PortPlayed;
/* So many SMs of a GPU store, and load if `loads` has any: in equal parts of all queues then. */
PortShare port_play(const Fabric *fabric, const PortPlayed *stores, const PortPlayed *loads);

#endif
