/* Multicast tracking: what a switch keeps of a multicast request from its replication to its last answer.
 *
 * What hardware it stands for: an entry of CRUMBSTORE, which a tag of the requester's port names.
 * Modelled: a record for each tag; under a spine, the record of a replica that the spine sent stands for a part of the
 * spine's. Left out: how the store is laid out. Sources: docs/hardware.md, "Answers and sums". */
#ifndef MODEL_SWITCH_RECORD_H
#define MODEL_SWITCH_RECORD_H

#include "model/switch/switch.h"

/* What its tag stands for. What the members need to know of it stands in the shared table under the same number
 * (multicast_request.h). */
struct McRecord {
    SimTime last_ps;   /* the fast engine's: the latest arrival of those answers that are known ahead, (where packets
                          * may be lost: the latest answer or loss) */
    guint16 last_port; /* and its port, which fixes the order within the instant */
    guint16 port;      /* by which the request came, and its answer goes */
    guint32 txn;       /* of the requester; of a partial record: the record of the switch above */
    guint16 members;   /* 0: the record is free */
    guint16 count;     /* answers still to come; not those that were lost */
    guint8 answer_flits;
    guint8 read;          /* ld_reduce */
    guint8 detailed;      /* there is an entry in the shared table */
    guint8 by_event;      /* answers arrive by events, since they bring data */
    guint8 partial;       /* of a replica that a spine sent: its answer is one of those that the spine counts */
    guint8 link;          /* of the requester, by which it asks */
    guint16 src;          /* requester */
    guint16 spine_member; /* partial: the member that stands for this switch in the spine's entry */
};

/* Bytes of a port's reduction buffer that an ld_reduce of so many members takes. */
static inline guint64 record_buffer_bytes(const Switch *sw, guint32 members)
{
    return (guint64)(sw->spec->reduction_hold == REDUCE_HOLD ? members : 1) * LINE_BYTES;
}
/* Opens a record for a request that came in at port p and has its tag; returns its replicas, but for the member that
 * each goes to. */
Packet record_open(Switch *sw, guint32 p, Packet packet, const McEntry *entry);
/* Gives back the record, its tag and its buffer; a request that waited for them goes on. */
void record_close(Switch *sw, guint32 record, SimTime now_ps);

#endif
