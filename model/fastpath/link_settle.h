/* How a port takes in what is known to join its queues, and decides: the loops of link_lane.c, for stages that make
 * them one with what they serve and whom they tell. */
#ifndef MODEL_FASTPATH_LINK_SETTLE_H
#define MODEL_FASTPATH_LINK_SETTLE_H

#include "model/link/internal.h"

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

static ALWAYS_INLINE gboolean link_serve_first(Link *link, LinkLane lane, LinkServe serve, SimTime at_ps,
                                               Packet *answer)
{
    LinkReady request = link_lane_pop(link, lane);
    if (G_UNLIKELY(link->in_time))
        link->in_time -= request.packet.hold == LINK_IN_TIME; /* none of the timers is */
    link->serving = TRUE;
    link->serving_ps = at_ps;
    gboolean answered = serve(link->source_node, link, &request, at_ps, answer);
    link->serving = FALSE;
    return answered;
}

/* The first one, at ready_ps. */
static ALWAYS_INLINE void link_join_next(Link *link, gboolean inbox, LinkServe serve, SimTime at_ps)
{
    gboolean timer = link->first_ps[LINK_LANE_TIMERS] == at_ps;
    if (link->ready_order == LINK_ORDER_PUSHED) {
        link_join(link, VC_CREQ, link_lane_pop(link, LINK_LANE_PUSHES).packet, at_ps);
        link_note_of(link, inbox);
        return;
    }
    if (inbox && G_UNLIKELY(inbox_has_any(link->inbox)) && !timer) {
        link_join_inbox(link, at_ps);
    } else if (G_UNLIKELY(link->first_ps[LINK_LANE_ANSWERS] == at_ps) && !timer) {
        link_join(link, VC_RSP, link_lane_pop(link, LINK_LANE_ANSWERS).packet, at_ps);
    } else {
        Packet answer;
        if (link_serve_first(link, timer ? LINK_LANE_TIMERS : LINK_LANE_REQUESTS, serve, at_ps, &answer))
            link_join_now(link, VC_RSP, answer, at_ps);
    }
    link_note_of(link, inbox);
}

/* ---- what joins is taken in before the decisions are made */

/* Some decisions fall before each packet that joins, or none, and nobody could predict how many; nor does it matter
 * here: what joins is taken in first, each with its time, and the arbiter looks at packets that have joined before its
 * decision. That holds as long as there are credits, and as answers stay below the gate. `staged` says how many of the
 * last ones in each queue have their time of joining in LinkSlot.due, which also tells how many there were at once. */

static ALWAYS_INLINE gboolean link_can_stage(const Link *link)
{
    return (link->blocked | link->down | link->someone_waits) == 0 && (link->logged | link->in_time) == 0 &&
           link->ahead_ps == 0;
}

static ALWAYS_INLINE void link_stage(Link *link, guint32 *staged, unsigned v, Packet packet, SimTime at_ps)
{
    LinkRing *ring = &link->ring[v];
    LinkSlot *slot = link_slot(ring, ring->wire + ring->waiting++);
    slot->packet = packet;
    slot->due = (guint32)at_ps;
    staged[v]++;
}

/* When one that is staged joins. */
static inline SimTime link_slot_joins_ps(const LinkSlot *slot, SimTime limit_ps)
{
    return limit_ps - (guint32)((guint32)limit_ps - slot->due);
}

/* When the first packet of a channel has joined: long ago, or not later than limit_ps. */
static ALWAYS_INLINE SimFine link_stage_joins(const LinkRing *ring, guint32 staged, SimTime limit_ps)
{
    SimTime at_ps = link_slot_joins_ps(link_slot(ring, ring->wire), limit_ps);
    guint64 none = -(guint64)(ring->waiting == 0), before = -(guint64)(ring->waiting > staged); /* no branch */
    return (simfine_from_ps(at_ps) & ~before) | none;
}

/* A packet of a channel leaves at `at`: how many were in its queue before, if there have never been more. What is not
 * staged has been counted. */
static ALWAYS_INLINE void link_stage_peak(Link *link, const LinkRing *ring, SimFine at, SimTime limit_ps)
{
    while (G_UNLIKELY(ring->waiting > link->queue_peak) &&
           simfine_from_ps(link_slot_joins_ps(link_slot(ring, ring->wire + (guint32)link->queue_peak), limit_ps)) < at)
        link->queue_peak++;
}

