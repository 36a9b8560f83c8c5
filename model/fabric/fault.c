/* Faults as they act: at each time of the plan, every part is set to what all faults together say of it. */
#include "model/fabric/fault.h"
#include "model/link/down.h"

#include <string.h>

#include "model/fabric/fabric.h"
#include "model/fabric/loss.h"
#include "model/fabric/switches.h"
#include "model/parallel/parallel.h"

#define FAULT_LINKS "links that are down, as gpu0.link3, gpu0.link3@20us, gpu0.link3@20us-50us"
const ParamRow fault_params[] = {
    PARAM_STRING(FaultSpec, link_down, FAULT_LINKS "; trunks as leaf0.port32; none"),
    PARAM_STRING(FaultSpec, link_degraded, "links that have lost rate, as gpu0.link3, gpu0.link3:50@20us; none"),
    PARAM_U64(FaultSpec, degraded_percent, "%", 1, 100, "of its rate that a degraded link keeps, unless it says"),
    PARAM_STRING(FaultSpec, link_errors,
                 "links with bit errors, and how many of 10^9 transmissions they hit, as gpu0.link3:1000@20us; none"),
    PARAM_STRING(FaultSpec, switch_down, "switches that are down, as switch0, switch0@20us-50us; none"),
    PARAM_STRING(FaultSpec, gpu_silent, "GPUs that answer no request, as gpu3, gpu3@20us; none"),
    PARAM_STRING(FaultSpec, gpu_slow, "GPUs whose clocks run at that percentage, as gpu3:50@20us; none"),
    PARAM_STRING(FaultSpec, member_leaves, "GPUs whose memory leaves all teams, as gpu3@20us; none"),
    PARAM_STRING(FaultSpec, entries_taken, "multicast IDs of a switch that others have, as switch0:120; none"),
    PARAM_STRING(FaultSpec, extended_taken, "extended entries of a switch that others have, as switch0:16; none"),
    PARAM_U64(FaultSpec, manager_ps, "ps", 0, 1000000000000,
              "until the fabric manager routes around what is down, and back (0: never)"),
    PARAM_U64(FaultSpec, request_timeout_ps, "ps", 0, 1000000000000,
              "until a request that was lost, or whose answer was, ends with an error (0: never)"),
    PARAM_U64(FaultSpec, multicast_timeout_ps, "ps", 0, 1000000000000,
              "until a multicast write with a silent member ends with an error (0: never)"),
    PARAM_U64(FaultSpec, reduction_timeout_ps, "ps", 0, 1000000000000,
              "until an ld_reduce with a silent member ends with an error (0: never)"),
    PARAM_BOOL(FaultSpec, live, "links, switches and GPUs may be lost at run time, by fanout fabric degrade"),
    PARAM_END,
};

typedef struct {
    Event event;
    Fabric *fabric;
    Sim *sim; /* whose parts change */
} FaultEvent;

/* ---- links */

static SimFine fault_full_flit_time(const Fabric *fabric, const Link *link)
{
    const FabricSpec *spec = &fabric->spec;
    return link_flit_time(fabric_is_trunk(fabric, link) ? spec->topology.trunk_MBps : spec->link.rate_MBps);
}

void fault_link_cost(const Fabric *fabric, const FaultItem *item, FaultLink *of, SimTime now_ps)
{
    const Link *link = of->link;
    const guint64 flits = link_flits_total(link) - of->seen_flits;
    if (item->key == FAULT_LINK_DEGRADED)
        of->waited_ps += simfine_to_ps(flits * (link->flit_time - fault_full_flit_time(fabric, link)));
    else if (item->key == FAULT_LINK_ERRORS)
        of->replays += link->replays - of->seen_replays;
    else if (link->stalled_from_ps < now_ps)
        of->waited_ps += now_ps - link->stalled_from_ps;
    of->seen_flits += flits;
    of->seen_replays = link->replays;
}

