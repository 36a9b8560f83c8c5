/* fo_loop as a flow: what a line of the loop costs on every link, L2 and HBM it touches, how fast one CTA can go
 * by itself, and the latencies before and behind it. See model/flow.h.
 *
 * A CTA's loop is one flow on its first warp; the other warps go on to what comes next, which in a
 * program is a barrier of the CTA or its end. The flow's work begins one load's round trip after the
 * loop; when it is served the last stores are on their way for another round trip, which a fence or the
 * kernel's end waits for, as with packets. Everything else of a program (barriers, flags, LL lines)
 * stays packets, on links that do not feel the flows.
 * Costs are the model's own: flits of requests, data and answers of each kind, merged acknowledgements.
 * Left out: queueing behind other traffic, the front-loading of reads by windows larger than the
 * latency needs, hot links of a hash. What that is worth: docs/performance.md. */
#include <string.h>

#include "api/device.h"
#include "model/flow.h"

/* Resources of each GPU. */
enum { FLOW_UP, FLOW_DOWN, FLOW_L2, FLOW_HBM, FLOW_RESOURCES };

/* What a loop does to links, for their statistics: thousandths of a packet a line. */
typedef struct {
    guint16 gpu;
    guint8 down, kind;
    guint16 flits; /* of a packet */
    guint32 packets;
} FlowCharge;

typedef struct {
    FlowItem item;
    Event event;
    Fabric *fabric;
    Warp *warp;
    Reg reg;              /* pending until the last line is through */
    FlowClass *class;
    guint64 lines, work;
    SimTime head_ps, tail_ps; /* before the first line, behind the last one */
    gboolean left;        /* the warp went on */
    gboolean over;        /* the last store is performed */
    GArray *charges;
} DeviceFlow;

/* While a loop is looked at. */
typedef struct {
    const Fabric *fabric;
    FoCta *cta;
    guint32 gpu;          /* that runs it */
    guint64 *amount;      /* by resource */
    GArray *charges;
    guint64 packets, flits; /* of one stream: thousandths of data packets and of their data flits a line */
    gboolean partial, remote_loads;
    guint32 loads, stores;
    SimTime head_ps, tail_ps;
} FlowCost;

void device_flow_begin(Fabric *fabric)
{
    guint64 gpus = fabric->spec.system.gpus;
    g_assert(!fabric->flow && !fabric->keep_bytes);
    fabric->flow = flow_new(fabric->sim, (guint32)gpus * FLOW_RESOURCES);
    guint64 links = fabric->spec.link.rate_MBps * 1000000u / FLIT_BYTES * 1000u * fabric->links;
    for (guint32 g = 0; g < gpus; g++) {
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_UP, links);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_DOWN, links);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_L2,
                          fabric->spec.gpu.local_MBps * 1000000000u);
        flow_set_capacity(fabric->flow, g * FLOW_RESOURCES + FLOW_HBM,
                          fabric->spec.gpu.hbm_MBps * 1000000000u);
    }
}

void device_flow_end(Fabric *fabric) { g_clear_pointer(&fabric->flow, flow_free); }

/* ---- what a line costs */

static void cost_add(FlowCost *cost, guint32 gpu, guint32 resource, guint64 amount)
{
    cost->amount[gpu * FLOW_RESOURCES + resource] += amount;
}

static void cost_link(FlowCost *cost, guint32 gpu, guint32 way, PacketKind kind, guint64 packets, guint64 flits)
{
    cost_add(cost, gpu, way, packets * flits);
    FlowCharge charge = {.gpu = (guint16)gpu, .down = way == FLOW_DOWN, .kind = (guint8)kind,
                         .flits = (guint16)flits, .packets = (guint32)packets};
    g_array_append_val(cost->charges, charge);
}

/* A packet and its data, from one GPU's link to another's. */
static void cost_cross(FlowCost *cost, guint32 from, guint32 to, PacketKind kind, guint64 packets, guint64 flits)
{
    cost_link(cost, from, FLOW_UP, kind, packets, flits);
    cost_link(cost, to, FLOW_DOWN, kind, packets, flits);
}

static SimTime cost_round_trip_ps(const FlowCost *cost)
{
    const FabricSpec *spec = &cost->fabric->spec;
    SimTime flits_ps = 2 * (2 + LINE_BYTES / FLIT_BYTES) * FLIT_BYTES * 1000000u / spec->link.rate_MBps;
    return spec->gpu.out_ps + 4 * spec->link.flight_ps + 2 * spec->sw.latency_ps + spec->gpu.l2_ps +
           spec->gpu.in_ps + flits_ps;
}

