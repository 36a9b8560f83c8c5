/* One play of stores through the ports: see port_share.h. */
#ifndef MODEL_PORT_PLAY_H
#define MODEL_PORT_PLAY_H

#include "model/port_share.h"

/* So many SMs of a GPU store, an LSU taking issue_ps for a packet. */
PortShare port_play(const Fabric *fabric, guint32 sms, guint64 issue_ps, const PortKind *kind);

#endif
