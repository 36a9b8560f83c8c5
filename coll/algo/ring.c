/* Ring collectives, as in NCCL's all_reduce.h, all_gather.h, reduce_scatter.h, broadcast.h and reduce.h: one CTA a
 * channel, each channel its part of the data, in rounds of one chunk a rank.
 *
 * Simple: chunks of four slots in two slices, of one slot in a broadcast and in a reduce. All data goes through slots:
 * on its way to the own result it is copied once more.
 * Left out: rings of different orders for different channels (a switch makes them equal). */
#include "coll/algo/primitives.h"

typedef struct {
    Prim prim;
    const Coll *coll;
    guint32 n, rank, next;
} Ring;

/* Bytes of piece i when `total` is cut into pieces of `each`. */
static guint64 ring_piece(guint64 total, guint64 each, guint32 i)
{
    guint64 start = MIN(i * each, total);
    return MIN(each, total - start);
}

/* One round of the ring over [base, base + bytes) of the buffers, cut into n chunks. */
static void ring_all_reduce(Ring *ring, guint64 base, guint64 bytes)
{
    const Coll *coll = ring->coll;
    guint32 n = ring->n, r = ring->rank;
    guint64 chunk_bytes = (bytes + n * 16 - 1) / (n * 16) * 16;
    for (guint32 step = 0; step < 2 * n - 1; step++) {
        guint32 chunk = (r + 2 * n - 1 - step) % n;
        guint64 at = base + chunk * chunk_bytes;
        PrimMove move = {.bytes = ring_piece(bytes, chunk_bytes, chunk)};
        move.receive = step > 0;
        move.send = step < 2 * n - 2;
        if (step < n)
            move.input = coll->in.va[r] + at;
        if (step >= n - 1)
            move.output = coll->out.va[r] + at;
        prim_move(&ring->prim, &move);
    }
}

static void ring_reduce_scatter(Ring *ring, guint64 base, guint64 bytes)
{
    const Coll *coll = ring->coll;
    guint32 n = ring->n, r = ring->rank;
    for (guint32 step = 0; step < n; step++) {
        guint32 chunk = (r + 2 * n - 1 - step) % n;
        PrimMove move = {.bytes = bytes, .receive = step > 0, .send = step < n - 1};
        move.input = coll->in.va[r] + chunk * (coll->spec.bytes / n) + base;
        if (step == n - 1)
            move.output = coll->out.va[r] + base;
        prim_move(&ring->prim, &move);
    }
}

static void ring_all_gather(Ring *ring, guint64 base, guint64 bytes)
{
    const Coll *coll = ring->coll;
    guint32 n = ring->n, r = ring->rank;
    for (guint32 step = 0; step < n; step++) {
        guint64 at = (r + n - step) % n * (coll->spec.bytes / n) + base;
        PrimMove move = {.bytes = bytes, .receive = step > 0, .send = step < n - 1};
        move.output = coll->out.va[r] + at;
        if (step == 0)
            move.input = coll->in.va[r] + base;
        prim_move(&ring->prim, &move);
    }
}

static void ring_broadcast(Ring *ring, guint64 base, guint64 bytes)
{
    const Coll *coll = ring->coll;
    guint32 r = ring->rank, root = coll->spec.root;
    PrimMove move = {.bytes = bytes, .receive = r != root, .send = ring->next != root};
    move.output = coll->out.va[r] + base;
    if (r == root)
        move.input = coll->in.va[r] + base;
    prim_move(&ring->prim, &move);
}

/* From the root's next rank on, which has nothing to wait for, to the root, which alone keeps the sum. */
static void ring_reduce(Ring *ring, guint64 base, guint64 bytes)
{
    const Coll *coll = ring->coll;
    guint32 r = ring->rank, root = coll->spec.root;
    PrimMove move = {.bytes = bytes, .receive = r != (root + 1) % ring->n, .send = r != root};
    move.input = coll->in.va[r] + base;
    if (r == root)
        move.output = coll->out.va[r] + base;
    prim_move(&ring->prim, &move);
}

/* Steps of a chunk and of a slice (collectives.h: *_CHUNKSTEPS, *_SLICESTEPS). */
static guint32 ring_chunk_steps(const Coll *coll)
{
    return coll->proto != COLL_SIMPLE || coll->spec.op == COLL_BROADCAST || coll->spec.op == COLL_REDUCE
               ? 1
               : PRIM_STEPS / 2;
}

static void ring_connect(Ring *ring, FoCta *cta, const CollArgs *args)
{
    const Coll *coll = args->coll;
    guint32 c = fo_cta(cta), n = coll->n, prev = (args->rank + n - 1) % n;
    prim_init(&ring->prim, cta, coll, 0, 0, fo_threads(cta), TRUE);
    ring->coll = coll;
    ring->n = n;
    ring->rank = args->rank;
    ring->next = (args->rank + 1) % n;
    ring->prim.n_from = ring->prim.n_to = 1;
    ring->prim.from[0] = prim_from(coll, c, prev, 0, args->rank, 0);
    ring->prim.to[0] = prim_to(coll, c, args->rank, 0, ring->next, 0);
    if (ring_chunk_steps(coll) > 1) {
        ring->prim.slice_steps = PRIM_STEPS / 4;
        ring->prim.slices = 2;
    }
}

static void program_ring(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    Ring ring;
    ring_connect(&ring, cta, a);
    gboolean sliced = coll->spec.op == COLL_ALL_GATHER || coll->spec.op == COLL_REDUCE_SCATTER;
    guint64 total = sliced ? coll->spec.bytes / coll->n : coll->spec.bytes;
    guint64 start = MIN(fo_cta(cta) * coll->part_bytes, total), end = MIN(start + coll->part_bytes, total);
    guint64 round = prim_step_data(coll->proto) * ring_chunk_steps(coll);
    if (coll->spec.op == COLL_ALL_REDUCE)
        round *= coll->n;
    for (guint64 at = start; at < end; at += round) {
        guint64 bytes = MIN(round, end - at);
        if (coll->spec.op == COLL_ALL_REDUCE)
            ring_all_reduce(&ring, at, bytes);
        else if (coll->spec.op == COLL_REDUCE_SCATTER)
            ring_reduce_scatter(&ring, at, bytes);
        else if (coll->spec.op == COLL_ALL_GATHER)
            ring_all_gather(&ring, at, bytes);
        else if (coll->spec.op == COLL_REDUCE)
            ring_reduce(&ring, at, bytes);
        else
            ring_broadcast(&ring, at, bytes);
    }
    prim_end(&ring.prim);
}

/* All ranks together receive 2 (n - 1) times the data of a sum, so that some receive the mean or more. */
static guint64 parts_twice(CollOp op, guint64 n) { return op == COLL_ALL_REDUCE ? 2 * (n - 1) : n - 1; }

#define RING_ROW(operation)                                                                                            \
    {                                                                                                                  \
        .op = operation, .algo = COLL_RING, .program = program_ring, .ctas = 24, .threads = 544, .connections = 1,     \
        .protocols = TRUE, .first = TRUE                                                                               \
    }
static const CollRow ring_rows[] = {
    RING_ROW(COLL_ALL_REDUCE), RING_ROW(COLL_ALL_GATHER), RING_ROW(COLL_REDUCE_SCATTER),
    RING_ROW(COLL_BROADCAST),  RING_ROW(COLL_REDUCE),
};
const CollAlgorithm coll_algo_ring = {
    COLL_ROWS(ring_rows),
    .family = COLL_OF_NCCL,
    .parts = parts_twice,
    .how = "NCCL_ALGO=Ring, NCCL_PROTO as the protocol",
};
