/* Collectives at a fidelity: see CollFidelity in coll.h.
 *
 * AUTO, up to spec->crossings link crossings: every packet. Above: flows at the size that was asked for. Of the few
 * algorithms that flows are further off than 4 % (flow_needs_samples of the descriptor; docs/performance.md), with
 * their rates and their fixed part measured in packets: the same collective is simulated in packets and in flows at two
 * smaller sizes A and 4A; what lies between those two times is what packets take in the steady state, and
 *
 *     time = packets(4A) + (flows(size) - flows(4A)) * (packets(4A) - packets(A)) / (flows(4A) - flows(A)).
 *
 * So nothing is tuned: the flows give the shape (rounds, chunks, tails of loops), the packets the scale.
 * 4A is COLL_ANCHOR_BYTES a rank: with less, what packets take from one size to the next still varies by
 * 4 % (loads), and rings, whose CTAs wait for each other, have not come to their steady state. Pipelines that
 * move much at once (NCCL's own NVLS) have 4 and 8 of their turns instead when that is more; all_gather
 * by NCCL's own NVLS 16 and 32, its CTAs coming out of step late.
 * The short runs have simulations of their own; the counters tell of the run in flows alone. With more than
 * COLL_ANCHOR_RANKS ranks what can be afforded of packets is too short to have a steady state, and flows stand alone.
 * With so many ranks flows take long themselves: a pipeline of twice COLL_FEW_TURNS turns or more runs so many of them
 * and what is left of a turn, and half as many with that; each further turn takes what the second half's do, and the
 * counters tell of these turns.
 */
#include "coll/internal.h"

#include "model/flow/rates.h"

#define COLL_ANCHOR_BYTES (16ull << 20)
#define COLL_ANCHOR_RANKS 16u
#define COLL_FEW_TURNS 16u /* the first eight fill the slots of each channel (nvls_buffered.c) */

/* Link crossings of a line, all ranks together: requests, data and answers. Good to a third. */
static guint64 coll_crossings_line(const CollSpec *spec, guint64 n)
{
    guint64 line = spec->op == COLL_ALL_REDUCE ? 4 * n + 4 : 2 * n + 2;
    return spec->algo == COLL_ONESHOT ? line * n : line;
}

static guint64 coll_crossings_max(const CollSpec *spec)
{
    return spec->crossings ? spec->crossings : COLL_AUTO_CROSSINGS;
}

guint64 coll_link_crossings(guint32 ranks, const CollSpec *spec)
{
    const guint64 times = spec->warmup + MAX(spec->iterations, 1);
    return spec->bytes / LINE_BYTES * times * coll_crossings_line(spec, ranks);
}

CollFidelity coll_fidelity(guint32 ranks, const CollSpec *spec)
{
    const CollRow *row = coll_row(spec->op, spec->algo);
    if (spec->op == COLL_BARRIER || spec->fidelity == COLL_PACKET || (row && row->no_flows))
        return COLL_PACKET;
    if (spec->fidelity == COLL_FLOW)
        return COLL_FLOW;
    if (coll_link_crossings(ranks, spec) <= coll_crossings_max(spec))
        return COLL_PACKET;
    return row && row->flow_needs_samples && ranks <= COLL_ANCHOR_RANKS ? COLL_FIDELITY_AUTO : COLL_FLOW;
}

static gboolean coll_run_flows(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error)
{
    device_flow_begin(group->fabric);
    if (!coll_run_one(group, spec, result, error))
        return FALSE; /* stuck: what still runs is left to its owner */
    device_flow_end(group->fabric);
    return TRUE;
}

/* On a fabric of its own, so that the caller's counters know nothing of it. */
static gboolean coll_run_apart(const CollGroup *group, const CollSpec *spec, gboolean flows, CollResult *result,
                               GError **error)
{
    const SimSpec sim_spec = {.seed = sim_seed(group->fabric->sim), .engine = sim_engine(group->fabric->sim)};
    Sim *sim = sim_new(&sim_spec, error);
    Fabric *fabric = sim ? fabric_new(sim, &group->fabric->spec, FALSE, error) : NULL;
    CollGroup *apart = fabric ? coll_group_new(fabric, group->gpu, group->n, error) : NULL;
    if (!apart)
        return FALSE;
    Recording *recording = coll_watch(apart, group, spec);
    gboolean good = (flows ? coll_run_flows : coll_run_one)(apart, spec, result, error);
    recording_end(recording, NULL);
    recording_free(recording);
    if (!good)
        return FALSE; /* of a spec that runs elsewhere; if stuck, what still runs stays */
    coll_group_free(apart);
    fabric_free(fabric);
    sim_free(sim);
    return TRUE;
}

/* Sizes of the smaller and the larger one: whole elements on every rank, and whole turns of a pipeline, enough
 * of them that it is full. */
static void coll_anchor_bytes(const CollGroup *group, const CollSpec *spec, CollAlgo algo, guint64 bytes[2])
{
    guint64 least = COLL_ANCHOR_BYTES * group->n, turn = coll_turn_bytes(group, spec, algo), turns = 0;
    if (turn > COLL_TURN_LEAST)
        turns = algo == COLL_NVLS_BUFFERED && spec->op != COLL_ALL_REDUCE ? 32 : 8;
    bytes[0] = MAX(least / 4, turns / 2 * turn);
    bytes[1] = MAX(least, turns * turn);
}

/* What the two fidelities take for one size. */
typedef struct {
    CollResult packets, flows;
} CollAnchor;

typedef struct {
    CollShape shape;
    CollOp op;
    NumericType type;
    guint64 bytes;
    CollAnchor anchor;
} CollKnownAnchor;

struct CollAnchors {
    GArray *known; /* CollKnownAnchor */
};

