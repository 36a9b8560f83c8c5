/* The reduction unit: answers of replicas are counted at the requester's egress port, operands summed.
 *
 * What hardware it stands for: REDUCTIONTSTATE and MULTICASTTSTATE tags, RBCTRLSTORE/MCRSPCTRLSTORE counting at the
 * egress, the reduction buffer and its ALU; CRUMBSTORE_MCTO_ERR and CRUMBSTORE_RTO_ERR, which end a request in progress
 * with an error.
 * Modelled: one answer a member is counted; the last one releases one response; the order of operands and the
 * precision of the sum are knobs. Under a spine (in-network reduction over two levels, which no product documents) a
 * leaf's one answer goes up, which the spine counts, or sums, as one of its own members'; a partial sum is in the type
 * of the data, as an operand is. An answer that was lost is waited for: the time runs once all other members have
 * answered; a slow member is never timed out; a time-out of 0 never comes, and the run gets stuck.
 * Left out: the ALU as a bottleneck (its published rate takes operands as fast as a link brings them).
 * Sources: docs/hardware.md, "Answers and sums" (counting, the ALU's rate), "Time-outs and errors" (names; the times
 * are not published); the unit's use over two levels is assumed. */
#ifndef MODEL_SWITCH_REDUCTION_H
#define MODEL_SWITCH_REDUCTION_H

#include "model/switch/record.h"

/* An answer of a replica arrives at the requester's port. TRUE: it was the last one, and none is lost. */
gboolean reduction_count(Switch *sw, Packet packet, SimTime now_ps);
/* Answers the requester, or the switch above, and ends the record: all answers came, or the time is over. */
void reduction_end(Switch *sw, guint32 record, SimTime now_ps);
/* One of the answers will not come: its replica was lost at at_ps, or the answer itself. Only faults in time make that
 * happen (Fabric.lossy). */
void reduction_lose(Switch *sw, guint32 record, SimTime at_ps);
void reduction_lose_answer(Switch *sw, Packet answer, SimTime at_ps);

#endif
