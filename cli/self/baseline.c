/* Two calendars as simple as can be, beside ours: what a figure of this simulator is divided by. */
#include "cli/self/speed.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/rng.h"

#define FLIT_PS 680

/* Delays of a fabric: a flit, a packet with 128 B, one with 256 B, a switch, a link's flight. */
static const guint flits[] = {1, 9, 17, 40, 500};

static SimTime draw_delay_ps(Rng *rng) { return flits[rng_next(rng) % G_N_ELEMENTS(flits)] * FLIT_PS; }

double speed_cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double speed_wall_s(void) { return (double)g_get_monotonic_time() * 1e-6; }

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void speed_sort(double *values, guint n) { qsort(values, n, sizeof values[0], compare_doubles); }

double speed_median(double *values, guint n)
{
    speed_sort(values, n);
    return values[n / 2];
}

/* ---- a plain binary heap of 16-byte entries */

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
        if (last.time_ps <= heap[child].time_ps)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

double speed_heap_holds_per_s(guint pending, guint64 holds, guint64 *check)
{
    Entry *heap = g_new0(Entry, pending + 1);
    gsize n = 0;
    Rng rng;

    rng_init(&rng, 1, "hold");
    for (guint i = 0; i < pending; i++)
        heap_push(heap, &n, (Entry){draw_delay_ps(&rng), i});
    *check = 0;
    double start_s = speed_cpu_s();
    for (guint64 i = 0; i < holds; i++) {
        Entry entry = heap_pop(heap, &n);
        *check += entry.time_ps;
        entry.time_ps += draw_delay_ps(&rng);
        heap_push(heap, &n, entry);
    }
    double s = speed_cpu_s() - start_s;
    g_free(heap);
    return (double)holds / s;
}

/* ---- a bare timing wheel: buckets of 64 ps, first in first out, one turn longer than any delay */

#define WHEEL_SHIFT 6
#define WHEEL_BUCKETS 8192
#define WHEEL_NONE G_MAXUINT32

typedef struct {
    SimTime *time_ps; /* of each pending event, by number */
    guint32 *next;    /* in its bucket */
    guint32 first[WHEEL_BUCKETS], last[WHEEL_BUCKETS];
} Wheel;

static void wheel_put(Wheel *wheel, guint32 event)
{
    guint32 bucket = (guint32)(wheel->time_ps[event] >> WHEEL_SHIFT) % WHEEL_BUCKETS;
    wheel->next[event] = WHEEL_NONE;
    if (wheel->first[bucket] == WHEEL_NONE)
        wheel->first[bucket] = event;
    else
        wheel->next[wheel->last[bucket]] = event;
    wheel->last[bucket] = event;
}

double speed_wheel_holds_per_s(guint pending, guint64 holds, guint64 *check)
{
    Wheel *wheel = g_new(Wheel, 1);
    guint32 at = 0;
    Rng rng;

    rng_init(&rng, 1, "hold");
    wheel->time_ps = g_new(SimTime, pending);
    wheel->next = g_new(guint32, pending);
    memset(wheel->first, 0xff, sizeof wheel->first);
    for (guint32 i = 0; i < pending; i++) {
        wheel->time_ps[i] = draw_delay_ps(&rng);
        wheel_put(wheel, i);
    }
    *check = 0;
    double start_s = speed_cpu_s();
    for (guint64 i = 0; i < holds; i++) {
        while (wheel->first[at] == WHEEL_NONE)
            at = (at + 1) % WHEEL_BUCKETS;
        guint32 event = wheel->first[at];
        wheel->first[at] = wheel->next[event];
        *check += wheel->time_ps[event];
        wheel->time_ps[event] += draw_delay_ps(&rng);
        wheel_put(wheel, event);
    }
    double s = speed_cpu_s() - start_s;
    g_free(wheel->time_ps);
    g_free(wheel->next);
    g_free(wheel);
    return (double)holds / s;
}

/* ---- our calendar, through the real sim_run() */

typedef struct {
    Sim *sim;
    Rng rng;
    guint64 left, check;
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
    if (--hold->left == 0)
        sim_stop(hold->sim);
    sim_after(hold->sim, event, draw_delay_ps(&hold->rng), EVENT_PRIORITY_FABRIC);
}

double speed_sim_holds_per_s(guint pending, guint64 holds, SimCalendar calendar, guint64 *check)
{
    Hold hold = {.sim = sim_new(&(SimSpec){.seed = 1, .calendar = calendar}, NULL), .left = holds};
    Holder *holders = g_new0(Holder, pending);

    rng_init(&hold.rng, 1, "hold");
    for (guint i = 0; i < pending; i++) {
        event_init(&holders[i].event, hold_fire);
        holders[i].hold = &hold;
        sim_after(hold.sim, &holders[i].event, draw_delay_ps(&hold.rng), EVENT_PRIORITY_FABRIC);
    }
    double start_s = speed_cpu_s();
    sim_run(hold.sim, SIMTIME_NEVER);
    double s = speed_cpu_s() - start_s;
    *check = hold.check;
    sim_free(hold.sim);
    g_free(holders);
    return (double)holds / s;
}
