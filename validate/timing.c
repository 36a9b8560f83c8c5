/* How long a row's collective takes: simulated in full, or extrapolated from three smaller sizes.
 *
 * A row's link crossings are counted where a smaller one of its kind was simulated in full (writes that merge, and
 * acknowledgements, make up to a factor of two), and estimated where there is none. The sizes are the largest one
 * that was simulated in full with the same algorithm, CTAs and chunks, with a half and a quarter of it if other rows
 * have these, else with a quarter and an eighth. Where there is none, they are as large as its mechanism asks for. */
#include <math.h>

#include "bench/world.h"
#include "validate/collective.h"

#define TIME_TURNS 4u                 /* of a pipeline: the largest of the three sizes; a half of it is past the fill */
#define TIME_FILL_TURNS 2u            /* the smallest of them */
#define TIME_WORTH_SHARE 8u           /* a full run of crossings_max / 8 and more is large enough to extrapolate from */
#define TIME_DIRECT_SHARE 4u          /* kernels without steps need less than rings and trees */
#define TIME_PACKETS 4000000u         /* crossings that are worth it where there could be flows but for the protocol */
#define TIME_COUNT_BYTES (4ull << 20) /* smaller runs cross links for flags and barriers, not for data */

typedef struct {
    CollShape shape;
    guint64 bytes;
    guint32 calls;
    gboolean full; /* not as part of more */
    guint64 kernel_ps;
    guint64 crossings; /* of links, counted */
} MemoRun;

struct ValidateMemo {
    GArray *run; /* of MemoRun */
    CollAnchors *anchors;
};

ValidateMemo *validate_memo_new(void)
{
    ValidateMemo *memo = g_new0(ValidateMemo, 1);
    memo->run = g_array_new(FALSE, FALSE, sizeof(MemoRun));
    memo->anchors = coll_anchors_new();
    return memo;
}

void validate_memo_free(ValidateMemo *memo)
{
    g_array_free(memo->run, TRUE);
    coll_anchors_free(memo->anchors);
    g_free(memo);
}

/* ---- one run */

typedef struct {
    const ValidateSetup *setup;
    const FabricSpec *spec;
    const CollRequest *request;
    ValidateMemo *memo;
    guint64 bytes;         /* of the row */
    guint64 crossings_max; /* more of them are extrapolated */
} CollTiming;

typedef struct {
    Sim *sim;
    Fabric *fabric;
    CollGroup *group;
    CollSpec coll; /* all is chosen as for `as_bytes`, the whole size */
} CollRun;

static gboolean run_open(CollRun *run, const CollTiming *timing, guint64 bytes, guint64 as_bytes, GError **error)
{
    const CollRequest *request = timing->request;
    SimSpec sim_spec = {
        .seed = timing->setup->seed, .calendar = timing->setup->calendar, .engine = timing->setup->engine};
    run->sim = sim_new(&sim_spec, error);
    run->fabric = run->sim ? fabric_new(run->sim, timing->spec, FALSE, error) : NULL;
    run->group = run->fabric ? coll_group_new(run->fabric, NULL, request->n, error) : NULL;
    if (!run->group)
        return FALSE;
    coll_group_share_anchors(run->group, timing->memo->anchors);
    CollSpec *coll = &run->coll;
    *coll = request->coll;
    coll->bytes = coll->as_bytes = as_bytes;
    coll->check = FALSE;
    coll_library_apply(run->group, coll);
    coll_choice(run->group, coll, &coll->algo, &coll->proto);
    if (request->unregistered && coll->algo == COLL_NVLS && coll->op != COLL_BROADCAST)
        coll->algo = COLL_NVLS_BUFFERED;
    if (!coll_check(run->group, coll, error))
        return FALSE;
    coll->bytes = bytes;
    return coll_check(run->group, coll, error);
}

static void run_close(CollRun *run)
{
    coll_group_free(run->group);
    sim_free(run->sim);
    fabric_free(run->fabric);
}

/* *flows: whether it could be flows; NULL: not asked. */
static gboolean run_shape(const CollTiming *timing, guint64 bytes, guint64 as_bytes, CollShape *shape, gboolean *flows,
                          GError **error)
{
    CollRun run;
    if (!run_open(&run, timing, bytes, as_bytes, error))
        return FALSE;
    *shape = coll_shape(run.group, &run.coll);
    if (flows)
        *flows = coll_flows_apply(run.group, run.coll.proto);
    run_close(&run);
    return TRUE;
}

static const MemoRun *memo_find(const ValidateMemo *memo, const CollShape *shape, guint64 bytes, guint32 calls,
                                gboolean full)
{
    for (guint i = 0; i < memo->run->len; i++) {
        const MemoRun *run = &g_array_index(memo->run, MemoRun, i);
        if (coll_shape_equal(&run->shape, shape) && run->bytes == bytes && run->calls == calls && run->full == full)
            return run;
    }
    return NULL;
}

