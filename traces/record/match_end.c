/* Does a matched trace come to an end? */
#include "traces/record/graph.h"
#include "traces/record/match_parts.h"

/* Runs the whole trace in no time, to see whether it comes to an end: a collective ends when all
 * its ranks are there, a receive when its send has ended too. */
typedef struct {
    Matcher *m;
    Graph graph;
    guint32 *missing; /* of each item */
    guint8 *done;
    guint32 *queue;
    guint head, tail;
} DryRun;

static void dry_finish(DryRun *dry, guint32 record)
{
    if (!dry->done[record]) {
        dry->done[record] = 1;
        dry->queue[dry->tail++] = record;
    }
}

/* All that a record waits for has ended. */
static void dry_ready(DryRun *dry, guint32 record)
{
    guint32 index = dry->m->match->of_record[record];
    const MatchItem *item = index != MATCH_NONE ? &g_array_index(dry->m->match->items, MatchItem, index) : NULL;
    if (!item || item->skipped) {
        dry_finish(dry, record);
        return;
    }
    const guint32 *members = &g_array_index(dry->m->match->members, guint32, item->first);
    gboolean message = item->op == RECORD_SEND;
    if (message && record == members[0])
        dry_finish(dry, record);
    if (--dry->missing[index] == 0)
        for (guint32 i = 0; i < item->n; i++)
            dry_finish(dry, members[i]);
}

static void dry_drain(DryRun *dry)
{
    while (dry->head < dry->tail) {
        guint32 record = dry->queue[dry->head++];
        for (guint32 u = dry->graph.first[record]; u < dry->graph.first[record + 1]; u++)
            if (--dry->graph.waits[dry->graph.users[u]] == 0)
                dry_ready(dry, dry->graph.users[u]);
    }
}

/* The first communication that some of its ranks reached and others never do. */
static gboolean dry_stuck(DryRun *dry, GError **error)
{
    Match *match = dry->m->match;
    for (guint i = 0; i < match->items->len; i++) {
        MatchItem *item = &g_array_index(match->items, MatchItem, i);
        if (item->skipped || dry->missing[i] == 0)
            continue;
        const guint32 *members = &g_array_index(match->members, guint32, item->first);
        guint32 late = 0;
        while (late + 1 < item->n && dry->graph.waits[members[late]] == 0)
            late++;
        char *one = match_describe(dry->m->trace, members[late]);
        char *text =
            g_strdup_printf("ranks wait for each other for ever: %s is never reached; ranks should make calls in "
                            "an order that lets one of them start",
                            one);
        g_free(one);
        item->skipped = TRUE;
        for (guint32 k = 0; k < item->n; k++)
            if (dry->graph.waits[members[k]] == 0)
                dry_finish(dry, members[k]);
        return match_problem(dry->m, "ranks that wait for each other", text, error);
    }
    return TRUE;
}

gboolean match_check_end(Matcher *m, GError **error)
{
    guint n = m->trace->records->len;
    DryRun dry = {.m = m,
                  .missing = g_new0(guint32, m->match->items->len + 1),
                  .done = g_new0(guint8, n + 1),
                  .queue = g_new(guint32, n + 1)};
    graph_init(&dry.graph, m->trace);
    for (guint i = 0; i < m->match->items->len; i++)
        dry.missing[i] = g_array_index(m->match->items, MatchItem, i).n;
    for (guint i = 0; i < n; i++)
        if (dry.graph.waits[i] == 0)
            dry_ready(&dry, i);
    gboolean ok = TRUE;
    for (dry_drain(&dry); ok && dry.tail < n; dry_drain(&dry))
        ok = dry_stuck(&dry, error);
    graph_clear(&dry.graph);
    g_free(dry.missing);
    g_free(dry.done);
    g_free(dry.queue);
    return ok;
}
