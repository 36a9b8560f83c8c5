/* See queue_share.h. */
#include "device/flow/queue_share.h"

#include <math.h>

#include "device/flow/sm_share.h"
#include "model/flow/head_of_line.h"
#include "model/flow/load_rate.h"
#include "model/sm/place.h"

guint32 device_queue_sms(const FoCta *cta)
{
    return MIN(cta->launch->ctas, (guint32)cta->launch->fabric->spec.sm.count);
}

static guint32 queue_warps(const FoCta *cta) { return (cta->count + WARP_LANES - 1) / WARP_LANES; }

/* The launch's CTAs take turns in one array. */
static gboolean queue_is_strided(const FoCta *cta, const LoopSpec *spec) { return spec->step > cta->cta->threads; }

G_STATIC_ASSERT(FLOW_ALL == PORT_ALL && FLOW_ALL == LOAD_ALL);
/* kind: of stores, or of loads, whose issue_ps is QUEUE_LOADS. */
#define QUEUE_LOADS 1u

/* Few different ones are enough: the same in each queue, unless there are very few. */
static guint32 queue_about(const Gpu *gpu, guint32 sms)
{
    guint32 step = MIN(MAX(sms / 4, 1), (guint32)gpu->fabric->spec.sm.gpcs);
    return (sms + step / 2) / step * step;
}

PortShare device_queue_port(const Gpu *gpu)
{
    const GpuFlows *flows = &gpu->flows;
    PortShares *ports = gpu->fabric->ports;
    PortSide stores = {0, (guint32)(flows->issue_ps / flows->storing), flows->kind};
    PortSide loads = {0, flows->ask_ps, flows->ask_kind};
    if (flows->asking == 0)
        return port_share(ports, flows->sms, stores.issue_ps, stores.kind);
    for (guint32 q = 0; q < gpu->n_out; q++)
        loads.sms += gpu->out[q].asking;
    stores.sms = queue_about(gpu, flows->sms);
    loads.sms = queue_about(gpu, loads.sms);
    return port_share_mixed(ports, &stores, &loads);
}

guint32 device_queue_share(guint32 resource, guint32 flows, guint32 issue_ps, guint32 kind, gpointer user)
{
    const Fabric *fabric = user;
    if (issue_ps == QUEUE_LOADS)
        return load_share_links(fabric->loads, flows, kind);
    guint32 gpu = resource / FLOW_RESOURCES, sms = MAX(fabric->gpu[gpu].flows.sms, 1);
    guint32 most;
    if (device_queue_meets(&fabric->gpu[gpu]))
        most = device_queue_port(&fabric->gpu[gpu]).per_mille * (PORT_ALL / 1000);
    else
        most = MIN(port_share_links(fabric->ports, sms, issue_ps, kind), PORT_ALL / 1000 * FLOW_LINK_PER_MILLE);
    return port_holds_share(fabric->holds, gpu, most, sim_now_ps(fabric->sim));
}

/* A second, of so many lines a second. */
static guint64 queue_flits(const FlowUse *use, guint64 lines) { return flow_part(use->amount, lines, 1000); }

/* What a class's stores bring to others' links down. */
static void queue_see(const FlowUse *use, guint32 n, guint64 lines, gpointer user)
{
    Fabric *fabric = user;
    guint64 acks = 0;
    guint32 from = 0, packet_ps = 1, targets = 0;
    for (guint32 u = 0; u < n; u++)
        if (use[u].way == FLOW_BEHIND) {
            targets++;
        } else if (use[u].way == FLOW_RIDES && use[u].resource % FLOW_RESOURCES == FLOW_DOWN) {
            acks += queue_flits(&use[u], lines);
        } else if (use[u].issue_ps > QUEUE_LOADS) {
            from = use[u].resource / FLOW_RESOURCES;
            packet_ps = port_kind_of(fabric->ports, use[u].kind)->link_ps;
        }
    for (guint32 u = 0; u < n && targets; u++)
        if (use[u].way == FLOW_BEHIND && flow_is_behind(fabric->flow, use[u].resource))
            port_holds_send(fabric->holds, from, use[u].resource / FLOW_RESOURCES, queue_flits(&use[u], lines),
                            packet_ps, acks / targets);
}

