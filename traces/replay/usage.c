/* What the links and switches of a replay carried, summed up over its episodes. */
#include "traces/replay/episode.h"

#include "model/fabric/switches.h"
#include "model/fabric/topology.h"

#define FIGURES_OF_EPISODE 64 /* intervals of one: it is remembered for each kind of communication */

static guint64 usage_take_link(const Link *link, ReplayUsage *usage, gsize at)
{
    const guint64 flits = link_flits_total(link);
    usage->flits[at] += flits;
    usage->busy_ps[at] += (guint64)(((__uint128_t)flits * link->flit_time) >> SIMFINE_SHIFT);
    return flits;
}

void replay_usage_take(ReplayUsage *usage, const Fabric *fabric, const Recording *recording, gboolean figures)
{
    const gsize first = 2 * (gsize)usage->gpus * usage->links;
    for (guint32 g = 0; g < usage->gpus; g++) {
        for (guint32 l = 0; l < usage->links; l++) {
            const gsize at = ((gsize)g * usage->links + l) * 2;
            const Switch *sw = switches_of(fabric, g, l);
            usage_take_link(&fabric->gpu[g].up[l], usage, at);
            const guint64 down = usage_take_link(&fabric->gpu[g].down[l], usage, at + 1);
            if (sw)
                usage->to_gpus[sw->id] += down;
        }
    }
    for (guint32 t = 0; t < 2 * usage->trunks; t++)
        usage_take_link(&fabric->trunk[t], usage, first + t);
    for (guint32 s = 0; s < usage->switches; s++) {
        const Switch *sw = &fabric->sw[s];
        usage->multicast[s] += sw->multicast_requests;
        usage->replicas[s] += sw->replicated;
        for (guint32 p = 0; p < sw->ports; p++)
            usage->stalls[s] += sw->port[p].stalls_tag + sw->port[p].stalls_buffer + sw->port[p].stalls_rounds;
    }
    if (figures) {
        const RecordedRun run = recording_run(recording);
        usage->figures = series_sum_new(FIGURES_OF_EPISODE);
        series_sum_take(usage->figures, &run);
    }
    if (recording && recording_where(recording)) {
        usage->where = g_new(LatencyTotal, 1);
        *usage->where = latency_breakdown_total(recording_where(recording));
    }
    usage->faults = fault_costs(fabric);
    usage->errors = fabric->n_faults;
}

void replay_usage_init(ReplayUsage *usage, const FabricSpec *fabric)
{
    Topology *topology = topology_new(fabric, NULL);
    *usage = (ReplayUsage){0};
    if (topology) { /* else no fabric can be built of it, which says why */
        *usage = (ReplayUsage){.gpus = topology->gpus,
                               .links = topology->links,
                               .trunks = topology->trunks->len,
                               .switches = topology_switches(topology)};
        topology_free(topology);
    }
    usage->ways = ((gsize)usage->gpus * usage->links + usage->trunks) * 2;
    usage->flits = g_new0(guint64, usage->ways + 1);
    usage->busy_ps = g_new0(guint64, usage->ways + 1);
    usage->to_gpus = g_new0(guint64, usage->switches + 1);
    usage->multicast = g_new0(guint64, usage->switches + 1);
    usage->replicas = g_new0(guint64, usage->switches + 1);
    usage->stalls = g_new0(guint64, usage->switches + 1);
}

void replay_usage_add(ReplayUsage *to, const ReplayUsage *from, SimTime at_ps)
{
    for (gsize i = 0; i < to->ways; i++) {
        to->flits[i] += from->flits[i];
        to->busy_ps[i] += from->busy_ps[i];
    }
    for (guint32 s = 0; s < to->switches; s++) {
        to->to_gpus[s] += from->to_gpus[s];
        to->multicast[s] += from->multicast[s];
        to->replicas[s] += from->replicas[s];
        to->stalls[s] += from->stalls[s];
    }
    if (from->figures) {
        to->figures = to->figures ? to->figures : series_sum_new(SERIES_POINTS);
        series_sum_add(to->figures, from->figures, at_ps);
    }
    if (from->where) {
        to->where = to->where ? to->where : g_new0(LatencyTotal, 1);
        latency_breakdown_total_add(to->where, from->where);
    }
    if (from->faults)
        fault_costs_add(&to->faults, from->faults);
    to->errors += from->errors;
}

void replay_usage_clear(ReplayUsage *usage)
{
    g_free(usage->flits);
    g_free(usage->busy_ps);
    g_free(usage->to_gpus);
    g_free(usage->multicast);
    g_free(usage->replicas);
    g_free(usage->stalls);
    series_sum_free(usage->figures);
    g_free(usage->where);
    g_clear_pointer(&usage->faults, g_array_unref);
}
