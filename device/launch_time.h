/* The time of a launch: what a kernel costs beside its instructions, from the call to its end, as the device takes it
 * and as people measured it. Decided here alone; docs/launch-time.md tells the parts in their order, with the rest
 * that a model of the device knows nothing of (calls of a driver, the first look at parameters).
 *
 * Modelled: the way from the host, starts of CTAs one after the other, fetches of code, the end, kernels that follow
 * each other; and one constant for each way of timing and program, since published times contain it.
 * Left out: what the host does meanwhile. Sources: the presets, [sm] and [launch]. */
#ifndef DEVICE_LAUNCH_TIME_H
#define DEVICE_LAUNCH_TIME_H

#include "model/shared/spec.h"
#include "sim/engine/simtime.h"

/* [launch]. What a measured time contains beside the kernel: one constant for each way of timing and program. */
typedef struct LaunchSpec {
    guint64 stream_nccl_ps;         /* NCCL, one process: its thread's time for each rank's launch */
    guint64 kernel_kernel_ps;       /* hand-written kernel, timed as a kernel */
    guint64 graph_kernel_ps;        /* hand-written kernel in a CUDA graph: from one kernel to the next */
    guint64 eager_kernel_ps;        /* hand-written kernel, launched one by one */
    guint64 graph_nccl_sym_ps;      /* NCCL's symmetric kernels in a CUDA graph: from one kernel to the next */
    guint64 eager_nccl_sym_rank_ps; /* one by one, one process: a launch for each GPU in turn; kernels run beside */
    guint64 graph_nccl_ps;          /* classic NCCL in a CUDA graph */
    guint64 eager_nccl_ps;          /* classic NCCL, back to back */
    guint64 thread_nccl_ps;         /* classic NCCL, one process with a thread a GPU, back to back: */
    guint64 thread_nccl_rank_ps;    /* and for each rank */
    guint64 thread_p2p_ps;          /* at least: the same, sends and receives in Simple, whose buffers NCCL looks up */
    guint64 nccl_cluster;           /* CTAs of a cluster of NCCL's kernels; 0: no clusters */
    guint64 eager_torch_ps;         /* classic NCCL by PyTorch, each call alone between two events */
} LaunchSpec;
extern const ParamRow launch_params[];

/* All parameters of a system: the fabric's, which fabric_params() has, and those of launches, which the set owns. */
void device_params(ParamSet *set, FabricSpec *spec);
/* Those of launches; spec is of device_params(), whose set is still there, or a copy of such a one. */
const LaunchSpec *launch_spec(const FabricSpec *spec);

/* ---- on the device */

/* From the call to the first instruction, where nothing else is to be waited for. */
SimTime launch_time_alone_ps(const FabricSpec *spec);
/* From now to the first instruction of a kernel that was asked for at submit_ps. It starts no earlier than ready_ps,
 * when what it waits for has ended; what of its own time has passed until then is not waited for again. */
SimTime launch_time_first_ps(const FabricSpec *spec, SimTime submit_ps, SimTime ready_ps, SimTime now_ps);
/* When a kernel ends, as calls and events see it: its last instruction was issued, its last store performed. */
SimTime launch_time_end_ps(const FabricSpec *spec, SimTime issued_ps, SimTime drained_ps);
/* From the start of one CTA of a PTX kernel to that of the GPU's next one. */
SimTime launch_time_cta_ps(const FabricSpec *spec, guint32 warps);
/* Fetches of that many lines of 128 B of code that its SM does not have. */
SimTime launch_time_code_ps(const FabricSpec *spec, guint64 lines);
/* The start of a kernel that is queued behind another one: when that one's last store is performed, or with
 * programmatic launch when it let its dependents start; in a graph, with so many event records between the two. */
SimTime launch_time_behind_ps(const FabricSpec *spec, gboolean programmatic, guint32 events, SimTime when_ps);
/* The same of one rank's next call of a collective: from the last instruction of the call before it. */
SimTime launch_time_next_ps(const FabricSpec *spec, SimTime when_ps);

/* ---- as measured */

/* How a time was taken. */
typedef struct {
    const char *program, *timing; /* "kernel", "nccl", ...; "kernel", "graph", "eager" */
    guint32 gpus;
    gboolean torch;   /* of one call between two events, by PyTorch */
    gboolean threads; /* of one process with a thread a GPU */
} LaunchTiming;
typedef struct {
    guint64 add_ps;       /* beside the kernel */
    guint64 least_ps;     /* no time is less; */
    guint64 p2p_least_ps; /* nor one of sends and receives in Simple */
} LaunchMeasured;
/* FALSE: no such time is known. */
gboolean launch_time_measured(const FabricSpec *spec, const LaunchTiming *timing, LaunchMeasured *measured);

#endif
