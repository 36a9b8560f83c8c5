/* Background events: what happens at its time if anything else still goes on, and not at all otherwise.
 *
 * They stand in a list of their own until the clock gets there: a run fires everything before the first of them, and
 * only then, unless nothing is due and nothing waits any more, puts it in the calendar. The observer is called there,
 * too, and before those of its time. In several domains no window
 * reaches over the time of one, so that all domains stand just before it. */
#include "sim/engine/internal.h"

static gint background_compare(gconstpointer a, gconstpointer b)
{
    const SimTime first_ps = ((const Background *)a)->time_ps, second_ps = ((const Background *)b)->time_ps;
    return (first_ps > second_ps) - (first_ps < second_ps);
}

void sim_at_background(Sim *sim, Sim *target, Event *event, SimTime time_ps)
{
    Background background = {target, event, time_ps};
    g_assert(time_ps >= sim->now_ps && event->place == 0);
    if (!sim->background)
        sim->background = g_array_new(FALSE, FALSE, sizeof background);
    g_array_append_val(sim->background, background);
    g_array_sort(sim->background, background_compare); /* which keeps the order of equal times */
}

SimTime sim_background_ps(const Sim *sim) { return background_due_ps(sim); }

void sim_observe(Sim *sim, SimTime first_ps, SimObserve look, void *user)
{
    g_assert(!look || (!sim->thread && !sim->observe));
    sim->observe = look;
    sim->observe_user = user;
    sim->observe_ps = look ? first_ps : SIMTIME_NEVER;
}

/* TRUE: it has looked. */
static gboolean observer_looks(Sim *sim, SimTime next_ps)
{
    const SimTime at_ps = sim->observe_ps;
    const SimTime due_ps = background_due_ps(sim);
    const gboolean goes_on = next_ps != SIMTIME_NEVER || (due_ps != SIMTIME_NEVER && !sim_nobody_waits(sim));

    if (!goes_on || at_ps > due_ps || at_ps > MIN(next_ps, sim->until_ps))
        return FALSE;
    sim->observe_ps = sim->observe(sim->observe_user, at_ps);
    g_assert(sim->observe_ps > at_ps);
    return TRUE;
}

gboolean background_release(Sim *sim, SimTime next_ps)
{
    const SimTime time_ps = background_due_ps(sim);

    if (sim->observe_ps <= time_ps)
        return sim->observe_ps != SIMTIME_NEVER && observer_looks(sim, next_ps);
    if (time_ps == SIMTIME_NEVER || time_ps > MIN(next_ps, sim->until_ps) ||
        (next_ps == SIMTIME_NEVER && sim_nobody_waits(sim)))
        return FALSE;
    guint n = 0;
    for (; n < sim->background->len && g_array_index(sim->background, Background, n).time_ps == time_ps; n++) {
        const Background *background = &g_array_index(sim->background, Background, n);
        sim_at_key(background->target, background->event, time_ps);
    }
    g_array_remove_range(sim->background, 0, n);
    return TRUE;
}
