#include "model/shared/txn.h"

#include <string.h>
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
    g_assert(first + TXN_CHUNK <= PACKET_TXN_MAX + 1);
    pool->chunk[first / TXN_CHUNK] = g_aligned_alloc(1, sizeof(TxnChunk), TXN_ALIGNMENT); /* txn_take() fills it */
    pool->size += TXN_CHUNK;
    /* the lowest index ends up at the head of the free list; index 0 stays out */
    for (guint32 i = pool->size - 1; i >= MAX(first, 1); i--) {
        *txn_next(pool, i) = pool->free_head;
        pool->free_head = i;
    }
}

#define DATA_SLOT_LINES (DATA_SLOT_BYTES / DATA_LINE_BYTES)

#define DATA_SMALL_BYTES (2u << 20)

/* Large pages (a wish, no promise) are fewer faults for a run that has much in flight; one that has little is done
 * before it has cleared the first of each pool, so that each begins with small ones. */
static void data_wish_large(guint8 *base, guint32 first, guint32 end)
{
#ifdef MADV_HUGEPAGE
    const gsize start = (gsize)first * DATA_LINE_BYTES + DATA_SMALL_BYTES, stop = (gsize)end * DATA_LINE_BYTES;
    if (start < stop)
        madvise(base + start, stop - start, MADV_HUGEPAGE);
#endif
}

DataPool *data_pools_new(guint32 n)
{
    gsize bytes = (gsize)DATA_LINES_MAX * DATA_LINE_BYTES;
    guint8 *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    DataPool *pool = g_aligned_alloc0(n, sizeof *pool, G_ALIGNOF(DataPool));
    guint32 half = DATA_FIXED / 2;
    for (guint32 i = 0; i < n; i++) {
        guint32 each = i == 0 ? half : half / (n - 1) / DATA_SLOT_LINES * DATA_SLOT_LINES;
        guint32 start = i == 0 ? 0 : half + (i - 1) * each, first = MAX(start, DATA_SLOT_LINES);
        pool[i] = (DataPool){.base = base, .first = first, .next = first, .end = start + each};
        data_wish_large(base, start, start + each);
    }
    data_wish_large(base, DATA_FIXED, DATA_LINES_MAX);
    return pool;
}

void data_pools_free(DataPool *pool, guint32 n)
{
    munmap(pool[0].base, (gsize)DATA_LINES_MAX * DATA_LINE_BYTES);
    for (guint32 i = 0; i < n; i++)
        g_free(pool[i].free);
    g_aligned_free(pool);
}

guint32 data_used(const DataPool *pool, guint32 n)
{
    guint32 used = 0;
    for (guint32 i = 0; i < n; i++)
        used += (pool[i].next - pool[i].first) / DATA_SLOT_LINES - pool[i].n_free;
    return used;
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
    pool->next += DATA_SLOT_LINES;
    return pool->next - DATA_SLOT_LINES;
}

guint8 *data_take_fixed(DataPool *pool, gsize bytes)
{
    const gsize room = (gsize)(DATA_LINES_MAX - DATA_FIXED) * DATA_LINE_BYTES - pool->fixed_bytes;
    const gsize lines = (bytes + DATA_LINE_BYTES - 1) / DATA_LINE_BYTES;
    if (lines > room / DATA_LINE_BYTES)
        return NULL;
    guint8 *at = data_at(pool, DATA_FIXED) + pool->fixed_bytes;
    pool->fixed_bytes += lines * DATA_LINE_BYTES;
    pool->fixed_users++;
    return at;
}

void data_give_fixed(DataPool *pool)
{
    if (--pool->fixed_users == 0)
        pool->fixed_bytes = 0;
}

gboolean txn_is_plain(const Txn *txn)
{
    return txn->kind == PACKET_READ || txn->kind == PACKET_MC_READ ||
           ((txn->kind == PACKET_WRITE || txn->kind == PACKET_MC_WRITE) && txn->word_mask == TXN_ALL_WORDS &&
            txn->op != TXN_WRITE_BYTES && !(txn->op & TXN_COUNTED));
}
