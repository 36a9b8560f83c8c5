/* Events that several processes have (cuIpcGetEventHandle): a page of memory counts the records.
 *
 * Each process simulates its own GPUs' time, so that a record is reached when its process's time comes there. What
 * waits for a record of another process looks at the page again and again, as watched memory is looked at. A record
 * that another process waits for is reason enough to let time run in the process that made it, though none of its own
 * calls waits. A process that waits for its own latest record does so without the page, as for any event.
 *
 * Of records in several streams that are reached in another order than they were made, the page keeps the latest: a
 * wait for an earlier one then ends with it. */
#include "machine/engine/internal.h"

#include <sys/mman.h>
#include <unistd.h>

struct EngineShared {
    EventPage *page;
    guint refs;
};

EngineShared *engine_shared_new(EventPage *page)
{
    EngineShared *shared = g_new0(EngineShared, 1);

    *shared = (EngineShared){page, 1};
    return shared;
}

void engine_shared_unref(EngineShared *shared)
{
    if (--shared->refs > 0)
        return;
    munmap(shared->page, sizeof *shared->page);
    g_free(shared);
}

static void share(Work *work, EngineShared *shared, guint64 number)
{
    shared->refs++;
    work->shared = shared;
    work->number = number;
}

static void raise_to(guint64 *word, guint64 value)
{
    guint64 old = __atomic_load_n(word, __ATOMIC_ACQUIRE);

    while (old < value && !__atomic_compare_exchange_n(word, &old, value, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        continue;
}

void engine_shared_record(Work *work, const EngineEvent *event)
{
    EventPage *page = event->shared->page;

    __atomic_store_n(&page->recorder, getpid(), __ATOMIC_RELEASE);
    share(work, event->shared, __atomic_add_fetch(&page->recorded, 1, __ATOMIC_ACQ_REL));
    g_ptr_array_add(work->engine->promised, work);
}

void engine_shared_reached(Work *work)
{
    raise_to(&work->shared->page->done, work->number);
    g_ptr_array_remove(work->engine->promised, work);
}

gboolean engine_shared_complete(const EngineEvent *event)
{
    EventPage *page = event->shared->page;
    guint64 number = __atomic_load_n(&page->recorded, __ATOMIC_ACQUIRE);

    if (__atomic_load_n(&page->done, __ATOMIC_ACQUIRE) >= number)
        return TRUE;
    raise_to(&page->wanted, number);
    return FALSE;
}

gboolean engine_shared_follow(Work *work, const EngineEvent *event)
{
    EventPage *page = event->shared->page;
    guint64 number = __atomic_load_n(&page->recorded, __ATOMIC_ACQUIRE);

    if (event->record && event->record->number == number)
        return FALSE;
    if (__atomic_load_n(&page->done, __ATOMIC_ACQUIRE) >= number)
        return TRUE;
    raise_to(&page->wanted, number);
    share(work, event->shared, number);
    work->waits_for++;
    g_ptr_array_add(work->engine->awaited, engine_work_ref(work));
    return TRUE;
}

void engine_follow_record(Work *work, const EngineEvent *event)
{
    if (!event->shared || !engine_shared_follow(work, event))
        engine_work_follow(work, event->record);
}

void engine_shared_look(Engine *engine)
{
    for (guint i = 0; i < engine->awaited->len;) {
        Work *work = g_ptr_array_index(engine->awaited, i);
        gboolean given_up = work->done; /* its call was answered that all are stuck */
        if (!given_up && __atomic_load_n(&work->shared->page->done, __ATOMIC_ACQUIRE) < work->number) {
            i++;
            continue;
        }
        g_ptr_array_remove_index(engine->awaited, i);
        if (!given_up)
            engine_work_advance(work);
        engine_work_unref(work);
    }
}

gboolean engine_shared_wanted(const Engine *engine)
{
    for (guint i = 0; i < engine->promised->len; i++) {
        const Work *work = g_ptr_array_index(engine->promised, i);
        if (__atomic_load_n(&work->shared->page->wanted, __ATOMIC_ACQUIRE) >= work->number)
            return TRUE;
    }
    return FALSE;
}
