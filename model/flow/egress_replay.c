/* See egress_replay.h. */
#include "model/flow/egress_internal.h"

#include "model/sm/sm.h"

#define PORT_UNITS 24576u         /* played; */
#define PORT_UNITS_MIXED 98304u   /* what loads and stores get of each other takes longer to tell */
#define PORT_UNITS_BEFORE 4096u   /* not counted: queues fill */
#define PORT_ARRAY_LINES 32768u   /* from one SM's array to the next one's: NCCL's slots of 4 MiB */
#define PORT_LOADED_LINE ((guint64)1 << 40) /* what is loaded is elsewhere */
#define PORT_SPREAD_PS 1000000u   /* in which the SMs begin */
#define PORT_WARP_LINES 4u        /* that a warp stores at once: 16 B a lane */
#define PORT_WARP_UNITS (PORT_WARP_LINES / PORT_CHUNK_LINES)
#define PORT_NOBODY G_MAXUINT32

/* The line of an SM's next instruction. */
static guint64 port_line(const PortPlay *play, guint32 s)
{
    const PortSm *sm = &play->sm[s];
    const PortKind *kind = sm->as->kind;
    guint64 n = sm->issued / PORT_WARP_UNITS, cta = (guint64)kind->warps * PORT_WARP_LINES;
    guint64 warp = n % kind->warps, turn = n / kind->warps / kind->copies;
    if (kind->unroll > 1)
        turn = n / kind->warps / kind->unroll / kind->copies * kind->unroll + n / kind->warps % kind->unroll;
    guint64 at = turn * cta + (guint64)sm->number * PORT_ARRAY_LINES;
    if (kind->strided)
        at = (turn * sm->as->sms + sm->number) * cta;
    return at + warp * PORT_WARP_LINES + (sm->as == play->loads ? PORT_LOADED_LINE : 0);
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

static void port_send(PortPlay *play, const PortWaiting *unit, guint64 at_ps)
{
    PortLink *port = &play->port[unit->link];
    const PortKind *kind = play->sm[unit->sm].as->kind;
    guint64 start_ps = MAX(at_ps, port->free_ps), unit_ps = PORT_CHUNK_LINES * kind->packet_ps;
    if (play->ahead_ps && kind->answer_ps) {
        start_ps = MAX(start_ps, port->answered_ps);
        guint64 back_ps = start_ps - MIN(start_ps, play->ahead_ps);
        port->answered_ps = MAX(port->answered_ps, back_ps) + PORT_CHUNK_LINES * kind->answer_ps;
    }
    port_count(play, unit->issued_ps, start_ps);
    port->free_ps = start_ps + unit_ps;
    play->busy_ps += unit_ps;
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
    port_ready(play, sm, sm->ready_ps + sm->at_once * PORT_CHUNK_LINES * sm->as->issue_ps);
    sm->at_once = 0;
}

/* The SM's next unit gets out, or into the queue, or the SM stands still. */
static void port_issue(PortPlay *play, guint32 s)
{
    PortSm *sm = &play->sm[s];
    guint64 at_ps = sm->ready_ps;
    guint32 waiting = play->queue[sm->queue].count;
    if (waiting == 0 && port_room_ps(play, sm->link) <= at_ps) {
        port_send(play, &(PortWaiting){(guint16)s, (guint16)sm->link, 0, at_ps}, at_ps);
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
    port_send(play, waiting, at_ps);
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

static void port_begin(PortPlay *play, const FabricSpec *spec, guint32 entries)
{
    for (guint32 entry = 1; entry < entries; entry++)
        play->waiting[entry].next = entry + 1;
    play->free_entry = 1;
    for (guint32 q = 0; q < play->n_queues; q++)
        play->queue[q].sms = play->queue[q].first = PORT_NOBODY;
    for (guint32 s = 0; s < play->sms; s++) {
        PortSm *sm = &play->sm[s];
        sm->as = s < play->stores->sms ? play->stores : play->loads;
        sm->number = sm->as == play->stores ? s : s - play->stores->sms;
        sm->queue = play->loads->sms ? sm->number % play->n_queues : sm_gpc(spec, s);
        sm->ready_ps = hash_mix(s + 1) % PORT_SPREAD_PS;
        sm->next = play->queue[sm->queue].sms;
        play->queue[sm->queue].sms = s;
        port_next(play, s);
    }
    for (guint32 q = 0; q < play->n_queues; q++)
        port_look(play, &play->queue[q]);
}

/* What waits for links back waits where answers do, then, in order with stores, where requests come in; what SMs may
 * have under way is more than all that, or it never gets there. */
static guint64 port_ahead_ps(const PortPlay *play)
{
    const FabricSpec *spec = &play->fabric->spec;
    const PortPlayed *loads = play->loads;
    guint64 flits = spec->link.credits_switch_flits + spec->link.credits_gpu_flits, pair_ps;
    if (loads->sms == 0)
        return 0;
    pair_ps = loads->kind->packet_ps + play->stores->kind->packet_ps; /* about as many of either kind */
    guint64 ahead = spec->gpu.response_queue_packets + flits * loads->kind->packet_ps / pair_ps;
    return (guint64)loads->sms * loads->kind->window > ahead * play->fabric->links ? ahead * loads->kind->answer_ps : 0;
}

static guint32 port_units(guint64 packets)
{
    return (guint32)((packets + PORT_CHUNK_LINES - 1) / PORT_CHUNK_LINES);
}

PortShare port_play(const Fabric *fabric, const PortPlayed *stores, const PortPlayed *loads)
{
    const FabricSpec *spec = &fabric->spec;
    guint64 begin_ps = 0;
    guint32 units = loads->sms ? PORT_UNITS_MIXED : PORT_UNITS;
    guint32 depth = port_units(spec->gpu.source_queue_packets + stores->kind->behind), sms = stores->sms + loads->sms;
    guint32 sm_out = port_units(spec->sm.out_packets), entries = sms * sm_out + 2;
    guint32 queues = (guint32)spec->gpu.out_queues;
    g_autofree guint64 *left = g_new0(guint64, fabric->links * depth);
    g_autofree PortLink *port = g_new0(PortLink, fabric->links);
    g_autofree guint32 *before = g_new0(guint32, sms);
    g_autofree PortSm *sm = g_new0(PortSm, sms);
    g_autofree PortQueue *queue = g_new0(PortQueue, queues);
    g_autofree PortWaiting *waiting = g_new0(PortWaiting, entries);
    PortPlay play = {.stores = stores, .loads = loads, .fabric = fabric, .sms = sms, .n_queues = queues,
                     .depth = depth, .out = port_units(spec->gpu.out_packets), .sm_out = sm_out, .port = port,
                     .sm = sm, .queue = queue, .waiting = waiting, .counted = units - PORT_UNITS_BEFORE,
                     .still_ps = g_array_new(FALSE, TRUE, sizeof(guint64))};
    for (guint32 l = 0; l < fabric->links; l++)
        port[l].left_ps = &left[l * depth];
    play.ahead_ps = port_ahead_ps(&play);
    g_assert(stores->sms > 0);
    port_begin(&play, spec, entries);
    while (play.sent < units) {
        if (play.sent == PORT_UNITS_BEFORE && begin_ps == 0) {
            begin_ps = play.now_ps;
            play.wait_ps = play.busy_ps = 0;
            for (guint32 s = 0; s < sms; s++)
                before[s] = sm[s].issued;
        }
        port_step(&play);
    }
    PortShare share = port_result(&play, before, begin_ps);
    g_array_free(play.still_ps, TRUE);
    return share;
}
