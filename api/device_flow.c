/* fo_loop as a flow: what a line of the loop costs on every link, L2 and HBM it touches, how fast
 * one CTA can go by itself, and the latencies before and behind it. See model/flow.h.
 *
 * A CTA's loop is one flow, begun by its first warp; all its warps wait for its end. The flow's
 * work begins one load's round trip after the loop; when it is served the last stores are on their
 * way for another round trip, which a fence or the kernel's end waits for, as with packets.
 * Everything else of a program (barriers, flags, LL lines) stays packets; where a GPU's ports are full of flows these
 * wait as the flows' own do, else they do not feel the flows. Loops that share an SM share its LSU, and SMs that share
 * a queue to the ports have so much less of these. Costs are the model's own: flits of requests, data and answers of
 * each kind, merged acknowledgements; queues: device_queue.h. Left out: queues behind the ports of multicasts and of
 * loops that also load from others. What that is worth: docs/performance.md. */
#include <string.h>

#include "api/device_queue.h"
#include "model/load_share.h"
#include "model/port_hold.h"
#include "model/port_share.h"
#include "model/sm_play.h"

/* Of a link's flits, what packets reach at full load: the hash loads links unevenly for a while,
 * and queues run empty. Calibrated against packet fidelity on all_gather and reduce_scatter
 * (docs/performance.md). */
#define FLOW_LINK_PER_MILLE 994u

typedef struct DeviceFlow {
    FlowItem item;
    guint32 sms;            /* that its launch takes */
    guint32 kind, issue_ps; /* of its stores, for model/port_share.h; issue_ps 0: they do not leave the GPU */
    Event event;
    Fabric *fabric;
    Warp *warp;
    FlowClass *class;       /* when it has its SM for itself, */
    guint64 limit, line_ps; /* with that limit, and its lines' time of the LSU */
    struct DeviceFlow *sm_next;
    guint64 lines, work, tag;
    SimTime head_ps, tail_ps; /* before the first line, behind the last one */
    guint32 left, warps;      /* warps that went on, of so many */
    gboolean over;            /* the last store is performed */
    GArray *charges;
    Reg reg[]; /* by warp: pending until the last line is through */
} DeviceFlow;

void device_flow_begin(Fabric *fabric)
{
    guint64 gpus = fabric->spec.system.gpus;
    g_assert(!fabric->flow && !fabric->keep_bytes);
    fabric->flow = flow_new(fabric->sim, (guint32)gpus * FLOW_RESOURCES);
    fabric->ports = port_shares_new(fabric);
    fabric->loads = load_shares_new(fabric);
    fabric->holds = port_holds_new(fabric);
    fabric->plays = sm_plays_new(&fabric->spec.sm);
    flow_set_share(fabric->flow, device_queue_share, device_queue_solved, fabric);
    guint64 flits = fabric->spec.link.rate_MBps * 1000000u / FLIT_BYTES * fabric->links;
    for (guint32 g = 0; g < gpus; g++) {
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_UP, flits * FLOW_LINK_PER_MILLE);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_DOWN, flits * FLOW_LINK_PER_MILLE);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_OUT, flits * 1000);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_INGRESS,
                          PS_PER_S * fabric->links);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_L2,
                          fabric->spec.gpu.local_MBps * 1000000000u);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_HBM,
                          fabric->spec.gpu.hbm_MBps * 1000000000u);
    }
}

void device_flow_end(Fabric *fabric)
{
    g_clear_pointer(&fabric->flow, flow_free);
    g_clear_pointer(&fabric->ports, port_shares_free);
    g_clear_pointer(&fabric->loads, load_shares_free);
    g_clear_pointer(&fabric->holds, port_holds_free);
    g_clear_pointer(&fabric->plays, sm_plays_free);
}

static void flow_unref(DeviceFlow *flow)
{
    if (flow->left < flow->warps || !flow->over)
        return;
    g_array_free(flow->charges, TRUE);
    g_free(flow);
}

