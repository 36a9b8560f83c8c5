/* What `auto` takes: NCCL's published model (src/graph/tuning.cc) for GPUs of one node behind switches.
 *
 * Each (algorithm, protocol) has a latency, base plus hops, and a bandwidth; time is their sum at the given
 * size, and the fastest is taken. Numbers are NCCL's constants, which change with its version (coll/nccl/), and the
 * rings and heads that its search finds (nccl.c); the links' bandwidth comes from the system: NCCL counts 20.6 GB/s for
 * a link of 23.55 GB/s of flits (7/8). Published choices that this gives: ring with LL up to 1 MiB and NVLS from 2 MiB
 * on 8 GPUs, rings at large sizes up to 4 GPUs.
 * Left out: CollNet, trees among nodes, PAT, user overrides. */
#include "coll/internal.h"

#define NVLS_LATENCY_NS 25000u

typedef struct {
    CollAlgo algo;
    CollProto proto;
    guint32 base_ns, hop_ns; /* baseLat, hwLat NVLINK */
} ChoiceRow;
static const ChoiceRow choice_rows[] = {
    {COLL_RING, COLL_SIMPLE, 8400, 3400},         {COLL_RING, COLL_LL, 6600, 600}, {COLL_RING, COLL_LL128, 14000, 1900},
    {COLL_TREE, COLL_SIMPLE, 8400, 4000},         {COLL_TREE, COLL_LL, 6800, 600}, {COLL_TREE, COLL_LL128, 14000, 1250},
    {COLL_NVLS, COLL_SIMPLE, 0, NVLS_LATENCY_NS},
};

/* treeCorrectionFactor in tenths, by protocol and log2(bytes / 64). */
static guint32 choice_tree_tenths(CollProto proto, guint64 bytes)
{
    static const guint8 tenths[COLL_PROTOS][23] = {
        [COLL_LL] = {10, 10, 10, 10, 9, 8, 7, 7, 7, 7, 6, 5, 4, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10},
        [COLL_LL128] = {10, 10, 10, 10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 6, 6, 6, 8, 9, 9, 9, 9, 10, 10},
        [COLL_SIMPLE] = {9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5, 5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9}};
    guint32 log = 0;
    while (bytes >> (log + 7))
        log++;
    return log < 23 ? tenths[proto][log] : 10;
}

/* NVLS pipelines the two halves of an all_reduce: up to 2.27 five sixths of the links are counted for that, since then
 * twice the links less the own part, at most what the search leaves for other nodes. */
static guint64 choice_nvls_MBps(const CollGroup *group, const CollSpec *spec)
{
    guint32 sent_MBps;
    const CollNccl *nccl = coll_nccl_of(spec);
    CollNcclGraph graph = coll_nccl_heads(group, &sent_MBps);
    guint64 n = group->n, each = graph.each_MBps;
    gboolean sums_all = spec->op == COLL_ALL_REDUCE;
    if (!nccl->nvls_twice) {
        guint64 all = each * graph.channels;
        return sums_all ? all * 5 / 6 : nccl->nvls_own_part ? all : all * (n - 1) / n;
    }
    each = each * coll_nccl_arch(group, spec)->nvls_permille / 1000 * (graph.channels - 1) / graph.channels;
    each = MIN(sums_all ? 2 * each : each * (n - 1) / n, sent_MBps);
    return sums_all ? each * graph.channels * n / (2 * (n - 1)) : each * graph.channels;
}

/* Bandwidth of the algorithm (bytes of the collective over time), in MB/s; 0: it is not enabled. */
static guint64 choice_MBps(const CollGroup *group, const CollSpec *spec, const ChoiceRow *row)
{
    const CollNcclArch *limits = coll_nccl_arch(group, spec);
    if (row->algo == COLL_NVLS)
        return choice_nvls_MBps(group, spec);
    CollNcclGraph graph = coll_nccl_rings(group);
    guint64 channels = graph.channels, bus = channels * graph.each_MBps, n = group->n;
    if (row->algo == COLL_TREE) {
        bus = MIN(bus * 92 / 100, channels * limits->tree_MBps);
        if (row->proto == COLL_LL)
            bus = MIN(bus * 10 / 38, limits->ll_MBps);
        if (row->proto == COLL_LL128)
            bus = MIN(bus * 7 / 9, channels * limits->tree_ll128_MBps);
        return bus / 2 * choice_tree_tenths(row->proto, spec->bytes) / 10;
    }
    if (row->proto == COLL_LL)
        bus = MIN(bus / 2, limits->ll_MBps);
    if (row->proto == COLL_LL128)
        bus = MIN(bus * 92 / 100, channels * limits->ring_ll128_MBps);
    guint64 steps = spec->op == COLL_ALL_REDUCE                             ? 2 * (n - 1)
                    : spec->op == COLL_BROADCAST || spec->op == COLL_REDUCE ? n
                                                                            : n - 1;
    return bus * n / steps;
}

static guint64 choice_hops(const CollGroup *group, const CollSpec *spec, const ChoiceRow *row)
{
    if (row->algo == COLL_NVLS)
        return 1;
    if (row->algo == COLL_TREE || spec->op == COLL_ALL_REDUCE)
        return 2 * (group->n - 1);
    return spec->op == COLL_BROADCAST || spec->op == COLL_REDUCE ? group->n : group->n - 1;
}

void coll_choose(const CollGroup *group, const CollSpec *spec, CollAlgo *algo, CollProto *proto)
{
    guint64 best_ns = G_MAXUINT64;
    CollProto wanted = spec->proto;
    *algo = coll_algos_of(spec->op).algo[0];
    *proto = COLL_SIMPLE;
    if (*algo == COLL_P2P && spec->ctas && spec->ctas < group->n && coll_row(spec->op, COLL_DIRECT))
        *algo = COLL_DIRECT; /* too few CTAs were asked for */
    for (guint i = 0; i < G_N_ELEMENTS(choice_rows); i++) {
        const ChoiceRow *row = &choice_rows[i];
        CollSpec pinned = *spec;
        pinned.algo = row->algo;
        pinned.proto = row->proto;
        if ((spec->unicast && row->algo == COLL_NVLS) || !coll_row(spec->op, row->algo) ||
            !coll_check_algo(group, &pinned, row->algo, row->proto, NULL) ||
            (wanted != COLL_PROTO_AUTO && wanted != row->proto))
            continue;
        guint64 MBps = choice_MBps(group, spec, row);
        if (!MBps)
            continue;
        guint64 ns = row->base_ns + choice_hops(group, spec, row) * row->hop_ns + spec->bytes * 1000 / MBps;
        if (ns < best_ns) {
            best_ns = ns;
            *algo = row->algo;
            *proto = row->proto;
        }
    }
}

void coll_sym_choose(const CollGroup *group, const CollSpec *spec, gboolean multicast, CollAlgo *algo)
{
    static const CollAlgo algos[] = {COLL_SYM_LL, COLL_SYM_LLMC, COLL_SYM_LSA, COLL_SYM_MC};
    double best = G_MAXDOUBLE;
    *algo = COLL_SYM_LSA;
    for (guint32 i = 0; i < G_N_ELEMENTS(algos); i++) {
        const CollRow *row = coll_row(spec->op, algos[i]);
        if (!row || ((!multicast || group->n < 3) && algos[i] != COLL_SYM_LL && algos[i] != COLL_SYM_LSA) ||
            !coll_check_algo(group, spec, algos[i], COLL_SIMPLE, NULL))
            continue;
        double time = coll_sym_cost(group, spec, algos[i]);
        if (time < best) {
            best = time;
            *algo = algos[i];
        }
    }
}
