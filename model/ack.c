#include "model/ack.h"

void ack_init(AckMerge *ack, PacketKind kind, guint32 flits, guint16 src, guint16 dst)
{
    *ack = (AckMerge){.packet = packet_new(kind, 0, 0, src, dst, flits)};
}

void ack_flush(AckMerge *ack, Link *link)
{
    ack_settle(link);
    if (ack->count != 0)
        link_push(link, ack_close(ack, FALSE), 0);
}

void ack_add(AckMerge *ack, Link *link, Packet request, guint32 *next, guint64 merge_max, SimTime timer_ps,
             SimTime at_ps)
{
    Packet packet;
    ack_settle(link);
    if (ack_take(ack, link, request, next, merge_max, timer_ps, at_ps, &packet))
        link_push(link, packet, 0);
}