static gboolean run_kernel_ps(CollRun *run, const CollTiming *timing, guint64 *kernel_ps, GError **error)
{
    MemoRun new = {.shape = coll_shape(run->group, &run->coll),
                   .bytes = run->coll.bytes,
                   .calls = run->coll.calls,
                   .full = run->coll.as_bytes == run->coll.bytes};
    const MemoRun *known = memo_find(timing->memo, &new.shape, new.bytes, new.calls, new.full);
    if (known) {
        *kernel_ps = known->kernel_ps;
        return TRUE;
    }
    CollResult result;
    const RecordingSpec watch = {.watch = timing->setup->watch};
    g_autofree char *name = g_strdup_printf("%s %" G_GUINT64_FORMAT " B %s", coll_op_name(run->coll.op),
                                            run->coll.bytes, coll_algo_name(run->coll.algo));
    Recording *recording = recording_new(run->fabric, &watch, name);
    coll_group_watch(run->group, watch.watch);
    gboolean good = coll_run(run->group, &run->coll, &result, error);
    recording_end(recording, NULL);
    recording_free(recording);
    if (!good)
        return FALSE;
    *kernel_ps = new.kernel_ps = result.kernel_ps;
    new.crossings = fabric_crossings(run->fabric);
    g_array_append_val(timing->memo->run, new);
    return TRUE;
}

static gboolean run_time(const CollTiming *timing, guint64 bytes, guint64 as_bytes, double *time_us, GError **error)
{
    CollRun run;
    guint64 kernel_ps;
    const CollRequest *request = timing->request;
    if (!run_open(&run, timing, bytes, as_bytes, error) || !run_kernel_ps(&run, timing, &kernel_ps, error))
        return FALSE; /* a stuck one is left to the end of the worker */
    guint64 launch_ps = request->launch.add_ps, least_ps = request->launch.least_ps;
    if (run.coll.algo == COLL_P2P && run.coll.proto == COLL_SIMPLE)
        least_ps = MAX(least_ps, request->launch.p2p_least_ps);
    if (coll_library_is_framework(run.coll.library) && coll_algo_is_nccl(run.coll.algo))
        launch_ps = request->framework_ps;
    guint64 all_ps = kernel_ps + launch_ps + coll_copies_ps(run.group, &run.coll);
    *time_us = (double)MAX(all_ps, least_ps) / 1e6;
    run_close(&run);
    return TRUE;
}

/* ---- three sizes */

/* Link crossings of the row, from the largest run of its kind; `estimate` if there is none. */
static guint64 sizes_crossings(const CollTiming *timing, const CollShape *shape, guint64 estimate)
{
    const MemoRun *best = NULL;
    for (guint i = 0; i < timing->memo->run->len; i++) {
        const MemoRun *run = &g_array_index(timing->memo->run, MemoRun, i);
        if (run->shape.algo == shape->algo && run->shape.proto == shape->proto && run->full &&
            run->calls == timing->request->coll.calls && run->bytes >= TIME_COUNT_BYTES &&
            run->bytes <= timing->bytes && (!best || run->bytes > best->bytes))
            best = run;
    }
    return best ? (guint64)((double)best->crossings * ((double)timing->bytes / (double)best->bytes)) : estimate;
}

/* The largest full run that does the same as the row would, or 0. */
static guint64 sizes_known(const CollTiming *timing, const CollShape *shape, guint64 least_bytes)
{
    guint64 best = 0;
    for (guint i = 0; i < timing->memo->run->len; i++) {
        const MemoRun *run = &g_array_index(timing->memo->run, MemoRun, i);
        if (run->full && coll_shape_equal(&run->shape, shape) && run->calls == timing->request->coll.calls &&
            run->bytes >= least_bytes && run->bytes < timing->bytes && run->bytes % (4u << 20) == 0)
            best = MAX(best, run->bytes);
    }
    return best;
}

/* Below the largest full run: what rows have, or else less of the same, past the fill of a pipeline. */
static void sizes_below(const CollTiming *timing, const CollShape *shape, guint64 known, guint64 sizes[3])
{
    guint32 calls = timing->request->coll.calls;
    gboolean there = memo_find(timing->memo, shape, known / 2, calls, TRUE) != NULL;
    gboolean filled = shape->turn_bytes == COLL_TURN_LEAST || known / 8 >= TIME_FILL_TURNS * shape->turn_bytes;
    guint64 share = there || !filled ? 2 : 4;
    sizes[0] = known / share / 2;
    sizes[1] = known / share;
    sizes[2] = known;
}

