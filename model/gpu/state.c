/* What a GPU shows to other files: its parameters, its statistics, its beginning and end, and what it waits for. */
#include <string.h>

#include "model/gpu/copy_engine.h"
#include "model/gpu/fabric_engine.h"
#include "model/shared/sparse.h"
#include "sim/rng.h"

const ParamRow gpu_params[] = {
    PARAM_U64(GpuSpec, out_ps, "ps", 0, 10000000, "SM to NVLink port"),
    PARAM_U64(GpuSpec, in_ps, "ps", 0, 10000000, "NVLink port to SM"),
    PARAM_U64(GpuSpec, l2_ps, "ps", 0, 10000000, "request in to answer out at the home GPU, L2 hit"),
    PARAM_U64(GpuSpec, dram_ps, "ps", 0, 10000000, "more when the line comes from HBM"),
    PARAM_U64(GpuSpec, atomic_ps, "ps", 0, 10000000, "more for the answer of a remote atomic"),
    PARAM_U64(GpuSpec, local_ps, "ps", 0, 10000000, "load from the GPU's own L2"),
    PARAM_U64(GpuSpec, local_dram_ps, "ps", 0, 10000000, "more when the line comes from the own HBM"),
    PARAM_U64(GpuSpec, local_atomic_ps, "ps", 0, 10000000, "more for an atomic in the own L2"),
    PARAM_U64(GpuSpec, local_MBps, "MB/s", 1, 1000000000, "bandwidth of the GPU's own L2"),
    PARAM_U64(GpuSpec, hbm_MBps, "MB/s", 1, 1000000000, "bandwidth of HBM"),
    PARAM_U64(GpuSpec, hbm_read_permille, "", 1, 1000, "thousandths of it that reads alone reach"),
    PARAM_U64(GpuSpec, hbm_write_permille, "", 1, 1000, "thousandths of it that writes alone reach"),
    PARAM_U64(GpuSpec, hbm_turns_permille, "", 0, 10000,
              "thousandths of written bytes' time that turns between reads and writes take, where these are few"),
    PARAM_U64(GpuSpec, hbm_batch_permille, "", 0, 1000,
              "reads that end a turn of writes, for 1,000 writes that end one of reads"),
    PARAM_U64(GpuSpec, hbm_refresh_ps, "ps", 0, 10000000, "in which no read of a line is taken; 0: none is late"),
    PARAM_U64(GpuSpec, hbm_refresh_period_ps, "ps", 1, 1000000000, "each of which has one refresh"),
    PARAM_U64(GpuSpec, hbm_turn_ps, "ps", 0, 10000000,
              "a channel's turn where the lesser of reads and writes takes what is free"),
    PARAM_U64(GpuSpec, l2_bytes, "B", 0, 1ull << 40, "L2 capacity: a sweep over more misses"),
    PARAM_U64(GpuSpec, source_queue_packets, "packets", 1, 65536, "SM requests waiting at one port"),
    PARAM_U64(GpuSpec, out_packets, "packets", 1, 1u << 20, "requests of a CPC's SMs waiting for ports, in order"),
    PARAM_U64(GpuSpec, half_gpcs, "", 0, G_MAXUINT32, "bit i set: GPC i is in the second half of the GPU"),
    PARAM_U64(GpuSpec, response_queue_packets, "packets", 1, 65536,
              "answers waiting at one port before its requests are held up"),
    PARAM_U64(GpuSpec, ack_merge_max, "", 1, 64, "writes answered by one packet at most"),
    PARAM_U64(GpuSpec, ack_timer_ps, "ps", 1, 10000000, "how long an acknowledgement waits for more"),
    PARAM_BOOL(GpuSpec, ack_flush_on_read, "a read response to the requester flushes its writes' ack"),
    PARAM_U64(GpuSpec, ack_hold_off_ps, "ps", 0, 10000000,
              "no merging for this long after a read response left by the same port (0: always merge)"),
    PARAM_U64(GpuSpec, byte_enable_flits, "flits", 0, 4, "of a write of parts of 16 B units"),
    PARAM_U64(GpuSpec, operation_flits, "flits", 0, 4, "of a red or atomic, beside a write's"),
    PARAM_U64(GpuSpec, engine_packet_bytes, "B", 16, 256, "payload of a copy engine's packet"),
    PARAM_U64(GpuSpec, engine_in_flight, "packets", 1, 65536, "of one copy"),
    PARAM_U64(GpuSpec, engine_ps, "ps", 0, 1000000000, "before a copy engine's first packet"),
    PARAM_U64(GpuSpec, engines, "", 1, 64, "copy engines"),
    PARAM_U64(GpuSpec, fabric_queue, "operations", 1, 1u << 20, "on endpoints, that wait in the fabric engine's queue"),
    PARAM_U64(GpuSpec, fabric_operations, "operations", 1, 65536, "that the fabric engine works on at once"),
    PARAM_U64(GpuSpec, fabric_in_flight, "packets", 1, 65536, "of one of them"),
    PARAM_U64(GpuSpec, fabric_post_ps, "ps", 0, 1000000000, "from fabric.submit to the fabric engine's queue"),
    PARAM_U64(GpuSpec, fabric_retry_ps, "ps", 1, 1000000000, "before a post that found the queue full is tried again"),
    PARAM_U64(GpuSpec, fabric_start_ps, "ps", 0, 1000000000, "before an operation's first packet, look-up included"),
    PARAM_U64(GpuSpec, fabric_issue_ps, "ps", 0, 1000000, "from one packet of the fabric engine to the next"),
    PARAM_U64(GpuSpec, fabric_report_ps, "ps", 0, 1000000000, "from the last answer to the mbarrier"),
    PARAM_U64(GpuSpec, fabric_counter_flits, "flits", 0, 4, "more in a request whose target counts its bytes"),
    PARAM_BOOL(GpuSpec, hash_by_gpu, "the port of a line at its owner depends on which GPU asks"),
    PARAM_END,
};

