#include "model/link/internal.h"

LinkLog *link_log_new(void) { return g_new0(LinkLog, 1); }

void link_log_free(LinkLog *log)
{
    g_free(log->member);
    g_free(log->at);
    g_free(log);
}

/* A lap is over: as many slots as are needed, four times as many at most. */
void link_log_make_room(LinkLog *log)
{
    guint32 kept = 0, slots = log->at ? log->mask + 1 : 0, needed = 16;
    for (guint32 m = 0; m < log->members; m++)
        if (log->member[m].link)
            kept = MAX(kept, log->next - log->member[m].link->log_next);
    while (needed < 2 * kept + 1)
        needed *= 2;
    if (needed > slots || 2 * needed < slots) {
        Packet *at = g_new(Packet, needed);
        for (guint32 n = log->next - kept; n != log->next; n++)
            at[n & (needed - 1)] = log->at[n & log->mask];
        g_free(log->at);
        log->at = at;
        log->mask = needed - 1;
    }
    log->end = log->next - kept + log->mask + 1;
}

static void link_log_leave(Link *link)
{
    link_log_copy(link);
    link_log_keep_up(link);
    link->log->followers--;
    link->log->member[link->log_member].link = NULL;
}

void link_log_follow(LinkLog *log, Link *link, guint32 n, guint32 round, guint32 gpu)
{
    if (link->log == log)
        return;
    if (link->log)
        link_log_leave(link);
    if (n >= log->members) {
        log->member = g_renew(struct LinkLogMember, log->member, n + 1);
        memset(&log->member[log->members], 0, (n + 1 - log->members) * sizeof *log->member);
        log->members = n + 1;
    }
    link->log = log;
    link->log_gpu = gpu & 0x3ffu;
    link->log_member = (guint16)n;
    link->log_next = log->next;
    log->member[n] = (struct LinkLogMember){.link = link, .round = round};
    log->followers++;
}

void link_log_copy(Link *link)
{
    LinkRing *ring = &link->ring[VC_CREQ];
    if (link_log_is_behind(link))
        link_log_take(link);
    for (; link->logged; link->logged--, link->log_next++) {
        guint32 own = link_in_ring(link, VC_CREQ);
        if (link_ring_is_full(ring, own))
            link_ring_grow(ring);
        link_slot(ring, ring->wire + own)->packet = link_log_packet(link, *link_log_first(link));
    }
}

void link_serve_logged(Link *link, SimFine start, SimFine at, SimTime now_ps)
{
    link_decide_any(link, TRUE, start, at, now_ps);
}

/* To another domain. */
static inline void link_log_leaves(Link *link, ReplicaBox *box, Packet packet, SimTime at_ps)
{
    if (box)
        exchange_replica(box, link, packet, at_ps);
    else
        exchange_packet(link->domain, link, packet, at_ps);
}

/* Replicas one after the other, as link_decide() sends them when nothing else waits: with the port's state in
 * registers. It ends where another decision is due, or anything is out of the ordinary. */
static void link_run_log(Link *link, SimFine until)
{
    const LinkLog *log = link->log;
    if ((link->rare & LINK_WATCHED) | link->down | link->someone_waits || !link->answers)
        return;
    guint32 first = link->log_next, n = first, end = n + link->logged;
    ReplicaBox *box = link->rare ? exchange_replicas(link) : NULL;
    LinkReadyRing *lane = link->rare ? NULL : &link->answers->lane[LINK_LANE_REQUESTS];
    LinkReady *put_end = NULL, *put_first = lane ? link_ready_room(lane, &put_end) : NULL, *put = put_first;
    SimFine free_at = link->free_at;
    gint32 credits = link->ring[VC_CREQ].credits;
    for (; n != end && free_at <= until; n++) {
        Packet entry = log->at[n & log->mask], packet = packet_unheld(link_log_packet_to(link, entry));
        guint32 flits = packet.flits;
        if (credits < (gint32)flits || replica_answer(packet) == REPLICA_BY_RECORD)
            break;
        credits -= (gint32)flits;
        link_count_packet(link, packet);
        if (link_log_frees(link, entry))
            link_credits_free(link->ingress[entry.hold][VC_CREQ], VC_CREQ, flits, simfine_to_ps(free_at));
        free_at += flits * link->flit_time;
        SimTime at_ps = simfine_to_ps(free_at) + link->ring[VC_CREQ].delay_ps;
        if (G_UNLIKELY(!lane)) {
            link_log_leaves(link, box, packet, at_ps);
            continue;
        }
        if (G_UNLIKELY(put == put_end)) {
            lane->count += (guint32)(put - put_first);
            put = put_first = link_ready_room(lane, &put_end);
        }
        *put++ = (LinkReady){at_ps, packet};
    }
    if (n == first)
        return;
    if (lane) {
        lane->count += (guint32)(put - put_first);
        link_lane_more(link->answers, LINK_LANE_REQUESTS, link_ready_peek(lane)->at_ps);
    }
    link->last_vc = VC_CREQ;
    link->ring[VC_CREQ].waiting = link->logged = end - n;
    link->log_next = n;
    link->ring[VC_CREQ].credits = credits;
    link->free_at = free_at;
}