static void cost_memory(FlowCost *cost, const MemRegion *region)
{
    if (!region->cached)
        cost_add(cost, region->gpu, FLOW_HBM, 1000u * LINE_BYTES);
}

static void cost_local(FlowCost *cost, const MemRegion *region, gboolean load)
{
    const GpuSpec *gpu = &cost->fabric->spec.gpu;
    cost_add(cost, cost->gpu, FLOW_L2, 1000u * LINE_BYTES);
    cost_memory(cost, region);
    SimTime latency_ps = gpu->local_ps + (load && !region->cached ? gpu->dram_ps : 0);
    *(load ? &cost->head_ps : &cost->tail_ps) = MAX(load ? cost->head_ps : cost->tail_ps, latency_ps);
}

static void cost_unicast(FlowCost *cost, const MemRegion *region, UopKind kind)
{
    const GpuSpec *gpu = &cost->fabric->spec.gpu;
    guint64 flits = 1 + cost->flits / cost->packets;
    gboolean load = kind == UOP_LOAD;
    if (region->gpu == cost->gpu) {
        cost_local(cost, region, load);
        return;
    }
    SimTime trip_ps = cost_round_trip_ps(cost) + (load && !region->cached ? gpu->dram_ps : 0);
    *(load ? &cost->head_ps : &cost->tail_ps) = MAX(load ? cost->head_ps : cost->tail_ps, trip_ps);
    cost_memory(cost, region);
    if (load) {
        cost_cross(cost, cost->gpu, region->gpu, PACKET_READ, cost->packets, 1);
        cost_cross(cost, region->gpu, cost->gpu, PACKET_READ_RSP, cost->packets, flits);
        return;
    }
    flits += cost->partial ? gpu->byte_enable_flits : 0;
    flits += kind == UOP_RED ? gpu->operation_flits : 0;
    /* a read answer in between flushes the merged acknowledgement: about 0.4 a write (PROTOTYPE A2) */
    guint64 acks = cost->packets / gpu->ack_merge_max;
    if (cost->remote_loads && gpu->ack_flush_on_read)
        acks = MAX(acks, cost->packets * 2 / 5);
    cost_cross(cost, cost->gpu, region->gpu, kind == UOP_RED ? PACKET_RED : PACKET_WRITE, cost->packets, flits);
    cost_cross(cost, region->gpu, cost->gpu, PACKET_ACK, acks, 1);
}

static void cost_multicast(FlowCost *cost, const McObject *object, UopKind kind)
{
    const FabricSpec *spec = &cost->fabric->spec;
    const SwitchSpec *sw = &spec->sw;
    guint64 packets = cost->packets, flits = 1 + cost->flits / packets;
    gboolean load = kind == UOP_MC_LOAD, missed = FALSE;
    guint64 request = load ? sw->request_flits : flits + (cost->partial ? spec->gpu.byte_enable_flits : 0);
    PacketKind there = load ? PACKET_MC_READ : PACKET_MC_WRITE;
    if (kind == UOP_MC_RED) {
        request += spec->gpu.operation_flits;
        there = PACKET_MC_RED;
    }
    cost_link(cost, cost->gpu, FLOW_UP, there, packets, request);
    for (guint i = 0; i < object->members->len; i++) {
        guint16 member = g_array_index(object->members, guint16, i);
        const McBind *bind = mcobject_lookup(object, member, 0);
        cost_link(cost, member, FLOW_DOWN, there, packets, request);
        cost_link(cost, member, FLOW_UP, load ? PACKET_MC_OPERAND : PACKET_MC_ACK, packets,
                  load ? flits : sw->replica_ack_flits);
        if (bind) {
            cost_memory(cost, bind->region);
            missed = missed || !bind->region->cached;
        }
    }
    if (load)
        cost_link(cost, cost->gpu, FLOW_DOWN, PACKET_MC_RSP, packets, flits);
    else
        cost_link(cost, cost->gpu, FLOW_DOWN, PACKET_MC_DONE, packets / sw->done_merge_max, sw->done_flits);
    SimTime trip_ps = cost_round_trip_ps(cost) + (load && missed ? spec->gpu.dram_ps : 0);
    *(load ? &cost->head_ps : &cost->tail_ps) = MAX(load ? cost->head_ps : cost->tail_ps, trip_ps);
}

