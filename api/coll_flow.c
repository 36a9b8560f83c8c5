/* Collectives at a fidelity: see CollFidelity in coll.h.
 *
 * AUTO above COLL_AUTO_BYTES: the same collective at COLL_ANCHOR_BYTES is simulated in packets and
 * in flows, and the difference of the two (start, end, first windows: what does not grow with the
 * size) is added to the time in flows at the size that was asked for. With more than
 * COLL_ANCHOR_RANKS ranks a size that is small enough to be worth it says nothing about a large
 * one, and flows stand alone. The links' counters include the short runs. */
#include "api/coll_internal.h"

#define COLL_ANCHOR_BYTES (4u << 20)
#define COLL_ANCHOR_RANKS 16u

gboolean coll_has_flows(const CollSpec *spec)
{
    return spec->op != COLL_BARRIER &&
           (spec->fidelity == COLL_FLOW ||
            (spec->fidelity == COLL_FIDELITY_AUTO && spec->bytes > COLL_AUTO_BYTES));
}

static gboolean coll_run_flows(CollGroup *group, const CollSpec *spec, CollResult *result,
                               GError **error)
{
    device_flow_begin(group->fabric);
    if (!coll_run_one(group, spec, result, error))
        return FALSE; /* stuck: what still runs is left to its owner */
    device_flow_end(group->fabric);
    return TRUE;
}

static guint64 coll_shift(guint64 value, guint64 right, guint64 wrong)
{
    return value + right > wrong ? value + right - wrong : 1;
}

gboolean coll_run_fidelity(CollGroup *group, const CollSpec *spec, CollResult *result,
                           GError **error)
{
    CollSpec anchor = *spec;
    CollResult packets, flows;
    CollAlgo algo;
    CollProto proto;
    if (!coll_has_flows(spec))
        return coll_run_one(group, spec, result, error);
    if (spec->fidelity == COLL_FLOW || group->n > COLL_ANCHOR_RANKS)
        return coll_run_flows(group, spec, result, error);
    coll_choice(group, spec, &algo, &proto); /* of the size asked for */
    guint64 whole = numeric_type_bytes(spec->type) * group->n * 16;
    anchor.algo = algo;
    anchor.proto = proto;
    anchor.bytes = COLL_ANCHOR_BYTES / whole * whole;
    if (!coll_run_one(group, &anchor, &packets, error) ||
        !coll_run_flows(group, &anchor, &flows, error) ||
        !coll_run_flows(group, spec, result, error))
        return FALSE;
    coll_rate(group, spec, result, coll_shift(result->time_ps, packets.time_ps, flows.time_ps),
              coll_shift(result->kernel_ps, packets.kernel_ps, flows.kernel_ps));
    return TRUE;
}
