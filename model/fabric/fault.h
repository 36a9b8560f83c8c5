/* Faults: parts of the fabric that are broken from the start of a run.
 *
 * What hardware it stands for: links that did not train or lost lanes, a switch that is off, a GPU that hangs,
 * and the switches' multicast and reduction time-outs (CRUMBSTORE_MCTO_ERR, CRUMBSTORE_RTO_ERR).
 * Modelled: links down in both directions, links at a part of their rate, a switch down (all its links
 * are), silent GPUs, whose requests vanish. What then happens:
 * - unicast: chunks whose hash picks a lost link are spread over the links that both GPUs still have
 *   to the same switch port; the others stay where they were;
 * - multicast: a link number that any member has lost carries nothing of that team (its spray group is
 *   dropped), so that copies and operands still meet in one switch;
 * - a silent member: once all others have answered, the request ends with an error when its time is over;
 *   without a time-out (0) the run gets stuck and says which units wait. A slow member is never timed out.
 * Left out: parts that break or recover during a run, Fabric Manager's reaction.
 * Sources: error names HARDWARE.md 2.4; the times are not published. */
#ifndef MODEL_FABRIC_FAULT_H
#define MODEL_FABRIC_FAULT_H

#include "model/shared/spec.h"



struct Fabric;
/* Breaks what the spec says; called while the fabric is built. GError: a name that the system has not, or two
 * GPUs left without a common link. */
gboolean fault_apply(struct Fabric *fabric, GError **error);

/* Whether link l of a GPU, wired to switch `sw`, is down by what the spec names. */
gboolean fault_takes_link(const FaultSpec *spec, guint32 gpu, guint32 l, guint32 sw);

/* Both directions of a GPU's link are down, and no chunk is sent by it. */
void fault_lose_link(struct Fabric *fabric, guint32 gpu, guint32 link);

#endif
