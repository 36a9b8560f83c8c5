/* Runs kernels: grids, CTAs, warps, and the seam to their host, which owns memory and time.
 *
 * A warp executes until an instruction is for its host. Registers, shared, local and parameter memory, barriers,
 * shuffles and votes are its own business; a global, peer, multicast or host access is put into a PtxAccess, which
 * ptx_warp_run hands out. The host may let the warp run on at once: a register that a load has still to bring blocks
 * only the instruction that uses it. When the answer is there, the host puts a load's bytes into the access and calls
 * ptx_access_complete. So the same executor serves a plain loop over flat memory and a generator of timed
 * micro-operations.
 *
 * Time is the host's: it is asked for it, and is told what a warp's instructions cost (PtxWarp.costs) and how many
 * ways its shared accesses conflicted. Before instructions by which warps wait for each other a host that keeps time
 * gets a turn (PTX_RUN_SLICE), so that they happen at their time.
 *
 * Diverged warps: see path.h. */
#ifndef PTX_RUN_WARP_H
#define PTX_RUN_WARP_H

#include "ptx/translate/code.h"

#define PTX_BARRIERS 16u
#define PTX_WARPS_MAX 32u
#define PTX_ACCESS_BYTES 32u /* of a lane, at most */

typedef struct PtxGrid PtxGrid;
typedef struct PtxCluster PtxCluster;
typedef struct PtxFrame PtxFrame;
typedef struct PtxJoin PtxJoin;
typedef struct PtxAccess PtxAccess;

/* ---- a module in a context */

typedef struct {
    PtxModule *module;               /* not owned */
    guint64 global_base, const_base; /* where its banks are */
    guint8 **pools; /* of each function: its constants with addresses filled in; made when first needed */
} PtxImage;
PtxImage *ptx_image_new(PtxModule *module, guint64 global_base, guint64 const_base);
void ptx_image_free(PtxImage *image);
/* The constants of a function; own_shared: where the kernel's own shared variables begin. */
const guint8 *ptx_image_pool(PtxImage *image, const PtxCode *code);

/* ---- what a warp asks of its host */

typedef enum {
    PTX_ACCESS_LOAD,
    PTX_ACCESS_STORE,
    PTX_ACCESS_RED,
    PTX_ACCESS_ATOM,
    PTX_ACCESS_MC_LOAD, /* multimem.ld_reduce */
    PTX_ACCESS_MC_STORE,
    PTX_ACCESS_MC_RED,
    PTX_ACCESS_FENCE,      /* completes when all earlier stores of the warp are performed, at `scope` */
    PTX_ACCESS_BULK_LOAD,  /* block_bytes from va[0] to block */
    PTX_ACCESS_BULK_STORE, /* from block to va[0] */
    PTX_ACCESS_BULK_RED,
    PTX_ACCESS_BULK_MC_STORE,
    PTX_ACCESS_BULK_MC_RED
} PtxAccessKind;

typedef enum { TARGET_NONE, TARGET_REGISTERS, TARGET_SHARED /* cp.async */, TARGET_BULK } PtxBringsTo;

