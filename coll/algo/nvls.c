/* Collectives in the switch: multimem.ld_reduce pulls sums, multimem.st pushes copies.
 *
 * all_reduce is the two-shot in place of NCCL's symmetric kernels and of mscclpp's zero-copy one: rank r
 * owns slice r, sums it over all ranks and stores it to all. Barriers before and after. */
#include "coll/internal.h"

#define NVLS_UNROLL 4u

static void nvls_loop(FoCta *cta, const Coll *coll, FoAccess from, FoAddress source, FoAccess to, FoAddress destination,
                      guint64 bytes)
{
    gboolean vector = numeric_is_float(coll->spec.type) && coll->spec.type != NUMERIC_F64;
    guint32 width = from == FO_LD || vector ? 16 : numeric_type_bytes(coll->spec.type);
    while ((source | destination) % width)
        width /= 2;
    FoLoop loop = {.bytes = bytes,
                   .width = width,
                   .unroll = NVLS_UNROLL,
                   .sources = 1,
                   .destinations = 1,
                   .type = (FoType)coll->spec.type,
                   .op = (FoOp)coll->spec.reduce,
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

static void program_nvls(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    guint64 bytes = coll->spec.bytes / coll->n, offset = a->rank * bytes;
    FoReg *flag = fo_reg(cta, 8);
    nvls_barrier(cta, coll, a->rank, 1, flag);
    switch (coll->spec.op) {
    case COLL_ALL_REDUCE:
        offset = coll_slice(coll, a->rank, &bytes);
        nvls_loop(cta, coll, FO_LD_REDUCE, coll->in.mc_va + offset, FO_MULTIMEM_ST, coll->out.mc_va + offset, bytes);
        break;
    case COLL_REDUCE_SCATTER:
        nvls_loop(cta, coll, FO_LD_REDUCE, coll->in.mc_va + offset, FO_ST, coll->out.va[a->rank], bytes);
        break;
    case COLL_ALL_GATHER:
        nvls_loop(cta, coll, FO_LD, coll->in.va[a->rank], FO_MULTIMEM_ST, coll->out.mc_va + offset, bytes);
        break;
    case COLL_BROADCAST:
        if (a->rank == coll->spec.root)
            nvls_loop(cta, coll, FO_LD, coll->in.va[a->rank], FO_MULTIMEM_ST, coll->out.mc_va, coll->spec.bytes);
        break;
    default: g_assert_not_reached();
    }
    nvls_barrier(cta, coll, a->rank, 2, flag);
}

/* Every rank pulls the whole sum: the latency form. */
static void program_nvls_oneshot(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    const Coll *coll = a->coll;
    FoReg *flag = fo_reg(cta, 8);
    coll_barrier_multimem(cta, coll, a->rank, 1, flag);
    nvls_loop(cta, coll, FO_LD_REDUCE, coll->in.mc_va, FO_ST, coll->out.va[a->rank], coll->spec.bytes);
    coll_barrier_multimem(cta, coll, a->rank, 2, flag);
}

/* Each GPU is read from by all. */
static guint64 nvls_oneshot_parts(CollOp op, guint64 n)
{
    (void)op;
    return n * n;
}

static const CollRow nvls_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_NVLS,
     .program = program_nvls,
     .ctas = 16,
     .threads = 512,
     .multicast_in = TRUE,
     .multicast_out = TRUE,
     .reduces_in_switch = TRUE},
    {.op = COLL_ALL_GATHER,
     .algo = COLL_NVLS,
     .program = program_nvls,
     .ctas = 16,
     .threads = 512,
     .multicast_out = TRUE},
    {.op = COLL_REDUCE_SCATTER,
     .algo = COLL_NVLS,
     .program = program_nvls,
     .ctas = 16,
     .threads = 512,
     .multicast_in = TRUE,
     .reduces_in_switch = TRUE},
    {.op = COLL_BROADCAST,
     .algo = COLL_NVLS,
     .program = program_nvls,
     .ctas = 16,
     .threads = 512,
     .multicast_out = TRUE},
    {.op = COLL_BARRIER, .algo = COLL_NVLS, .program = coll_program_barrier, .ctas = 1, .threads = 64},
};
const CollAlgorithm coll_algo_nvls = {
    COLL_ROWS(nvls_rows),
    .family = COLL_OF_SWITCH,
    .how = "NCCL_ALGO=NVLS on registered buffers (ncclCommRegister), or a kernel with multimem.ld_reduce and .st",
};

static const CollRow nvls_oneshot_rows[] = {
    {.op = COLL_ALL_REDUCE,
     .algo = COLL_NVLS_ONESHOT,
     .program = program_nvls_oneshot,
     .ctas = 16,
     .threads = 512,
     .multicast_in = TRUE,
     .reduces_in_switch = TRUE},
};
const CollAlgorithm coll_algo_nvls_oneshot = {
    COLL_ROWS(nvls_oneshot_rows),
    .family = COLL_OF_SWITCH,
    .parts = nvls_oneshot_parts,
    .how = "a kernel of which every rank reads all sums by multimem.ld_reduce",
};
