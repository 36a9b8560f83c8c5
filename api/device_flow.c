/* fo_loop as a flow: what a line of the loop costs on every link, L2 and HBM it touches, how fast
 * one CTA can go by itself, and the latencies before and behind it. See model/flow.h.
 *
 * A CTA's loop is one flow, begun by its first warp; all its warps wait for its end. The flow's
 * work begins one load's round trip after the loop; when it is served the last stores are on their
 * way for another round trip, which a fence or the kernel's end waits for, as with packets.
 * Everything else of a program (barriers, flags, LL lines) stays packets, on links that do not feel
 * the flows. Costs are the model's own: flits of requests, data and answers of each kind, merged
 * acknowledgements. Left out: queueing behind other traffic, hot links of a hash. What that is
 * worth: docs/performance.md. */
#include <math.h>
#include <string.h>

#include "api/device_cost.h"
#include "model/flow.h"
#include "model/port_share.h"

/* Of a link's flits, what packets reach at full load: the hash loads links unevenly for a while,
 * and queues run empty. Calibrated against packet fidelity on all_gather and reduce_scatter
 * (docs/performance.md). */
#define FLOW_LINK_PER_MILLE 994u

typedef struct {
    FlowItem item;
    Event event;
    Fabric *fabric;
    Warp *warp;
    FlowClass *class;
    guint64 lines, work, tag;
    SimTime head_ps, tail_ps; /* before the first line, behind the last one */
    guint32 left, warps;      /* warps that went on, of so many */
    gboolean over;            /* the last store is performed */
    GArray *charges;
    Reg reg[]; /* by warp: pending until the last line is through */
} DeviceFlow;

static guint32 flow_port_share(guint32 flows, guint32 issue_ps, guint32 kind, gpointer user)
{
    const Fabric *fabric = user;
    guint32 sms = MIN(flows, (guint32)fabric->spec.sm.count);
    return port_share(fabric->ports, sms, issue_ps, kind & 1, kind >> 1).busy_per_mille;
}

void device_flow_begin(Fabric *fabric)
{
    guint64 gpus = fabric->spec.system.gpus;
    g_assert(!fabric->flow && !fabric->keep_bytes);
    fabric->flow = flow_new(fabric->sim, (guint32)gpus * FLOW_RESOURCES);
    fabric->ports = port_shares_new(fabric);
    flow_set_share(fabric->flow, flow_port_share, fabric);
    guint64 links =
        fabric->spec.link.rate_MBps * 1000000u / FLIT_BYTES * FLOW_LINK_PER_MILLE * fabric->links;
    for (guint32 g = 0; g < gpus; g++) {
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_UP, links);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_DOWN, links);
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
}

/* ---- a flow's life */

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
    flow_begin(flow->fabric->flow, flow->class, &flow->item, flow->work);
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

/* LSU time between two packets for the links. */
static guint64 flow_queue_ps(const DeviceCost *cost)
{
    return MAX(device_cost_issue_ps(cost) * 1000 / MAX(cost->remote_stores, 1), 1);
}

/* Queues treat CTAs that store unlike: a random walk, whose steps the ports' play has measured. Without it
 * all would come to their fences at the same time, and links would idle. */
static guint64 flow_spread(const FoCta *cta, const DeviceCost *cost, const LoopSpec *spec, guint64 lines)
{
    const Fabric *fabric = cost->fabric;
    if (!cost->remote_stores)
        return lines * FLOW_LINE;
    guint32 sms = MIN(cta->launch->ctas, (guint32)fabric->spec.sm.count);
    PortShare port = port_share(fabric->ports, sms, flow_queue_ps(cost), spec->step > cta->cta->threads,
                                cost->targets);
    guint64 mix = hash_mix((spec->part[spec->n_parts - 1].base * 131 + cost->gpu) * 131 + cta->cta->index);
    double sigmas = ((double)(mix % 2001) - 1000) / 1000 * sqrt(3);
    double work = (double)lines + sigmas * port.spread_per_mille / 1000 * sqrt((double)lines);
    return (guint64)(MAX(work, (double)lines / 2) * FLOW_LINE);
}

static FlowClass *flow_classify(const DeviceCost *cost, guint64 limit, gboolean strided)
{
    guint32 n = 0, all = (guint32)cost->fabric->spec.system.gpus * FLOW_RESOURCES;
    g_autofree FlowUse *use = g_new(FlowUse, all);
    guint32 up = cost->gpu * FLOW_RESOURCES + FLOW_UP;
    guint32 issue_ps = cost->remote_stores ? (guint32)flow_queue_ps(cost) : 0;
    guint32 kind = cost->targets << 1 | (strided ? 1u : 0u); /* see flow_port_share() */
    for (guint32 r = 0; r < all; r++)
        if (cost->amount[r])
            use[n++] = (FlowUse){r, (guint32)cost->amount[r], r == up ? issue_ps : 0, kind};
    return flow_class(cost->fabric->flow, use, n, limit);
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
    g_autofree guint64 *amount = g_new0(guint64, all);
    DeviceCost cost = {.fabric = fabric,
                       .cta = cta,
                       .gpu = cta->launch->gpu->id,
                       .amount = amount,
                       .charges = g_array_new(FALSE, FALSE, sizeof(DeviceCharge))};
    for (guint32 p = 0; p < spec->n_parts; p++) {
        const VasMapping *to = vas_find(cta->launch->vas, spec->part[p].base);
        if ((spec->part[p].kind == UOP_STORE || spec->part[p].kind == UOP_RED) && to && to->region)
            cost.targets += to->region->gpu != cost.gpu;
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
    flow->work = flow_spread(cta, &cost, spec, flow->lines);
    flow->head_ps = cost.head_ps;
    flow->tail_ps = cost.stores ? cost.tail_ps : 0;
    flow->charges = cost.charges;
    flow->item.done = flow_on_served;
    flow->head_ps += device_cost_ahead_ps(&cost, flow->lines);
    flow->class = flow_classify(&cost, device_cost_limit(&cost, spec, flow->lines),
                                 spec->step > cta->cta->threads);
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
