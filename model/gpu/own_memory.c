/* Requests to the GPU's own memory and to its host's: they never see a link of the fabric.
 *
 * Each is a bandwidth server and a fixed latency (pipe.c). Left out: L2 slices, TLBs. Sources: see gpu.h. */
#include "model/gpu/gpu.h"

static SimTime gpu_serve_at(SimFine *free_at, SimFine byte_time, guint32 bytes, SimTime now_ps)
{
    *free_at = MAX(*free_at, simfine_from_ps(now_ps)) + bytes * byte_time;
    return simfine_to_ps(*free_at);
}

static HbmRate gpu_hbm_rate(const GpuSpec *spec)
{
    return (HbmRate){.MBps = spec->hbm_MBps,
                     .reached_permille = {[HBM_READ] = spec->hbm_read_permille, [HBM_WRITE] = spec->hbm_write_permille},
                     .turns_permille = spec->hbm_turns_permille,
                     .batch_permille = spec->hbm_batch_permille};
}

void gpu_set_clocks(Gpu *gpu, const SmSpec *sm_spec, const GpuSpec *spec, guint64 percent)
{
    if (gpu->hbm_ops->settle)
        gpu->hbm_ops->settle(gpu);
    gpu->sm_spec = sm_spec;
    gpu->spec = spec;
    gpu->local_byte_time = (1000000ull << SIMFINE_SHIFT) / spec->local_MBps * 100 / percent;
    const HbmRate rate = gpu_hbm_rate(spec);
    hbm_set(&gpu->hbm, &rate, percent, spec->dram_ps);
}

SimTime gpu_l2_serve(Gpu *gpu, guint32 bytes, SimTime now_ps)
{
    gpu->local_bytes += bytes;
    return gpu_serve_at(&gpu->local_free_at, gpu->local_byte_time, bytes, now_ps);
}

SimTime gpu_host_serve(Gpu *gpu, GpuHostWay way, guint32 bytes, SimTime now_ps)
{
    *(way == GPU_FROM_HOST ? &gpu->host_in_bytes : &gpu->host_out_bytes) += bytes;
    return gpu_serve_at(&gpu->host_free_at[way], gpu->host_byte_time, bytes, now_ps);
}

/* Host memory: a request goes there and an answer comes back; either may carry the data. */
static void gpu_request_host(Gpu *gpu, guint32 index, const Txn *txn, SimTime now_ps)
{
    SimTime host_ps = gpu->fabric->spec.system.host_ps;
    guint32 bytes = MAX(txn->bytes, SECTOR_BYTES);
    SimTime at_ps = now_ps;
    if (txn->kind != PACKET_READ)
        at_ps = gpu_host_serve(gpu, GPU_TO_HOST, bytes, at_ps);
    at_ps += host_ps;
    if (txn->kind != PACKET_READ)
        gpu->fence.local_ps = MAX(gpu->fence.local_ps, at_ps + host_ps);
    if (txn->kind == PACKET_READ || txn->kind == PACKET_ATOM)
        at_ps = gpu_host_serve(gpu, GPU_FROM_HOST, bytes, at_ps);
    gpu_pipe_push_own(&gpu->pipe[GPU_PIPE_HOST], at_ps + host_ps, index);
}

/* When an access to the GPU's own memory is done, by a bandwidth server and a fixed latency, and through which FIFO. */
static SimTime gpu_local_end(Gpu *gpu, PacketKind kind, gboolean missed, guint64 line, guint32 bytes, SimTime now_ps,
                             GpuPipeKind *pipe)
{
    bytes = MAX(bytes, SECTOR_BYTES);
    SimTime at_ps = gpu_l2_serve(gpu, bytes, now_ps) + gpu->spec->local_ps;
    *pipe = GPU_PIPE_LOCAL;
    if (missed) {
        SimTime hbm_ps = gpu_hbm_serve(gpu, kind == PACKET_READ ? HBM_READ : HBM_WRITE, bytes, now_ps);
        if (kind == PACKET_READ) { /* writes stay in the L2 until evicted */
            *pipe = GPU_PIPE_LOCAL_DRAM;
            at_ps = MAX(at_ps, hbm_ps + gpu->spec->local_ps) + gpu->spec->local_dram_ps +
                    hbm_late_ps(&gpu->hbm, line, now_ps);
        }
    }
    if (kind != PACKET_READ)
        gpu->fence.local_ps = MAX(gpu->fence.local_ps, at_ps);
    return at_ps;
}

/* The same of an atomic or a reduction, which the units of the L2 do. */
static SimTime gpu_local_atomic_end(Gpu *gpu, const Txn *txn, SimTime now_ps, GpuPipeKind *pipe)
{
    gboolean waited;
    SimTime turn_ps = gpu_atomic_serve(gpu, txn, now_ps, &waited), latency_ps = gpu->spec->local_ps;
    SimTime moved_ps = gpu_l2_serve(gpu, MAX(txn->bytes, SECTOR_BYTES), now_ps), at_ps = MAX(turn_ps, moved_ps);
    if (txn->kind == PACKET_ATOM)
        latency_ps += gpu->spec->local_atomic_ps;
    *pipe = waited ? GPU_PIPE_LOCAL_WORD : GPU_PIPE_LOCAL_ATOMIC;
    gpu->fence.local_ps = MAX(gpu->fence.local_ps, at_ps + latency_ps);
    return at_ps + latency_ps;
}

static void gpu_request_local(Gpu *gpu, guint32 index, SimTime now_ps)
{
    const Txn *txn = txn_at(gpu->txns, index);
    GpuPipeKind pipe;
    gpu->local_requests++;
    if (txn->region->gpu == MEMORY_HOST) {
        gpu_request_host(gpu, index, txn, now_ps);
        return;
    }
    SimTime at_ps = txn->kind == PACKET_ATOM || txn->kind == PACKET_RED
                        ? gpu_local_atomic_end(gpu, txn, now_ps, &pipe)
                        : gpu_local_end(gpu, (PacketKind)txn->kind, txn->missed, gpu_hbm_line(txn->region, txn->offset),
                                        txn->bytes, now_ps, &pipe);
    gpu_pipe_push_own(&gpu->pipe[pipe], at_ps, index);
}

/* No program polls memory that keeps no bytes, so such an access needs no transaction. */
static gboolean gpu_is_plain(const Gpu *gpu, const GpuRequest *request)
{
    return request->plain && request->kind <= PACKET_WRITE && !request->region->host && request->region->gpu == gpu->id;
}

static void gpu_request_plain(Gpu *gpu, const GpuRequest *request, SimTime now_ps)
{
    GpuPipeKind pipe;
    gpu->local_requests++;
    gboolean missed = memory_misses(request->region, request->offset, request->bytes, request->kind == PACKET_WRITE);
    SimTime at_ps = gpu_local_end(gpu, request->kind, missed, gpu_hbm_line(request->region, request->offset),
                                  request->bytes, now_ps, &pipe);
    GpuStep step = {.at_ps = at_ps, .owner = request->owner, .plain = request->plain, .link = GPU_LINK_LOCAL};
    at_ps = gpu_pipe_add(&gpu->pipe[pipe], &step);
    fabric_count(&gpu->fabric->op_local, request->kind, request->bytes, now_ps, at_ps);
}

void gpu_request_own(Gpu *gpu, const GpuRequest *request)
{
    SimTime now_ps = sim_now_ps(gpu->sim);
    if (gpu_is_plain(gpu, request))
        gpu_request_plain(gpu, request, now_ps);
    else
        gpu_request_local(gpu, gpu_take_txn(gpu, request, now_ps), now_ps);
}
