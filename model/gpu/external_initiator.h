/* An external initiator: a requester that a user brings along, which sits beside one GPU's SMs and shares its ports.
 *
 * It stands for a device model plugged in from outside (sim/engine/tlm_port.h), and reads and writes by address
 * as an SM would: each access is cut into packets at 128 B lines, which take the link that the address hash
 * gives, wait for room at the port, and are answered by the home GPU. Writes to a multicast address are
 * replicated by the switches; reads from one are refused (there is no plain load from all).
 * Left out: a bound on the initiator's outstanding packets beyond its ports' queues; byte order. */
#ifndef MODEL_GPU_EXTERNAL_INITIATOR_H
#define MODEL_GPU_EXTERNAL_INITIATOR_H

#include "model/gpu/gpu.h"
#include "model/memory/address_space.h"

typedef struct ExternalInitiator ExternalInitiator;
/* Called once, when the last answer is there (before external_initiator_access() returns if nothing could be asked);
 * fault: the first that was met. */
typedef void (*ExternalInitiatorDone)(void *user, FaultKind fault);

ExternalInitiator *external_initiator_new(Fabric *fabric, Vas *vas, guint16 gpu);
void external_initiator_free(ExternalInitiator *initiator); /* none of its accesses is under way */

/* Reads or writes [va, va + bytes), bytes > 0. data: what to write, or where to read to (untouched
 * in a timing-only run); valid until done. What lies before a fault is carried out all the same. */
void external_initiator_access(ExternalInitiator *initiator, gboolean write, guint64 va, guint8 *data, guint32 bytes,
                               ExternalInitiatorDone done, void *user);

#endif