static void flow_charge(const DeviceFlow *flow)
{
    Fabric *fabric = flow->fabric;
    for (guint i = 0; i < flow->charges->len; i++) {
        const DeviceCharge *charge = &g_array_index(flow->charges, DeviceCharge, i);
        guint64 packets = flow->lines * charge->packets / 1000;
        guint64 flits = flow->lines * charge->flits / 1000, n = fabric->links;
        Gpu *gpu = &fabric->gpu[charge->gpu];
        for (guint32 l = 0; l < fabric->links; l++) {
            Link *link = charge->down ? &gpu->down[l] : &gpu->up[l];
            link->count[charge->kind].packets += packets * (l + 1) / n - packets * l / n;
            link->count[charge->kind].flits += flits * (l + 1) / n - flits * l / n;
        }
    }
}

/* ---- the LSU of an SM */

/* Flows of one SM share its LSU: each gets as much of a second of it as the others, or as it can use. */
static guint64 flow_lsu_level(const Sm *sm)
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

/* Ports take turns among the queues that SMs store through, whoever shares one has so much less of it; and a loop's
 * weight is that of its SM, shared with the SM's others. */
static guint32 flow_weight(const DeviceFlow *flow, const Sm *sm)
{
    guint64 usual = MAX(flow->sms / flow->fabric->spec.gpu.out_queues, 1);
    if (!flow->issue_ps)
        return FLOW_WEIGHT;
    return (guint32)MAX(FLOW_WEIGHT * usual / MAX(sm->queue->storing * sm->storing, 1), 1);
}

static void flow_adjust(const Sm *sm)
{
    guint64 level = flow_lsu_level(sm);
    for (DeviceFlow *flow = sm->flows; flow; flow = flow->sm_next) {
        guint64 limit = flow->limit;
        if (limit * flow->line_ps > level)
            limit = MAX(level / flow->line_ps, 1);
        flow_change(flow->fabric->flow, &flow->item,
                    flow_class_like(flow->fabric->flow, flow->class, limit, flow_weight(flow, sm)));
    }
}

/* Of all SMs that share this one's queue. */
static void flow_adjust_queue(const Sm *sm)
{
    for (const Sm *other = sm->queue->flow_head; other; other = other->flow_next)
        flow_adjust(other);
}

static Sm **flow_place(const Sm *sm)
{
    Sm **at = &sm->queue->flow_head;
    while (*at && *at < sm)
        at = &(*at)->flow_next;
    return at;
}

static void flow_enter_sm(DeviceFlow *flow)
{
    Sm *sm = flow->warp->sm, **at = flow_place(sm);
    if (!sm->flows) {
        sm->flow_next = *at;
        *at = sm;
    }
    flow->sm_next = sm->flows;
    sm->flows = flow;
}

static void flow_leave_sm(DeviceFlow *flow)
{
    Sm *sm = flow->warp->sm;
    DeviceFlow *before = sm->flows;
    if (before == flow) {
        sm->flows = flow->sm_next;
        if (!sm->flows)
            *flow_place(sm) = sm->flow_next;
        return;
    }
    while (before->sm_next != flow)
        before = before->sm_next;
    before->sm_next = flow->sm_next;
}