struct PtxAccess {
    guint8 kind;         /* PtxAccessKind */
    guint8 width;        /* bytes of a lane */
    guint8 type;         /* PtxType of an element */
    guint8 op;           /* PtxWord: add, min, ..., cas, exch */
    guint8 acc;          /* PtxWord: acc::f32, acc::f16, or 0 */
    guint8 order, scope; /* PtxWord; 0: not written */
    gboolean noftz;      /* .noftz is written */
    guint32 mask;        /* lanes that take part */
    guint32 block_bytes;
    guint64 va[PTX_LANES];
    guint8 bytes[PTX_LANES *
                 PTX_ACCESS_BYTES]; /* lane l at l * width: stored, or operands; the answer of a load or atom */
    guint8 compare[PTX_LANES * 16]; /* of cas: what memory must hold; `bytes` is what is put there */
    guint8 *block;                  /* of bulk copies */
    guint64 *piece_va;              /* of copies by tensor maps: where each 16 bytes of block are; NULL: side by side */
    struct PtxTensorCopy *tensor;   /* such a copy, the executor's */
    guint32 row_bytes;              /* of it: of a row of its box; 0: it is none */
    guint32 parts;                  /* the host's, which may split it; 0 at first */
    const PtxIns *ins;              /* for messages: its line */
    PtxWarp *warp;
    guint8 target; /* PtxBringsTo: where its bytes belong */
    /* the executor's own */
    void (*land)(PtxAccess *access); /* takes the bytes of a copy when they have come; NULL: nothing does */
    gboolean outstanding, holds;     /* holds: the path that made it waits for it */
    PtxFrame *frame;
    struct PtxGroup *group;
    guint64 serial; /* of asynchronous copies, in order */
    guint32 shared_at[PTX_LANES], fill_bytes;
    guint8 take_bytes[PTX_LANES];
    guint32 barrier_at; /* mbarrier that gets block_bytes, in barrier_cta's shared memory */
    PtxCta *into;       /* whose shared memory a bulk copy fills */
    PtxCta *barrier_cta;
    guint32 multicast; /* CTAs of the cluster that get a copy; 0: the one */
    PtxAccess *next;
};

/* ---- operations on logical endpoints (fabric.c) */

typedef enum { PTX_FABRIC_PUT, PTX_FABRIC_GET, PTX_FABRIC_RED, PTX_FABRIC_PULLRED, PTX_FABRIC_ATOM } PtxFabricKind;

/* Bytes of an endpoint that lie side by side, and so in PtxFabricOp.block. */
typedef struct {
    guint64 offset;
    guint32 at, bytes; /* in the block */
} PtxFabricRun;

/* From fabric.submit on the host's, until it calls ptx_fabric_complete(), which frees it. */
typedef struct PtxFabricOp {
    guint8 kind;             /* PtxFabricKind */
    guint8 type, op, acc;    /* PtxType of an element; PtxWord: add, ..., cas; acc::f32, acc::f16, or 0 */
    gboolean multicast;      /* .multimem is written */
    gboolean counted;        /* the counter is at `counter` of the same endpoint */
    guint32 endpoint, bytes; /* identifier; of atom the size of a block, 16 */
    guint64 offset, counter;
    guint16 byte_mask; /* of each 16 bytes, those that are written */
    guint8 *block; /* what is put or reduced with; room for what is fetched; of atom its operand's block, of cas two of
                    * them (compare, desired), and then the old value's, at the place in 16 bytes that the offset has */
    struct PtxTensorCopy *tensor; /* whose box it is; NULL: of `bytes` bytes from `offset` on */
    PtxFabricRun *run;            /* n_run of them: where the box's bytes, those inside the tensor, lie */
    guint32 n_run;
    guint32 box_bytes; /* that the mbarrier is told of: `bytes`, and of a box what is outside the tensor */
    const PtxIns *ins; /* for messages, as long as `cta` is there */
    PtxWarp *warp;
    PtxCta *cta; /* NULL: the launch is gone; nobody wants the result */
    void *host;  /* the host's own */
    /* the executor's own */
    guint32 lanes, group, shared_at, operand_at, barrier_at;
    gboolean submitted, read;
    struct PtxFabricOp *next;
} PtxFabricOp;
void ptx_fabric_read(PtxFabricOp *op); /* `block` is no longer needed: fabric.wait may go on. Not needed of others */
/* report: 0: it went well; else what the mbarrier's report says. Its bytes are in `block`. */
void ptx_fabric_complete(PtxFabricOp *op, guint8 report);
void ptx_fabric_drop(PtxFabricOp *op); /* in its place, when all is torn down */

