/* The fastest of the algorithms and protocols that can do it: each is simulated, as long as it can still win.
 *
 * A candidate ends where it has taken longer than the best so far, and is not begun at all where the bytes that it
 * moves over a GPU's links take longer. Those that move fewest come first, so that most others end early: 14
 * candidates of 36 ranks cost little more than the two or three that are close. Where packets cost seconds, a candidate
 * runs in flows first, which cost a hundredth: one that is an eighth slower there than the best so far is not begun in
 * packets (flows are at most 6 % off packets; docs/flows.md). Candidates run in simulations of their own; the winner
 * runs once more in the group's, whose counters know of nothing else. What else could differ among protocols (LL's
 * lines have no loops that could be flows) stays out of a search in flows. */
#include "coll/internal.h"
#include "device/launch_time.h"

#define BEST_FLOW_CROSSINGS 4000000u /* half a second and more in packets */
#define BEST_FLOW_RANKS 16u          /* above, flows of many short loops cost more than packets */
#define BEST_FLOW_MARGIN 8           /* an eighth: twice the 6 % that flows may be off */

typedef struct {
    CollAlgo algo;
    CollProto proto;
    guint64 least_ps; /* it cannot be faster */
} Candidate;

/* Bytes that some GPU must receive or send, in bytes / ranks. */
static guint64 best_parts(const CollSpec *spec, CollAlgo algo, guint64 n)
{
    const CollAlgorithm *own = coll_algorithm(algo);
    if (own->parts)
        return own->parts(spec->op, n);
    return coll_needs_multicast(spec->op, algo) && spec->op == COLL_REDUCE_SCATTER ? 1 : n - 1;
}

static guint64 best_least_ps(const CollGroup *group, const CollSpec *spec, CollAlgo algo, CollProto proto)
{
    const FabricSpec *fabric = &group->fabric->spec;
    guint64 MBps = MAX(fabric->link.rate_MBps * group->fabric->links, 1);
    double bytes = (double)spec->bytes / group->n * (double)best_parts(spec, algo, group->n);
    double ll = proto == COLL_LL ? 2 : proto == COLL_LL128 ? 16.0 / 15 : 1;
    return launch_time_alone_ps(fabric) + (guint64)MIN(bytes * ll * 1e6 / (double)MBps, 1e18);
}

/* Of those that move as much, those with fewer steps are likely to win. */
static guint best_place(CollAlgo algo)
{
    static const CollAlgo order[] = {COLL_SYM_MC, COLL_NVLS,    COLL_NVLS_BUFFERED, COLL_TWOSHOT, COLL_PUSH, COLL_PULL,
                                     COLL_DIRECT, COLL_SYM_LSA, COLL_P2P,           COLL_RING,    COLL_TREE};
    guint i = 0;
    while (i < G_N_ELEMENTS(order) && order[i] != algo)
        i++;
    return i;
}

static int best_compare(gconstpointer a, gconstpointer b)
{
    const Candidate *x = a, *y = b;
    if (x->least_ps != y->least_ps)
        return x->least_ps < y->least_ps ? -1 : 1;
    guint i = best_place(x->algo), j = best_place(y->algo);
    return i != j ? (int)i - (int)j : (int)x->proto - (int)y->proto;
}

/* NULL: none can do it; the last refusal is the answer. leave: without those that the caller leaves out. */
static GArray *best_candidates(const CollGroup *group, const CollSpec *spec, gboolean flows, gboolean leave,
                               GError **error)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Candidate));
    GError *why = NULL;
    const CollAlgoList list = coll_algos_of(spec->op);
    for (const CollAlgo *algo = list.algo; *algo != COLL_ALGOS; algo++)
        for (guint proto = COLL_SIMPLE; proto < COLL_PROTOS; proto++) {
            CollSpec one = *spec;
            one.algo = *algo;
            one.proto = (CollProto)proto;
            gboolean wanted = spec->proto == COLL_PROTO_AUTO || spec->proto == (CollProto)proto;
            gboolean unicast = spec->algo == COLL_UNICAST || spec->unicast;
            if (!wanted || (leave && group->left[*algo] >> proto & 1))
                continue;
            if ((flows && proto != COLL_SIMPLE && spec->proto == COLL_PROTO_AUTO) ||
                (unicast && coll_needs_multicast(spec->op, *algo)))
                continue;
            g_clear_error(&why);
            if (!coll_check(group, &one, &why))
                continue;
            Candidate candidate = {*algo, (CollProto)proto, best_least_ps(group, spec, *algo, (CollProto)proto)};
            g_array_append_val(all, candidate);
        }
    if (all->len) {
        g_clear_error(&why);
        g_array_sort(all, best_compare);
        return all;
    }
    g_array_free(all, TRUE);
    if (why)
        g_propagate_error(error, why);
    else
        g_set_error(error, COLL_ERROR, COLL_ERROR_SPEC, "%s has no algorithm that needs no multicast",
                    coll_op_name(spec->op));
    return NULL;
}

gboolean coll_try(const CollGroup *group, const CollSpec *spec, guint64 limit_ps, CollResult *result, GError **error)
{
    const SimSpec sim_spec = {.seed = sim_seed(group->fabric->sim), .engine = sim_engine(group->fabric->sim)};
    Sim *sim = sim_new(&sim_spec, error);
    Fabric *fabric = sim ? fabric_new(sim, &group->fabric->spec, FALSE, error) : NULL;
    CollGroup *apart = fabric ? coll_group_new(fabric, group->gpu, group->n, error) : NULL;
    if (!apart)
        return FALSE; /* what runs in the caller's group runs here */
    apart->limit_ps = limit_ps;
    Recording *recording = coll_watch(apart, group, spec);
    gboolean good = coll_run_fidelity(apart, spec, result, error);
    recording_end(recording, NULL);
    recording_free(recording);
    if (good && fabric->n_faults) {
        g_set_error(error, COLL_ERROR, COLL_ERROR_FAULTS, "requests end with an error");
        good = FALSE;
    }
    if (apart->late) {
        sim_abandon(sim);
        coll_free(apart->late); /* and watches of its memory, which warps hold */
        device_abandon(fabric);
        device_flow_end(fabric);
    }
    coll_group_free(apart);
    fabric_free(fabric);
    sim_free(sim);
    return good;
}

