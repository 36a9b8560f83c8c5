/* Requests whose packets, or whose answers, were lost on a link that was given up: their requester is told so. */
#include "model/gpu/gpu.h"

void gpu_lose(Gpu *gpu, guint32 head, SimTime now_ps)
{
    TxnPool *pool = gpu->txns;
    for (guint32 index = head, next; index != TXN_NONE; index = next) {
        Txn *txn = txn_at(pool, index);
        next = *txn_next(pool, index);
        if (txn->state == TXN_OK)
            txn->state = TXN_LOST;
        if (txn->data)
            data_give(gpu->fabric->data, txn->data);
        txn->data = 0;
        gpu_complete(gpu, txn, now_ps);
        txn_give(pool, index);
    }
}
