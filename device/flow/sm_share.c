/* See sm_share.h. */
#include "device/flow/sm_share.h"

#include "device/flow/queue_share.h"
#include "model/flow/head_of_line.h"

/* ---- the LSU of an SM */

/* Flows of one SM share its LSU: each gets as much of a second of it as the others, or as it can use. */
static guint64 sm_lsu_level(const Sm *sm)
{
    guint64 level = 0;
    for (;;) {
        guint64 used = 0;
        guint32 growing = 0;
        for (const DeviceFlow *flow = sm->flows; flow; flow = flow->sm_next) {
            guint64 wanted = flow->limit * flow->line_ps;
            used += MIN(wanted, level);
            growing += wanted > level;
        }
        if (growing == 0)
            return G_MAXUINT64;
        if (used + PS_PER_S / 1000 >= PS_PER_S)
            return level;
        level += (PS_PER_S - used) / growing;
    }
}

static guint32 sm_half(const GpuOutQueue *queue) { return queue->room.side == GPU_SIDE_HALF_1; }

/* Into how many parts ports are shared, one of which is this queue's: halves that send, times those of its half. */
static guint64 sm_parts(const GpuOutQueue *queue)
{
    const guint32 *queues = queue->gpu->flows.queues, half = sm_half(queue);
    return MAX(queues[half], 1) * (queues[1 - half] ? 2u : 1u);
}

/* Ports take turns between the halves of the GPU and, in each, among the CPCs that store and load, an SM that shares
 * one has so much less of it; and a loop's weight is that of its SM, shared with the SM's others. */
static guint32 sm_weight(const DeviceFlow *flow, const Sm *sm)
{
    const GpuOutQueue *queue = sm->queue;
    guint64 loads = FLOW_WEIGHT;
    if (!flow->issue_ps && (!flow->ask_ps || !sm->gpu->flows.storing))
        return FLOW_WEIGHT;
    if (device_queue_meets(sm->gpu))
        loads = device_queue_port(sm->gpu).loads_per_mille;
    guint64 sharing = queue->storing * FLOW_WEIGHT + queue->asking * loads;
    guint64 weight = flow->issue_ps ? FLOW_WEIGHT : loads, loops = flow->issue_ps ? sm->storing : sm->asking;
    return (guint32)MAX(FLOW_WEIGHT * flow->sms * weight / MAX(sm_parts(queue) * sharing * loops, 1), 1);
}

/* Of its work; it may be served, and not told so yet. */
static guint64 sm_left(const DeviceFlow *flow)
{
    if (!flow->under_way)
        return flow->work;
    return flow->item.class ? flow_left(flow->fabric->flow, &flow->item) : 0;
}

/* What of a flow is issued and not sent, in units of work: as fast as its LSU can, until there is no more room. */
static guint64 sm_waiting(const DeviceFlow *flow, SimTime now_ps)
{
    if (!flow->under_way)
        return MIN(flow_part(flow->limit, now_ps - flow->begin_ps, PS_PER_S / FLOW_LINE), MIN(flow->room, flow->work));
    guint64 left = sm_left(flow), sent = flow->left_at - MIN(left, flow->left_at);
    guint64 issued = flow->waiting + flow_part(flow->lsu, now_ps - flow->at_ps, PS_PER_S / FLOW_LINE);
    if (flow->released)
        return left;
    return MIN(issued - MIN(sent, issued), MIN(flow->room, left));
}

static void sm_settle(DeviceFlow *flow)
{
    SimTime now_ps = sim_now_ps(flow->fabric->sim);
    flow->waiting = sm_waiting(flow, now_ps);
    flow->left_at = sm_left(flow);
    flow->at_ps = now_ps;
}

static void sm_adjust(const Sm *sm)
{
    guint64 level = sm_lsu_level(sm);
    for (DeviceFlow *flow = sm->flows; flow; flow = flow->sm_next) {
        guint64 limit = flow->limit;
        if (limit * flow->line_ps > level)
            limit = MAX(level / flow->line_ps, 1);
        if (limit != flow->lsu) {
            sm_settle(flow);
            flow->lsu = limit;
        }
        if (flow->drains)
            limit = MAX(limit, flow->ports);
        flow_change(flow->fabric->flow, &flow->item,
                    flow_class_like(flow->fabric->flow, flow->class, limit, sm_weight(flow, sm)));
    }
}

static void sm_adjust_queue(const GpuOutQueue *queue)
{
    for (const Sm *sm = queue->flow_head; sm; sm = sm->flow_next)
        sm_adjust(sm);
}

