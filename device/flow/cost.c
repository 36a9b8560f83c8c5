/* What a line of a bulk loop costs as a flow, in the model's own terms: flits of requests, data and
 * answers of each kind, merged acknowledgements, rounds of replication, L2 and HBM; and how fast
 * one CTA can go. */
#include "device/flow/cost.h"

#include "model/flow/head_of_line.h"
#include "model/flow/rates.h"

/* ---- what a line costs */

static void cost_add(DeviceCost *cost, guint32 gpu, guint32 resource, guint64 amount)
{
    cost->amount[gpu * FLOW_RESOURCES + resource] += amount;
}

/* Flits of all those packets, headers included. */
static void cost_link(DeviceCost *cost, guint32 gpu, guint32 way, PacketKind kind, guint64 packets, guint64 flits)
{
    gboolean rides = kind == PACKET_ACK || kind == PACKET_MC_ACK || kind == PACKET_MC_DONE;
    (rides ? cost->rides : cost->amount)[gpu * FLOW_RESOURCES + way] += flits;
    DeviceCharge charge = {.gpu = (guint16)gpu,
                           .down = way == FLOW_DOWN,
                           .kind = (guint8)kind,
                           .packets = (guint32)packets,
                           .flits = (guint32)flits};
    g_array_append_val(cost->charges, charge);
}

/* A packet and its data, from one GPU's link to another's. */
static void cost_cross(DeviceCost *cost, guint32 from, guint32 to, PacketKind kind, guint64 packets, guint64 flits)
{
    cost_link(cost, from, FLOW_UP, kind, packets, flits);
    cost_link(cost, to, FLOW_DOWN, kind, packets, flits);
}

static SimTime cost_round_trip_ps(const DeviceCost *cost)
{
    const FabricSpec *spec = &cost->fabric->spec;
    SimTime flits_ps = 2 * (2 + LINE_BYTES / FLIT_BYTES) * FLIT_BYTES * 1000000u / spec->link.rate_MBps;
    return spec->gpu.out_ps + 4 * spec->link.flight_ps + 2 * spec->sw.latency_ps + spec->gpu.l2_ps + spec->gpu.in_ps +
           flits_ps;
}

static void cost_memory(DeviceCost *cost, const MemRegion *region, gboolean load)
{
    if (!memory_region_asks_hbm(region, !load))
        return;
    const HbmWay way = load ? HBM_READ : HBM_WRITE;
    const HbmRate *rate = &cost->fabric->gpu[region->gpu].hbm.rate;
    cost_add(cost, region->gpu, FLOW_HBM, 1000000u * LINE_BYTES / rate->reached_permille[way]);
    cost->hbm[way] += 1000u * LINE_BYTES;
}

/* A load's answer comes after latency_ps, and dram_ps more if it misses, in so many memories at once. */
static void cost_head(DeviceCost *cost, SimTime latency_ps, guint32 missed, SimTime dram_ps)
{
    latency_ps += missed ? dram_ps : 0;
    cost->head_ps = MAX(cost->head_ps, latency_ps);
    cost->missed_ps = MAX(cost->missed_ps, missed ? latency_ps : 0);
    cost->missed_lines += missed * cost->warp_packets;
    cost->missed_loads += missed != 0;
    cost->missed_parts = MAX(cost->missed_parts, missed);
}

static void cost_local(DeviceCost *cost, const MemRegion *region, gboolean load)
{
    const GpuSpec *gpu = &cost->fabric->spec.gpu;
    cost_add(cost, cost->gpu, FLOW_L2, 1000u * LINE_BYTES);
    cost_memory(cost, region, load);
    if (load)
        cost_head(cost, gpu->local_ps, !region->cached, gpu->local_dram_ps);
    else
        cost->tail_ps = MAX(cost->tail_ps, gpu->local_ps);
}

/* Acknowledgements of a stream's writes. As many as fit the timer are merged, when as many GPUs
 * write to one link at full load as this loop writes to; a read answer in between flushes: about
 * 0.4 a write (PROTOTYPE A2). */
static guint64 cost_acks(const DeviceCost *cost, guint64 flits)
{
    const GpuSpec *gpu = &cost->fabric->spec.gpu;
    guint64 packet_ps = flits * FLIT_BYTES * 1000000u / cost->fabric->spec.link.rate_MBps;
    guint64 acks = cost->packets * 1000 / port_acks_merged(&cost->fabric->spec, packet_ps * cost->targets);
    if (cost->remote_loads && gpu->ack_flush_on_read)
        acks = MAX(acks, cost->packets * 2 / 5);
    return acks;
}

