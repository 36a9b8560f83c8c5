/* What the SMs of a GPU show to other files: their parameters, their statistics, their beginning and end. */
#include "model/sm/internal.h"
#include "model/sm/place.h"

static const char *const arbitration_names[] = {"round_robin", "greedy", NULL};
const ParamRow sm_params[] = {
    PARAM_U64(SmSpec, count, "", 1, 1024, "SMs of a GPU"),
    PARAM_U64(SmSpec, tpc_sms, "", 1, 16, "SMs of a TPC"),
    PARAM_U64(SmSpec, gpcs, "", 1, 32, "GPCs of a GPU"),
    PARAM_U64(SmSpec, first_tpcs, "", 0, 1024, "TPCs of the first GPC whose SMs get a grid's first CTAs"),
    PARAM_U64(SmSpec, ctas_max, "", 1, 1024, "CTAs resident on one SM"),
    PARAM_U64(SmSpec, warps_max, "", 1, 1024, "warps resident on one SM"),
    PARAM_U64(SmSpec, clock_ps, "ps", 100, 100000, "a clock cycle under load"),
    PARAM_U64(SmSpec, registers, "", 1024, 1u << 20, "registers of an SM, 32 bits each"),
    PARAM_U64(SmSpec, shared_bytes, "B", 1024, 1u << 20, "shared memory of an SM"),
    PARAM_U64(SmSpec, shared_cta_bytes, "B", 1024, 1u << 20, "shared memory that one CTA may have"),
    PARAM_U64(SmSpec, shared_reserved, "B", 0, 65536, "shared memory that each CTA takes beside its own"),
    PARAM_U64(SmSpec, load_ps, "ps", 0, 1000000, "LSU time of one load packet"),
    PARAM_U64(SmSpec, store_ps, "ps", 0, 1000000, "LSU time of one store packet that leaves the GPU"),
    PARAM_U64(SmSpec, local_store_ps, "ps", 0, 1000000, "LSU time of one store packet to the GPU's own memory"),
    PARAM_U64(SmSpec, merge_ps, "ps", 0, 1000000, "LSU time of a store that merges with one that waits"),
    PARAM_U64(SmSpec, conflict_ps, "ps", 0, 1000000,
              "more for each 128 B of a store's lanes beyond the first to one line"),
    PARAM_U64(SmSpec, out_packets, "packets", 1, 65536, "of one SM waiting for ports"),
    PARAM_BOOL(SmSpec, merge_stores, "a store merges with one to the same bytes that waits for its port"),
    PARAM_U64(SmSpec, loads_max, "packets", 1, 1u << 20, "load packets in flight of one SM"),
    PARAM_U64(SmSpec, stores_max, "packets", 1, 1u << 20, "store packets in flight of one SM"),
    PARAM_U64(SmSpec, warp_issue_ps, "ps", 0, 1000000,
              "from a warp's last access of a turn of a loop to the next turn"),
    PARAM_U64(SmSpec, fence_ps, "ps", 0, 100000000, "fence.sys with nothing outstanding"),
    PARAM_U64(SmSpec, fence_issue_ps, "ps", 0, 100000000, "between two fences of one of an SM's schedulers"),
    PARAM_U64(SmSpec, fence_join_ps, "ps", 0, 100000000, "how long after its start a fence's flush takes others along"),
    PARAM_U64(SmSpec, fence_snapshot_ps, "ps", 0, 100000000,
              "start of a flush to its look at which stores are under way"),
    PARAM_U64(SmSpec, fence_round_ps, "ps", 0, 100000000, "least time of a GPU's round of flushes: later ones wait"),
    PARAM_U64(SmSpec, fence_return_ps, "ps", 0, 100000000, "last answer to the end of a flush"),
    PARAM_U64(SmSpec, fence_overlap_ps, "ps", 0, 100000000, "before a flush's end its SM begins the next one"),
    PARAM_BOOL(SmSpec, fence_gpu_wide, "a fence waits for all stores of its GPU, not only of its warp"),
    PARAM_U64(SmSpec, poll_ps, "ps", 0, 10000000, "instructions of a polling loop, beside its load"),
    PARAM_U64(SmSpec, acquire_ps, "ps", 0, 100000000, "what an acquire adds to its load"),
    PARAM_U64(SmSpec, acquire_diverged_ps, "ps", 0, 100000000,
              "in kernels of PTX: the same while other lanes of its warp are elsewhere"),
    PARAM_U64(SmSpec, barrier_ps, "ps", 0, 100000000, "bar.sync once the last warp is there"),
    PARAM_U64(SmSpec, fence_gpu_ps, "ps", 0, 100000000, "a fence of the GPU's scope, in kernels of PTX"),
    PARAM_U64(SmSpec, cta_ps, "ps", 0, 1000000, "from the start of a CTA of a PTX kernel to the GPU's next one"),
    PARAM_U64(SmSpec, cta_warp_ps, "ps", 0, 1000000, "more for each warp of the CTA"),
    PARAM_U64(SmSpec, launch_ps, "ps", 0, 1000000000000, "kernel launch to first instruction"),
    PARAM_U64(SmSpec, exit_ps, "ps", 0, 1000000000000, "last instruction to end of the kernel"),
    PARAM_U64(SmSpec, exit_drain_ps, "ps", 0, 1000000000000, "last store performed to end of the kernel, if later"),
    PARAM_U64(SmSpec, queued_ps, "ps", 0, 1000000000, "kernels of PTX: last store to the start of the next one queued"),
    PARAM_U64(SmSpec, graph_break_ps, "ps", 0, 1000000000,
              "more in a graph where event records stand between the two,"),
    PARAM_U64(SmSpec, graph_event_ps, "ps", 0, 1000000000, "and more for each of them"),
    PARAM_U64(SmSpec, dependent_ps, "ps", 0, 1000000000, "the same from launch_dependents on; to the end of a wait"),
    PARAM_U64(SmSpec, next_ps, "ps", 0, 1000000000, "last instruction to the first of the stream's next kernel"),
    PARAM_U64(SmSpec, code_ps, "ps", 0, 100000000, "fetch of 1 KiB of code that a CTA runs for the first time"),
    PARAM_ENUM(SmSpec, arbitration, arbitration_names, "which ready warp issues next"),
    PARAM_U64(SmSpec, arch, "", 70, 200, "compute capability times ten: which multimem forms are legal"),
    PARAM_END,
};

