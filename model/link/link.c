#include "model/fastpath/link_push.h"

/* ---- arbitration and serialization */

/* Somebody lacks credits at the instant at_ps: the VC that can send after all, or -1. Then *retry_ps is when
 * the first credit comes; link_credit_return() tells of earlier ones. */
static inline int link_arbitrate_short(Link *link, SimTime at_ps, SimTime *retry_ps)
{
    *retry_ps = SIMTIME_NEVER;
    link->starved = 0;
    for (unsigned i = 1; i <= VCS; i++) {
        unsigned v = (link->last_vc + i) % VCS;
        if (link->ring[v].waiting == 0)
            continue;
        if (link->credit->vc[v].due_ps <= at_ps)
            link_collect_credits(link, (Vc)v, at_ps);
        if (link->ring[v].credits >= link_front_flits(link, v, TRUE))
            return (int)v;
        *retry_ps = MIN(*retry_ps, link->credit->vc[v].due_ps);
        link->starved |= (guint8)(1u << v);
    }
    link->credit_stalls++;
    return -1;
}

static void link_wire_watched(Link *link, Packet packet, SimFine start)
{
    if (link->probe)
        link->probe(link->probe_user, PROBE_WIRE, __FILE__, link->path, &packet, simfine_to_ps(start));
    if (link->error_ppb && rng_below(&link->rng, 1000000000) < link->error_ppb) {
        link->replays++;
        link->free_at += simfine_from_ps(link->replay_ps) + packet.flits * link->flit_time;
    }
}

gboolean link_wire_rare(Link *link, unsigned v, Packet packet, SimFine start, SimTime *at_ps)
{
    if (link->rare & LINK_WATCHED)
        link_wire_watched(link, packet, start);
    *at_ps = simfine_to_ps(link->free_at) + link->ring[v].delay_ps;
    if (link_leaves(link))
        exchange_leave(link, (Vc)v, packet, *at_ps);
    return link_leaves(link);
}

/* Nothing can go at the instant `at`: the link is blocked until credits come (or it comes up). */
static void link_block(Link *link, SimFine start, SimTime retry_ps, SimTime now_ps)
{
    link->free_at = MAX(start, retry_ps <= now_ps ? simfine_from_ps(retry_ps) : 0);
    if (retry_ps <= now_ps)
        return; /* the credit has come meanwhile: decide again at that instant */
    link->blocked = TRUE;
    link->retry_ps = retry_ps;
    if (link->log) /* who is blocked has to look at each packet that joins */
        link_log_keep_up(link);
    if (retry_ps != SIMTIME_NEVER)
        link_send_by(link, retry_ps);
}

int link_serve_short(Link *link, SimFine start, SimFine at, SimTime now_ps)
{
    SimTime retry_ps = SIMTIME_NEVER;
    int v = link->down ? -1 : link_arbitrate_short(link, simfine_to_ps(at), &retry_ps);
    if (v < 0)
        link_block(link, start, retry_ps, now_ps);
    return v;
}

void link_decide_short(Link *link, SimFine start, SimFine at, SimTime now_ps)
{
    link_decide_any(link, FALSE, start, at, now_ps);
}

/* ---- who sees to being called */

/* The arbiter's next decision, and when the link has to do anything next, as far as is known. */
static inline SimTime link_decision_ps(const Link *link)
{
    if (!link_waits(link))
        return SIMTIME_NEVER;
    return link->blocked ? link->retry_ps : simfine_to_ps(link->free_at);
}

static inline SimTime link_next_ps(const Link *link)
{
    SimTime decision_ps = link_decision_ps(link);
    return link->ready ? MIN(link->ready_ps, decision_ps) : decision_ps;
}

/* An arrival settles the link not later than due_ps. */
static inline gboolean link_has_reminder(const Link *link, SimTime due_ps)
{
    const LinkRing *ring = link->ring;
    return (ring[VC_CREQ].wire != ring[VC_CREQ].head && link->vc[VC_CREQ].arrive.time_ps <= due_ps) ||
           (ring[VC_RSP].wire != ring[VC_RSP].head && link->vc[VC_RSP].arrive.time_ps <= due_ps);
}

/* The next decision that somebody waits for, as far as known: requests of a queue that is to get shorter leave no
 * earlier than they have credits. SIMTIME_NEVER: link_credit_wake() will tell. */
static inline SimTime link_wanted_ps(const Link *link)
{
    const LinkRing *ring = &link->ring[VC_CREQ];
    SimTime decision_ps = link_decision_ps(link);
    gboolean any = link->in_time || ring->waiting == 0 || link->drained_below[VC_RSP];
    if (any || ring->credits >= link_front_flits(link, VC_CREQ, TRUE))
        return decision_ps;
    return MAX(decision_ps, link->credit->vc[VC_CREQ].due_ps);
}

/* Another domain looks at the end of each window; what needs an event of its own, or credits to wait for, has it. */
static G_GNUC_NO_INLINE void link_follow_up_domain(Link *link, gboolean in_time)
{
    SimTime decision_ps = link_decision_ps(link), wanted_ps = in_time ? link_wanted_ps(link) : decision_ps;
    SimTime event_ps = link->blocked ? decision_ps : wanted_ps;
    if ((in_time || link->blocked) && event_ps != SIMTIME_NEVER)
        link_send_by(link, event_ps);
    in_time = in_time && wanted_ps == decision_ps;
    if (link->late || (!link->ready && (in_time || link->blocked)))
        return;
    exchange_list_late(link->domain, link);
    link->late = TRUE;
}

