/* Collectives on a simulated fabric: buffers, algorithms as device programs, verification.
 *
 *     CollGroup *group = coll_group_new(fabric, NULL, 8, &error);      // GPUs 0..7
 *     CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
 *     spec.bytes = 64 << 20; spec.algo = COLL_NVLS;
 *     CollResult result;
 *     if (coll_run(group, &spec, &result, &error)) ... result.busbw_MBps, result.verified
 *     coll_group_free(group);
 *
 * coll_run drives the simulation itself (sim_run) and is what `fanout coll` uses. coll_start is for
 * replays: it starts the collective's kernels at the current simulated time, from any event or between
 * runs, and calls back when the last rank is done; many may be under way at once.
 *
 * Sizes are nccl-tests': `bytes` is the total: the whole buffer of all_reduce, reduce and broadcast, the
 * gathered result of all_gather and gather, the whole input of reduce_scatter, scatter, all_to_all (n parts) and
 * sendrecv. */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include <glib.h>

#include "coll/algorithms.h"
#include "model/fabric/fabric.h"
#include "model/memory/numeric.h"
#include "observe/recording.h"

typedef enum {
    COLL_ALL_REDUCE,
    COLL_ALL_GATHER,
    COLL_REDUCE_SCATTER,
    COLL_BROADCAST,
    COLL_ALL_TO_ALL,
    COLL_SENDRECV,
    COLL_REDUCE,
    COLL_GATHER,
    COLL_SCATTER,
    COLL_BARRIER,
    COLL_OPS
} CollOp;
typedef enum {
    COLL_AUTO, /* what CollSpec.library takes by size and ranks */
    COLL_BEST, /* simulates the candidates, takes the fastest (coll_run only) */
#define COLL_ROW(number, name) COLL_##number,
    COLL_ALGORITHMS(COLL_ROW)
#undef COLL_ROW
        COLL_SYM,
    COLL_SYM_UNICAST, /* which of them NCCL would take, with and without multicast */
    COLL_UNICAST,     /* as BEST, of those that need no multicast (coll_run only) */
    COLL_ALGOS
} CollAlgo;
typedef enum { COLL_PROTO_AUTO, COLL_SIMPLE, COLL_LL, COLL_LL128, COLL_PROTOS } CollProto;

/* How bulk loops are simulated: every packet; as flows (model/flow/rates.h); or AUTO: packets up to so many link
 * crossings, and above flows, of some algorithms with the rates of short runs in packets (flow.c). */
typedef enum { COLL_PACKET, COLL_FLOW, COLL_FIDELITY_AUTO } CollFidelity;

/* Whose rules say what COLL_AUTO stands for. */
typedef enum {
    COLL_NCCL,            /* classic NCCL; its NVLS copies through its own buffers */
    COLL_NCCL_REGISTERED, /* the same where users' buffers are registered with it: NVLS works on them */
    COLL_NCCL_SYM,        /* NCCL's kernels for symmetric memory */
    COLL_TRTLLM,
    COLL_VLLM,
    COLL_SGLANG, /* serving frameworks, in CUDA graphs (library.c) */
    COLL_LIBRARIES
} CollLibrary;

/* Whose one-shot and two-shot kernels: where their barriers stand and what these order (coll/algo/direct.c); TORCH:
 * PyTorch's in the switch, whose barriers are compare-and-swaps (coll/algo/nvls.c); MNNVL: TensorRT-LLM's of several
 * trays, Lamport's by multicast (coll/algo/lamport.c); MOE: its all_to_all of a
 * mixture of experts (coll/algo/moe.c). */
typedef enum {
    COLL_KERNEL_PLAIN,
    COLL_KERNEL_VLLM,
    COLL_KERNEL_SGLANG,
    COLL_KERNEL_TRTLLM,
    COLL_KERNEL_TORCH,
    COLL_KERNEL_MNNVL_ONESHOT,
    COLL_KERNEL_MNNVL_TWOSHOT,
    COLL_KERNEL_MOE
} CollKernel;

