/* The list of tests, and one run: at its own size, or extrapolated from three smaller ones. */
#include "api/bench.h"

#include <math.h>
#include <string.h>

#include "api/bench_world.h"

G_DEFINE_QUARK(bench-error-quark, bench_error)

const BenchTest *const bench_tests[] = {
    &bench_load_latency, &bench_dram_latency, &bench_atomic_latency, &bench_pingpong, &bench_message,
    &bench_stream, &bench_by_size, &bench_sparse, &bench_copy_engine, &bench_footprint,
    &bench_contention, &bench_loaded, &bench_loaded_bg, &bench_mixed_single, &bench_mixed_ring,
    &bench_copy_kernel, &bench_atomics, &bench_hot_lines, &bench_barrier, &bench_oneshot,
    &bench_twoshot, &bench_push, &bench_multicast_bw, &bench_multicast_latency,
    &bench_multicast_barrier, &bench_nccl_all_reduce, &bench_nccl_all_gather, &bench_nccl_reduce_scatter,
    &bench_nccl_broadcast, &bench_nccl_sendrecv, &bench_nccl_alltoall, NULL,
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

static GArray *bench_run_size(const BenchTest *test, const BenchSetup *setup,
                              const BenchRequest *request, guint64 bytes, GError **error)
{
    BenchWorld *world = bench_world_new(setup, request, bytes, error);
    if (!world)
        return NULL;
    GArray *rows = NULL;
    if (test->run(world, error))
        rows = g_steal_pointer(&world->rows);
    bench_world_free(world);
    return rows;
}

/* Sizes at b/2, 3b/4 and b; the time at the full size follows the line through the outer two. */
static GArray *bench_extrapolate(const BenchTest *test, const BenchSetup *setup,
                                 const BenchRequest *request, guint64 b, GError **error)
{
    guint64 size[3] = {b / 2, b / 4 * 3, b};
    GArray *got[3] = {NULL, NULL, NULL};
    gboolean good = TRUE;
    for (int i = 0; i < 3 && good; i++)
        good = (got[i] = bench_run_size(test, setup, request, size[i], error)) != NULL;
    for (guint r = 0; good && r < got[2]->len; r++) {
        double t[3];
        BenchRow *row = &g_array_index(got[2], BenchRow, r);
        for (int i = 0; i < 3; i++) {
            const BenchRow *at = &g_array_index(got[i], BenchRow, r);
            t[i] = (double)at->time_ps / (double)MAX(at->repeats, 1);
        }
        double slope = (t[2] - t[0]) / (double)(size[2] - size[0]);
        row->extrapolated = TRUE;
        row->check_pct = fabs(t[1] - (t[0] + t[2]) / 2) / t[1] * 100;
        row->time_ps = (SimTime)(t[2] + slope * (double)(request->bytes - b));
        row->amount = (guint64)((double)row->amount * ((double)request->bytes / (double)b));
        row->repeats = 1;
    }
    GArray *rows = good ? g_steal_pointer(&got[2]) : NULL;
    for (int i = 0; i < 3; i++)
        if (got[i])
            g_array_free(got[i], TRUE);
    return rows;
}

GArray *bench_run(const BenchSetup *setup, const BenchRequest *request, GError **error)
{
    const BenchTest *test = bench_find(request->test);
    if (!test) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST, "no test '%s'; 'fanout bench' lists them",
                    request->test);
        return NULL;
    }
    guint64 crossings = test->crossings ? test->crossings(setup, request) : 0;
    if (crossings > setup->crossings_max) {
        /* whole rounds of the grid, so that the last round is as full at each size */
        guint64 grid = (guint64)MAX(request->ctas, 1) * MAX(request->threads, 1) * LINE_BYTES;
        guint64 granule = MAX(grid, 1u << 20) * 4;
        guint64 b = (guint64)((double)request->bytes * (double)setup->crossings_max / (double)crossings / 2.25);
        b = MAX(b / granule, 1) * granule;
        if (b < request->bytes)
            return bench_extrapolate(test, setup, request, b, error);
    }
    return bench_run_size(test, setup, request, request->bytes, error);
}
