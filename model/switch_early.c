/* What a switch needs no event for: it is told as a packet goes on the wire to it (link_set_early). */
#include "model/fabric.h"
#include "model/switch.h"

/* A packet for one GPU goes to its egress, which takes it in when it is time; but a request behind others that wait, or
 * while a replication goes on, has to wait itself. */
static inline gboolean switch_route_early(Switch *sw, Link *from, Packet packet, SimTime at_ps)
{
    guint32 p = from->sink_port;
    gboolean request = packet_vc(&packet) == VC_CREQ; /* nobody could predict it */
    guint32 to = request ? packet.dst : packet.src;
    if (G_UNLIKELY(sw->port[p].wait.count || sw->port[p].busy_until_ps > at_ps) && request)
        return FALSE;
    packet.hold = p & HOLD_NONE;
    link_push_coming(sw->out[to * sw->links + sw->port_k[p]], packet, at_ps, from);
    return TRUE;
}

/* An answer that is only counted needs no event, but for the last one. */
gboolean switch_early(void *node, Link *from, Packet packet, SimTime at_ps)
{
    Switch *sw = node;
    if (packet.kind != PACKET_MC_ACK && packet.kind != PACKET_MC_OPERAND)
        return switch_route_early(sw, from, packet, at_ps);
    McAwait *await = &sw->await[packet.txn];
    guint32 key = (guint32)from->vc[VC_RSP].arrive.order;
    if (!from->domain && from->ring[VC_RSP].waiting) { /* another domain's queue is not to be looked at */
        const LinkRing *ring = &from->ring[VC_RSP]; /* what the next one needs */
        __builtin_prefetch(&sw->await[link_slot(ring, ring->wire + 1)->packet.txn], 1);
    }
    if (await->has_data || sw->fabric->n_silent)
        return FALSE;
    link_credit(from, VC_RSP, packet.flits, at_ps);
    if (at_ps > await->last_ps || (at_ps == await->last_ps && key > await->last_key)) {
        await->last_ps = at_ps;
        await->last_key = key;
    }
    if (--await->count == 0)
        reduction_end_later(sw, packet.txn);
    return TRUE;
}

gboolean switch_on_timer(void *node, Link *out, const LinkReady *timer, SimTime at_ps, Packet *answer)
{
    Switch *sw = node;
    (void)timer;
    return ack_expire(&sw->port[out->source_port].done, at_ps, answer);
}
