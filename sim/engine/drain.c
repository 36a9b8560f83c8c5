/* What is due in a calendar, one event after the other: the loop in which a simulation spends its time. */
#include "sim/engine/internal.h"

/* Fires what is due. The limit shrinks to the current instant when a process becomes ready. */
void sim_drain(Sim *sim, SimTime limit_ps)
{
    Calendar *wheel = sim->wheel;
    Event *event;

    sim->limit_ps = sim->ready_first ? MIN(limit_ps, sim->now_ps) : limit_ps;
    while (!sim->stop && (event = calendar_take(wheel, sim->limit_ps))) {
        sim->now_ps = event->time_ps;
        sim->order = event->order;
        sim->fired++;
        event->fire(event, event->time_ps);
    }
    sim->order = UINT64_MAX;
}
