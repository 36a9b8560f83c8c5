/* The half of the loop for replicas (gpu_replicas.c) that sends: answers in runs, of those that wait and of those that
 * have been taken in ahead, and the port's own requests between them. */
#ifndef MODEL_FASTPATH_GPU_REPLICAS_SEND_H
#define MODEL_FASTPATH_GPU_REPLICAS_SEND_H

#include "model/fastpath/early.h"
#include "model/fastpath/gpu_replicas_join.h"

/* Nobody collects credits meanwhile. */
static ALWAYS_INLINE void replicas_note_credits(Replicas *run)
{
    const Link *up = run->up;
    gboolean waits = up->ring[VC_CREQ].waiting && up->ring[VC_CREQ].credits < link_front_flits(up, VC_CREQ, FALSE);
    run->short_until_ps = waits ? up->credit->vc[VC_CREQ].due_ps : 0;
}

/* A LinkEarly: all that this loop sends is an answer of a replica. */
static ALWAYS_INLINE gboolean replicas_tell(void *node, Link *up, Packet packet, SimTime at_ps)
{
    return switch_count_here(((SwitchPort *)node)->sw, up, packet, at_ps, link_leaves(up));
}

/* It is the turn of the port's own requests: one goes, if nobody waits for that; or they yield from now on, since no
 * more credits have come. */
static ALWAYS_INLINE gboolean replicas_send_own(Replicas *run)
{
    Link *up = run->up;
    LinkRing *own = &up->ring[VC_CREQ];
    LinkSlot *slot = link_slot(own, own->wire);
    if (up->someone_waits)
        return FALSE;
    if (own->credits < slot->packet.flits) { /* as link_serve_short() */
        if (up->ring[VC_RSP].waiting == 0 || !link_collect_due(up, VC_CREQ, simfine_to_ps(up->free_at)))
            return FALSE;
        replicas_note_credits(run);
        if (own->credits < slot->packet.flits)
            return TRUE;
    }
    own->waiting--;
    link_wire_first(up, own, VC_CREQ, slot, link_early_asked, up->free_at);
    replicas_note_credits(run);
    return TRUE;
}

/* The answer that waits first goes; FALSE: it lacks credits, or is no answer of a replica. */
static inline gboolean replicas_send_one(Replicas *run)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    SimFine start = up->free_at;
    LinkSlot *slot = link_slot(ring, ring->wire);
    if (ring->credits < (gint32)slot->packet.flits || !packet_is_counted(slot->packet))
        return FALSE;
    ring->waiting--;
    run->sent_ps[++run->sent] = simfine_to_ps(start);
    link_wire_first(up, ring, VC_RSP, slot, replicas_tell, start);
    return TRUE;
}

/* When the next answer goes, if it is its turn as soon as it has joined: of what is staged. */
static ALWAYS_INLINE SimFine replicas_staged_joins(const Replicas *run, const LinkSlot *slot)
{
    return simfine_from_ps(link_slot_joins_ps(slot, run->staged_ps));
}

/* Who hears of an answer: its record; that of another domain, which rests meanwhile, and a letter where there is more
 * to do than to count; a letter. What is only counted may overtake letters of its channel: a record keeps the latest
 * time of its answers, in whatever order it hears of them. */
typedef enum { REPLICAS_HERE, REPLICAS_AT_REST, REPLICAS_LETTERS } ReplicasWay;

/* There is more to do for an answer than to count it and to note its credits. */
static ALWAYS_INLINE gboolean replicas_needs_more(const McRecord *record, const LinkCredits *freed, SimTime at_ps)
{
    return record->odd || !link_credits_reach(freed, VC_RSP, at_ps);
}

/* The first credits that come back of what a run sent, at_ps; 0: none. */
static ALWAYS_INLINE void replicas_announce(Replicas *run, LinkCredits *freed, ReplicasWay way, SimTime at_ps)
{
    if (at_ps == 0)
        return;
    link_credits_announce(freed, VC_RSP, at_ps);
    if (way == REPLICAS_AT_REST)
        exchange_note(run->up->domain, at_ps);
}

/* Answers go one after the other, `most` of them up to `until` (the first one: first_until): replicas_send_one() with
 * the port's state in registers. It ends where anything is out of the ordinary. staged: no earlier than each joins;
 * *idle counts those that found the wire free. How many. */
