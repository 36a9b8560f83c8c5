/* Lets simulated time run for a slice. After each, it looks at what may end the run from outside, and at what other
 * processes have recorded. */
#include "machine/engine/internal.h"
#include "machine/engine/slice.h"
#include "machine/engine/skip.h"

#define SLICE_PS (100 * PS_PER_US) /* how long time runs before new calls are looked at */
#define SPIN_PARTS 8               /* of what has passed since something was last: watched_slice_ps() */
#define FORCED_WAIT_MAX_US 1000
#define KERNEL_SLICE_PS (10 * PS_PER_US) /* the same while kernels run, whose time costs more of the host's */

void engine_look_at_shared(Engine *engine)
{
    pthread_mutex_unlock(&engine->lock);
    memory_poke(engine->fabric->memory, sim_now_ps(engine->sim));
    engine_shared_look(engine);
    pthread_mutex_lock(&engine->lock);
}

/* Who watches a clock is to be late by an eighth at most. */
static guint64 watched_slice_ps(const Engine *engine)
{
    return MAX(engine->spec.query_quantum_ps, (engine_now_ps(engine) - engine->stirred_ps) / SPIN_PARTS);
}

/* Threads spin: they look again after a quantum. While no work runs on the machine, nothing that they ask about changes
 * before the end of a sleep, which ends the slice; but one may watch a clock. So seconds of sleep beside them take some
 * hundred looks, and not a million. */
static guint64 spin_slice_ps(const Engine *engine)
{
    return engine->active->len > 0 ? engine->spec.query_quantum_ps : watched_slice_ps(engine);
}

/* A thread runs that calls nothing, and nothing is due on the machine before a sleeper wakes: time passes as the host's
 * does, since the thread may be about to act. */
static guint64 forced_wait_us(Engine *engine)
{
    const SimTime due_ps = sim_due_ps(engine->sim);

    return engine_sleeper_is_first(engine, due_ps)
               ? MIN((due_ps - sim_now_ps(engine->sim)) / PS_PER_US, FORCED_WAIT_MAX_US)
               : 0;
}

gboolean engine_waits_forced(Engine *engine)
{
    if (!engine->was_forced || engine->waited_us > 0)
        return FALSE;
    engine->waited_us = forced_wait_us(engine);
    if (engine->waited_us == 0)
        return FALSE;
    engine_look_later(engine, engine->waited_us);
    engine->disturbed = TRUE; /* it may have written meanwhile */
    return TRUE;
}

static guint64 forced_slice_ps(Engine *engine)
{
    const guint64 waited_us = engine->waited_us > 0 ? MIN(engine->waited_us, forced_wait_us(engine)) : 0;

    return waited_us > 0 ? waited_us * PS_PER_US : watched_slice_ps(engine);
}

static void on_host_written(void *user) { ((Engine *)user)->host_written = TRUE; }

/* cuda.quiet_ms has let time run, and a thread that polls memory of the host still runs: what the machine has written
 * there it is to see, and may answer, before much more time passes. So the slice in which this was ends with a wait of
 * quiet_ms anew. */
static SimStatus run_forced(Engine *engine, guint64 slice_ps)
{
    memory_on_host_written(engine->fabric->memory, on_host_written, engine);
    SimStatus status = sim_run(engine->sim, sim_now_ps(engine->sim) + slice_ps);
    memory_on_host_written(engine->fabric->memory, NULL, NULL);
    if (engine->host_written) {
        engine->quiet = engine->was_forced = FALSE;
        engine->disturbed = TRUE;
        engine->look_us = ENGINE_LOOK_FIRST_US;
        engine_tell_time(engine);
    }
    return status;
}

SimStatus engine_run_slice(Engine *engine)
{
    guint64 slice_ps = engine->spins                    ? spin_slice_ps(engine)
                       : engine->was_forced             ? forced_slice_ps(engine)
                       : engine_kernels_run(engine) > 0 ? KERNEL_SLICE_PS
                                                        : SLICE_PS;

    const guint64 skipped_ps = engine_skip(engine, engine->spins ? slice_ps : G_MAXUINT64);
    if (engine->spins)
        slice_ps -= skipped_ps;
    engine->in_time = TRUE;
    engine->waited_us = 0;
    engine->host_written = FALSE;
    SimStatus status = engine->was_forced ? run_forced(engine, slice_ps)
                                          : sim_run(engine->sim, sim_now_ps(engine->sim) + slice_ps);
    SimTime fault_ps = sim_background_ps(engine->sim); /* the next fault, or the fabric manager's reaction to one */
    if ((status == SIM_IDLE || status == SIM_STUCK) && engine->active->len > 0 && fault_ps != SIMTIME_NEVER)
        status = sim_run(engine->sim, fault_ps); /* it may free what waits */
    engine->in_time = FALSE;

    if (engine->spins) { /* they are to see what has changed, and may have written meanwhile */
        engine->quiet = FALSE;
        engine_tell_time(engine);
    }
    engine->disturbed |= engine->spins || engine->was_forced;
    engine_watch(engine);
    engine_shared_look(engine);
    return status;
}
