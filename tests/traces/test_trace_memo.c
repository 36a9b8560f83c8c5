/* Memory of whole stretches of communication: what is remembered is what would be simulated. */
#include "tests/traces/trace_test.h"

#include "device/launch_time.h"
#include "model/presets/preset.h"
#include "traces/replay/replay.h"

#define JOBS 2

typedef struct {
    ParamSet *set;
    FabricSpec fabric;
    ReplayJob job[JOBS];
    ReplaySpec spec;
} Case;

static void open_case(Case *c)
{
    *c = (Case){.set = param_set_new()};
    device_params(c->set, &c->fabric);
    assert_true(preset_load(c->set, "teach-4gpu", NULL));
    c->spec = (ReplaySpec){.fabric = &c->fabric, .compute_ppm = 1000000, .sim.seed = 1, .figures = TRUE};
    for (int op = 0; op < COLL_OPS; op++)
        c->spec.algo[op] = COLL_AUTO;
}

static void close_case(Case *c, guint jobs)
{
    for (guint j = 0; j < jobs; j++) {
        match_free(c->job[j].match);
        trace_free(c->job[j].trace);
        g_free(c->job[j].gpu);
    }
    param_set_free(c->set);
}

/* Two ranks on GPUs from `first` on. */
static void add_job(Case *c, guint j, const char *text, guint first)
{
    GError *error = NULL;
    c->job[j].trace = trace_test_read("m.trace", text, strlen(text), FALSE, &error);
    if (!c->job[j].trace)
        fail_msg("%s", error->message);
    c->job[j].match = match_new(c->job[j].trace, FALSE, NULL);
    c->job[j].gpu = g_new(guint16, c->job[j].trace->world);
    for (guint r = 0; r < c->job[j].trace->world; r++)
        c->job[j].gpu[r] = (guint16)(first + r);
}

static ReplayResult *run(Case *c, guint jobs, gboolean memo)
{
    GError *error = NULL;
    c->spec.memo = memo;
    ReplayResult *result = replay_run(&c->spec, c->job, jobs, &error);
    if (!result)
        fail_msg("%s", error->message);
    return result;
}

static void assert_same(const ReplayResult *a, const ReplayResult *b, const Case *c, guint jobs)
{
    assert_int_equal(a->total_ps, b->total_ps);
    for (guint j = 0; j < jobs; j++) {
        const gsize records = c->job[j].trace->records->len * sizeof(SimTime);
        assert_memory_equal(a->job[j].start_ps, b->job[j].start_ps, records);
        assert_memory_equal(a->job[j].end_ps, b->job[j].end_ps, records);
        for (guint i = 0; i < c->job[j].match->items->len; i++) {
            assert_int_equal(a->job[j].item[i].algo, b->job[j].item[i].algo);
            assert_int_equal(a->job[j].item[i].proto, b->job[j].item[i].proto);
            assert_int_equal(a->job[j].item[i].end_ps, b->job[j].item[i].end_ps);
        }
    }
    assert_memory_equal(a->usage.flits, b->usage.flits, a->usage.ways * sizeof(guint64));
    assert_memory_equal(a->usage.busy_ps, b->usage.busy_ps, a->usage.ways * sizeof(guint64));
    assert_memory_equal(a->usage.stalls, b->usage.stalls, a->usage.switches * sizeof(guint64));
    GArray *x = series_sum_points(a->usage.figures, a->total_ps), *y = series_sum_points(b->usage.figures, b->total_ps);
    assert_int_equal(x->len, y->len);
    assert_memory_equal(x->data, y->data, x->len * g_array_get_element_size(x));
    g_array_unref(x);
    g_array_unref(y);
}

/* Proves that steps in which two collectives overlap are simulated once: of ten equal steps of two, 2 communications
 * are simulated and 18 remembered; and that a step more in which the second comes half a microsecond later is
 * another stretch, which is simulated whole: 22 communications, 4 simulated, 18 remembered, the first of the last step
 * simulated after all, since it had gone as before until the second did not come. */
