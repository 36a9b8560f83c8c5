/* fo_loop as a flow: what a line of the loop costs on every link, L2 and HBM it touches, how fast
 * one CTA can go by itself, and the latencies before and behind it. See model/flow/rates.h.
 *
 * A CTA's loop is one flow, begun by its first warp. Its work begins one load's round trip after the loop. What of it
 * has room in the queues before the ports is issued before it is sent: its warps go on when no more than that is left
 * (and their LSU is through with it), and their next loop's stores wait behind it. When all is served the last stores
 * are on their way for another round trip, which a fence or the kernel's end waits for, as with packets.
 * Everything else of a program (barriers, flags, LL lines) stays packets; these and fences wait for what of flows waits
 * before a GPU's ports at that moment (sm_share.h). Loops that share an SM share its LSU, and SMs that share
 * a queue to the ports have so much less of these. Costs are the model's own: flits of requests, data and answers of
 * each kind, merged acknowledgements; queues: queue_share.h. Left out: queues before the ports of loops that also load
 * from others. What that is worth: docs/performance.md. */
#include <string.h>

#include "device/flow/queue_share.h"
#include "device/flow/sm_share.h"
#include "model/flow/egress_share.h"
#include "model/flow/head_of_line.h"
#include "model/flow/issue_rate.h"
#include "model/flow/load_rate.h"

void device_flow_begin(Fabric *fabric)
{
    guint64 gpus = fabric->spec.system.gpus;
    g_assert(!fabric->flow && !fabric->keep_bytes);
    fabric->flow = flow_new(fabric->sim, (guint32)gpus * FLOW_RESOURCES);
    fabric->ports = port_shares_new(fabric);
    fabric->loads = load_shares_new(fabric);
    fabric->holds = port_holds_new(fabric);
    fabric->issue_rates = issue_rates_new(&fabric->spec.sm);
    flow_set_share(fabric->flow, device_queue_share, device_queue_solved, fabric);
    guint64 flits = fabric->spec.link.rate_MBps * 1000000u / FLIT_BYTES * fabric->links;
    for (guint32 g = 0; g < gpus; g++) {
        fabric->gpu[g].flows.packet_ps = device_sm_packet_ps;
        fabric->gpu[g].flows.stored_ps = device_sm_stored_ps;
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_UP, flits * FLOW_LINK_PER_MILLE);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_DOWN, flits * FLOW_LINK_PER_MILLE);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_OUT, flits * 1000);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_INGRESS, PS_PER_S * fabric->links);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_L2, fabric->spec.gpu.local_MBps * 1000000000u);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_HBM, fabric->spec.gpu.hbm_MBps * 1000000000u);
    }
}

static void flow_free_one(DeviceFlow *flow)
{
    g_queue_unlink(&flow->fabric->flows, &flow->alive);
    g_array_free(flow->charges, TRUE);
    g_free(flow);
}

void device_flow_end(Fabric *fabric)
{
    while (fabric->flows.head) /* of a simulation that was abandoned */
        flow_free_one(fabric->flows.head->data);
    g_clear_pointer(&fabric->flow, flow_free);
    g_clear_pointer(&fabric->ports, port_shares_free);
    g_clear_pointer(&fabric->loads, load_shares_free);
    g_clear_pointer(&fabric->holds, port_holds_free);
    g_clear_pointer(&fabric->issue_rates, issue_rates_free);
}

static void flow_unref(DeviceFlow *flow)
{
    if (flow->left < flow->warps || !flow->over)
        return;
    flow_free_one(flow);
}

static void flow_charge(const DeviceFlow *flow)
{
    Fabric *fabric = flow->fabric;
    for (guint i = 0; i < flow->charges->len; i++) {
        const DeviceCharge *charge = &g_array_index(flow->charges, DeviceCharge, i);
        guint64 packets = flow_part(flow->lines, charge->packets, 1000);
        guint64 flits = flow_part(flow->lines, charge->flits, 1000), n = fabric->links;
        Gpu *gpu = &fabric->gpu[charge->gpu];
        for (guint32 l = 0; l < fabric->links; l++) {
            Link *link = charge->down ? &gpu->down[l] : &gpu->up[l];
            LinkCount *count = &link->count[charge->kind];
            count->packets += flow_part(packets, l + 1, n) - flow_part(packets, l, n);
            count->flits += flow_part(flits, l + 1, n) - flow_part(flits, l, n);
        }
    }
}

