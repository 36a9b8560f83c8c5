/* Send and receive as NCCL does them (sendrecv.h, enqueue.cc): all-to-all, sendrecv, gather and scatter.
 *
 * A message between two ranks is cut into parts, one CTA each; of a CTA's warps about half send a part and the
 * others receive one from the opposite rank, chunk by chunk through slots. The rounds of an all-to-all (to the
 * r-th next rank, from the r-th last) run on different CTAs at the same time; a rank's part for itself is
 * copied. A gather is the sends of all to the root and its receives, a scatter the other way round, as nccl-tests and
 * ncclGather have them: rounds of an all-to-all in which only the root's messages are.
 * Left out: of a CTA that only sends, or only receives, NCCL may give more warps to it; parts of more than 16 MiB,
 * which NCCL halves until rounds share its 32 channels and their warps: here they have more CTAs instead. */
#include "coll/algo/primitives.h"

#define P2P_CHANNELS 32u /* p2pnChannels: NCCL's 24 channels for 18 links, rounded up */
#define P2P_THREADS 640u /* NCCL_MAX_NTHREADS */
#define P2P_PART_UNIT (4u << 10)
#define P2P_LL_THRESHOLD 16384u /* NCCL_P2P_LL_THRESHOLD */

static guint32 p2p_rounds(CollOp op, guint32 n) { return op == COLL_SENDRECV ? 1 : n; }

static guint64 coll_p2p_message(const CollSpec *spec, guint32 n)
{
    return spec->op == COLL_SENDRECV ? spec->bytes : spec->bytes / n;
}

/* enqueue.cc counts 16 KiB for each channel that Simple would take, of which a message has one for each 64 KiB; before
 * 2.29 for each that a peer can have. */
CollProto coll_p2p_proto(const CollSpec *spec, guint32 n)
{
    guint64 bytes = coll_p2p_message(spec, n);
    guint64 most = P2P_LL_THRESHOLD * (coll_nccl_of(spec)->p2p_ll_most ? (guint64)P2P_CHANNELS : 1);
    return bytes <= most && bytes % 16 == 0 ? COLL_LL : COLL_SIMPLE;
}

/* All peers' parts fit the channels, as if there were as many peers as ranks; a part is an eighth of a step to 32
 * steps. */
guint32 coll_p2p_ctas(const CollSpec *spec, CollProto proto, guint32 n)
{
    CollSpec as = *spec;
    as.bytes = spec->as_bytes ? spec->as_bytes : spec->bytes;
    guint64 bytes = coll_p2p_message(&as, n), parts = P2P_CHANNELS, step = prim_step_bytes(proto);
    while (parts * n > P2P_CHANNELS && parts > 1)
        parts /= 2;
    parts = MAX(MIN(parts, (bytes + step / 8 - 1) / (step / 8)), 1);
    while ((bytes + parts - 1) / parts > step * 32 && parts <= P2P_CHANNELS / 2)
        parts *= 2;
    return (guint32)parts * p2p_rounds(spec->op, n);
}

guint64 coll_p2p_turn(guint32 ctas) { return ctas * prim_step_data(COLL_SIMPLE); }

/* What one CTA does of it. */
typedef struct {
    guint32 rank, to, from;
    guint64 in, out; /* of the part in the rank's buffers */
    guint64 bytes;
    gboolean sends, receives;
} P2p;

guint32 coll_p2p_round(guint32 turn, guint32 rounds)
{
    guint32 bits = 0, round = 0;
    while (1u << bits < rounds)
        bits++;
    for (guint32 place = 0; place < 1u << bits; place++) {
        round = 0;
        for (guint32 bit = 0; bit < bits; bit++)
            round |= (place >> bit & 1) << (bits - 1 - bit);
        if (round < rounds && turn-- == 0)
            break;
    }
    return round;
}

static P2p p2p_of(const FoCta *cta, const Coll *coll, guint32 rank)
{
    guint32 n = coll->n, rounds = p2p_rounds(coll->spec.op, n), c = fo_cta(cta);
    guint32 parts = fo_ctas(cta) / rounds, round = rounds == 1 ? 1 : coll_p2p_round(c / parts, rounds),
            part = c % parts;
    guint64 message = coll_p2p_message(&coll->spec, n), unit = (guint64)parts * P2P_PART_UNIT;
    guint64 each = (message + unit - 1) / unit * P2P_PART_UNIT, start = MIN(part * each, message);
    P2p p2p = {.rank = rank,
               .to = (rank + round) % n,
               .from = (rank + n - round % n) % n,
               .in = start,
               .out = start,
               .bytes = MIN(each, message - start),
               .sends = TRUE,
               .receives = TRUE};
    if (coll->spec.op == COLL_GATHER) {
        p2p.sends = p2p.to == coll->spec.root;
        p2p.receives = rank == coll->spec.root;
    } else if (coll->spec.op == COLL_SCATTER) {
        p2p.sends = rank == coll->spec.root;
        p2p.receives = p2p.from == coll->spec.root;
    }
    if (coll->spec.op == COLL_ALL_TO_ALL || coll->spec.op == COLL_SCATTER)
        p2p.in += p2p.to * message;
    if (coll->spec.op == COLL_ALL_TO_ALL || coll->spec.op == COLL_GATHER)
        p2p.out += p2p.from * message;
    return p2p;
}