void device_sm_adjust(const Sm *sm)
{
    const Gpu *gpu = sm->gpu;
    if (!gpu->flows.shares_changed) {
        sm_adjust_queue(sm->queue);
        return;
    }
    sm->gpu->flows.shares_changed = FALSE;
    for (guint32 q = 0; q < gpu->n_out; q++)
        sm_adjust_queue(&gpu->out[q]);
}

static Sm **sm_place(const Sm *sm)
{
    Sm **at = &sm->queue->flow_head;
    while (*at && *at < sm)
        at = &(*at)->flow_next;
    return at;
}

void device_sm_enter(DeviceFlow *flow)
{
    Sm *sm = flow->warp->sm, **at = sm_place(sm);
    if (!sm->flows) {
        sm->flow_next = *at;
        *at = sm;
    }
    flow->sm_next = sm->flows;
    sm->flows = flow;
}

void device_sm_leave(DeviceFlow *flow)
{
    Sm *sm = flow->warp->sm;
    DeviceFlow *before = sm->flows;
    if (before == flow) {
        sm->flows = flow->sm_next;
        if (!sm->flows)
            *sm_place(sm) = sm->flow_next;
        return;
    }
    while (before->sm_next != flow)
        before = before->sm_next;
    before->sm_next = flow->sm_next;
}

DeviceFlow *device_sm_before(const DeviceFlow *flow)
{
    DeviceFlow *before = flow->warp->sm->flows;
    while (before && before->warp != flow->warp)
        before = before->sm_next;
    return before;
}

/* A queue has loops that use the ports from now on, or has none any more. */
static void sm_count_queue(GpuOutQueue *queue, gboolean before)
{
    gboolean now = queue->storing || queue->asking;
    queue->gpu->flows.queues[sm_half(queue)] += (guint32)now - (guint32)before;
    queue->gpu->flows.shares_changed |= now != before;
}

static void sm_ask(const DeviceFlow *flow, gboolean begins)
{
    Sm *sm = flow->warp->sm;
    GpuFlows *flows = &sm->gpu->flows;
    flows->asking += begins ? 1u : -1u;
    flows->ask_kind = flow->ask_kind;
    flows->ask_ps = flow->ask_ps;
    sm->asking += begins ? 1u : -1u;
    if (sm->asking == (begins ? 1u : 0u))
        sm->queue->asking += begins ? 1u : -1u;
}

static void sm_put(const DeviceFlow *flow, gboolean begins)
{
    Sm *sm = flow->warp->sm;
    GpuFlows *flows = &sm->gpu->flows;
    flows->storing += begins ? 1u : -1u;
    flows->issue_ps += begins ? flow->issue_ps : -(guint64)flow->issue_ps;
    flows->kind = begins ? flow->kind : flows->kind;
    flows->trip_ps = flow->tail_ps;
    sm->storing += begins ? 1u : -1u;
    if (sm->storing == (begins ? 1u : 0u)) { /* the first, or none is left */
        flows->sms += begins ? 1u : -1u;
        sm->queue->storing += begins ? 1u : -1u;
    }
}

void device_sm_store(const DeviceFlow *flow, gboolean begins)
{
    Sm *sm = flow->warp->sm;
    gboolean before = sm->queue->storing || sm->queue->asking;
    if (flow->ask_ps)
        sm_ask(flow, begins);
    if (flow->issue_ps)
        sm_put(flow, begins);
    sm_count_queue(sm->queue, before);
}

/* ---- what waits before a GPU's ports */

void device_sm_serve(DeviceFlow *flow)
{
    sm_settle(flow);
    flow->lsu = flow->limit;
    flow->under_way = TRUE;
    if (flow->waiting)
        flow->warp->sm->gpu->flows.stalled = TRUE;
}

SimTime device_sm_issue_ps(const DeviceFlow *flow)
{
    guint64 issued = flow->work - sm_left(flow) + sm_waiting(flow, sim_now_ps(flow->fabric->sim));
    guint64 all = flow->lines * FLOW_LINE; /* ports that are slower or faster for it make no difference to its LSU */
    return flow_part(all - MIN(issued, all), PS_PER_S / FLOW_LINE, flow->lsu);
}

/* room: ports have some. Whether it drains from now on, or no more; once at an instant, since others may make room by
 * it that it takes in turn. */
static gboolean sm_turns(DeviceFlow *flow, gboolean room)
{
    gboolean before = flow->drains;
    SimTime now_ps = sim_now_ps(flow->fabric->sim);
    if (!flow->issue_ps || flow->released || flow->turned_ps == now_ps)
        return FALSE;
    sm_settle(flow);
    flow->drains = flow->waiting >= FLOW_LINE && (before ? flow_rate(&flow->item) > flow->lsu : room);
    flow->warp->sm->gpu->flows.draining += (guint32)flow->drains - (guint32)before;
    if (flow->drains == before)
        return FALSE;
    flow->turned_ps = now_ps;
    return TRUE;
}

