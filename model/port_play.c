/* See port_play.h. */
#include "model/port_play.h"

#include <math.h>

#include "model/sm.h"

/* A chunk's packets take one link one behind the other, so that they are played as one unit (as link.train_packets). */
#define PORT_CHUNK_LINES 2u
#define PORT_UNITS 24576u         /* played */
#define PORT_UNITS_BEFORE 4096u   /* not counted: queues fill */
#define PORT_ARRAY_LINES 32768u   /* from one SM's array to the next one's: NCCL's slots of 4 MiB */
#define PORT_SPREAD_PS 1000000u   /* in which the SMs begin */
#define PORT_LOOK_PS 500000u      /* from one look at what still waits, as a fence has, to the next */
#define PORT_WARP_LINES 4u        /* that a warp stores at once: 16 B a lane */
#define PORT_WARP_UNITS (PORT_WARP_LINES / PORT_CHUNK_LINES)
#define PORT_NOBODY G_MAXUINT32

typedef struct {
    guint16 sm, link;
    guint32 next; /* in its queue */
    guint64 issued_ps;
} PortWaiting;

/* As in sm_out.c: first in, first out. */
typedef struct {
    guint32 head, tail, count;
    guint64 head_ps; /* since when the first one is the first */
    guint32 sms;     /* that use it: a list by PortSm.next */
    guint64 sm_ps;   /* when the first of them issues, */
    guint32 sm;      /* and which; G_MAXUINT64: all stand still */
    guint32 first, last; /* that waits for a place: a list by PortSm.behind */
} PortQueue;

typedef struct {
    guint64 ready_ps, turn; /* among those ready at that instant: who was so first */
    guint32 issued, out;    /* units so far, and those in its queue */
    guint32 queue, next;    /* next: PORT_NOBODY: the last */
    guint64 line;           /* the first of its instruction */
    guint32 link;           /* of its next unit */
    guint32 at_once;        /* units issued without a pause */
    gboolean stalled, listed; /* it stands still; it is in its queue's list of those that wait for a place, */
    guint32 behind;         /* before this one; PORT_NOBODY: the last */
} PortSm;

typedef struct {
    guint64 room_ps;        /* when its queue has room */
    guint64 free_ps;        /* when the link is free */
    guint64 *left_ps;       /* when the last `depth` units left, or will leave, the queue: a ring, */
    guint32 next;           /* the oldest of them */
} PortLink;

typedef struct {
    const PortKind *kind;
    const Fabric *fabric;
    guint32 sms, n_queues;
    guint64 issue_ps, turn;
    guint32 depth, out, sm_out; /* limits in units: of a port's queue, of a queue before it, of an SM in that */
    PortLink *port;         /* by link */
    PortSm *sm;
    PortQueue *queue;
    PortWaiting *waiting;   /* all queues' entries; 0: none */
    guint32 free_entry;
    guint64 now_ps;
    guint32 sent;
    guint64 wait_ps;        /* of all units */
    GArray *still_ps;       /* guint64, by instant n * PORT_LOOK_PS: what the last to wait then still waits */
} PortPlay;

/* The line of an SM's next instruction. */
static guint64 port_line(const PortPlay *play, guint32 s)
{
    const PortKind *kind = play->kind;
    guint64 n = play->sm[s].issued / PORT_WARP_UNITS, cta = (guint64)kind->warps * PORT_WARP_LINES;
    guint64 warp = n % kind->warps, turn = n / kind->warps / kind->copies;
    if (kind->unroll > 1)
        turn = n / kind->warps / kind->unroll / kind->copies * kind->unroll + n / kind->warps % kind->unroll;
    guint64 at = kind->strided ? (turn * play->sms + s) * cta : (guint64)s * PORT_ARRAY_LINES + turn * cta;
    return at + warp * PORT_WARP_LINES;
}

static void port_next(PortPlay *play, guint32 s)
{
    PortSm *sm = &play->sm[s];
    guint32 unit = sm->issued % PORT_WARP_UNITS;
    if (unit == 0)
        sm->line = port_line(play, s);
    sm->link = hash_link(&play->fabric->hash, (sm->line + unit * PORT_CHUNK_LINES) * LINE_BYTES, 1);
}

/* When the port has room. */
static guint64 port_room_ps(const PortPlay *play, guint32 link)
{
    return play->port[link].room_ps;
}