/* ---- a loop's parts */

static const VasMapping *cost_mapping(const FlowCost *cost, const LoopSpec *spec, const LoopPart *part)
{
    const VasMapping *mapping = vas_find(cost->cta->launch->vas, part->base);
    gboolean load = part->kind == UOP_LOAD || part->kind == UOP_MC_LOAD;
    gboolean multicast = part->kind >= UOP_MC_LOAD && part->kind <= UOP_MC_RED;
    VasAccess need = load ? VAS_ACCESS_READ : VAS_ACCESS_READWRITE;
    guint64 last = spec->elements - 1;
    guint64 end = part->base + spec->width + (spec->per_segment == 0
        ? last * spec->width
        : last / spec->per_segment * spec->segment_stride + last % spec->per_segment * spec->width);
    if (!mapping || end > mapping->va + mapping->bytes || (mapping->access[cost->gpu] & need) != need)
        return NULL;
    if (multicast ? !mapping->object || mapping->object->mcid == MC_MCID_NONE : !mapping->region)
        return NULL;
    if (mapping->region && mapping->region->gpu == MEMORY_HOST)
        return NULL;
    return mapping;
}

/* How a warp's lanes side by side fall into packets. */
static void cost_shape(FlowCost *cost, const LoopSpec *spec, const LoopPart *part)
{
    guint64 lanes = MIN(WARP_LANES, cost->cta->cta->threads), span = lanes * spec->width;
    if (spec->per_segment)
        span = MIN(span, spec->per_segment * spec->width);
    guint64 packets = (part->base % LINE_BYTES + span + LINE_BYTES - 1) / LINE_BYTES;
    guint64 flits = (part->base % FLIT_BYTES + span + FLIT_BYTES - 1) / FLIT_BYTES;
    cost->packets = packets * 1000 * LINE_BYTES / span;
    cost->flits = flits * 1000 * LINE_BYTES / span;
    cost->partial = part->base % FLIT_BYTES || span % FLIT_BYTES;
}

static gboolean cost_part(FlowCost *cost, const LoopSpec *spec, const LoopPart *part)
{
    if (part->kind == UOP_ARITH)
        return TRUE;
    if (part->kind == UOP_ATOM || part->kind == UOP_DELAY)
        return FALSE;
    const VasMapping *mapping = cost_mapping(cost, spec, part);
    if (!mapping)
        return FALSE;
    cost_shape(cost, spec, part);
    gboolean load = part->kind == UOP_LOAD || part->kind == UOP_MC_LOAD;
    *(load ? &cost->loads : &cost->stores) += (guint32)cost->packets;
    if (mapping->object)
        cost_multicast(cost, mapping->object, (UopKind)part->kind);
    else
        cost_unicast(cost, mapping->region, (UopKind)part->kind);
    if (load && !(mapping->region && mapping->region->gpu == cost->gpu))
        cost->remote_loads = TRUE;
    return TRUE;
}

/* Lines a second that one CTA can do alone. The first window's lines need no turn of their own: their time is
 * in head_ps already. */
static guint64 cost_limit(const FlowCost *cost, const LoopSpec *spec, guint64 lines)
{
    const SmSpec *sm = &cost->fabric->spec.sm;
    guint64 issue_ps = (cost->loads * sm->load_ps + cost->stores * sm->store_ps) / 1000;
    guint64 limit = PS_PER_S / MAX(issue_ps, 1);
    guint64 warps = cost->cta->cta->n_warps, span = WARP_LANES * spec->width;
    guint64 window = MAX(warps * spec->unroll * span / LINE_BYTES, 1);
    if (cost->loads)
        window = MIN(window, MAX(sm->loads_max * 1000 / cost->loads, 1));
    if (cost->loads && lines > window)
        limit = MIN(limit, window * PS_PER_S / cost->head_ps * lines / (lines - window));
    if (cost->stores)
        limit = MIN(limit, sm->stores_max * 1000 / cost->stores * PS_PER_S / cost->tail_ps);
    return MAX(limit, 1);
}

static guint64 flow_elements(const LoopSpec *spec, guint32 threads)
{
    guint64 rest = spec->elements % spec->step;
    guint64 more = rest > spec->first ? MIN(rest - spec->first, threads) : 0;
    return spec->elements / spec->step * threads + more;
}

/* ---- a flow's life */

