/* Requests of which little is kept while they are under way (TxnBrief), and what ends the others; part of
 * model/gpu/requester.c. */
#ifndef MODEL_FASTPATH_GPU_BRIEF_H
#define MODEL_FASTPATH_GPU_BRIEF_H

#include "model/fabric/fabric.h"
#include "model/link/internal.h"

/* As gpu_set_brief() says. */
static ALWAYS_INLINE gboolean gpu_is_brief(const GpuRequest *request)
{
    return request->brief && !request->region->host && request->region->cached;
}

/* Nobody looks at a multicast request that moves no bytes where its members answer without a look at it, none of them
 * being silent: TXN_NONE, or its number. */
static ALWAYS_INLINE guint32 gpu_take_brief(Gpu *gpu, const GpuRequest *request, ReplicaAnswer answer, SimTime start_ps)
{
    TxnPool *pool = &gpu->txns;
    if (G_UNLIKELY(answer == REPLICA_BY_RECORD || request->data || request->tag > TXN_TAG_MAX || pool->brief.done ||
                   gpu->fabric->n_silent))
        return TXN_NONE;
    guint32 train = request->train & 1u;
    const TxnLike like = {request->done, request->object->id,
                          request->bytes * TXN_ONE(bytes) | request->kind * TXN_ONE(kind) | train * TXN_ONE(train)};
    guint32 known = txn_like(pool, request->kind, &like);
    if (G_UNLIKELY(known == TXN_LIKES))
        return TXN_NONE;
    return txn_take_multicast(pool, (TxnMulticast){.start_ps = start_ps, .owner = request->owner,
                                                   .tag = request->tag & TXN_TAG_MAX, .like = known & (TXN_LIKES - 1)});
}

/* A multicast request's answer. */
static ALWAYS_INLINE void gpu_complete_like(Gpu *gpu, TxnMulticast *multicast, SimTime now_ps)
{
    const TxnLike *like = &gpu->txns.brief.like[multicast->like];
    Txn txn = {.start_ps = multicast->start_ps, .owner = multicast->owner, .tag = multicast->tag, .what = like->what};
    fabric_count(g_ptr_array_index(gpu->fabric->op_object, like->object), txn.kind, txn.bytes, txn.train, txn.start_ps,
                 now_ps);
    like->done(gpu, &txn, NULL, now_ps);
    txn_give_multicast(&gpu->txns, multicast);
}

static ALWAYS_INLINE void gpu_complete(Gpu *gpu, Txn *txn, SimTime now_ps)
{
    guint32 data = txn->data;
    DataPool *pool = gpu->fabric->data;
    fabric_account(gpu->fabric, gpu->id, txn, FALSE, now_ps);
    txn->done(gpu, txn, data ? data_at(pool, data) : NULL, now_ps);
    if (data)
        data_give(pool, data);
}

/* Of an acknowledgement, where there are brief stores. */
static void gpu_complete_stores(Gpu *gpu, guint32 index, SimTime now_ps)
{
    TxnPool *pool = &gpu->txns;
    guint32 n = 0;
    while (index != TXN_NONE) {
        guint32 next = txn_chained(pool, index);
        if (G_LIKELY(txn_is_brief(index))) {
            SimTime start_ps = txn_give_store(txn_store(pool, index), now_ps);
            fabric_count(&gpu->fabric->op_remote, PACKET_WRITE, pool->brief.bytes, FALSE, start_ps, now_ps);
            n++;
        } else {
            gpu_complete(gpu, txn_at(pool, index), now_ps);
            txn_give(pool, index);
        }
        index = next;
    }
    pool->used -= n;
    if (n)
        pool->brief.done(pool->brief.owner, n, now_ps);
}

#endif