typedef struct {
    CollOp op;
    CollAlgo algo;
    CollLibrary library;   /* of AUTO */
    guint32 nccl;          /* its version, as coll_nccl_parse() makes it; 0: the newest whose source was read */
    CollFidelity fidelity; /* coll_run only; flows need a timing-only fabric */
    guint64 crossings;     /* of links that AUTO simulates one by one; 0: COLL_AUTO_CROSSINGS */
    CollProto proto;       /* of ring, tree and p2p only; AUTO: NCCL's choice, Simple when algo is pinned */
    guint64 bytes;
    NumericType type; /* element type of reductions; sizes are whole elements */
    NumericOp reduce;
    NumericPrecision acc; /* of in-switch sums */
    gboolean unicast;     /* AUTO takes nothing that needs multicast */
    gboolean average;     /* with reduce ADD: sums are divided by the ranks in the end (NCCL's avg) */
    guint32 root;         /* rank, of broadcast, reduce, gather and scatter */
    guint32 ctas;         /* 0: the algorithm's default (NCCL's channels) */
    guint32 threads;      /* of a CTA; 0: the algorithm's default */
    CollKernel kernel;    /* of one-shot and two-shot all-reduce */
    gboolean alone;       /* of COLL_KERNEL_MOE: without the kernel before it */
    guint32 token_bytes;  /* of COLL_KERNEL_MOE; 0: 7168 elements of 16 bits */
    guint32 copies;       /* of the whole buffer inside each GPU before and after, in kernels of their own, by a library
                           * that owns the buffers: coll_copies_ps; in time_ps, not in kernel_ps */
    gboolean check;       /* fill with numbers and verify; needs a fabric that keeps bytes */
    gboolean corrupt;     /* for tests: one element is changed before the check */
    guint64 as_bytes;     /* chunks and CTAs are chosen, and L2 hits or misses are, as for so many bytes; 0: for
                           * `bytes` */
    guint64 nvls_chunk_bytes; /* NCCL_NVLS_CHUNKSIZE, the most that nvls_buffered moves at once; 0: 128 KiB. A run that
                           * stands for a larger one (as_bytes) takes no more than 128 KiB */
    guint32 warmup, iterations; /* coll_run: repeats inside; time is the mean of `iterations` */
    guint32 calls;   /* coll_run, ring, tree and p2p: 2 or more calls on each rank's stream, a rank not waiting for
                           * the others between them; times are then from one call's end to the next's */
    guint64 host_ps; /* of such calls: what the one host thread takes for each rank's launch */
} CollSpec;
CollSpec coll_spec_default(CollOp op); /* f32 add, auto, one iteration, no warm-up, checked */

typedef enum { COLL_NOT_CHECKED, COLL_VERIFIED, COLL_WRONG } CollCheck;
typedef struct {
    CollAlgo algo; /* what ran: never AUTO, BEST or UNICAST */
    CollProto proto;
    CollFidelity fidelity; /* how; AUTO: extrapolated */
    gboolean few_turns;    /* FLOW, of a pipeline of many turns and ranks: some of these, and as much for each other */
    guint32 ctas, threads;
    guint64 time_ps;    /* submission of the kernels to the end of the last one, with a library's copies */
    guint64 kernel_ps;  /* the same without launch, start, copies and exit: first CTA placed to last CTA done */
    guint64 algbw_MBps; /* bytes / time */
    guint64 busbw_MBps; /* with nccl-tests' factor for the operation */
    CollCheck check;
    char wrong[160]; /* first wrong element: rank, index, got, want */
} CollResult;

typedef struct CollGroup CollGroup;
/* Ranks 0..n-1 are GPUs gpu[0..n-1], or 0..n-1 when gpu is NULL. GError: no such GPU, fewer than two
 * ranks, the multicast tables are full (only when a multicast algorithm is then asked for). */
CollGroup *coll_group_new(Fabric *fabric, const guint16 *gpu, guint32 n, GError **error);
void coll_group_free(CollGroup *group); /* nothing may be under way */
guint32 coll_group_ranks(const CollGroup *group);
/* Told before each candidate of COLL_BEST or COLL_UNICAST: which of how many ("tree", "ll128", 3, 14). */
typedef void (*CollCandidate)(const char *algo, const char *proto, guint index, guint all, void *user);
void coll_group_on_candidate(CollGroup *group, CollCandidate candidate, void *user);
/* After COLL_BEST or COLL_UNICAST: why nothing that needs multicast was tried, since the switches' tables have no room
 * for the team; the group's. NULL: they have. */