static ALWAYS_INLINE guint32 replicas_send_run(Replicas *run, ReplicasWay way, gboolean staged, guint32 most,
                                               SimFine first_until, SimFine until, guint32 *idle)
{
    Link *up = run->up;
    LinkRing *ring = run->ring;
    Switch *sw = ((SwitchPort *)up->sink_node)->sw;
    SimTime *sent_ps = &run->sent_ps[run->sent + 1];
    LinkCredits *freed = up->credit;
    SimFine free_at = up->free_at;
    SimTime first_ps = 0;
    gint32 credits = ring->credits;
    guint32 n = 0, wire = ring->wire, found = 0;
    for (SimFine limit = first_until; n < most; limit = until) {
        const LinkSlot *slot = link_slot(ring, wire + n);
        SimFine joins = staged ? replicas_staged_joins(run, slot) : 0, start = MAX(free_at, joins);
        if (start > limit)
            break;
        Packet packet = slot->packet;
        McRecord *record = &sw->record[packet.txn];
        guint32 flits = packet.flits;
        SimFine end = start + flits * up->flit_time;
        SimTime at_ps = simfine_to_ps(end) + ring->delay_ps;
        if (G_UNLIKELY(credits < (gint32)flits || !packet_is_counted(packet)) || /* others have no record */
            (way == REPLICAS_HERE && replicas_needs_more(record, freed, at_ps)))
            break;
        gboolean letter = way == REPLICAS_LETTERS ||
                          (way == REPLICAS_AT_REST && replicas_needs_more(record, freed, at_ps));
        if (staged)
            found += free_at <= joins;
        else
            sent_ps[n] = simfine_to_ps(start);
        n++;
        free_at = end;
        credits -= (gint32)flits;
        link_count_packet(up, packet);
        if (letter) {
            exchange_packet(up->domain, up, packet, at_ps);
        } else {
            __builtin_prefetch(&sw->record[link_slot(ring, wire + n)->packet.txn], 1);
            first_ps = first_ps ? first_ps : at_ps;
            link_credits_note(freed, VC_RSP, flits, at_ps);
            switch_count_record(sw, record, up, packet, at_ps);
        }
    }
    if (n == 0)
        return 0;
    replicas_announce(run, freed, way, first_ps);
    up->free_at = free_at;
    up->last_vc = VC_RSP;
    ring->credits = credits;
    ring->waiting -= n;
    ring->head = ring->wire = wire + n;
    link_ring_lap(ring, ring->waiting);
    if (staged) {
        run->staged -= n;
        *idle = found;
    } else {
        run->sent += n;
    }
    return n;
}

static ALWAYS_INLINE guint32 replicas_send_by(Replicas *run, gboolean staged, guint32 most, SimFine first_until,
                                              SimFine until, guint32 *idle)
{
    if (!link_leaves(run->up))
        return replicas_send_run(run, REPLICAS_HERE, staged, most, first_until, until, idle);
    return run->at_rest ? replicas_send_run(run, REPLICAS_AT_REST, staged, most, first_until, until, idle)
                        : replicas_send_run(run, REPLICAS_LETTERS, staged, most, first_until, until, idle);
}

/* What waits before what is staged goes, or that. */
static ALWAYS_INLINE guint32 replicas_send_some(Replicas *run, SimFine first_until, SimFine until, guint32 *idle)
{
    LinkRing *ring = run->ring;
    guint32 before = ring->waiting - run->staged, array = ring->mask + 1 - (ring->wire & ring->mask);
    *idle = 0;
    guint32 most = before ? MIN(before, REPLICAS_RUN - run->sent) : run->staged;
    most = MIN(most, array); /* link_ring_lap() looks at the array's end */
    return before ? replicas_send_by(run, FALSE, most, first_until, until, idle)
                  : replicas_send_by(run, TRUE, most, first_until, until, idle);
}

/* The first answer has not joined when the wire is free. */
static ALWAYS_INLINE gboolean replicas_joins_later(const Replicas *run)
{
    const LinkRing *ring = run->ring;
    return run->staged && run->staged == ring->waiting &&
           replicas_staged_joins(run, link_slot(ring, ring->wire)) >= run->up->free_at;
}

/* No answer has joined yet, and the port's own requests wait: one goes, or credits come before an answer does. */
static ALWAYS_INLINE gboolean replicas_own_alone(Replicas *run)
{
    Link *up = run->up;
    LinkRing *own = &up->ring[VC_CREQ];
    if (own->credits < link_slot(own, own->wire)->packet.flits && simfine_to_ps(up->free_at) < run->short_until_ps) {
        if (run->short_until_ps > run->staged_ps)
            return FALSE;
        up->credit_stalls += !up->blocked; /* as link_arbitrate_short(), and link_block() at once */
        up->starved = 1u << VC_CREQ;
        up->blocked = FALSE;
        up->free_at = simfine_from_ps(run->short_until_ps);
    }
    return replicas_send_own(run);
}

#endif
