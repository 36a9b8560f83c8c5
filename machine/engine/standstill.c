/* The rule of time (docs/time.md): when a standstill ends, and in which order what came within it starts.
 *
 * While simulated time stands still, threads of the job run on the host and ask for work, in an order that the host
 * chose. None of it starts yet. Time may go on when the tree is quiet (tree.h); what was asked then starts in the order
 * of rank, process, thread and number, so that the same program gives the same run on every host. */
#include "machine/engine/alarm.h"
#include "machine/engine/internal.h"
#include "machine/engine/skip.h"

#include <string.h>
#include <unistd.h>

#include "sim/host_clock.h"

#define LOOK_LAST_US 2000     /* and in the end */
#define TELL_AFTER_US 5000000 /* after so long it is said who keeps time from running */
#define ENDING_QUIET_US 20000 /* host time for which threads of a job that was told to end hold time */

static gint compare_works(gconstpointer a, gconstpointer b)
{
    const Work *x = *(Work *const *)a, *y = *(Work *const *)b;

    return engine_order_compare(&x->request.order, &y->request.order);
}

static gint compare_alarms(gconstpointer a, gconstpointer b)
{
    return engine_alarm_compare(*(EngineAlarm *const *)a, *(EngineAlarm *const *)b);
}

void engine_standstill_end(Engine *engine)
{
    g_autoptr(GPtrArray) ready = g_steal_pointer(&engine->ready);

    engine->ready = g_ptr_array_new();
    g_ptr_array_sort(ready, compare_works); /* merge sort: equal ones keep their order */
    engine->in_time = TRUE;
    if (engine->spec.gate && engine->disturbed && memory_watches(engine->fabric->memory) > 0)
        memory_poke(engine->fabric->memory,
                    sim_now_ps(engine->sim)); /* threads may have written to memory of the host */
    engine->disturbed = FALSE;
    for (guint i = 0; i < ready->len; i++) {
        Work *work = g_ptr_array_index(ready, i);
        if (!work->done)
            engine_work_start(work);
        engine_work_unref(work);
    }
    engine->in_time = FALSE;
    g_ptr_array_sort(engine->alarms, compare_alarms);
    for (guint i = 0; i < engine->alarms->len; i++)
        engine_alarm_arm(g_ptr_array_index(engine->alarms, i));
}

/* Time has been wanted for long, and a thread runs. */
static void say_busy(Engine *engine, const TreeRunner *busy, gint64 since_us)
{
    if (engine->told_busy || since_us < TELL_AFTER_US)
        return;
    engine->told_busy = TRUE;
    log_line(engine->spec.log, LOG_CUDA, LOG_WARN, sim_now_ps(engine->sim),
             "simulated time has stood still for %d s of the host, since thread %d (%s) of process %d runs; if it only "
             "polls memory, without a call, it needs --set cuda.quiet_ms=20",
             TELL_AFTER_US / 1000000, (int)busy->tid, busy->name, (int)busy->pid);
}

/* Host time for which a thread that runs may hold time; 0: for ever. */
static gint64 patience_us(const EngineSpec *spec)
{
    if (!spec->ending || g_atomic_int_get(spec->ending) == 0)
        return (gint64)spec->quiet_us;
    return spec->quiet_us > 0 ? MIN((gint64)spec->quiet_us, ENDING_QUIET_US) : ENDING_QUIET_US;
}

gboolean engine_is_quiet(Engine *engine)
{
    TreeRunner busy = {0};

    engine->busy = busy;
    if (engine->quiet)
        return TRUE;
    const EngineGate *gate = engine->spec.gate;
    const gboolean stirred = engine->stirred;
    engine->stirred = FALSE;
    if (stirred)
        engine->stirred_ps = engine_now_ps(engine);
    pthread_mutex_unlock(&engine->lock);
    gboolean spins, quiet = tree_is_quiet(engine->tree, stirred, &spins, &busy);
    gboolean came = gate && gate->take(gate->self); /* who sleeps may have asked before it fell asleep */
    gint64 now_us = host_clock_us();
    pthread_mutex_lock(&engine->lock);
    if (came || !engine_nothing_posted(engine))
        return FALSE;
    if (engine->still_us == 0)
        engine->still_us = now_us;
    const gint64 most_us = patience_us(&engine->spec);
    if (!quiet && most_us > 0 && now_us - engine->still_us >= most_us) {
        engine->forced += !engine->was_forced;
        quiet = engine->was_forced = TRUE;
    }
    engine->busy = busy;
    if (!quiet)
        say_busy(engine, &busy, now_us - engine->still_us);
    engine->spins = spins;
    if (quiet)
        engine->still_us = 0;
    return engine->quiet = quiet;
}

void engine_await_quiet(Engine *engine)
{
    if (engine->look_us == 0)
        engine->look_us = ENGINE_LOOK_FIRST_US;
    engine_look_later(engine, engine->look_us);
    engine->look_us = MIN(engine->look_us * 2, LOOK_LAST_US);
}
