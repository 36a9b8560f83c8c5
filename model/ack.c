#include "model/ack.h"

void ack_init(AckMerge *ack, PacketKind kind, guint32 flits, guint16 src, guint16 dst)
{
    *ack = (AckMerge){.kind = (guint8)kind, .flits = (guint8)flits, .src = src, .dst = dst};
}

static inline Packet ack_packet(const AckMerge *ack)
{
    return packet_new((PacketKind)ack->kind, ack->head, 0, ack->src, ack->dst, ack->flits);
}

/* Timers that are over by now come before what happens now. */
static inline void ack_settle(Link *link)
{
    if (link->ready && !link->serving)
        link_settle_now(link, sim_now_ps(link->sim));
}

static inline void ack_send(AckMerge *ack, Link *link, gboolean train)
{
    Packet packet = ack_packet(ack);
    if (G_UNLIKELY(train)) {
        packet.train = 1;
        packet.flits = (packet.flits * 2u) & 0x1fu;
    }
    ack->count = 0;
    ack->head = 0;
    link_push(link, packet, 0);
}

void ack_flush(AckMerge *ack, Link *link)
{
    ack_settle(link);
    if (ack->count != 0)
        ack_send(ack, link, FALSE);
}

void ack_add(AckMerge *ack, Link *link, Packet request, guint32 *next, guint64 merge_max, SimTime timer_ps,
             SimTime at_ps)
{
    ack_settle(link);
    if (ack->head) /* nothing follows the first one */
        *next = ack->head;
    gboolean first = ack->count == 0;
    ack->head = request.txn;
    ack->count += packet_count(request);
    if (ack->count >= merge_max) {
        ack_send(ack, link, request.train && merge_max == 1);
    } else if (first) {
        ack->due = (guint32)(at_ps + timer_ps);
        link_push_timer(link, ack_packet(ack), at_ps + timer_ps);
    }
}

/* Timers are not taken back: one whose writes have been answered finds others, or none. A timer is late where one that
 * ends later was told of before it (links that decide ahead). */
void ack_expire(AckMerge *ack, Link *link, SimTime at_ps)
{
    if ((gint32)((guint32)at_ps - ack->due) >= 0) /* timers are 10 us at most */
        ack_flush(ack, link);
}
