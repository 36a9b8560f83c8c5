/* Acknowledgement accumulators of a GPU's port, one for each requester, as part of the loop that serves it
 * (model/link/ack_merge.h says what they stand for; the switch has its own).
 *
 * Where requesters are many most packets meet an empty one, and by the time that one comes again its cache line is
 * gone. So a first write is kept in its timer alone, which lies in the port's lane: two bits say that it is there. Only
 * what joins it is written down by requester, and the timer's write ends the chain when it is over. */
#ifndef MODEL_FASTPATH_GPU_ACKS_H
#define MODEL_FASTPATH_GPU_ACKS_H

#include "model/fabric/fabric.h"
#include "model/link/internal.h"

/* gpu_acks.c: the write that a pending timer keeps, which then does nothing when it is over: the accumulator leaves
 * before. */
guint32 gpu_acks_first(Link *up, guint32 src);
void gpu_acks_flush(Gpu *gpu, guint32 link, guint32 src);

static inline GpuAckState gpu_acks_state(const GpuAcks *acks, guint32 src)
{
    return (GpuAckState)(acks->state[src / 32] >> src % 32 * 2 & 3);
}

static inline void gpu_acks_change(GpuAcks *acks, guint32 src, GpuAckState from, GpuAckState to)
{
    acks->state[src / 32] ^= (guint64)(from ^ to) << src % 32 * 2;
}

static inline guint32 gpu_acks_head(const GpuAckMore *more) { return more->what & PACKET_TXN_MAX; }

/* What answers writes of that requester, but for its txn. */
static inline Packet gpu_ack(const Gpu *gpu, guint32 src)
{
    return (Packet){.bits = gpu->ack.bits + src * PACKET_ONE(src)};
}

/* The last write of a chain: it, or those that merged with it at its SM. */
static inline guint32 gpu_chain_end(const TxnPool *pool, guint32 index)
{
    for (guint32 next; G_UNLIKELY((next = *txn_next(pool, index)) != TXN_NONE);)
        index = next;
    return index;
}

/* What answers the writes of a chain; train: of a single train, whose answer is as two. */
static inline Packet gpu_acks_answer(const Gpu *gpu, guint32 src, guint32 head, gboolean train)
{
    Packet answer = {.bits = gpu_ack(gpu, src).bits + head * PACKET_ONE(txn)};
    return G_UNLIKELY(train) ? packet_as_train(answer) : answer;
}

/* A write joins others: TRUE: these are `merge_max` with it, and *answer leaves. */
static ALWAYS_INLINE gboolean gpu_acks_join(Gpu *gpu, guint32 link, Packet request, guint64 merge_max,
                                            GpuAckState state, Packet *answer)
{
    guint32 src = packet_src(request);
    GpuAcks *acks = &gpu->port[link].acks;
    GpuAckMore *more = &acks->more[src];
    const TxnPool *pool = &gpu->fabric->gpu[src].txns;
    /* no branches: whether it is the first one that joins, nobody could predict */
    guint32 end = gpu_chain_end(pool, request.txn), writes = state == GPU_ACK_TRAIN ? 2 : 1, head = TXN_NONE;
    gboolean others = state == GPU_ACK_MORE;
    guint32 was_end = more->end, was = more->what;
    head = others ? was & PACKET_TXN_MAX : head;
    writes = others ? was / GPU_ACK_ONE_WRITE : writes;
    *txn_next(pool, end) = head;
    more->end = others ? was_end : end;
    writes += packet_count(request);
    more->what = writes * GPU_ACK_ONE_WRITE + request.txn;
    acks->state[src / 32] |= (guint64)GPU_ACK_MORE << src % 32 * 2;
    if (writes < merge_max)
        return FALSE;
    *txn_next(pool, more->end) = gpu_acks_first(&gpu->up[link], src);
    *answer = gpu_acks_answer(gpu, src, gpu_acks_head(more), request.train && merge_max == 1);
    gpu_acks_change(acks, src, GPU_ACK_MORE, GPU_ACK_NONE);
    return TRUE;
}

/* A write is acknowledged at at_ps: TRUE: *answer leaves. */
static ALWAYS_INLINE gboolean gpu_acks_take(Gpu *gpu, guint32 link, Packet request, guint64 merge_max, SimTime at_ps,
                                            Packet *answer)
{
    guint32 src = packet_src(request);
    GpuAcks *acks = &gpu->port[link].acks;
    GpuAckState state = gpu_acks_state(acks, src);
    if (state != GPU_ACK_NONE)
        return gpu_acks_join(gpu, link, request, merge_max, state, answer);
    if (G_UNLIKELY(packet_count(request) >= merge_max)) {
        *answer = gpu_acks_answer(gpu, src, request.txn, request.train && merge_max == 1);
        return TRUE;
    }
    gpu_acks_change(acks, src, GPU_ACK_NONE, request.train ? GPU_ACK_TRAIN : GPU_ACK_ONE);
    link_push_timer(&gpu->up[link], gpu_acks_answer(gpu, src, request.txn, FALSE), at_ps + gpu->spec->ack_timer_ps);
    return FALSE;
}

/* A timer is over: TRUE: *answer leaves. */
static ALWAYS_INLINE gboolean gpu_acks_expire(Gpu *gpu, guint32 link, Packet timer, Packet *answer)
{
    if (G_UNLIKELY(timer.txn == TXN_NONE))
        return FALSE;
    GpuAcks *acks = &gpu->port[link].acks;
    guint32 src = packet_src(timer), first = timer.txn;
    GpuAckState state = gpu_acks_state(acks, src);
    gpu_acks_change(acks, src, state, GPU_ACK_NONE);
    if (state == GPU_ACK_MORE) {
        const GpuAckMore *more = &acks->more[src];
        *txn_next(&gpu->fabric->gpu[src].txns, more->end) = first;
        timer.bits += gpu_acks_head(more) * PACKET_ONE(txn) - first * PACKET_ONE(txn);
    }
    *answer = timer;
    return TRUE;
}

#endif