/* What all faults together make of a link. Their costs so far are added up first. */
static void fault_set_link(Fabric *fabric, Link *link, SimTime now_ps)
{
    LinkStatus state = LINK_UP;
    guint64 percent = 100, ppb = fabric->spec.link.error_ppb;
    link_advance_before(link);
    for (guint i = 0; i < fabric->plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(fabric->plan, i);
        for (guint k = 0; k < item->links->len; k++) {
            FaultLink *of = &g_array_index(item->links, FaultLink, k);
            if (of->link != link)
                continue;
            if (item->from_ps < now_ps && now_ps <= item->until_ps)
                fault_link_cost(fabric, item, of, now_ps);
            of->seen_flits = link_flits_total(link);
            of->seen_replays = link->replays;
            if (fault_item_is_known(item, now_ps))
                state = LINK_DEAD;
            if (!fault_item_is_on(item, now_ps))
                continue;
            if (item->key == FAULT_LINK_DEGRADED)
                percent = MIN(percent, item->amount ? item->amount : fabric->spec.fault.degraded_percent);
            else if (item->key == FAULT_LINK_ERRORS)
                ppb = MAX(ppb, item->amount);
            else
                state = MAX(state, LINK_DOWN);
        }
    }
    link_set_flit_time(link, fault_full_flit_time(fabric, link) * 100 / percent);
    link_set_errors(link, ppb);
    link_set_state(link, state);
}

/* ---- tables */

static void fault_set_tables(Fabric *fabric, SimTime now_ps)
{
    const FaultPlan *plan = fabric->plan;
    for (guint32 s = 0; s < fabric->n_switches; s++)
        fabric->sw[s].table.entries_taken = fabric->sw[s].table.extended_taken = 0;
    for (guint i = 0; i < plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(plan, i);
        if (!fault_item_is_on(item, now_ps))
            continue;
        if (item->key == FAULT_ENTRIES_TAKEN)
            fabric->sw[item->part].table.entries_taken += (guint32)item->amount;
        else if (item->key == FAULT_EXTENDED_TAKEN)
            fabric->sw[item->part].table.extended_taken += (guint32)item->amount;
    }
}

/* ---- routes */

/* The links that the fabric manager routes by: those that are wired and that it does not know to be down. */
static void fault_find_alive(const Fabric *fabric, SimTime now_ps, LinkSet *alive, guint8 *trunk_lost)
{
    const Topology *topology = fabric->topology;
    memset(alive, 0, topology->gpus * sizeof *alive);
    memset(trunk_lost, 0, fabric->n_trunks);
    for (guint32 at = 0; at < topology->gpus * topology->links; at++)
        if (topology->leaf[at] != TOPOLOGY_NONE)
            link_set_add(&alive[at / topology->links], at % topology->links);
    for (guint i = 0; i < fabric->plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(fabric->plan, i);
        for (guint k = 0; fault_item_is_known(item, now_ps) && k < item->links->len; k++) {
            const Link *link = g_array_index(item->links, FaultLink, k).link;
            const gsize at = (gsize)(link - fabric->link);
            if (fabric_is_trunk(fabric, link))
                trunk_lost[(link - fabric->trunk) / 2] = TRUE;
            else
                link_set_remove(&alive[at / (2 * fabric->links)], (guint32)(at % fabric->links));
        }
    }
}

static gboolean fault_refuse_path(SimTime at_ps, const char *one, const char *other, const char *what, GError **error)
{
    g_autofree char *when = at_ps ? g_strdup_printf(" at %" G_GUINT64_FORMAT " ps", at_ps) : g_strdup("");
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "[fault] link_down, switch_down: %s and %s have no %s%s", one,
                other, what, when);
    return FALSE;
}

static gboolean fault_check_gpus(const Fabric *fabric, const LinkSet *alive, SimTime at_ps, GError **error)
{
    for (guint32 a = 0; a < fabric->spec.system.gpus; a++)
        for (guint32 b = a + 1; b < fabric->spec.system.gpus; b++)
            if (link_set_count(link_set_both(alive[a], alive[b])) == 0)
                return fault_refuse_path(at_ps, fabric->gpu[a].path, fabric->gpu[b].path,
                                         "link left to a common switch port", error);
    return TRUE;
}