static void test_steps_that_overlap(void **state)
{
    (void)state;
    GString *text = g_string_new("fanout-trace 1\nworld 4\nrank *\n0 compute 1us\n");
    for (guint s = 0; s <= 10; s++)
        g_string_append_printf(text,
                               "%u all_reduce bytes=65536 dtype=f32 stream=1 after=%u\n"
                               "%u compute %s after=%u\n"
                               "%u all_gather bytes=65536 dtype=f32 stream=2 after=%u\n"
                               "%u compute 30us after=%u,%u\n",
                               4 * s + 1, 4 * s, 4 * s + 2, s < 10 ? "1us" : "1.5us", 4 * s, 4 * s + 3, 4 * s + 2,
                               4 * s + 4, 4 * s + 1, 4 * s + 3);
    Case c;
    open_case(&c);
    add_job(&c, 0, text->str, 0);
    ReplayResult *with = run(&c, 1, TRUE), *without = run(&c, 1, FALSE);
    assert_int_equal(without->simulated, 22);
    assert_int_equal(with->simulated, 4);
    assert_int_equal(with->memoised, 18);
    assert_int_equal(with->overlapped, 1);
    assert_same(with, without, &c, 1);
    const SimTime *start_ps = with->job[0].start_ps, *end_ps = with->job[0].end_ps;
    assert_true(start_ps[3] < end_ps[1]); /* they do overlap */
    assert_int_equal(end_ps[37] - start_ps[37], end_ps[1] - start_ps[1]);
    assert_int_equal(with->job[0].item[0].memoised, FALSE);
    replay_result_free(with);
    replay_result_free(without);
    close_case(&c, 1);
    g_string_free(text, TRUE);
}

/* 24 steps that begin on a quiet fabric of the job's own, each of three streams that come to their collective a little
 * earlier or later. */
static char *draw_job(GRand *rand)
{
    static const char *const kinds[] = {"all_reduce bytes=8192 dtype=f32", "all_gather bytes=16384 dtype=f32",
                                        "barrier bytes=0 dtype=u8"};
    GString *text = g_string_new("fanout-trace 1\nworld 2\nrank *\n0 compute 1us\n");
    for (guint s = 0; s < 24; s++) {
        for (guint k = 0; k < 3; k++)
            g_string_append_printf(text, "%u compute %dus after=%u\n%u %s stream=%u after=%u\n", 7 * s + 2 * k + 1,
                                   g_rand_int_range(rand, 0, 2) * 6, 7 * s, 7 * s + 2 * k + 2, kinds[k], k,
                                   7 * s + 2 * k + 1);
        g_string_append_printf(text, "%u compute 40us after=%u,%u,%u\n", 7 * s + 7, 7 * s + 2, 7 * s + 4, 7 * s + 6);
    }
    return g_string_free(text, FALSE);
}

/* Proves that nothing but the counts of remembered communications tells the two ways apart, whatever comes upon what:
 * drawn steps of one job, whose stretches repeat and part halfway, and of two jobs, which come upon each other by
 * chance, on the same GPUs and apart. Statistics in time are compared, too. */
static void test_drawn_overlaps(void **state)
{
    (void)state;
    guint64 remembered = 0, after_all = 0;
    for (guint32 seed = 1; seed <= 4; seed++) {
        const guint jobs = seed <= 2 ? 1 : 2;
        GRand *rand = g_rand_new_with_seed(seed);
        Case c;
        open_case(&c);
        for (guint j = 0; j < jobs; j++) {
            g_autofree char *text = draw_job(rand);
            add_job(&c, j, text, seed % 2 ? j : 2 * j);
        }
        ReplayResult *with = run(&c, jobs, TRUE), *without = run(&c, jobs, FALSE);
        assert_int_equal(without->simulated, 72 * jobs);
        assert_int_equal(with->simulated + with->memoised, 72 * jobs);
        assert_same(with, without, &c, jobs);
        remembered += with->memoised;
        after_all += with->overlapped;
        replay_result_free(with);
        replay_result_free(without);
        close_case(&c, jobs);
        g_rand_free(rand);
    }
    assert_true(remembered >= 72 && after_all >= 24); /* most of one job's, some of two jobs' */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_that_overlap),
                                       cmocka_unit_test(test_drawn_overlaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
