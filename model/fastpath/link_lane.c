/* What is known to join a port's queues before it does: requests and answers of a GPU's port, timers of its
 * acknowledgements, and at a switch's port what its other ports have on the way. None needs an event: whoever looks at
 * the port makes all decisions up to then in order, each as of its time. */
#include "model/fastpath/link_settle.h"

void link_join_free(Link *link, unsigned v, Packet packet, SimTime at_ps)
{
    link_enter(link, v, packet, simfine_from_ps(at_ps), at_ps, at_ps);
}

void link_join_inbox(Link *link, SimTime at_ps)
{
    Packet packet = inbox_pop(link->inbox);
    link_join_now(link, packet_vc(&packet), packet, at_ps);
}

void link_join(Link *link, unsigned v, Packet packet, SimTime at_ps) { link_join_now(link, v, packet, at_ps); }

gboolean link_collect_due(Link *link, unsigned v, SimTime at_ps)
{
    if (link->credit->vc[v].due_ps > at_ps)
        return FALSE;
    link->starved = 0; /* as link_serve_short() leaves it */
    link_collect_credits(link, (Vc)v, at_ps);
    return TRUE;
}

gboolean link_stage_collect(Link *link, unsigned v, SimFine at)
{
    return link_collect_due(link, v, simfine_to_ps(at)) && link->ring[v].credits >= link_front_flits(link, v, FALSE);
}

/* Packets at the end of a channel's queue that join no earlier than `at` leave it. */
static guint32 link_unstage_channel(Link *link, unsigned v, guint32 staged, SimFine at, SimTime limit_ps,
                                    LinkReady *coming)
{
    LinkRing *ring = &link->ring[v];
    guint32 n = MIN(staged, ring->waiting);
    const LinkSlot *slot;
    while (n > 0 && (slot = link_slot(ring, ring->wire + ring->waiting - n),
                     simfine_from_ps(link_slot_joins_ps(slot, limit_ps)) < at))
        n--;
    for (guint32 i = 0; i < n; i++) {
        slot = link_slot(ring, ring->wire + ring->waiting - n + i);
        coming[i] = (LinkReady){link_slot_joins_ps(slot, limit_ps), slot->packet};
    }
    ring->waiting -= n;
    return n;
}

void link_unstage(Link *link, const guint32 *staged, SimFine at, SimTime limit_ps)
{
    g_autofree LinkReady *requests = g_new(LinkReady, staged[VC_CREQ] + 1);
    g_autofree LinkReady *answers = g_new(LinkReady, staged[VC_RSP] + 1);
    guint32 n = link_unstage_channel(link, VC_CREQ, staged[VC_CREQ], at, limit_ps, requests);
    guint32 m = link_unstage_channel(link, VC_RSP, staged[VC_RSP], at, limit_ps, answers);
    link_count_peak(link, MAX(link->ring[VC_CREQ].waiting, link->ring[VC_RSP].waiting));
    for (guint32 i = 0, k = 0; i < n || k < m;) {
        gboolean request = k == m || (i < n && requests[i].at_ps < answers[k].at_ps); /* late ones go behind answers */
        LinkReady next = request ? requests[i++] : answers[k++];
        link_settle(link, link_early_asked, next.at_ps);
        link_join_now(link, request ? VC_CREQ : VC_RSP, next.packet, next.at_ps);
    }
    link_settle(link, link_early_asked, limit_ps);
}

void link_settle_lanes(Link *link, SimTime now_ps)
{
    if (!link->serving)
        link_settle_inbox_by(link, link->serve, link_early_asked, now_ps);
}

/* ---- what is told */

void link_note_more(Link *link, gboolean in_time)
{
    SimTime before_ps = link->ready_ps;
    if (G_UNLIKELY(link_log_is_behind(link))) /* what joins later comes behind all that has */
        link_log_take(link);
    link_note(link);
    if ((link->ready_ps < before_ps || in_time) && !link->serving)
        link_see_to(link);
}

void link_push_request(Link *link, Packet request, SimTime at_ps, gboolean in_time)
{
    request.hold = in_time ? LINK_IN_TIME : HOLD_NONE;
    link->in_time += in_time;
    link->mixed |= request.kind < PACKET_MC_WRITE;
    LinkReadyRing *lane = &link->lane[LINK_LANE_REQUESTS];
    LinkReady *at = link_ready_push(lane), *before;
    for (guint32 n = lane->count - 1; n > 0 && (before = link_ready_nth(lane, n - 1))->at_ps > at_ps; n--) {
        *at = *before;
        at = before;
    }
    *at = (LinkReady){at_ps, request};
    link->first_ps[LINK_LANE_REQUESTS] = link_ready_peek(lane)->at_ps;
    link_note_more(link, link->in_time != 0);
}

void link_push_coming(Link *link, Packet packet, SimTime at_ps, const Link *from)
{
    link_push_coming_here(link, link->inbox, packet, at_ps, from, packet_vc(&packet));
}
