/* Lets simulated time run for a slice. After each, it looks at what may end the run from outside, and at what other
 * processes have recorded. */
#include "machine/engine/internal.h"
#include "machine/engine/skip.h"

#define SLICE_PS (100 * PS_PER_US)       /* how long time runs before new calls are looked at */
#define SPIN_PARTS 8                     /* of what has passed since something was last: see spin_slice_ps() */
#define KERNEL_SLICE_PS (10 * PS_PER_US) /* the same while kernels run, whose time costs more of the host's */

void engine_look_at_shared(Engine *engine)
{
    pthread_mutex_unlock(&engine->lock);
    memory_poke(engine->fabric->memory, sim_now_ps(engine->sim));
    engine_shared_look(engine);
    pthread_mutex_lock(&engine->lock);
}

/* Threads spin: they look again after a quantum. While no work runs on the machine, nothing that they ask about changes
 * before the end of a sleep, which ends the slice; but one may watch a clock, which is to be late by an eighth at most.
 * So seconds of sleep beside them take some hundred looks, and not a million. */
static guint64 spin_slice_ps(const Engine *engine)
{
    const SimTime quantum_ps = engine->spec.query_quantum_ps;

    return engine->active->len > 0 ? quantum_ps
                                   : MAX(quantum_ps, (engine_now_ps(engine) - engine->stirred_ps) / SPIN_PARTS);
}

SimStatus engine_run_slice(Engine *engine)
{
    guint64 slice_ps = engine->spins                    ? spin_slice_ps(engine)
                       : engine_kernels_run(engine) > 0 ? KERNEL_SLICE_PS
                                                        : SLICE_PS;

    const guint64 skipped_ps = engine_skip(engine, engine->spins ? slice_ps : G_MAXUINT64);
    if (engine->spins)
        slice_ps -= skipped_ps;
    engine->in_time = TRUE;
    SimStatus status = sim_run(engine->sim, sim_now_ps(engine->sim) + slice_ps);
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
