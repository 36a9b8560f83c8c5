/* Kernels of PTX on simulated SMs: the executor of ptx gives each warp's instructions, the model of model/sm their
 * time and their memory.
 *
 *     kernel_launch(fabric, gpu, vas, &spec, delay_ps, on_done, user, &error);
 *
 * A CTA of the grid is a Cta of the model, with room on an SM by warps, shared memory and registers; the CTAs of a
 * cluster are placed together. Each warp is a generator of micro-operations (WarpNext in model/sm/sm.h): it runs
 * the executor until memory is asked for, and hands the access to the LSU, so that it takes the same way as one of a
 * device program. Loads run ahead until their registers are used.
 * Modelled, and left out: see docs/kernels.md.
 *
 * Bytes of an access are read and written when the model performs it, in its own order. Data are always kept: a
 * timing-only fabric takes no kernel. */
#ifndef DEVICE_KERNEL_KERNEL_H
#define DEVICE_KERNEL_KERNEL_H

#include "ptx/run/warp.h"
#include "model/fabric/fabric.h"
#include "model/sm/sm.h"

typedef struct KernelLaunch KernelLaunch;
typedef struct KernelTrace KernelTrace; /* trace.h */
typedef void (*KernelDone)(const KernelLaunch *launch, void *user);
typedef enum {
    KERNEL_TRIGGERED, /* each CTA has executed griddepcontrol.launch_dependents, or has ended */
    KERNEL_PERFORMED  /* all CTAs have ended and their stores are performed; `done` is still to come */
} KernelMoment;
typedef void (*KernelReaches)(const KernelLaunch *launch, KernelMoment moment, void *user);

/* What is launched. Zero is right for what is not needed. */
typedef struct {
    PtxImage *image;    /* not owned; its banks are in memory that `vas` maps. It must outlive the launch */
    PtxFunction *entry; /* of the image's module */
    guint32 grid[3], block[3];
    guint32 cluster[3];       /* 0: what the kernel says, else 1 */
    guint32 dynamic_shared;   /* bytes */
    const void *param;        /* entry->param_bytes bytes (PtxParam.offset); copied */
    gboolean cooperative;     /* all CTAs must fit at once, or the launch is refused */
    guint64 workspace;        /* of a cooperative launch: 8 bytes that no other launch under way has; 0: none */
    guint64 heap, heap_bytes; /* memory for malloc in kernels, 0: none; every launch of a context gives the same */
    void (*print)(void *user, const char *text); /* vprintf of one thread; NULL: to standard output */
    void *print_user;
    gboolean keep_spans;      /* for kernel_spans() */
    gboolean depends;         /* its griddepcontrol.wait holds until kernel_release() */
    KernelReaches reaches;    /* called once at each moment, from an event; NULL: never */
    const KernelTrace *trace; /* a warp whose instructions are told, to `tell`; NULL: none. Not owned */
    void (*tell)(void *user, const char *line);
    void *tell_user;
} KernelSpec;

/* What the time of warps went to. */
typedef enum {
    KERNEL_ISSUES,        /* their own instructions, with the latencies that these take alone */
    KERNEL_WAITS_PIPE,    /* units of the SM were busy with other warps' instructions */
    KERNEL_WAITS_CODE,    /* instructions that the SM did not have yet */
    KERNEL_WAITS_LSU,     /* the load/store unit, the SM's port or its limits were full */
    KERNEL_WAITS_MEMORY,  /* a value that was not there yet */
    KERNEL_WAITS_POLL,    /* the same in a loop that polls */
    KERNEL_WAITS_BARRIER, /* others: barriers of CTA and cluster, mbarriers, lanes of the warp, the grid before */
    KERNEL_WAITS_FENCE,
    KERNEL_SLEEPS,   /* nanosleep */
    KERNEL_DRAINING, /* its last instruction is issued; its stores are not performed */
    KERNEL_WAITS
} KernelWait;

