/* See watch.h. */
#include "observe/series/watch.h"

#include <string.h>

#include "model/fabric/fabric.h"
#include "observe/series/roles.h"

/* Looks are some milliseconds of the host apart: the step in simulated time follows the events that it brings. */
#define WATCH_EVENTS 32768
#define WATCH_MOST_PS (10 * PS_PER_US)

struct Watch {
    WatchPage *page;
    Fabric *fabric;
    char *run;
    SimTime begin_ps, step_ps;
    guint64 events; /* at the last look */
};

void watch_ask(WatchPage *page)
{
    const gint answered = g_atomic_int_get(&page->answered);
    if (g_atomic_int_get(&page->asked) == answered)
        g_atomic_int_set(&page->asked, (gint)((guint)answered + 1));
}

gboolean watch_answered(WatchPage *page) { return g_atomic_int_get(&page->asked) == g_atomic_int_get(&page->answered); }

typedef struct {
    WatchView *view;
    SeriesPoint sums;
} Filling;

static void watch_add_queue(WatchView *view, const char *where, guint64 packets)
{
    guint at = view->n_top;
    while (at > 0 && view->top[at - 1].packets < packets)
        at--;
    if (at == WATCH_TOP)
        return;
    view->n_top = MIN(view->n_top + 1, WATCH_TOP);
    memmove(&view->top[at + 1], &view->top[at], (view->n_top - 1 - at) * sizeof view->top[0]);
    g_strlcpy(view->top[at].where, where, sizeof view->top[at].where);
    view->top[at].packets = packets;
}

static void watch_visit(const char *path, const StatRow *stat, const void *value, void *user)
{
    Filling *filling = user;
    if (stat->type == STAT_HIST_T)
        return;
    const guint64 now = *(const guint64 *)value;
    series_role_add(series_role(path, stat), &filling->sums, now);
    if (stat->type == STAT_LEVEL_T && now && strcmp(stat->name, "queue") == 0)
        watch_add_queue(filling->view, path, now);
}

static void watch_add_operations(WatchView *view, const OpTable *ops)
{
    for (int k = 0; k <= PACKET_MC_READ; k++)
        if (ops->kind[k]) {
            view->requests += ops->kind[k]->count;
            view->bytes += ops->kind[k]->bytes;
        }
}

static void watch_fill(const Watch *watch, SimTime at_ps)
{
    Fabric *fabric = watch->fabric;
    WatchView *view = &watch->page->view;
    Filling filling = {.view = view};
    memset(view, 0, sizeof *view);
    g_strlcpy(view->run, watch->run, sizeof view->run);
    view->number = watch->page->runs;
    view->now_ps = watch->begin_ps + at_ps;
    view->events = sim_events_fired(fabric->sim);
    fabric_advance(fabric, at_ps ? at_ps - 1 : 0);
    view->crossings = fabric_crossings(fabric);
    stat_visit(fabric->stats, watch_visit, &filling);
    watch_add_operations(view, &fabric->op_remote);
    for (guint i = 1; i < fabric->op_object->len; i++)
        watch_add_operations(view, g_ptr_array_index(fabric->op_object, i));
    const SeriesPoint *sums = &filling.sums;
    view->flits = sums->up_flits + sums->down_flits;
    view->queued = sums->queued;
    view->outstanding = sums->outstanding;
    view->multicast_tags = sums->multicast_tags;
    view->reduction_tags = sums->reduction_tags;
    view->reduction_bytes = sums->reduction_bytes;
    view->credit_stalls = sums->credit_stalls;
    view->tag_stalls = sums->tag_stalls;
    view->buffer_stalls = sums->buffer_stalls;
    view->round_stalls = sums->round_stalls;
    g_autofree char *waits = sim_waiters_text(fabric->sim);
    g_strlcpy(view->waits, waits, sizeof view->waits);
}

static void watch_answer(const Watch *watch, SimTime at_ps, gboolean over)
{
    const gint asked = g_atomic_int_get(&watch->page->asked);
    if (asked == g_atomic_int_get(&watch->page->answered))
        return;
    watch_fill(watch, at_ps);
    watch->page->view.over = over;
    g_atomic_int_set(&watch->page->answered, asked);
}

Watch *watch_new(WatchPage *page, Fabric *fabric, const char *run, SimTime begin_ps)
{
    Watch *watch = g_new0(Watch, 1);
    watch->page = page;
    watch->fabric = fabric;
    watch->run = g_strdup(run);
    watch->begin_ps = begin_ps;
    watch->step_ps = WATCH_LEAST_PS;
    page->runs++;
    return watch;
}

SimTime watch_look(Watch *watch, SimTime at_ps)
{
    const guint64 events = sim_events_fired(watch->fabric->sim), fired = events - watch->events;
    watch->events = events;
    if (fired < WATCH_EVENTS / 2)
        watch->step_ps = MIN(2 * watch->step_ps, WATCH_MOST_PS);
    else if (fired > 2 * WATCH_EVENTS)
        watch->step_ps = MAX(watch->step_ps / 2, WATCH_LEAST_PS);
    watch_answer(watch, at_ps, FALSE);
    return at_ps + watch->step_ps;
}

void watch_free(Watch *watch)
{
    if (!watch)
        return;
    watch_answer(watch, sim_now_ps(watch->fabric->sim), TRUE);
    g_free(watch->run);
    g_free(watch);
}
