/* Who takes part: ranks on GPUs, with addresses of their own; and what follows from a time for each of them. */
#include "coll/internal.h"

CollGroup *coll_group_new(Fabric *fabric, const guint16 *gpu, guint32 n, GError **error)
{
    guint64 gpus = fabric->spec.system.gpus;
    for (guint32 r = 0; gpu && r < n; r++)
        if (gpu[r] >= gpus) {
            g_set_error(error, COLL_ERROR, COLL_ERROR_SYSTEM,
                        "rank %u: there is no GPU %u; the system has GPUs 0 to %u", r, gpu[r], (guint)gpus - 1);
            return NULL;
        }
    if (n < 2 || n > gpus) {
        g_set_error(error, COLL_ERROR, COLL_ERROR_SYSTEM,
                    "%u GPUs cannot take part; the system has %u (system.gpus), and a collective needs 2 or more", n,
                    (guint)gpus);
        return NULL;
    }
    CollGroup *group = g_new0(CollGroup, 1);
    group->fabric = fabric;
    group->vas = vas_new(fabric->memory, (guint32)fabric->spec.system.gpus);
    group->n = n;
    group->gpu = g_new(guint16, n);
    for (guint32 r = 0; r < n; r++)
        group->gpu[r] = gpu ? gpu[r] : (guint16)r;
    return group;
}

void coll_group_free(CollGroup *group)
{
    g_assert(group->under_way == 0);
    vas_free(group->vas);
    g_free(group->gpu);
    g_free(group->left_out);
    if (group->dropped)
        g_string_free(group->dropped, TRUE);
    g_free(group);
}

guint32 coll_group_ranks(const CollGroup *group) { return group->n; }

void coll_group_on_candidate(CollGroup *group, CollCandidate candidate, void *user)
{
    group->candidate = candidate;
    group->candidate_user = user;
}

void coll_group_watch(CollGroup *group, WatchPage *page) { group->watch = page; }

Recording *coll_watch(CollGroup *apart, const CollGroup *group, const CollSpec *spec)
{
    g_autofree char *name = g_strdup_printf("%s %" G_GUINT64_FORMAT " B %s", coll_op_name(spec->op), spec->bytes,
                                            coll_algo_name(spec->algo));
    apart->watch = group->watch;
    return recording_new(apart->fabric, &(RecordingSpec){.watch = group->watch}, name);
}

/* nccl-tests' factors: what the busiest link must carry, relative to bytes / time. */
static guint64 coll_busbw(CollOp op, guint32 n, guint64 algbw_MBps)
{
    switch (op) {
    case COLL_ALL_REDUCE: return algbw_MBps * 2 * (n - 1) / n;
    case COLL_ALL_GATHER:
    case COLL_REDUCE_SCATTER:
    case COLL_GATHER:
    case COLL_SCATTER:
    case COLL_ALL_TO_ALL: return algbw_MBps * (n - 1) / n;
    default: return algbw_MBps;
    }
}

void coll_rate(const CollGroup *group, const CollSpec *spec, CollResult *result, guint64 time_ps, guint64 kernel_ps)
{
    result->time_ps = time_ps;
    result->kernel_ps = kernel_ps;
    result->algbw_MBps = (guint64)((__uint128_t)spec->bytes * PS_PER_US / MAX(time_ps, 1));
    result->busbw_MBps = coll_busbw(spec->op, group->n, result->algbw_MBps);
}
