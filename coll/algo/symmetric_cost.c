/* What NCCL thinks of its symmetric-memory kernels, and how many CTAs each gets: its published cost model
 * (src/sym_kernels.cc).
 *
 * time(k, CTAs) = base + softplus(bus bytes / bandwidth), bandwidth = softmin(CTAs x an SM's, peak); of each
 * kernel the fewest CTAs within 2.5 % of its best, of the kernels the fastest with a penalty of 2.5 % a CTA.
 * Left out: TMA kernels (off by default), kernels that cross nodes. */
#include <math.h>

#include "coll/internal.h"

#define SYM_CTAS_MAX 64u
#define SYM_LL_FACTOR 9.0 /* LL's bytes on the bus for one of data, with its work */
#define SYM_CTA_PENALTY 0.025

typedef struct {
    double bytes, times; /* on the bus; speed-up by multicast */
    guint32 ctas_max;
} SymCost;

static double sym_softmin(double x, double ceiling, double softness)
{
    return ceiling - softness * log1p((exp(ceiling / softness) - 1) * exp(-x / softness));
}

static double sym_softplus(double x) { return x >= 100 ? x : log1p(exp(x)); }

static SymCost sym_cost(const CollGroup *group, CollOp op, CollAlgo algo, double bytes)
{
    double n = group->n, ranks_bytes = (n - 1) * bytes;
    gboolean hopper = group->fabric->spec.sm.arch < 100;
    guint32 multicast_max = ((hopper ? 16 : 32) + group->n - 1) / group->n;
    switch (algo) {
    case COLL_SYM_LL: return (SymCost){n * bytes * SYM_LL_FACTOR, 1, SYM_CTAS_MAX};
    case COLL_SYM_LLMC: return (SymCost){n * bytes * SYM_LL_FACTOR, 1.1, SYM_CTAS_MAX};
    case COLL_SYM_LSA: return (SymCost){op == COLL_ALL_REDUCE ? 2 * bytes * (n - 1) / n : ranks_bytes, 1, SYM_CTAS_MAX};
    default:
        return op == COLL_ALL_REDUCE ? (SymCost){bytes / n + bytes, n, multicast_max}
                                     : (SymCost){ranks_bytes, 0.55 * n, multicast_max};
    }
}

/* Microseconds of the best number of CTAs. bytes: of all_reduce all, else of one rank's part. */
static double sym_time(const CollGroup *group, CollOp op, CollAlgo algo, double bytes, guint32 *ctas)
{
    const double gbps = (double)(1 << 30) / 1e6;
    gboolean hopper = group->fabric->spec.sm.arch < 100, sums_all = op == COLL_ALL_REDUCE;
    gboolean ll = algo == COLL_SYM_LL || algo == COLL_SYM_LLMC;
    gboolean wide = algo == COLL_SYM_MC && sums_all;
    SymCost cost = sym_cost(group, op, algo, bytes);
    double base = hopper ? (ll ? 4.5 : 7.8) : ll ? (op == COLL_ALL_GATHER ? 8.5 : 11) : sums_all ? 19.5 : 13;
    double sm = (hopper ? (sums_all ? 65 : 44) : 55) * gbps;
    double peak = (hopper ? (wide ? 480 : 320) : (wide ? 1000 : 600)) * gbps, best = 0;
    for (guint32 pass = 0; pass < 2; pass++)
        for (guint32 n = pass ? 1 : cost.ctas_max; n <= cost.ctas_max; n++) {
            double time = base + sym_softplus(cost.bytes / sym_softmin(n * sm * cost.times, peak, sm) - 1);
            if (pass == 0)
                best = time;
            *ctas = n;
            if (pass && time <= 1.025 * best)
                return time;
        }
    return best;
}

static double sym_bytes(const CollGroup *group, const CollSpec *spec)
{
    guint64 bytes = spec->as_bytes ? spec->as_bytes : spec->bytes;
    return (double)(spec->op == COLL_ALL_REDUCE ? bytes : bytes / group->n);
}

guint32 coll_sym_ctas(const CollGroup *group, const CollSpec *spec, CollAlgo algo)
{
    guint32 ctas;
    sym_time(group, spec->op, algo, sym_bytes(group, spec), &ctas);
    return ctas;
}

double coll_sym_cost(const CollGroup *group, const CollSpec *spec, CollAlgo algo)
{
    guint32 ctas;
    double time = sym_time(group, spec->op, algo, sym_bytes(group, spec), &ctas);
    return time * (1 + SYM_CTA_PENALTY * ctas);
}
