/* What is known to join a port's queues before it does: requests and answers of a GPU's port, timers of its
 * acknowledgements, and at a switch's port what its other ports have on the way. None needs an event: whoever looks at
 * the port makes all decisions up to then in order, each as of its time. */
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

void link_note_ready(Link *link) { link_note(link); }

/* ---- what joins */

static G_GNUC_NO_INLINE void link_join_free(Link *link, unsigned v, Packet packet, SimTime at_ps)
{
    link_enter(link, v, packet, simfine_from_ps(at_ps), at_ps, at_ps);
}

/* All decisions up to then are made. */
static ALWAYS_INLINE void link_join_now(Link *link, unsigned v, Packet packet, SimTime at_ps)
{
    if (link->free_at <= simfine_from_ps(at_ps) || !link_has_slot(link, v))
        link_join_free(link, v, packet, at_ps);
    else
        link_enqueue(link, v, packet);
}

void link_join(Link *link, unsigned v, Packet packet, SimTime at_ps) { link_join_now(link, v, packet, at_ps); }

static inline void link_join_served(Link *link, LinkReadyRing *lane, SimTime at_ps)
{
    LinkReady request = *link_ready_peek(lane);
    Packet answer;
    link_ready_drop(lane);
    link->serving = TRUE;
    link->serving_ps = at_ps;
    gboolean answered = link->serve(link->source_node, link, &request, at_ps, &answer);
    link->serving = FALSE;
    if (answered)
        link_join_now(link, VC_RSP, answer, at_ps);
}

/* The first one, at ready_ps. */
static inline void link_join_next(Link *link, SimTime at_ps)
{
    LinkReadyRing *timers = &link->lane[LINK_LANE_TIMERS], *answers = &link->lane[LINK_LANE_ANSWERS];
    LinkReadyRing *requests = &link->lane[LINK_LANE_REQUESTS];
    if (G_UNLIKELY(timers->count) && link_ready_peek(timers)->at_ps == at_ps) {
        link_join_served(link, timers, at_ps);
    } else if (G_UNLIKELY(link->inbox.n)) {
        Packet packet = inbox_pop(&link->inbox);
        link_join(link, packet_vc(&packet), packet, at_ps);
    } else if (G_UNLIKELY(answers->count) && link_ready_peek(answers)->at_ps == at_ps) {
        Packet answer = link_ready_peek(answers)->packet;
        link_ready_drop(answers);
        link_join(link, VC_RSP, answer, at_ps);
    } else {
        link->in_time -= link_ready_peek(requests)->packet.hold == LINK_IN_TIME;
        link_join_served(link, requests, at_ps);
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

/* Everything up to now in order: each decision of the arbiter, each one that joins a queue. */
void link_settle_lanes(Link *link, SimTime now_ps)
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
            link_join_next(link, at_ps);
        else
            break;
    }
    if (link->someone_waits || link->in_time)
        link_see_to(link); /* a blocked link may go on */
}

/* ---- what is told */

static inline void link_note_more(Link *link, gboolean in_time)
{
    SimTime before_ps = link->ready_ps;
    link_note(link);
    if ((link->ready_ps < before_ps || in_time) && !link->serving)
        link_see_to(link);
}

/* Behind another one it changes nothing yet. */
static inline void link_push_lane(Link *link, LinkLane lane, Packet packet, SimTime at_ps)
{
    gboolean first = link->lane[lane].count == 0;
    *link_ready_push(&link->lane[lane]) = (LinkReady){at_ps, packet};
    if (G_UNLIKELY(first || link->in_time))
        link_note_more(link, link->in_time != 0);
}

/* Not before the one before it. */
static inline void link_push_behind(Link *link, LinkLane lane, Packet packet, SimTime at_ps)
{
    LinkReadyRing *ring = &link->lane[lane];
    SimTime last_ps = ring->count ? link_ready_nth(ring, ring->count - 1)->at_ps : 0;
    link_push_lane(link, lane, packet, MAX(at_ps, last_ps));
}

void link_push_request(Link *link, Packet request, SimTime at_ps, gboolean in_time)
{
    request.hold = in_time ? LINK_IN_TIME : HOLD_NONE;
    link->in_time += in_time;
    link_push_lane(link, LINK_LANE_REQUESTS, request, at_ps);
}

void link_push_later(Link *link, Packet answer, SimTime at_ps)
{
    link_push_behind(link, LINK_LANE_ANSWERS, answer, at_ps);
}

void link_push_timer(Link *link, Packet packet, SimTime at_ps)
{
    link_push_behind(link, LINK_LANE_TIMERS, packet, at_ps);
}

void link_push_coming(Link *link, Packet packet, SimTime at_ps, const Link *from)
{
    guint32 order = (guint32)from->vc[packet_vc(&packet)].arrive.order;
    if (inbox_push(&link->inbox, packet, at_ps, order, sim_now_ps(link->sim)))
        link_note_more(link, FALSE);
}
