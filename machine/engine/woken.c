/* Threads that something else than time has woken (docs/time.md): a message came where they polled. They go on when all
 * others are quiet, all of them at once.
 *
 * Who has sent the message may look, before it sleeps, at what the answer to it changes. Whether the answer is there by
 * then would be the host's choice; here it is not, since who answers waits until the sender sleeps.
 *
 * A thread that computes for long holds time, but not those: what it does is nothing that they could disturb often, and
 * they may be its helpers. Nor does one that a debugger has stopped. */
#include "machine/engine/internal.h"

#include "sim/host_clock.h"

#define COMPUTES_NS 50000000  /* of a processor that a thread has had, before it counts as one that computes */
#define WOKEN_LAST_US 2000000 /* after so long nothing is waited for */

void engine_wait_woken(Engine *engine, EngineCall *call) { g_ptr_array_add(engine->woken, call); }

void engine_wait_quiet(Engine *engine, EngineCall *call)
{
    call->patient = TRUE;
    g_ptr_array_add(engine->woken, call);
}

static gint compare_calls(gconstpointer a, gconstpointer b)
{
    const EngineCall *x = *(EngineCall *const *)a, *y = *(EngineCall *const *)b;

    return engine_order_compare(&x->request.order, &y->request.order);
}

/* Who runs does so for long. */
static gboolean is_computing(Engine *engine)
{
    const TreeRunner *busy = &engine->busy;
    const gint64 now_us = host_clock_us();

    if (busy->tid == 0)
        return FALSE;
    if (busy->tid != engine->computes.tid) {
        engine->computes = *busy;
        engine->computes_since_us = now_us;
    }
    return busy->state == 'T' || busy->state == 't' || busy->ran_ns - engine->computes.ran_ns >= COMPUTES_NS ||
           now_us - engine->computes_since_us >= WOKEN_LAST_US;
}

gboolean engine_woken_go(Engine *engine, gboolean quiet)
{
    if (quiet)
        engine->computes.tid = 0;
    if (engine->woken->len == 0 || (!quiet && !is_computing(engine)))
        return FALSE;
    gboolean some = FALSE;
    g_ptr_array_sort(engine->woken, compare_calls);
    for (guint i = 0; i < engine->woken->len;) {
        EngineCall *call = g_ptr_array_index(engine->woken, i);
        if (call->patient && !quiet) {
            i++;
            continue;
        }
        g_ptr_array_remove_index(engine->woken, i);
        engine_answer(engine, call, ENGINE_OK);
        some = TRUE;
    }
    return some;
}