static void flow_on_stored(Event *event, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(event, DeviceFlow, event);
    warp_end_store(flow->warp, flow->tag, now_ps);
    flow->over = TRUE;
    flow_unref(flow);
}

/* All of it is issued. */
static void flow_release(DeviceFlow *flow, SimTime now_ps)
{
    flow->released = TRUE;
    flow->warp->sm->gpu->flows.draining -= (guint32)flow->drains;
    flow->drains = FALSE;
    if (flow->tail_ps)
        flow->tag = warp_begin_store(flow->warp);
    for (guint32 w = 0; w < flow->warps; w++)
        warp_end_load(&flow->reg[w], now_ps);
}

/* What is left of it waits before the ports, which send it as fast as they can, unless others' full links
 * hold them up.
 * Its LSU stands still for other loops as often as before while there is no room. */
static void flow_on_issued(Event *event, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(event, DeviceFlow, issued);
    flow_release(flow, now_ps);
    if (port_holds_full(flow->fabric->holds, flow->warp->sm->gpu->id) || flow->ports <= flow->limit)
        return;
    flow->line_ps = MAX(flow_part(flow->line_ps, flow->limit, flow->ports), 1);
    flow->limit = flow->ports;
    device_sm_adjust(flow->warp->sm);
}

/* The rest has room before the ports, once the LSU has come to it; its warps go on when the gap is over, too, that
 * follows each of their instructions. */
static void flow_on_passed(FlowItem *item, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(item, DeviceFlow, item);
    SimTime issued_ps = now_ps + device_sm_issue_ps(flow) + flow->gap_ps;
    sim_at(flow->fabric->sim, &flow->issued, issued_ps, EVENT_PRIORITY_DEVICE);
}

static void flow_serve(DeviceFlow *flow)
{
    device_sm_serve(flow);
    device_sm_store(flow, TRUE);
    flow->item.rest = MIN(flow->room / MAX(flow->warp->sm->storing, 1), flow->work);
    flow_begin(flow->fabric->flow, flow->class, &flow->item, flow->work);
    device_sm_enter(flow);
}

static void flow_on_gap(Event *event, SimTime now_ps) { flow_release(EVENT_OWNER(event, DeviceFlow, issued), now_ps); }

/* It is served as soon as it is issued. */
static void flow_release_later(DeviceFlow *flow, SimTime at_ps)
{
    flow->warp->sm->gpu->flows.draining -= (guint32)flow->drains;
    flow->drains = FALSE;
    event_init(&flow->issued, flow_on_gap);
    sim_at(flow->fabric->sim, &flow->issued, at_ps, EVENT_PRIORITY_DEVICE);
}

static void flow_on_served(FlowItem *item, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(item, DeviceFlow, item);
    Sm *sm = flow->warp->sm;
    flow_charge(flow);
    device_sm_store(flow, FALSE);
    device_sm_leave(flow);
    sim_cancel(flow->fabric->sim, &flow->issued);
    if (!flow->released)
        flow_release_later(flow, now_ps + flow->gap_ps);
    if (flow->behind)
        flow_serve(flow->behind);
    device_sm_adjust(sm);
    if (flow->tail_ps) {
        event_init(&flow->event, flow_on_stored);
        sim_at(flow->fabric->sim, &flow->event, now_ps + flow->tail_ps, EVENT_PRIORITY_DEVICE);
    }
    flow->over = flow->tail_ps == 0; /* its warps still have to leave */
}

static void flow_on_head(Event *event, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(event, DeviceFlow, event), *before = device_sm_before(flow);
    flow->begin_ps = now_ps;
    if (before) {
        before->behind = flow;
        return;
    }
    flow_serve(flow);
    device_sm_adjust(flow->warp->sm);
}

