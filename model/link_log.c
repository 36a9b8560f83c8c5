#include "model/link_internal.h"

LinkLog *link_log_new(void)
{
    LinkLog *log = g_new0(LinkLog, 1);
    log->link = g_ptr_array_new();
    return log;
}

void link_log_free(LinkLog *log)
{
    g_ptr_array_free(log->link, TRUE);
    g_free(log->at);
    g_free(log);
}

/* A lap is over: as many slots as are needed, four times as many at most. */
void link_log_make_room(LinkLog *log)
{
    guint32 kept = 0, slots = log->at ? log->mask + 1 : 0, needed = 16;
    for (guint i = 0; i < log->link->len; i++) {
        const Link *link = log->link->pdata[i];
        kept = MAX(kept, log->next - link->log_next);
    }
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

void link_log_follow(LinkLog *log, Link *link, guint32 gpu)
{
    if (link->log == log)
        return;
    if (link->log) {
        link_log_copy(link);
        g_ptr_array_remove_fast(link->log->link, link);
    }
    link->log = log;
    link->log_gpu = gpu & 0x3ffu;
    link->log_next = log->next;
    g_ptr_array_add(log->link, link);
}

void link_log_copy(Link *link)
{
    LinkRing *ring = &link->ring[VC_CREQ];
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

/* Replicas one after the other, as link_decide() sends them when nothing else waits: with the port's state in
 * registers. It ends where another decision is due, or anything is out of the ordinary. */
static void link_run_log(Link *link, SimFine until)
{
    const LinkLog *log = link->log;
    const LinkRing *ring = &link->ring[VC_CREQ];
    if ((link->rare & LINK_WATCHED) | link->down | link->someone_waits || !link->answers || ring->wire != ring->head)
        return;
    guint32 n = link->log_next, end = n + link->logged;
    ReplicaBox *box = link->rare ? exchange_replicas(link) : NULL;
    SimFine free_at = link->free_at;
    gint32 credits = link->ring[VC_CREQ].credits;
    for (; n != end && free_at <= until; n++) {
        Packet packet = link_log_packet(link, log->at[n & log->mask]);
        guint32 flits = packet.flits;
        if (credits < (gint32)flits || replica_answer(packet.src) == REPLICA_BY_RECORD)
            break;
        credits -= (gint32)flits;
        PACKET_ADD(link->count[packet.kind].packets, packet);
        link->count[packet.kind].flits += flits;
        if (packet.hold != HOLD_NONE)
            link_credit(link->ingress[packet.hold], VC_CREQ, flits, simfine_to_ps(free_at));
        free_at += flits * link->flit_time;
        SimTime at_ps = simfine_to_ps(free_at) + link->ring[VC_CREQ].delay_ps;
        if (box)
            exchange_replica(box, link, packet, at_ps);
        else if (link->rare)
            exchange_packet(link->domain, link, packet, at_ps);
        else
            link_tell_replica(link, packet, at_ps);
        link->last_vc = VC_CREQ;
    }
    link->ring[VC_CREQ].waiting = link->logged = end - n;
    link->log_next = n;
    link->ring[VC_CREQ].credits = credits;
    link->free_at = free_at;
}

void link_settle_logged(Link *link, SimTime until_ps)
{
    SimFine until = simfine_from_ps(until_ps);
    while (link_waits(link) && link->free_at <= until && !link->blocked) {
        if (link->ring[VC_RSP].waiting == 0 && link->logged == link->ring[VC_CREQ].waiting) {
            link_run_log(link, until);
            if (!link_waits(link) || link->free_at > until)
                return;
        }
        link_decide_any(link, TRUE, link->free_at, link->free_at, until_ps);
    }
}

void link_log_push_slow(LinkLog *log, Link *link, SimTime not_before_ps)
{
    SimTime now_ps = sim_now_ps(link->sim), until_ps = now_ps + link->ahead_ps;
    gboolean free = link->free_at <= simfine_from_ps(until_ps);
    if (link_is_unsettled(link) && (free || link->ready >> VC_CREQ & 1))
        link_settle_now(link, now_ps);
    if (link->logged == 0 && free) { /* it may go at once */
        link->log_next = log->next;
        link_push(link, link_log_packet(link, *link_log_last(log)), not_before_ps);
        return;
    }
    gboolean waited = link_waits(link);
    link->log_next = log->next - ++link->logged;
    link_count_peak(link, ++link->ring[VC_CREQ].waiting);
    if (link_go_on(link, waited, simfine_from_ps(MAX(now_ps, not_before_ps)), now_ps, until_ps))
        link_see_to(link);
}
