/* What passes between the engine's thread and the others: answers to calls, sleep until something is posted, and calls
 * of host functions, which run on a thread of their own. */
#include "machine/engine/internal.h"
#include "machine/engine/skip.h"

#include "sim/host_clock.h"

#include <time.h>
#include <unistd.h>

void engine_disturbed(Engine *engine)
{
    engine->quiet = FALSE;
    engine->disturbed = engine->stirred = TRUE;
    engine->look_us = ENGINE_LOOK_FIRST_US;
    engine->still_us = 0;
    engine->told_busy = FALSE;
    engine->was_forced = FALSE;
    engine->waited_us = 0;
}

void engine_tell_time(Engine *engine)
{
    __atomic_store_n(&engine->seen_ps, engine_now_ps(engine), __ATOMIC_RELEASE);
    if (engine->spec.gate)
        __atomic_store_n(engine->spec.gate->seen_ps, engine->seen_ps, __ATOMIC_RELEASE);
}

void engine_answer(Engine *engine, EngineCall *call, EngineStatus status)
{
    engine_tell_time(engine);
    call->reply.status = status;
    call->done = TRUE;
    engine_disturbed(engine);
    if (call->from)
        engine->spec.gate->answer(engine->spec.gate->self, call);
    else
        pthread_cond_signal(&call->cond);
}

guint64 engine_seen_ps(const Engine *engine)
{
    return __atomic_load_n(engine->remote ? engine->remote_seen_ps : &engine->seen_ps, __ATOMIC_ACQUIRE);
}

/* A thread of this process has posted something. Lock held. */
void engine_signal(Engine *engine)
{
    const guint64 one = 1;

    if (engine->wake_fd < 0)
        pthread_cond_signal(&engine->posted);
    else if (write(engine->wake_fd, &one, sizeof one) < 0)
        return; /* it is readable already */
}

void engine_look_later(Engine *engine, guint64 look_us)
{
    const EngineGate *gate = engine->spec.gate;
    struct timespec until;
    guint64 posts;

    if (gate) {
        pthread_mutex_unlock(&engine->lock);
        gate->wait(gate->self, engine->wake_fd, look_us);
        if (read(engine->wake_fd, &posts, sizeof posts) > 0)
            engine->busy_since_us = 0;
        pthread_mutex_lock(&engine->lock);
        return;
    }
    if (look_us == G_MAXUINT64) {
        pthread_cond_wait(&engine->posted, &engine->lock);
        return;
    }
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
        if (!work) {
            pthread_cond_wait(&engine->call_posted, &engine->lock);
            continue;
        }
        pthread_mutex_unlock(&engine->lock);
        void (*function)(void *) = (void (*)(void *))(guintptr)work->request.function;
        function((void *)(guintptr)work->request.argument);
        pthread_mutex_lock(&engine->lock);
        g_queue_push_tail(&engine->returned, work);
        g_atomic_int_add(&engine->callbacks, -1);
        engine_signal(engine);
    }
    return NULL;
}

void engine_host_call(Engine *engine, Work *work)
{
    const EngineGate *gate = engine->spec.gate;
    pthread_t thread;

    engine_disturbed(engine);
    sim_stop(engine->sim);
    if (work->request.client != 0) {
        gate->host_call(gate->self, work->request.client, work->request.function, work->request.argument, work);
        return;
    }
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
