/* Long sleeps. A run of the model has room for 140 s of simulated time (sim/engine/simtime.h), and programs may sleep
 * for hours. While nothing on the machine is due, nothing happens there before the first sleeper wakes: from the first
 * minute on that time is left out of the model's clock, and counted. The job's clock, which calls and programs see, is
 * the model's with what was left out on top; so sleeps and time-outs are as long as they say. Reports and timelines
 * show the model's clock, and say how much was left out.
 *
 * Left out: a fault that is to come at its own time stands on the model's clock, and while one is to come nothing is
 * left out. */
#ifndef MACHINE_ENGINE_SKIP_H
#define MACHINE_ENGINE_SKIP_H

#include "machine/engine/internal.h"

/* The job's clock. */
static inline SimTime engine_now_ps(const Engine *engine) { return sim_now_ps(engine->sim) + engine->skipped_ps; }
#define ENGINE_SKIP_FROM_PS (60 * PS_PER_S) /* room for 80 s of work after that; what is shorter is shown as it is */
/* What is due next, at due_ps, is the end of a sleep, and so nothing on the machine is before. */
gboolean engine_sleeper_is_first(Engine *engine, SimTime due_ps);
/* Leaves out what can be, at most so much -> how much. Without the lock, between two slices. */
guint64 engine_skip_now(Engine *engine, guint64 most_ps);
static inline guint64 engine_skip(Engine *engine, guint64 most_ps)
{
    return sim_now_ps(engine->sim) < ENGINE_SKIP_FROM_PS ? 0 : engine_skip_now(engine, most_ps);
}

#endif
