/* What the files of the collectives share: one collective under way, and its device programs. */
#ifndef COLL_INTERNAL_H
#define COLL_INTERNAL_H

#include "device/device.h"
#include "coll/coll.h"

/* One buffer on every rank, and the multicast window over all of them. */
typedef struct {
    guint64 bytes;
    MemRegion **region; /* by rank; NULL array: not there */
    FoAddress *va;      /* by rank */
    McObject *object;   /* NULL: no window */
    FoAddress mc_va;
} CollBuffer;

struct CollGroup {
    Fabric *fabric;
    Vas *vas;
    guint32 n;
    guint16 *gpu; /* by rank */
    guint32 under_way;
    SimTime limit_ps;        /* a run that takes longer ends with COLL_ERROR_LATE; 0: none */
    Coll *late;              /* what such a run left; its simulation must go first */
    CollCandidate candidate; /* told of each of a search, or NULL */
    void *candidate_user;
    char *left_out;          /* why a search left out what needs multicast; NULL: it did not */
    GString *dropped;        /* candidates of a search that do not end well, and why; NULL: all do */
    guint8 left[COLL_ALGOS]; /* by algorithm: protocols that are no candidates, a bit each */
    WatchPage *watch;        /* of simulations beside this one; NULL: not watched */
    CollAnchors *anchors;    /* of larger sizes that were run before, or NULL */
};

/* enqueue.cc: NCCL's NVLS of other operations than all_reduce has up to NCCL_MAX_NVLS_ARITY ranks. */
#define COLL_NVLS_SLICED_RANKS 32u

/* How the control page of a CTA is laid out, in bytes from its start. */
#define CONTROL_MC_FLAG 0u    /* u64 counter of the multimem barrier */
#define CONTROL_EPOCH 64u     /* u64: what a symmetric kernel leaves for the next one */
#define CONTROL_TAIL 128u     /* u64 by connection, a line each: steps put into our slots */
#define CONTROL_HEAD 640u     /* u64 by connection: steps taken out of the next rank's slots */
#define CONTROL_BARRIER 1152u /* u64 by rank: unicast barrier */
#define CONTROL_FLAGS(n) (CONTROL_BARRIER + (n)*16u + 128u)

/* A rank's stream of calls. */
typedef struct {
    Coll *coll;
    guint32 rank, calls;       /* calls done */
    SimTime first_ps, last_ps; /* end of the first and of the last call's kernel */
    Event next;
} CollStream;

struct Coll {
    CollGroup *group;
    Fabric *fabric;
    CollSpec spec;
    CollAlgo algo;
    CollProto proto;
    guint32 n, ctas, threads;
    guint64 in_bytes, out_bytes; /* of a rank */
    CollBuffer in, out, scratch, control;
    guint64 control_stride; /* of a CTA */
    guint32 connections;    /* of a CTA that have slots, 4 at most: ring 1, tree 4 */
    gboolean read;          /* Simple: slots are at the sender, who is read from */
    guint64 part_bytes;     /* ring, tree: of a channel */
    guint64 step_bytes;     /* of a slot */
    guint64 *steps;         /* by rank, CTA, way and connection: what its last kernel left (algo/primitives.c) */
    CollStream *stream;     /* by rank, or NULL: calls that follow each other */
    gboolean flags;         /* scratch holds flags in its lines: it is polled */
    FoProgram program;
    guint32 running; /* launches */
    SimTime begin_ps, first_ps, last_ps, end_ps;
    CollDone done;
    void *user;
    gboolean finished;
    guint8 *numbers; /* that ranks begin with (check.c), rank after rank; NULL: bytes are not kept or not checked */
    gsize numbers_stride;   /* from one rank's to the next one's */
    gboolean numbers_fixed; /* in the fabric's pool of data; else they are allocated */
    CollResult result;
};

/* A rank's kernel arguments. */
typedef struct {
    const Coll *coll;
    guint32 rank;
} CollArgs;

