/* Inside the room: launches, their CTAs and warps. */
#ifndef DEVICE_KERNEL_INTERNAL_H
#define DEVICE_KERNEL_INTERNAL_H

#include "device/kernel/kernel.h"
#include "device/kernel/trace.h"
#include "model/memory/numeric.h"

typedef struct KernelWarp KernelWarp;
typedef struct KernelCta KernelCta;
typedef struct KernelCluster KernelCluster;
typedef struct KernelPoll KernelPoll;
typedef struct KernelStill KernelStill;
typedef struct KernelL1 KernelL1;

/* A load or atomic under way: its registers in the model. An access of 32 lanes of 32 B takes two. */
typedef struct KernelLoad {
    Reg reg;
    KernelWarp *warp;
    PtxAccess *access;
    struct KernelLoad *next; /* of the warp's spare ones */
    guint32 mask;            /* lanes that it brings, in the order of its lanes */
    gboolean is_run;         /* which are side by side */
    guint32 at;              /* of a bulk copy: where in the block its bytes go */
} KernelLoad;

/* A barrier of W warps takes 13 + 2 W clk when all come at once. Source: h100/memory.csv, bar.sync 0. */
#define KERNEL_ARRIVAL_CLK 2u
#define KERNEL_BARRIER_CLK 13u
/* From a bulk copy's instruction to its first packet.
 * Source: h100/memory.csv: bulk global>shared of 16 B to 4 KiB takes 435 to 473 clk, a load from the L2 282;
 * shared>global + wait_group of 16 B 159. */
#define KERNEL_BULK_CLK 155u
/* A copy by a tensor map makes one row of its box a clock, and takes the unit so long at least.
 * Source: docs/measurements/tensor_times.csv: 32 loads of 256 rows take 271 clk each, those of 4 to 64 rows 86; alone
 * they take as long as plain bulk copies, once the SM has the map. */
#define KERNEL_TENSOR_ROW_CLK 1u
#define KERNEL_TENSOR_COPY_CLK 80u
#define KERNEL_FENCE_CTA_CLK 11u /* Source: h100/classes.csv, fence.acq_rel.cta */
/* What a wait for an mbarrier or a cluster's barrier takes beside.
 * Source: h100/memory.csv: barrier.cluster arrive.relaxed + wait; mbarrier arrive + try_wait. */
#define KERNEL_CLUSTER_CLK 77u
#define KERNEL_MBARRIER_CLK 20u

typedef enum { KERNEL_RUNS, KERNEL_LAST_ISSUED, KERNEL_DRAINS, KERNEL_LOADS, KERNEL_ENDED } KernelStage;

struct KernelWarp {
    KernelCta *cta;
    Warp *warp;        /* of the model */
    PtxWarp *ptx;      /* NULL: it is a CTA's unit for bulk copies */
    SimTime time_ps;   /* its own: when its next instruction can issue */
    SimTime matrix_ps; /* when its matrix unit has done what it was given */
    guint8 stage;      /* KernelStage */
    guint8 doing;      /* KernelWait: what its time since counted_ps goes to */
    SimTime counted_ps;
    PtxAccess *access;  /* being given to the LSU */
    guint32 left;       /* its lanes that are not yet */
    guint32 multicast;  /* lanes of a plain store that write to a multicast address */
    guint32 block_at;   /* the same of bulk copies */
    guint32 loads;      /* KernelLoads under way */
    guint32 bulk;       /* its copies that the CTA's unit has */
    guint64 accesses;   /* that it has asked for */
    gboolean turns;     /* before it goes on, it has a turn of the LSU */
    gboolean woken;     /* from a rest: still.c */
    gboolean fenced;    /* since it was looked at there */
    gboolean changed;   /* since its last poll it did more than arithmetic */
    KernelPoll *poll;   /* NULL: it has not loaded yet */
    SimTime active_ps;  /* when it last did something that others could know of, or waited for others */
    KernelStill *still; /* NULL: it has not been at nothing for long */
    GArray *hits;       /* loads that the L1 answers, and when; NULL: never any */
    KernelLoad *spare;
    Reg out; /* what the micro-operation at hand stores */
    guint8 out_bytes[REG_BYTES], second[REG_BYTES];
};

struct KernelCta {
    KernelLaunch *launch;
    KernelCluster *cluster;
    Cta *cta;
    PtxCta *ptx;
    KernelWarp *warp;
    guint32 running;    /* warps */
    gboolean triggered; /* it has let dependent kernels start, or has ended */
    KernelWarp copier;  /* copies in bulk, one after the other, */
    Warp copier_warp;
    GArray *copies;          /* KernelCopy: those that wait; NULL: never any */
    SimTime tensor_ps;       /* when its unit can begin the next copy by a tensor map */
    SimTime barrier_free_ps; /* when arrivals at its barriers have been counted */
    Event end;
};

