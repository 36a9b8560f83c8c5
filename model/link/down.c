/* A port whose link is down or given up, and a port whose arbiter is a policy: what few links have. */
#include "model/link/down.h"

/* Packets wait in both channels, and a policy says which of them is next. It sees what is the same in both engines. */
unsigned link_ask_policy(const Link *link)
{
    FoPort port = {.last = link->last_vc, .run = link->run};
    for (unsigned v = 0; v < VCS; v++) {
        port.joined_ps[v] = *link_joined_peek(&link->joined[v]);
        port.flits[v] = packet_ring_peek(&link->queue[v])->flits;
        port.queued[v] = link->queue[v].count;
        port.weight[v] = link->policies->weight[v];
    }
    return link->policies->arbitrate(&port) & 1u;
}

void link_keep_order(Link *link, guint32 flits)
{
    link->answers_last = MAX(link->free_at + link->answer_delay, link->answers_last + flits * link->flit_time);
    link->delay_ps[VC_RSP] = (guint32)(simfine_to_ps(link->answers_last) - simfine_to_ps(link->free_at));
}

/* A dead link's port sends what waits into nothing, without credits and in no time. */
static void link_lose(Link *link, SimFine start)
{
    const unsigned v = link->last_vc ^ (link->queue[link->last_vc ^ 1u].count != 0);
    PacketRing *queue = &link->queue[v];
    Packet packet = *packet_ring_peek(queue);
    packet_ring_drop(queue);
    link->last_vc = (guint8)v;
    link->free_at = start;
    link_release(link, &packet, v, start);
    link->lose(link, packet, simfine_to_ps(start));
    if (queue->count < link->low_water[v])
        link->drained(link->source_node, link, (Vc)v);
}

void link_decide_down(Link *link, SimFine start, SimTime now_ps)
{
    if (link->down == LINK_DEAD) {
        link_lose(link, start);
        return;
    }
    link->starved = 0; /* no credit helps */
    link->stalled_from_ps = MIN(link->stalled_from_ps, simfine_to_ps(start));
    link_block(link, start, SIMTIME_NEVER, now_ps);
}
