/* One piece of work: what it waits for, that it starts when nothing is left of that, and what follows its end.
 *
 * What each kind of work does is handed in as its WorkSteps, so that nothing here knows one. */
#include "machine/engine/internal.h"

#define DEPTH_MAX 256u

Work *engine_work_new(Engine *engine, const EngineRequest *request, EngineContext *context, const WorkSteps *steps)
{
    Work *work = g_new0(Work, 1);

    work->engine = engine;
    work->request = *request;
    work->context = context;
    work->steps = steps;
    work->refs = 1;
    work->waits_for = 1;
    work->followers = g_ptr_array_new();
    work->submit_ps = sim_now_ps(engine->sim);
    return work;
}

Work *engine_work_ref(Work *work)
{
    work->refs++;
    return work;
}

void engine_work_unref(Work *work)
{
    g_assert(work->refs > 0);
    if (--work->refs > 0)
        return;
    g_free(work->staging);
    if (work->steps->clear)
        work->steps->clear(work);
    if (work->of)
        engine_work_unref(work->of);
    g_ptr_array_unref(work->followers);
    g_clear_pointer(&work->dependents, g_ptr_array_unref);
    g_free(work);
}

void engine_work_follow(Work *work, Work *before)
{
    if (!before || before->done || before == work)
        return;
    g_ptr_array_add(before->followers, engine_work_ref(work));
    work->waits_for++;
}

static void start_now(Work *work)
{
    Engine *engine = work->engine; /* the work may be gone when it returns */

    engine->depth++;
    engine_work_start(work);
    engine->depth--;
}

void engine_work_advance(Work *work)
{
    Engine *engine = work->engine;

    g_assert(work->waits_for > 0);
    if (--work->waits_for > 0)
        return;
    if (!work->call && !engine->in_time) { /* in its place among what else this standstill brings */
        g_ptr_array_add(engine->ready, engine_work_ref(work));
        return;
    }
    if (engine->depth >= DEPTH_MAX) { /* what one end lets start may end at once, and so on */
        g_ptr_array_add(engine->deep, engine_work_ref(work));
        return;
    }
    start_now(work);
    while (engine->depth == 0 && engine->deep->len > 0) {
        Work *next = g_ptr_array_steal_index(engine->deep, 0);
        if (!next->done)
            start_now(next);
        engine_work_unref(next);
    }
}

void engine_work_start(Work *work)
{
    work->start_ps = sim_now_ps(work->engine->sim);
    if (!work->call && work->context && (work->context->gone || work->context->fault == FAULT_RESET)) {
        work->never = TRUE;
        g_atomic_int_inc(&work->engine->running);
        engine_work_done(work, FAULT_NONE, work->start_ps);
        return;
    }
    if (!work->call) { /* a wait of a caller is no work under way */
        engine_stream_used(work->engine, work->request.stream);
        g_atomic_int_inc(&work->engine->running);
        g_ptr_array_add(work->engine->active, work);
    }
    work->steps->start(work);
}

void engine_work_done(Work *work, FaultKind fault, SimTime now_ps)
{
    Engine *engine = work->engine;

    g_assert(!work->done);
    work->done = TRUE;
    work->fault = fault;
    work->end_ps = now_ps;
    work->skipped_ps = engine->skipped_ps;
    g_atomic_int_add(&engine->running, -1);
    engine->busy_since_us = 0;
    g_ptr_array_remove(engine->active, work);
    if (fault != FAULT_NONE && work->context->fault == FAULT_NONE &&
        !(fault == FAULT_HOST && work->guarded)) /* its own call is told */
        work->context->fault = fault;
    work->context->unfinished--;
    if (!work->never)
        engine_stats_add(engine, work);
    g_clear_pointer(&work->staging, g_free); /* its stream and events may remember the work for long */
    if (engine->running == 0)
        engine_bury(engine);
    for (guint i = 0; i < work->followers->len; i++) {
        Work *next = g_ptr_array_index(work->followers, i);
        if (next->call || !next->done)
            engine_work_advance(next);
        engine_work_unref(next);
    }
    g_ptr_array_set_size(work->followers, 0);
    if (work->steps->ended)
        work->steps->ended(work);
    engine_work_unref(work); /* the reference of its being under way */
}

void engine_work_unmapped(Work *work, guint64 va)
{
    FabricFault fault = {.kind = FAULT_UNMAPPED,
                         .gpu = (guint16)work->request.gpu,
                         .who = "copy engine",
                         .va = va,
                         .cause = work,
                         .time_ps = sim_now_ps(work->engine->sim)};
    fabric_fault(work->engine->fabric, &fault);
    engine_work_done(work, FAULT_UNMAPPED, fault.time_ps);
}
