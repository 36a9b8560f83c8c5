/* The list of tests, and one run: at its own size, or extrapolated from three smaller ones. */
#include "bench/bench.h"

#include <math.h>
#include <string.h>

#include "bench/world.h"

const BenchTest *const bench_tests[] = {
    &bench_load_latency,      &bench_dram_latency,
    &bench_atomic_latency,    &bench_pingpong,
    &bench_message,           &bench_stream,
    &bench_by_size,           &bench_sparse,
    &bench_copy_engine,       &bench_footprint,
    &bench_contention,        &bench_loaded,
    &bench_loaded_bg,         &bench_mixed_single,
    &bench_mixed_ring,        &bench_copy_kernel,
    &bench_atomics,           &bench_hot_lines,
    &bench_barrier,           &bench_oneshot,
    &bench_twoshot,           &bench_push,
    &bench_multicast_bw,      &bench_multicast_latency,
    &bench_multicast_barrier, &bench_nccl_all_reduce,
    &bench_nccl_all_gather,   &bench_nccl_reduce_scatter,
    &bench_nccl_broadcast,    &bench_nccl_sendrecv,
    &bench_nccl_alltoall,     &bench_shared_loads,
    &bench_exchange,          NULL,
};

const BenchTest *bench_find(const char *name)
{
    for (const BenchTest *const *test = bench_tests; *test; test++)
        if (strcmp((*test)->name, name) == 0)
            return *test;
    return NULL;
}

double bench_row_value(const BenchRow *row)
{
    double time_ns = (double)row->time_ps / 1e3 / (double)MAX(row->repeats, 1);
    if (row->amount)
        return (double)row->amount / ((double)row->time_ps / 1e3);
    return strcmp(row->unit, "us") == 0 ? time_ns / 1e3 : time_ns;
}

static double bench_row_ps(const BenchRow *row) { return (double)row->time_ps / (double)MAX(row->repeats, 1); }

BenchRequest bench_usual(const BenchTest *test, const FabricSpec *spec, char *buffer)
{
    BenchRequest request = test->usual;
    guint64 count;
    if (g_ascii_string_to_unsigned(request.gpus, 10, 2, 65535, &count, NULL) && count > spec->system.gpus) {
        g_snprintf(buffer, 16, "%" G_GUINT64_FORMAT, spec->system.gpus);
        request.gpus = buffer;
    }
    return request;
}

static gboolean bench_refuse(const BenchRequest *request, GError **error, const char *what, const char *right)
{
    g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST, "%s: %s; %s", request->test, what, right);
    return FALSE;
}

/* Grids and sizes that no kernel has; those that one test alone cannot have are its own to refuse. */
static gboolean bench_check(const BenchTest *test, const BenchRequest *request, GError **error)
{
    gboolean background = g_str_has_prefix(test->name, "loaded_latency_"); /* of 0 CTAs: an idle fabric */
    if (request->ctas == 0 && test->usual.ctas && !background)
        return bench_refuse(request, error, "0 CTAs run nothing", "1 to 65535 are right");
    if (request->threads == 0 && test->usual.threads)
        return bench_refuse(request, error, "CTAs of 0 threads run nothing", "1 to 1024 are right");
    if (request->bytes == 0 && test->usual.bytes)
        return bench_refuse(request, error, "a size of 0 bytes moves nothing", "give one, as --bytes 1M");
    return TRUE;
}

/* A rate of nothing, or no row at all, is no result. */
static gboolean bench_check_rows(const BenchRequest *request, const GArray *rows, GError **error)
{
    gboolean good = rows->len > 0;
    for (guint r = 0; r < rows->len; r++) {
        const BenchRow *row = &g_array_index(rows, BenchRow, r);
        good = good && (row->amount || !g_str_has_suffix(row->unit, "/s"));
    }
    return good || bench_refuse(request, error, "so small a grid or size moves nothing that could be measured",
                                "take more --bytes, or more --ctas and --threads");
}

static GArray *bench_run_size(const BenchTest *test, const BenchSetup *setup, const BenchRequest *request,
                              guint64 bytes, gboolean flows, GError **error)
{
    BenchWorld *world = bench_world_new(setup, test, request, bytes, flows, error);
    if (!world)
        return NULL;
    gboolean good = test->run(world, error) && bench_check_rows(request, world->rows, error);
    if (good) {
        good = recording_end(world->recording, error);
        g_clear_pointer(&world->recording, recording_free);
    }
    recording_cut(world->recording);
    if (setup->vcd_path)
        *setup->vcd_lost |= !sim_trace_end(world->sim);
    GArray *rows = good ? g_steal_pointer(&world->rows) : NULL;
    if (rows && setup->done && bytes == request->bytes)
        setup->done(world->fabric, setup->done_user);
    bench_world_free(world);
    return rows;
}

/* ---- larger ones from smaller ones */

