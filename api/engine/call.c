/* What passes between the engine's thread and the others: answers to calls, sleep until something is posted, and calls
 * of host functions, which run on a thread of their own. */
#include "api/engine/internal.h"

#include "sim/host_clock.h"

#include <time.h>

void engine_answer(Engine *engine, EngineCall *call, EngineStatus status)
{
    __atomic_store_n(&engine->seen_ps, sim_now_ps(engine->sim), __ATOMIC_RELEASE);
    call->reply.status = status;
    call->done = TRUE;
    pthread_cond_signal(&call->cond);
}

guint64 engine_seen_ps(const Engine *engine) { return __atomic_load_n(&engine->seen_ps, __ATOMIC_ACQUIRE); }

void engine_look_later(Engine *engine, guint64 look_us)
{
    struct timespec until;

    host_clock_get(&until);
    until.tv_nsec += (long)look_us * 1000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(&engine->posted, &engine->lock, &until);
}

/* Host calls run beside the engine, one after another, so that they may take their time. */
static void *caller_main(void *data)
{
    Engine *engine = data;

    pthread_mutex_lock(&engine->lock);
    for (;;) {
        Work *work = g_queue_pop_head(&engine->to_call);
        if (work == NULL) {
            pthread_cond_wait(&engine->call_posted, &engine->lock);
            continue;
        }
        pthread_mutex_unlock(&engine->lock);
        void (*function)(void *) = (void (*)(void *))(guintptr)work->request.function;
        function((void *)(guintptr)work->request.argument);
        pthread_mutex_lock(&engine->lock);
        g_queue_push_tail(&engine->returned, work);
        g_atomic_int_add(&engine->callbacks, -1);
        pthread_cond_signal(&engine->posted);
    }
    return NULL;
}

void engine_host_call(Engine *engine, Work *work)
{
    pthread_t thread;

    pthread_mutex_lock(&engine->lock);
    if (!engine->has_caller && pthread_create(&thread, NULL, caller_main, engine) == 0) {
        pthread_detach(thread);
        engine->has_caller = TRUE;
    }
    g_atomic_int_inc(&engine->callbacks);
    g_queue_push_tail(&engine->to_call, work);
    pthread_cond_signal(&engine->call_posted);
    pthread_mutex_unlock(&engine->lock);
}
