/* Replicas that a GPU answers without a look at their record: how, and a port's loop for them. */
#ifndef MODEL_GPU_REPLICAS_H
#define MODEL_GPU_REPLICAS_H

#include "model/fabric.h"
#include "model/link_internal.h"

/* The answer to a replica goes into the port's queue, TRUE, or will later, FALSE. */
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

static inline gboolean gpu_answer_plain(Gpu *gpu, guint32 link, Packet packet, SimTime at_ps, Packet *answer)
{
    guint8 flits = replica_answer_flits(packet.src);
    *answer = gpu->replica_ack[0];
    if (G_UNLIKELY(packet.train))
        *answer = gpu->replica_ack[1];
    answer->txn = packet.txn;
    if (packet.kind == PACKET_MC_READ) {
        answer->kind = PACKET_MC_OPERAND;
        answer->flits = flits & 0x1fu;
    }
    if (G_LIKELY(replica_answer(packet.src) != REPLICA_FROM_HBM))
        return TRUE;
    return gpu_answer_replica(gpu, link, *answer, (flits - packet_count(packet)) * FLIT_BYTES, at_ps);
}

/* Serves replicas and sends their answers up to now_ps, or, FALSE, until anything else is due at the port. */
gboolean gpu_settle_replicas(Link *up, SimTime now_ps);

#endif
