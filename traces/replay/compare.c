/* How a replay is compared with the best, so that nobody waits longer for the comparison than for the replay.
 *
 * Estimated before anything runs, from the trace and from what the replay carried, so that the answer depends neither
 * on the machine nor on the engine nor on what was remembered. The unit is a flit on a link, in packets: 16 B, some
 * 60 ns of a processor. Finding the best of one kind of communication takes some ten runs, each in packets as long as
 * it is short, else as flows, which take about as long whatever the size.
 *
 *     carried <= COMPARE_SMALL          in packets, as the replay
 *     else                              in flows
 *     more than the replay, and than COMPARE_PATIENCE:   not at all, which a note says */
#include "traces/replay/episode.h"

#define COMPARE_SMALL 100000000u    /* flits: 1.6 GB over all links, some six seconds */
#define COMPARE_PATIENCE 200000000u /* flits, about: some twelve seconds are not worth a question */
#define COMPARE_CANDIDATES 10u
#define COMPARE_KIND_MAX 10000000u /* flits that ten flows are worth */

typedef struct {
    guint64 kinds, flits; /* different collectives; of finding the best of each */
} CompareCost;

/* A collective that has a best; work is filled then, its GPUs in `gpu`. */
static gboolean compare_takes(const ReplayJob *job, guint i, EpisodeWork *work, guint16 *gpu)
{
    return !g_array_index(job->match->items, MatchItem, i).skipped && episode_work(job, i, work, gpu) &&
           episode_coll_op(work->op) != COLL_OPS;
}

static CompareCost compare_cost(const ReplayJob *jobs, guint n)
{
    CompareCost cost = {0};
    GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint j = 0; j < n; j++) {
        g_autofree guint16 *gpu = g_new(guint16, jobs[j].trace->world + 2);
        for (guint i = 0; i < jobs[j].match->items->len; i++) {
            EpisodeWork work;
            if (!compare_takes(&jobs[j], i, &work, gpu) || !g_hash_table_add(seen, episode_work_key(&work)))
                continue;
            const double flits = (double)work.bytes / 16 * 2 * work.n * COMPARE_CANDIDATES;
            cost.flits += (guint64)MIN(flits, (double)COMPARE_KIND_MAX);
            cost.kinds++;
        }
    }
    g_hash_table_destroy(seen);
    return cost;
}

ReplayCompare replay_compare_how(const ReplaySpec *spec, const ReplayJob *jobs, guint n, const ReplayResult *result,
                                 ReplayCompare wanted, char **note)
{
    const CompareCost cost = compare_cost(jobs, n);
    guint64 carried = 0;
    for (gsize i = 0; i < result->usage.ways; i++)
        carried += result->usage.flits[i];
    *note = NULL;
    if (cost.kinds == 0 || spec->fabric->mctable.entries == 0)
        return REPLAY_COMPARE_NOT; /* there is nothing to compare */
    if (wanted != REPLAY_COMPARE_AUTO)
        return wanted;
    const gboolean flows = spec->flow || result->usage.trunks == 0; /* they know no trunks */
    const gboolean small = carried <= COMPARE_SMALL;
    const guint64 again = small || flows ? 0 : 2 * carried;
    if (cost.flits + again > MAX(COMPARE_PATIENCE, spec->flow ? 0 : carried)) {
        *note = g_strdup_printf(
            "not compared with what is best with multicast and without: to find that for %" G_GUINT64_FORMAT
            " kinds of communication would take longer than the replay (--compare packet or flow "
            "does it)",
            cost.kinds);
        return REPLAY_COMPARE_NOT;
    }
    if (small || spec->flow || !flows)
        return spec->flow ? REPLAY_COMPARE_FLOWS : REPLAY_COMPARE_PACKETS;
    *note = g_strdup("compared in flows, which are within a few percent of packets, since in packets that would take "
                     "longer than the replay (--compare packet does it)");
    return REPLAY_COMPARE_FLOWS;
}

gboolean replay_choose(const ReplaySpec *spec, const ReplayJob *jobs, guint n, GError **error)
{
    guint64 done = 0, all = 0;
    for (guint j = 0; j < n; j++)
        all += jobs[j].match->items->len;
    gboolean ok = TRUE;
    for (guint j = 0; j < n && ok; j++) {
        g_autofree guint16 *gpu = g_new(guint16, jobs[j].trace->world + 2);
        for (guint i = 0; i < jobs[j].match->items->len && ok; i++) {
            EpisodeWork work;
            if (compare_takes(&jobs[j], i, &work, gpu))
                ok = replay_choose_one(spec, &work, error);
            if (spec->progress)
                spec->progress(spec->user, ++done, all);
        }
    }
    return ok;
}
