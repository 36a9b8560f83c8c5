/* All-to-all of a mixture of experts, as TensorRT-LLM's one-sided kernels do it (moeAlltoAllKernels.cu): dispatch
 * stores each token to the ranks of its experts, combine loads what became of it from them.
 *
 * Dispatch: a kernel that clears counters, then a CTA of 256 threads for each token, which takes a place at each rank
 * in turn by an atomic whose answer it waits for, copies the token, and counts itself; the last one sets a flag at each
 * rank behind a fence and waits for theirs. Combine: a kernel that counts the call, then a CTA for each token, of which
 * the first sets flags and all wait for those of all ranks, look up where the token is and load it.
 * Which ranks a token goes to is a hash of its number, as experts are drawn, so that now and then several ranks meet at
 * one; over all tokens each pair of ranks has as much.
 * Left out: routing that is out of balance; sums (combine stores what it loads). */
#include "coll/internal.h"
#include "device/launch_time.h"

#define MOE_TOP_K 8u
#define MOE_TOKEN_BYTES 14336u /* 7168 elements of 16 bits */

/* What is taken beside accesses: by dispatch for each token, which is why a GPU's third and fourth thousand tokens cost
 * as much as the first, by combine once a call. calibrated: aiconfigurator's rows of 2 and 4 GPUs up to 2 MiB, half
 * calibrate, median. What it is made of is not known. */
#define MOE_DISPATCH_PS (6200 * PS_PER_NS)
#define MOE_COMBINE_PS (9200 * PS_PER_NS)

static guint32 moe_ranks(guint32 n) { return MIN(n, MOE_TOP_K); }

static guint64 moe_token_bytes(const CollSpec *spec) { return spec->token_bytes ? spec->token_bytes : MOE_TOKEN_BYTES; }

static guint64 moe_tokens_of(const CollSpec *spec, guint32 n)
{
    guint64 all = moe_ranks(n) * moe_token_bytes(spec);
    return MAX((spec->bytes + all - 1) / all, 1);
}

/* While there are no more tokens than SMs, a CTA of 256 threads has one. Of more, the CTAs that an SM holds at once are
 * one here, of 1024 threads. */
static gboolean moe_is_dense(const CollGroup *group, const CollSpec *spec)
{
    return moe_tokens_of(spec, group->n) > group->fabric->spec.sm.count;
}

guint32 coll_moe_ctas(const CollGroup *group, const CollSpec *spec)
{
    return (guint32)MIN(moe_tokens_of(spec, group->n), group->fabric->spec.sm.count);
}

guint32 coll_moe_threads(const CollGroup *group, const CollSpec *spec)
{
    return coll_threads_fit(group, moe_is_dense(group, spec) ? 1024 : 256);
}

/* CTAs of 256 threads that a CTA stands for. */
static guint64 moe_held(const Coll *coll)
{
    return moe_is_dense(coll->group, &coll->spec) ? coll->fabric->spec.sm.warps_max * WARP_LANES / 256 : 1;
}

/* Tokens that a CTA takes at once: as many as it stands for CTAs, or more, so that it has four turns at most. */
static guint64 moe_at_once(const Coll *coll)
{
    guint64 each = (moe_tokens_of(&coll->spec, coll->n) + coll->ctas - 1) / coll->ctas, held = moe_held(coll);
    guint64 turns = MIN((each + held - 1) / held, 4);
    return (each + turns - 1) / turns;
}

