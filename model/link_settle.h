/* How a port takes in what is known to join its queues, and decides: the loops of link_lane.c, for stages that make them
 * one with what they serve and whom they tell. */
#ifndef MODEL_LINK_SETTLE_H
#define MODEL_LINK_SETTLE_H

#include "model/link_internal.h"

/* All decisions up to then are made. */
static ALWAYS_INLINE void link_join_now(Link *link, unsigned v, Packet packet, SimTime at_ps)
{
    if (link->free_at <= simfine_from_ps(at_ps) || !link_has_slot(link, v))
        link_join_free(link, v, packet, at_ps);
    else
        link_enqueue(link, v, packet);
}

/* The first one leaves its lane. */
static ALWAYS_INLINE LinkReady link_lane_pop(Link *link, LinkLane which)
{
    LinkReadyRing *lane = &link->lane[which];
    LinkReady first = *link_ready_peek(lane);
    link_ready_drop(lane);
    link->first_ps[which] = lane->count ? link_ready_peek(lane)->at_ps : SIMTIME_NEVER;
    return first;
}

static ALWAYS_INLINE void link_join_served(Link *link, LinkLane lane, LinkServe serve, SimTime at_ps)
{
    LinkReady request = link_lane_pop(link, lane);
    Packet answer;
    if (G_UNLIKELY(link->in_time))
        link->in_time -= request.packet.hold == LINK_IN_TIME; /* none of the timers is */
    link->serving = TRUE;
    link->serving_ps = at_ps;
    gboolean answered = serve(link->source_node, link, &request, at_ps, &answer);
    link->serving = FALSE;
    if (answered)
        link_join_now(link, VC_RSP, answer, at_ps);
}

/* The first one, at ready_ps. */
static ALWAYS_INLINE void link_join_next(Link *link, gboolean inbox, LinkServe serve, SimTime at_ps)
{
    gboolean timer = link->first_ps[LINK_LANE_TIMERS] == at_ps;
    if (inbox && G_UNLIKELY(link->inbox.n) && !timer) {
        Packet packet = inbox_pop(&link->inbox);
        link_join(link, packet_vc(&packet), packet, at_ps);
    } else if (G_UNLIKELY(link->first_ps[LINK_LANE_ANSWERS] == at_ps) && !timer) {
        link_join(link, VC_RSP, link_lane_pop(link, LINK_LANE_ANSWERS).packet, at_ps);
    } else {
        link_join_served(link, timer ? LINK_LANE_TIMERS : LINK_LANE_REQUESTS, serve, at_ps);
    }
    link_note_of(link, inbox);
}

/* All of the inbox up to until_ps, at that instant up to `order`. */
static ALWAYS_INLINE void link_settle_inbox(Link *link, LinkEarly tell, SimTime until_ps, guint64 order)
{
    Inbox *inbox = &link->inbox;
    for (;;) {
        const InboxEntry *entry = inbox_first(inbox);
        SimTime at_ps = entry->at_ps;
        gboolean joins = inbox->n && (at_ps < until_ps || (at_ps == until_ps && link_inbox_order(entry) < order));
        link_settle(link, tell, joins ? at_ps : until_ps);
        if (!joins)
            break;
        Packet packet = inbox_pop(inbox);
        link_join_now(link, packet_vc(&packet), packet, at_ps);
    }
    link_note(link);
}

/* Everything up to now in order: each decision of the arbiter, each one that joins a queue. `serve` and `tell` are the
 * link's, or ask it; who serves or tells most names his, so that it is part of the loop. inbox: it has one. */
static ALWAYS_INLINE void link_settle_lanes_by(Link *link, gboolean inbox, LinkServe serve, LinkEarly tell,
                                               SimTime now_ps)
{
    SimTime until_ps = now_ps + link->ahead_ps;
    guint64 order = sim_order(link->sim, until_ps);
    for (;;) {
        SimTime at_ps = MIN(link->ready_ps, until_ps);
        if (G_UNLIKELY(link->blocked) && link->retry_ps <= at_ps)
            link_unblock(link, link->retry_ps);
        if (link_waits(link) && link->free_at <= simfine_from_ps(at_ps) && !link->blocked)
            link_serve(link, tell, link->free_at, link->free_at, at_ps);
        else if (link->ready_ps < until_ps || (link->ready_ps == until_ps && link->ready_order < order))
            link_join_next(link, inbox, serve, at_ps);
        else
            break;
    }
    if (link->someone_waits || link->in_time)
        link_see_to(link); /* a blocked link may go on */
}

/* Likewise for ports with an inbox. */
static ALWAYS_INLINE void link_settle_inbox_by(Link *link, LinkServe serve, LinkEarly tell, SimTime now_ps)
{
    SimTime until_ps = now_ps + link->ahead_ps;
    if (link->inbox.n && link->lane[LINK_LANE_TIMERS].count == 0)
        link_settle_inbox(link, tell, until_ps, sim_order(link->sim, until_ps));
    else
        link_settle_lanes_by(link, TRUE, serve, tell, now_ps);
}

#endif
