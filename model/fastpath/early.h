/* Who is told as a packet goes on the wire to it (link_set_early), and needs no event when it arrives: what GPUs and
 * switches do then, inline, for the ports at the other end make it one with their own loops (link_settle.h). */
#ifndef MODEL_FASTPATH_EARLY_H
#define MODEL_FASTPATH_EARLY_H

#include "model/fabric/fabric.h"
#include "model/fastpath/link_settle.h"

/* An answer of a record that is not odd is counted, on its way; the last one of all needs an event. */
static ALWAYS_INLINE void switch_count_record(Switch *sw, McRecord *record, const Link *from, Packet packet,
                                              SimTime at_ps)
{
    guint64 last = RECORD_LAST(at_ps, from->sink_port);
    record->last = (gint64)(last - record->last) > 0 ? last : record->last;
    record->what -= RECORD_ONE(count);
    if (record->count == 0)
        reduction_end_later(sw, packet.txn);
}

/* An answer that is only counted needs no event, but for the last one. far: it comes from another domain, whose queue
 * is not to be looked at. */
static ALWAYS_INLINE gboolean switch_count_here(Switch *sw, Link *from, Packet packet, SimTime at_ps, gboolean far)
{
    McRecord *record = &sw->record[packet.txn];
    if (!far && from->ring[VC_RSP].waiting) {
        const LinkRing *ring = &from->ring[VC_RSP]; /* what the next one needs */
        __builtin_prefetch(&sw->record[link_slot(ring, ring->wire + 1)->packet.txn], 1);
    }
    if (record->odd)
        return FALSE;
    link_credit(from, VC_RSP, packet.flits, at_ps);
    switch_count_record(sw, record, from, packet, at_ps);
    return TRUE;
}
/* switch_early.c: the same, where it is rare. */
gboolean switch_count_early(Switch *sw, Link *from, Packet packet, SimTime at_ps);

/* A packet for one GPU goes to its egress, which takes it in when it is time; but a request behind others that wait, or
 * while a replication goes on, has to wait itself. A LinkEarly, as the next one. */
static ALWAYS_INLINE gboolean switch_early_here(void *node, Link *from, Packet packet, SimTime at_ps)
{
    const SwitchPort *port = node;
    if (packet_is_counted(packet))
        return switch_count_early(port->sw, from, packet, at_ps);
    gboolean request = packet_vc(&packet) == VC_CREQ, held = (port->wait.count != 0) | (port->busy_until_ps > at_ps);
    if (G_UNLIKELY(request & held))
        return FALSE;
    guint32 to = packet_target(packet, request); /* nobody could predict whose it is */
    packet.bits = (packet.bits & ~(HOLD_NONE * PACKET_ONE(hold))) | from->sink_port * PACKET_ONE(hold);
    guint32 at = to * port->step;
    link_push_coming_here(port->route[at], &port->inbox[at], packet, at_ps, from, !request);
    return TRUE;
}

/* What depends on nothing but the port makes no event when it arrives: replicas, and loads and stores of memory in L2
 * that move no bytes. */
static ALWAYS_INLINE gboolean gpu_early_here(G_GNUC_UNUSED void *node, Link *from, Packet packet, SimTime at_ps)
{
    gboolean plain = packet.kind < PACKET_MC_WRITE ? packet.plain : replica_answer(packet) != REPLICA_BY_RECORD;
    if (!plain)
        return FALSE;
    from->answers->mixed |= packet.kind < PACKET_MC_WRITE;
    link_push_lane(from->answers, LINK_LANE_REQUESTS, packet_unheld(packet), at_ps); /* not LINK_IN_TIME */
    return TRUE;
}

#endif
