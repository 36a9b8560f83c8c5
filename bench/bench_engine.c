/* What one event costs: our calendar through the real sim_run(), beside a plain binary heap.
 *
 * Hold model: the earliest event fires and schedules itself again after a random delay, so that
 * the number pending stays what it was. Delays are those of a fabric, {1, 9, 17, 40, 500} flits of
 * 680 ps (16 B at 23.5 GB/s): a flit, a packet with 128 B, one with 256 B, a switch, a link's
 * flight. Heap entries are 16 bytes. Both sides draw the same numbers and each figure is the
 * median of five runs.
 *
 * Exit status 1 when the wheel costs more than 0.6 of the heap at 10,000 pending. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/rng.h"
#include "sim/sim.h"

#define FLIT_PS 680
#define EVENTS 3000000
#define RUNS 5
#define TARGET_PERCENT 60

static const guint flits[] = {1, 9, 17, 40, 500};

static SimTime draw_delay_ps(Rng *rng)
{
    return flits[rng_next(rng) % G_N_ELEMENTS(flits)] * FLIT_PS;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- ours ---- */

typedef struct {
    Sim *sim;
    Rng rng;
    guint64 left;
    guint64 check; /* so that both sides can be seen to have done the same */
} Hold;

typedef struct {
    Event event;
    Hold *hold;
    guint64 padding; /* 64 bytes: an event lives inside something */
} Holder;

static void hold_fire(Event *event, SimTime now_ps)
{
    Hold *hold = EVENT_OWNER(event, Holder, event)->hold;

    hold->check += now_ps;
    if (--hold->left == 0) {
        sim_stop(hold->sim);
    }
    sim_after(hold->sim, event, draw_delay_ps(&hold->rng), EVENT_PRIORITY_FABRIC);
}

static double time_sim(guint pending, SimCalendar calendar, guint64 events, guint64 *check)
{
    Hold hold = {.sim = sim_new(&(SimSpec){.seed = 1, .calendar = calendar}, NULL), .left = events};
    Holder *holders = g_new0(Holder, pending);

    rng_init(&hold.rng, 1, "hold");
    for (guint i = 0; i < pending; i++) {
        event_init(&holders[i].event, hold_fire);
        holders[i].hold = &hold;
        sim_after(hold.sim, &holders[i].event, draw_delay_ps(&hold.rng), EVENT_PRIORITY_FABRIC);
    }
    double start_ns = now_ns();
    sim_run(hold.sim, SIMTIME_NEVER);
    double each_ns = (now_ns() - start_ns) / (double)events;
    *check = hold.check;
    sim_free(hold.sim);
    g_free(holders);
    return each_ns;
}

/* ---- the heap ---- */

typedef struct {
    SimTime time_ps;
    guint64 what;
} Entry;

static void heap_push(Entry *heap, gsize *n, Entry entry)
{
    gsize at = (*n)++;
    while (at > 0 && entry.time_ps < heap[(at - 1) / 2].time_ps) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = entry;
}

static Entry heap_pop(Entry *heap, gsize *n)
{
    Entry top = heap[0];
    Entry last = heap[--*n];
    gsize at = 0;

    for (gsize child = 1; child < *n; child = 2 * at + 1) {
        child += child + 1 < *n && heap[child + 1].time_ps < heap[child].time_ps;
        if (last.time_ps <= heap[child].time_ps) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

static double time_heap(guint pending, guint64 events, guint64 *check)
{
    Entry *heap = g_new0(Entry, pending + 1);
    gsize n = 0;
    Rng rng;

    rng_init(&rng, 1, "hold");
    for (guint i = 0; i < pending; i++) {
        heap_push(heap, &n, (Entry){draw_delay_ps(&rng), i});
    }
    *check = 0;
    double start_ns = now_ns();
    for (guint64 i = 0; i < events; i++) {
        Entry entry = heap_pop(heap, &n);
        *check += entry.time_ps;
        entry.time_ps += draw_delay_ps(&rng);
        heap_push(heap, &n, entry);
    }
    double each_ns = (now_ns() - start_ns) / (double)events;
    g_free(heap);
    return each_ns;
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

int main(void)
{
    static const guint pendings[] = {100, 1000, 10000};
    double ratio = 0;

    printf("delays {1, 9, 17, 40, 500} x %d ps, %d events, median of %d\n", FLIT_PS, EVENTS, RUNS);
    printf("%8s %12s %12s %8s %16s\n", "pending", "wheel ns", "heap ns", "ratio",
           "systemc each ns");
    for (gsize p = 0; p < G_N_ELEMENTS(pendings); p++) {
        double wheel[RUNS], heap[RUNS];
        guint64 checks[2], unused;
        for (int run = 0; run < RUNS; run++) {
            wheel[run] = time_sim(pendings[p], SIM_CALENDAR_WHEEL, EVENTS, &checks[0]);
            heap[run] = time_heap(pendings[p], EVENTS, &checks[1]);
        }
        double reference = time_sim(pendings[p], SIM_CALENDAR_SYSTEMC, EVENTS / 20, &unused);
        ratio = median(wheel) / median(heap);
        printf("%8u %12.1f %12.1f %8.2f %16.1f\n", pendings[p], median(wheel), median(heap), ratio,
               reference);
        if (checks[0] != checks[1]) {
            printf("the two did not simulate the same\n");
            return 1;
        }
    }
    printf("target: at most %d.%02d of the heap at 10000 pending: %s\n", TARGET_PERCENT / 100,
           TARGET_PERCENT % 100, ratio * 100 <= TARGET_PERCENT ? "met" : "missed");
    return ratio * 100 <= TARGET_PERCENT ? 0 : 1;
}
