/* See egress_replay.h. */
#include "model/flow/egress_internal.h"

#include "model/sm/place.h"

#define PORT_UNITS 24576u                   /* simulated; */
#define PORT_UNITS_MIXED 98304u             /* what loads and stores get of each other takes longer to tell */
#define PORT_UNITS_BEFORE 4096u             /* not counted: queues fill */
#define PORT_ARRAY_LINES 32768u             /* from one SM's array to the next one's: NCCL's slots of 4 MiB */
#define PORT_LOADED_LINE ((guint64)1 << 40) /* what is loaded is elsewhere */
#define PORT_SPREAD_PS 1000000u             /* in which the SMs begin */
#define PORT_WARP_LINES 4u                  /* that a warp stores at once: 16 B a lane */
#define PORT_WARP_UNITS (PORT_WARP_LINES / PORT_CHUNK_LINES)
#define PORT_NO_SM G_MAXUINT32

/* The line of an SM's next instruction. */
static guint64 port_line(const PortReplay *replay, guint32 s)
{
    const PortSm *sm = &replay->sm[s];
    const PortKind *kind = sm->as->kind;
    guint64 n = sm->issued / PORT_WARP_UNITS, cta = (guint64)kind->warps * PORT_WARP_LINES;
    guint64 warp = n % kind->warps, turn = n / kind->warps / kind->copies;
    if (kind->unroll > 1)
        turn = n / kind->warps / kind->unroll / kind->copies * kind->unroll + n / kind->warps % kind->unroll;
    guint64 at = turn * cta + (guint64)sm->number * PORT_ARRAY_LINES;
    if (kind->strided)
        at = (turn * sm->as->sms + sm->number) * cta;
    return at + warp * PORT_WARP_LINES + (sm->as == replay->loads ? PORT_LOADED_LINE : 0);
}

static void port_next(PortReplay *replay, guint32 s)
{
    PortSm *sm = &replay->sm[s];
    guint32 unit = sm->issued % PORT_WARP_UNITS;
    if (unit == 0)
        sm->line = port_line(replay, s);
    sm->link = hash_link(&replay->fabric->hash, (sm->line + unit * PORT_CHUNK_LINES) * LINE_BYTES, 1);
}

/* When the port has room. */
static guint64 port_room_ps(const PortReplay *replay, guint32 link) { return replay->port[link].room_ps; }

/* As gpu_count_turn() does. */
static void port_count_turn(PortReplay *replay, const PortSm *sm)
{
    PortQueue *queue = &replay->queue[sm->queue];
    guint64 window = (guint64)replay->depth * replay->fabric->links;
    guint32 sharing = sm->as == replay->loads ? MAX(queue->users, 1) : 1;
    gpu_count_one(window, 1, &replay->turns[queue->half], &replay->most);
    gpu_count_one(window * GPU_TURN, GPU_TURN / sharing, &queue->turns, &replay->most_turns[queue->half]);
}

static void port_send(PortReplay *replay, const PortWaiting *unit, guint64 at_ps)
{
    PortLink *port = &replay->port[unit->link];
    const PortKind *kind = replay->sm[unit->sm].as->kind;
    guint64 start_ps = MAX(at_ps, port->free_ps), unit_ps = PORT_CHUNK_LINES * kind->packet_ps;
    if (replay->ahead_ps && kind->answer_ps) {
        start_ps = MAX(start_ps, port->answered_ps);
        guint64 back_ps = start_ps - MIN(start_ps, replay->ahead_ps);
        port->answered_ps = MAX(port->answered_ps, back_ps) + PORT_CHUNK_LINES * kind->answer_ps;
    }
    port_count(replay, unit->issued_ps, start_ps);
    port_count_turn(replay, &replay->sm[unit->sm]);
    port->free_ps = start_ps + unit_ps;
    replay->busy_ps += unit_ps;
    port->left_ps[port->next] = start_ps;
    port->next = port->next + 1 == replay->depth ? 0 : port->next + 1;
    port->room_ps = port->left_ps[port->next];
    replay->sent++;
    replay->now_ps = at_ps;
}

