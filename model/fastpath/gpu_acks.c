#include "model/fastpath/gpu_acks.h"

guint32 gpu_acks_first(Link *up, guint32 src)
{
    LinkReadyRing *timers = &up->lane[LINK_LANE_TIMERS];
    for (guint32 n = timers->count; n-- > 0;) {
        Packet *timer = &link_ready_nth(timers, n)->packet;
        if (timer->src == src && timer->txn != TXN_NONE) {
            guint32 first = timer->txn;
            timer->txn = TXN_NONE;
            return first;
        }
    }
    g_assert_not_reached();
}

void gpu_acks_flush(Gpu *gpu, guint32 link, guint32 src)
{
    Link *up = &gpu->up[link];
    GpuAcks *acks = &gpu->port[link].acks;
    ack_settle(up);
    GpuAckState state = gpu_acks_state(acks, src);
    if (state == GPU_ACK_NONE)
        return;
    guint32 first = gpu_acks_first(up, src), head = first;
    if (state == GPU_ACK_MORE) {
        head = gpu_acks_head(&acks->more[src]);
        *txn_next(&gpu->fabric->gpu[src].txns, acks->more[src].end) = first;
    }
    gpu_acks_change(acks, src, state, GPU_ACK_NONE);
    link_push(up, gpu_acks_answer(gpu, src, head, FALSE), 0);
}