#define BENCH_LOOP_SHARE 4 /* of crossings_max is enough for loops without steps */

/* One size of them. */
typedef struct {
    guint64 bytes;
    GArray *rows;
} BenchPart;

static gboolean bench_run_parts(const BenchTest *test, const BenchSetup *setup, const BenchRequest *request,
                                BenchPart *part, guint n, GError **error)
{
    for (guint i = 0; i < n; i++) {
        part[i].rows = bench_run_size(test, setup, request, part[i].bytes, FALSE, error);
        if (!part[i].rows)
            return FALSE;
    }
    return TRUE;
}

static void bench_free_parts(BenchPart *part, guint n)
{
    for (guint i = 0; i < n; i++)
        if (part[i].rows)
            g_array_free(part[i].rows, TRUE);
}

static double bench_part_ps(const BenchPart *part, guint r)
{
    return bench_row_ps(&g_array_index(part->rows, BenchRow, r));
}

/* The row of size b as one of the size that was asked for. */
static void bench_enlarge(BenchRow *row, const BenchRequest *request, guint64 b, double time_ps)
{
    row->extrapolated = TRUE;
    row->time_ps = (SimTime)time_ps;
    row->amount = (guint64)((double)row->amount * ((double)request->bytes / (double)b));
    row->repeats = 1;
}

/* Sizes at b/2, 3b/4 and b; the time at the full size follows the line through the outer two. */
static GArray *bench_extrapolate(const BenchTest *test, const BenchSetup *setup, const BenchRequest *request, guint64 b,
                                 GError **error)
{
    BenchPart part[3] = {{b / 2, NULL}, {b / 4 * 3, NULL}, {b, NULL}};
    GArray *rows = NULL;
    if (bench_run_parts(test, setup, request, part, 3, error)) {
        rows = g_steal_pointer(&part[2].rows);
        for (guint r = 0; r < rows->len; r++) {
            BenchRow *row = &g_array_index(rows, BenchRow, r);
            double t[3] = {bench_part_ps(&part[0], r), bench_part_ps(&part[1], r), bench_row_ps(row)};
            double slope = (t[2] - t[0]) / (double)(b - b / 2);
            row->check_pct = fabs(t[1] - (t[0] + t[2]) / 2) / t[1] * 100;
            bench_enlarge(row, request, b, t[2] + slope * (double)(request->bytes - b));
        }
    }
    bench_free_parts(part, 3);
    return rows;
}

const char *bench_needs_packets(const BenchSetup *setup, const BenchRequest *request)
{
    const BenchTest *test = bench_find(request->test);
    if (setup->fidelity == COLL_PACKET)
        return NULL;
    if (setup->spec->topology.kind != TOPOLOGY_RAILS)
        return "flows know no levels of switches";
    if (fabric_needs_packets(setup->spec))
        return "flows know no faults in time and no merging in the switches";
    return test->packets ? test->packets(request) : NULL;
}

/* The largest of the three sizes that a request is extrapolated from; 0: it runs at its own, as *flows or not. */
static guint64 bench_part_of(const BenchTest *test, const BenchSetup *setup, const BenchRequest *request,
                             gboolean *flows)
{
    guint64 crossings = test->crossings ? test->crossings(setup, request) : 0;
    gboolean large = crossings > setup->crossings_max;
    *flows = setup->fidelity == COLL_FLOW || (setup->fidelity == COLL_FIDELITY_AUTO && large);
    *flows = *flows && !bench_needs_packets(setup, request);
    if (!large || *flows)
        return 0;
    /* whole rounds of the grid, so that the last round is as full at each size */
    guint64 grid = (guint64)MAX(request->ctas, 1) * MAX(request->threads, 1) * LINE_BYTES;
    guint64 granule = MAX(grid, 1u << 20) * 4;
    gboolean steps = g_str_has_prefix(test->name, "nccl_");
    double all = (double)request->bytes * (double)setup->crossings_max / (double)crossings;
    guint64 b = (guint64)(all / 2.25 / (steps ? 1 : BENCH_LOOP_SHARE));
    b = MAX(b / granule, 1) * granule;
    return b < request->bytes ? b : 0;
}

gboolean bench_is_extrapolated(const BenchSetup *setup, const BenchRequest *request)
{
    gboolean flows;
    return bench_part_of(bench_find(request->test), setup, request, &flows) > 0;
}

GArray *bench_run(const BenchSetup *setup, const BenchRequest *request, GError **error)
{
    const BenchTest *test = bench_find(request->test);
    if (!test) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST, "no test '%s'; 'fanout bench' lists them", request->test);
        return NULL;
    }
    if (!bench_check(test, request, error))
        return NULL;
    gboolean flows;
    guint64 part = bench_part_of(test, setup, request, &flows);
    if (part)
        return bench_extrapolate(test, setup, request, part, error);
    return bench_run_size(test, setup, request, request->bytes, flows, error);
}