static void port_enqueue(PortReplay *replay, guint32 s, guint64 at_ps)
{
    PortQueue *queue = &replay->queue[replay->sm[s].queue];
    guint32 entry = replay->free_entry;
    replay->free_entry = replay->waiting[entry].next;
    replay->waiting[entry] = (PortWaiting){(guint16)s, (guint16)replay->sm[s].link, 0, at_ps};
    queue->users += replay->sm[s].out++ == 0;
    if (queue->count++ == 0) {
        queue->head = entry;
        queue->head_ps = at_ps;
    } else {
        replay->waiting[queue->tail].next = entry;
    }
    queue->tail = entry;
}

/* Which of the queue's SMs issues next. */
static void port_pick(PortReplay *replay, PortQueue *queue)
{
    queue->sm_ps = G_MAXUINT64;
    guint64 turn = 0;
    for (guint32 s = queue->sms; s != PORT_NO_SM; s = replay->sm[s].next) {
        const PortSm *sm = &replay->sm[s];
        if (sm->stalled || sm->ready_ps > queue->sm_ps || (sm->ready_ps == queue->sm_ps && sm->turn > turn))
            continue;
        queue->sm_ps = sm->ready_ps;
        queue->sm = s;
        turn = sm->turn;
    }
}

static void port_list(PortReplay *replay, guint32 s)
{
    PortSm *sm = &replay->sm[s];
    PortQueue *queue = &replay->queue[sm->queue];
    if (sm->listed)
        return;
    sm->listed = TRUE;
    sm->behind = PORT_NO_SM;
    *(queue->first == PORT_NO_SM ? &queue->first : &replay->sm[queue->last].behind) = s;
    queue->last = s;
}

static void port_unlist(PortReplay *replay, guint32 s)
{
    PortQueue *queue = &replay->queue[replay->sm[s].queue];
    guint32 before = PORT_NO_SM;
    for (guint32 at = queue->first; at != s; at = replay->sm[at].behind)
        before = at;
    *(before == PORT_NO_SM ? &queue->first : &replay->sm[before].behind) = replay->sm[s].behind;
    if (queue->last == s)
        queue->last = before;
    replay->sm[s].listed = FALSE;
}

static void port_ready(PortReplay *replay, PortSm *sm, guint64 at_ps)
{
    sm->ready_ps = at_ps;
    sm->turn = ++replay->turn;
}

/* The LSU's time of what it has issued. */
static void port_pause(PortReplay *replay, PortSm *sm)
{
    port_ready(replay, sm, sm->ready_ps + sm->at_once * PORT_CHUNK_LINES * sm->as->issue_ps);
    sm->at_once = 0;
}

/* As many places of its queue as it may have. */
static guint32 port_part(const PortReplay *replay, const PortSm *sm)
{
    return MAX(replay->out / (replay->queue[sm->queue].users + (sm->out == 0)), 1);
}

/* The SM's next unit gets out, or into the queue, or the SM stands still. */
static void port_issue(PortReplay *replay, guint32 s)
{
    PortSm *sm = &replay->sm[s];
    guint64 at_ps = sm->ready_ps;
    guint32 waiting = replay->queue[sm->queue].count;
    if (waiting == 0 && port_room_ps(replay, sm->link) <= at_ps) {
        port_send(replay, &(PortWaiting){(guint16)s, (guint16)sm->link, 0, at_ps}, at_ps);
    } else if (sm->out < replay->sm_out && waiting < replay->out && sm->out < port_part(replay, sm)) {
        port_enqueue(replay, s, at_ps);
    } else {
        sm->stalled = TRUE;
        port_pause(replay, sm);
        if (sm->out < replay->sm_out)
            port_list(replay, s);
        return;
    }
    sm->at_once++;
    if (++sm->issued % PORT_WARP_UNITS == 0) /* all of an instruction's at once, then the LSU's time of them */
        port_pause(replay, sm);
    port_next(replay, s);
}

