/* The fastest algorithm and protocol of each communication, with multicast and without.
 *
 * Every kind of communication in the jobs is simulated alone, from a quiet fabric, with each
 * algorithm and protocol that can do it, until it cannot win: in packets up to CHOICE_CROSSINGS crossings, above
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
    if (choices)
        g_hash_table_destroy(choices->by_key);
    g_free(choices);
}

static void offer(Candidate *best, const CollResult *result)
{
    if (!best->any || result->time_ps < best->time_ps)
        *best = (Candidate){TRUE, result->algo, result->proto, result->time_ps};
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
    if ((flags && spec->bytes > CHOICE_LL_BYTES) || (spec->proto == COLL_LL128 && spec->bytes > CHOICE_LL128_BYTES))
        return FALSE;
    gboolean whole = spec->op == COLL_ALL_REDUCE &&
                     (flags ? spec->proto == COLL_SIMPLE
                            : spec->algo == COLL_ONESHOT || spec->algo == COLL_NVLS_ONESHOT);
    if (whole && ranks > 2 && spec->bytes > CHOICE_COPIES_BYTES / (ranks - 1))
        return FALSE;
    return spec->algo != COLL_RING || ranks <= CHOICE_RING_RANKS || spec->bytes >= (guint64)ranks * CHOICE_RING_BYTES;
}

/* What takes longer is not chosen: of those with multicast, what is slower than the best without, either. 0: none. */
static guint64 choice_limit_ps(const Choice *choice, CollAlgo algo)
{
    guint64 limit_ps = choice->unicast.any ? choice->unicast.time_ps : 0;
    if (replay_algo_is_multicast(algo) && choice->multicast.any)
        limit_ps = limit_ps ? MIN(limit_ps, choice->multicast.time_ps) : choice->multicast.time_ps;
    return limit_ps;
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
    if (costly || !may_win(&candidate, ranks) || !coll_check(group, &candidate, NULL))
        return TRUE;
    GError *why = NULL;
    if (!coll_try(group, &candidate, choice_limit_ps(choice, candidate.algo), &result, &why)) {
        if (g_error_matches(why, COLL_ERROR, COLL_ERROR_LATE) || g_error_matches(why, COLL_ERROR, COLL_ERROR_SYSTEM)) {
            g_error_free(why); /* it cannot win; or the switches' tables have no room for the team */
            return TRUE;
        }
        g_propagate_error(error, why);
        return FALSE;
    }
    offer(replay_algo_is_multicast(result.algo) ? &choice->multicast : &choice->unicast, &result);
    return TRUE;
}

static gboolean try_all(const ReplaySpec *spec, const EpisodeWork *work, Choice *choice, GError **error)
{
    SimSpec sim_spec = spec->sim;
    Sim *sim = sim_new(&sim_spec, error);
    FabricSpec quiet = *spec->fabric;
    quiet.fault.lasting = TRUE; /* what will break later is not known to a library */
    Fabric *fabric = sim ? fabric_new(sim, &quiet, FALSE, error) : NULL;
    CollGroup *group = fabric ? coll_group_new(fabric, work->gpu, work->n, error) : NULL;
    gboolean ok = group != NULL;
    CollSpec coll = episode_coll_spec(work);
    coll.ctas = replay_ctas(spec->fabric);
    const CollAlgoList all = coll_algos_of(coll.op);
    for (guint pass = 0; pass < 2; pass++) /* those without multicast first, whose best is wanted whatever it takes */
        for (const CollAlgo *algo = all.algo; ok && *algo != COLL_ALGOS; algo++)
            for (guint proto = COLL_SIMPLE; ok && proto < COLL_PROTOS; proto++) {
                coll.algo = *algo;
                coll.proto = (CollProto)proto;
                if (replay_algo_is_multicast(*algo) == (pass == 1))
                    ok = try_one(group, &coll, spec->flow, choice, error);
            }
    if (group)
        coll_group_free(group);
    if (fabric)
        fabric_free(fabric);
    sim_free(sim);
    return ok;
}

void replay_choice(const ReplaySpec *spec, const EpisodeWork *work, CollAlgo *algo, CollProto *proto)
{
    CollOp op = episode_coll_op(work->op);
    *algo = op == COLL_OPS ? COLL_AUTO : spec->algo[op];
    *proto = COLL_PROTO_AUTO;
    if (*algo != COLL_BEST)
        return;
    EpisodeWork plain = *work;
    plain.algo = COLL_AUTO;
    plain.proto = COLL_PROTO_AUTO;
    char *key = episode_work_key(&plain);
    const Choice *choice = g_hash_table_lookup(spec->choices->by_key, key);
    g_free(key);
    *algo = COLL_AUTO; /* moves nothing, or nothing of the library's can do it */
    if (!choice)
        return;
    gboolean multicast = !spec->unicast && choice->multicast.any &&
                         (!choice->unicast.any || choice->multicast.time_ps < choice->unicast.time_ps);
    const Candidate *best = multicast ? &choice->multicast : &choice->unicast;
    if (best->any) {
        *algo = best->algo;
        *proto = best->proto;
    }
}

gboolean replay_choose_one(const ReplaySpec *spec, const EpisodeWork *work, GError **error)
{
    g_autofree char *key = episode_work_key(work);
    if (g_hash_table_contains(spec->choices->by_key, key))
        return TRUE;
    Choice *choice = g_new0(Choice, 1);
    g_hash_table_insert(spec->choices->by_key, g_steal_pointer(&key), choice);
    return try_all(spec, work, choice, error);
}