struct KernelCluster {
    KernelLaunch *launch;
    PtxCluster *ptx;
    guint32 size, ended;
    gboolean placed;
    KernelCta *cta;
    KernelCluster *next, *prev;
};

/* An SM's CTAs of a launch. */
typedef struct {
    guint32 resident, ctas;
    SimTime since_ps;
} KernelSm;

struct KernelLaunch {
    Fabric *fabric;
    Gpu *gpu;
    Vas *vas;
    KernelSpec spec;
    PtxHost host;
    const char *name; /* interned */
    PtxGrid *grid;
    KernelWarp *running; /* whose instructions are being executed */
    KernelStats stats;
    KernelSm *sm;
    GArray *spans;                /* KernelSpan */
    guint32 registers;            /* of a CTA, as they are given out */
    KernelL1 **l1;                /* by SM; each made when first needed */
    guint64 next, clusters, done; /* clusters: to place next, of the grid, ended */
    KernelCluster *live;
    gboolean placing, waiting, told, traces, released;
    guint64 triggered;    /* CTAs */
    SimTime triggered_ps; /* by the last of them */
    Event trigger, release;
    SimTime start_ps, end_ps, issued_ps, drained_ps;
    Event start, end;
    KernelLaunch *next_launch; /* of the GPU */
    KernelDone on_done;
    void *user;
};

/* warp.c: the generator, and what becomes of its warp when it ends. */
gboolean kernel_next(Warp *warp, Uop *uop);
void kernel_warp_start(KernelWarp *warp, KernelCta *cta, guint32 index, SimTime now_ps);
void kernel_warp_clear(KernelWarp *warp);
void kernel_stop(KernelLaunch *launch); /* a fault is noted: all warps come to their end */
/* issue.c: the next micro-operation of the access at hand; FALSE: it has been given out as a whole. */
gboolean kernel_issue_next(KernelWarp *warp, Uop *uop);
/* account.c: why an access may not touch these bytes; NULL: it may. A fault of such an access; always FALSE. */
const char *kernel_wrong_at(const KernelWarp *warp, const PtxAccess *access, guint64 va, guint32 bytes);
gboolean kernel_fault_at(KernelWarp *warp, const PtxAccess *access, guint lane, guint64 va, const char *text);
/* load.c: one part of a load; what a warp keeps for the next; a bulk copy leaves the CTA's unit, before
 * ptx_access_complete(). */
Reg *kernel_load_begin(KernelWarp *warp, PtxAccess *access, guint32 mask, gboolean is_run, guint32 at);
void kernel_loads_clear(KernelWarp *warp);
void kernel_bulk_completed(PtxAccess *access);
/* block.c: the same of bulk copies: whether all of one may be touched, and its next micro-operation. */
gboolean kernel_block_check(KernelWarp *warp, PtxAccess *access);
void kernel_block_next(KernelWarp *warp, Uop *uop);
gboolean kernel_issue_begin(KernelWarp *warp, PtxAccess *access); /* FALSE: a fault, and it is noted */
/* l1.c: TRUE: the load at hand finds its bytes there, and is answered without packets. */
gboolean kernel_l1_takes(KernelWarp *warp, PtxAccess *access);
void kernel_l1_due(KernelWarp *warp, SimTime now_ps); /* answers those whose time has come */
SimTime kernel_l1_when(const KernelWarp *warp);       /* of the first of them; 0: none is under way */
void kernel_l1_clear(KernelWarp *warp);               /* of its SM */
void kernel_l1_free(KernelLaunch *launch);
/* poll.c: TRUE: the load at hand is one of a loop that polls, and is answered without packets. */
gboolean kernel_poll_takes(KernelWarp *warp, PtxAccess *access);
void kernel_poll_answered(KernelWarp *warp, const PtxAccess *access, SimTime now_ps); /* one in packets */
gboolean kernel_poll_due(KernelWarp *warp, SimTime now_ps); /* TRUE: it was, and is answered now */
SimTime kernel_poll_when(const KernelWarp *warp);           /* 0: not known */
void kernel_poll_changed(KernelWarp *warp, SimTime now_ps); /* poll_watch.c: what its loop looks at beside */
gboolean kernel_poll_waits(const KernelWarp *warp);         /* for a read that no packet goes for */
gboolean kernel_poll_watches(const KernelWarp *warp, guint64 *va);
void kernel_poll_clear(KernelWarp *warp);
/* still.c: TRUE: the warp repeats itself, and rests until its cluster changes; then when it goes on; it has begun
 * something else. */
