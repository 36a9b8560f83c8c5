/* Rows that name a collective: which algorithm a library took, and what its launch costs.
 *
 * The simulated time is that of the kernel; to it comes one constant of the row's (timing, program) class
 * from the preset's [launch] section. */
#include <math.h>
#include <string.h>

#include "api/bench_world.h"
#include "api/coll.h"
#include "api/validate.h"

typedef struct {
    CollSpec coll;
    guint32 n;
    guint64 launch_ps;
    guint64 least_ps;    /* that the host takes for a call, kernels running beside it */
    gboolean unregistered; /* classic NCCL's NVLS copies through its own buffers */
} CollRequest;

static gboolean coll_fail(GError **error, const char *what, const char *text)
{
    g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_RUN, "%s '%s' is not known", what, text);
    return FALSE;
}

/* ---- our own NCCL measurements: nccl_all_reduce, Ring_LL128 */

static gboolean coll_from_measured(const FabricSpec *spec, const ValidateRow *row, CollRequest *request,
                                   GError **error)
{
    if (!bench_nccl_parse(row->test, row->variant, &request->coll, error))
        return FALSE;
    request->n = (guint32)g_ascii_strtoull(row->gpus, NULL, 10);
    request->coll.calls = bench_nccl_calls(row->bytes);
    request->coll.host_ps = spec->launch.stream_nccl_ps;
    return TRUE;
}

/* ---- published figures */

typedef struct {
    const char *program, *timing;
    gsize offset;
} LaunchClass;
static const LaunchClass launch_classes[] = {
    {"kernel", "kernel", G_STRUCT_OFFSET(LaunchSpec, kernel_kernel_ps)},
    {"kernel", "eager", G_STRUCT_OFFSET(LaunchSpec, eager_kernel_ps)},
    {"nccl-sym", "graph", G_STRUCT_OFFSET(LaunchSpec, graph_nccl_sym_ps)},
    {"nccl-sym", "eager", G_STRUCT_OFFSET(LaunchSpec, eager_nccl_sym_ps)},
    {"nccl", "graph", G_STRUCT_OFFSET(LaunchSpec, graph_nccl_ps)},
    {"nccl", "eager", G_STRUCT_OFFSET(LaunchSpec, eager_nccl_ps)},
};

/* Rings of 8 ranks that were timed by graph take 5 us at 1 KiB, less than the flight of their 14 hops: NCCL
 * took its symmetric kernels, which come before NCCL_ALGO is asked. They are the same runs as the rows
 * of nccl-sym without multicast, and agree with these within 4 % at all sizes. */
static gboolean coll_is_symmetric(const ValidateRow *row)
{
    return strcmp(row->program, "nccl-sym") == 0 ||
           (strcmp(row->program, "nccl") == 0 && strcmp(row->timing, "graph") == 0 &&
            strcmp(row->algo, "ring") == 0 && !*row->proto);
}

/* What `auto` stands for: NCCL's symmetric kernels choose by their own model, classic NCCL by its tables. */
static void coll_resolve_auto(const ValidateRow *row, const FabricSpec *spec, CollRequest *request)
{
    gboolean multicast = spec->mctable.entries > 0 && strcmp(row->algo, "auto") == 0;
    CollSpec *coll = &request->coll;
    gboolean peers = coll->op == COLL_ALL_TO_ALL || coll->op == COLL_SENDRECV;
    if (peers)
        coll->algo = strcmp(row->program, "nccl") == 0 ? COLL_P2P : COLL_DIRECT;
    else if (coll_is_symmetric(row) && coll->op != COLL_BROADCAST)
        coll->algo = multicast ? COLL_SYM : COLL_SYM_UNICAST;
    else if (multicast || spec->mctable.entries == 0)
        coll->algo = COLL_AUTO;
    else
        coll->algo = COLL_RING;
}

static gboolean coll_from_published(const FabricSpec *spec, const ValidateRow *row, CollRequest *request,
                                    GError **error)
{
    CollOp op;
    if (!coll_op_parse(row->op, &op))
        return coll_fail(error, "operation", row->op);
    request->coll = coll_spec_default(op);
    if (*row->proto && !coll_proto_parse(row->proto, &request->coll.proto))
        return coll_fail(error, "protocol", row->proto);
    if (g_str_has_prefix(row->algo, "auto") || strcmp(row->algo, "unicast") == 0 || coll_is_symmetric(row))
        coll_resolve_auto(row, spec, request);
    else if (!coll_algo_parse(row->algo, &request->coll.algo))
        return coll_fail(error, "algorithm", row->algo);
    request->coll.ctas = row->ctas;
    request->unregistered = strcmp(row->program, "nccl") == 0 && strcmp(row->timing, "eager") == 0;
    if (request->coll.algo == COLL_NVLS && strcmp(row->program, "kernel") == 0)
        request->coll.threads = 512;
    request->n = (guint32)g_ascii_strtoull(row->gpus, NULL, 10);
    for (guint i = 0; i < G_N_ELEMENTS(launch_classes); i++) {
        const LaunchClass *class = &launch_classes[i];
        const char *program = coll_is_symmetric(row) ? "nccl-sym" : row->program;
        if (strcmp(class->program, program) == 0 && strcmp(class->timing, row->timing) == 0) {
            request->launch_ps = *(const guint64 *)((const char *)&spec->launch + class->offset);
            if (class->offset == G_STRUCT_OFFSET(LaunchSpec, eager_nccl_sym_ps)) {
                request->least_ps = request->launch_ps;
                request->launch_ps = spec->launch.graph_nccl_sym_ps;
            } else if (class->offset == G_STRUCT_OFFSET(LaunchSpec, eager_nccl_ps) && row->torch) {
                request->launch_ps = spec->launch.eager_torch_ps;
            }
            return TRUE;
        }
    }
    g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_RUN, "no launch class for program '%s' timed '%s'",
                row->program, row->timing);
    return FALSE;
}