/* Where ports have something to do, packets beside flows wait as theirs do; fences wait for the slowest of these, and
 * for what waits in the switches. */
SimTime device_queue_solved(gpointer user)
{
    Fabric *fabric = user;
    port_holds_begin(fabric->holds, sim_now_ps(fabric->sim));
    flow_see(fabric->flow, queue_see, fabric);
    SimTime again_ps = port_holds_end(fabric->holds);
    for (guint32 g = 0; g < fabric->spec.system.gpus; g++) {
        GpuFlows *flows = &fabric->gpu[g].flows;
        flows->wait_ps = flows->worst_ps = 0;
        if (!flows->storing)
            continue;
        PortShare port = device_queue_port(&fabric->gpu[g]);
        flows->wait_ps = port.wait_ps;
        flows->worst_ps = port.worst_ps;
        again_ps = MIN(again_ps, device_sm_solved(&fabric->gpu[g]));
        flows->hold_ps = port_holds_wait_ps(fabric->holds, g);
    }
    return again_ps;
}

/* LSU time between two packets for the links. */
guint64 device_queue_ps(const DeviceCost *cost)
{
    return MAX(device_cost_issue_ps(cost) * 1000 / MAX(cost->remote_stores, 1), 1);
}

/* The launch's SMs, numbered: as SMs are, which are taken in that order, or, in clusters, as CTAs. */
static guint32 queue_place(const FoCta *cta) { return cta->launch->cluster > 1 ? cta->cta->index : cta->cta->sm->id; }

static guint32 queue_of(const FoCta *cta, guint32 place)
{
    return place_cta_queue(&cta->launch->fabric->spec, place, cta->launch->cluster);
}

static guint32 queue_parts(const FoCta *cta)
{
    guint32 parts = place_parts(&cta->launch->fabric->spec, cta->launch->ctas, cta->launch->cluster,
                                queue_of(cta, queue_place(cta)));
    return MAX(parts, 1);
}

/* A random walk's step of one of so many, of whom so many others are before it, in standard deviations. All steps
 * together are none: what one has more of the ports another has less. */
static double queue_step(guint32 many, guint32 before)
{
    return many > 1 ? (2.0 * before / (many - 1) - 1) * sqrt(3.0 * (many - 1) / (many + 1)) : 0;
}

/* Of this loop's packets, how many more or less than others' its SM gets through in the same time, over the square root
 * of their number: ports treat queues unlike, and queues, much less so, their SMs, as the simulation of ports says.
 * Who is before whom changes from loop to loop. */
static double queue_steps(const FoCta *cta, const DeviceCost *cost, const PortShare *port)
{
    const FabricSpec *spec = &cost->fabric->spec;
    Sm *sm = cta->cta->sm;
    guint32 queues = place_queues(spec), me = queue_place(cta), mine = queue_of(cta, me), alike = 0;
    guint32 sms_before = 0, queues_before = 0, launch = device_queue_sms(cta), numbers = MAX(launch, me + 1);
    guint64 turn = (guint64)cost->gpu << 32 | sm->loops++;
    g_autofree guint32 *sharing = g_new0(guint32, queues);
    sharing[mine] = 1;
    for (guint32 s = 0; s < launch; s++) {
        guint32 queue = queue_of(cta, s);
        if (s == me)
            continue;
        sharing[queue]++;
        sms_before += queue == mine && hash_mix(turn * numbers + s) < hash_mix(turn * numbers + me);
    }
    for (guint32 q = 0; q < queues; q++) {
        gboolean like = sharing[q] == sharing[mine] && place_half(spec, q) == place_half(spec, mine);
        alike += like;
        queues_before += like && hash_mix(turn * queues + q) < hash_mix(turn * queues + mine);
    }
    return (queue_step(alike, queues_before) * port->queues_per_mille +
            queue_step(sharing[mine], sms_before) * port->spread_per_mille) /
           1000;
}

/* CTAs that store are not equally fast. Without that all would come to their fences at the same time, and links would
 * idle. */
guint64 device_queue_work(const FoCta *cta, const DeviceCost *cost, guint32 kind, guint64 lines)
{
    if (!cost->remote_stores)
        return lines * FLOW_LINE;
    PortShare port = port_share(cost->fabric->ports, device_queue_sms(cta), device_queue_ps(cost), kind);
    double packets = (double)lines * cost->remote_stores / 1000;
    double times = 1 + queue_steps(cta, cost, &port) / sqrt(packets);
    return (guint64)(MAX(times, 0.5) * (double)lines * FLOW_LINE);
}