typedef enum { PTX_WAKE_BARRIER, PTX_WAKE_CLUSTER, PTX_WAKE_MBARRIER, PTX_WAKE_CHANGED } PtxWakeKind;
typedef struct {
    guint64 (*now_ps)(void *host);
    /* A warp that waited can go on; of barriers the last one to come too. CHANGED: one that the host had put to rest
     * (ptx_warp_still), since its cluster changed. NULL: the host need not be told. */
    void (*wake)(void *host, PtxWarp *warp, PtxWakeKind kind);
    /* Bytes of memory as they are now, without time: constants, strings. FALSE: nothing is there. */
    gboolean (*read)(void *host, guint64 va, void *bytes, gsize n);
    void (*print)(void *host, PtxCta *cta, const char *text); /* vprintf, one lane's text */
    guint64 (*allocate)(void *host, guint64 bytes);           /* malloc; NULL: none to be had */
    void (*release)(void *host, guint64 va);
    void (*launch_dependents)(void *host, PtxCta *cta);     /* NULL: ignored */
    gboolean (*grid_dependency)(void *host, PtxWarp *warp); /* griddepcontrol.wait: TRUE when met; NULL: always */
    guint32 (*sm)(void *host, PtxCta *cta, guint32 *count); /* %smid, %nsmid */
    /* Whether an instruction that passes the SM's load/store unit would wait there now (PTX_RUN_TURN). NULL: none. */
    gboolean (*lsu_is_busy)(void *host, PtxWarp *warp);
    /* A bit for each 128 B of a function's instructions (PtxCodeLines): those that the warp's SM has. NULL: all. */
    guint64 *(*fetched)(void *host, PtxWarp *warp, const PtxCode *code);
    /* A warp that is traced (PtxWarp.traced) executed an instruction then, or an answer came: a line of text. */
    void (*trace)(void *host, PtxWarp *warp, guint64 time_ps, const char *text);
    /* An operation on an endpoint is submitted. May complete it at once. NULL: there are no endpoints. */
    void (*fabric)(void *host, PtxFabricOp *op);
    guint64 clock_ps;    /* of an SM clock cycle */
    gboolean keeps_time; /* and clears PtxWarp.costs at each turn */
} PtxHost;

typedef enum {
    PTX_RUN_ACCESS, /* *access is for the host; call again for more */
    PTX_RUN_WAIT,   /* nothing to do before a completion or a wake */
    PTX_RUN_SLEEP,  /* before PtxWarp.wake_ps */
    PTX_RUN_TURN,   /* before it has a turn of the load/store unit, which the host counts in PtxWarp.turned */
    PTX_RUN_SLICE,  /* the budget is used up */
    PTX_RUN_EXIT,   /* all lanes are done */
    PTX_RUN_FAULT   /* PtxGrid.fault says what; the grid is at its end */
} PtxRun;

typedef enum {
    PTX_FAULT_NONE,
    PTX_FAULT_TRAP,
    PTX_FAULT_ASSERT,
    PTX_FAULT_ILLEGAL_ADDRESS,
    PTX_FAULT_MISALIGNED,
    PTX_FAULT_ILLEGAL_INSTRUCTION,
    PTX_FAULT_STACK,
    PTX_FAULT_BARRIER,
    PTX_FAULT_CODE,
    PTX_FAULT_HUNG /* the host ended it */
} PtxFaultKind;
typedef struct {
    PtxFaultKind kind;
    char *text; /* one sentence; owned by the grid */
    const PtxFunction *function;
    guint32 line, source_line; /* of the PTX, of the source where .loc says so (else 0) */
    guint32 cta[3], warp, lane;
    guint64 va;
} PtxFault;

/* ---- a launch */

struct PtxGrid {
    PtxImage *image; /* not owned */
    PtxFunction *entry;
    const PtxHost *host;
    void *user;                  /* given to the host's functions */
    void (*bind)(PtxCode *code); /* what is entered for the first time (handlers.c) */
    guint32 dim[3], block[3], cluster[3];
    guint32 threads, n_warps; /* of a CTA */
    guint32 static_shared, dynamic_shared;
    guint32 functions_shared, functions_end; /* of functions that it calls: PtxUsage */
    guint64 id;
    guint8 *param;         /* param_bytes of the entry */
    guint64 workspace;     /* of a cooperative launch: where its CTAs meet; 0 at first, the host sets it */
    guint32 back_branches; /* of siblings, before lanes that wait at a join go on without them */
    guint32 spin_branches; /* the same in loops that poll */
    PtxFault fault;
    /* counted */
    guint64 instructions, divergences, joins_given_up;
    const PtxFunction *called; /* the first that was called by its address; NULL: none was */
};
#define PTX_BACK_BRANCHES 4096u
#define PTX_SPIN_BRANCHES 16u

