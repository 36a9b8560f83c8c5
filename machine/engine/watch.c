/* What may end a run from outside while simulated time passes: the watchdog, and signals. */
#include "machine/engine/internal.h"

#include "sim/host_clock.h"

/* Time runs, and nothing ends: a kernel that never does is ended, as on a display's GPU. */
static void watch_kernels(Engine *engine)
{
    gint64 now_us = host_clock_us();

    if (engine->spec.watchdog_us == 0)
        return;
    if (engine->busy_since_us == 0)
        engine->busy_since_us = now_us;
    if ((guint64)(now_us - engine->busy_since_us) < engine->spec.watchdog_us)
        return;
    engine->busy_since_us = now_us;
    engine_kernels_end(engine, "it still ran when the watchdog's time was over");
}

/* A user pressed Ctrl-C, or ends the run. Lock not held. */
void engine_watch_signals(Engine *engine)
{
    const EngineSpec *spec = &engine->spec;
    int number = spec->signalled ? g_atomic_int_get(spec->signalled) : 0;
    gint interrupts = spec->interrupts ? g_atomic_int_get(spec->interrupts) : engine->interrupts;

    if (number != 0 && !engine->signalled) {
        engine->signalled = TRUE;
        g_auto(GStrv) waiters = sim_waiters(engine->sim);
        for (guint i = 0; waiters && waiters[i]; i++)
            log_line(spec->log, LOG_CUDA, LOG_ERROR, sim_now_ps(engine->sim), "interrupted: %s", waiters[i]);
        spec->on_signal(number);
    }
    if (interrupts != engine->interrupts && !spec->signal_comes())
        engine_kernels_end(engine, "it still ran when the program was interrupted");
    engine->interrupts = interrupts;
}

void engine_watch(Engine *engine)
{
    watch_kernels(engine);
    engine_watch_signals(engine);
}