void sm_init(Gpu *gpu)
{
    const FabricSpec *spec = &gpu->fabric->spec;
    guint64 count = spec->sm.count;
    fence_init(gpu);
    sim_add_waiter(gpu->sim, poll_waiter_text, gpu);
    gpu->sm = g_new0(Sm, count);
    gpu->n_out = place_queues(spec);
    gpu->out = g_new0(GpuOutQueue, gpu->n_out);
    for (guint32 q = 0; q < gpu->n_out; q++) {
        gpu->out[q].gpu = gpu;
        gpu->out[q].room.side = place_half(spec, q) ? GPU_SIDE_HALF_1 : GPU_SIDE_HALF_0;
        gpu->out[q].room.fire = sm_out_on_room;
    }
    for (guint64 i = 0; i < count; i++) {
        gpu->sm[i].gpu = gpu;
        gpu->sm[i].id = (guint32)i;
        gpu->sm[i].queue = &gpu->out[place_of(spec, i).queue];
        event_init(&gpu->sm[i].issue, sm_on_issue);
        event_init(&gpu->sm[i].wake, sm_on_wake);
        fence_init_sm(&gpu->sm[i]);
    }
}

void sm_clear(Gpu *gpu)
{
    fence_clear(gpu);
    for (guint64 i = 0; i < gpu->fabric->spec.sm.count; i++) {
        g_free(gpu->sm[i].flush); /* of a simulation that was abandoned */
        sm_out_clear(&gpu->sm[i].out);
        g_free(gpu->sm[i].out_keys);
    }
    for (guint32 q = 0; q < gpu->n_out; q++)
        gpu_out_clear(&gpu->out[q].ring);
    g_free(gpu->out);
    g_free(gpu->sm);
}