const char *coll_group_left_out(const CollGroup *group);
/* Of the same: which candidates could not win since they do not end well, and why ("sym_mc simple gets stuck, tree ll
 * has requests that end with an error"); the group's. NULL: none. */
const char *coll_group_dropped(const CollGroup *group);
/* Before COLL_BEST or COLL_UNICAST: this is no candidate. What runs where nothing else is left: the first of all. */
void coll_group_leave(CollGroup *group, CollAlgo algo, CollProto proto);
/* Of simulations beside the group's own, as those of candidates: they answer questions that arrive there. NULL: none */
void coll_group_watch(CollGroup *group, WatchPage *page);

/* What COLL_FIDELITY_AUTO finds at two small sizes, in packets and in flows, so that runs of larger sizes which do
 * the same need not simulate it again. Groups that share one are on fabrics of one specification, with as many
 * GPUs, and the specs that they run differ in size, operation, type of elements, algorithm and protocol alone. */
typedef struct CollAnchors CollAnchors;
CollAnchors *coll_anchors_new(void);
void coll_anchors_free(CollAnchors *anchors);
void coll_group_share_anchors(CollGroup *group, CollAnchors *anchors); /* the caller's; NULL: none are kept */

/* "2.27.5" or "2.27"; known are 2.23 to 2.32, of which those above 2.30.7 choose as that one does. */
gboolean coll_nccl_parse(const char *text, guint32 *version, GError **error);
char *coll_nccl_format(guint32 version); /* "2.27.5"; caller frees */
guint32 coll_nccl_newest(void);          /* what a version of 0 stands for: the newest whose source was read */

/* Where spec->algo is AUTO: sets the algorithm, and of frameworks CTAs, threads and copies, to what spec->library
 * takes on this group; where NCCL chooses by protocol too, AUTO stays, which coll_choice resolves. coll_run and
 * coll_start do this themselves. */
void coll_library_apply(const CollGroup *group, CollSpec *spec);
/* Why AUTO stands for the algorithm that it does, to be read behind its name ("the fastest by ..."): by whose rule, and
 * what that implies; caller frees. spec->algo is AUTO. */
char *coll_library_why(const CollGroup *group, const CollSpec *spec);
extern const char *const coll_library_names[]; /* NULL-terminated, by number */
static inline gboolean coll_library_is_framework(CollLibrary library)
{
    return library == COLL_TRTLLM || library == COLL_VLLM || library == COLL_SGLANG;
}
/* Time of spec->copies of spec->bytes (or as_bytes) inside each GPU. */
guint64 coll_copies_ps(const CollGroup *group, const CollSpec *spec);
gboolean coll_library_parse(const char *name, CollLibrary *library);

/* FALSE with a reason (COLL_ERROR) when this combination cannot run: unknown pair of operation and
 * algorithm, size no multiple of element or ranks, no multicast on the system, type not of the switch. */
gboolean coll_check(const CollGroup *group, const CollSpec *spec, GError **error);
/* The largest size of a collective: a rank's buffer of it is all the memory that a GPU of today has beside the other
 * buffer. coll_check refuses more, naming the largest that is whole elements on every rank. */
#define COLL_BYTES_MAX (64ull << 30)
/* What coll_run would take: `auto` and `sym` resolved, without running anything. Not for COLL_BEST. */
void coll_choice(const CollGroup *group, const CollSpec *spec, CollAlgo *algo, CollProto *proto);
/* Bytes after which `algo` does the same again: what to step by when larger sizes are extrapolated. */
#define COLL_TURN_LEAST (4ull << 20)
guint64 coll_turn_bytes(const CollGroup *group, const CollSpec *spec, CollAlgo algo);
/* What is chosen by size: runs of one operation of which this and the size are equal are the same; where only the
 * sizes differ, the larger one does more of the same. Not for COLL_BEST, nor for a spec that coll_check refuses. */
typedef struct {
    CollAlgo algo;
    CollProto proto;
    guint32 ctas, threads;
    guint64 turn_bytes;
    gboolean cached;       /* user's buffers in the L2 */
    gboolean written_back; /* what goes through slots, to HBM */
} CollShape;
CollShape coll_shape(const CollGroup *group, const CollSpec *spec);
gboolean coll_shape_equal(const CollShape *a, const CollShape *b);
/* FALSE of a search: result has which algorithm and protocol won, if they then got stuck (COLL_ERROR_STUCK). */
gboolean coll_run(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error);