static guint64 gpu_read_outstanding(const void *gpu) { return ((const Gpu *)gpu)->txns->used; }

const StatRow gpu_stats[] = {
    STAT_LEVEL("outstanding", gpu_read_outstanding, "requests", "sent and not answered yet"),
    STAT_COUNTER(Gpu, requests, "packets", "requests sent into the fabric"),
    STAT_COUNTER(Gpu, local_requests, "requests", "to the GPU's own memory or its host"),
    STAT_COUNTER(Gpu, served, "packets", "requests of others served by L2 and HBM"),
    STAT_COUNTER(Gpu, stalls, "packets", "requests held up by waiting answers"),
    STAT_COUNTER(Gpu, dropped, "packets", "requests of others lost, the GPU being silent"),
    STAT_COUNTER(Gpu, hbm_bytes, "B", "moved from and to HBM"),
    STAT_COUNTER(Gpu, local_bytes, "B", "through the own L2"),
    STAT_COUNTER(Gpu, host_in_bytes, "B", "from the host"),
    STAT_COUNTER(Gpu, host_out_bytes, "B", "to the host"),
    STAT_COUNTER(Gpu, engine_copies, "copies", "given to the copy engines"),
    STAT_COUNTER(Gpu, engine_bytes, "B", "given to the copy engines"),
    STAT_COUNTER(Gpu, engine_packets, "packets", "sent into the fabric by copy engines"),
    STAT_COUNTER(Gpu, fabric_operations, "operations", "on endpoints, posted to the fabric engine"),
    STAT_COUNTER(Gpu, fabric_bytes, "B", "that they were of"),
    STAT_COUNTER(Gpu, fabric_packets, "packets", "sent by the fabric engine"),
    STAT_COUNTER(Gpu, fabric_refused, "operations", "that found its queue full"),
    STAT_COUNTER(Gpu, fabric_retries, "posts", "that were refused, all tries of an operation counted"),
    STAT_COUNTER(Gpu, fabric_failed, "operations", "that ended with an error"),
    STAT_END,
};

static void gpu_limits(Gpu *gpu)
{
    const SmSpec *sm = &gpu->fabric->spec.sm;
    gpu->limit = (GpuLimits){.source_queue = (guint32)gpu->spec->source_queue_packets,
                             .ports = (guint32)gpu->spec->source_queue_packets * gpu->links,
                             .response_queue = (guint32)gpu->spec->response_queue_packets,
                             .out = (guint32)gpu->spec->out_packets,
                             .sm_out = (guint32)sm->out_packets,
                             .loads = (guint32)sm->loads_max,
                             .stores = (guint32)sm->stores_max};
}