static guint64 moe_hash(guint64 x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void moe_move(FoCta *cta, FoAddress from, FoAddress to, guint64 bytes)
{
    FoLoop loop = {.bytes = bytes, .width = 16, .unroll = 4, .step = fo_threads(cta), .sources = 1, .destinations = 1};
    loop.source[0].base = from;
    loop.destination[0] = (FoStream){FO_ST, to};
    while (from % loop.width || to % loop.width || bytes % loop.width)
        loop.width /= 2;
    fo_loop(cta, &loop);
}

/* The parts of a token, to or from a rank each. Item i of all is the i / n-th part for the rank that it falls on. */
static void moe_token(FoCta *cta, const Coll *coll, guint32 rank, guint64 token)
{
    guint32 n = coll->n, ranks = moe_ranks(n);
    guint64 slice = coll->spec.bytes / n, each = moe_at_once(coll) * moe_token_bytes(&coll->spec);
    for (guint64 item = token * ranks; item < (token + 1) * ranks; item++) {
        guint64 row = item / n, at = row * each;
        guint32 peer = (guint32)((moe_hash(row * n + rank) + item) % n);
        if (at >= slice)
            continue;
        guint64 bytes = MIN(each, slice - at);
        if (coll->algo == COLL_PULL)
            moe_move(cta, coll->in.va[peer] + rank * slice + at, coll->out.va[rank] + peer * slice + at, bytes);
        else
            moe_move(cta, coll->in.va[rank] + peer * slice + at, coll->out.va[peer] + rank * slice + at, bytes);
    }
}

/* The CTA's tokens. What each takes before its data: dispatch loads its experts and takes its places by atomics, one
 * behind the other, and counts itself out by one more; combine loads the call's number, the flags and its places. */
static void moe_tokens(FoCta *cta, const Coll *coll, guint32 rank)
{
    const GpuSpec *gpu = &coll->fabric->spec.gpu;
    guint64 atomics = moe_ranks(coll->n) + 1, slice = coll->spec.bytes / coll->n, once = moe_at_once(coll);
    guint64 rows = (slice + once * moe_token_bytes(&coll->spec) - 1) / (once * moe_token_bytes(&coll->spec));
    guint64 tokens = (rows * coll->n + moe_ranks(coll->n) - 1) / moe_ranks(coll->n);
    guint64 waves = (once + moe_held(coll) - 1) / moe_held(coll);
    guint64 place_ps = MOE_DISPATCH_PS + gpu->local_ps + atomics * (gpu->local_ps + gpu->local_atomic_ps);
    for (guint64 token = fo_cta(cta); token < tokens; token += fo_ctas(cta)) {
        fo_sleep_ps(cta, waves * (coll->algo == COLL_PULL ? 3 * gpu->local_ps : place_ps));
        moe_token(cta, coll, rank, token);
        fo_sync(cta);
    }
}

static void moe_wait_flags(FoCta *cta, const Coll *coll, guint32 rank, guint64 calls)
{
    FoAddress flags[coll->n];
    for (guint32 r = 0; r < coll->n; r++)
        flags[r] = coll_control(coll, rank, 0) + CONTROL_BARRIER + r * 16;
    fo_only(cta, 0, MIN(coll->n, WARP_LANES));
    for (guint32 r = 0; r < coll->n; r += WARP_LANES)
        fo_poll_at(cta, flags + r, MIN(coll->n - r, WARP_LANES), 8, FO_GE, calls, FO_RELAXED);
    fo_all(cta);
    fo_sync(cta);
}

static void moe_set_flags(FoCta *cta, const Coll *coll, guint32 rank, guint64 calls, FoReg *value)
{
    FoAddress flags[coll->n];
    for (guint32 i = 0; i < coll->n; i++)
        flags[i] = coll_control(coll, (rank + i) % coll->n, 0) + CONTROL_BARRIER + rank * 16;
    fo_set_u64(cta, value, calls);
    for (guint32 i = 0; i < coll->n; i += WARP_LANES) {
        fo_only(cta, 0, MIN(coll->n - i, WARP_LANES));
        fo_st_sys_at(cta, flags + i, value, FO_RELAXED);
    }
    fo_all(cta);
}

void coll_moe(FoCta *cta, const Coll *coll, guint32 rank)
{
    const GpuSpec *gpu = &coll->fabric->spec.gpu;
    guint64 calls = ++coll->steps[((guint64)rank * coll->ctas + fo_cta(cta)) * 2];
    FoReg *value = fo_reg(cta, 8);
    /* the kernel before this one, which does a load and a store, and its way to this one */
    guint64 before_ps = coll->spec.alone ? 0 : 2 * gpu->local_ps + launch_spec(&coll->fabric->spec)->graph_kernel_ps;
    if (coll->algo == COLL_PULL) {
        fo_sleep_ps(cta, before_ps + MOE_COMBINE_PS + gpu->local_ps);
        if (fo_cta(cta) == 0)
            moe_set_flags(cta, coll, rank, calls, value);
        moe_wait_flags(cta, coll, rank, calls);
        fo_fence(cta);
        moe_tokens(cta, coll, rank);
        coll_leave(cta, coll, rank, calls, value);
        return;
    }
    fo_sleep_ps(cta, before_ps);
    moe_tokens(cta, coll, rank);
    fo_wait(cta);
    coll_leave(cta, coll, rank, calls, value);
    if (fo_cta(cta) == 0) {
        fo_fence(cta);
        moe_set_flags(cta, coll, rank, calls, value);
        moe_wait_flags(cta, coll, rank, calls);
    }
}
