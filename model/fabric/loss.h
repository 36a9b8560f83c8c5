/* Lost packets: what a dead link sends into nothing, and what a silent GPU does not answer.
 *
 * What hardware it stands for: the time-outs that end a request whose answer does not come: of a requester (ATO_ERR, of
 * its tracking state TSTATE), and of the multicast and reduction units of a switch (CRUMBSTORE_MCTO_ERR,
 * CRUMBSTORE_RTO_ERR).
 * Modelled: a lost request, or a lost answer to its requester, ends the request request_timeout_ps later with an error;
 * a lost replica, or its lost answer, is missing at the switch that counts (model/switch/timeout.c). A time-out of 0
 * never comes: the run gets stuck, and says which link or GPU lost what.
 * Left out: retries (a GPU's context does not survive such an error).
 * Sources: names: docs/hardware.md, "Time-outs and errors". */
#ifndef MODEL_FABRIC_LOSS_H
#define MODEL_FABRIC_LOSS_H

#include "model/fabric/fault_plan.h"

/* Every link of a fabric that may lose packets is given a way to lose them. The plan keeps what they need. */
void loss_open(Fabric *fabric);
void loss_close(Fabric *fabric);

#endif