/* A candidate whose team the switches' tables do not hold is not the answer, but why is worth a note. TRUE: this
 * is one, and *why is taken. */
static gboolean best_leave_out(CollGroup *group, GError **why)
{
    if (!g_error_matches(*why, COLL_ERROR, COLL_ERROR_SYSTEM))
        return FALSE;
    g_free(group->left_out);
    group->left_out = g_strdup((*why)->message);
    g_clear_error(why);
    return TRUE;
}

/* The same of one that gets stuck, or whose requests end with an error, as with a fault that others do not meet. */
static gboolean best_drop(CollGroup *group, const CollSpec *spec, GError **why)
{
    const gboolean stuck = g_error_matches(*why, COLL_ERROR, COLL_ERROR_STUCK);
    if (!stuck && !g_error_matches(*why, COLL_ERROR, COLL_ERROR_FAULTS))
        return FALSE;
    if (!group->dropped)
        group->dropped = g_string_new(NULL);
    g_string_append_printf(group->dropped, "%s%s %s %s", group->dropped->len ? ", " : "", coll_algo_name(spec->algo),
                           coll_proto_name(spec->proto), stuck ? "gets stuck" : "has requests that end with an error");
    g_clear_error(why);
    return TRUE;
}

const char *coll_group_dropped(const CollGroup *group) { return group->dropped ? group->dropped->str : NULL; }

void coll_group_leave(CollGroup *group, CollAlgo algo, CollProto proto) { group->left[algo] |= (guint8)(1u << proto); }

const char *coll_group_left_out(const CollGroup *group) { return group->left_out; }

/* How long it takes in flows, one run of it; 0: not worth asking, or nothing that can be flows. */
static guint64 best_flow_ps(const CollGroup *group, const CollSpec *spec)
{
    CollSpec one = *spec;
    CollResult took;
    one.fidelity = COLL_FLOW;
    if (spec->fidelity != COLL_PACKET || group->n > BEST_FLOW_RANKS || !coll_flows_apply(group, spec->proto) ||
        coll_link_crossings(group->n, spec) < BEST_FLOW_CROSSINGS)
        return 0;
    return coll_try(group, &one, 0, &took, NULL) ? took.time_ps : 0; /* packets will tell what is wrong */
}

gboolean coll_run_best(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error)
{
    CollFidelity fidelity = coll_fidelity(group->n, spec); /* the same for all */
    g_autoptr(GArray) all = best_candidates(group, spec, fidelity != COLL_PACKET, TRUE, NULL);
    if (!all && !(all = best_candidates(group, spec, fidelity != COLL_PACKET, FALSE, error)))
        return FALSE;
    CollSpec best = *spec;
    guint64 best_ps = 0, best_in_flows_ps = 0;
    for (guint i = 0; i < all->len && all->len > 1; i++) {
        const Candidate *candidate = &g_array_index(all, Candidate, i);
        if (best_ps && candidate->least_ps >= best_ps)
            continue;
        if (group->candidate)
            group->candidate(coll_algo_name(candidate->algo), coll_proto_name(candidate->proto), i + 1, all->len,
                             group->candidate_user);
        CollSpec one = *spec;
        CollResult took;
        GError *why = NULL;
        one.algo = candidate->algo;
        one.proto = candidate->proto;
        one.fidelity = fidelity;
        one.warmup = 0;
        one.iterations = 1;
        const guint64 flow_ps = best_ps ? best_flow_ps(group, &one) : 0; /* the first one is compared with none */
        if (flow_ps && !best_in_flows_ps) {
            CollSpec in_flows = one;
            in_flows.algo = best.algo;
            in_flows.proto = best.proto;
            best_in_flows_ps = best_flow_ps(group, &in_flows);
        }
        if (best_in_flows_ps && flow_ps > best_in_flows_ps + best_in_flows_ps / BEST_FLOW_MARGIN)
            continue;
        gboolean good = coll_try(group, &one, best_ps, &took, &why);
        if (!good && !g_error_matches(why, COLL_ERROR, COLL_ERROR_LATE) && !best_leave_out(group, &why) &&
            !best_drop(group, &one, &why)) {
            g_propagate_error(error, why);
            return FALSE;
        }
        g_clear_error(&why);
        if (good && (!best_ps || took.time_ps < best_ps)) {
            best_ps = took.time_ps;
            best_in_flows_ps = flow_ps;
            best.algo = one.algo;
            best.proto = one.proto;
        }
    }
    if (all->len == 1 || best_ps == 0) { /* where none can, the first one's refusal is the answer */
        best.algo = g_array_index(all, Candidate, 0).algo;
        best.proto = g_array_index(all, Candidate, 0).proto;
    }
    best.fidelity = fidelity;
    result->algo = best.algo; /* also where it then gets stuck */
    result->proto = best.proto;
    const gboolean good = coll_run_fidelity(group, &best, result, error);
    if (!good && best_ps == 0 && group->dropped)
        g_prefix_error(
            error,
            "best: none of %u candidates ends well, so that what stops them is the fabric's, as a fault or a "
            "switch of one's own; of the first: ",
            all->len);
    return good;
}