static void flow_on_reached(void *arg, SimTime now_ps)
{
    DeviceFlow *flow = arg;
    FoCta *cta = ((DeviceWarp *)flow->warp->generator)->cta;
    flow->reached = TRUE;
    if (cta->flow == flow)
        cta->flow = NULL;
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

/* Links have nothing to do with it before its first store to others, and the more in what is left of its time. */
static void flow_lead(DeviceFlow *flow, SimTime lead_ps)
{
    SimTime all_ps = flow_part(flow->lines, PS_PER_S, flow->limit);
    if (lead_ps == 0 || lead_ps >= all_ps)
        return;
    flow->head_ps += lead_ps;
    flow->limit = flow_part(flow->lines, PS_PER_S, all_ps - lead_ps);
    flow->line_ps = flow_part(flow->line_ps, all_ps - lead_ps, all_ps);
}

static void flow_first(DeviceFlow *flow)
{
    flow->piece = flow->class;
    flow->piece_lines = flow->lines;
    flow->piece_limit = flow->limit;
    flow->pieces = 1;
}

/* The loop behind it, of the same warps: in all that flows know of, it is like it, and touches no other GPU's memory.
 * Then both are one flow, each loop with the time until its first load is back: a copy to 32 slots is one flow and not
 * 32, at each of whose ends all rates would be solved anew. */
static gboolean flow_goes_on(DeviceFlow *flow, const DeviceFlow *next)
{
    if (!flow || flow->piece != next->class || flow->piece_lines != next->lines || flow->warp != next->warp ||
        flow->warps != next->warps || flow->head_ps != next->head_ps || flow->tail_ps != next->tail_ps)
        return FALSE;
    SimTime one_ps = flow_part(flow->piece_lines, PS_PER_S, flow->piece_limit);
    flow->pieces++;
    flow->lines += next->lines;
    flow->work += next->work;
    flow->limit = MAX(flow_part(flow->lines, PS_PER_S, flow->pieces * (one_ps + flow->head_ps) - flow->head_ps), 1);
    flow->class = flow_class_like(flow->fabric->flow, flow->piece, flow->limit, FLOW_WEIGHT);
    return TRUE;
}

/* A warp that gets to it waits for all of it. */
static void flow_push(FoCta *cta, DeviceFlow *flow)
{
    const guint32 first = cta->first / WARP_LANES;
    Uop reach = {.kind = UOP_CALL, .lanes = 1, .call = flow_on_reached, .arg = flow};
    Uop leave = {.kind = UOP_CALL, .lanes = 1, .call = flow_on_left, .arg = flow};
    device_push(cta, first, &reach);
    for (guint32 w = 0; w < flow->warps; w++) {
        warp_begin_load(&cta->cta->warp[first + w], &flow->reg[w]);
        leave.src = &flow->reg[w];
        device_push(cta, first + w, &leave);
    }
    cta->flow = flow->pieces && !flow->reached ? flow : NULL;
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
    g_autofree IssueLoop *steps = g_new0(IssueLoop, 1); /* CTAs' stacks are small */
    DeviceCost cost = {.fabric = fabric,
                       .cta = cta,
                       .gpu = cta->launch->gpu->id,
                       .amount = amount,
                       .rides = amount + all,
                       .loop_steps = steps,
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
    flow->alive.data = flow;
    g_queue_push_tail_link(&fabric->flows, &flow->alive);
    flow->warp = &cta->cta->warp[first];
    flow->lines = (elements * spec->width + LINE_BYTES - 1) / LINE_BYTES; /* at least one */
    guint32 kind = device_queue_kind(cta, &cost, spec);
    flow->kind = kind;
    flow->sms = device_queue_sms(cta);
    flow->issue_ps = cost.remote_stores ? (guint32)device_queue_ps(&cost) : 0;
    flow->ask_kind = device_queue_asks(cta, &cost, spec, &flow->ask_ps);
    flow->work = device_queue_work(cta, &cost, kind, flow->lines);
    device_cost_hbm(&cost, spec, flow->lines);
    flow->head_ps = cost.head_ps;
    flow->tail_ps = cost.stores ? cost.tail_ps : 0;
    flow->charges = cost.charges;
    flow->item.done = flow_on_served;
    flow->item.passed = flow_on_passed;
    event_init(&flow->issued, flow_on_issued);
    flow->head_ps += device_cost_ahead_ps(&cost, flow->lines);
    flow->room = device_queue_room(cta, &cost, kind);
    flow->limit = device_cost_limit(&cost, spec, flow->lines);
    flow->line_ps = device_cost_issue_ps(&cost);
    flow->ports = device_queue_ports(&cost);
    guint64 once_ps = flow->line_ps * spec->width * WARP_LANES / LINE_BYTES; /* the LSU's time of an instruction */
    flow->gap_ps = fabric->spec.sm.warp_issue_ps - MIN(once_ps, fabric->spec.sm.warp_issue_ps);
    flow_lead(flow, device_cost_lead_ps(&cost));
    flow->class = device_queue_class(cta, &cost, spec, &flow->limit, kind, flow->lines);
    if (flow_goes_on(cta->flow, flow)) {
        flow_free_one(flow);
        return TRUE;
    }
    if (!cost.remote_stores && !cost.remote_loads)
        flow_first(flow);
    flow_push(cta, flow);
    return TRUE;
}
