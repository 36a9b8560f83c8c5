/* What a packet costs: uniform random unicast on one switch level (8 and 72 endpoints of one link each, 128 B
 * payload, 0.8 load), with credits, virtual channels, arbitration and statistics, beside a hold model on a plain binary
 * heap (10,000 pending) in the same process. Median of 5. A packet-hop is one packet of any kind that
 * crosses one link (a write crosses two; merged acknowledgements count as what they are). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/traffic.h"
#include "model/preset.h"

#define RUNS 5

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof values[0], compare_doubles);
    return values[RUNS / 2];
}

/* ---- the yardstick */

typedef struct {
    guint64 time_ps, what;
} Entry;

static double heap_holds_per_s(void)
{
    static const guint flits[] = {1, 9, 17, 40, 500};
    guint n = 10000;
    guint64 holds = 2000000;
    Entry *heap = g_new0(Entry, n + 1);
    Rng rng;
    rng_init(&rng, 1, "hold");
    for (guint i = 0; i < n; i++)
        heap[i] = (Entry){i, i}; /* sorted: a heap */
    double start = now_s();
    for (guint64 h = 0; h < holds; h++) {
        Entry entry = heap[0], last = heap[n - 1];
        guint at = 0;
        for (guint child = 1; child < n - 1; child = 2 * at + 1) {
            child += child + 1 < n - 1 && heap[child + 1].time_ps < heap[child].time_ps;
            if (last.time_ps <= heap[child].time_ps)
                break;
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = last;
        entry.time_ps += flits[rng_next(&rng) % G_N_ELEMENTS(flits)] * 680;
        for (at = n - 1; at > 0 && entry.time_ps < heap[(at - 1) / 2].time_ps; at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
        heap[at] = entry;
    }
    double s = now_s() - start;
    g_free(heap);
    return (double)holds / s;
}

/* ---- the fabric */

typedef struct {
    double hops_per_s, packets_per_s, events_per_hop;
} Speed;

static Speed uniform(const char *gpus, guint64 packets, char **sets)
{
    GError *error = NULL;
    FabricSpec spec;
    memset(&spec, 0, sizeof spec);
    ParamSet *set = param_set_new();
    fabric_params(set, &spec);
    gboolean fine = preset_load(set, "dgx-h100", &error) && param_set_text(set, gpus, &error) &&
                    param_set_text(set, "system.links_per_switch=1", &error);
    for (; fine && *sets; sets++)
        fine = param_set_text(set, *sets, &error);
    if (!fine)
        g_error("%s", error->message);
    Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    Fabric *fabric = fabric_new(sim, &spec, FALSE, NULL);
    Traffic *traffic =
        traffic_new(fabric, &(TrafficSpec){.packets = packets, .load_per_mille = 800, .bytes = 128});
    double start = now_s();
    sim_run(sim, SIMTIME_NEVER);
    double s = now_s() - start;
    g_assert(traffic_completed(traffic) == packets && fabric_is_quiet(fabric));
    guint64 hops = fabric_crossings(fabric);
    Speed speed = {(double)hops / s, (double)packets / s, (double)sim_events_fired(sim) / (double)hops};
    traffic_free(traffic);
    fabric_free(fabric);
    sim_free(sim);
    param_set_free(set);
    return speed;
}

int main(int argc, char **argv)
{
    static const char *const gpus[] = {"system.gpus=8", "system.gpus=72"};
    (void)argc;
    printf("%-16s %12s %12s %12s %12s\n", "uniform, 0.8", "Mpacket/s", "Mhop/s", "events/hop", "hops/holds");
    for (int g = 0; g < 2; g++) {
        double ratio[RUNS], hops[RUNS], packets[RUNS], events = 0;
        for (int r = 0; r < RUNS; r++) {
            double holds = heap_holds_per_s();
            Speed speed = uniform(gpus[g], 1000000, argv + 1);
            ratio[r] = speed.hops_per_s / holds;
            hops[r] = speed.hops_per_s;
            packets[r] = speed.packets_per_s;
            events = speed.events_per_hop;
        }
        printf("%-16s %12.2f %12.2f %12.2f %12.2f  (target 0.75)\n", gpus[g], median(packets) / 1e6,
               median(hops) / 1e6, events, median(ratio));
    }
    return 0;
}
