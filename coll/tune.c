/* How NCCL shares a ring's or tree's data among channels: channels and threads by size (enqueue.cc: getAlgoInfo,
 * scheduleCollTasksToPlan).
 *
 * Channels, and then threads, are taken away until each thread has its threshold of bytes; a channel has
 * whole cells, of 16 KiB of traffic each (32 KiB from NCCL 2.29 on). There are no more channels than a GPU can hold
 * CTAs of so many threads: the parts are of what runs. What the caller asked for (spec->ctas, spec->threads) stays. */
#include "coll/algo/primitives.h"

#define TUNE_LL_TRAFFIC 4u /* an LL byte counts as so many */
#define TUNE_THREADS_MIN 96u
#define TUNE_THREADS_TREE 640u /* NCCL_MAX_NTHREADS */

static guint32 tune_threads_max(CollProto proto) { return proto == COLL_LL128 ? 640 : 512; }

/* Bytes a thread: NCCL_*_THREAD_THRESHOLD; a ring's LL counts the ranks. */
static guint32 tune_threshold(const CollRow *row, CollProto proto, guint32 n)
{
    if (proto == COLL_SIMPLE)
        return 64;
    return proto == COLL_LL && row->algo == COLL_RING ? 8 * n : 8;
}

static guint32 tune_traffic(CollOp op, CollProto proto, guint32 n)
{
    guint32 times = proto == COLL_LL ? TUNE_LL_TRAFFIC : 1;
    if (op == COLL_ALL_REDUCE)
        return 2 * times;
    return op == COLL_BROADCAST || op == COLL_REDUCE ? times : n * times;
}

/* The bytes of `total` (of a rank's data) that each of at most `channels` channels has. */
static guint64 tune_part(guint64 total, guint32 channels, guint32 traffic, guint32 cell_traffic)
{
    guint64 cell = (cell_traffic / traffic + 15) / 16 * 16, cells = (total + cell - 1) / cell;
    guint64 each = MAX(cell_traffic, total * traffic / channels);
    guint64 n = MIN(cells, (each + cell * traffic - 1) / (cell * traffic));
    while ((cells + n - 1) / n > channels)
        n++;
    return n * cell;
}

CollTuning coll_tune(const CollGroup *group, const CollSpec *spec, const CollRow *row, CollProto proto)
{
    guint32 n = group->n;
    guint64 bytes = spec->as_bytes ? spec->as_bytes : spec->bytes;
    guint32 most = spec->threads ? spec->threads : tune_threads_max(proto);
    guint64 threshold = tune_threshold(row, proto, n);
    guint64 channels = MAX(MIN(bytes / (most * threshold), coll_channels(group, spec, row)), 1);
    CollTuning tuning = {.threads = most};
    while (bytes < channels * tuning.threads * threshold && tuning.threads % 128 == 0)
        tuning.threads /= 2;
    tuning.threads = MAX(tuning.threads + (proto == COLL_SIMPLE ? WARP_LANES : 0), TUNE_THREADS_MIN);
    if (row->algo == COLL_TREE)
        tuning.threads = TUNE_THREADS_TREE;
    tuning.threads = spec->threads ? spec->threads : coll_threads_fit(group, tuning.threads);
    channels = MAX(MIN(channels, coll_resident(group, tuning.threads)), 1);
    gboolean sliced = spec->op == COLL_ALL_GATHER || spec->op == COLL_REDUCE_SCATTER;
    guint64 total = MAX(sliced ? spec->bytes / n : spec->bytes, 1); /* sizes are checked later */
    if (spec->ctas || bytes != spec->bytes) {
        tuning.ctas = spec->ctas ? spec->ctas : (guint32)channels;
        tuning.part = (total + tuning.ctas * 16ull - 1) / (tuning.ctas * 16ull) * 16;
    } else {
        tuning.part = tune_part(total, (guint32)channels, tune_traffic(spec->op, proto, n),
                                coll_nccl_of(spec)->channel_traffic_bytes);
        tuning.ctas = (guint32)((total + tuning.part - 1) / tuning.part);
    }
    return tuning;
}
