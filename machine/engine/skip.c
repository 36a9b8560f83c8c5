/* See skip.h. */
#include "machine/engine/alarm.h"
#include "machine/engine/skip.h"

static gint compare_events(gconstpointer a, gconstpointer b)
{
    const Event *x = *(Event *const *)a, *y = *(Event *const *)b;

    if (x->time_ps != y->time_ps)
        return x->time_ps < y->time_ps ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void add_pending(GPtrArray *timers, Event *event)
{
    if (event_is_pending(event))
        g_ptr_array_add(timers, event);
}

/* What sleepers, clients' timers and calls that go on a little later wait for, in its order. */
static GPtrArray *timers_of(Engine *engine)
{
    GPtrArray *timers = g_ptr_array_new();

    for (guint i = 0; i < engine->sleepers->len; i++)
        add_pending(timers, &((Work *)g_ptr_array_index(engine->sleepers, i))->timer);
    for (guint i = 0; i < engine->alarms->len; i++)
        add_pending(timers, engine_alarm_event(g_ptr_array_index(engine->alarms, i)));
    g_ptr_array_sort(timers, compare_events);
    return timers;
}

gboolean engine_sleeper_is_first(Engine *engine, SimTime due_ps)
{
    g_autoptr(GPtrArray) timers = timers_of(engine);

    return timers->len > 0 && ((const Event *)g_ptr_array_index(timers, 0))->time_ps == due_ps;
}

guint64 engine_skip_now(Engine *engine, guint64 most_ps)
{
    const SimTime now_ps = sim_now_ps(engine->sim);

    if (sim_background_ps(engine->sim) != SIMTIME_NEVER)
        return 0;
    g_autoptr(GPtrArray) timers = timers_of(engine);
    g_autoptr(GArray) at_ps = g_array_new(FALSE, FALSE, sizeof(SimTime));
    if (timers->len == 0)
        return 0;
    const SimTime first_ps = ((Event *)g_ptr_array_index(timers, 0))->time_ps;
    for (guint i = 0; i < timers->len; i++) {
        Event *timer = g_ptr_array_index(timers, i);
        g_array_append_val(at_ps, timer->time_ps);
        sim_cancel(engine->sim, timer);
    }
    const gboolean idle = sim_due_ps(engine->sim) == SIMTIME_NEVER; /* on the machine itself */
    const guint64 skip_ps = idle ? MIN(first_ps - now_ps, most_ps) : 0;
    for (guint i = 0; i < timers->len; i++)
        sim_at(engine->sim, g_ptr_array_index(timers, i), g_array_index(at_ps, SimTime, i) - skip_ps,
               EVENT_PRIORITY_PROCESS);
    engine->skipped_ps += skip_ps;
    return skip_ps;
}
