/* Collectives in the switch: multimem.ld_reduce pulls sums, multimem.st pushes copies.
 *
 * all_reduce is the two-shot in place of NCCL's symmetric kernels and of mscclpp's zero-copy one: rank r
 * owns slice r, sums it over all ranks and stores it to all. Barriers before and after. */
#include "coll/internal.h"

#define NVLS_UNROLL 4u

static void nvls_loop(FoCta *cta, const Coll *coll, FoAccess from, FoAddress source, FoAccess to,
                      FoAddress destination, guint64 bytes)
{
    gboolean vector = numeric_is_float(coll->spec.type) && coll->spec.type != NUMERIC_F64;
    guint32 width = from == FO_LD || vector ? 16 : numeric_type_bytes(coll->spec.type);
    while ((source | destination) % width)
        width /= 2;
    FoLoop loop = {.bytes = bytes, .width = width, .unroll = NVLS_UNROLL, .sources = 1,
                   .destinations = 1, .type = (FoType)coll->spec.type, .op = (FoOp)coll->spec.reduce,
                   .acc = (FoAcc)coll->spec.acc};
    loop.source[0] = (FoStream){from, source};
    loop.destination[0] = (FoStream){to, destination};
    if (bytes)
        fo_loop(cta, &loop);
}

/* PyTorch's first barrier orders nothing, its second one does. */
static void nvls_barrier(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, FoReg *flag)
{
    if (coll->spec.kernel == COLL_KERNEL_TORCH)
        coll_barrier_swaps(cta, coll, rank, gen, gen > 1);
    else
        coll_barrier_multimem(cta, coll, rank, gen, flag);
}

void coll_program_nvls(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint64 bytes = coll->spec.bytes / coll->n, offset = a->rank * bytes;
    FoReg *flag = fo_reg(cta, 8);
    nvls_barrier(cta, coll, a->rank, 1, flag);
    switch (coll->spec.op) {
    case COLL_ALL_REDUCE:
        offset = coll_slice(coll, a->rank, &bytes);
        nvls_loop(cta, coll, FO_LD_REDUCE, coll->in.mc_va + offset, FO_MULTIMEM_ST,
                  coll->out.mc_va + offset, bytes);
        break;
    case COLL_REDUCE_SCATTER:
        nvls_loop(cta, coll, FO_LD_REDUCE, coll->in.mc_va + offset, FO_ST, coll->out.va[a->rank], bytes);
        break;
    case COLL_ALL_GATHER:
        nvls_loop(cta, coll, FO_LD, coll->in.va[a->rank], FO_MULTIMEM_ST, coll->out.mc_va + offset,
                  bytes);
        break;
    case COLL_BROADCAST:
        if (a->rank == coll->spec.root)
            nvls_loop(cta, coll, FO_LD, coll->in.va[a->rank], FO_MULTIMEM_ST, coll->out.mc_va,
                      coll->spec.bytes);
        break;
    default:
        g_assert_not_reached();
    }
    nvls_barrier(cta, coll, a->rank, 2, flag);
}

/* Every rank pulls the whole sum: the latency form. */
void coll_program_nvls_oneshot(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    FoReg *flag = fo_reg(cta, 8);
    coll_barrier_multimem(cta, coll, a->rank, 1, flag);
    nvls_loop(cta, coll, FO_LD_REDUCE, coll->in.mc_va, FO_ST, coll->out.va[a->rank], coll->spec.bytes);
    coll_barrier_multimem(cta, coll, a->rank, 2, flag);
}
