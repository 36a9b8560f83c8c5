/* NCCL's versions: what each takes from its tables (coll/nccl/, a file for each version that changed something), and
 * the rings and multicast heads that its search of the topology finds (src/graph/search.cc). */
#include "coll/internal.h"

#define NCCL_OLDEST 2023000u
#define NCCL_NEWEST 2032999u /* later ones are not known; those above 2.30.7 are taken as that one */

gboolean coll_nccl_parse(const char *text, guint32 *version, GError **error)
{
    g_auto(GStrv) part = g_strsplit(text, ".", 0);
    guint64 number[3] = {0, 0, 0}, most[3] = {99, 999, 999};
    guint parts = g_strv_length(part);
    gboolean good = parts == 2 || parts == 3;
    for (guint i = 0; good && i < parts; i++)
        good = g_ascii_string_to_unsigned(part[i], 10, 0, most[i], &number[i], NULL);
    guint64 all = number[0] * 1000000 + number[1] * 1000 + number[2];
    if (good && all >= NCCL_OLDEST && all <= NCCL_NEWEST) {
        *version = (guint32)all;
        return TRUE;
    }
    g_set_error(error, COLL_ERROR, COLL_ERROR_SPEC,
                "'%s' is no version of NCCL that is known; 2.23 to 2.32 are, with or without a third number", text);
    return FALSE;
}

char *coll_nccl_format(guint32 version)
{
    return g_strdup_printf("%u.%u.%u", version / 1000000, version / 1000 % 1000, version % 1000);
}

guint32 coll_nccl_newest(void) { return coll_nccl_versions[coll_nccl_versions_n - 1].from; }

/* The newest of the tables that is no newer than the version; tables ascend. */
const CollNccl *coll_nccl_of(const CollSpec *spec)
{
    guint32 i = coll_nccl_versions_n - 1;
    while (spec->nccl && i > 0 && coll_nccl_versions[i].from > spec->nccl)
        i--;
    return &coll_nccl_versions[i];
}

const CollNcclArch *coll_nccl_arch(const CollGroup *group, const CollSpec *spec)
{
    const CollNccl *nccl = coll_nccl_of(spec);
    guint32 i = COLL_NCCL_ARCHS - 1;
    while (i > 0 && (!nccl->of[i].arch || group->fabric->spec.sm.arch < nccl->of[i].arch))
        i--;
    return &nccl->of[i];
}

gboolean coll_nccl_check(const CollGroup *group, const CollSpec *spec, GError **error)
{
    if (group->fabric->spec.sm.arch < 100 || coll_nccl_arch(group, spec)->arch >= 100)
        return TRUE;
    g_set_error(error, COLL_ERROR, COLL_ERROR_SPEC,
                "NCCL %u.%u does not know GPUs of sm_%u; 2.25 is the first version that does", spec->nccl / 1000000,
                spec->nccl / 1000 % 1000, (guint)group->fabric->spec.sm.arch);
    return FALSE;
}

/* Bandwidths of a channel that the search tries, in MB/s, from the largest on; 0 ends them. */
static const guint32 speeds_80[] = {40000, 30000, 20000, 18000, 15000, 12000, 10000,
                                    9000,  7000,  6000,  5000,  4000,  3000,  0};
static const guint32 speeds_90[] = {60000, 50000, 40000, 30000, 24000, 20000, 15000, 12000, 11000, 6000, 3000, 0};
static const guint32 speeds_100[] = {90000, 80000, 70000, 60000, 50000, 40000, 30000, 24000, 20000, 19000, 18000, 0};

static const guint32 *nccl_speeds(const CollGroup *group)
{
    guint64 arch = group->fabric->spec.sm.arch;
    return arch >= 100 ? speeds_100 : arch >= 90 ? speeds_90 : speeds_80;
}

static guint64 nccl_links_MBps(const CollGroup *group)
{
    return group->fabric->spec.link.rate_MBps * 7 / 8 * group->fabric->links;
}

/* Rings: the speed at which most of the links' bandwidth is used, each ring twice where that leaves it 25 GB/s and
 * more, then a higher speed with as many channels if there is one. */
CollNcclGraph coll_nccl_rings(const CollGroup *group)
{
    const guint32 *speed = nccl_speeds(group);
    guint64 total = nccl_links_MBps(group);
    CollNcclGraph best = {1, speed[0]};
    guint64 most = 0;
    for (guint i = 0; speed[i]; i++) {
        guint64 channels = MIN(total / speed[i], COLL_NCCL_CHANNELS);
        if (most && speed[i] * 100ull <= best.each_MBps * 49ull)
            break;
        if (channels * speed[i] > most) {
            most = channels * speed[i];
            best = (CollNcclGraph){(guint32)channels, speed[i]};
        }
    }
    gboolean many = group->fabric->spec.sm.arch > 80 && best.each_MBps < 50000 && best.channels > 4;
    if (best.each_MBps >= 25000 && !many && best.channels * 2 <= COLL_NCCL_CHANNELS)
        best = (CollNcclGraph){best.channels * 2, best.each_MBps / 2};
    for (guint i = 0; speed[i]; i++)
        if (speed[i] > best.each_MBps && (guint64)best.channels * speed[i] <= total)
            best.each_MBps = speed[i];
    return best;
}

/* Multicast: a channel for each head, which crosses its own GPU's links twice and the others' once. */
CollNcclGraph coll_nccl_heads(const CollGroup *group, guint32 *sent_MBps)
{
    const guint32 *speed = nccl_speeds(group);
    guint32 heads = MIN(group->n, COLL_NVLS_SLICED_RANKS), i = 0;
    while (speed[i + 1] && (heads + 1ull) * speed[i] > nccl_links_MBps(group))
        i++;
    CollNcclGraph graph = {heads, speed[i]};
    while (i > 0 && speed[i] < 2 * graph.each_MBps)
        i--;
    *sent_MBps = speed[i];
    return graph;
}
