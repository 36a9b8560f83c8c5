/* When waiting calls are given up: nothing is due, and nothing can act any more, in this process or another. */
#include "machine/engine/internal.h"

#include <dirent.h>

#ifdef __SANITIZE_THREAD__
#define TASKS_BESIDE 2u /* this thread, and the one that the race checker runs */
#else
#define TASKS_BESIDE 1u
#endif

static guint count_tasks(void)
{
    DIR *dir = opendir("/proc/self/task");
    guint n = 0;

    if (!dir)
        return G_MAXUINT;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* All other threads of the process sleep in calls, so that none is left that could change anything. */
gboolean engine_is_deadlocked(Engine *engine)
{
    if (engine->spec.gate) /* the whole tree sleeps, or this would not be asked */
        return g_atomic_int_get(&engine->callbacks) == 0;
    return g_atomic_int_get(&engine->callbacks) == 0 &&
           count_tasks() <= (guint)g_atomic_int_get(&engine->waiting) + TASKS_BESIDE + (engine->has_caller ? 1 : 0);
}

/* What a kernel of the context that still runs has met: it will not end, because of that. */
static FaultKind fault_met(const Engine *engine, const EngineContext *context)
{
    for (guint i = 0; context && i < engine->active->len; i++) {
        const Work *work = g_ptr_array_index(engine->active, i);
        if (work->context == context && work->fault != FAULT_NONE)
            return work->fault;
    }
    return FAULT_NONE;
}

/* Lock held. The waits are answered with ENGINE_STUCK, or with the fault of a kernel that they wait for, which a device
 * would have ended; the report says who waited for what. */
void engine_declare_stuck(Engine *engine)
{
    if (engine->outside->len > 0) { /* what they wait for was to come from a program; it hears of that, and goes on */
        while (engine->outside->len > 0)
            engine_answer(engine, g_ptr_array_steal_index(engine->outside, 0), ENGINE_STUCK);
        return;
    }
    g_auto(GStrv) waiters = sim_waiters(engine->sim);
    engine->stuck = TRUE;
    log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, sim_now_ps(engine->sim),
             "stuck: nothing is due, and every thread of the process waits");
    for (guint i = 0; waiters && waiters[i]; i++) {
        log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, sim_now_ps(engine->sim), "%s", waiters[i]);
        engine_faults_add_stuck(engine, waiters[i]);
    }
    while (engine->sleepers->len > 0) {
        Work *work = g_ptr_array_steal_index(engine->sleepers, 0);
        FaultKind fault = fault_met(engine, work->context);
        work->call->reply.fault = (guint32)fault;
        engine_answer(engine, work->call, fault != FAULT_NONE ? ENGINE_DEVICE_FAULT : ENGINE_STUCK);
        engine_wait_drop(work);
    }
}

/* Lock held, given up inside: the answer may need locks of those who wait for it. */
gboolean engine_has_external_waiter(Engine *engine)
{
    if (!engine->shared || !engine->spec.others)
        return FALSE;
    pthread_mutex_unlock(&engine->lock);
    gboolean may = engine->spec.others(engine->spec.others_user);
    pthread_mutex_lock(&engine->lock);
    return may;
}
