/* Rounds of queries (docs/time.md): a thread that polls several streams and events, one after the other, looks at all
 * of them at one moment, and its round lets one quantum of simulated time pass, however many there are.
 *
 * A thread's first query at a moment waits for a quantum. At the moment that it has reached, each other stream or event
 * is looked at without further time; the first that is asked about a second time begins the next round. A real host
 * asks about eight streams within a microsecond or two; what its calls cost is what cuda.host_cost adds, for each. */
#include "machine/engine/internal.h"

#define ROUND_MAX 256u /* streams and events: a program that makes a new event for each query is to end, too */

typedef struct {
    guint n;
    guint64 asked[ROUND_MAX];
} Round;

static guint64 thread_of(const EngineRequest *request)
{
    return (guint64)request->order.process << 32 | request->order.thread;
}

static guint64 asked_of(const EngineRequest *request)
{
    return request->op == ENGINE_QUERY_STREAM ? (guint64)request->stream << 1 : (guint64)request->event << 1 | 1;
}

/* What was asked at another moment is past. */
static Round *round_now(Engine *engine, const EngineRequest *request)
{
    EngineRounds *rounds = &engine->rounds;
    const guint64 thread = thread_of(request);

    if (!rounds->of_threads)
        rounds->of_threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    if (rounds->at_ps != sim_now_ps(engine->sim))
        g_hash_table_remove_all(rounds->of_threads);
    rounds->at_ps = sim_now_ps(engine->sim);
    return g_hash_table_lookup(rounds->of_threads, &thread);
}

gboolean engine_rounds_goes_on(Engine *engine, const EngineRequest *request)
{
    const Round *round = round_now(engine, request);
    const guint64 asked = asked_of(request);

    if (!round || round->n == ROUND_MAX)
        return FALSE;
    for (guint i = 0; i < round->n; i++)
        if (round->asked[i] == asked)
            return FALSE;
    return TRUE;
}

void engine_rounds_note(Engine *engine, const EngineRequest *request)
{
    Round *round = round_now(engine, request);
    guint64 thread = thread_of(request);

    if (!round) {
        round = g_new(Round, 1);
        round->n = 0;
        g_hash_table_insert(engine->rounds.of_threads, g_memdup2(&thread, sizeof thread), round);
    }
    round->asked[round->n++] = asked_of(request);
}