/* All decisions up to limit_ps. */
static ALWAYS_INLINE void link_decide_staged(Link *link, guint32 *staged, LinkEarly tell, SimTime limit_ps)
{
    SimFine limit = simfine_from_ps(limit_ps), joins[VCS];
    for (unsigned v = 0; v < VCS; v++)
        joins[v] = link->ring[v].waiting ? link_stage_joins(&link->ring[v], staged[v], limit_ps) : G_MAXUINT64;
    for (;;) {
        SimFine first = MIN(joins[VC_CREQ], joins[VC_RSP]), at = MAX(link->free_at, first);
        if (at > limit)
            break;
        gsize v = link->last_vc;
        v ^= joins[v ^ 1u] < MAX(link->free_at, first + 1);
        if (G_UNLIKELY((joins[VC_CREQ] == joins[VC_RSP]) & (first >= link->free_at)))
            v = VC_RSP; /* late pushes go behind answers */
        LinkRing *ring = &link->ring[v];
        LinkSlot *slot = link_slot(ring, ring->wire);
        if (G_UNLIKELY(ring->credits < slot->packet.flits) && !link_stage_collect(link, (unsigned)v, at)) {
            link_unstage(link, staged, at, limit_ps);
            break;
        }
        link_stage_peak(link, ring, at, limit_ps);
        ring->waiting--;
        link_wire_first(link, ring, (unsigned)v, slot, tell, at);
        joins[v] = link_stage_joins(ring, staged[v], limit_ps);
    }
    link_count_peak(link, MAX(link->ring[VC_CREQ].waiting, link->ring[VC_RSP].waiting));
    staged[VC_CREQ] = staged[VC_RSP] = 0;
}

/* How many more packets of a channel can be taken in: the gate is 0 or for VC_RSP. */
static ALWAYS_INLINE guint32 link_stage_room(const Link *link, unsigned v)
{
    const LinkRing *ring = &link->ring[v];
    guint32 waiting = ring->waiting, slots = ring->mask + 1 - (ring->wire + waiting - ring->head);
    guint32 most = link->gate - 1;
    return most > waiting ? MIN(most - waiting, slots) : 0;
}

/* An entry that joins at at_ps does so by until_ps, at that instant up to `order`. */
static ALWAYS_INLINE gboolean link_entry_joins(const InboxEntry *entry, SimTime at_ps, SimTime until_ps, guint64 order)
{
    return at_ps < until_ps || (at_ps == until_ps && link_entry_order(entry) < order);
}

/* All of the inbox up to then, but no two of one instant, is taken in. TRUE: the first one that is left joins by then,
 * but there is no room for it, or another one has joined at its instant, *last_ps. */
static ALWAYS_INLINE gboolean link_stage_inbox(Link *link, guint32 *staged, SimTime until_ps, guint64 order,
                                               SimTime *last_ps)
{
    Inbox *inbox = link->inbox;
    guint32 room[VCS] = {link_stage_room(link, VC_CREQ), link_stage_room(link, VC_RSP)};
    while (inbox_has_any(inbox)) {
        SimTime at_ps = inbox->first_ps;
        guint32 slot = inbox_slot(inbox, at_ps), left = inbox->n[slot];
        const InboxEntry *entry = inbox_first(inbox);
        for (;; entry--) {
            unsigned v = packet_vc(&entry->packet);
            gboolean joins = link_entry_joins(entry, at_ps, until_ps, order);
            if (!joins || at_ps == *last_ps || room[v] == 0) {
                inbox->n[slot] = left;
                inbox->first_ps = at_ps;
                return joins;
            }
            room[v]--;
            *last_ps = at_ps;
            link_stage(link, staged, v, entry->packet, at_ps);
            if (--left == 0)
                break;
            at_ps = inbox_entry_ps(entry - 1, at_ps);
        }
        inbox->n[slot] = 0;
        inbox_go_on(inbox);
    }
    return FALSE;
}

/* All of the inbox up to until_ps, at that instant up to `order`. Two packets that join at one instant may be of two
 * channels: the second one comes when all decisions before it are made. */