static inline FoAddress coll_control(const Coll *coll, guint32 rank, guint32 cta)
{
    return coll->control.va[rank] + cta * coll->control_stride;
}

/* Whether one thread's fence covers what others of its CTA stored before they met. */
static inline gboolean coll_fence_is_wide(const Coll *coll) { return coll->fabric->spec.sm.fence_gpu_wide; }

/* Where rank r's slice of an all-reduce begins, and its size: whole 128 B lines, the last one may be short. */
static inline guint64 coll_slice(const Coll *coll, guint32 r, guint64 *bytes)
{
    guint64 total = coll->spec.bytes, unit = coll->n * 128ull, each = (total + unit - 1) / unit * 128;
    guint64 start = MIN(r * each, total);
    *bytes = MIN(each, total - start);
    return start;
}

/* What an algorithm needs for one operation. */
typedef struct {
    CollOp op;
    CollAlgo algo;
    FoProgram program;
    guint32 ctas, threads; /* defaults (ctas 0: by size, coll_p2p_ctas; threads: of Simple) */
    gboolean first;        /* stands before those of its operation that are not: the first of all needs nothing */
    gboolean multicast_in, multicast_out; /* windows over the buffers */
    gboolean reduces_in_switch;
    guint32 connections;         /* with slots, of each CTA */
    gboolean protocols;          /* has LL and LL128 */
    gboolean symmetric;          /* ctas 0: what NCCL's cost model says for the size */
    gboolean polled;             /* scratch holds flags, or is empty until data come */
    gboolean multicast_lines;    /* a window over scratch */
    gboolean buffered;           /* slots of all heads in scratch */
    gboolean no_flows;           /* what it does has no rates: packets, whatever the fidelity */
    gboolean flow_needs_samples; /* flows are more than 4 % off: auto measures their rates (flow.c) */
} CollRow;
const CollRow *coll_row(CollOp op, CollAlgo algo);
static inline gboolean coll_kernel_is_mnnvl(CollKernel kernel)
{
    return kernel == COLL_KERNEL_MNNVL_ONESHOT || kernel == COLL_KERNEL_MNNVL_TWOSHOT;
}
static inline gboolean coll_lines_are_multicast(const CollSpec *spec, const CollRow *row)
{
    return row->multicast_lines || coll_kernel_is_mnnvl(spec->kernel);
}

/* An algorithm: its file ends in this, and has a line in algorithms.h. Functions may be NULL: nothing of that kind. */
typedef struct {
    const CollRow *rows; /* of each operation that it has */
    guint n_rows;
    CollFamily family;
    gboolean only_named; /* it stands in no list and no search: what is not known to be as fast as it looks */
    const char *how;     /* coll_algo_how() */
    guint64 (*parts)(CollOp op, guint64 n); /* of a rank's bytes / n: what some GPU must receive or send at least; NULL:
                                             * n - 1, or 1 where the switch reduces and scatters */
    guint64 (*turn)(const CollSpec *spec, guint32 ctas, guint32 n); /* bytes after which it does the same again */
    guint64 (*scratch)(const Coll *coll); /* bytes of a rank; NULL: slots of its connections */
    guint64 (*control)(guint32 n);        /* bytes behind the flags of a CTA's control page */
    void (*clear)(const Coll *coll);      /* scratch, before the first call */
    /* What it alone refuses, by coll_refuse(). */
    gboolean (*check)(const CollGroup *group, const CollSpec *spec, const CollRow *row, guint32 ctas, guint32 threads,
                      GError **error);
} CollAlgorithm;
const CollAlgorithm *coll_algorithm(CollAlgo algo); /* of one that runs */
#define COLL_ROWS(list) .rows = list, .n_rows = G_N_ELEMENTS(list)
/* words.c: always FALSE */
gboolean coll_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The number of a name of n; -1: there is none */
int coll_index(const char *const *names, int n, const char *name);
static inline gboolean coll_is_sliced(CollOp op)
{
    return op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER || op == COLL_ALL_TO_ALL || op == COLL_GATHER ||
           op == COLL_SCATTER;
}

