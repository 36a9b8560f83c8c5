/* Transactions: what one packet asks for, kept at the requester until it is answered. */
#ifndef MODEL_SHARED_TXN_H
#define MODEL_SHARED_TXN_H

#include "model/shared/packet.h"
#include "model/memory/memory.h"
#include "model/memory/multicast_object.h"

typedef struct Txn Txn;
struct Gpu;

/* Called once at the requester when the answer is there. `bytes` holds the answer of a read (or the old
 * values of an atomic) at the same offset in its line as in memory; NULL when timing-only. */
typedef void (*TxnDone)(struct Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps);

struct Txn {
    guint64 offset; /* in the region or multicast object */
    union {
        MemRegion *region; /* unicast */
        McObject *object;  /* multicast */
    };
    SimTime start_ps;
    TxnDone done;
    void *owner;
    guint64 tag;          /* the owner's */
    guint32 data;         /* slot of the data pool, 0: none (timing-only, or no data) */
    guint32 word_mask;    /* which 4 B words of the line are touched, from `offset`'s line on */
    guint16 bytes;        /* span from `offset`: a part of a line, or up to 256 B from a copy engine */
    guint8 kind;          /* PacketKind of the request */
    guint8 type;          /* NumericType of reductions and atomics */
    guint8 op;            /* NumericOp, TXN_ATOM_* */
    guint8 acc;           /* NumericAcc: precision of the sum */
    guint8 state, missed; /* TxnFault; whether its lines were not in the L2 when it was made */
};
typedef enum {
    TXN_OK,
    TXN_UNBOUND,  /* a member has no memory there */
    TXN_TIMEOUT,  /* a member did not answer: CRUMBSTORE_MCTO_ERR, CRUMBSTORE_RTO_ERR */
    TXN_LOST,     /* it, or its answer, was lost on the way: ATO_ERR */
    TXN_NO_ENTRY, /* a switch has no entry for its multicast ID: INVALID_MCRID_ERR */
    TXN_FAULTS
} TxnFault;

/* Atomic operations that numeric.h does not have, on one element: its bytes (1 to 16) by type, and what is done to it.
 * They may run on any thread of the model. */
typedef struct {
    guint32 (*bytes)(guint8 type);
    gboolean (*sums_floats)(guint8 type, guint8 op);
    void (*apply)(guint8 type, guint8 op, guint8 *memory, const guint8 *operand, const guint8 *compare);
} TxnAtomic;

#define TXN_NONE 0u /* index 0 is never given out */

#define TXN_ATOM_EXCH 64u
#define TXN_ATOM_CAS 65u    /* data: compare values, then new values at DATA_SLOT_BYTES / 2 */
#define TXN_ATOM_CALL 66u   /* Fabric.atomic does it, with `type` and `acc` as its own; data as TXN_ATOM_CAS */
#define TXN_WRITE_BYTES 67u /* of a write: at DATA_SLOT_BYTES / 2 a byte for each one of data: 0, it is not written */
#define TXN_COUNTED 128u    /* a bit of `op`, beside what it says: the target counts the bytes; gpu.h, GpuCounter */
#define TXN_ALL_WORDS 0xffffffffu
gboolean txn_is_plain(const Txn *txn); /* reads or writes every byte of its span */

/* Pools hand out indices and never move what they gave out: chunks, in a table of full length. At most PACKET_TXN_MAX
 * transactions of one GPU are outstanding. */
#define TXN_CHUNK 512u
#define TXN_ALIGNMENT 64u /* a transaction begins with a line of the processor's cache, wherever it is that large */
typedef struct {
    guint32 next[TXN_CHUNK]; /* the free list; and the chain of writes that one packet acknowledges */
    Txn txn[TXN_CHUNK];
} TxnChunk;
typedef struct {
    TxnChunk **chunk;
    guint32 free_head, used, size;
} TxnPool;

static inline Txn *txn_at(const TxnPool *pool, guint32 index)
{
    return &pool->chunk[index / TXN_CHUNK]->txn[index % TXN_CHUNK];
}
static inline guint32 *txn_next(const TxnPool *pool, guint32 index)
{
    return &pool->chunk[index / TXN_CHUNK]->next[index % TXN_CHUNK];
}
void txn_pool_init(TxnPool *pool);
void txn_pool_clear(TxnPool *pool);
void txn_pool_grow(TxnPool *pool);
static inline guint32 txn_take(TxnPool *pool)
{
    if (G_UNLIKELY(pool->free_head == TXN_NONE))
        txn_pool_grow(pool);
    guint32 index = pool->free_head;
    pool->free_head = *txn_next(pool, index);
    pool->used++;
    return index;
}
static inline void txn_give(TxnPool *pool, guint32 index)
{
    *txn_next(pool, index) = pool->free_head;
    pool->free_head = index;
    pool->used--;
}

/* Data in flight: slots of 256 B, which are numbered by their lines of 128 B. Number 0 means no data.
 *
 * Numbers from DATA_FIXED on are lines outside the slots, for bytes that no run changes: what collectives begin with.
 * The answer to a read of such bytes is the number of the line where they stand, so that none is copied; data_give()
 * leaves these lines alone. */
typedef struct {
    guint8 *base; /* one reserved range, touched as far as used */
    guint32 *free;
    guint32 n_free, size;
    guint32 first, next, end;            /* slots of its own: from first on, untouched from next on */
    guint32 fixed_users;                 /* times that fixed lines were handed out and not given back */
    gsize fixed_bytes;                   /* that are handed out */
} __attribute__((aligned(64))) DataPool; /* threads use theirs at once */
#define DATA_SLOT_BYTES 256u
#define DATA_LINE_BYTES 128u
#if GLIB_SIZEOF_VOID_P >= 8
#define DATA_FIXED (1u << 25) /* behind 4 GiB of slots, */
#else
#define DATA_FIXED (1u << 20) /* of an address space of 4 GiB, 128 MiB of slots */
#endif
#define DATA_LINES_MAX (2 * DATA_FIXED) /* as many of fixed lines */
/* n pools over one range, for as many domains; slots may be taken from one and given to another. The first one has
 * half of them. NULL: the host gives no address space for them. */
DataPool *data_pools_new(guint32 n);
void data_pools_free(DataPool *pool, guint32 n);
void data_pool_grow(DataPool *pool);
guint32 data_take(DataPool *pool);
static inline void data_give(DataPool *pool, guint32 slot)
{
    if (slot >= DATA_FIXED)
        return;
    if (G_UNLIKELY(pool->n_free == pool->size))
        data_pool_grow(pool);
    pool->free[pool->n_free++] = slot;
}
/* Of all together. */
guint32 data_used(const DataPool *pool, guint32 n);
static inline guint8 *data_at(const DataPool *pool, guint32 slot) { return pool->base + (gsize)slot * DATA_LINE_BYTES; }
/* Room for fixed lines. NULL: there is no more. Of the first pool alone, between runs. */
guint8 *data_take_fixed(DataPool *pool, gsize bytes);
/* Once for each data_take_fixed() that was not NULL; after the last, the room is used again. */
void data_give_fixed(DataPool *pool);
/* The number of the fixed line that begins here; 0: none does. */
static inline guint32 data_fixed(const DataPool *pool, const guint8 *at)
{
    const guintptr off = (guintptr)at - (guintptr)pool->base, line = off / DATA_LINE_BYTES;
    return line >= DATA_FIXED && line < DATA_LINES_MAX && off % DATA_LINE_BYTES == 0 ? (guint32)line : 0;
}

#endif
