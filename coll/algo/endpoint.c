/* Collectives by operations on logical endpoints, which the GPU's fabric engine makes: an SM issues them and waits for
 * their mbarriers, and never touches a byte.
 *
 * endpoint: unicast endpoints, one a rank. A rank gets its own bytes into shared memory and puts them to every other;
 * an all_reduce puts slices to their owners as reductions (try_red), which the owners then put to all.
 * pullred: a multicast endpoint over all ranks. try_pullred brings sums, which the switch makes, and try_put.multimem
 * takes copies to all: what nvls does with ld_reduce and st, without a warp's loads and stores.
 * Assumed: one warp a CTA issues, chunks of up to 16 KiB, eight of them on their way; four CTAs, since more let pull
 * reductions wait for each other's reduction buffers (docs/fabric-operations.md); own memory is reached by the own
 * endpoint. No library has such kernels for collectives yet (NCCL 2.32 has the operations for programs of its device
 * interface); these are ours, as short as can be. They are run when they are named, and are in no search. */
#include "coll/internal.h"
#include "device/fabric_stream.h"

#define ENDPOINT_CTAS 4u
#define ENDPOINT_DEPTH 8u
#define ENDPOINT_CHUNK_MIN 1024u
#define ENDPOINT_CHUNK_MAX 16384u

/* A CTA's part of a stream, of whole lines; the end may be rounded up to 16 bytes, which the buffers have room for. */
static void stream_part(FoCta *cta, const Coll *coll, FabricStream *stream, guint64 bytes)
{
    guint64 lines = (bytes + LINE_BYTES - 1) / LINE_BYTES, c = fo_cta(cta), ctas = fo_ctas(cta);
    guint64 at = lines * c / ctas * LINE_BYTES, end = MIN(lines * (c + 1) / ctas * LINE_BYTES, bytes);
    guint64 part = (end - at + 15) / 16 * 16, chunk = part / (2 * ENDPOINT_DEPTH) / LINE_BYTES * LINE_BYTES;
    stream->source += at;
    for (guint32 i = 0; i < stream->n_to; i++)
        stream->to[i] += at;
    stream->bytes = part;
    stream->chunk = (guint32)CLAMP(chunk, ENDPOINT_CHUNK_MIN, ENDPOINT_CHUNK_MAX);
    stream->depth = ENDPOINT_DEPTH;
    stream->type = coll->spec.type;
    stream->op = coll->spec.reduce;
    stream->acc = coll->spec.acc;
    if (end > at)
        device_fabric_stream(cta, stream);
}

static void move(FoCta *cta, const Coll *coll, FoAddress from, FoAddress to, guint64 bytes, gboolean reduces)
{
    FabricStream stream = {.source = from, .n_to = 1, .to = {to}, .reduces = reduces};
    stream_part(cta, coll, &stream, bytes);
}

/* From a rank's own memory to the same place of all others, and where it is not there yet of its own. */
static void move_to_all(FoCta *cta, const Coll *coll, guint32 rank, FoAddress from, guint64 offset, guint64 bytes,
                        gboolean own)
{
    FabricStream stream = {.source = from};
    for (guint32 i = own ? 0 : 1; i < coll->n; i++)
        stream.to[stream.n_to++] = coll->out.va[(rank + i) % coll->n] + offset;
    stream_part(cta, coll, &stream, bytes);
}

/* The owner's bytes first, then what others add to them, then the sum to all. */
static void reduce_unicast(FoCta *cta, const Coll *coll, guint32 rank, FoReg *flag)
{
    guint64 bytes, at = coll_slice(coll, rank, &bytes);
    move(cta, coll, coll->in.va[rank] + at, coll->out.va[rank] + at, bytes, FALSE);
    coll_barrier_flags(cta, coll, rank, 2, flag);
    for (guint32 i = 1; i < coll->n; i++) {
        guint32 owner = (rank + i) % coll->n;
        at = coll_slice(coll, owner, &bytes);
        move(cta, coll, coll->in.va[rank] + at, coll->out.va[owner] + at, bytes, TRUE);
    }
    coll_barrier_flags(cta, coll, rank, 3, flag);
    at = coll_slice(coll, rank, &bytes);
    move_to_all(cta, coll, rank, coll->out.va[rank] + at, at, bytes, FALSE);
    coll_barrier_flags(cta, coll, rank, 4, flag);
}

static void program_endpoint(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint64 bytes = coll->spec.bytes / coll->n;
    FoReg *flag = fo_reg(cta, 8);
    coll_barrier_flags(cta, coll, a->rank, 1, flag);
    if (coll->spec.op == COLL_ALL_REDUCE) {
        reduce_unicast(cta, coll, a->rank, flag);
        return;
    }
    if (coll->spec.op == COLL_ALL_GATHER)
        move_to_all(cta, coll, a->rank, coll->in.va[a->rank], a->rank * bytes, bytes, TRUE);
    else if (coll->spec.op == COLL_BROADCAST && a->rank == coll->spec.root)
        move_to_all(cta, coll, a->rank, coll->in.va[a->rank], 0, coll->spec.bytes, TRUE);
    for (guint32 i = 0; coll->spec.op == COLL_ALL_TO_ALL && i < coll->n; i++) {
        guint32 to = (a->rank + i) % coll->n;
        move(cta, coll, coll->in.va[a->rank] + to * bytes, coll->out.va[to] + a->rank * bytes, bytes, FALSE);
    }
    coll_barrier_flags(cta, coll, a->rank, 2, flag);
}