/* A store that leaves by this GPU's ports. */
static void cost_store(DeviceCost *cost, guint64 flits)
{
    cost->remote_stores += (guint32)cost->packets;
    cost->out_flits += flits;
    cost_add(cost, cost->gpu, FLOW_OUT, flits);
}

static void cost_unicast(DeviceCost *cost, const MemRegion *region, UopKind kind)
{
    const GpuSpec *gpu = &cost->fabric->spec.gpu;
    guint64 flits = cost->packets + cost->flits;
    gboolean load = kind == UOP_LOAD;
    if (region->gpu == cost->gpu) {
        cost_local(cost, region, load);
        return;
    }
    cost_memory(cost, region, load);
    if (load) {
        cost_head(cost, cost_round_trip_ps(cost), !region->cached, gpu->dram_ps);
        cost_cross(cost, cost->gpu, region->gpu, PACKET_READ, cost->packets, cost->packets);
        cost_cross(cost, region->gpu, cost->gpu, PACKET_READ_RSP, cost->packets, flits);
        return;
    }
    cost->tail_ps = MAX(cost->tail_ps, cost_round_trip_ps(cost));
    flits += cost->packets *
             ((cost->partial ? gpu->byte_enable_flits : 0) + (kind == UOP_RED ? gpu->operation_flits : 0));
    guint64 acks = cost_acks(cost, flits / cost->packets);
    cost_store(cost, flits);
    cost_cross(cost, cost->gpu, region->gpu, kind == UOP_RED ? PACKET_RED : PACKET_WRITE, cost->packets, flits);
    cost_cross(cost, region->gpu, cost->gpu, PACKET_ACK, acks, acks);
}

static void cost_multicast(DeviceCost *cost, const McObject *object, UopKind kind)
{
    const FabricSpec *spec = &cost->fabric->spec;
    const SwitchSpec *sw = &spec->sw;
    guint64 packets = cost->packets, flits = packets + cost->flits;
    gboolean load = kind == UOP_MC_LOAD;
    guint32 missed = 0;
    guint64 request = load ? packets * sw->request_flits
                           : flits + packets * (cost->partial ? spec->gpu.byte_enable_flits : 0);
    PacketKind there = load ? PACKET_MC_READ : PACKET_MC_WRITE;
    if (kind == UOP_MC_RED) {
        request += packets * spec->gpu.operation_flits;
        there = PACKET_MC_RED;
    }
    const guint64 asked = request + packets * spec->mctable.set_flits;
    cost_link(cost, cost->gpu, FLOW_UP, there, packets, asked);
    guint64 directives = MAX(spec->mctable.round_directives, 1);
    guint64 rounds = (object->members->len + directives - 1) / directives;
    guint64 beats = (request / packets * FLIT_BYTES + sw->crossbar_bytes - 1) / sw->crossbar_bytes;
    guint64 ingress_ps = rounds * beats * sw->cycle_ps;
    cost_add(cost, cost->gpu, FLOW_INGRESS, packets * ingress_ps / 1000);
    for (guint i = 0; i < object->members->len; i++) {
        guint16 member = g_array_index(object->members, guint16, i);
        const McBind *bind = mcobject_lookup(object, member, 0);
        cost_link(cost, member, FLOW_DOWN, there, packets, request);
        cost_link(cost, member, FLOW_UP, load ? PACKET_MC_OPERAND : PACKET_MC_ACK, packets,
                  load ? flits : packets * sw->replica_ack_flits);
        if (bind) {
            cost_memory(cost, bind->region, load);
            missed += !bind->region->cached;
        }
    }
    if (load) { /* on all members alike: what one GPU's request costs others comes back from theirs
                 */
        guint64 n = object->members->len, up = asked + n * flits, down = n * request + flits;
        cost->ahead_flits = up - MIN(up, down);
        cost_link(cost, cost->gpu, FLOW_DOWN, PACKET_MC_RSP, packets, flits);
    } else {
        cost->multicast_stores = TRUE;
        cost->ingress_ps = MAX(cost->ingress_ps, ingress_ps);
        cost_store(cost, asked);
        cost_link(cost, cost->gpu, FLOW_DOWN, PACKET_MC_DONE, packets / sw->done_merge_max,
                  packets / sw->done_merge_max * sw->done_flits);
    }
    if (load)
        cost_head(cost, cost_round_trip_ps(cost), missed, spec->gpu.dram_ps);
    else
        cost->tail_ps = MAX(cost->tail_ps, cost_round_trip_ps(cost));
}