static void flow_unref(DeviceFlow *flow)
{
    if (!flow->left || !flow->over)
        return;
    g_array_free(flow->charges, TRUE);
    g_free(flow);
}

static void flow_charge(const DeviceFlow *flow)
{
    Fabric *fabric = flow->fabric;
    for (guint i = 0; i < flow->charges->len; i++) {
        const FlowCharge *charge = &g_array_index(flow->charges, FlowCharge, i);
        guint64 packets = flow->lines * charge->packets / 1000;
        Gpu *gpu = &fabric->gpu[charge->gpu];
        for (guint32 l = 0; l < fabric->links; l++) {
            Link *link = charge->down ? &gpu->down[l] : &gpu->up[l];
            guint64 share = packets * (l + 1) / fabric->links - packets * l / fabric->links;
            link->count[charge->kind].packets += share;
            link->count[charge->kind].flits += share * charge->flits;
        }
    }
}

static void flow_on_stored(Event *event, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(event, DeviceFlow, event);
    warp_end_store(flow->warp, now_ps);
    flow->over = TRUE;
    flow_unref(flow);
}

static void flow_on_served(FlowItem *item, SimTime now_ps)
{
    DeviceFlow *flow = EVENT_OWNER(item, DeviceFlow, item);
    flow_charge(flow);
    if (flow->tail_ps) {
        warp_begin_store(flow->warp);
        event_init(&flow->event, flow_on_stored);
        sim_at(flow->fabric->sim, &flow->event, now_ps + flow->tail_ps, EVENT_PRIORITY_DEVICE);
    }
    flow->over = flow->tail_ps == 0;
    warp_end_load(&flow->reg, now_ps);
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
    warp_begin_load(flow->warp, &flow->reg);
    event_init(&flow->event, flow_on_head);
    sim_at(flow->fabric->sim, &flow->event, now_ps + flow->head_ps, EVENT_PRIORITY_DEVICE);
}

static void flow_on_left(void *arg, SimTime now_ps)
{
    DeviceFlow *flow = arg;
    (void)now_ps;
    flow->left = TRUE;
    flow_unref(flow);
}

static FlowClass *flow_classify(const FlowCost *cost, guint64 limit)
{
    guint32 n = 0, all = (guint32)cost->fabric->spec.system.gpus * FLOW_RESOURCES;
    g_autofree FlowUse *use = g_new(FlowUse, all);
    for (guint32 r = 0; r < all; r++)
        if (cost->amount[r])
            use[n++] = (FlowUse){r, (guint32)cost->amount[r]};
    return flow_class(cost->fabric->flow, use, n, limit);
}

gboolean device_push_flow(FoCta *cta, const DeviceLoopSpec *loop)
{
    const LoopSpec *spec = &loop->spec;
    Fabric *fabric = cta->launch->fabric;
    guint32 all = (guint32)fabric->spec.system.gpus * FLOW_RESOURCES;
    guint64 elements = flow_elements(spec, cta->cta->threads);
    if (elements == 0)
        return TRUE;
    g_autofree guint64 *amount = g_new0(guint64, all);
    FlowCost cost = {.fabric = fabric, .cta = cta, .gpu = cta->launch->gpu->id, .amount = amount,
                     .charges = g_array_new(FALSE, FALSE, sizeof(FlowCharge))};
    for (guint32 p = 0; p < spec->n_parts; p++)
        if (!cost_part(&cost, spec, &spec->part[p])) {
            g_array_free(cost.charges, TRUE);
            return FALSE;
        }
    DeviceFlow *flow = g_new0(DeviceFlow, 1);
    flow->fabric = fabric;
    flow->warp = &cta->cta->warp[0];
    flow->lines = (elements * spec->width + LINE_BYTES - 1) / LINE_BYTES;
    flow->work = elements * spec->width * (FLOW_LINE / LINE_BYTES);
    flow->head_ps = cost.head_ps;
    flow->tail_ps = cost.stores ? cost.tail_ps : 0;
    flow->charges = cost.charges;
    flow->item.done = flow_on_served;
    flow->class = flow_classify(&cost, cost_limit(&cost, spec, flow->lines));
    Uop reach = {.kind = UOP_CALL, .lanes = 1, .call = flow_on_reached, .arg = flow};
    Uop leave = {.kind = UOP_CALL, .lanes = 1, .call = flow_on_left, .arg = flow, .src = &flow->reg};
    device_push(cta, 0, &reach);
    device_push(cta, 0, &leave);
    return TRUE;
}
