/* See launch_time.h. */
#include "device/launch_time.h"

#include <string.h>

#include "model/fabric/fabric.h"

#define LAUNCH_ROW(field, text) PARAM_U64(LaunchSpec, field, "ps", 0, 1000000000, text)
const ParamRow launch_params[] = {
    LAUNCH_ROW(stream_nccl_ps, "at least, for each rank: NCCL, one process, back-to-back calls"),
    LAUNCH_ROW(kernel_kernel_ps, "beside the kernel: hand-written kernels timed as kernels"),
    LAUNCH_ROW(graph_kernel_ps, "beside the kernel: hand-written kernels in a CUDA graph, from one to the next"),
    LAUNCH_ROW(eager_kernel_ps, "beside the kernel: hand-written kernels launched one by one"),
    LAUNCH_ROW(graph_nccl_sym_ps, "beside the kernel: NCCL's symmetric kernels in a CUDA graph"),
    LAUNCH_ROW(eager_nccl_sym_rank_ps, "at least, for each rank: symmetric kernels, one process for all"),
    LAUNCH_ROW(graph_nccl_ps, "beside the kernel: classic NCCL in a CUDA graph"),
    LAUNCH_ROW(eager_nccl_ps, "beside the kernel: classic NCCL, launched back to back"),
    LAUNCH_ROW(thread_nccl_ps, "beside the kernel: classic NCCL, a thread a GPU, launched back to back"),
    LAUNCH_ROW(thread_nccl_rank_ps, "the same for each rank, in addition"),
    LAUNCH_ROW(thread_p2p_ps, "at least: a thread's turn of sends and receives in Simple, whose buffers NCCL looks up"),
    PARAM_U64(LaunchSpec, nccl_cluster, "", 0, 8, "CTAs of a cluster of NCCL's kernels, which share a GPC; 0: none"),
    LAUNCH_ROW(eager_torch_ps, "beside the kernel: classic NCCL by PyTorch, each call between events"),
    PARAM_END,
};

void device_params(ParamSet *set, FabricSpec *spec)
{
    LaunchSpec *launch = g_new0(LaunchSpec, 1);
    fabric_params(set, spec);
    param_add(set, "launch", launch_params, launch);
    param_own(set, launch);
    spec->above = launch;
}

const LaunchSpec *launch_spec(const FabricSpec *spec)
{
    g_assert(spec->above);
    return spec->above;
}

/* ---- on the device */

SimTime launch_time_alone_ps(const FabricSpec *spec) { return spec->sm.launch_ps; }

/* source: kernels that are queued on an H100 follow each other after 0.8 us (h100/memory.csv, kernel period), whatever
 * their launches take */
SimTime launch_time_first_ps(const FabricSpec *spec, SimTime submit_ps, SimTime ready_ps, SimTime now_ps)
{
    const SimTime first_ps = MAX(submit_ps + spec->sm.launch_ps, ready_ps);
    return first_ps - MIN(first_ps, now_ps);
}

/* The end takes its time while the last stores are still on their way. */
SimTime launch_time_end_ps(const FabricSpec *spec, SimTime issued_ps, SimTime drained_ps)
{
    return MAX(drained_ps + spec->sm.exit_drain_ps, issued_ps + spec->sm.exit_ps);
}

SimTime launch_time_cta_ps(const FabricSpec *spec, guint32 warps)
{
    return spec->sm.cta_ps + warps * spec->sm.cta_warp_ps;
}

SimTime launch_time_code_ps(const FabricSpec *spec, guint64 lines)
{
    return lines * spec->sm.code_ps / 8; /* which is of 1 KiB */
}

SimTime launch_time_behind_ps(const FabricSpec *spec, gboolean programmatic, guint32 events, SimTime when_ps)
{
    const SmSpec *sm = &spec->sm;
    return when_ps + (programmatic ? sm->dependent_ps : sm->queued_ps) +
           (events ? sm->graph_break_ps + events * sm->graph_event_ps : 0);
}

SimTime launch_time_next_ps(const FabricSpec *spec, SimTime when_ps) { return when_ps + spec->sm.next_ps; }

/* ---- as measured */

#define OF(field) G_STRUCT_OFFSET(LaunchSpec, field)
static const struct {
    const char *program, *timing;
    gsize constant;
} launch_classes[] = {
    {"kernel", "kernel", OF(kernel_kernel_ps)},
    {"kernel", "graph", OF(graph_kernel_ps)},
    {"trtllm", "graph", OF(graph_kernel_ps)},
    {"vllm", "graph", OF(graph_kernel_ps)},
    {"sglang", "graph", OF(graph_kernel_ps)},
    {"kernel", "eager", OF(eager_kernel_ps)},
    {"nccl-registered", "graph", OF(graph_nccl_ps)},
    {"nccl-registered", "eager", OF(eager_nccl_ps)},
    {"nccl-sym", "graph", OF(graph_nccl_sym_ps)},
    {"nccl-sym", "eager", OF(eager_nccl_sym_rank_ps)},
    {"nccl", "graph", OF(graph_nccl_ps)},
    {"nccl", "eager", OF(eager_nccl_ps)},
};

gboolean launch_time_measured(const FabricSpec *spec, const LaunchTiming *timing, LaunchMeasured *measured)
{
    const LaunchSpec *launch = launch_spec(spec);
    guint c = 0;
    while (c < G_N_ELEMENTS(launch_classes) && (strcmp(launch_classes[c].program, timing->program) != 0 ||
                                                strcmp(launch_classes[c].timing, timing->timing) != 0))
        c++;
    if (c == G_N_ELEMENTS(launch_classes))
        return FALSE;
    const gsize constant = launch_classes[c].constant;
    *measured = (LaunchMeasured){.add_ps = G_STRUCT_MEMBER(guint64, launch, constant)};
    if (constant == OF(eager_nccl_sym_rank_ps)) {
        measured->least_ps = timing->gpus * launch->eager_nccl_sym_rank_ps;
        measured->add_ps = launch->graph_nccl_sym_ps;
    } else if (constant == OF(eager_nccl_ps) && timing->torch) {
        measured->add_ps = launch->eager_torch_ps;
    } else if (constant == OF(eager_nccl_ps) && timing->threads) {
        measured->add_ps = launch->thread_nccl_ps + timing->gpus * launch->thread_nccl_rank_ps;
        measured->p2p_least_ps = launch->thread_p2p_ps;
    }
    return TRUE;
}