/* Whose memory an access goes to. */
typedef enum {
    KERNEL_OWN,
    KERNEL_PEER,
    KERNEL_MULTICAST,
    KERNEL_HOST,
    KERNEL_L1 /* loads that it answers */,
    KERNEL_TARGETS
} KernelTarget;

/* So long an SM had CTAs of a launch without a break, and how many came in that time. */
typedef struct {
    guint32 sm, ctas;
    SimTime start_ps, end_ps;
} KernelSpan;

typedef struct {
    guint64 instructions; /* of warps */
    guint64 accesses;     /* that were asked of memory, of warps */
    guint64 polls;        /* reads of loops that poll, beyond the first two: no packets go for them */
    guint64 divergences, joins_given_up;
    guint32 ctas;                         /* that ran */
    guint64 wait_ps[KERNEL_WAITS];        /* of all warps together; the sum is how long they lived */
    guint64 sm_ps;                        /* of all SMs together: with CTAs of the launch */
    guint64 bytes[KERNEL_TARGETS];        /* of lanes: read, written, and operands; at a multicast address once */
    guint32 traced;                       /* warps that were */
    const char *called;                   /* interned: the first function called by its address; NULL: none was */
    guint64 mc_loads, mc_stores, mc_reds; /* instructions of warps: multimem.ld_reduce, .st, .red, and in bulk */
} KernelStats;

/* Starts a kernel so long from now (its first instruction). NULL: *error (KERNEL_ERROR) says why it cannot be.
 * `done` is called from an event when all CTAs have ended and their stores are performed, or the kernel was ended by a
 * fault. The launch is freed after it returned. */
KernelLaunch *kernel_launch(Fabric *fabric, guint16 gpu, Vas *vas, const KernelSpec *spec, guint64 delay_ps,
                            KernelDone done, void *user, GError **error);
/* The same checks alone. */
gboolean kernel_check(Fabric *fabric, const KernelSpec *spec, GError **error);
/* Ends a launch early, with that fault (its kind and text; where its first warp is goes with it); `done` comes when
 * nothing of it is under way any more. */
void kernel_abort(KernelLaunch *launch, PtxFaultKind kind, const char *text);

/* What a launch that depends waited for is there from that time on, which is not in the past. */
void kernel_release(KernelLaunch *launch, SimTime at_ps);

/* Valid inside `done`, and before. */
const PtxFault *kernel_fault(const KernelLaunch *launch); /* kind PTX_FAULT_NONE: it went well */
FaultKind kernel_fault_kind(const PtxFault *fault);       /* the same in the fabric's words */
KernelStats kernel_stats(const KernelLaunch *launch);     /* so far */
guint16 kernel_gpu(const KernelLaunch *launch);
const char *kernel_name(const KernelLaunch *launch);
SimTime kernel_start_ps(const KernelLaunch *launch), kernel_end_ps(const KernelLaunch *launch);
const GArray *kernel_spans(const KernelLaunch *launch); /* KernelSpan, in the order of their ends */

/* What the report at an mbarrier says of an operation on an endpoint: that of the lowest bit. */
const char *kernel_fabric_report_text(guint8 report);

/* How many CTAs of a kernel fit on one SM, by warps, CTAs, shared memory and registers; 0: not even one. */
guint32 kernel_occupancy(const FabricSpec *spec, PtxFunction *entry, guint32 threads, guint32 dynamic_shared,
                         GError **error);

#define KERNEL_ERROR (kernel_error_quark())
GQuark kernel_error_quark(void);
typedef enum {
    KERNEL_ERROR_SHAPE,       /* grid, block, cluster or shared memory that cannot be */
    KERNEL_ERROR_RESOURCES,   /* one CTA does not fit on an SM */
    KERNEL_ERROR_COOPERATIVE, /* more CTAs than fit at once */
    KERNEL_ERROR_DATA         /* the fabric keeps no bytes */
} KernelErrorCode;

#endif