static void p2p_copy(FoCta *cta, const Coll *coll, const P2p *p2p)
{
    FoLoop loop = {.bytes = p2p->bytes,
                   .width = 16,
                   .unroll = 8,
                   .step = fo_threads(cta),
                   .sources = 1,
                   .destinations = 1,
                   .source[0].base = coll->in.va[p2p->rank] + p2p->in,
                   .destination[0] = {FO_ST, coll->out.va[p2p->rank] + p2p->out}};
    while (loop.source[0].base % loop.width || loop.destination[0].base % loop.width)
        loop.width /= 2;
    if (p2p->bytes)
        fo_loop(cta, &loop);
}

/* A CTA's warps: about half receive, the others send (the last of them posts). */
static guint32 p2p_receivers(guint32 threads)
{
    guint32 warps = threads / WARP_LANES;
    return (warps <= 4 ? warps / 2 : (warps - 1) / 2) * WARP_LANES;
}

static void program_p2p(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    if (fo_cta(cta) >= fo_ctas(cta) / p2p_rounds(coll->spec.op, coll->n) * p2p_rounds(coll->spec.op, coll->n))
        return; /* more CTAs than the rounds can share */
    P2p p2p = p2p_of(cta, coll, a->rank);
    if (p2p.to == a->rank) {
        if (p2p.sends && p2p.receives)
            p2p_copy(cta, coll, &p2p);
        return;
    }
    if (!p2p.sends && !p2p.receives)
        return;
    guint32 c = fo_cta(cta), receivers = p2p_receivers(fo_threads(cta));
    guint32 senders = MIN(receivers + (receivers >= 2 * WARP_LANES ? WARP_LANES : 0), fo_threads(cta) - receivers);
    Prim receive, send;
    prim_init(&receive, cta, coll, 0, 0, receivers, FALSE);
    prim_init(&send, cta, coll, 1, receivers, senders, TRUE);
    receive.n_from = send.n_to = 1;
    receive.from[0] = prim_from(coll, c, p2p.from, 0, a->rank, 0);
    send.to[0] = prim_to(coll, c, a->rank, 0, p2p.to, 0);
    guint64 chunk = prim_step_data(coll->proto);
    for (guint64 at = 0; at < p2p.bytes; at += chunk) {
        guint64 bytes = MIN(chunk, p2p.bytes - at);
        PrimMove out = {.send = TRUE, .input = coll->in.va[a->rank] + p2p.in + at, .bytes = bytes};
        PrimMove in = {.receive = TRUE, .output = coll->out.va[a->rank] + p2p.out + at, .bytes = bytes};
        send.beside = p2p.receives && at > 0; /* the slice before is being received */
        receive.beside = p2p.sends && at + chunk < p2p.bytes;
        if (p2p.sends)
            prim_move(&send, &out);
        if (p2p.receives)
            prim_move(&receive, &in);
    }
    if (p2p.sends)
        prim_end(&send);
    if (p2p.receives)
        prim_end(&receive);
}

static gboolean p2p_check(const CollGroup *group, const CollSpec *spec, const CollRow *row, guint32 ctas,
                          guint32 threads, GError **error)
{
    (void)row;
    if (threads < 2 * WARP_LANES)
        return coll_refuse(error,
                           "p2p has two groups of warps in each CTA: %u threads are too few, 64 or more are "
                           "right",
                           threads);
    return spec->op == COLL_SENDRECV || ctas >= group->n ||
           coll_refuse(error, "%s with p2p needs a CTA for each rank: %u or more, not %u", coll_op_name(spec->op),
                       group->n, ctas);
}

#define P2P_ROW(operation)                                                                                             \
    {                                                                                                                  \
        .op = operation, .algo = COLL_P2P, .program = program_p2p, .threads = 640, .connections = 1,                   \
        .protocols = TRUE, .first = TRUE                                                                               \
    }
static const CollRow p2p_rows[] = {
    P2P_ROW(COLL_ALL_TO_ALL),
    P2P_ROW(COLL_SENDRECV),
    P2P_ROW(COLL_GATHER),
    P2P_ROW(COLL_SCATTER),
};
const CollAlgorithm coll_algo_p2p = {
    COLL_ROWS(p2p_rows),
    .family = COLL_OF_NCCL,
    .check = p2p_check,
    .how = "NCCL's sends and receives",
};
