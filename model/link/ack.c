#include "model/link/ack.h"

static Packet ack_close(AckMerge *ack, Packet as)
{
    as.txn = ack->head;
    ack->held = 0;
    return as;
}

void ack_add(AckMerge *ack, Link *link, Packet as, guint32 txn, guint32 *next, guint64 merge_max, SimTime timer_ps,
             SimTime at_ps)
{
    link_advance(link, at_ps); /* a timer that is over by now comes first */
    const gboolean first = ack->held == 0;
    if (!first)
        *next = ack->head;
    ack->head = txn;
    ack->held++;
    if (ack->held >= merge_max) {
        link_push(link, ack_close(ack, as), 0);
    } else if (first) {
        ack->due_ps = at_ps + timer_ps;
        link_add_timer(link, as, ack->due_ps);
    }
}

void ack_flush(AckMerge *ack, Link *link, Packet as)
{
    link_advance(link, sim_now_ps(link->sim));
    if (ack->held)
        link_push(link, ack_close(ack, as), 0);
}

gboolean ack_expire(AckMerge *ack, Packet as, SimTime at_ps, Packet *answer)
{
    if (ack->held == 0 || ack->due_ps > at_ps)
        return FALSE;
    *answer = ack_close(ack, as);
    return TRUE;
}