static void port_resume(PortReplay *replay, guint32 s, guint64 at_ps)
{
    PortSm *sm = &replay->sm[s];
    if (sm->listed)
        port_unlist(replay, s);
    sm->stalled = FALSE;
    port_ready(replay, sm, MAX(sm->ready_ps, at_ps));
}

/* A place is free: see sm_out_freed. */
static void port_freed(PortReplay *replay, guint32 s, guint64 at_ps)
{
    PortSm *sm = &replay->sm[s];
    PortQueue *queue = &replay->queue[sm->queue];
    guint32 other = PORT_NO_SM;
    for (guint32 at = queue->first; at != PORT_NO_SM; at = replay->sm[at].behind)
        if (replay->sm[at].stalled && (other == PORT_NO_SM || replay->sm[at].out < replay->sm[other].out))
            other = at;
    if (sm->stalled) {
        port_resume(replay, other != PORT_NO_SM && replay->sm[other].out < sm->out ? other : s, at_ps);
        if (sm->stalled)
            port_list(replay, s);
    } else if (other != PORT_NO_SM && replay->sm[other].out < port_part(replay, &replay->sm[other])) {
        port_resume(replay, other, at_ps);
    }
}

static void port_leave(PortReplay *replay, guint32 q, guint64 at_ps)
{
    PortQueue *queue = &replay->queue[q];
    guint32 entry = queue->head;
    PortWaiting *waiting = &replay->waiting[entry];
    queue->head = waiting->next;
    queue->head_ps = at_ps;
    queue->count--;
    waiting->next = replay->free_entry;
    replay->free_entry = entry;
    port_send(replay, waiting, at_ps);
    queue->users -= --replay->sm[waiting->sm].out == 0;
    port_freed(replay, waiting->sm, at_ps);
}

/* Of two queues that could send at one instant: that of the half that has had fewer turns, or that has itself, or that
 * waits longer. */
static gboolean port_goes_first(const PortReplay *replay, const PortQueue *a, const PortQueue *b)
{
    if (a->half != b->half && replay->turns[a->half] != replay->turns[b->half])
        return replay->turns[a->half] < replay->turns[b->half];
    if (a->half == b->half && a->turns != b->turns)
        return a->turns < b->turns;
    return a->head_ps < b->head_ps;
}