static void program_pullred(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint64 bytes = coll->spec.bytes / coll->n, at = a->rank * bytes;
    FoReg *flag = fo_reg(cta, 8);
    coll_barrier_multimem(cta, coll, a->rank, 1, flag);
    switch (coll->spec.op) {
    case COLL_ALL_REDUCE:
        at = coll_slice(coll, a->rank, &bytes);
        move(cta, coll, coll->in.mc_va + at, coll->out.mc_va + at, bytes, FALSE);
        break;
    case COLL_REDUCE_SCATTER: move(cta, coll, coll->in.mc_va + at, coll->out.va[a->rank], bytes, FALSE); break;
    case COLL_ALL_GATHER: move(cta, coll, coll->in.va[a->rank], coll->out.mc_va + at, bytes, FALSE); break;
    default:
        if (a->rank == coll->spec.root)
            move(cta, coll, coll->in.va[a->rank], coll->out.mc_va, coll->spec.bytes, FALSE);
    }
    coll_barrier_multimem(cta, coll, a->rank, 2, flag);
}

/* What try_red and try_pullred add, and take the least and the most of; and that parts lie on 16 bytes. */
static gboolean endpoint_check(const CollGroup *group, const CollSpec *spec, const CollRow *row, guint32 ctas,
                               guint32 threads, GError **error)
{
    const NumericType t = spec->type;
    gboolean pulls = row->algo == COLL_PULLRED, fp8 = t == NUMERIC_E4M3 || t == NUMERIC_E5M2;
    gboolean common = t == NUMERIC_U32 || t == NUMERIC_U64 || t == NUMERIC_F16 || t == NUMERIC_BF16;
    gboolean adds = common || t == NUMERIC_F32 || (t == NUMERIC_F64 && !pulls) ||
                    (fp8 && pulls && spec->acc != NUMERIC_NATIVE);
    gboolean orders = common || t == NUMERIC_S32 || t == NUMERIC_S64 || (fp8 && pulls);
    gboolean good = spec->reduce == NUMERIC_ADD                                  ? adds
                    : spec->reduce == NUMERIC_MIN || spec->reduce == NUMERIC_MAX ? orders
                                                                                 : FALSE;
    (void)ctas;
    (void)threads;
    if (coll_reduces(spec->op) && !good)
        return coll_refuse(error, "%s has no %s of %s (PTX ISA 9.3, %s)", pulls ? "pullred" : "endpoint",
                           numeric_op_name(spec->reduce), numeric_type_name(t),
                           pulls ? "fabric.try_pullred" : "fabric.try_red");
    if (coll_is_sliced(spec->op) && spec->bytes / group->n % 16)
        return coll_refuse(error, "%s moves multiples of 16 bytes; a rank's part is %" G_GUINT64_FORMAT " bytes here",
                           pulls ? "pullred" : "endpoint", spec->bytes / group->n);
    if (group->n > FABRIC_STREAM_TO)
        return coll_refuse(error, "%s has up to %u ranks", pulls ? "pullred" : "endpoint", FABRIC_STREAM_TO);
    return TRUE;
}

#define UNICAST(what)                                                                                                  \
    {                                                                                                                  \
        .op = what, .algo = COLL_ENDPOINT, .program = program_endpoint, .ctas = ENDPOINT_CTAS, .threads = 64           \
    }
static const CollRow endpoint_rows[] = {UNICAST(COLL_ALL_REDUCE), UNICAST(COLL_ALL_GATHER), UNICAST(COLL_BROADCAST),
                                        UNICAST(COLL_ALL_TO_ALL)};
const CollAlgorithm coll_algo_endpoint = {
    COLL_ROWS(endpoint_rows),
    .family = COLL_OF_PEERS,
    .only_named = TRUE,
    .check = endpoint_check,
    .how = "a kernel with fabric.try_put and try_red to unicast logical endpoints (CUDA 13.3, sm_100)",
};

static const CollRow pullred_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_PULLRED,
     .program = program_pullred,
     .ctas = ENDPOINT_CTAS,
     .threads = 64,
     .multicast_in = TRUE,
     .multicast_out = TRUE},
    {.op = COLL_REDUCE_SCATTER,
     .algo = COLL_PULLRED,
     .program = program_pullred,
     .ctas = ENDPOINT_CTAS,
     .threads = 64,
     .multicast_in = TRUE},
    {.op = COLL_ALL_GATHER,
     .algo = COLL_PULLRED,
     .program = program_pullred,
     .ctas = ENDPOINT_CTAS,
     .threads = 64,
     .multicast_out = TRUE},
    {.op = COLL_BROADCAST,
     .algo = COLL_PULLRED,
     .program = program_pullred,
     .ctas = ENDPOINT_CTAS,
     .threads = 64,
     .multicast_out = TRUE},
};
const CollAlgorithm coll_algo_pullred = {
    COLL_ROWS(pullred_rows),
    .family = COLL_OF_SWITCH,
    .only_named = TRUE,
    .check = endpoint_check,
    .how = "a kernel with fabric.try_pullred and try_put.multimem of a multicast logical endpoint (CUDA 13.3, sm_100)",
};
