/* The fastest algorithm and protocol of each communication, with multicast and without.
 *
 * Every kind of communication in the jobs is simulated alone, from a quiet fabric, with each
 * algorithm and protocol that can do it: in packets up to CHOICE_CROSSINGS crossings of links, above
 * as flows, which are within a few percent of packets and cost little; where the replay is of flows, as
 * flows always. So what is chosen does not see what overlaps it in the replay; the replay does.
 *
 * What cannot win is not simulated: protocols with a flag beside the data above the sizes at which
 * their half (LL) of the bandwidth outweighs their latency, algorithms that move the whole buffer to
 * every rank above what that is worth, and rings of many ranks for little data, whose steps alone
 * take longer than any tree. */
#include <string.h>

#include "traces/replay/episode.h"

#define CHOICE_CROSSINGS 1000000u
#define CHOICE_LL_BYTES (1u << 20)
#define CHOICE_LL128_BYTES (4u << 20)
#define CHOICE_COPIES_BYTES (8u << 20) /* one shot: size times the other ranks */
#define CHOICE_RING_RANKS 16u
#define CHOICE_RING_BYTES (64u << 10) /* a rank */

typedef struct {
    gboolean any;
    CollAlgo algo;
    CollProto proto;
    SimTime time_ps;
} Candidate;

typedef struct {
    Candidate unicast, multicast;
} Choice;

struct ReplayChoices {
    GHashTable *by_key; /* text of the work, no algorithm wanted -> Choice */
};

ReplayChoices *replay_choices_new(void)
{
    ReplayChoices *choices = g_new(ReplayChoices, 1);
    choices->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return choices;
}

void replay_choices_free(ReplayChoices *choices)
{
    if (choices != NULL) {
        g_hash_table_destroy(choices->by_key);
        g_free(choices);
    }
}

static void offer(Candidate *best, const CollResult *result)
{
    if (!best->any || result->time_ps < best->time_ps) {
        *best = (Candidate){TRUE, result->algo, result->proto, result->time_ps};
    }
}

/* Data and flags in one store: packets at every fidelity, and all of them at once in every rank's memory. */
static gboolean is_flags(const CollSpec *spec)
{
    return spec->proto == COLL_LL || spec->algo == COLL_SYM_LL || spec->algo == COLL_SYM_LLMC ||
           spec->algo == COLL_LAMPORT;
}

static gboolean may_win(const CollSpec *spec, guint32 ranks)
{
    gboolean flags = is_flags(spec);
    if ((flags && spec->bytes > CHOICE_LL_BYTES) ||
        (spec->proto == COLL_LL128 && spec->bytes > CHOICE_LL128_BYTES)) {
        return FALSE;
    }
    gboolean whole = spec->op == COLL_ALL_REDUCE &&
                     (flags ? spec->proto == COLL_SIMPLE
                            : spec->algo == COLL_ONESHOT || spec->algo == COLL_NVLS_ONESHOT);
    if (whole && ranks > 2 && spec->bytes > CHOICE_COPIES_BYTES / (ranks - 1)) {
        return FALSE;
    }
    return spec->algo != COLL_RING || ranks <= CHOICE_RING_RANKS ||
           spec->bytes >= (guint64)ranks * CHOICE_RING_BYTES;
}

/* One algorithm and protocol, if it can do it. FALSE and error: it got stuck. */
static gboolean try_one(CollGroup *group, const CollSpec *spec, gboolean flow, Choice *choice, GError **error)
{
    CollSpec candidate = *spec;
    CollResult result;
    guint32 ranks = coll_group_ranks(group);
    candidate.fidelity = COLL_FIDELITY_AUTO;
    candidate.crossings = CHOICE_CROSSINGS;
    gboolean small = coll_fidelity(ranks, &candidate) == COLL_PACKET;
    candidate.fidelity = small && !flow ? COLL_PACKET : COLL_FLOW;
    gboolean costly = flow && !small && (is_flags(&candidate) || candidate.proto == COLL_LL128); /* never flows */
    if (costly || !may_win(&candidate, ranks) || !coll_check(group, &candidate, NULL)) {
        return TRUE;
    }
    GError *why = NULL;
    if (!coll_run(group, &candidate, &result, &why)) {
        if (g_error_matches(why, COLL_ERROR, COLL_ERROR_SYSTEM)) { /* the switches' tables have no room for the team */
            g_error_free(why);
            return TRUE;
        }
        g_propagate_error(error, why);
        return FALSE;
    }
    offer(replay_algo_is_multicast(result.algo) ? &choice->multicast : &choice->unicast, &result);
    return TRUE;
}