/* dim, block, cluster (NULL: 1,1,1 or what the kernel says); param: param_bytes of the entry. NULL: *error. */
PtxGrid *ptx_grid_new(PtxImage *image, PtxFunction *entry, const guint32 dim[3], const guint32 block[3],
                      const guint32 *cluster, guint32 dynamic_shared, const void *param, const PtxHost *host,
                      void *user, GError **error);
void ptx_grid_free(PtxGrid *grid);

/* ---- a CTA */

typedef struct {
    guint32 lanes[PTX_WARPS_MAX];       /* that have arrived */
    guint32 expected;                   /* threads; 0: all of the CTA that are left */
    guint32 red_count, red_and, red_or; /* of barrier.red */
    gboolean used;
} PtxBarrier;

struct PtxCta {
    PtxGrid *grid;
    PtxCluster *cluster_of;
    guint32 index[3], rank; /* in the grid; in its cluster */
    guint8 *shared;
    guint32 shared_bytes;
    PtxWarp *warp; /* n_warps of them */
    PtxBarrier barrier[PTX_BARRIERS];
    guint32 live;               /* threads that have not ended */
    struct PtxFabricOp *fabric; /* operations on endpoints that are not complete, in the order of their issue */
    void *user;                 /* the host's */
};

struct PtxCluster {
    guint32 size, arrived_threads, phase;
    guint32 live;
    guint64 changes; /* of what its warps may see of each other: shared memory, barriers, ends */
    guint32 n_still; /* warps that are put to rest */
    gboolean exact;  /* a store of what is there already is no change; to know that takes time */
    PtxCta **cta;    /* by rank */
};

/* A cluster of CTAs (often one), first at `index`; each has its warps ready to run. */
PtxCluster *ptx_cluster_new(PtxGrid *grid, const guint32 index[3]);
void ptx_cluster_free(PtxCluster *cluster);

/* ---- a warp */

typedef struct PtxGroup { /* of asynchronous copies */
    guint32 mask, pending;
    struct PtxGroup *older;
} PtxGroup;

/* Products of wgmma that are not waited for: hundredths of a clk that matrix units need for them. */
#define PTX_WGMMA_GROUPS 8u
typedef struct {
    gboolean fenced;                 /* the warp has executed wgmma.fence */
    guint32 open;                    /* not yet committed */
    guint32 group[PTX_WGMMA_GROUPS]; /* committed, the newest first; what is older is in the last one */
    guint32 n_groups, behind;        /* behind its unit's work, the newest one's results are there */
} PtxWgmma;