static ALWAYS_INLINE void link_settle_inbox(Link *link, LinkEarly tell, SimTime until_ps, guint64 order)
{
    Inbox *inbox = link->inbox;
    guint32 staged[VCS] = {0, 0};
    SimTime last_ps = SIMTIME_NEVER; /* when the one before joined */
    for (;;) {
        gboolean stages = link_can_stage(link), joins;
        if (stages)
            joins = link_stage_inbox(link, staged, until_ps, order, &last_ps);
        else
            joins = inbox_has_any(inbox) && link_entry_joins(inbox_first(inbox), inbox->first_ps, until_ps, order);
        SimTime at_ps = joins ? inbox->first_ps : until_ps;
        if (stages)
            link_decide_staged(link, staged, tell, at_ps);
        else
            link_settle(link, link_early_asked, at_ps);
        if (!joins)
            break;
        last_ps = at_ps;
        link_join_inbox(link, at_ps);
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
    if (inbox_has_any(link->inbox) && link->first_ps[LINK_LANE_TIMERS] == SIMTIME_NEVER) {
        inbox_fetch(link->inbox);
        link_settle_inbox(link, tell, until_ps, sim_order(link->sim, until_ps));
    } else {
        link_settle_lanes_by(link, TRUE, serve, tell, now_ps);
    }
}

/* Late pushes before limit_ps are taken in. */
static ALWAYS_INLINE void link_stage_pushes(Link *link, guint32 *staged, SimTime limit_ps)
{
    LinkReadyRing *lane = &link->lane[LINK_LANE_PUSHES];
    LinkRing *ring = &link->ring[VC_CREQ];
    guint32 n = 0;
    for (const LinkReady *push; n < lane->count && (push = link_ready_nth(lane, n))->at_ps < limit_ps; n++) {
        if (G_UNLIKELY(link_ring_is_full(ring, ring->waiting)))
            link_ring_grow(ring);
        link_stage(link, staged, VC_CREQ, push->packet, push->at_ps);
    }
    link_ready_drop_many(lane, n);
    link->first_ps[LINK_LANE_PUSHES] = lane->count ? link_ready_peek(lane)->at_ps : SIMTIME_NEVER;
}

/* Likewise where most of what is served gives an answer now and then, which goes into VC_RSP's queue, and does nothing
 * else at the port: `simple` tells. Until the first one that is not, FALSE, or all: TRUE. The lane of answers is empty,
 * and the gate is open. */
typedef gboolean (*LinkSimple)(const LinkReady *request);
static ALWAYS_INLINE gboolean link_settle_simple(Link *link, LinkSimple simple, LinkServe serve, LinkEarly tell,
                                                 SimTime until_ps)
{
    guint64 until_order = sim_order(link->sim, until_ps), order;
    guint32 staged[VCS] = {0, 0}, room = link_stage_room(link, VC_RSP);
    SimTime at_ps, open_ps = link->gate_open_ps;
    gboolean joins;
    Packet answer;
    link->serving = TRUE;
    for (;;) {
        SimTime request_ps = MAX(link->first_ps[LINK_LANE_REQUESTS], open_ps);
        at_ps = MIN(link->first_ps[LINK_LANE_TIMERS], request_ps); /* as link_next_join() */
        joins = at_ps < until_ps || (at_ps == until_ps && link_next_join(link, &order) == at_ps && order < until_order);
        if (!joins)
            break;
        gsize lane = link->first_ps[LINK_LANE_TIMERS] == at_ps ? LINK_LANE_TIMERS : LINK_LANE_REQUESTS;
        if (room == 0 || !simple(&link->lane[lane].at[link->lane[lane].head]))
            break;
        LinkReady first = link_lane_pop(link, (LinkLane)lane);
        if (serve(link->source_node, link, &first, at_ps, &answer)) {
            link_stage(link, staged, VC_RSP, answer, at_ps);
            room--;
        }
    }
    link->serving = FALSE;
    link_stage_pushes(link, staged, joins ? at_ps : until_ps + (LINK_ORDER_PUSHED < until_order));
    link_decide_staged(link, staged, tell, joins ? at_ps : until_ps);
    link_note_of(link, FALSE);
    return !joins;
}

static ALWAYS_INLINE void link_settle_simple_by(Link *link, LinkSimple simple, LinkServe serve, LinkEarly tell,
                                                SimTime now_ps)
{
    while (link_can_stage(link) && link->lane[LINK_LANE_ANSWERS].count == 0 &&
           link->ring[VC_RSP].waiting < link->gate) {
        if (link_settle_simple(link, simple, serve, tell, now_ps + link->ahead_ps))
            return;
        link_join_next(link, FALSE, link->serve, link->ready_ps);
    }
    link_settle_lanes_by(link, FALSE, link->serve, tell, now_ps);
}

#endif
