#include "model/link/ack_merge.h"

void ack_add(AckMerge *ack, Packet as, Link *link, Packet request, guint32 *next, guint64 merge_max, SimTime timer_ps,
             SimTime at_ps)
{
    ack_settle(link);
    gboolean first = ack->held == 0;
    if (!first) /* else the chain ends with TXN_NONE, as it has since it was made, and nobody needs to look */
        *next = ack_head(ack);
    ack->held += packet_count(request) * ACK_ONE + request.txn - ack_head(ack);
    if (ack->held / ACK_ONE >= merge_max) {
        link_push(link, ack_close(ack, as, request.train && merge_max == 1), 0);
    } else if (first) {
        ack->due = (guint32)(at_ps + timer_ps);
        link_push_timer(link, as, at_ps + timer_ps);
    }
}