/* An event is needed when nothing in flight comes by before whatever goes next would arrive itself (or the credits that
 * are freed would be back), or when somebody waits for the queue to drain. */
static inline void link_follow_up(Link *link)
{
    if (!link_is_unsettled(link))
        return;
    gboolean in_time = (link->someone_waits || link->in_time) && link_waits(link);
    if (G_UNLIKELY(link_leaves(link))) {
        link_follow_up_domain(link, in_time);
        return;
    }
    SimTime next_ps = link_next_ps(link);
    if (next_ps == SIMTIME_NEVER)
        return;
    SimTime due_ps = next_ps + link->slack_ps, wanted_ps = in_time ? link_wanted_ps(link) : SIMTIME_NEVER;
    if (wanted_ps < due_ps)
        due_ps = wanted_ps + 1;
    else if (link_has_reminder(link, due_ps))
        return;
    link_send_by(link, due_ps - 1);
}

void link_see_to(Link *link) { link_follow_up(link); }

void link_settle_now(Link *link, SimTime now_ps) { link_settle_all(link, now_ps); }

/* Decisions can wait: many at once cost less than one after the other. */
static inline gboolean link_can_wait(Link *link, SimTime now_ps)
{
    if (link->someone_waits || link->in_time)
        return FALSE;
    SimTime next_ps = link_next_ps(link), due_ps = next_ps + link->slack_ps;
    if (next_ps == SIMTIME_NEVER)
        return TRUE;
    if (due_ps <= now_ps + 1)
        return FALSE;
    link_send_by(link, due_ps - 1);
    return TRUE;
}

/* Settles while the packet still counts as in flight: none may go by `early` before it. */
Packet link_arrive_unsettled(Link *link, Vc v, SimTime now_ps)
{
    LinkRing *ring = &link->ring[v];
    gboolean settles = !link_can_wait(link, now_ps);
    if (settles)
        link_settle_all(link, now_ps);
    Packet packet = link_slot(ring, ring->head)->packet;
    if (++ring->head != ring->wire)
        sim_at_key(link->sim, &link->vc[v].arrive, link_due_ps(link_slot(ring, ring->head), now_ps));
    link_ring_lap(ring, link->ring[v].waiting);
    if (settles)
        link_follow_up(link);
    return packet;
}

void link_on_send(Event *event, SimTime now_ps)
{
    Link *link = EVENT_OWNER(event, Link, send);
    link->sending = FALSE;
    link_settle_now(link, now_ps);
    link_follow_up(link);
}

SimTime link_close(Link *link, SimTime last_ps)
{
    if (link_is_unsettled(link))
        link_settle_now(link, last_ps);
    return link_closed_ps(link);
}

SimTime link_closed_ps(Link *link)
{
    SimTime next_ps = link_next_ps(link);
    if (!link->ready && (link->blocked || (link->sending && link->send.time_ps <= next_ps)))
        next_ps = SIMTIME_NEVER; /* it has an event */
    link->late = next_ps != SIMTIME_NEVER;
    return next_ps;
}

guint32 link_queued(Link *link, Vc vc)
{
    if (link_is_unsettled(link))
        link_settle_now(link, sim_now_ps(link->sim));
    return link->ring[vc].waiting;
}

void link_set_drained(Link *link, Vc vc, guint32 below)
{
    link->drained_below[vc] = below;
    link->someone_waits = link->drained_below[VC_CREQ] || link->drained_below[VC_RSP];
    if (below)
        link_follow_up(link);
}

/* The wire is free, and all decisions are made. */
static void link_push_free(Link *link, unsigned v, Packet packet, SimTime not_before_ps)
{
    SimTime now_ps = sim_now_ps(link->sim);
    SimFine start = simfine_from_ps(MAX(now_ps, not_before_ps));
    if (link_enter(link, v, packet, start, now_ps, now_ps + link->ahead_ps))
        link_follow_up(link);
}

/* Nobody waits yet: somebody has to see to being called; or the ring is full. */
static void link_push_first(Link *link, unsigned v, Packet packet)
{
    gboolean waiting = link_waits(link);
    link_make_room(link, v);
    link_enqueue(link, v, packet);
    if (!waiting)
        link_follow_up(link);
}

void link_push_alone(Link *link, unsigned v, Packet packet, SimTime not_before_ps)
{
    if (link->free_at <= simfine_from_ps(sim_now_ps(link->sim) + link->ahead_ps))
        link_push_free(link, v, packet, not_before_ps);
    else
        link_push_first(link, v, packet);
}

void link_push(Link *link, Packet packet, SimTime not_before_ps)
{
    link_push_here(link, packet_vc(&packet), packet, not_before_ps, FALSE);
}

void link_set_down(Link *link, gboolean down)
{
    SimTime now_ps = sim_now_ps(link->sim);
    link_settle_now(link, now_ps);
    link->down = (guint8)down;
    if (!down && link->blocked) {
        link->retry_ps = now_ps;
        link_send_at(link, now_ps);
    }
}