/* Whatever is due next; at one instant a port's room first. */
static void port_step(PortReplay *replay)
{
    guint64 first_ps = G_MAXUINT64, issue_ps = G_MAXUINT64;
    guint32 first = 0, issues = 0;
    for (guint32 q = 0; q < replay->n_queues; q++) {
        const PortQueue *queue = &replay->queue[q];
        if (queue->count) {
            guint64 at_ps = MAX(queue->head_ps, port_room_ps(replay, replay->waiting[queue->head].link));
            if (at_ps < first_ps || (at_ps == first_ps && port_goes_first(replay, queue, &replay->queue[first]))) {
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
        port_leave(replay, first, first_ps);
        port_pick(replay, &replay->queue[first]);
    } else {
        port_issue(replay, replay->queue[issues].sm);
        port_pick(replay, &replay->queue[issues]);
    }
}

static void port_begin(PortReplay *replay, const FabricSpec *spec, guint32 entries)
{
    for (guint32 entry = 1; entry < entries; entry++)
        replay->waiting[entry].next = entry + 1;
    replay->free_entry = 1;
    for (guint32 q = 0; q < replay->n_queues; q++) {
        replay->queue[q].sms = replay->queue[q].first = PORT_NO_SM;
        replay->queue[q].half = place_half(spec, q);
    }
    for (guint32 s = 0; s < replay->sms; s++) {
        PortSm *sm = &replay->sm[s];
        sm->as = s < replay->stores->sms ? replay->stores : replay->loads;
        sm->number = sm->as == replay->stores ? s : s - replay->stores->sms;
        sm->queue = place_cta_queue(spec, sm->number, replay->stores->kind->cluster);
        sm->ready_ps = hash_mix(s + 1) % PORT_SPREAD_PS;
        sm->next = replay->queue[sm->queue].sms;
        replay->queue[sm->queue].sms = s;
        port_next(replay, s);
    }
    for (guint32 q = 0; q < replay->n_queues; q++)
        port_pick(replay, &replay->queue[q]);
}

/* What waits for links back waits where answers do, then, in order with stores, where requests come in; what SMs may
 * have under way is more than all that, or it never gets there. */
static guint64 port_ahead_ps(const PortReplay *replay)
{
    const FabricSpec *spec = &replay->fabric->spec;
    const PortReplayed *loads = replay->loads;
    guint64 flits = spec->link.credits_switch_flits + spec->link.credits_gpu_flits, pair_ps;
    if (loads->sms == 0)
        return 0;
    pair_ps = loads->kind->packet_ps + replay->stores->kind->packet_ps; /* about as many of either kind */
    guint64 ahead = spec->gpu.response_queue_packets + flits * loads->kind->packet_ps / pair_ps;
    guint64 under_way = (guint64)loads->sms * loads->kind->window;
    return under_way > ahead * replay->fabric->links ? ahead * loads->kind->answer_ps : 0;
}

static guint32 port_units(guint64 packets) { return (guint32)((packets + PORT_CHUNK_LINES - 1) / PORT_CHUNK_LINES); }

PortShare port_play(const Fabric *fabric, const PortReplayed *stores, const PortReplayed *loads)
{
    const FabricSpec *spec = &fabric->spec;
    guint64 begin_ps = 0;
    guint32 units = loads->sms ? PORT_UNITS_MIXED : PORT_UNITS;
    guint32 depth = port_units(spec->gpu.source_queue_packets + stores->kind->behind), sms = stores->sms + loads->sms;
    guint32 sm_out = port_units(spec->sm.out_packets), entries = sms * sm_out + 2;
    guint32 queues = place_queues(spec);
    g_autofree guint64 *left = g_new0(guint64, fabric->links * depth);
    g_autofree PortLink *port = g_new0(PortLink, fabric->links);
    g_autofree guint32 *before = g_new0(guint32, sms);
    g_autofree PortSm *sm = g_new0(PortSm, sms);
    g_autofree PortQueue *queue = g_new0(PortQueue, queues);
    g_autofree PortWaiting *waiting = g_new0(PortWaiting, entries);
    PortReplay replay = {.stores = stores,
                         .loads = loads,
                         .fabric = fabric,
                         .sms = sms,
                         .n_queues = queues,
                         .depth = depth,
                         .out = port_units(spec->gpu.out_packets),
                         .sm_out = sm_out,
                         .port = port,
                         .sm = sm,
                         .queue = queue,
                         .waiting = waiting,
                         .counted = units - PORT_UNITS_BEFORE,
                         .still_ps = g_array_new(FALSE, TRUE, sizeof(guint64))};
    for (guint32 l = 0; l < fabric->links; l++)
        port[l].left_ps = &left[l * depth];
    replay.ahead_ps = port_ahead_ps(&replay);
    g_assert(stores->sms > 0);
    port_begin(&replay, spec, entries);
    while (replay.sent < units) {
        if (replay.sent == PORT_UNITS_BEFORE && begin_ps == 0) {
            begin_ps = replay.now_ps;
            replay.wait_ps = replay.busy_ps = 0;
            replay.backlog_ps = port_backlog_ps(&replay);
            for (guint32 s = 0; s < sms; s++)
                before[s] = sm[s].issued;
        }
        port_step(&replay);
    }
    PortShare share = port_result(&replay, before, begin_ps);
    g_array_free(replay.still_ps, TRUE);
    return share;
}