/* As much as gets to a link while a packet waits, shared as ports are: by halves, by their CPCs, by these' SMs. */
guint64 device_queue_room(const FoCta *cta, const DeviceCost *cost, guint32 kind)
{
    const Fabric *fabric = cost->fabric;
    guint32 sms = device_queue_sms(cta), me = queue_place(cta), mine = queue_of(cta, me), sharing = 1;
    if (!cost->remote_stores || cost->remote_loads)
        return 0;
    guint32 most = port_share_links(fabric->ports, sms, device_queue_ps(cost), kind);
    for (guint32 s = 0; s < sms; s++)
        sharing += queue_of(cta, s) == mine && s != me;
    SimTime wait_ps = port_share(fabric->ports, sms, device_queue_ps(cost), kind).wait_ps;
    guint64 flits = flow_part(fabric->spec.link.rate_MBps * 1000000u / FLIT_BYTES * fabric->links, wait_ps, PS_PER_S);
    guint64 all = flow_part(flits * 1000, most, PORT_ALL) * FLOW_LINE / cost->out_flits;
    return cost->multicast_stores ? all / sms : all / (queue_parts(cta) * sharing);
}

guint64 device_queue_ports(const DeviceCost *cost)
{
    const Fabric *fabric = cost->fabric;
    guint64 flits = fabric->spec.link.rate_MBps * 1000000u / FLIT_BYTES * fabric->links;
    return cost->out_flits ? flow_part(flits, 1000, cost->out_flits) : 0;
}

/* How this loop's stores get to the ports. */
guint32 device_queue_kind(const FoCta *cta, const DeviceCost *cost, const LoopSpec *spec)
{
    const FabricSpec *fabric = &cost->fabric->spec;
    if (!cost->remote_stores)
        return 0;
    guint64 flits = cost->out_flits * 1000 / cost->remote_stores; /* thousandths, of a packet */
    guint32 link_ps = (guint32)(flits * FLIT_BYTES * 1000 / fabric->link.rate_MBps);
    PortKind kind = {.link_ps = link_ps,
                     .packet_ps = MAX(link_ps, (guint32)cost->ingress_ps),
                     .warps = queue_warps(cta),
                     .unroll = spec->unroll,
                     .copies = MAX(cost->targets, 1),
                     .cluster = cta->launch->cluster > 1 ? cta->launch->cluster : 0,
                     .strided = (guint32)queue_is_strided(cta, spec)};
    if (kind.packet_ps > link_ps)
        kind.behind = (guint32)(fabric->link.credits_switch_flits * 1000 / flits);
    return port_kind(cost->fabric->ports, &kind);
}

guint32 device_queue_asks(const FoCta *cta, const DeviceCost *cost, const LoopSpec *spec, guint32 *ask_ps)
{
    const FabricSpec *fabric = &cost->fabric->spec;
    guint32 packet_ps = (guint32)(FLIT_BYTES * 1000000u / fabric->link.rate_MBps);
    PortKind kind = {.link_ps = packet_ps,
                     .packet_ps = packet_ps,
                     .warps = queue_warps(cta),
                     .unroll = spec->unroll,
                     .copies = MAX(cost->peers, 1),
                     .strided = (guint32)queue_is_strided(cta, spec),
                     .answer_ps = (guint32)((cost->packets + cost->flits) * packet_ps / MAX(cost->packets, 1))};
    guint64 window = (guint64)cost->peers * spec->unroll * cta->count * spec->width / LINE_BYTES;
    kind.window = (guint32)MIN(window, fabric->sm.loads_max);
    *ask_ps = 0;
    if (!cost->peers || cost->remote_stores)
        return 0;
    *ask_ps = (guint32)(device_cost_issue_ps(cost) / cost->peers);
    return port_kind(cost->fabric->ports, &kind);
}

/* Work beside memory instructions, as far as it is longer than the gap between two of these: before the turn's last
 * load, until the first part that waits for what was loaded, and from there on. */