static void port_count(PortPlay *play, guint64 issued_ps, guint64 start_ps)
{
    play->wait_ps += start_ps - issued_ps;
    for (guint64 n = (issued_ps + PORT_LOOK_PS - 1) / PORT_LOOK_PS; n * PORT_LOOK_PS < start_ps; n++) {
        if (n >= play->still_ps->len)
            g_array_set_size(play->still_ps, (guint)n + 1);
        guint64 *still_ps = &g_array_index(play->still_ps, guint64, n);
        *still_ps = MAX(*still_ps, start_ps - n * PORT_LOOK_PS);
    }
}

/* The mean of what those that wait at an instant still have to wait; of instants since from_ps whose units have all
 * been sent. */
static guint64 port_still_ps(const PortPlay *play, guint64 from_ps)
{
    guint64 until_ps = play->now_ps, first = from_ps / PORT_LOOK_PS + 1, sum_ps = 0, n = first;
    for (guint32 q = 0; q < play->n_queues; q++)
        if (play->queue[q].count)
            until_ps = MIN(until_ps, play->waiting[play->queue[q].head].issued_ps);
    for (; n * PORT_LOOK_PS <= until_ps && n < play->still_ps->len; n++)
        sum_ps += g_array_index(play->still_ps, guint64, n);
    return sum_ps / MAX(n - first, 1);
}

static void port_send(PortPlay *play, guint32 link, guint64 issued_ps, guint64 at_ps)
{
    PortLink *port = &play->port[link];
    guint64 start_ps = MAX(at_ps, port->free_ps);
    port_count(play, issued_ps, start_ps);
    port->free_ps = start_ps + PORT_CHUNK_LINES * play->kind->packet_ps;
    port->left_ps[port->next] = start_ps;
    port->next = port->next + 1 == play->depth ? 0 : port->next + 1;
    port->room_ps = port->left_ps[port->next];
    play->sent++;
    play->now_ps = at_ps;
}

static void port_enqueue(PortPlay *play, guint32 s, guint64 at_ps)
{
    PortQueue *queue = &play->queue[play->sm[s].queue];
    guint32 entry = play->free_entry;
    play->free_entry = play->waiting[entry].next;
    play->waiting[entry] = (PortWaiting){(guint16)s, (guint16)play->sm[s].link, 0, at_ps};
    play->sm[s].out++;
    if (queue->count++ == 0) {
        queue->head = entry;
        queue->head_ps = at_ps;
    } else {
        play->waiting[queue->tail].next = entry;
    }
    queue->tail = entry;
}

/* Which of the queue's SMs issues next. */
static void port_look(PortPlay *play, PortQueue *queue)
{
    queue->sm_ps = G_MAXUINT64;
    guint64 turn = 0;
    for (guint32 s = queue->sms; s != PORT_NOBODY; s = play->sm[s].next) {
        const PortSm *sm = &play->sm[s];
        if (sm->stalled || sm->ready_ps > queue->sm_ps || (sm->ready_ps == queue->sm_ps && sm->turn > turn))
            continue;
        queue->sm_ps = sm->ready_ps;
        queue->sm = s;
        turn = sm->turn;
    }
}

static void port_list(PortPlay *play, guint32 s)
{
    PortSm *sm = &play->sm[s];
    PortQueue *queue = &play->queue[sm->queue];
    if (sm->listed)
        return;
    sm->listed = TRUE;
    sm->behind = PORT_NOBODY;
    *(queue->first == PORT_NOBODY ? &queue->first : &play->sm[queue->last].behind) = s;
    queue->last = s;
}

static guint32 port_unlist(PortPlay *play, PortQueue *queue)
{
    guint32 s = queue->first;
    queue->first = play->sm[s].behind;
    play->sm[s].listed = FALSE;
    return s;
}

static void port_ready(PortPlay *play, PortSm *sm, guint64 at_ps)
{
    sm->ready_ps = at_ps;
    sm->turn = ++play->turn;
}

/* The LSU's time of what it has issued. */
static void port_pause(PortPlay *play, PortSm *sm)
{
    port_ready(play, sm, sm->ready_ps + sm->at_once * PORT_CHUNK_LINES * play->issue_ps);
    sm->at_once = 0;
}

