/* What egress_replay.c and egress_result.c share. */
#ifndef MODEL_FLOW_EGRESS_INTERNAL_H
#define MODEL_FLOW_EGRESS_INTERNAL_H

#include "model/flow/egress_replay.h"

/* A chunk's packets take one link one behind the other, so that they are simulated as one unit. */
#define PORT_CHUNK_LINES 2u

typedef struct {
    guint16 sm, link;
    guint32 next; /* in its queue */
    guint64 issued_ps;
} PortWaiting;

/* As in model/sm/egress_queue.c: first in, first out, one for each CPC. */
typedef struct {
    guint32 head, tail, count;
    guint32 half;        /* of the GPU, that it belongs to: 0 or 1 */
    guint64 turns;       /* as in gpu_next_waiter() */
    guint64 head_ps;     /* since when the first one is the first */
    guint32 users;       /* SMs that have something in it */
    guint32 sms;         /* that use it: a list by PortSm.next */
    guint64 sm_ps;       /* when the first of them issues, */
    guint32 sm;          /* and which; G_MAXUINT64: all stand still */
    guint32 first, last; /* that waits for a place: a list by PortSm.behind */
} PortQueue;

typedef struct {
    guint64 ready_ps, turn;   /* among those ready at that instant: who was so first */
    guint32 issued, out;      /* units so far, and those in its queue */
    guint32 queue, next;      /* next: PORT_NO_SM: the last */
    guint64 line;             /* the first of its instruction */
    guint32 link;             /* of its next unit */
    guint32 number;           /* among those that do the same, */
    const PortReplayed *as;   /* and who these are */
    guint32 at_once;          /* units issued without a pause */
    gboolean stalled, listed; /* it stands still; it is in its queue's list of those that wait for a place, */
    guint32 behind;           /* before this one; PORT_NO_SM: the last */
} PortSm;

typedef struct {
    guint64 room_ps;     /* when its queue has room */
    guint64 free_ps;     /* when the link is free, */
    guint64 answered_ps; /* and when the way back is, less what may wait for it */
    guint64 *left_ps;    /* when the last `depth` units left, or will leave, the queue: a ring, */
    guint32 next;        /* the oldest of them */
} PortLink;

typedef struct {
    const PortReplayed *stores, *loads;
    const Fabric *fabric;
    guint32 sms, n_queues;
    guint64 turn;
    guint64 turns[2], most_turns[2]; /* by half: units so far, and the most of a queue of it; */
    guint64 most;                    /* the most of a half */
    guint32 depth, out, sm_out;      /* limits in units: of a port's queue, of a queue before it, of an SM in that */
    PortLink *port;                  /* by link */
    PortSm *sm;
    PortQueue *queue;
    PortWaiting *waiting; /* all queues' entries; 0: none */
    guint32 free_entry;
    guint64 now_ps;
    guint32 sent, counted; /* units, the latter since queues have filled */
    guint64 wait_ps;       /* of all units */
    guint64 busy_ps;       /* of all links, of what got to ports since then, */
    guint64 backlog_ps;    /* and of what waited there by then */
    guint64 ahead_ps;      /* the time of answers that find room before their links; 0: all of them do */
    GArray *still_ps;      /* guint64, by instant n * PORT_SAMPLE_PS: what the last to wait then still waits */
} PortReplay;

/* A unit has been sent. */
void port_count(PortReplay *replay, guint64 issued_ps, guint64 start_ps);
/* Links' time that what has got to the ports by now still takes. */
guint64 port_backlog_ps(const PortReplay *replay);
/* Since begin_ps, when SMs had issued so many units. */
PortShare port_result(const PortReplay *replay, const guint32 *before, guint64 begin_ps);

#endif
