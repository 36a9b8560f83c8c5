#include "cli/self/cost.h"

#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "bench/traffic.h"
#include "cli/self/speed.h"
#include "cli/system.h"

/* FALSE: there is nothing to clear. */
static gboolean cost_set(System *system, const char *const *sets, GError **error)
{
    for (; sets && *sets; sets++)
        if (!param_set_text(system->params, *sets, error)) {
            system_clear(system);
            return FALSE;
        }
    return TRUE;
}

/* What malloc() has given out. */
static guint64 cost_heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Of the process, in memory; 0: the host does not say. */
static guint64 cost_resident_bytes(void)
{
    g_autofree char *text = NULL;
    guint64 pages = 0;
    if (g_file_get_contents("/proc/self/statm", &text, NULL, NULL) && strchr(text, ' '))
        pages = g_ascii_strtoull(strchr(text, ' '), NULL, 10);
    return pages * (guint64)sysconf(_SC_PAGESIZE);
}

gboolean speed_cost_uniform(const Options *options, guint endpoints, guint64 packets, const char *const *sets,
                            SpeedCost *cost, GError **error)
{
    g_autofree char *gpus = g_strdup_printf("system.gpus=%u", endpoints);
    const char *const star[] = {gpus, "system.links_per_switch=1", NULL};
    System system;
    if (!system_load(&system, NULL, options, error) || !cost_set(&system, star, error) ||
        !cost_set(&system, sets, error))
        return FALSE;
    Sim *sim = sim_new(&(SimSpec){.seed = options->seed, .calendar = options->calendar, .engine = options->engine},
                       NULL);
    Fabric *fabric = fabric_new(sim, &system.spec, FALSE, error);
    if (fabric) {
        guint64 before = cost_heap_bytes();
        Traffic *traffic = traffic_new(fabric, &(TrafficSpec){.packets = packets, .load_per_mille = 800, .bytes = 128});
        double start_s = speed_cpu_s();
        sim_run(sim, SIMTIME_NEVER);
        *cost = (SpeedCost){.cpu_s = speed_cpu_s() - start_s,
                            .packets = packets,
                            .hops = fabric_crossings(fabric),
                            .events = sim_events_fired(sim),
                            .memory_bytes = cost_heap_bytes() - before,
                            .peak_packets = traffic_peak(traffic)};
        g_assert(traffic_completed(traffic) == packets && fabric_is_quiet(fabric));
        traffic_free(traffic);
        fabric_free(fabric);
    }
    sim_free(sim);
    system_clear(&system);
    return fabric != NULL;
}

gboolean speed_one_uniform(const Options *options, guint64 endpoints, SpeedCost *cost, GError **error)
{
    return speed_cost_uniform(options, (guint)endpoints, SPEED_PACKETS, NULL, cost, error);
}

static guint64 cost_count_requests(const Fabric *fabric)
{
    guint64 n = 0;
    for (guint k = 0; k < G_N_ELEMENTS(fabric->op_remote.kind); k++) {
        n += fabric->op_remote.kind[k] ? fabric->op_remote.kind[k]->count : 0;
        for (guint o = 0; o < fabric->op_object->len; o++) {
            const OpTable *table = g_ptr_array_index(fabric->op_object, o);
            n += table && table->kind[k] ? table->kind[k]->count : 0;
        }
    }
    return n;
}

gboolean speed_cost_coll(const Options *options, const SpeedColl *what, SpeedCost *cost, GError **error)
{
    System system;
    if (!system_load(&system, what->system, options, error) || !cost_set(&system, what->sets, error))
        return FALSE;
    gboolean good = FALSE;
    CollResult result;
    CollSpec spec = coll_spec_default(what->op);
    spec.algo = what->algo;
    spec.bytes = what->bytes;
    spec.fidelity = what->fidelity;
    spec.crossings = what->crossings;
    spec.check = what->keep_bytes;
    Sim *sim = sim_new(
        &(SimSpec){
            .seed = options->seed, .calendar = options->calendar, .engine = options->engine, .threads = what->cores},
        error);
    Fabric *fabric = sim ? fabric_new(sim, &system.spec, what->keep_bytes, error) : NULL;
    guint32 ranks = what->ranks ? what->ranks : (guint32)system.spec.system.gpus;
    CollGroup *group = fabric ? coll_group_new(fabric, NULL, ranks, error) : NULL;
    if (group) {
        double start_s = speed_cpu_s(), start_wall_s = speed_wall_s();
        good = coll_run(group, &spec, &result, error);
        *cost = (SpeedCost){.cpu_s = speed_cpu_s() - start_s,
                            .wall_s = speed_wall_s() - start_wall_s,
                            .packets = cost_count_requests(fabric),
                            .hops = fabric_crossings(fabric),
                            .events = sim_events_fired(sim),
                            .memory_bytes = cost_resident_bytes(),
                            .time_ps = result.time_ps};
        coll_group_free(group);
    }
    if (fabric)
        fabric_free(fabric);
    if (sim)
        sim_free(sim);
    system_clear(&system);
    return good;
}