static void queue_work(const DeviceCost *cost, const LoopSpec *spec, LoadKind *how)
{
    guint32 last = 0, waits = spec->n_parts;
    for (guint32 p = 0; p < spec->n_parts; p++)
        if (spec->part[p].kind == UOP_LOAD)
            last = p;
    for (guint32 p = spec->n_parts; p-- > last + 1;)
        if (spec->part[p].kind != UOP_WORK && spec->part[p].kind != UOP_DELAY)
            waits = p;
    for (guint32 p = 0; p < spec->n_parts; p++) {
        const LoopPart *part = &spec->part[p];
        guint64 *work_ps = p < last ? &how->work_ps : p < waits ? &how->meanwhile_ps : &how->then_ps;
        if (part->kind == UOP_WORK)
            *work_ps += part->base - MIN(part->base, device_cost_gap_ps(cost, p));
        else if (part->kind == UOP_DELAY)
            *work_ps += part->base;
    }
}

/* Whether this loop's loads wait for each other as model/flow/load_rate.h says, and how. */
static gboolean queue_loads(const FoCta *cta, const DeviceCost *cost, const LoopSpec *spec, guint32 *kind)
{
    LoadKind how = {.trip_ps = cost->head_ps,
                    .ctas = device_queue_sms(cta),
                    .warps = queue_warps(cta),
                    .unroll = spec->unroll,
                    .peers = cost->peers,
                    .own = cost->own_loads,
                    .stores = cost->own_stores,
                    .strided = (guint32)queue_is_strided(cta, spec)};
    queue_work(cost, spec, &how);
    gboolean whole = spec->width * WARP_LANES % LINE_BYTES == 0 && cost->packets == 1000 && !cost->partial;
    gboolean plain = !spec->unroll_step && !spec->warp_step;
    for (guint32 p = 1; p < spec->n_parts; p++) /* it waits once, for all */
        plain &= spec->part[p].kind != UOP_LOAD || spec->part[p - 1].kind != UOP_ARITH;
    if (!cost->peers || cost->remote_stores || !whole || !plain)
        return FALSE;
    *kind = load_kind(cost->fabric->loads, &how);
    return TRUE;
}

/* Turns take so long from the first instruction on, but a flow begins only when the first load is back. */
static guint64 queue_behind_head(const DeviceCost *cost, guint64 limit, guint64 lines)
{
    guint64 all_ps = flow_part(lines, PS_PER_S, limit);
    return all_ps > cost->head_ps ? MAX(flow_part(lines, PS_PER_S, all_ps - cost->head_ps), 1) : G_MAXUINT64;
}

FlowClass *device_queue_class(const FoCta *cta, const DeviceCost *cost, const LoopSpec *spec, guint64 *limit,
                              guint32 kind, guint64 lines)
{
    guint32 n = 0, all = (guint32)cost->fabric->spec.system.gpus * FLOW_RESOURCES;
    g_autofree FlowUse *use = g_new(FlowUse, all);
    guint32 out = cost->gpu * FLOW_RESOURCES + FLOW_OUT, down = cost->gpu * FLOW_RESOURCES + FLOW_DOWN, loads = 0;
    gboolean waits = queue_loads(cta, cost, spec, &loads);
    guint32 issue_ps = cost->remote_stores ? (guint32)device_queue_ps(cost) : 0;
    gboolean asks = cost->peers && !cost->remote_stores;
    for (guint32 r = 0; r < all; r++) {
        FlowUse one = {.resource = r, .amount = (guint32)(cost->amount[r] + cost->rides[r])};
        if (!cost->amount[r])
            one.way = FLOW_RIDES;
        else if (issue_ps && !cost->multicast_stores && r != down && r % FLOW_RESOURCES == FLOW_DOWN)
            one.way = FLOW_BEHIND;
        if (r == out) {
            one.issue_ps = issue_ps;
            one.kind = kind;
        } else if (r == down && waits) {
            one.issue_ps = QUEUE_LOADS;
            one.kind = loads;
        }
        if (asks && r == out) {
            one.amount = 1000 * cost->peers;
            one.way = FLOW_TURNS;
        }
        if (one.amount)
            use[n++] = one;
    }
    if (waits)
        *limit = MIN(*limit, queue_behind_head(cost, load_share_limit(cost->fabric->loads, loads), lines));
    return flow_class(cost->fabric->flow, use, n, *limit);
}