/* As coll_run, of a spec that names its algorithm, in a simulation of its own on such a fabric as the group's, which
 * is freed. COLL_ERROR_LATE: it takes longer than limit_ps, at which it ended; 0: no limit. COLL_ERROR_FAULTS: requests
 * of it ended with an error. */
gboolean coll_try(const CollGroup *group, const CollSpec *spec, guint64 limit_ps, CollResult *result, GError **error);

/* What coll_run makes of spec->fidelity: COLL_PACKET, COLL_FLOW, or COLL_FIDELITY_AUTO for flows with
 * measured rates (spec->algo: not COLL_AUTO). Other than packets need a timing-only fabric. */
CollFidelity coll_fidelity(guint32 ranks, const CollSpec *spec);
#define COLL_AUTO_CROSSINGS 100000000u
/* How many times a packet of such a run crosses a link, all ranks together; good to a third. It is what a run of
 * packets costs the host. */
guint64 coll_link_crossings(guint32 ranks, const CollSpec *spec);
/* FALSE: whatever the fidelity is, packets are sent. */
gboolean coll_flows_apply(const CollGroup *group, CollProto proto);
const char *coll_fidelity_name(CollFidelity fidelity);

typedef struct Coll Coll;
typedef void (*CollDone)(Coll *coll, const CollResult *result, void *user);
/* Starts one at the current time; `done` is called once from an event, then the Coll is gone. */
Coll *coll_start(CollGroup *group, const CollSpec *spec, CollDone done, void *user, GError **error);

/* NULL-terminated, in the order of their numbers: for lists and suggestions. */
extern const char *const coll_op_names[], *const coll_algo_names[], *const coll_proto_names[];
const char *coll_op_name(CollOp op);               /* "all_reduce" */
const char *coll_redop_name(const CollSpec *spec); /* "add", "avg"; "none" where nothing is summed */
gboolean coll_reduces(CollOp op);                  /* all_reduce, reduce_scatter, reduce */
gboolean coll_has_root(CollOp op);                 /* broadcast, reduce, gather, scatter */
const char *coll_algo_name(CollAlgo algo);         /* "ring" */
const char *coll_proto_name(CollProto proto);
gboolean coll_op_parse(const char *name, CollOp *op);
gboolean coll_algo_parse(const char *name, CollAlgo *algo);
gboolean coll_proto_parse(const char *name, CollProto *proto);
/* BEST and UNICAST: several runs. */
static inline gboolean coll_is_search(CollAlgo algo) { return algo == COLL_BEST || algo == COLL_UNICAST; }
gboolean coll_has_protocols(CollOp op, CollAlgo algo);   /* LL and LL128; AUTO, BEST and UNICAST find some that have */
gboolean coll_needs_multicast(CollOp op, CollAlgo algo); /* of an algorithm that runs, not of AUTO */
/* The algorithms that an operation has, in order; ends with COLL_ALGOS. */
typedef struct {
    CollAlgo algo[COLL_ALGOS + 1];
} CollAlgoList;
CollAlgoList coll_algos_of(CollOp op);
/* Whose kernels they are; NCCL: what classic NCCL runs, of what AUTO can stand for. */
typedef enum { COLL_OF_NCCL, COLL_OF_SWITCH, COLL_OF_PEERS, COLL_OF_SYMMETRIC_MEMORY, COLL_FAMILIES } CollFamily;
CollFamily coll_algo_family(CollAlgo algo); /* of one that runs */
const char *coll_algo_how(CollAlgo algo);   /* how to come by it, a line for people */
static inline gboolean coll_algo_is_nccl(CollAlgo algo) { return coll_algo_family(algo) == COLL_OF_NCCL; }

#define COLL_ERROR (coll_error_quark())
GQuark coll_error_quark(void);
typedef enum { COLL_ERROR_SPEC, COLL_ERROR_SYSTEM, COLL_ERROR_STUCK, COLL_ERROR_LATE, COLL_ERROR_FAULTS } CollErrorCode;

#endif