/* It stores from now on, or no more. */
static void flow_store(const DeviceFlow *flow, gboolean begins)
{
    Sm *sm = flow->warp->sm;
    GpuFlows *flows = &sm->gpu->flows;
    if (flow->issue_ps == 0)
        return;
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

static void flow_on_stored(Event *event, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(event, DeviceFlow, event);
    warp_end_store(flow->warp, flow->tag, now_ps);
    flow->over = TRUE;
    flow_unref(flow);
}

static void flow_on_served(FlowItem *item, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(item, DeviceFlow, item);
    flow_charge(flow);
    flow_store(flow, FALSE);
    flow_leave_sm(flow);
    flow_adjust_queue(flow->warp->sm);
    if (flow->tail_ps) {
        flow->tag = warp_begin_store(flow->warp);
        event_init(&flow->event, flow_on_stored);
        sim_at(flow->fabric->sim, &flow->event, now_ps + flow->tail_ps, EVENT_PRIORITY_DEVICE);
    }
    flow->over = flow->tail_ps == 0;
    for (guint32 w = 0; w < flow->warps; w++)
        warp_end_load(&flow->reg[w], now_ps);
}

static void flow_on_head(Event *event, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(event, DeviceFlow, event);
    (void)now_ps;
    flow_store(flow, TRUE);
    flow_begin(flow->fabric->flow, flow->class, &flow->item, flow->work);
    flow_enter_sm(flow);
    flow_adjust_queue(flow->warp->sm);
}

static void flow_on_reached(void *arg, SimTime now_ps)
{
    DeviceFlow *flow = arg;
    event_init(&flow->event, flow_on_head);
    sim_at(flow->fabric->sim, &flow->event, now_ps + flow->head_ps, EVENT_PRIORITY_DEVICE);
}

static void flow_on_left(void *arg, SimTime now_ps)
{
    DeviceFlow *flow = arg;
    (void)now_ps;
    flow->left++;
    flow_unref(flow);
}

gboolean device_push_flow(FoCta *cta, const DeviceLoopSpec *loop)
{
    const LoopSpec *spec = &loop->spec;
    Fabric *fabric = cta->launch->fabric;
    guint32 all = (guint32)fabric->spec.system.gpus * FLOW_RESOURCES;
    guint32 first = cta->first / WARP_LANES; /* active warp */
    guint64 elements = loop_share(spec, first, cta->count);
    if (elements == 0)
        return TRUE;
    g_autofree guint64 *amount = g_new0(guint64, 2 * (gsize)all);
    g_autofree SmPlayKind *play = g_new0(SmPlayKind, 1); /* CTAs' stacks are small */
    DeviceCost cost = {.fabric = fabric,
                       .cta = cta,
                       .gpu = cta->launch->gpu->id,
                       .amount = amount,
                       .rides = amount + all,
                       .play = play,
                       .charges = g_array_new(FALSE, FALSE, sizeof(DeviceCharge))};
    for (guint32 p = 0; p < spec->n_parts; p++) {
        const VasMapping *to = vas_find(cta->launch->vas, spec->part[p].base);
        if (!to || !to->region)
            continue;
        gboolean away = to->region->gpu != cost.gpu;
        if (spec->part[p].kind == UOP_STORE || spec->part[p].kind == UOP_RED)
            *(away ? &cost.targets : &cost.own_stores) += 1;
        else if (spec->part[p].kind == UOP_LOAD)
            *(away ? &cost.peers : &cost.own_loads) += 1;
    }
    for (guint32 p = 0; p < spec->n_parts; p++)
        if (!device_cost_part(&cost, spec, &spec->part[p])) {
            g_array_free(cost.charges, TRUE);
            return FALSE;
        }
    guint32 warps = (cta->count + WARP_LANES - 1) / WARP_LANES;
    DeviceFlow *flow = g_malloc0(sizeof *flow + warps * sizeof(Reg));
    flow->warps = warps;
    flow->fabric = fabric;
    flow->warp = &cta->cta->warp[first];
    flow->lines = (elements * spec->width + LINE_BYTES - 1) / LINE_BYTES; /* at least one */
    guint32 kind = device_queue_kind(cta, &cost, spec);
    flow->kind = kind;
    flow->sms = device_queue_sms(cta);
    flow->issue_ps = cost.remote_stores ? (guint32)device_queue_ps(&cost) : 0;
    flow->work = device_queue_work(cta, &cost, spec, kind, flow->lines);
    flow->head_ps = cost.head_ps;
    flow->tail_ps = cost.stores ? cost.tail_ps : 0;
    flow->charges = cost.charges;
    flow->item.done = flow_on_served;
    flow->head_ps += device_cost_ahead_ps(&cost, flow->lines);
    flow->limit = device_cost_limit(&cost, spec, flow->lines);
    flow->line_ps = device_cost_issue_ps(&cost);
    flow->class = device_queue_class(cta, &cost, spec, &flow->limit, kind);
    Uop reach = {.kind = UOP_CALL, .lanes = 1, .call = flow_on_reached, .arg = flow};
    Uop leave = {.kind = UOP_CALL, .lanes = 1, .call = flow_on_left, .arg = flow};
    device_push(cta, first, &reach);
    for (guint32 w = 0; w < flow->warps; w++) {
        warp_begin_load(&cta->cta->warp[first + w],
                        &flow->reg[w]); /* whoever gets here waits for the whole loop */
        leave.src = &flow->reg[w];
        device_push(cta, first + w, &leave);
    }
    return TRUE;
}