static void gpu_target_init(Gpu *gpu)
{
    const gsize gpus = gpu->fabric->spec.system.gpus;
    AckMerge *acks = sparse_new(gpu->links * gpus * sizeof *acks); /* of all ports */
    for (guint32 l = 0; l < gpu->links; l++) {
        gpu->port[l].acks = &acks[l * gpus];
        gpu->port[l].read_left_ps = gpu->spec->ack_hold_off_ps ? g_new0(SimTime, gpus) : NULL;
    }
}

static void gpu_target_clear(Gpu *gpu)
{
    sparse_free(gpu->port[0].acks, gpu->links * gpu->fabric->spec.system.gpus * sizeof *gpu->port[0].acks);
    for (guint32 l = 0; l < gpu->links; l++) {
        g_free(gpu->port[l].read_left_ps);
        timed_packet_clear(&gpu->port[l].held);
    }
}

void gpu_init(Gpu *gpu, Fabric *fabric, guint16 id, guint32 links)
{
    memset(gpu, 0, sizeof *gpu);
    gpu->fabric = fabric;
    gpu->sim = fabric->sim;
    gpu->id = id;
    gpu->links = links;
    gpu->up = &fabric->link[2 * id * links];
    gpu->down = gpu->up + links;
    gpu->port = g_new0(GpuPort, links);
    gpu->txns = &fabric->txns[id];
    gpu->path = g_strdup_printf("gpu%u", id);
    gpu->hbm_ops = &gpu_hbm_reference_ops;
    gpu_set_clocks(gpu, &fabric->spec.sm, &fabric->spec.gpu, 100);
    gpu->host_byte_time = (1000000ull << SIMFINE_SHIFT) / fabric->spec.system.host_MBps;
    gpu_limits(gpu);
    gpu->hbm.late = (HbmLateness){.refresh_ps = gpu->spec->hbm_refresh_ps,
                                  .refresh_period_ps = gpu->spec->hbm_refresh_period_ps,
                                  .turn_ps = gpu->spec->hbm_turn_ps,
                                  .salt = rng_hash(sim_seed(fabric->sim) + id)};
    gpu_pipes_init(gpu);
    gpu_target_init(gpu);
    copy_init(gpu);
}

void gpu_clear(Gpu *gpu)
{
    g_clear_pointer(&gpu->kernel_heaps, g_hash_table_unref);
    g_clear_pointer(&gpu->kernel_code, g_ptr_array_unref);
    copy_clear(gpu);
    fabric_engine_clear(gpu);
    gpu_target_clear(gpu);
    gpu_pipes_clear(gpu);
    for (guint32 l = 0; l < gpu->links; l++) {
        link_clear(&gpu->up[l]);
        link_clear(&gpu->down[l]);
    }
    g_free(gpu->port);
    g_free(gpu->atomics);
    g_free(gpu->path);
}

gboolean gpu_is_quiet(const Gpu *gpu)
{
    for (guint32 l = 0; l < gpu->links; l++)
        if (gpu_port_waits(&gpu->port[l]) || gpu->port[l].held.count)
            return FALSE;
    for (int p = 0; p < GPU_PIPES; p++)
        if (gpu->pipe[p].ring.count)
            return FALSE;
    return gpu->txns->used == 0 && copy_is_quiet(gpu) && fabric_engine_is_quiet(gpu);
}

char *gpu_silent_text(void *unit)
{
    const Gpu *gpu = unit;
    if (gpu->dropped == 0)
        return NULL;
    const char *verb = fabric_is_silent(gpu->fabric, gpu->id) ? "is" : "was";
    return g_strdup_printf("%s: %s silent (fault.gpu_silent), %" G_GUINT64_FORMAT " requests to it were lost",
                           gpu->path, verb, gpu->dropped);
}

char *gpu_waiter_text(void *unit)
{
    const Gpu *gpu = unit;
    if (gpu->txns->used == 0)
        return NULL;
    return g_strdup_printf("%s: %u requests wait for their answers", gpu->path, gpu->txns->used);
}
