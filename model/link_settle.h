/* How a port takes in what is known to join its queues, and decides: the loop of link_lane.c, for stages that make it
 * one with what they serve. */
#ifndef MODEL_LINK_SETTLE_H
#define MODEL_LINK_SETTLE_H

#include "model/link_internal.h"

/* Among what happens at that instant. */
static inline guint64 link_inbox_order(const InboxEntry *entry) { return SIM_ORDER_KEYED | entry->order; }

/* ---- who is next */

static inline void link_note(Link *link)
{
    LinkReadyRing *lane = link->lane;
    const LinkReadyRing *requests = &lane[LINK_LANE_REQUESTS];
    SimTime at_ps = SIMTIME_NEVER;
    guint64 order = link->request_order;
    guint32 others = link->inbox.n | lane[LINK_LANE_ANSWERS].count | lane[LINK_LANE_TIMERS].count;
    if (requests->count && link->waiting[VC_RSP] < link->gate) {
        at_ps = requests->at[requests->head].at_ps;
        if (at_ps <= link->gate_open_ps) {
            at_ps = link->gate_open_ps;
            order = 0;
        }
    }
    if (others) {
        if (link->inbox.n) {
            at_ps = inbox_first(&link->inbox)->at_ps;
            order = link_inbox_order(inbox_first(&link->inbox));
        }
        if (lane[LINK_LANE_ANSWERS].count)
            at_ps = MIN(at_ps, link_ready_peek(&lane[LINK_LANE_ANSWERS])->at_ps);
        if (lane[LINK_LANE_TIMERS].count && link_ready_peek(&lane[LINK_LANE_TIMERS])->at_ps <= at_ps) {
            at_ps = link_ready_peek(&lane[LINK_LANE_TIMERS])->at_ps;
            order = 0;
        }
    }
    link->ready_ps = at_ps;
    link->ready_order = order;
    guint32 answers = (requests->count | others) != 0;
    link->ready = (guint8)(link->inbox.n ? 1u << VC_CREQ | 1u << VC_RSP : answers << VC_RSP);
}

/* ---- what joins */

/* All decisions up to then are made. */
static ALWAYS_INLINE void link_join_now(Link *link, unsigned v, Packet packet, SimTime at_ps)
{
    if (link->free_at <= simfine_from_ps(at_ps) || !link_has_slot(link, v))
        link_join_free(link, v, packet, at_ps);
    else
        link_enqueue(link, v, packet);
}

static ALWAYS_INLINE void link_join_served(Link *link, LinkReadyRing *lane, LinkServe serve, SimTime at_ps)
{
    LinkReady request = *link_ready_peek(lane);
    Packet answer;
    link_ready_drop(lane);
    link->serving = TRUE;
    link->serving_ps = at_ps;
    gboolean answered = serve(link->source_node, link, &request, at_ps, &answer);
    link->serving = FALSE;
    if (answered)
        link_join_now(link, VC_RSP, answer, at_ps);
}

/* The first one, at ready_ps. */
static ALWAYS_INLINE void link_join_next(Link *link, LinkServe serve, SimTime at_ps)
{
    LinkReadyRing *timers = &link->lane[LINK_LANE_TIMERS], *answers = &link->lane[LINK_LANE_ANSWERS];
    LinkReadyRing *requests = &link->lane[LINK_LANE_REQUESTS];
    if (G_UNLIKELY(timers->count) && link_ready_peek(timers)->at_ps == at_ps) {
        link_join_served(link, timers, link->serve, at_ps);
    } else if (G_UNLIKELY(link->inbox.n)) {
        Packet packet = inbox_pop(&link->inbox);
        link_join(link, packet_vc(&packet), packet, at_ps);
    } else if (G_UNLIKELY(answers->count) && link_ready_peek(answers)->at_ps == at_ps) {
        Packet answer = link_ready_peek(answers)->packet;
        link_ready_drop(answers);
        link_join(link, VC_RSP, answer, at_ps);
    } else {
        link->in_time -= link_ready_peek(requests)->packet.hold == LINK_IN_TIME;
        link_join_served(link, requests, serve, at_ps);
    }
    link_note(link);
}

/* All of the inbox up to until_ps, at that instant up to `order`. */
static inline void link_settle_inbox(Link *link, SimTime until_ps, guint64 order)
{
    Inbox *inbox = &link->inbox;
    while (inbox->n) {
        const InboxEntry *entry = inbox_first(inbox);
        SimTime at_ps = entry->at_ps;
        if (at_ps >= until_ps && (at_ps > until_ps || link_inbox_order(entry) >= order))
            break;
        Packet packet = inbox_pop(inbox);
        unsigned v = packet_vc(&packet);
        link_settle(link, at_ps);
        link_join_now(link, v, packet, at_ps);
    }
    link_settle(link, until_ps);
    link_note(link);
}

/* Everything up to now in order: each decision of the arbiter, each one that joins a queue. `serve` is the link's; who
 * serves most names it, so that it is part of the loop. */
static ALWAYS_INLINE void link_settle_lanes_by(Link *link, LinkServe serve, SimTime now_ps)
{
    SimTime until_ps = now_ps + link->ahead_ps;
    guint64 order = sim_order(link->sim, until_ps);
    if (link->serving)
        return;
    if (link->inbox.n && link->lane[LINK_LANE_TIMERS].count == 0) {
        link_settle_inbox(link, until_ps, order);
        return;
    }
    for (;;) {
        SimTime at_ps = MIN(link->ready_ps, until_ps);
        if (G_UNLIKELY(link->blocked) && link->retry_ps <= at_ps)
            link_unblock(link, link->retry_ps);
        if (link_waits(link) && link->free_at <= simfine_from_ps(at_ps) && !link->blocked)
            link_serve(link, link->free_at, link->free_at, at_ps);
        else if (link->ready_ps < until_ps || (link->ready_ps == until_ps && link->ready_order < order))
            link_join_next(link, serve, at_ps);
        else
            break;
    }
    if (link->someone_waits || link->in_time)
        link_see_to(link); /* a blocked link may go on */
}

#endif
