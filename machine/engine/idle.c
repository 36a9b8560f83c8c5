/* While no call waits: time stands still, unless another process waits for what was recorded here, or may wait for what
 * runs, or the user says that this program polls. */
#include "machine/engine/internal.h"
#include "machine/engine/slice.h"

#define SIGNAL_LOOK_US 100000 /* how often an engine without calls looks for a signal */
#define QUIET_LOOKS 50        /* after how many of these it says that work waits for a call */
#define ALONE_AFTER_US 20000  /* time without a call after which work that other processes may wait for goes on */

/* Work runs that writes what other processes may wait for, while no call here does: a thread that hands out copies and
 * polls (mscclpp's proxies), beside one that waits for the other processes; or the user says that this program polls.
 * It goes on when no call has come for a while, so that what is being handed out is not taken apart. Lock held, given
 * up inside. */
static void go_on_alone(Engine *engine)
{
    const guint64 after_us = engine->spec.quiet_us > 0 ? engine->spec.quiet_us : ALONE_AFTER_US;
    SimStatus status = SIM_LIMIT;

    engine_look_later(engine, engine->alone ? SHARED_LOOK_US : after_us);
    engine->alone = engine_nothing_posted(engine);
    if (engine->alone) /* also the program, in memory of the host */
        engine_look_at_shared(engine);
    while (engine->alone && status == SIM_LIMIT) {
        pthread_mutex_unlock(&engine->lock);
        status = engine_run_slice(engine);
        pthread_mutex_lock(&engine->lock);
        engine->alone = engine_nothing_posted(engine);
    }
}

/* A program that polls memory by itself would wait for ever: the user is told once what to do. Lock held. */
static void idle_without_calls(Engine *engine)
{
    engine_look_later(engine, SIGNAL_LOOK_US);
    const gboolean waits = engine_nothing_posted(engine) && g_atomic_int_get(&engine->running) > 0;
    engine->quiet_looks = waits ? engine->quiet_looks + 1 : 0;
    if (engine->quiet_looks == QUIET_LOOKS)
        log_line(engine->spec.log, LOG_CUDA, LOG_WARN, sim_now_ps(engine->sim),
                 "work stands still, for no call has come that waits for it; a program that polls memory instead needs "
                 "--set cuda.quiet_ms=20");
}

void engine_idle(Engine *engine)
{
    if ((engine->shared || engine->spec.quiet_us > 0) && g_atomic_int_get(&engine->running) > 0) {
        go_on_alone(engine);
        return;
    }
    if (engine->promised->len == 0 && !engine->spec.signalled) {
        engine_look_later(engine, G_MAXUINT64);
        return;
    }
    if (engine->promised->len == 0) {
        idle_without_calls(engine);
        return;
    }
    SimStatus status = SIM_IDLE;
    if (engine_shared_wanted(engine)) {
        pthread_mutex_unlock(&engine->lock);
        status = engine_run_slice(engine);
        pthread_mutex_lock(&engine->lock);
    }
    if (status == SIM_LIMIT || status == SIM_STOPPED || !engine_nothing_posted(engine))
        return;
    engine_look_later(engine, SHARED_LOOK_US);
    if (engine->shared)
        engine_look_at_shared(engine);
}

void engine_look_for_signal(Engine *engine)
{
    if (!engine->spec.signalled || g_atomic_int_get(engine->spec.signalled) == 0)
        return;
    pthread_mutex_unlock(&engine->lock);
    engine_watch_signals(engine);
    pthread_mutex_lock(&engine->lock);
}