/* Until nothing of it waits, as it drains now. */
static SimTime sm_drained_ps(const DeviceFlow *flow)
{
    guint64 rate = flow_rate(&flow->item);
    if (!flow->drains || rate <= flow->lsu)
        return SIMTIME_NEVER;
    return sim_now_ps(flow->fabric->sim) + 1 + flow_part(flow->waiting, PS_PER_S / FLOW_LINE, rate - flow->lsu);
}

/* What waited while ports were full goes as fast as these can when they are not any more. Others' full links do not
 * let it. */
SimTime device_sm_solved(Gpu *gpu)
{
    GpuFlows *flows = &gpu->flows;
    gboolean full = flow_is_full(gpu->fabric->flow, gpu->id * FLOW_RESOURCES + FLOW_OUT);
    SimTime again_ps = SIMTIME_NEVER;
    gboolean room = !full && flows->stalled && !port_holds_full(gpu->fabric->holds, gpu->id);
    flows->stalled = full || (flows->stalled && !room);
    if (!room && flows->draining == 0)
        return again_ps;
    for (guint32 q = 0; q < gpu->n_out; q++)
        for (const Sm *sm = gpu->out[q].flow_head; sm; sm = sm->flow_next) {
            gboolean turns = FALSE;
            for (DeviceFlow *flow = sm->flows; flow; flow = flow->sm_next) {
                turns |= sm_turns(flow, room);
                again_ps = MIN(again_ps, sm_drained_ps(flow));
            }
            if (turns)
                sm_adjust(sm);
        }
    return again_ps;
}

typedef struct {
    guint64 waiting, room; /* work, */
    guint64 rate;          /* and lines a second, of all flows */
    SimTime last_ps;       /* until the last of what waits is sent, at these rates; */
    guint64 sent;          /* of all that until then */
    gboolean issuing;      /* a flow does */
} SmQueued;
typedef void (*SmAdd)(const DeviceFlow *flow, SmQueued *all);

static void sm_add_waiting(const DeviceFlow *flow, SmQueued *all)
{
    SimTime now_ps = sim_now_ps(flow->fabric->sim);
    guint64 waiting = sm_waiting(flow, now_ps), rate = flow_rate(&flow->item);
    if (flow->behind)
        waiting += sm_waiting(flow->behind, now_ps);
    all->issuing |= !flow->released || flow->behind;
    all->waiting += waiting;
    all->room += flow->room;
    all->rate += rate;
    all->last_ps = MAX(all->last_ps, flow_part(waiting, PS_PER_S / FLOW_LINE, rate));
}

/* A queue that is done before leaves its time to others. */
static void sm_add_sent(const DeviceFlow *flow, SmQueued *all)
{
    guint64 left = flow_left(flow->fabric->flow, &flow->item) + (flow->behind ? flow->behind->work : 0);
    all->sent += MIN(left, flow_part(flow_rate(&flow->item), all->last_ps, PS_PER_S / FLOW_LINE));
}

static void sm_add(const Gpu *gpu, SmAdd add, SmQueued *all)
{
    for (guint32 q = 0; q < gpu->n_out; q++)
        for (const Sm *sm = gpu->out[q].flow_head; sm; sm = sm->flow_next)
            for (const DeviceFlow *flow = sm->flows; flow; flow = flow->sm_next)
                if (flow->issue_ps)
                    add(flow, all);
}

SimTime device_sm_packet_ps(const Gpu *gpu)
{
    SmQueued all = {0};
    sm_add(gpu, sm_add_waiting, &all);
    return all.room ? flow_part(all.waiting, PS_PER_S / FLOW_LINE, all.rate) : gpu->flows.wait_ps;
}

/* Links are not alike: the last packet waits longer than what its SM issued would have to,
 * as the ports' simulation says. */
SimTime device_sm_stored_ps(const Gpu *gpu)
{
    const GpuFlows *flows = &gpu->flows;
    SmQueued all = {0};
    sm_add(gpu, sm_add_waiting, &all);
    if (!all.issuing)
        return 0;
    if (!all.room)
        return flows->trip_ps + flows->worst_ps + flows->hold_ps;
    sm_add(gpu, sm_add_sent, &all);
    SimTime apart_ps = flows->worst_ps - MIN(flows->wait_ps, flows->worst_ps);
    SimTime wait_ps = MIN(flow_part(all.sent, PS_PER_S / FLOW_LINE, all.rate), all.last_ps);
    return flows->trip_ps + wait_ps + flow_part(apart_ps, all.waiting, all.room) + flows->hold_ps;
}
