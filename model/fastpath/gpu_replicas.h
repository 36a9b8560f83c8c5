/* Replicas that a GPU answers without a look at their record: how, and a port's loop for them. */
#ifndef MODEL_FASTPATH_GPU_REPLICAS_H
#define MODEL_FASTPATH_GPU_REPLICAS_H

#include "model/fabric/fabric.h"
#include "model/link/internal.h"

/* The answer to a replica goes into the port's queue, TRUE, or will later, FALSE. hbm_bytes: 0 from L2. */
static inline gboolean gpu_answer_replica(Gpu *gpu, guint32 link, Packet answer, guint32 hbm_bytes, SimTime at_ps)
{
    if (hbm_bytes == 0)
        return TRUE;
    SimTime hbm_ps = hbm_serve_about(&gpu->hbm, hbm_bytes, at_ps);
    gpu->hbm_bytes += hbm_bytes;
    if (answer.kind != PACKET_MC_OPERAND)
        return TRUE;
    link_push_behind(&gpu->up[link], LINK_LANE_ANSWERS, answer, hbm_ps + gpu->spec->dram_ps);
    return FALSE;
}

/* 1 or 0, without a branch: nobody could predict whether a replica is a read. */
G_STATIC_ASSERT((PACKET_MC_READ & 2) && !((PACKET_MC_WRITE | PACKET_MC_RED) & 2));
static ALWAYS_INLINE guint32 gpu_replica_is_read(Packet packet) { return packet.kind >> 1 & 1; }

/* What answers a replica. */
static ALWAYS_INLINE Packet gpu_replica_answer(const Gpu *gpu, Packet packet)
{
    const guint64 kept = (Packet){.txn = PACKET_TXN_MAX}.bits;
    guint64 read = gpu_replica_is_read(packet);
    guint64 flits = replica_answer_flits(packet) & -read;
    return (Packet){.bits = gpu->replica_answer[read][packet.train].bits | (packet.bits & kept) |
                            flits * PACKET_ONE(flits)};
}

/* What HBM moves for a replica that says that it is not in L2. */
static ALWAYS_INLINE guint32 gpu_replica_hbm_bytes(Packet packet)
{
    return (replica_answer_flits(packet) - packet_count(packet)) * FLIT_BYTES;
}

static inline gboolean gpu_answer_plain(Gpu *gpu, guint32 link, Packet packet, SimTime at_ps, Packet *answer)
{
    *answer = gpu_replica_answer(gpu, packet);
    if (G_LIKELY(replica_answer(packet) != REPLICA_FROM_HBM))
        return TRUE;
    return gpu_answer_replica(gpu, link, *answer, gpu_replica_hbm_bytes(packet), at_ps);
}

/* Serves replicas and sends their answers up to now_ps, or, FALSE, until anything else is due at the port. */
gboolean gpu_settle_replicas(Link *up, SimTime now_ps);

/* What ports of one GPU have done on a thread of their own, while others of its ports do likewise on others: it is
 * told of it afterwards. */
typedef struct GpuShare {
    guint64 served, stalls;
    guint64 hbm_bytes[2]; /* by epoch, modulo 2 */
} GpuShare;
/* Likewise for a port whose answers leave the domain, at the end of a window: it touches nothing but the port, its
 * switch's letters and `share`. FALSE, too, where anything else would be touched. at_rest: the switch is through with
 * the window, so that its records and the accounts of its links are touched instead of letters and books. */
gboolean gpu_settle_replicas_apart(Link *up, SimTime last_ps, GpuShare *share, gboolean at_rest);
/* What it will read first of a port whose turn comes `ahead` ports later: asked for from GPU_REPLICAS_FETCHES down to
 * 1, each time what the time before has led to. */
#define GPU_REPLICAS_FETCHES 4u
void gpu_replicas_fetch(const Link *up, guint ahead, gboolean at_rest);
/* Before and after: of one GPU. */
void gpu_share_open(Gpu *gpu, SimTime last_ps);
void gpu_share_close(Gpu *gpu, GpuShare *share, SimTime last_ps);

#endif
