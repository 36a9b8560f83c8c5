/* Values in memory as work of streams: cuStreamWriteValue and cuStreamWaitValue. */
#include "machine/engine/internal.h"

#include <string.h>

/* The word that a value operation is about, or NULL when bytes are not kept. */
static guint8 *word_at(Work *work, MemRegion **region, guint64 *offset)
{
    Vas *vas = engine_vas(work->engine, work->request.client);

    return vas_poll(vas, vas_find(vas, work->request.address), work->request.address, region, offset);
}

static void write_value(Work *work)
{
    Engine *engine = work->engine;
    const EngineRequest *r = &work->request;
    MemRegion *region = NULL;
    guint64 offset = 0;
    guint8 *word = word_at(work, &region, &offset);

    if (!region) {
        engine_work_unmapped(work, r->address);
        return;
    }
    if (word)
        memcpy(word, &r->value, r->width);
    memory_written(engine->fabric->memory, region->id, offset, r->width, sim_now_ps(engine->sim));
    engine_work_done(work, FAULT_NONE, sim_now_ps(engine->sim));
}

static gboolean value_holds(const EngineRequest *r, const guint8 *word)
{
    guint64 value = 0;

    memcpy(&value, word, r->width);
    switch (r->access & 3) {
    case 0: /* GEQ, cyclic */
        return r->width == 4 ? (gint32)((guint32)value - (guint32)r->value) >= 0 : (gint64)(value - r->value) >= 0;
    case 1: return value == r->value;
    case 2: return (value & r->value) != 0;
    default: return ~(value | r->value) << (64 - 8 * r->width) != 0;
    }
}

static void watch_value(Work *work);

static void watch_fired(MemWatch *watch, SimTime now_ps)
{
    (void)now_ps;
    watch_value(EVENT_OWNER(watch, Work, watch));
}

/* A poll of memory is a watch on it: time need not pass for it, and nothing spins. */
static void watch_value(Work *work)
{
    Engine *engine = work->engine;
    MemRegion *region = NULL;
    guint64 offset = 0;
    guint8 *word = word_at(work, &region, &offset);

    if (!region)
        engine_work_unmapped(work, work->request.address);
    else if (!word || value_holds(&work->request, word))
        engine_work_done(work, FAULT_NONE, sim_now_ps(engine->sim));
    else
        memory_watch(engine->fabric->memory, &work->watch, region, offset, work->request.width, watch_fired);
}

void engine_value_give_up(Work *work)
{
    memory_unwatch(work->engine->fabric->memory, &work->watch);
    engine_work_done(work, FAULT_NONE, sim_now_ps(work->engine->sim));
}

const WorkSteps engine_write_value_steps = {.start = write_value};
const WorkSteps engine_wait_value_steps = {.start = watch_value};
