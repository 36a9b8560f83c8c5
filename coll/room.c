/* How many CTAs and threads a GPU has room for, and how many channels NCCL opens. */
#include "coll/internal.h"

/* "32 coll channels, 24 nvls channels": what NCCL 2.27 to 2.29 reports on B200, B300 and GB200. 16 rings of
 * 45 GB/s, each twice; how many nvls.cc takes inside one NVLink domain depends on the version. */
#define BLACKWELL_CHANNELS 32u

guint32 coll_threads_most(const CollGroup *group)
{
    return MIN(1024, (guint32)group->fabric->spec.sm.warps_max * WARP_LANES);
}

guint32 coll_threads_fit(const CollGroup *group, guint32 threads)
{
    guint32 least = (group->n + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    return MIN(MAX(least, threads), coll_threads_most(group));
}

guint32 coll_channels(const CollGroup *group, const CollSpec *spec, const CollRow *row)
{
    if (group->fabric->spec.sm.arch >= 100 && coll_is_tuned(row))
        return BLACKWELL_CHANNELS;
    if (group->fabric->spec.sm.arch >= 100 && (row->buffered || row->algo == COLL_NVLS))
        return coll_nccl_arch(group, spec)->nvls_channels;
    return row->ctas;
}

guint32 coll_resident(const CollGroup *group, guint32 threads)
{
    const SmSpec *sm = &group->fabric->spec.sm;
    guint64 resident = sm->count * MIN(sm->ctas_max, sm->warps_max / MAX(threads / WARP_LANES, 1));
    return (guint32)MIN(resident, 65535);
}
