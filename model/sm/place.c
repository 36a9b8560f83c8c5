/* See place.h. */
#include "model/sm/place.h"

static guint64 place_tpcs(const FabricSpec *spec) { return MAX(spec->sm.count / spec->sm.tpc_sms, 1); }

/* Of the first GPC, as many as it has. */
static guint64 place_first(const FabricSpec *spec)
{
    return MIN(spec->sm.first_tpcs, place_tpcs(spec) / spec->sm.gpcs);
}

/* Those that clusters do not get: they get all of a GPC that has no others. */
static guint64 place_kept(const FabricSpec *spec)
{
    guint64 first = place_first(spec);
    return first < place_tpcs(spec) / spec->sm.gpcs ? first : 0;
}

guint32 place_queues(const FabricSpec *spec) { return (guint32)spec->sm.gpcs * GPC_CPCS; }

guint32 place_half(const FabricSpec *spec, guint32 queue) { return spec->gpu.half_gpcs >> (queue / GPC_CPCS) & 1; }

static SmPlace place_tpc(const FabricSpec *spec, guint64 gpc, guint64 tpc)
{
    gboolean first = gpc == 0 && tpc < place_kept(spec);
    return (SmPlace){(guint32)gpc, (guint32)(gpc * GPC_CPCS + tpc % GPC_CPCS), (guint32)tpc, first};
}

SmPlace place_of(const FabricSpec *spec, guint64 sm)
{
    guint64 gpcs = spec->sm.gpcs, tpcs = place_tpcs(spec), each = tpcs / gpcs, first = place_first(spec);
    if (sm < first * spec->sm.tpc_sms)
        return place_tpc(spec, 0, sm / spec->sm.tpc_sms);
    guint64 n = (sm - first * spec->sm.tpc_sms) % MAX(tpcs - first, 1), left = each - first;
    if (n < left * gpcs) /* turns in which all GPCs have one to give, */
        return place_tpc(spec, n % gpcs, n / gpcs + (n % gpcs == 0 ? first : 0));
    n -= left * gpcs;
    if (n < first * (gpcs - 1)) /* in which all but the first have one, */
        return place_tpc(spec, 1 + n % (gpcs - 1), left + n / (gpcs - 1));
    return place_tpc(spec, gpcs - tpcs % gpcs + n - first * (gpcs - 1), each); /* and in which the last ones have */
}

guint32 place_cta_queue(const FabricSpec *spec, guint32 cta, guint32 cluster)
{
    if (cluster <= 1)
        return place_of(spec, cta % spec->sm.count).queue;
    guint64 gpcs = spec->sm.gpcs, nth = cta / cluster, tpc = (nth / gpcs * cluster + cta % cluster) / spec->sm.tpc_sms;
    guint64 skip = nth % gpcs == 0 && cluster > spec->sm.tpc_sms ? place_kept(spec) : 0;
    return place_tpc(spec, nth % gpcs, skip + tpc % MAX(place_tpcs(spec) / gpcs - skip, 1)).queue;
}

guint32 place_parts(const FabricSpec *spec, guint32 ctas, guint32 cluster, guint32 queue)
{
    g_autofree guint8 *used = g_new0(guint8, place_queues(spec));
    guint32 queues[2] = {0, 0}, half = place_half(spec, queue);
    for (guint32 cta = 0; cta < MIN(ctas, spec->sm.count); cta++) {
        guint32 its = place_cta_queue(spec, cta, cluster);
        queues[place_half(spec, its)] += !used[its];
        used[its] = 1;
    }
    return queues[half] * (queues[1 - half] ? 2 : 1);
}

gboolean place_check(const FabricSpec *spec, GError **error)
{
    guint64 masks = (guint64)1 << spec->sm.gpcs;
    if (spec->gpu.half_gpcs >= masks) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[gpu] half_gpcs: %" G_GUINT64_FORMAT
                    " has a bit for a GPC beyond the last; with [sm] gpcs = %" G_GUINT64_FORMAT
                    " it is less than %" G_GUINT64_FORMAT,
                    spec->gpu.half_gpcs, spec->sm.gpcs, masks);
        return FALSE;
    }
    return TRUE;
}
