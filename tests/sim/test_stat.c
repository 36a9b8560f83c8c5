#include "tests/test.h"

#include "sim/rng.h"
#include "sim/stat.h"

static int compare_values(const void *a, const void *b)
{
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return x < y ? -1 : x > y;
}

/* Proves that every percentile of 10,000 values over nine decades is within 1/32 of the exact one. */
static void test_percentiles(void **state)
{
    (void)state;
    enum { N = 10000 };
    static guint64 values[N];
    static Hist hist;
    Rng rng;

    rng_init(&rng, 3, "percentiles");
    hist_init(&hist);
    for (int i = 0; i < N; i++) {
        values[i] = rng_next(&rng) >> (34 + rng_below(&rng, 30));
        hist_add(&hist, values[i]);
    }
    qsort(values, N, sizeof values[0], compare_values);
    for (guint per_mille = 1; per_mille <= 1000; per_mille++) {
        guint64 exact = values[per_mille * N / 1000 - 1];
        guint64 got = hist_percentile(&hist, per_mille);
        assert_in_range(got, exact - exact / 32, exact + exact / 32);
    }
    assert_int_equal(hist_percentile(&hist, 0), values[0]);
    assert_int_equal(hist_percentile(&hist, 1000), values[N - 1]);
    assert_int_equal(hist.min, values[0]);
}

/* Proves the edges: nothing, one value, and values beyond the last bucket. */
static void test_percentile_edges(void **state)
{
    (void)state;
    static Hist hist;
    hist_init(&hist);
    assert_int_equal(hist_percentile(&hist, 500), 0);
    hist_add(&hist, 123456789);
    assert_int_equal(hist_percentile(&hist, 500), 123456789);
    hist_add(&hist, G_MAXUINT64);
    hist_add(&hist, G_MAXUINT64 - 1);
    assert_int_equal(hist.max, G_MAXUINT64);
    assert_int_equal(hist_percentile(&hist, 1000), G_MAXUINT64);
}

/* Proves that merging two histograms is the same as adding all their values to one. */
static void test_merge(void **state)
{
    (void)state;
    static Hist a, b, both;
    hist_init(&a);
    hist_init(&b);
    hist_init(&both);
    for (guint64 i = 1; i < 2000; i++) {
        hist_add(i % 3 == 0 ? &a : &b, i * i);
        hist_add(&both, i * i);
    }
    hist_merge(&a, &b);
    assert_memory_equal(&a, &both, sizeof a);
    static Hist empty;
    hist_init(&empty);
    hist_merge(&a, &empty);
    assert_memory_equal(&a, &both, sizeof a);
    hist_merge(&empty, &both);
    assert_memory_equal(&empty, &both, sizeof a);
}

typedef struct {
    guint64 flits, queue_peak;
    Hist latency;
} Unit;

static const StatRow unit_rows[] = {
    STAT_COUNTER(Unit, flits, "flits", "put on the wire"),
    STAT_PEAK(Unit, queue_peak, "packets", "longest queue"),
    STAT_HIST(Unit, latency, "ps", "from accept to depart"),
    STAT_END,
};

static void visit(const char *path, const StatRow *row, const void *value, void *user)
{
    guint64 number = row->type == STAT_HIST_T ? ((const Hist *)value)->count : *(const guint64 *)value;
    g_string_append_printf(user, "%s.%s=%" G_GUINT64_FORMAT " ", path, row->name, number);
}

/* Proves that the registry shows the units' own counters in order of addition, and sets them to
 * zero. */
static void test_registry(void **state)
{
    (void)state;
    static Unit units[2];
    StatRegistry *registry = stat_registry_new();
    GString *text = g_string_new(NULL);

    stat_add(registry, "gpu1.link0", unit_rows, &units[1]);
    stat_add(registry, "gpu0.link0", unit_rows, &units[0]);
    units[0].flits = 5;
    units[1].queue_peak = 9;
    hist_add(&units[1].latency, 77);
    stat_visit(registry, visit, text);
    assert_string_equal(text->str, "gpu1.link0.flits=0 gpu1.link0.queue_peak=9 gpu1.link0.latency=1 "
                                   "gpu0.link0.flits=5 gpu0.link0.queue_peak=0 gpu0.link0.latency=0 ");
    g_string_free(text, TRUE);
    stat_registry_free(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles),
        cmocka_unit_test(test_percentile_edges),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