/* The SM's next unit gets out, or into the queue, or the SM stands still. */
static void port_issue(PortPlay *play, guint32 s)
{
    PortSm *sm = &play->sm[s];
    guint64 at_ps = sm->ready_ps;
    guint32 waiting = play->queue[sm->queue].count;
    if (waiting == 0 && port_room_ps(play, sm->link) <= at_ps) {
        port_send(play, sm->link, at_ps, at_ps);
    } else if (sm->out < play->sm_out && waiting < play->out) {
        port_enqueue(play, s, at_ps);
    } else {
        sm->stalled = TRUE;
        port_pause(play, sm);
        if (sm->out < play->sm_out)
            port_list(play, s);
        return;
    }
    sm->at_once++;
    if (++sm->issued % PORT_WARP_UNITS == 0) /* all of an instruction's at once, then the LSU's time of them */
        port_pause(play, sm);
    port_next(play, s);
}

static void port_resume(PortPlay *play, PortSm *sm, guint64 at_ps)
{
    sm->stalled = FALSE;
    port_ready(play, sm, MAX(sm->ready_ps, at_ps));
}

/* A place is free: it is its own SM's, unless one that waits has fewer (sm_out_freed). */
static void port_freed(PortPlay *play, guint32 s, guint64 at_ps)
{
    PortSm *sm = &play->sm[s], *other = NULL;
    PortQueue *queue = &play->queue[sm->queue];
    while (queue->first != PORT_NOBODY && !(other && other->stalled))
        other = &play->sm[port_unlist(play, queue)];
    gboolean waits = other && other->stalled;
    if (waits && (!sm->stalled || other->out < sm->out)) {
        port_resume(play, other, at_ps);
        if (sm->stalled)
            port_list(play, s);
        return;
    }
    if (waits)
        port_list(play, (guint32)(other - play->sm));
    if (sm->stalled)
        port_resume(play, sm, at_ps);
}

static void port_leave(PortPlay *play, guint32 q, guint64 at_ps)
{
    PortQueue *queue = &play->queue[q];
    guint32 entry = queue->head;
    PortWaiting *waiting = &play->waiting[entry];
    queue->head = waiting->next;
    queue->head_ps = at_ps;
    queue->count--;
    waiting->next = play->free_entry;
    play->free_entry = entry;
    play->sm[waiting->sm].out--;
    port_send(play, waiting->link, waiting->issued_ps, at_ps);
    port_freed(play, waiting->sm, at_ps);
}

/* Whatever is due next; at one instant a port's room first, for who waits longest. */
static void port_step(PortPlay *play)
{
    guint64 first_ps = G_MAXUINT64, issue_ps = G_MAXUINT64;
    guint32 first = 0, issues = 0;
    for (guint32 q = 0; q < play->n_queues; q++) {
        const PortQueue *queue = &play->queue[q];
        if (queue->count) {
            guint64 at_ps = MAX(queue->head_ps, port_room_ps(play, play->waiting[queue->head].link));
            if (at_ps < first_ps || (at_ps == first_ps && queue->head_ps < play->queue[first].head_ps)) {
                first_ps = at_ps;
                first = q;
            }
        }
        if (queue->sm_ps < issue_ps) {
            issue_ps = queue->sm_ps;
            issues = q;
        }
    }
    if (first_ps <= issue_ps) {
        port_leave(play, first, first_ps);
        port_look(play, &play->queue[first]);
    } else {
        port_issue(play, play->queue[issues].sm);
        port_look(play, &play->queue[issues]);
    }
}

/* How much SMs differ beside what comes of sharing their queue with more others or fewer. */
static guint32 port_spread(const PortPlay *play, const guint32 *before)
{
    g_autofree double *sum = g_new0(double, play->sms + 1);
    g_autofree guint32 *sharing = g_new0(guint32, play->n_queues), *among = g_new0(guint32, play->sms + 1);
    double mean = 0, squares = 0;
    for (guint32 s = 0; s < play->sms; s++)
        sharing[play->sm[s].queue]++;
    for (guint32 s = 0; s < play->sms; s++) {
        double n = (double)PORT_CHUNK_LINES * (play->sm[s].issued - before[s]);
        guint32 alike = sharing[play->sm[s].queue];
        sum[alike] += n;
        among[alike]++;
        mean += n / play->sms;
        squares += n * n / play->sms;
    }
    for (guint32 alike = 1; alike <= play->sms; alike++)
        if (among[alike])
            squares -= sum[alike] * sum[alike] / among[alike] / play->sms;
    return (guint32)(1000 * sqrt(fmax(squares, 0) / mean));
}

