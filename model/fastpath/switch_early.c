/* What a switch needs no event for: it is told as a packet goes on the wire to it (link_set_early). */
#include "model/fastpath/early.h"

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

gboolean switch_count_early(Switch *sw, Link *from, Packet packet, SimTime at_ps)
{
    return switch_count_here(sw, from, packet, at_ps, link_leaves(from));
}

gboolean switch_on_timer(void *node, Link *out, const LinkReady *timer, SimTime at_ps, Packet *answer)
{
    Switch *sw = node;
    return ack_expire(&sw->port[out->source_port].done, timer->packet, at_ps, answer);
}