CollAnchors *coll_anchors_new(void)
{
    CollAnchors *anchors = g_new(CollAnchors, 1);
    anchors->known = g_array_new(FALSE, FALSE, sizeof(CollKnownAnchor));
    return anchors;
}

void coll_anchors_free(CollAnchors *anchors)
{
    g_array_free(anchors->known, TRUE);
    g_free(anchors);
}

void coll_group_share_anchors(CollGroup *group, CollAnchors *anchors) { group->anchors = anchors; }

static const CollAnchor *coll_find_anchor(const CollAnchors *anchors, const CollKnownAnchor *wanted)
{
    for (guint i = 0; anchors && i < anchors->known->len; i++) {
        const CollKnownAnchor *known = &g_array_index(anchors->known, CollKnownAnchor, i);
        if (known->bytes == wanted->bytes && known->op == wanted->op && known->type == wanted->type &&
            coll_shape_equal(&known->shape, &wanted->shape))
            return &known->anchor;
    }
    return NULL;
}

static gboolean coll_run_anchor(const CollGroup *group, const CollSpec *spec, CollAnchor *anchor, GError **error)
{
    CollKnownAnchor new = {.shape = coll_shape(group, spec), .op = spec->op, .type = spec->type, .bytes = spec->bytes};
    const CollAnchor *known = coll_find_anchor(group->anchors, &new);
    if (known) {
        *anchor = *known;
        return TRUE;
    }
    if (!coll_run_apart(group, spec, FALSE, &anchor->packets, error) ||
        !coll_run_apart(group, spec, TRUE, &anchor->flows, error))
        return FALSE;
    new.anchor = *anchor;
    if (group->anchors)
        g_array_append_val(group->anchors->known, new);
    return TRUE;
}

static gboolean coll_run_anchored(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error)
{
    CollAnchor small, large;
    CollSpec anchor = *spec;
    coll_choice(group, spec, &anchor.algo, &anchor.proto); /* of the size asked for */
    anchor.as_bytes = spec->bytes;
    guint64 bytes[2];
    coll_anchor_bytes(group, spec, anchor.algo, bytes);
    anchor.bytes = bytes[1];
    anchor.iterations = 1;
    anchor.warmup = 0;
    if (!coll_run_anchor(group, &anchor, &large, error))
        return FALSE;
    guint64 more_ps = result->time_ps - MIN(result->time_ps, large.flows.time_ps);
    anchor.bytes = bytes[0];
    if (!coll_run_anchor(group, &anchor, &small, error))
        return FALSE;
    if (large.packets.time_ps > small.packets.time_ps && large.flows.time_ps > small.flows.time_ps)
        more_ps = flow_part(more_ps, large.packets.time_ps - small.packets.time_ps,
                            large.flows.time_ps - small.flows.time_ps);
    coll_rate(group, spec, result, large.packets.time_ps + more_ps, large.packets.kernel_ps + more_ps);
    return TRUE;
}

/* Bytes of the turns that stand for a longer run's; 0: all of it runs. */
static guint64 coll_few_turns(const CollGroup *group, const CollSpec *spec, CollAlgo algo)
{
    guint64 turn = coll_turn_bytes(group, spec, algo), few = COLL_FEW_TURNS * turn;
    return group->n > COLL_ANCHOR_RANKS && turn > COLL_TURN_LEAST && spec->bytes >= 2 * few ? few : 0;
}

static gboolean coll_run_few_turns(CollGroup *group, const CollSpec *spec, guint64 few, CollResult *result,
                                   GError **error)
{
    CollResult half;
    CollSpec turns = *spec;
    coll_choice(group, spec, &turns.algo, &turns.proto); /* of the size asked for */
    turns.as_bytes = spec->bytes;
    const guint64 rest = spec->bytes % (few / COLL_FEW_TURNS);
    turns.bytes = few / 2 + rest;
    if (!coll_run_apart(group, &turns, TRUE, &half, error))
        return FALSE;
    turns.bytes = few + rest;
    if (!coll_run_flows(group, &turns, result, error))
        return FALSE;
    guint64 more_ps = flow_part(result->time_ps - MIN(half.time_ps, result->time_ps), spec->bytes - few - rest,
                                few / 2);
    coll_rate(group, spec, result, result->time_ps + more_ps, result->kernel_ps + more_ps);
    result->few_turns = TRUE;
    return TRUE;
}

/* Flows know no trunks, faults in time, merging; LL and symmetric kernels have no loops that could be flows. */
gboolean coll_flows_apply(const CollGroup *group, CollProto proto)
{
    return proto == COLL_SIMPLE && !group->fabric->n_trunks && !fabric_needs_packets(&group->fabric->spec);
}

gboolean coll_run_fidelity(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error)
{
    CollAlgo algo;
    CollProto proto;
    CollSpec chosen = *spec;
    coll_choice(group, spec, &algo, &proto);
    chosen.algo = algo;
    CollFidelity fidelity = coll_fidelity(group->n, &chosen);
    guint64 anchor[2];
    coll_anchor_bytes(group, spec, algo, anchor);
    gboolean costly = spec->bytes < 2 * anchor[1]; /* as much as the row itself */
    if (!coll_flows_apply(group, proto) || (fidelity == COLL_FIDELITY_AUTO && costly))
        fidelity = COLL_PACKET;
    const guint64 few = fidelity == COLL_FLOW ? coll_few_turns(group, spec, algo) : 0;
    gboolean good = fidelity == COLL_PACKET ? coll_run_one(group, spec, result, error)
                    : few                   ? coll_run_few_turns(group, spec, few, result, error)
                                            : coll_run_flows(group, spec, result, error);
    if (good && fidelity == COLL_FIDELITY_AUTO)
        good = coll_run_anchored(group, spec, result, error);
    result->fidelity = fidelity;
    return good;
}