/* Of a rank's buffers, of a collective of so many bytes. */
static inline guint64 coll_bytes_in(CollOp op, guint64 bytes, guint32 n)
{
    return op == COLL_ALL_GATHER || op == COLL_GATHER ? bytes / n : bytes;
}
static inline guint64 coll_bytes_out(CollOp op, guint64 bytes, guint32 n)
{
    return op == COLL_REDUCE_SCATTER || op == COLL_SCATTER ? bytes / n : bytes;
}

/* buffer.c: whether a rank's buffers stay in the L2 from one call to the next, at spec.as_bytes if that is not 0 */
gboolean coll_is_cached(const CollGroup *group, const CollSpec *spec, const CollRow *row);
/* ... what a rank's connections have of slots, */
guint64 coll_slots_bytes(const CollRow *row, guint32 ctas, CollProto proto);
/* and whether what goes through a rank's slots of so many bytes is written back to its HBM */
gboolean coll_slots_are_written_back(const CollGroup *group, const CollSpec *spec, guint64 slots);
void coll_buffers_set_cached(const Coll *coll); /* in and out */
/* coll.c: one algorithm, at the fidelity that the fabric has now */
gboolean coll_run_one(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error);
void coll_free(Coll *coll);
/* group.c: what watches a simulation beside the group's that is to run `spec`, or NULL. To be ended by
 * recording_end() and recording_free(). */
Recording *coll_watch(CollGroup *apart, const CollGroup *group, const CollSpec *spec);

/* best.c: the candidates of COLL_BEST and COLL_UNICAST */
gboolean coll_run_best(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error);
/* flow.c: the same at spec->fidelity */
gboolean coll_run_fidelity(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error);
/* group.c: what follows from a time, with the size of `spec` */
void coll_rate(const CollGroup *group, const CollSpec *spec, CollResult *result, guint64 time_ps, guint64 kernel_ps);
/* buffer.c */
gboolean coll_buffer_new(CollGroup *group, CollBuffer *buffer, guint64 bytes, gboolean control, gboolean window,
                         GError **error);
void coll_buffer_free(CollGroup *group, CollBuffer *buffer);
/* check.c */
void coll_fill(Coll *coll);
void coll_fill_free(Coll *coll); /* after the buffers */
void coll_verify(Coll *coll);
/* coll/algo/barrier.c: all ranks' CTAs of one number wait for each other. gen counts from 1; the register is
 * the caller's, of 8 bytes. */
void coll_barrier_flags(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, FoReg *flag);
void coll_barrier_relaxed(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, FoReg *flag); /* without a fence */
/* Its flags alone: one to each rank and one from each, a thread a rank, or several in turn where a CTA has fewer
 * threads than there are ranks. So many threads are active before it: */
guint32 coll_flag_threads(const Coll *coll);
/* A rank's CTAs count themselves out; the first one waits until as many have as there are in so many calls. */
void coll_leave(FoCta *cta, const Coll *coll, guint32 rank, guint64 calls, FoReg *one);
void coll_exchange_flags(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, const FoReg *flag, FoOrder order);
void coll_barrier_swaps(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, gboolean ordered);
void coll_barrier_multimem(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, FoReg *one);
void coll_program_barrier(FoCta *cta, const void *args);
/* coll/algo/moe.c: all_to_all of a mixture of experts; its CTAs and their threads */
void coll_moe(FoCta *cta, const Coll *coll, guint32 rank);
guint32 coll_moe_ctas(const CollGroup *group, const CollSpec *spec);
guint32 coll_moe_threads(const CollGroup *group, const CollSpec *spec);
/* coll/algo/p2p.c: what NCCL takes for a message between each pair of n ranks */
CollProto coll_p2p_proto(const CollSpec *spec, guint32 n);
guint32 coll_p2p_ctas(const CollSpec *spec, CollProto proto, guint32 n);
/* Which round's channels come after those of `turn` others: they begin at the round's number with its bits reversed
 * (ncclP2pChannelBaseForRound). */