/* Leaves that links of one number go to, and are up, need a spine in common. */
static gboolean fault_check_leaves(const Fabric *fabric, const LinkSet *alive, const guint8 *trunk_lost, SimTime at_ps,
                                   GError **error)
{
    const Topology *topology = fabric->topology;
    const gsize spines = topology->spines;
    g_autofree guint8 *has = g_new0(guint8, topology->leaves * spines + 1);
    g_autofree LinkSet *used = g_new0(LinkSet, topology->leaves);
    for (guint32 at = 0; at < topology->gpus * topology->links; at++)
        if (link_set_has(alive[at / topology->links], at % topology->links))
            link_set_add(&used[topology->leaf[at]], at % topology->links);
    for (guint32 t = 0; t < fabric->n_trunks; t++) {
        const Trunk *trunk = &g_array_index(topology->trunks, Trunk, t);
        has[trunk->leaf * spines + trunk->spine - topology->leaves] |= !trunk_lost[t];
    }
    for (guint32 i = 0; i < topology->leaves; i++)
        for (guint32 j = i + 1; j < topology->leaves; j++) {
            gboolean joined = link_set_count(link_set_both(used[i], used[j])) == 0;
            for (gsize s = 0; s < spines; s++)
                joined |= has[i * spines + s] && has[j * spines + s];
            if (!joined)
                return fault_refuse_path(at_ps, fabric->sw[i].path, fabric->sw[j].path, "spine left in common", error);
        }
    return TRUE;
}

gboolean fault_check_paths(const Fabric *fabric, SimTime at_ps, GError **error)
{
    g_autofree LinkSet *alive = g_new(LinkSet, fabric->spec.system.gpus);
    g_autofree guint8 *trunk_lost = g_new0(guint8, fabric->n_trunks + 1);
    fault_find_alive(fabric, at_ps, alive, trunk_lost);
    return fault_check_gpus(fabric, alive, at_ps, error) &&
           (fabric->n_trunks == 0 || fault_check_leaves(fabric, alive, trunk_lost, at_ps, error));
}

/* Whether the fabric manager reacts just then. */
static gboolean fault_is_reaction(const FaultPlan *plan, SimTime at_ps)
{
    for (guint i = 0; i < plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(plan, i);
        if (item->links->len && (item->known_ps == at_ps || item->restored_ps == at_ps))
            return TRUE;
    }
    return FALSE;
}

static void fault_set_routes(Fabric *fabric, SimTime now_ps)
{
    g_autofree guint8 *trunk_lost = g_new0(guint8, fabric->n_trunks + 1);
    fault_find_alive(fabric, now_ps, fabric->alive, trunk_lost);
    switches_route(fabric);
    fabric_mc_refit(fabric);
}

/* ---- time */

/* The times of an item at which something changes. */
void fault_item_times(const FaultItem *item, SimTime times[4])
{
    const SimTime all[4] = {item->from_ps, item->until_ps, item->known_ps, item->restored_ps};
    memcpy(times, all, sizeof all);
}

SimTime fault_next_ps(const Fabric *fabric, SimTime after_ps, gboolean routes_alone)
{
    SimTime next_ps = SIMTIME_NEVER;
    for (guint i = 0; i < fabric->plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(fabric->plan, i);
        SimTime times[4];
        fault_item_times(item, times);
        for (guint k = routes_alone && item->key != FAULT_GPU_SILENT ? 2 : 0; k < 4; k++)
            if (times[k] > after_ps)
                next_ps = MIN(next_ps, times[k]);
    }
    return next_ps;
}

/* All that is on one clock. */
static void fault_set(Fabric *fabric, Sim *sim, SimTime now_ps)
{
    const FaultPlan *plan = fabric->plan;
    for (guint i = 0; i < plan->items->len; i++) {
        const FaultItem *item = fault_plan_item(plan, i);
        for (guint k = 0; k < item->links->len; k++) {
            Link *link = g_array_index(item->links, FaultLink, k).link;
            if (link->sim == sim)
                fault_set_link(fabric, link, now_ps);
        }
    }
    if (sim != fabric->sim)
        return;
    fault_set_gpus(fabric, now_ps);
    fault_set_tables(fabric, now_ps); /* by which teams are made, which happens on this clock */
    if (fabric->alive && fault_is_reaction(plan, now_ps))
        fault_set_routes(fabric, now_ps);
}

static void fault_on_event(Event *event, SimTime now_ps)
{
    FaultEvent *of = EVENT_OWNER(event, FaultEvent, event);
    fault_set(of->fabric, of->sim, now_ps);
}

void fault_schedule(Fabric *fabric, Sim *sim, SimTime at_ps)
{
    FaultEvent *of = g_new0(FaultEvent, 1);
    of->fabric = fabric;
    of->sim = sim;
    event_init(&of->event, fault_on_event);
    sim_set_key_first(&of->event, LINK_KEY_FAULT); /* one to each clock and time */
    g_ptr_array_add(fabric->plan->events, of);
    sim_at_background(fabric->sim, sim, &of->event, at_ps);
}

