/* Transactions: what one packet asks for, kept at the requester until it is answered. */
#ifndef MODEL_SHARED_TXN_H
#define MODEL_SHARED_TXN_H

#include "model/link/packet.h"
#include "model/memory/memory.h"
#include "model/memory/multicast_object.h"

typedef struct Txn Txn;
struct Gpu;

/* Called once at the requester when the answer is there. `bytes` holds the answer of a read (or the old
 * values of an atomic) at the same offset in its line as in memory; NULL when timing-only. */
typedef void (*TxnDone)(struct Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps);

struct Txn { /* one cache line */
    guint64 offset;      /* in the region or multicast object */
    union {
        MemRegion *region; /* unicast */
        McObject *object;  /* multicast */
    };
    SimTime start_ps;
    TxnDone done;
    void *owner;
    guint64 tag;         /* the owner's */
    guint32 data;        /* slot of the data pool, 0: none (timing-only, or no data) */
    guint32 word_mask;   /* which 4 B words of the line are touched, from `offset`'s line on */
    union {
        struct {
            guint32 kind : 3;  /* PacketKind of the request */
            guint32 type : 6;  /* NumericType of reductions and atomics */
            guint32 op : 8;    /* NumericOp, TXN_ATOM_* */
            guint32 acc : 2;   /* NumericAcc: precision of the sum */
            guint32 state : 2; /* 0: in order; else a TxnFault */
            guint32 train : 1; /* two packets */
            guint32 spare : 1;
            guint32 bytes : 9; /* span from `offset`: a line's part, or up to 256 B from a copy engine or of a train */
        };
        guint32 what;          /* all of these */
    };
};
G_STATIC_ASSERT(sizeof(Txn) == 64);
#define TXN_ONE(field) ((Txn){.field = 1}.what) /* as PACKET_ONE() */

typedef enum { TXN_OK, TXN_UNBOUND, TXN_TIMEOUT } TxnFault;

#define TXN_NONE 0u /* index 0 is never given out */

/* Pools hand out indices and never move what they gave out: chunks, in a table of full length. */
#define TXN_CHUNK 512u /* at most PACKET_TXN_MAX transactions of one GPU are outstanding */
typedef struct { /* see TxnBrief; all that is kept of a multicast request is in one place */
    SimTime start_ps;   /* SIMTIME_NEVER: it is free, and `next` TXN_NONE */
    void *owner;
    guint32 tag : 28, like : 4;
    guint32 next;
} TxnMulticast;
typedef union {
    struct {
        guint32 next[TXN_CHUNK]; /* free list; writes that one packet acknowledges, without a look at their Txns */
        Txn txn[TXN_CHUNK];
    };
    TxnMulticast multicast[TXN_CHUNK];
} TxnChunk;
typedef union { /* of a brief store */
    struct {
        guint64 next : 22;     /* TXN_STORE_FREE: it is not in use */
        guint64 start_ps : 42; /* the low bits: none is under way for 4 s */
    };
    guint64 bits;
} TxnStore;
G_STATIC_ASSERT(sizeof(TxnStore) == 8);
#define TXN_STORE_FREE PACKET_TXN_MAX /* never given out */
#define TXN_STORE_ONE(field) ((TxnStore){.field = 1}.bits) /* as PACKET_ONE() */
#define TXN_STORE_PS_MASK (((guint64)1 << 42) - 1)
/* What moves no bytes and is like many others needs no Txn. They have indices of their own, TXN_BRIEF and more, which
 * are given out in turn: what is taken and given back at about one time lies together.
 *
 * Either stores that are all alike but for where they go and when: of each nothing is kept but when it began. Or
 * multicast requests that members answer without a look at them, like one of a few. */