guint32 coll_p2p_round(guint32 turn, guint32 rounds);
/* Bytes that give each CTA one chunk: with less there is nothing to overlap a copy out with. */
guint64 coll_p2p_turn(guint32 ctas);
/* nccl.c: a version of NCCL, as the files of coll/nccl/ have it; coll_nccl_versions is made from them */
#define COLL_NCCL_ARCHS 3u
#define COLL_NCCL_CHANNELS 32u
typedef struct {
    guint32 arch;                                                 /* from this one on; 0: not known to it */
    guint32 ll_MBps, tree_MBps, tree_ll128_MBps, ring_ll128_MBps; /* of one node; but for ll, of a channel */
    guint32 nvls_permille, nvls_channels;
} CollNcclArch;
typedef struct {
    guint32 from, channel_traffic_bytes;
    gboolean p2p_ll_most, nvls_twice, nvls_own_part;
    CollNcclArch of[COLL_NCCL_ARCHS];
} CollNccl;
extern const CollNccl coll_nccl_versions[];
extern const guint32 coll_nccl_versions_n;
const CollNccl *coll_nccl_of(const CollSpec *spec);
const CollNcclArch *coll_nccl_arch(const CollGroup *group, const CollSpec *spec);
gboolean coll_nccl_check(const CollGroup *group, const CollSpec *spec, GError **error);
typedef struct {
    guint32 channels, each_MBps;
} CollNcclGraph;
CollNcclGraph coll_nccl_rings(const CollGroup *group);
/* sent_MBps: the bandwidth that the search leaves for what a head would exchange with other nodes. */
CollNcclGraph coll_nccl_heads(const CollGroup *group, guint32 *sent_MBps);
/* room.c */
guint32 coll_channels(const CollGroup *group, const CollSpec *spec, const CollRow *row); /* NCCL's; 0: it has none */
guint32 coll_resident(const CollGroup *group, guint32 threads);    /* CTAs of so many threads that a GPU holds */
guint32 coll_threads_most(const CollGroup *group);                 /* of a CTA */
guint32 coll_threads_fit(const CollGroup *group, guint32 threads); /* cut to what a CTA can have */
/* limits.c */
guint32 coll_threads(const CollGroup *group, const CollSpec *spec, const CollRow *row, CollProto proto);
guint32 coll_ctas(const CollGroup *group, const CollSpec *spec, const CollRow *row, CollProto proto);
gboolean coll_check_algo(const CollGroup *group, const CollSpec *spec, CollAlgo algo, CollProto proto, GError **error);
/* tune.c: what NCCL takes for a ring or tree; `part` are the bytes of a rank's data that a channel has */
typedef struct {
    guint32 ctas, threads;
    guint64 part;
} CollTuning;
CollTuning coll_tune(const CollGroup *group, const CollSpec *spec, const CollRow *row, CollProto proto);
static inline gboolean coll_is_tuned(const CollRow *row) { return row->algo == COLL_RING || row->algo == COLL_TREE; }
/* choice.c: what AUTO takes, and which symmetric kernel COLL_SYM and COLL_SYM_UNICAST do */
void coll_choose(const CollGroup *group, const CollSpec *spec, CollAlgo *algo, CollProto *proto);
void coll_sym_choose(const CollGroup *group, const CollSpec *spec, gboolean multicast, CollAlgo *algo);
/* coll/algo/symmetric_cost.c: how many CTAs a symmetric kernel gets, and what NCCL thinks of it: the least is taken */
guint32 coll_sym_ctas(const CollGroup *group, const CollSpec *spec, CollAlgo algo);
double coll_sym_cost(const CollGroup *group, const CollSpec *spec, CollAlgo algo);

#endif