/* Shares of the largest. A ring is full after a few chunks and then only gets into a better rhythm, which takes long:
 * its largest size matters, not the others. The parts of p2p first have one chunk each. What goes in turns must be past
 * the fill with the smallest as well. */
static const guint32 sizes_of_ring[3] = {1, 2, 8}, sizes_of_p2p[3] = {4, 5, 6}, sizes_usual[3] = {2, 3, 4};

/* Ascending. FALSE: they would not be smaller than the row. */
static gboolean sizes_choose(const CollTiming *timing, const CollShape *shape, guint64 crossings, guint64 sizes[3])
{
    guint64 turn = shape->turn_bytes;
    double bytes = (double)timing->bytes * (double)timing->crossings_max / (double)crossings;
    guint64 known = sizes_known(timing, shape, (guint64)(bytes / TIME_WORTH_SHARE));
    if (known) {
        sizes_below(timing, shape, known, sizes);
        return TRUE;
    }
    gboolean ring = shape->algo == COLL_RING, p2p = shape->algo == COLL_P2P && shape->proto == COLL_SIMPLE;
    gboolean direct = turn == COLL_TURN_LEAST && !ring && shape->algo != COLL_TREE;
    guint64 unit = p2p ? turn * 3 / 2 : turn == COLL_TURN_LEAST ? turn : TIME_TURNS * turn;
    guint64 b = MAX((guint64)(bytes / 2.25 / (direct ? TIME_DIRECT_SHARE : 1)) / unit, 1) * unit;
    if (p2p || (shape->algo == COLL_NVLS_BUFFERED && timing->request->coll.op == COLL_ALL_REDUCE))
        b = unit; /* a part's second chunk is under way; all three groups of warps are busy from the third turn on */
    const guint32 *share = p2p ? sizes_of_p2p : ring ? sizes_of_ring : sizes_usual;
    for (guint64 i = 0; i < 3; i++)
        sizes[i] = b / share[2] * share[i];
    return b < timing->bytes;
}

/* As a row of that size would run, if that is no different: such a row may be there. */
static gboolean run_part(const CollTiming *timing, const CollShape *shape, guint64 bytes, double *time_us,
                         GError **error)
{
    CollShape own;
    if (!run_shape(timing, bytes, bytes, &own, NULL, error))
        return FALSE;
    return run_time(timing, bytes, coll_shape_equal(&own, shape) ? bytes : timing->bytes, time_us, error);
}

static gboolean run_extrapolate(const CollTiming *timing, const CollShape *shape, const guint64 sizes[3],
                                ValidateRow *row, GError **error)
{
    double t[3];
    for (int i = 0; i < 3; i++)
        if (!run_part(timing, shape, sizes[i], &t[i], error))
            return FALSE;
    double slope = (t[2] - t[0]) / (double)(sizes[2] - sizes[0]);
    row->extrapolated = TRUE;
    row->check_pct = fabs(t[1] - t[0] - slope * (double)(sizes[1] - sizes[0])) / t[1] * 100;
    row->simulated = t[2] + slope * (double)(row->bytes - sizes[2]);
    return TRUE;
}

gboolean validate_collective(const ValidateSetup *setup, const FabricSpec *spec, ValidateMemo *memo, ValidateRow *row,
                             GError **error)
{
    CollRequest request = {0};
    CollShape shape;
    gboolean flows;
    guint64 sizes[3], crossings = validate_collective_crossings(row);
    if (!validate_collective_request(spec, row, &request, error))
        return FALSE;
    CollTiming timing = {setup, spec, &request, memo, row->bytes, setup->crossings_max};
    if (!run_shape(&timing, row->bytes, row->bytes, &shape, &flows, error))
        return FALSE;
    if ((setup->fidelity == COLL_FLOW || crossings > setup->crossings_max) && setup->fidelity != COLL_PACKET && flows) {
        request.coll.fidelity = setup->fidelity;
        request.coll.crossings = 1; /* they are counted here */
        row->extrapolated = TRUE;
        return run_time(&timing, row->bytes, row->bytes, &row->simulated, error);
    }
    if (setup->fidelity != COLL_PACKET)
        timing.crossings_max = MAX(timing.crossings_max, TIME_PACKETS);
    crossings = sizes_crossings(&timing, &shape, crossings);
    if (crossings <= timing.crossings_max)
        return run_time(&timing, row->bytes, row->bytes, &row->simulated, error);
    if (shape.algo == COLL_NVLS_BUFFERED && !run_shape(&timing, row->bytes / 2, row->bytes, &shape, NULL, error))
        return FALSE; /* its chunks, when it stands for a larger one */
    if (!sizes_choose(&timing, &shape, crossings, sizes))
        return run_time(&timing, row->bytes, row->bytes, &row->simulated, error);
    return run_extrapolate(&timing, &shape, sizes, row, error);
}
