/* A log: what several ports all send, in the same order.
 *
 * What hardware it stands for: nothing; each port has a queue of its own. But the replicas of a team's multicast
 * requests wait at all of its members' ports, a thousand at each when the fabric is full, so they are written once: a
 * port that follows a log only counts how many of the last ones in its queue are the log's, and where it is in it. Such
 * packets stand behind all others of the queue; when another packet comes behind them, the port takes copies. */
#ifndef MODEL_LINK_LOG_H
#define MODEL_LINK_LOG_H

#include "model/link.h"

/* Of an entry, `dst` and `hold` are for the one port whose GPU is `dst`: it frees that ingress buffer. */
struct LinkLog {
    Packet *at;
    guint32 mask;       /* slots, a power of two, less 1 */
    guint32 next, end;  /* of the next packet, and of the first one that there may be no room for */
    GPtrArray *link;    /* who follows it */
};

LinkLog *link_log_new(void);
void link_log_free(LinkLog *log);
/* Room for one more packet, which all who follow still need. */
void link_log_make_room(LinkLog *log);
/* From the next packet on; it may follow another log now. */
void link_log_follow(LinkLog *log, Link *link, guint32 gpu);
/* Copies of what waits into the link's own queue: it is up to date with its log. */
void link_log_copy(Link *link);

static inline void link_log_add(LinkLog *log, Packet packet)
{
    if (G_UNLIKELY(log->next == log->end))
        link_log_make_room(log);
    log->at[log->next++ & log->mask] = packet;
}

/* The first one that waits at the link. */
static inline const Packet *link_log_first(const Link *link)
{
    return &link->log->at[link->log_next & link->log->mask];
}

/* An entry as the link sends it: only one of them frees the ingress buffer. In one word, as registers hold it. */
static inline Packet link_log_packet(const Link *link, Packet entry)
{
    guint64 own = (Packet){.dst = link->log_gpu & 0x3ffu}.bits, dst = (Packet){.dst = 0x3ffu}.bits;
    guint64 others = -(guint64)((entry.bits & dst) != own) & (Packet){.hold = HOLD_NONE}.bits;
    return (Packet){.bits = (entry.bits & ~dst) | own | others};
}

static inline Packet *link_log_last(const LinkLog *log) { return &log->at[(log->next - 1) & log->mask]; }

void link_log_push_slow(LinkLog *log, Link *link, SimTime not_before_ps);
/* The last packet of the log joins a link that follows it, as by link_push(). A port that is busy with others of the
 * log has nothing to decide. */
static inline void link_log_push(LinkLog *log, Link *link, SimTime now_ps, SimTime not_before_ps)
{
    if ((link->logged == 0) | (link->ready >> VC_CREQ & 1) |
        (link->free_at <= simfine_from_ps(now_ps + link->ahead_ps))) {
        link_log_push_slow(log, link, not_before_ps);
        return;
    }
    link->logged++;
    link_count_peak(link, ++link->ring[VC_CREQ].waiting);
}

/* The last packet of the log, which waits at this link, holds a place in that ingress buffer until it leaves there. */
static inline void link_log_hold(LinkLog *log, Link *link, guint32 hold)
{
    if (link->logged == 0) {
        link_hold_last(link, VC_CREQ, hold);
        return;
    }
    link_log_last(log)->dst = link->log_gpu & 0x3ffu;
    link_log_last(log)->hold = hold & HOLD_NONE;
}

#endif
