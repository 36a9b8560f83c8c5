/* Which algorithm runs when one is asked for. */
#include "traces/replay/episode.h"

gboolean replay_algo_is_multicast(CollAlgo algo)
{
    return algo == COLL_NVLS || algo == COLL_NVLS_ONESHOT || algo == COLL_SYM_LLMC || algo == COLL_SYM_MC ||
           algo == COLL_NVLS_BUFFERED;
}

/* CTAs of collectives wait for each other and must all be resident. On a GPU with few SMs a quarter
 * of the places is taken, so that a few collectives can run at once; 0: the algorithm's own number.
 */
guint32 replay_ctas(const FabricSpec *fabric)
{
    const SmSpec *sm = &fabric->sm;
    guint64 resident = sm->count * MIN(sm->ctas_max, sm->warps_max / 16); /* of 512 threads */
    return resident / 4 >= 36 ? 0 : MAX(resident / 4, 1);
}

static gboolean has(CollOp op, CollAlgo algo)
{
    const CollAlgoList all = coll_algos_of(op);
    for (const CollAlgo *at = all.algo; *at != COLL_ALGOS; at++)
        if (*at == algo)
            return TRUE;
    return FALSE;
}

CollAlgo replay_algo(const FabricSpec *fabric, CollGroup *group, CollSpec *spec, CollAlgo wanted, char **fallback)
{
    GError *why = NULL;
    *fallback = NULL;
    gboolean multicast = replay_algo_is_multicast(wanted);
    CollAlgo nearest = wanted;
    if (wanted != COLL_AUTO && !has(spec->op, wanted)) {
        nearest = multicast && has(spec->op, COLL_NVLS) ? COLL_NVLS : coll_algos_of(spec->op).algo[0];
        *fallback = g_strdup_printf("%s has no %s: %s runs", coll_op_name(spec->op), coll_algo_name(wanted),
                                    coll_algo_name(nearest));
    }
    spec->algo = nearest;
    spec->ctas = replay_ctas(fabric);
    if (!coll_check(group, spec, &why)) {
        spec->proto = COLL_PROTO_AUTO;
        CollAlgo unicast = coll_algos_of(spec->op).algo[0];
        g_free(*fallback);
        *fallback = g_strdup_printf("%s cannot run as %s (%s): %s runs", coll_op_name(spec->op),
                                    coll_algo_name(nearest), why->message, coll_algo_name(unicast));
        g_clear_error(&why);
        nearest = unicast;
    }
    return nearest;
}