/* The next decision lacks credits, and none have come. */
static inline gboolean link_lacks_credits(Link *link)
{
    unsigned v = link->last_vc ^ (link->ring[link->last_vc ^ 1u].waiting != 0);
    SimTime at_ps = simfine_to_ps(link->free_at);
    if (link->ring[v].credits >= link_front_flits(link, v, TRUE))
        return FALSE;
    if (link->credit->vc[v].due_ps > at_ps)
        return TRUE;
    link->starved = 0; /* as link_serve_short() leaves it */
    link_collect_credits(link, (Vc)v, at_ps);
    return link->ring[v].credits < link_front_flits(link, v, TRUE);
}

/* Decisions up to then. known: as long as something of the log is known to wait, and has credits. */
static ALWAYS_INLINE void link_decide_logged(Link *link, SimTime until_ps, gboolean known)
{
    SimFine until = simfine_from_ps(until_ps);
    if (G_UNLIKELY(link->blocked) && link->retry_ps <= until_ps)
        link_unblock(link, link->retry_ps);
    while (link_waits(link) && link->free_at <= until && !link->blocked) {
        if (link->ring[VC_RSP].waiting == 0 && link->logged == link->ring[VC_CREQ].waiting) {
            link_run_log(link, until);
            if (!link_waits(link) || link->free_at > until)
                return;
        }
        if (known && (link->logged == 0 || link_lacks_credits(link)))
            return;
        link_decide_any(link, TRUE, link->free_at, link->free_at, until_ps);
    }
}

/* ---- packets of the log join a port's queue */

/* The next one of them does, when all decisions before that are made. TRUE: somebody has to see to it. */
static gboolean link_log_join(Link *link, const LinkLogJoin *join)
{
    const LinkLog *log = link->log;
    SimTime at_ps = join->at_ps, until_ps = at_ps + link->ahead_ps;
    SimFine start = simfine_from_ps(at_ps + log->member[link->log_member].round * (SimTime)join->round_ps);
    if (link->logged == 0 && link->free_at <= simfine_from_ps(until_ps)) { /* it may go at once */
        Packet packet = link_log_packet(link, log->at[link->log_next++ & log->mask]);
        return link_enter(link, VC_CREQ, packet, start, at_ps, until_ps);
    }
    gboolean waited = link_waits(link);
    link->logged++;
    link_count_peak(link, ++link->ring[VC_CREQ].waiting);
    return link_go_on(link, waited, start, at_ps, until_ps);
}

/* All that have joined do so one by one. */
static G_GNUC_NO_INLINE void link_log_join_each(Link *link)
{
    const LinkLog *log = link->log;
    gboolean sees = FALSE;
    for (guint32 n; (n = link->log_next + link->logged) != log->next;) {
        const LinkLogJoin *join = &log->join[n % LINK_LOG_JOINS];
        if (link_waits(link) && link->free_at > simfine_from_ps(join->at_ps)) { /* the wire is busy */
            link->logged++;
            link_count_peak(link, ++link->ring[VC_CREQ].waiting);
            continue;
        }
        link_decide_logged(link, join->at_ps, FALSE);
        sees |= link_log_join(link, join);
    }
    if (sees)
        link_see_to(link);
}

/* What has joined is taken in. While the port has packets to send that it knows of, it matters to none of its decisions
 * when the others joined, nor to anybody else, but for a queue longer than ever. */
static ALWAYS_INLINE void link_log_catch_up(Link *link, SimTime until_ps)
{
    LinkLog *log = link->log;
    LinkRing *ring = &link->ring[VC_CREQ];
    guint32 joined = log->next - (link->log_next + link->logged);
    gboolean simple = ring->waiting + joined <= link->queue_peak && !link->blocked;
    if (simple)
        link_decide_logged(link, until_ps, TRUE);
    if (simple && link->logged && link->free_at > simfine_from_ps(until_ps)) {
        link->logged += joined;
        ring->waiting += joined;
    } else {
        link_log_join_each(link);
    }
}