/* ---- the start */

static void fault_prepare(Fabric *fabric)
{
    const guint64 gpus = fabric->spec.system.gpus;
    gboolean lost = FALSE;
    for (guint32 at = 0; at < fabric->topology->gpus * fabric->links; at++)
        lost |= fabric->topology->leaf[at] == TOPOLOGY_NONE;
    for (guint i = 0; i < fabric->plan->items->len; i++) {
        FaultItem *item = fault_plan_item(fabric->plan, i);
        lost |= item->known_ps != SIMTIME_NEVER;
        fabric->lossy |= item->key == FAULT_GPU_SILENT || (item->known_ps > 0 && item->known_ps < SIMTIME_NEVER) ||
                         (item->known_ps == 0 && item->restored_ps > 0 && item->restored_ps < SIMTIME_NEVER);
        if (item->key == FAULT_GPU_SILENT && !fabric->silent)
            fabric->silent = g_new0(guint8, gpus);
        if (item->key == FAULT_MEMBER_LEAVES && !fabric->left)
            fabric->left = g_new0(guint8, gpus);
        if (item->key == FAULT_GPU_SLOW)
            fault_gpu_prepare(fabric, item);
    }
    if (fabric->spec.fault.live) { /* whatever comes */
        fabric->lossy = TRUE;
        if (!fabric->silent)
            fabric->silent = g_new0(guint8, gpus);
    }
    if (lost || fabric->spec.fault.live)
        fabric->alive = g_new0(LinkSet, gpus);
    if (fabric->lossy)
        loss_open(fabric);
}

gboolean fault_check_timeouts(const Fabric *fabric, GError **error)
{
    const FaultSpec *spec = &fabric->spec.fault;
    const guint64 value[] = {spec->request_timeout_ps, spec->multicast_timeout_ps, spec->reduction_timeout_ps};
    static const char *const name[] = {"request_timeout_ps", "multicast_timeout_ps", "reduction_timeout_ps"};
    const guint64 trunk_ps = fabric->n_trunks ? fabric->spec.topology.trunk_flight_ps : 0;
    const guint64 least_ps = MAX(fabric->spec.link.flight_ps, trunk_ps);
    for (gsize i = 0; fault_next_ps(fabric, 0, TRUE) != SIMTIME_NEVER && i < G_N_ELEMENTS(value); i++)
        if (value[i] && value[i] < least_ps) {
            g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                        "[fault] %s: %" G_GUINT64_FORMAT " ps is less than one flight; with faults in time give at "
                        "least %" G_GUINT64_FORMAT ", or 0 for never",
                        name[i], value[i], least_ps);
            return FALSE;
        }
    return TRUE;
}

gboolean fault_open(Fabric *fabric, GError **error)
{
    fabric->plan = fault_plan_new(fabric, error);
    if (!fabric->plan || !fault_check_timeouts(fabric, error))
        return FALSE;
    fault_prepare(fabric);
    return TRUE;
}

gboolean fault_apply(Fabric *fabric, GError **error)
{
    if (!fabric->alive && fabric->plan->items->len == 0)
        return TRUE;
    for (SimTime at_ps = 0; fabric->alive && at_ps != SIMTIME_NEVER; at_ps = fault_next_ps(fabric, at_ps, TRUE))
        if (!fault_check_paths(fabric, at_ps, error))
            return FALSE;
    fault_set(fabric, fabric->sim, 0);
    for (guint32 s = 0; fabric->parallel && s < parallel_n(fabric->parallel); s++)
        fault_set(fabric, fabric->sw[s].sim, 0);
    if (fabric->alive)
        fault_set_routes(fabric, 0);
    for (SimTime at_ps = fault_next_ps(fabric, 0, FALSE); at_ps != SIMTIME_NEVER;
         at_ps = fault_next_ps(fabric, at_ps, FALSE)) {
        fault_schedule(fabric, fabric->sim, at_ps);
        for (guint32 s = 0; fabric->parallel && s < parallel_n(fabric->parallel); s++)
            fault_schedule(fabric, fabric->sw[s].sim, at_ps);
    }
    return TRUE;
}

void fault_close(Fabric *fabric)
{
    if (!fabric->plan)
        return;
    loss_close(fabric);
    fault_plan_free(fabric->plan);
}