#define TXN_BRIEF ((PACKET_TXN_MAX + 1) / 2)
#define TXN_LIKES 16u
#define TXN_TAG_MAX ((1u << 28) - 1) /* of a TxnMulticast */
typedef void (*TxnBriefDone)(void *owner, guint32 n, SimTime now_ps); /* n of them are */
typedef struct {
    TxnDone done;
    guint32 object, what; /* its id; and Txn.what: bytes, kind, train */
} TxnLike;
typedef struct {
    TxnBriefDone done;   /* stores; NULL: multicasts */
    void *owner;
    guint32 bytes, flits; /* of each store */
    guint32 at, size;     /* the next index but for TXN_BRIEF, of so many: a power of two, or 0 */
    TxnStore *store;      /* by index but for TXN_BRIEF, in one piece: few pages, since there may be many GPUs */
    guint32 n_likes;
    guint8 last[PACKET_KINDS]; /* of a request's kind, the last one of it */
    TxnLike like[TXN_LIKES];
} TxnBrief;
typedef struct {
    TxnChunk **chunk;
    guint32 free_head, used, size;
    TxnBrief brief;
} TxnPool;

static inline Txn *txn_at(const TxnPool *pool, guint32 index)
{
    return &pool->chunk[index / TXN_CHUNK]->txn[index % TXN_CHUNK];
}
static inline guint32 *txn_next(const TxnPool *pool, guint32 index)
{
    return &pool->chunk[index / TXN_CHUNK]->next[index % TXN_CHUNK];
}
static inline TxnStore *txn_store(const TxnPool *pool, guint32 index) { return &pool->brief.store[index - TXN_BRIEF]; }
void txn_pool_init(TxnPool *pool);
void txn_pool_clear(TxnPool *pool);
void txn_pool_grow(TxnPool *pool);
void txn_pool_grow_brief(TxnPool *pool);
void txn_pool_clear_brief(TxnPool *pool); /* none is in use: from now on they may be of the other kind */
static inline gboolean txn_is_brief(guint32 index) { return index >= TXN_BRIEF; }
/* The chain of unicast writes that one packet acknowledges, brief ones among them. */
static inline guint32 txn_chained(const TxnPool *pool, guint32 index)
{
    return txn_is_brief(index) ? (guint32)txn_store(pool, index)->next : *txn_next(pool, index);
}
static inline void txn_chain(const TxnPool *pool, guint32 index, guint32 next)
{
    if (txn_is_brief(index))
        txn_store(pool, index)->next = next & PACKET_TXN_MAX;
    else
        *txn_next(pool, index) = next;
}
static inline TxnMulticast *txn_multicast(const TxnPool *pool, guint32 index)
{
    return &pool->chunk[index / TXN_CHUNK]->multicast[index % TXN_CHUNK];
}
/* Where a multicast request keeps the chain. */
static inline guint32 *txn_multicast_next(const TxnPool *pool, guint32 index)
{
    return txn_is_brief(index) ? &txn_multicast(pool, index)->next : txn_next(pool, index);
}
/* To fetch what is kept of what waits for an answer, not being a brief store. */
static inline const void *txn_line(const TxnPool *pool, guint32 index)
{
    return txn_is_brief(index) ? (const void *)txn_multicast(pool, index) : txn_at(pool, index);
}
static inline gboolean txn_like_same(const TxnLike *a, const TxnLike *b)
{
    return a->done == b->done && a->object == b->object && a->what == b->what;
}
/* A multicast request that is to be brief: what it is like, or TXN_LIKES: there are too many others. */
guint32 txn_like_new(TxnPool *pool, const TxnLike *like);
static inline guint32 txn_like(TxnPool *pool, guint32 kind, const TxnLike *like)
{
    guint32 last = pool->brief.last[kind];
    if (G_LIKELY(txn_like_same(&pool->brief.like[last], like)))
        return last;
    guint32 index = txn_like_new(pool, like);
    pool->brief.last[kind] = (guint8)(index % TXN_LIKES);
    return index;
}
static inline guint32 txn_take(TxnPool *pool)
{
    if (G_UNLIKELY(pool->free_head == TXN_NONE))
        txn_pool_grow(pool);
    guint32 index = pool->free_head;
    pool->free_head = *txn_next(pool, index);
    pool->used++;
    return index;
}
/* A brief one is in use; multicasts: the pool's are. */
static inline gboolean txn_is_used(const TxnPool *pool, guint32 index, gboolean multicasts)
{
    return multicasts ? txn_multicast(pool, index)->start_ps != SIMTIME_NEVER
                      : txn_store(pool, index)->next != TXN_STORE_FREE;
}
/* The next one whose turn it is, which is filled at once. */
static inline __attribute__((always_inline)) guint32 txn_take_turn(TxnPool *pool, gboolean multicasts)
{
    TxnBrief *brief = &pool->brief;
    if (G_UNLIKELY(pool->used >= brief->size - brief->size / 4)) /* few are in use where its turn comes again */
        txn_pool_grow_brief(pool);
    guint32 at = brief->at & (brief->size - 1);
    while (G_UNLIKELY(txn_is_used(pool, TXN_BRIEF + at, multicasts)))
        at = (at + 1) & (brief->size - 1);
    if (!multicasts) /* with many GPUs it was used long ago */
        __builtin_prefetch(txn_store(pool, TXN_BRIEF + ((at + 8) & (brief->size - 1))), 1);
    brief->at = at + 1;
    pool->used++;
    return TXN_BRIEF + at;
}
static inline __attribute__((always_inline)) guint32 txn_take_brief(TxnPool *pool, SimTime start_ps)
{
    guint32 index = txn_take_turn(pool, FALSE);
    txn_store(pool, index)->bits = (start_ps & TXN_STORE_PS_MASK) * TXN_STORE_ONE(start_ps) | TXN_NONE;
    return index;
}
/* When it began, and it is free. */
static inline SimTime txn_give_store(TxnStore *store, SimTime now_ps)
{
    SimTime start_ps = now_ps - ((now_ps - store->start_ps) & TXN_STORE_PS_MASK);
    store->bits = TXN_STORE_FREE;
    return start_ps;
}
static inline __attribute__((always_inline)) guint32 txn_take_multicast(TxnPool *pool, TxnMulticast multicast)
{
    guint32 index = txn_take_turn(pool, TRUE);
    *txn_multicast(pool, index) = multicast;
    return index;
}
static inline void txn_give_multicast(TxnPool *pool, TxnMulticast *multicast)
{
    multicast->start_ps = SIMTIME_NEVER;
    multicast->next = TXN_NONE;
    pool->used--;
}
static inline void txn_give(TxnPool *pool, guint32 index)
{
    *txn_next(pool, index) = pool->free_head;
    pool->free_head = index;
    pool->used--;
}

/* Data in flight: 256 B slots. Index 0 means no data. */
typedef struct {
    guint8 *base; /* one reserved range, touched as far as used */
    guint32 *free;
    guint32 n_free, size;
    guint32 first, next, end; /* slots of its own: from first on, untouched from next on */
} __attribute__((aligned(64))) DataPool; /* threads use theirs at once */
#define DATA_SLOT_BYTES 256u
/* n pools over one range, for as many domains; slots may be taken from one and given to another. The first one has
 * half of them. */
DataPool *data_pools_new(guint32 n);
void data_pools_free(DataPool *pool, guint32 n);
void data_pool_grow(DataPool *pool);
guint32 data_take(DataPool *pool);
static inline void data_give(DataPool *pool, guint32 slot)
{
    if (G_UNLIKELY(pool->n_free == pool->size))
        data_pool_grow(pool);
    pool->free[pool->n_free++] = slot;
}
/* Of all together. */
guint32 data_used(const DataPool *pool, guint32 n);
static inline guint8 *data_at(const DataPool *pool, guint32 slot)
{
    return pool->base + (gsize)slot * DATA_SLOT_BYTES;
}

#endif
