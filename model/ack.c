#include "model/ack.h"

static void ack_on_timer(Event *event, SimTime now_ps)
{
    (void)now_ps;
    ack_flush(EVENT_OWNER(event, AckMerge, timer));
}

void ack_init(AckMerge *ack, Link *link, PacketKind kind, guint32 flits, guint16 src, guint16 dst)
{
    *ack = (AckMerge){.link = link, .kind = (guint8)kind, .flits = (guint8)flits};
    event_init(&ack->timer, ack_on_timer);
    ack->timer.spare = (guint32)src << 16 | dst;
}

void ack_flush(AckMerge *ack)
{
    if (ack->count == 0)
        return;
    sim_cancel(ack->link->sim, &ack->timer);
    guint32 ends = ack->timer.spare;
    Packet packet = {.txn = ack->head, .src = (guint16)(ends >> 16), .dst = (guint16)ends, .kind = ack->kind,
                     .flits = ack->flits, .hold = HOLD_NONE};
    ack->count = 0;
    ack->head = 0;
    link_push(ack->link, packet, 0);
}

void ack_add(AckMerge *ack, guint32 txn, guint32 *next, guint64 merge_max, SimTime timer_ps)
{
    *next = ack->head;
    ack->head = txn;
    ack->count++;
    if (ack->count >= merge_max)
        ack_flush(ack);
    else if (ack->count == 1)
        sim_after(ack->link->sim, &ack->timer, timer_ps, EVENT_PRIORITY_FABRIC);
}