static gboolean try_all(const ReplaySpec *spec, const EpisodeWork *work, Choice *choice,
                        GError **error)
{
    SimSpec sim_spec = spec->sim;
    Sim *sim = sim_new(&sim_spec, error);
    FabricSpec quiet = *spec->fabric;
    quiet.fault.lasting = TRUE; /* what will break later is not known to a library */
    Fabric *fabric = sim != NULL ? fabric_new(sim, &quiet, FALSE, error) : NULL;
    CollGroup *group =
        fabric != NULL ? coll_group_new(fabric, work->gpu, work->n, error) : NULL;
    gboolean ok = group != NULL;
    CollSpec coll = episode_coll_spec(work);
    coll.ctas = replay_ctas(spec->fabric);
    const CollAlgoList all = coll_algos_of(coll.op);
    for (const CollAlgo *algo = all.algo; ok && *algo != COLL_ALGOS; algo++) {
        for (guint proto = COLL_SIMPLE; ok && proto < COLL_PROTOS; proto++) {
            coll.algo = *algo;
            coll.proto = (CollProto)proto;
            ok = try_one(group, &coll, spec->flow, choice, error);
        }
    }
    if (ok) { /* else kernels that are stuck still hold what the group has */
        coll_group_free(group);
    }
    if (fabric != NULL) {
        fabric_free(fabric);
    }
    if (sim != NULL) {
        sim_free(sim);
    }
    return ok;
}

void replay_choice(const ReplaySpec *spec, const EpisodeWork *work, CollAlgo *algo,
                   CollProto *proto)
{
    CollOp op = episode_coll_op(work->op);
    *algo = op == COLL_OPS ? COLL_AUTO : spec->algo[op];
    *proto = COLL_PROTO_AUTO;
    if (*algo != COLL_BEST) {
        return;
    }
    EpisodeWork plain = *work;
    plain.algo = COLL_AUTO;
    plain.proto = COLL_PROTO_AUTO;
    char *key = episode_work_key(&plain);
    const Choice *choice = g_hash_table_lookup(spec->choices->by_key, key);
    g_free(key);
    *algo = COLL_AUTO; /* moves nothing, or nothing of the library's can do it */
    if (choice == NULL) {
        return;
    }
    gboolean multicast =
        !spec->unicast && choice->multicast.any &&
        (!choice->unicast.any || choice->multicast.time_ps < choice->unicast.time_ps);
    const Candidate *best = multicast ? &choice->multicast : &choice->unicast;
    if (best->any) {
        *algo = best->algo;
        *proto = best->proto;
    }
}

gboolean replay_choose(const ReplaySpec *spec, const ReplayJob *jobs, guint n, GError **error)
{
    guint64 done = 0, all = 0;
    for (guint j = 0; j < n; j++) {
        all += jobs[j].match->items->len;
    }
    gboolean ok = TRUE;
    for (guint j = 0; j < n && ok; j++) {
        guint16 *gpu = g_new(guint16, jobs[j].trace->world + 2);
        for (guint i = 0; i < jobs[j].match->items->len && ok; i++) {
            EpisodeWork work;
            gboolean wanted = !g_array_index(jobs[j].match->items, MatchItem, i).skipped &&
                              episode_work(&jobs[j], i, &work, gpu) &&
                              episode_coll_op(work.op) != COLL_OPS;
            char *key = wanted ? episode_work_key(&work) : NULL;
            if (wanted && !g_hash_table_contains(spec->choices->by_key, key)) {
                Choice *choice = g_new0(Choice, 1);
                ok = try_all(spec, &work, choice, error);
                g_hash_table_insert(spec->choices->by_key, g_steal_pointer(&key), choice);
            }
            g_free(key);
            if (spec->progress != NULL) {
                spec->progress(spec->user, ++done, all);
            }
        }
        g_free(gpu);
    }
    return ok;
}
