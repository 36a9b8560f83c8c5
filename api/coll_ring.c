/* Ring collectives with NCCL's Simple protocol.
 *
 * As published for NCCL (src/device/prims_simple.h, all_reduce.h and tuning constants): one CTA a
 * channel; each rank has for each channel a buffer of RING_STEPS slots that the previous rank writes; a tail
 * counter at the receiver tells how many steps were put in, a head counter at the sender how many were
 * taken out. Data goes in chunks of at most RING_CHUNK_STEPS slots, each cut in two slices; a slice is
 * moved by one loop, then fenced, then posted. In the gather phase slices go straight into the next
 * rank's result (NCCL's direct P2P within a node) and only the counters are used.
 * Left out: rings of different orders for different channels (a switch makes them equal), and the extra
 * warp that posts; posting costs its time here in the first warp. */
#include "api/coll_internal.h"

#define RING_STEPS 8u
#define RING_STEP_BYTES (512u << 10) /* NCCL_BUFFSIZE 4 MiB / 8 */
#define RING_SLICE_STEPS 2u
#define RING_CHUNK_STEPS 4u
#define RING_UNROLL 4u
#define RING_SLICE_BYTES ((guint64)RING_SLICE_STEPS * RING_STEP_BYTES)
#define RING_CHUNK_BYTES ((guint64)RING_CHUNK_STEPS * RING_STEP_BYTES)

typedef struct {
    FoCta *cta;
    const Coll *coll;
    guint32 rank, next, prev, channel;
    guint64 sent, received; /* steps, by this channel so far */
    FoReg *tail, *head;
    guint64 chunk;          /* bytes of a whole chunk now: slices are cut from it */
} Ring;

/* One chunk's move. Addresses are of the chunk's start; 0: not there. */
typedef struct {
    gboolean receive, send;
    FoAddress received; /* where what is received stands; 0: in the slot */
    FoAddress input;    /* own data that is added or sent */
    FoAddress output;   /* own result */
    FoAddress direct;   /* next rank's result; 0: into its slot */
    guint64 bytes;
} RingMove;

guint64 coll_ring_scratch_bytes(const Coll *coll)
{
    return (guint64)coll->ctas * RING_STEPS * RING_STEP_BYTES;
}

static FoAddress ring_slot(const Ring *ring, guint32 rank, guint64 step)
{
    return ring->coll->scratch.va[rank] +
           ((guint64)ring->channel * RING_STEPS + step % RING_STEPS) * RING_STEP_BYTES;
}

static void ring_wait(Ring *ring, const RingMove *move)
{
    FoAddress control = coll_control(ring->coll, ring->rank, ring->channel);
    if (move->receive)
        fo_poll(ring->cta, control + CONTROL_TAIL, 8, FO_GE, ring->received + RING_SLICE_STEPS, FO_ACQUIRE);
    if (move->send && ring->sent + RING_SLICE_STEPS > RING_STEPS) {
        /* another warp's thread looks for room, at the same time */
        fo_only(ring->cta, fo_threads(ring->cta) > WARP_LANES ? WARP_LANES : 0, 1);
        fo_poll(ring->cta, control + CONTROL_HEAD, 8, FO_GE,
                ring->sent + RING_SLICE_STEPS - RING_STEPS, FO_RELAXED);
        fo_all(ring->cta);
    }
    fo_sync(ring->cta);
}

static void ring_post(Ring *ring, const RingMove *move)
{
    const Coll *coll = ring->coll;
    if (move->send)
        fo_fence(ring->cta);
    fo_sync(ring->cta);
    fo_only(ring->cta, 0, 1);
    if (move->send) {
        ring->sent += RING_SLICE_STEPS;
        fo_set_u64(ring->cta, ring->tail, ring->sent);
        fo_st_sys(ring->cta, coll_control(coll, ring->next, ring->channel) + CONTROL_TAIL, ring->tail,
                  FO_RELAXED);
    }
    if (move->receive) {
        ring->received += RING_SLICE_STEPS;
        fo_set_u64(ring->cta, ring->head, ring->received);
        fo_st_sys(ring->cta, coll_control(coll, ring->prev, ring->channel) + CONTROL_HEAD, ring->head,
                  FO_RELAXED);
    }
    fo_all(ring->cta);
}

static void ring_slice(Ring *ring, const RingMove *move, guint64 offset, guint64 bytes)
{
    const Coll *coll = ring->coll;
    FoLoop loop = {.bytes = bytes, .width = 16, .unroll = RING_UNROLL, .type = (FoType)coll->spec.type,
                   .op = (FoOp)coll->spec.reduce, .step = fo_threads(ring->cta)};
    ring_wait(ring, move);
    if (move->receive)
        loop.source[loop.sources++].base =
            move->received ? move->received + offset : ring_slot(ring, ring->rank, ring->received);
    if (move->input)
        loop.source[loop.sources++].base = move->input + offset;
    if (move->output)
        loop.destination[loop.destinations++] = (FoStream){FO_ST, move->output + offset};
    if (move->send)
        loop.destination[loop.destinations++] =
            (FoStream){FO_ST, move->direct ? move->direct + offset : ring_slot(ring, ring->next, ring->sent)};
    for (guint32 i = 0; i < loop.sources + loop.destinations; i++) {
        guint64 base = i < loop.sources ? loop.source[i].base : loop.destination[i - loop.sources].base;
        while (base % loop.width)
            loop.width /= 2;
    }
    if (bytes && loop.destinations)
        fo_loop(ring->cta, &loop);
    ring_post(ring, move);
}

