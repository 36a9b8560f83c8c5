#include "model/txn.h"

#include <sys/mman.h>

void txn_pool_init(TxnPool *pool)
{
    /* switches read it: it never moves */
    *pool = (TxnPool){.chunk = g_new0(TxnChunk *, PACKET_TXN_MAX / TXN_CHUNK + 1)};
}

void txn_pool_clear(TxnPool *pool)
{
    for (guint32 i = 0; i < pool->size / TXN_CHUNK; i++)
        g_aligned_free(pool->chunk[i]);
    g_free(pool->chunk);
}

void txn_pool_grow(TxnPool *pool)
{
    guint32 first = pool->size;
    g_assert(first + TXN_CHUNK <= PACKET_TXN_MAX);
    pool->chunk[first / TXN_CHUNK] = g_aligned_alloc0(1, sizeof(TxnChunk), sizeof(Txn));
    pool->size += TXN_CHUNK;
    /* the lowest index ends up at the head of the free list; index 0 stays out */
    for (guint32 i = pool->size - 1; i >= MAX(first, 1); i--) {
        *txn_next(pool, i) = pool->free_head;
        pool->free_head = i;
    }
}

#define DATA_SLOTS_MAX (1u << 24) /* 4 GiB of address space, none of it touched before use */

void data_pool_init(DataPool pool[2])
{
    gsize bytes = (gsize)DATA_SLOTS_MAX * DATA_SLOT_BYTES;
    guint8 *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    g_assert(base != MAP_FAILED);
    pool[0] = (DataPool){.base = base, .first = 1, .next = 1, .end = DATA_SLOTS_MAX / 2};
    pool[1] = (DataPool){.base = base, .first = DATA_SLOTS_MAX / 2, .next = DATA_SLOTS_MAX / 2,
                         .end = DATA_SLOTS_MAX};
}

void data_pool_clear(DataPool pool[2])
{
    munmap(pool[0].base, (gsize)DATA_SLOTS_MAX * DATA_SLOT_BYTES);
    g_free(pool[0].free);
    g_free(pool[1].free);
}

void data_pool_grow(DataPool *pool)
{
    pool->size = pool->size ? pool->size * 2 : 4096;
    pool->free = g_renew(guint32, pool->free, pool->size);
}

guint32 data_take(DataPool *pool)
{
    if (G_LIKELY(pool->n_free))
        return pool->free[--pool->n_free];
    g_assert(pool->next < pool->end);
    return pool->next++;
}