/* ---- running */

typedef struct {
    Sim *sim;
    Fabric *fabric;
    CollGroup *group;
    CollSpec coll; /* all is chosen as for `as_bytes`, the whole size */
} CollRun;

static gboolean coll_open(CollRun *run, const ValidateSetup *setup, const FabricSpec *spec,
                          const CollRequest *request, guint64 as_bytes, GError **error)
{
    SimSpec sim_spec = {.seed = setup->seed, .calendar = setup->calendar};
    run->sim = sim_new(&sim_spec, error);
    run->fabric = run->sim ? fabric_new(run->sim, spec, FALSE, error) : NULL;
    run->group = run->fabric ? coll_group_new(run->fabric, NULL, request->n, error) : NULL;
    if (!run->group)
        return FALSE;
    CollSpec *coll = &run->coll;
    *coll = request->coll;
    coll->bytes = coll->as_bytes = as_bytes;
    coll->check = FALSE;
    coll_choice(run->group, coll, &coll->algo, &coll->proto);
    if (request->unregistered && coll->algo == COLL_NVLS && coll->op != COLL_BROADCAST)
        coll->algo = COLL_NVLS_BUFFERED;
    return TRUE;
}

static void coll_close(CollRun *run)
{
    coll_group_free(run->group);
    sim_free(run->sim);
    fabric_free(run->fabric);
}

static gboolean coll_time(const ValidateSetup *setup, const FabricSpec *spec, const CollRequest *request,
                          guint64 bytes, guint64 as_bytes, double *time_us, GError **error)
{
    CollRun run;
    CollResult result;
    if (!coll_open(&run, setup, spec, request, as_bytes, error))
        return FALSE;
    run.coll.bytes = bytes;
    if (!coll_run(run.group, &run.coll, &result, error))
        return FALSE; /* a stuck one is left to the end of the worker */
    SimTime start_ps = run.coll.algo == COLL_NVLS_BUFFERED ? spec->launch.nvls_start_ps : 0;
    *time_us = (double)MAX(result.kernel_ps + start_ps + request->launch_ps, request->least_ps) / 1e6;
    coll_close(&run);
    return TRUE;
}

/* Sizes to extrapolate from are whole turns of the algorithm. */
static gboolean coll_turn(const ValidateSetup *setup, const FabricSpec *spec, const CollRequest *request,
                          guint64 bytes, guint64 *turn, GError **error)
{
    CollRun run;
    if (!coll_open(&run, setup, spec, request, bytes, error))
        return FALSE;
    *turn = coll_turn_bytes(run.group, &run.coll, run.coll.algo);
    coll_close(&run);
    return TRUE;
}

static guint64 coll_crossings(const CollRequest *request, guint64 bytes)
{
    guint64 lines = bytes / LINE_BYTES, n = request->n;
    return lines * MAX(request->coll.calls, 1) * (request->coll.op == COLL_ALL_REDUCE ? 4 * n + 4 : 2 * n + 2);
}

gboolean validate_collective(const ValidateSetup *setup, const FabricSpec *spec, ValidateRow *row,
                             GError **error)
{
    CollRequest request = {0};
    gboolean good = row->schema == VALIDATE_PUBLISHED ? coll_from_published(spec, row, &request, error)
                                                      : coll_from_measured(spec, row, &request, error);
    if (!good)
        return FALSE;
    guint64 crossings = coll_crossings(&request, row->bytes);
    if (crossings <= setup->crossings_max)
        return coll_time(setup, spec, &request, row->bytes, row->bytes, &row->simulated, error);
    guint64 turn;
    if (!coll_turn(setup, spec, &request, row->bytes, &turn, error))
        return FALSE;
    guint64 b = (guint64)((double)row->bytes * (double)setup->crossings_max / (double)crossings / 2.25);
    b = turn == COLL_TURN_LEAST ? MAX(b / turn, 1) * turn : MAX(b / (4 * turn), 1) * 4 * turn;
    if (b >= row->bytes)
        return coll_time(setup, spec, &request, row->bytes, row->bytes, &row->simulated, error);
    double t[3];
    for (int i = 0; i < 3; i++)
        if (!coll_time(setup, spec, &request, b / 4 * (2 + (guint64)i), row->bytes, &t[i], error))
            return FALSE;
    row->extrapolated = TRUE;
    row->check_pct = fabs(t[1] - (t[0] + t[2]) / 2) / t[1] * 100;
    row->simulated = t[2] + (t[2] - t[0]) / (double)(b / 2) * (double)(row->bytes - b);
    return TRUE;
}
