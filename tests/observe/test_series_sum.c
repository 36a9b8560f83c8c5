/* observe/series/sum.c: what several runs did on one axis of time, worked out by hand. */
#include "tests/model/model_test.h"

#include "observe/recording.h"
#include "observe/series/sum.h"

#define NS 1000u

/* What a run of 80 ns did: 10 flits up in its first 20 ns, 30 in the next 20, and 40 in the last 40; at most 3, 7 and 5
 * packets waited. */
static const SeriesPoint run_points[] = {
    {.from_ps = 500 * NS, .to_ps = 520 * NS, .up_flits = 10, .bytes = 160, .queued = 3, .tag_stalls = 1},
    {.from_ps = 520 * NS, .to_ps = 540 * NS, .up_flits = 30, .bytes = 480, .queued = 7},
    {.from_ps = 540 * NS, .to_ps = 580 * NS, .up_flits = 40, .bytes = 640, .queued = 5, .tag_stalls = 4},
};

static SeriesSum *sum_of_run(Fabric *fabric, guint points)
{
    SeriesSum *sum = series_sum_new(points);
    GArray *array = g_array_new(FALSE, FALSE, sizeof(SeriesPoint));
    g_array_append_vals(array, run_points, G_N_ELEMENTS(run_points));
    const RecordedRun run = {.name = "run", .fabric = fabric, .passed_ps = 80 * NS, .points = array};
    series_sum_take(sum, &run);
    g_array_unref(array);
    return sum;
}

typedef struct {
    guint64 to_ns, flits, bytes, queued, stalls;
} Right;

static void points_are(const SeriesSum *sum, guint64 passed_ns, const Right *right, guint n)
{
    GArray *points = series_sum_points(sum, passed_ns * NS);
    guint64 from_ns = 0;
    assert_int_equal(points->len, n);
    for (guint i = 0; i < n; i++) {
        const SeriesPoint *point = &g_array_index(points, SeriesPoint, i);
        assert_int_equal(point->from_ps, from_ns * NS);
        assert_int_equal(point->to_ps, right[i].to_ns * NS);
        assert_int_equal(point->up_flits, right[i].flits);
        assert_int_equal(point->bytes, right[i].bytes);
        assert_int_equal(point->queued, right[i].queued);
        assert_int_equal(point->tag_stalls, right[i].stalls);
        from_ns = right[i].to_ns;
    }
    g_array_unref(points);
}

/* Proves that a run's points begin at 0, that one which is longer than an interval is divided, and that time without
 * anything is there. */
static void test_take(void **state)
{
    static const Right right[] = {{20, 10, 160, 3, 1}, {40, 30, 480, 7, 0}, {60, 20, 320, 5, 2},
                                  {80, 20, 320, 5, 2}, {100, 0, 0, 0, 0},   {110, 0, 0, 0, 0}};
    Bed bed;
    (void)state;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    SeriesSum *sum = sum_of_run(bed.fabric, 8);
    points_are(sum, 80, right, 4);
    points_are(sum, 110, right, 6);
    series_sum_free(sum);
    bed_close(&bed);
}

/* Proves that where there are more intervals than there may be, neighbours become one: what is counted is added, of
 * levels the highest stays. */
static void test_stretch(void **state)
{
    static const Right two[] = {{40, 40, 640, 7, 1}, {80, 40, 640, 5, 4}};
    static const Right three[] = {{40, 40, 640, 7, 1}, {80, 40, 640, 5, 4}, {120, 0, 0, 0, 0}};
    Bed bed;
    (void)state;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    SeriesSum *sum = sum_of_run(bed.fabric, 3);
    points_are(sum, 80, two, 2);
    points_are(sum, 120, three, 3);
    series_sum_free(sum);
    bed_close(&bed);
}

/* Proves that a run may happen several times, later and between two intervals: at 0 and at 90 ns, of which 10 are in
 * the fifth interval; with counters and latencies as often. */
static void test_add(void **state)
{
    static const Right right[] = {{20, 10, 160, 3, 1},  {40, 30, 480, 7, 0},  {60, 20, 320, 5, 2},
                                  {80, 20, 320, 5, 2},  {100, 5, 80, 3, 0},   {120, 20, 320, 7, 1},
                                  {140, 25, 400, 7, 1}, {160, 20, 320, 5, 2}, {170, 10, 160, 5, 1}};
    Bed bed, other;
    Answer answer = {0};
    (void)state;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    GpuRequest read = {.kind = PACKET_READ, .region = bed_region(&bed, 1, 4096), .bytes = 128};
    memory_set_cached(bed.fabric->memory, read.region, TRUE);
    bed_send(&bed, 0, &read, &answer);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    SeriesSum *one = sum_of_run(bed.fabric, 64), *all = series_sum_new(64);
    series_sum_add(all, one, 0);
    series_sum_add(all, one, 90 * NS);
    points_are(all, 170, right, 9);
    const Hist *latency = series_sum_latency(all, FALSE, PACKET_READ);
    assert_int_equal(latency->count, 2);
    assert_int_equal(latency->sum, 2 * 820 * NS);
    assert_null(series_sum_latency(all, TRUE, PACKET_READ));
    assert_null(series_sum_latency(all, FALSE, PACKET_WRITE));
    bed_open(&other, "teach-4gpu", NULL, NULL);
    series_sum_put(all, other.fabric);
    for (guint32 n = 0; n < fabric_n_links(bed.fabric); n++) {
        const Link *was = fabric_link_at(bed.fabric, n), *is = fabric_link_at(other.fabric, n);
        assert_int_equal(link_flits_total(is), 2 * link_flits_total(was));
        assert_int_equal(link_packets_total(is), 2 * link_packets_total(was));
    }
    assert_int_equal(other.fabric->gpu[0].requests, 2);
    assert_int_equal(other.fabric->gpu[1].served, 2);
    series_sum_free(one);
    series_sum_free(all);
    bed_close(&other);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_take), cmocka_unit_test(test_stretch),
                                       cmocka_unit_test(test_add)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
