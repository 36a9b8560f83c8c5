/* Collectives over plain loads and stores to peers, the shapes of custom kernels (h200/p2pbench.cu):
 * one-shot and two-shot pull all-reduce, push all-gather, pull reduce-scatter, push broadcast,
 * all-to-all and send-receive. */
#include "coll/internal.h"

#define DIRECT_UNROLL 4u

static FoLoop direct_loop(const Coll *coll, guint64 bytes)
{
    return (FoLoop){.bytes = bytes, .width = 16, .unroll = DIRECT_UNROLL,
                    .type = (FoType)coll->spec.type, .op = (FoOp)coll->spec.reduce};
}

static void direct_run(FoCta *cta, FoLoop *loop)
{
    for (guint32 s = 0; s < loop->sources; s++)
        while (loop->source[s].base % loop->width)
            loop->width /= 2;
    for (guint32 d = 0; d < loop->destinations; d++)
        while (loop->destination[d].base % loop->width)
            loop->width /= 2;
    if (loop->bytes)
        fo_loop(cta, loop);
}

/* out[to] = sum over all ranks of in[from]; own rank first, then the next ones. More than FO_LOOP_MAX
 * ranks are summed in rounds, each adding to what the last one stored. */
static void direct_sum(FoCta *cta, const Coll *coll, guint32 rank, guint64 from, FoAddress to,
                       guint64 bytes)
{
    for (guint32 done = 0; done < coll->n;) {
        FoLoop loop = direct_loop(coll, bytes);
        loop.unroll = 1;
        if (done)
            loop.source[loop.sources++].base = to;
        while (done < coll->n && loop.sources < FO_LOOP_MAX)
            loop.source[loop.sources++].base = coll->in.va[(rank + done++) % coll->n] + from;
        loop.destinations = 1;
        loop.destination[0] = (FoStream){FO_ST, to};
        direct_run(cta, &loop);
    }
}

static void direct_copy(FoCta *cta, const Coll *coll, FoAddress from, FoAddress to, guint64 bytes)
{
    FoLoop loop = direct_loop(coll, bytes);
    loop.sources = loop.destinations = 1;
    loop.source[0].base = from;
    loop.destination[0] = (FoStream){FO_ST, to};
    direct_run(cta, &loop);
}

/* in[from] to every rank's out[to], read once. */
static void direct_push(FoCta *cta, const Coll *coll, guint32 rank, FoAddress from, guint64 to,
                        guint64 bytes)
{
    for (guint32 done = 0; done < coll->n;) {
        FoLoop loop = direct_loop(coll, bytes);
        loop.unroll = 1;
        loop.sources = 1;
        loop.source[0].base = from;
        while (done < coll->n && loop.destinations < FO_LOOP_MAX)
            loop.destination[loop.destinations++] =
                (FoStream){FO_ST, coll->out.va[(rank + done++) % coll->n] + to};
        direct_run(cta, &loop);
    }
}

/* Two-shot: sum the own slice into scratch, meet, gather the others' sums. Slices are whole 128 B lines. */
static void direct_twoshot(FoCta *cta, const Coll *coll, guint32 rank, FoReg *flag)
{
    guint64 total = coll->spec.bytes, unit = coll->n * 128ull;
    guint64 each = (total + unit - 1) / unit * 128;
    guint64 start = MIN(rank * each, total);
    direct_sum(cta, coll, rank, start, coll->scratch.va[rank], MIN(each, total - start));
    coll_barrier_flags(cta, coll, rank, 2, flag);
    for (guint32 i = 0; i < coll->n; i++) {
        guint32 r = (rank + i) % coll->n;
        start = MIN(r * each, total);
        direct_copy(cta, coll, coll->scratch.va[r], coll->out.va[rank] + start, MIN(each, total - start));
    }
}

static void direct_all_to_all(FoCta *cta, const Coll *coll, guint32 rank)
{
    guint64 slice = coll->spec.bytes / coll->n;
    for (guint32 i = 0; i < coll->n; i++) {
        guint32 r = (rank + i) % coll->n;
        direct_copy(cta, coll, coll->in.va[rank] + r * slice, coll->out.va[r] + rank * slice, slice);
    }
}

void coll_program_direct(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint32 rank = a->rank;
    guint64 bytes = coll->spec.bytes, slice = bytes / coll->n;
    FoReg *flag = fo_reg(cta, 8);
    coll_barrier_flags(cta, coll, rank, 1, flag);
    switch (coll->spec.op) {
    case COLL_ALL_REDUCE:
        if (coll->algo == COLL_ONESHOT)
            direct_sum(cta, coll, rank, 0, coll->out.va[rank], bytes);
        else
            direct_twoshot(cta, coll, rank, flag);
        break;
    case COLL_ALL_GATHER:
        direct_push(cta, coll, rank, coll->in.va[rank], rank * slice, slice);
        break;
    case COLL_REDUCE_SCATTER:
        direct_sum(cta, coll, rank, rank * slice, coll->out.va[rank], slice);
        break;
    case COLL_BROADCAST:
        if (rank == coll->spec.root)
            direct_push(cta, coll, rank, coll->in.va[rank], 0, bytes);
        break;
    case COLL_ALL_TO_ALL:
        direct_all_to_all(cta, coll, rank);
        break;
    case COLL_SENDRECV:
        direct_copy(cta, coll, coll->in.va[rank], coll->out.va[(rank + 1) % coll->n], bytes);
        break;
    default:
        g_assert_not_reached();
    }
    coll_barrier_flags(cta, coll, rank, 3, flag); /* nobody leaves while its data is still used */
}