gboolean kernel_still_takes(KernelWarp *warp, gboolean sleeps);
void kernel_still_woken(KernelWarp *warp, SimTime now_ps);
void kernel_still_clear(KernelWarp *warp);
/* Types and operations in the model's words. */
NumericType kernel_numeric_type(PtxType type);
NumericOp kernel_numeric_op(PtxWord op);
/* fabric.c: an operation on an endpoint is submitted, by a launch. What the report at its mbarrier says, a bit a cause:
 * PTX calls the value opaque, so these are ours. */
void kernel_fabric(void *launch, PtxFabricOp *op);
/* kernel_fabric_report_text() has a sentence for each. */
enum {
    KERNEL_FABRIC_NO_ENDPOINT = 1, /* not reserved, not created, or not ready */
    KERNEL_FABRIC_RANGE = 2,       /* beyond it, or nothing is bound there */
    KERNEL_FABRIC_UNREACHABLE = 4, /* of another clique, or the GPU is not of its team */
    KERNEL_FABRIC_KIND = 8,        /* unicast where multicast is asked for, or the other way; not for counted ones */
    KERNEL_FABRIC_LOST = 16,
    KERNEL_FABRIC_TIMEOUT = 32
};
/* bulk.c: the access goes to the CTA's unit for bulk copies. */
void kernel_bulk_begin(KernelWarp *warp, PtxAccess *access);
gboolean kernel_bulk_drains(KernelCta *cta); /* TRUE: its stores are under way; cta->end comes when they are not */
void kernel_bulk_clear(KernelCta *cta);
/* dependents.c: a CTA lets dependent kernels start, or has ended; what griddepcontrol asks of the host. */
void kernel_dependents_init(KernelLaunch *launch);
void kernel_dependents_end(KernelLaunch *launch);
void kernel_triggered(KernelCta *cta, SimTime at_ps);
void kernel_performed(KernelLaunch *launch);
void kernel_launch_dependents(void *launch, PtxCta *cta);
gboolean kernel_grid_dependency(void *launch, PtxWarp *warp);
/* heap.c: 0: there is no room. */
guint64 kernel_heap_allocate(KernelLaunch *launch, guint64 bytes);
void kernel_heap_release(KernelLaunch *launch, guint64 va);
/* code_cache.c: bits of the lines of a function's instructions that an SM has. */
guint64 *kernel_code_lines(KernelLaunch *launch, guint32 sm, const PtxCode *code);
/* fit.c: the grid of launch->spec, with what it takes of an SM. FALSE: it is not possible. */
gboolean kernel_fit(KernelLaunch *launch, GError **error);
/* host.c: what the executor asks for. */
extern const PtxHost kernel_host; /* without clock_ps */
extern const TxnAtomic kernel_atomic;
const KernelWarp *kernel_first_warp(const KernelLaunch *launch, guint64 *waiting); /* NULL: none runs */
char *kernel_waiter_text(void *gpu);                                               /* a SimWaiterText */
/* account.c: a warp's time is counted up to now; it executed from from_ps to its own time, which takes it alone_ps when
 * it is alone, code_ps of that for instructions to come; what a warp waits for that can do nothing; bytes by target. */
void kernel_account_until(KernelWarp *warp, SimTime now_ps);
void kernel_account_run(KernelWarp *warp, SimTime from_ps, SimTime alone_ps, SimTime code_ps);
KernelWait kernel_account_wait(const KernelWarp *warp, gboolean polls);
void kernel_account_bytes(const KernelLaunch *launch, const VasMapping *mapping, guint64 bytes);
void kernel_account_multicast(KernelLaunch *launch, PtxAccessKind kind);
void kernel_account_placed(KernelLaunch *launch, guint32 sm, SimTime now_ps);
void kernel_account_left(KernelLaunch *launch, guint32 sm, SimTime now_ps);
/* cost.c: what the instructions of a turn take a warp that is alone on its SM; and when they end, from its time on,
 * beside what others have the SM do. */
SimTime kernel_cost_ps(const KernelLaunch *launch, const PtxWarp *warp);
SimTime kernel_code_ps(const KernelLaunch *launch, const PtxWarp *warp); /* of that: to fetch them */
SimTime kernel_busy_until(KernelWarp *warp);
gboolean kernel_load_waits(const KernelWarp *warp, const PtxAccess *access); /* for a turn of the LSU before its own */
SimTime kernel_acquire_ps(const KernelWarp *warp, const PtxAccess *access);  /* more than a load without it */

#endif
