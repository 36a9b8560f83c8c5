#include "model/ack.h"

void ack_flush(AckMerge *ack, Packet as, Link *link)
{
    ack_settle(link);
    if (ack->held != 0)
        link_push(link, ack_close(ack, as, FALSE), 0);
}

void ack_add(AckMerge *ack, Packet as, Link *link, Packet request, guint32 *next, guint64 merge_max, SimTime timer_ps,
             SimTime at_ps)
{
    Packet packet;
    ack_settle(link);
    if (ack->held != 0)
        *next = ack_head(ack);
    if (ack_take(ack, as, link, request, merge_max, timer_ps, at_ps, &packet))
        link_push(link, packet, 0);
}