/* It is left behind from now on, if that is possible: what joins a blocked port may let another packet go at once. */
static inline void link_log_lag(Link *link)
{
    const LinkLog *log = link->log;
    struct LinkLogMember *member = &log->member[link->log_member];
    guint32 odd = (link->rare & LINK_WATCHED) | link->blocked | link->someone_waits | link->ready;
    member->behind = odd == 0 && link->logged && link->ahead_ps == 0;
    member->base = log->next - link->ring[VC_CREQ].waiting;
}

void link_settle_logged(Link *link, SimTime until_ps)
{
    gboolean behind = link_log_is_behind(link);
    if (behind)
        link_log_catch_up(link, until_ps);
    link_decide_logged(link, until_ps, FALSE);
    if (behind)
        link_log_lag(link);
}

void link_log_take(Link *link)
{
    link_settle_logged(link, sim_now_ps(link->sim));
    link_log_keep_up(link);
}

void link_log_take_all(LinkLog *log, SimTime now_ps)
{
    for (guint32 m = 0; m < log->members; m++)
        if (log->member[m].behind)
            link_settle_logged(log->member[m].link, now_ps);
    log->taken = log->next;
}

/* The last packet joins a port that is not behind. A port that is busy with others of the log has nothing to decide. */
static void link_log_push_one(LinkLog *log, Link *link, SimTime now_ps)
{
    SimTime until_ps = now_ps + link->ahead_ps;
    gboolean free = link->free_at <= simfine_from_ps(until_ps);
    if (link_is_unsettled(link) && (free || link->ready >> VC_CREQ & 1))
        link_settle_now(link, now_ps);
    link->log_next = log->next - 1 - link->logged;
    if (link_log_join(link, &log->join[(log->next - 1) % LINK_LOG_JOINS]))
        link_see_to(link);
    link_log_lag(link);
}

/* Of two queues the longer one, or the one of the later member, has the greater key: a branch would be a guess. */
static inline guint64 link_log_key(guint32 m, guint32 waiting) { return (guint64)waiting << 32 | (m + 1); }
#define LINK_LOG_NONE ((guint64)1 << 32) /* less than of any queue with a packet */

/* The key of a member that is behind, or a greater one; 0 of one that is not. */
static inline guint64 link_log_bound(const LinkLog *log, guint32 m)
{
    return link_log_key(m, log->next - log->member[m].base) & -(guint64)log->member[m].behind;
}

/* Of those behind, the one that may have the longest queue. */
static inline guint64 link_log_guess(const LinkLog *log)
{
    guint64 guess = 0;
    for (guint32 m = 0; m < log->members; m++) {
        guint64 bound = link_log_bound(log, m);
        guess = MAX(guess, bound);
    }
    return guess;
}

/* A member that is behind is looked at: the longest queue, as far as known. */
static guint64 link_log_look(LinkLog *log, guint32 m, guint64 longest, SimTime now_ps)
{
    Link *link = log->member[m].link;
    link_settle_logged(link, now_ps);
    guint64 key = link_log_key(m, link->ring[VC_CREQ].waiting);
    return MAX(longest, key);
}

/* Those that are not behind: the key of the longest queue. */
static inline guint64 link_log_push_all(LinkLog *log, SimTime now_ps)
{
    guint64 longest = LINK_LOG_NONE;
    for (guint32 m = 0; m < log->members; m++) {
        Link *link = log->member[m].link;
        if (log->member[m].behind || !link)
            continue;
        link_log_push_one(log, link, now_ps);
        guint64 key = link_log_key(m, link->ring[VC_CREQ].waiting);
        longest = MAX(longest, key);
    }
    return longest;
}

Link *link_log_push(LinkLog *log, SimTime now_ps)
{
    guint64 longest = link_log_push_all(log, now_ps), guess = link_log_guess(log);
    if (guess > longest) {
        longest = link_log_look(log, (guint32)guess - 1, longest, now_ps);
        for (guint32 m = log->members; guess > longest && m-- > 0;)
            if (link_log_bound(log, m) > longest)
                longest = link_log_look(log, m, longest, now_ps);
    }
    return longest > LINK_LOG_NONE ? log->member[(guint32)longest - 1].link : NULL;
}