static PortShare port_result(const PortPlay *play, const guint32 *before, guint64 begin_ps)
{
    guint64 past_ps = play->now_ps - begin_ps, inside_ps = (PORT_CHUNK_LINES - 1) * play->kind->packet_ps;
    double counted = (double)PORT_CHUNK_LINES * (PORT_UNITS - PORT_UNITS_BEFORE);
    double sms_ps = (double)play->issue_ps / play->sms, links_ps = play->kind->packet_ps / (double)play->fabric->links;
    double per_mille = counted * MAX(sms_ps, links_ps) / (double)MAX(past_ps, 1) * 1000;
    PortShare share = {.per_mille = (guint32)CLAMP(per_mille, 1, 1000),
                       .wait_ps = play->wait_ps / (PORT_UNITS - PORT_UNITS_BEFORE) + inside_ps / 2,
                       .worst_ps = port_still_ps(play, begin_ps) + inside_ps};
    share.spread_per_mille = port_spread(play, before);
    return share;
}

static void port_begin(PortPlay *play, const FabricSpec *spec, guint32 entries)
{
    for (guint32 entry = 1; entry < entries; entry++)
        play->waiting[entry].next = entry + 1;
    play->free_entry = 1;
    for (guint32 q = 0; q < play->n_queues; q++)
        play->queue[q].sms = play->queue[q].first = PORT_NOBODY;
    for (guint32 s = 0; s < play->sms; s++) {
        play->sm[s].queue = sm_gpc(spec, s);
        play->sm[s].ready_ps = hash_mix(s + 1) % PORT_SPREAD_PS;
        play->sm[s].next = play->queue[play->sm[s].queue].sms;
        play->queue[play->sm[s].queue].sms = s;
        port_next(play, s);
    }
    for (guint32 q = 0; q < play->n_queues; q++)
        port_look(play, &play->queue[q]);
}

static guint32 port_units(guint64 packets)
{
    return (guint32)((packets + PORT_CHUNK_LINES - 1) / PORT_CHUNK_LINES);
}

PortShare port_play(const Fabric *fabric, guint32 sms, guint64 issue_ps, const PortKind *kind)
{
    const FabricSpec *spec = &fabric->spec;
    guint64 begin_ps = 0;
    guint32 depth = port_units(spec->gpu.source_queue_packets + kind->behind);
    guint32 sm_out = port_units(spec->sm.out_packets), entries = sms * sm_out + 2;
    guint32 queues = (guint32)spec->gpu.out_queues;
    g_autofree guint64 *left = g_new0(guint64, fabric->links * depth);
    g_autofree PortLink *port = g_new0(PortLink, fabric->links);
    g_autofree guint32 *before = g_new0(guint32, sms);
    g_autofree PortSm *sm = g_new0(PortSm, sms);
    g_autofree PortQueue *queue = g_new0(PortQueue, queues);
    g_autofree PortWaiting *waiting = g_new0(PortWaiting, entries);
    PortPlay play = {.kind = kind, .fabric = fabric, .sms = sms, .n_queues = queues, .issue_ps = issue_ps,
                     .depth = depth, .out = port_units(spec->gpu.out_packets), .sm_out = sm_out, .port = port,
                     .sm = sm, .queue = queue, .waiting = waiting,
                     .still_ps = g_array_new(FALSE, TRUE, sizeof(guint64))};
    for (guint32 l = 0; l < fabric->links; l++)
        port[l].left_ps = &left[l * depth];
    g_assert(sms > 0);
    port_begin(&play, spec, entries);
    while (play.sent < PORT_UNITS) {
        if (play.sent == PORT_UNITS_BEFORE && begin_ps == 0) {
            begin_ps = play.now_ps;
            play.wait_ps = 0;
            for (guint32 s = 0; s < sms; s++)
                before[s] = sm[s].issued;
        }
        port_step(&play);
    }
    PortShare share = port_result(&play, before, begin_ps);
    g_array_free(play.still_ps, TRUE);
    return share;
}
