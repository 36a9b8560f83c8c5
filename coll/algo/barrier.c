/* Barriers among the ranks: over unicast flags, and over one multimem.red. */
#include "coll/internal.h"

/* What all warps stored before is performed before any flag is: __syncthreads() and a release by the first n
 * threads, a fence being cumulative; where it is not (sm.fence_gpu_wide), every warp fences its own stores. */
static void coll_arrive(FoCta *cta, const Coll *coll, guint32 n)
{
    if (!coll_fence_is_wide(coll))
        fo_fence(cta);
    fo_sync(cta);
    fo_only(cta, 0, n);
    if (coll_fence_is_wide(coll))
        fo_fence(cta);
}

guint32 coll_flag_threads(const Coll *coll) { return MIN(coll->n, coll->threads); }

void coll_exchange_flags(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, const FoReg *flag, FoOrder order)
{
    FoAddress theirs[coll->n], mine[coll->n];
    const guint32 c = fo_cta(cta), turn = coll_flag_threads(coll);
    for (guint32 r = 0; r < coll->n; r++) {
        theirs[r] = coll_control(coll, r, c) + CONTROL_BARRIER + rank * 16;
        mine[r] = coll_control(coll, rank, c) + CONTROL_BARRIER + r * 16;
    }
    for (guint32 first = 0; first < coll->n; first += turn) {
        fo_only(cta, 0, MIN(turn, coll->n - first));
        fo_st_at(cta, &theirs[first], flag);
    }
    for (guint32 first = 0; first < coll->n; first += turn) {
        fo_only(cta, 0, MIN(turn, coll->n - first));
        fo_poll_at(cta, &mine[first], MIN(turn, coll->n - first), 8, FO_GE, gen, order);
    }
}

/* Thread t tells rank t with st.release.sys and waits for rank t's flag with ld.acquire.sys: the usual
 * barrier of custom all-reduce kernels. */
void coll_barrier_flags(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, FoReg *flag)
{
    coll_arrive(cta, coll, coll_flag_threads(coll));
    fo_set_u64(cta, flag, gen);
    coll_exchange_flags(cta, coll, rank, gen, flag, FO_ACQUIRE);
    fo_all(cta);
    fo_sync(cta);
}

/* The same by volatile flags: it orders nothing but the CTAs themselves. */
void coll_barrier_relaxed(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, FoReg *flag)
{
    fo_sync(cta);
    fo_set_u64(cta, flag, gen);
    coll_exchange_flags(cta, coll, rank, gen, flag, FO_RELAXED);
    fo_all(cta);
    fo_sync(cta);
}

/* PyTorch's sync_remote_blocks (CUDASymmetricMemoryOps.cu): a thread for each rank sets a flag there by
 * compare-and-swap and waits for the answer before it looks at its own flag, which it takes back by another. Here flags
 * count, a warp does what a thread does there, and the last swap leaves what it finds. */
void coll_barrier_swaps(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, gboolean ordered)
{
    FoReg *before = fo_reg(cta, 8), *now = fo_reg(cta, 8), *found = fo_reg(cta, 8);
    const guint32 warps = MAX(coll->threads / 32, 1u), c = fo_cta(cta);
    if (ordered)
        coll_arrive(cta, coll, coll_flag_threads(coll));
    fo_all(cta);
    fo_sync(cta);
    fo_set_u64(cta, before, gen - 1);
    fo_set_u64(cta, now, gen);
    for (guint32 r = 0; r < coll->n; r++) {
        const guint32 thread = r % warps * 32, skip = thread * 8; /* an access of thread t is at address + 8 t */
        FoAddress mine = coll_control(coll, rank, c) + CONTROL_BARRIER + r * 16;
        FoAddress theirs = coll_control(coll, r, c) + CONTROL_BARRIER + rank * 16;
        fo_only(cta, thread, 1);
        fo_atom_cas(cta, found, theirs - skip, before, now, FO_RELAXED);
        fo_combine(cta, found, now, FO_U64, FO_MAX); /* the answer is there */
        fo_poll(cta, mine, 8, FO_GE, gen, ordered ? FO_ACQUIRE : FO_RELAXED);
        fo_atom_cas(cta, found, mine - skip, now, now, FO_RELAXED);
        fo_combine(cta, found, now, FO_U64, FO_MAX);
    }
    fo_all(cta);
    fo_sync(cta);
}

/* One multimem.red.release.sys.add a rank; the counters, one on each rank, are never reset. */
void coll_barrier_multimem(FoCta *cta, const Coll *coll, guint32 rank, guint64 gen, FoReg *one)
{
    const FoMultimem add = {.type = FO_U64, .op = FO_ADD, .order = FO_RELAXED, .scope = FO_SCOPE_SYS};
    guint64 offset = fo_cta(cta) * coll->control_stride + CONTROL_MC_FLAG;
    coll_arrive(cta, coll, 1);
    fo_set_u64(cta, one, 1);
    fo_multimem_red(cta, coll->control.mc_va + offset, one, &add);
    fo_poll(cta, coll->control.va[rank] + offset, 8, FO_GE, gen * coll->n, FO_ACQUIRE);
    fo_all(cta);
    fo_sync(cta);
}

void coll_program_barrier(FoCta *cta, const void *args)
{
    const CollArgs *a = args;
    if (a->coll->algo == COLL_NVLS)
        coll_barrier_multimem(cta, a->coll, a->rank, 1, fo_reg(cta, 8));
    else
        coll_barrier_flags(cta, a->coll, a->rank, 1, fo_reg(cta, 8));
}

void coll_leave(FoCta *cta, const Coll *coll, guint32 rank, guint64 calls, FoReg *one)
{
    FoAddress left = coll_control(coll, rank, 0) + CONTROL_EPOCH;
    fo_sync(cta);
    fo_only(cta, 0, 1);
    fo_set_u64(cta, one, 1);
    fo_red(cta, left, one, FO_U64, FO_ADD, FO_RELAXED);
    if (fo_cta(cta) == 0)
        fo_poll(cta, left, 8, FO_GE, calls * fo_ctas(cta), FO_RELAXED);
    fo_all(cta);
}