/* Two slices a chunk; a short or empty chunk has both all the same, so that counters agree. */
static void ring_move(Ring *ring, RingMove move)
{
    guint64 slice = MAX((ring->chunk / 2 + 15) / 16 * 16, RING_SLICE_BYTES / 32);
    guint64 first = MIN(slice, move.bytes);
    ring_slice(ring, &move, 0, first);
    ring_slice(ring, &move, first, move.bytes - first);
}

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
    guint32 n = coll->n, r = ring->rank;
    FoAddress in = coll->in.va[r] + base, out = coll->out.va[r] + base;
    FoAddress next = coll->out.va[ring->next] + base;
    ring->chunk = (bytes + n * 16 - 1) / (n * 16) * 16;
    for (guint32 step = 0; step < 2 * n - 1; step++) {
        guint32 chunk = (r + 2 * n - 1 - step) % n;
        guint64 at = chunk * ring->chunk;
        RingMove move = {.bytes = ring_piece(bytes, ring->chunk, chunk)};
        move.receive = step > 0;
        move.send = step < 2 * n - 2;
        if (step < n)
            move.input = in + at;
        if (step == n - 1)
            move.output = out + at;
        if (step >= n)
            move.received = out + at;
        if (step >= n - 1 && move.send)
            move.direct = next + at;
        ring_move(ring, move);
    }
}

static void ring_reduce_scatter(Ring *ring, guint64 base, guint64 bytes)
{
    const Coll *coll = ring->coll;
    guint32 n = coll->n, r = ring->rank;
    guint64 slice = coll->spec.bytes / n;
    ring->chunk = bytes;
    for (guint32 step = 0; step < n; step++) {
        guint32 chunk = (r + 2 * n - 1 - step) % n;
        RingMove move = {.bytes = bytes, .receive = step > 0, .send = step < n - 1};
        move.input = coll->in.va[r] + chunk * slice + base;
        if (step == n - 1)
            move.output = coll->out.va[r] + base;
        ring_move(ring, move);
    }
}

static void ring_all_gather(Ring *ring, guint64 base, guint64 bytes)
{
    const Coll *coll = ring->coll;
    guint32 n = coll->n, r = ring->rank;
    guint64 slice = coll->spec.bytes / n;
    ring->chunk = bytes;
    for (guint32 step = 0; step < n; step++) {
        guint32 chunk = (r + n - step) % n;
        RingMove move = {.bytes = bytes, .receive = step > 0, .send = step < n - 1};
        FoAddress own = coll->out.va[r] + chunk * slice + base;
        if (step == 0) {
            move.input = coll->in.va[r] + base;
            move.output = own;
        } else {
            move.received = own;
        }
        if (move.send)
            move.direct = coll->out.va[ring->next] + chunk * slice + base;
        ring_move(ring, move);
    }
}

static void ring_broadcast(Ring *ring, guint64 base, guint64 bytes)
{
    const Coll *coll = ring->coll;
    guint32 r = ring->rank, root = coll->spec.root;
    RingMove move = {.bytes = bytes, .receive = r != root, .send = ring->next != root};
    ring->chunk = bytes;
    if (r == root) {
        move.input = coll->in.va[r] + base;
        move.output = coll->out.va[r] + base;
    } else {
        move.received = coll->out.va[r] + base;
    }
    if (move.send)
        move.direct = coll->out.va[ring->next] + base;
    ring_move(ring, move);
}

void coll_program_ring(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint32 n = coll->n;
    Ring ring = {.cta = cta, .coll = coll, .rank = a->rank, .next = (a->rank + 1) % n,
                 .prev = (a->rank + n - 1) % n, .channel = fo_cta(cta)};
    ring.tail = fo_reg(cta, 8);
    ring.head = fo_reg(cta, 8);
    gboolean sliced = coll->spec.op == COLL_ALL_GATHER || coll->spec.op == COLL_REDUCE_SCATTER;
    guint64 total = sliced ? coll->spec.bytes / n : coll->spec.bytes;
    guint64 part = (total + fo_ctas(cta) * 16ull - 1) / (fo_ctas(cta) * 16ull) * 16;
    guint64 start = MIN(fo_cta(cta) * part, total), end = MIN(start + part, total);
    guint64 round = coll->spec.op == COLL_ALL_REDUCE ? n * RING_CHUNK_BYTES : RING_CHUNK_BYTES;
    for (guint64 at = start; at < end; at += round) {
        guint64 bytes = MIN(round, end - at);
        if (coll->spec.op == COLL_ALL_REDUCE)
            ring_all_reduce(&ring, at, bytes);
        else if (coll->spec.op == COLL_REDUCE_SCATTER)
            ring_reduce_scatter(&ring, at, bytes);
        else if (coll->spec.op == COLL_ALL_GATHER)
            ring_all_gather(&ring, at, bytes);
        else
            ring_broadcast(&ring, at, bytes);
    }
}