/* ---- a loop's parts */

static const VasMapping *cost_mapping(const DeviceCost *cost, const LoopSpec *spec, const LoopPart *part)
{
    const VasMapping *mapping = vas_find(cost->cta->launch->vas, part->base);
    gboolean load = part->kind == UOP_LOAD || part->kind == UOP_MC_LOAD;
    gboolean multicast = part->kind >= UOP_MC_LOAD && part->kind <= UOP_MC_RED;
    VasAccess need = load ? VAS_ACCESS_READ : VAS_ACCESS_READWRITE;
    guint64 last = spec->elements - 1;
    guint64 end = part->base + spec->width +
                  (spec->per_segment == 0
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
static void cost_shape(DeviceCost *cost, const LoopSpec *spec, const LoopPart *part)
{
    guint64 lanes = MIN(WARP_LANES, cost->cta->count), span = lanes * spec->width;
    if (spec->per_segment)
        span = MIN(span, spec->per_segment * spec->width);
    guint64 packets = (part->base % LINE_BYTES + span + LINE_BYTES - 1) / LINE_BYTES;
    guint64 unit = part->kind == UOP_LOAD ? SECTOR_BYTES : FLIT_BYTES;
    guint64 flits = (part->base % unit + span + unit - 1) / unit * (unit / FLIT_BYTES);
    cost->packets = packets * 1000 * LINE_BYTES / span;
    cost->flits = flits * 1000 * LINE_BYTES / span;
    cost->partial = part->base % FLIT_BYTES || span % FLIT_BYTES;
}

/* *lsu_ps: what an instruction of a warp takes of the LSU. */
static gboolean cost_memory_part(DeviceCost *cost, const LoopSpec *spec, const LoopPart *part, SimTime *lsu_ps)
{
    const SmSpec *sm = &cost->fabric->spec.sm;
    if (part->kind == UOP_ATOM)
        return FALSE;
    const VasMapping *mapping = cost_mapping(cost, spec, part);
    if (!mapping)
        return FALSE;
    cost_shape(cost, spec, part);
    gboolean load = part->kind == UOP_LOAD || part->kind == UOP_MC_LOAD;
    gboolean own = mapping->region && mapping->region->gpu == cost->gpu;
    guint64 packets = cost->packets * MIN(WARP_LANES, cost->cta->count) * spec->width / LINE_BYTES;
    cost->warp_packets = (guint32)((packets + 999) / 1000);
    *lsu_ps = packets * (load ? sm->load_ps : own ? sm->local_store_ps : sm->store_ps) / 1000;
    *(load ? &cost->loads : &cost->stores) += (guint32)cost->packets;
    if (!load && own)
        cost->local_stores += (guint32)cost->packets;
    if (mapping->object)
        cost_multicast(cost, mapping->object, (UopKind)part->kind);
    else
        cost_unicast(cost, mapping->region, (UopKind)part->kind);
    if (load && !own)
        cost->remote_loads = TRUE;
    return TRUE;
}

gboolean device_cost_part(DeviceCost *cost, const LoopSpec *spec, const LoopPart *part)
{
    guint32 away = cost->remote_stores, missed = cost->missed_loads;
    IssueStep step = {.kind = part->kind, .reg = part->reg, .with = part->with, .after_ps = part->after_ps};
    if (part->kind == UOP_DELAY || part->kind == UOP_WORK)
        step.value_ps = part->base;
    else if (part->kind != UOP_ARITH && !cost_memory_part(cost, spec, part, &step.value_ps))
        return FALSE;
    step.away = cost->remote_stores > away;
    step.late = cost->missed_loads > missed;
    if (loop_part_is_memory(part))
        cost->loop_steps->last = cost->loop_steps->steps;
    cost->loop_steps->step[cost->loop_steps->steps++] = step;
    return TRUE;
}

SimTime device_cost_gap_ps(const DeviceCost *cost, guint32 step)
{
    const IssueLoop *loop = cost->loop_steps;
    const SmSpec *sm = &cost->fabric->spec.sm;
    while (step > 0 && step <= loop->last) {
        const IssueStep *before = &loop->step[--step];
        if (before->kind != UOP_ARITH && before->kind != UOP_WORK && before->kind != UOP_DELAY)
            return sm_gap_ps(2 * sm->clock_ps, before->kind == UOP_STORE || before->kind == UOP_MC_STORE,
                             before->value_ps);
    }
    return sm->warp_issue_ps;
}

guint64 device_cost_issue_ps(const DeviceCost *cost)
{
    const SmSpec *sm = &cost->fabric->spec.sm;
    guint64 away_ps = (guint64)(cost->stores - cost->local_stores) * sm->store_ps;
    guint64 local_ps = (guint64)cost->local_stores * sm->local_store_ps;
    return MAX((cost->loads * sm->load_ps + away_ps + local_ps) / 1000, 1);
}

static SimTime cost_between_ps(SimTime less_ps, SimTime more_ps, guint64 per_mille)
{
    return (less_ps * (1000 - per_mille) + more_ps * per_mille) / 1000;
}

/* Until all of a CTA's instructions have been issued, as its SM does that, and until the first store to others is; of a
 * loop of less than a turn each warp's one group has as many elements as there are. */
static SimTime cost_play_ps(DeviceCost *cost, const LoopSpec *spec, guint64 lines)
{
    IssueLoop *kind = cost->loop_steps;
    IssueRates *rates = cost->fabric->issue_rates;
    kind->warps = (cost->cta->count + WARP_LANES - 1) / WARP_LANES;
    kind->unroll = spec->unroll;
    kind->regs = spec->n_regs;
    kind->answer_ps = cost->answer_ps ? cost->answer_ps : cost->head_ps;
    guint64 row_bytes = (guint64)kind->warps * MIN(WARP_LANES, cost->cta->count) * spec->width;
    guint64 elements = lines * LINE_BYTES * 1000 / row_bytes, turns = 1000, more = elements % 1000;
    gboolean whole = elements >= spec->unroll * 1000u || elements < 1000 || spec->unroll_step;
    if (whole)
        turns = elements / spec->unroll;
    else
        kind->unroll = (guint32)(elements / 1000);
    SimTime all_ps = issue_rate_ps(rates, kind, turns);
    cost->away_ps = issue_rate_away_ps(rates, kind);
    if (whole || more == 0)
        return all_ps;
    kind->unroll++;
    cost->away_ps = cost_between_ps(cost->away_ps, issue_rate_away_ps(rates, kind), more);
    return cost_between_ps(all_ps, issue_rate_ps(rates, kind, turns), more);
}

/* Lines a second that one CTA can do alone, once the first load's time, head_ps, is past; an SM's places for loads and
 * stores are taken for a round trip each. */
guint64 device_cost_limit(DeviceCost *cost, const LoopSpec *spec, guint64 lines)
{
    const SmSpec *sm = &cost->fabric->spec.sm;
    guint64 limit = PS_PER_S / device_cost_issue_ps(cost), all_ps = cost_play_ps(cost, spec, lines);
    if (cost->loads && all_ps > cost->head_ps)
        limit = MIN(limit, flow_part(lines, PS_PER_S, all_ps - cost->head_ps));
    else if (!cost->loads)
        limit = MIN(limit, flow_part(lines, PS_PER_S, MAX(all_ps, 1)));
    if (cost->loads && cost->head_ps)
        limit = MIN(limit, flow_part(sm->loads_max * 1000 / cost->loads, PS_PER_S,
                                     cost->packet_ps ? cost->packet_ps : cost->head_ps));
    if (cost->stores)
        limit = MIN(limit, flow_part(sm->stores_max * 1000 / cost->stores, PS_PER_S, MAX(cost->tail_ps, 1)));
    return MAX(limit, 1);
}

/* How much later than its first answers a loop's first store to others is issued: all warps' stores to the own memory
 * that come before it, when many warps take turns. */
SimTime device_cost_lead_ps(const DeviceCost *cost) { return cost->away_ps - MIN(cost->head_ps, cost->away_ps); }

/* Sums are pulled ahead of the stores that send them on, by about 3/4 of what the ports' queues
 * hold; while that is built up the up links are full, and the down links, which the mix of both
 * needs more, are not. */
SimTime device_cost_ahead_ps(const DeviceCost *cost, guint64 lines)
{
    const FabricSpec *spec = &cost->fabric->spec;
    guint64 ctas = cost->cta->launch->ctas, queue = spec->gpu.source_queue_packets * cost->fabric->links;
    if (!cost->ahead_flits || !cost->multicast_stores)
        return 0;
    guint64 flits = MIN(lines * ctas, queue) * 3 / 4 * cost->ahead_flits / 1000;
    return flits * FLIT_BYTES * 1000000u / spec->link.rate_MBps / cost->fabric->links;
}