struct PtxWarp {
    const guint8 *base[2]; /* registers of the current frame, its constants */
    PtxPath *current;
    PtxCta *cta;
    guint32 index;             /* in its CTA */
    guint32 live;              /* lanes that have not ended */
    guint32 cluster_phase;     /* in which it last arrived at its cluster's barrier */
    guint32 carry;             /* condition code, a bit a lane */
    PtxPath *head, *tail;      /* all paths, in the order in which they run next */
    guint32 n_paths, n_parked; /* lanes that wait at a join are no path */
    PtxJoin *joins;            /* where some wait, newest first */
    PtxAccess *pending, *spare;
    PtxGroup *groups[2], *open[2]; /* cp.async, cp.async.bulk: committed, newest first; not yet committed */
    struct PtxDeferred *deferred;
    guint64 serial;
    guint32 fabric_group; /* that the next operation on an endpoint will belong to */
    guint8 *local;        /* 32 stacks */
    guint32 local_bytes;  /* of a lane */
    guint64 wake_ps;      /* of PTX_RUN_SLEEP */
    gboolean ended;
    guint32 turned;            /* turns that the instruction at hand has had of the load/store unit */
    PtxCosts costs;            /* since the host last cleared them */
    guint32 shared_ways;       /* the same: bank conflicts beyond the first pass */
    gboolean matrix_waits;     /* the same: it waits for its matrix unit, but for so much of its newest work, */
    guint32 matrix_left;       /* hundredths of a clk */
    gboolean matrix_sync;      /* the same: mma.sync, whose unit the warp's time includes */
    const PtxCode *fetch_code; /* of which fetch_lines are */
    guint64 *fetch_lines;      /* of its SM; NULL: nothing is fetched */
    guint32 fetches;           /* since the host last cleared them: lines that were not there */
    const PtxIns *from;        /* the first instruction of the current path's code whose costs are not in them */
    GString *traced;           /* room for a line, made by the host and freed with the warp; NULL: it is not traced */
    guint64 trace_ps;
    PtxAccess *handed;    /* made by the instruction at hand, for the host */
    guint64 effects;      /* clocks that it has looked at, services of the system that it has had */
    guint64 looks, tries; /* at what its cluster can change: at shared memory and mbarriers; waits for these */
    guint64 looked_at;    /* the last of them: where in shared memory */
    PtxWgmma wgmma;
    gboolean still; /* put to rest: ptx_warp_still() */
    void *user;     /* the host's */
};

/* Runs until something is for the host, or for about `budget` instructions. */
PtxRun ptx_warp_run(PtxWarp *warp, guint32 budget, PtxAccess **access);
void ptx_access_complete(PtxAccess *access); /* it is the executor's again */
/* The registers of the call that made it, as long as it is not complete: the same place each time. */
const guint8 *ptx_access_registers(const PtxAccess *access, gsize *bytes);
/* memory = memory op operand, for one lane; the old value goes to old (may be the operand itself). */
void ptx_atomic_apply(PtxType type, PtxWord op, guint bytes, guint8 *memory, const guint8 *operand,
                      const guint8 *compare, guint8 *old, gboolean in_l2 /* else in shared memory */);
/* Ends the grid, for a reason that the host found; ins NULL: none. The first one stands. Always STEP_FAULT. */
PtxStep ptx_fault(PtxWarp *warp, const PtxIns *ins, guint32 lane, PtxFaultKind kind, guint64 va, const char *format,
                  ...) G_GNUC_PRINTF(6, 7);

guint32 ptx_warp_line(const PtxWarp *warp); /* of PTX, where its next path is; for messages */
/* All that its next instructions depend on but memory, time and other warps (still.c), in place of what is in `to`. A
 * warp with no access under way whose picture is what it was, while its cluster's `changes` and its own `effects` are
 * what they were, repeats itself until the cluster changes. */
void ptx_warp_picture(const PtxWarp *warp, GByteArray *to);
/* Whether nothing of a warp can go on but the path of this access: no lanes at a join, which would be let go after more
 * turns; other paths wait for lanes or warps that are not there. */
gboolean ptx_warp_is_alone(const PtxWarp *warp, const PtxAccess *access);
guint32 ptx_warp_pc(const PtxWarp *warp); /* of its first path, 0: it has ended */
/* Such a warp is put to rest: the first change wakes it, and makes it FALSE again, as the host may. */
void ptx_warp_still(PtxWarp *warp, gboolean still);
/* What griddepcontrol.wait waits for is there. FALSE: none of its lanes waits so. */
gboolean ptx_warp_met(PtxWarp *warp);
/* What the path that runs next waits for; PATH_LOAD when none is left. */
typedef enum {
    PATH_READY,
    PATH_LOAD /* a register */,
    PATH_ACCESS /* that one */,
    PATH_BARRIER,
    PATH_GATHER,
    PATH_CLUSTER,
    PATH_SLEEP,
    PATH_GROUP,
    PATH_GRID,
    PATH_MBARRIER
} PtxPathState;
PtxPathState ptx_warp_waits(const PtxWarp *warp);
/* "waits at barrier 1", for a report of a stuck run. */
const char *ptx_warp_state(const PtxWarp *warp);

#endif
