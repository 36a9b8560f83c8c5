/* A log: what several ports all send, in the same order.
 *
 * What hardware it stands for: nothing; each port has a queue of its own. But the replicas of a team's multicast
 * requests wait at all of its members' ports, a thousand at each when the fabric is full, so they are written once: a
 * port that follows a log only counts how many of the last ones in its queue are the log's, and where it is in it. Such
 * packets stand behind all others of the queue; when another packet comes behind them, the port takes copies. */
#ifndef MODEL_FASTPATH_LINK_LOG_H
#define MODEL_FASTPATH_LINK_LOG_H

#include "model/link/link.h"

/* A packet of the log joins all queues at one time, but a port need not look then: while it has packets of the log to
 * send, it is left behind, and takes in what has joined meanwhile, each as of its time, when somebody looks at it. */
typedef struct {
    SimTime at_ps;      /* when it joined, */
    guint32 round_ps;   /* and how much later it may leave by each next round */
} LinkLogJoin;
#define LINK_LOG_JOINS 128u

/* Of an entry, `dst` and `hold` are for the one port whose GPU is `dst`: it frees that ingress buffer. */
struct LinkLog {
    Packet *at;
    guint32 mask;       /* slots, a power of two, less 1 */
    guint32 next, end;  /* of the next packet, and of the first one that there may be no room for */
    guint32 taken;      /* all have taken in what is before it: no more than LINK_LOG_JOINS */
    guint32 members, followers;
    struct LinkLogMember {
        Link *link;     /* NULL: it follows another log now */
        guint32 round;
        guint32 behind; /* 1: it is, */
        guint32 base;   /* and next - base is its queue if nothing has left it since it was looked at */
    } *member;
    LinkLogJoin join[LINK_LOG_JOINS]; /* of the last ones, by position */
};

LinkLog *link_log_new(void);
void link_log_free(LinkLog *log);
/* Room for one more packet, which all who follow still need. */
void link_log_make_room(LinkLog *log);
void link_log_take_all(LinkLog *log, SimTime now_ps);
/* As its n-th member, from the next packet on; it may follow another log now. round: of a replication. */
void link_log_follow(LinkLog *log, Link *link, guint32 n, guint32 round, guint32 gpu);
/* Copies of what waits into the link's own queue: it is up to date with its log. */
void link_log_copy(Link *link);

static inline void link_log_add(LinkLog *log, Packet packet, SimTime now_ps, SimTime round_ps)
{
    if (G_UNLIKELY(log->next == log->end))
        link_log_make_room(log);
    if (G_UNLIKELY(log->next - log->taken == LINK_LOG_JOINS))
        link_log_take_all(log, now_ps);
    log->join[log->next % LINK_LOG_JOINS] = (LinkLogJoin){now_ps, (guint32)round_ps};
    log->at[log->next++ & log->mask] = packet;
}

static inline gboolean link_log_is_behind(const Link *link)
{
    return link->log && link->log->member[link->log_member].behind;
}

/* From now on it looks at each packet that joins. */
static inline void link_log_keep_up(Link *link) { link->log->member[link->log_member].behind = 0; }

/* The first one that waits at the link. */
static inline const Packet *link_log_first(const Link *link)
{
    return &link->log->at[link->log_next & link->log->mask];
}

/* An entry as the link sends it. In one word, as registers hold it. */
static inline Packet link_log_packet_to(const Link *link, Packet entry)
{
    guint64 own = (Packet){.dst = link->log_gpu & 0x3ffu}.bits, dst = (Packet){.dst = 0x3ffu}.bits;
    return (Packet){.bits = (entry.bits & ~dst) | own};
}
/* Only one of those who send it frees the ingress buffer, if it holds one. */
static inline gboolean link_log_frees(const Link *link, Packet entry)
{
    return (entry.dst == link->log_gpu) & (entry.hold != HOLD_NONE);
}
static inline Packet link_log_packet(const Link *link, Packet entry)
{
    Packet packet = link_log_packet_to(link, entry);
    return link_log_frees(link, entry) ? packet : packet_unheld(packet);
}

static inline Packet *link_log_last(const LinkLog *log) { return &log->at[(log->next - 1) & log->mask]; }

/* The last packet of the log joins the queues of all who follow it, as by link_push() one after the other. The one with
 * the longest queue, itself included, the last one of several; NULL: it is on all wires. */
Link *link_log_push(LinkLog *log, SimTime now_ps);
/* Whoever is behind is no more. */
void link_log_take(Link *link);

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
