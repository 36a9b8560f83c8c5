/* What a switch needs no event for: it is told as a packet goes on the wire to it (link_set_early). */
#include "model/early.h"

gboolean switch_early(void *node, Link *from, Packet packet, SimTime at_ps)
{
    return switch_early_here(node, from, packet, at_ps);
}

/* A LinkSettle: the GPUs are told. */
void switch_settle(Link *out, SimTime now_ps)
{
    if (!out->serving)
        link_settle_inbox_by(out, switch_on_timer, gpu_early_here, now_ps);
}

/* An answer that is only counted needs no event, but for the last one. */
gboolean switch_count_early(Switch *sw, Link *from, Packet packet, SimTime at_ps)
{
    McRecord *record = &sw->record[packet.txn];
    if (!from->domain && from->ring[VC_RSP].waiting) { /* another domain's queue is not to be looked at */
        const LinkRing *ring = &from->ring[VC_RSP]; /* what the next one needs */
        __builtin_prefetch(&sw->record[link_slot(ring, ring->wire + 1)->packet.txn], 1);
    }
    if (record->odd)
        return FALSE;
    link_credit(from, VC_RSP, packet.flits, at_ps);
    guint64 last = RECORD_LAST(at_ps, from->sink_port);
    record->last = (gint64)(last - record->last) > 0 ? last : record->last;
    record->what -= RECORD_ONE(count);
    if (record->count == 0)
        reduction_end_later(sw, packet.txn);
    return TRUE;
}

gboolean switch_on_timer(void *node, Link *out, const LinkReady *timer, SimTime at_ps, Packet *answer)
{
    Switch *sw = node;
    return ack_expire(&sw->port[out->source_port].done, timer->packet, at_ps, answer);
}
