/* GPUs and switches on several threads against one domain, below the command line: synthetic traffic with every
 * statistic, runs in slices, and requests that ask for the same bytes at the same instant. */
#include "tests/model/model_test.h"

#include "bench/traffic.h"
#include "model/memory/numeric.h"
#include "sim/engine/domain.h"

typedef struct {
    GString *stats;
    SimTime now_ps, end_ps;
    guint64 crossings, peak;
} Outcome;

static void outcome_visit(const char *path, const StatRow *row, const void *value, void *user)
{
    GString *stats = user;
    if (row->type != STAT_HIST_T)
        g_string_append_printf(stats, "%s.%s %" G_GUINT64_FORMAT "\n", path, row->name, *(const guint64 *)value);
}

/* Until everything is over, in slices of slice_ps. */
static void outcome_run(Bed *bed, SimTime slice_ps)
{
    SimStatus status;
    while ((status = sim_run(bed->sim, slice_ps == SIMTIME_NEVER ? SIMTIME_NEVER : sim_now_ps(bed->sim) + slice_ps)) ==
           SIM_LIMIT)
        continue;
    assert_int_equal(status, SIM_IDLE);
}

static void outcome_take(Outcome *outcome, const Bed *bed)
{
    assert_true(fabric_is_quiet(bed->fabric));
    outcome->stats = g_string_new(NULL);
    outcome->now_ps = sim_now_ps(bed->sim);
    outcome->crossings = fabric_crossings(bed->fabric);
    stat_visit(bed->fabric->stats, outcome_visit, outcome->stats);
}

static Outcome outcome_of_traffic(guint domains, const char *const *sets, guint32 load, SimTime slice_ps)
{
    Bed bed;
    Outcome outcome = {0};
    const SimSpec spec = {.seed = 3, .threads = domains};
    bed_open(&bed, "dgx-h100", sets, &spec);
    assert_int_equal(bed.fabric->sw[0].sim != bed.sim, domains > 1);
    Traffic *traffic = traffic_new(bed.fabric, &(TrafficSpec){.packets = 20000, .load_per_mille = load, .bytes = 128});
    outcome_run(&bed, slice_ps);
    outcome_take(&outcome, &bed);
    outcome.end_ps = traffic_end_ps(traffic);
    outcome.peak = traffic_peak(traffic);
    traffic_free(traffic);
    bed_close(&bed);
    return outcome;
}

static void outcome_same(Outcome one, Outcome two)
{
    assert_string_equal(one.stats->str, two.stats->str);
    assert_int_equal(one.now_ps, two.now_ps);
    assert_int_equal(one.end_ps, two.end_ps);
    assert_int_equal(one.crossings, two.crossings);
    assert_int_equal(one.peak, two.peak);
    g_string_free(one.stats, TRUE);
    g_string_free(two.stats, TRUE);
}

/* Proves that uniform traffic has the same end and the same statistics, light and overloaded, with little
 * room everywhere and with damaged packets. */
static void test_uniform(void **state)
{
    (void)state;
    static const char *const tight[] = {"link.credits_switch_flits=32", "link.credits_gpu_flits=32",
                                        "gpu.source_queue_packets=4", "gpu.response_queue_packets=1", NULL};
    static const char *const damaged[] = {"link.error_ppb=10000000", NULL};
    static const char *const *const sets[] = {NULL, tight, damaged};
    for (gsize i = 0; i < G_N_ELEMENTS(sets); i++)
        for (guint32 load = 200; load <= 1000; load += 400)
            for (guint threads = 2; threads <= 6; threads += 2) /* one more than there are switches to share out */
                outcome_same(outcome_of_traffic(1, sets[i], load, SIMTIME_NEVER),
                             outcome_of_traffic(threads, sets[i], load, SIMTIME_NEVER));
}

/* Proves that where sim_run() pauses makes no difference to what the run as a whole does. */
static void test_slices(void **state)
{
    (void)state;
    static const SimTime slices_ps[] = {100, 77777, 1000000};
    for (gsize i = 0; i < G_N_ELEMENTS(slices_ps); i++) {
        Outcome one = outcome_of_traffic(1, NULL, 700, SIMTIME_NEVER);
        Outcome two = outcome_of_traffic(2, NULL, 700, slices_ps[i]);
        one.now_ps = two.now_ps; /* the last slice goes on to its end */
        outcome_same(one, two);
    }
}

/* Every GPU adds to the same words by a team's multicast and reads them back, all at once. */
static Outcome outcome_of_team(guint domains, guint8 bytes[128])
{
    enum { GPUS = 8, ROUNDS = 20 };
    Bed bed;
    MemRegion *region[GPUS];
    Answer answer[2 * GPUS * ROUNDS] = {0};
    guint32 word[32];
    Outcome outcome = {0};
    const SimSpec spec = {.seed = 3, .threads = domains};
    bed_open(&bed, "dgx-h100", NULL, &spec);
    McObject *object = bed_team(&bed, GPUS, 4096, region);
    for (guint32 i = 0; i < G_N_ELEMENTS(word); i++)
        word[i] = i;
    for (guint r = 0; r < ROUNDS; r++)
        for (guint16 g = 0; g < GPUS; g++) {
            GpuRequest add = {.kind = PACKET_MC_RED,
                              .object = object,
                              .bytes = 128,
                              .type = NUMERIC_U32,
                              .op = NUMERIC_ADD,
                              .data = (const guint8 *)word};
            GpuRequest sum = {
                .kind = PACKET_MC_READ, .object = object, .bytes = 128, .type = NUMERIC_U32, .op = NUMERIC_ADD};
            bed_send(&bed, g, &add, &answer[2 * (r * GPUS + g)]);
            bed_send(&bed, g, &sum, &answer[2 * (r * GPUS + g) + 1]);
        }
    outcome_run(&bed, SIMTIME_NEVER);
    outcome_take(&outcome, &bed);
    for (gsize i = 0; i < G_N_ELEMENTS(answer); i++) {
        assert_int_equal(answer[i].times, 1);
        g_string_append_printf(outcome.stats, "%" G_GUINT64_FORMAT " %u\n", answer[i].at_ps,
                               ((guint32 *)(void *)answer[i].bytes)[31]);
    }
    memcpy(bytes, region[0]->host, 128);
    assert_int_equal(((guint32 *)(void *)bytes)[31], 31 * GPUS * ROUNDS);
    bed_close(&bed);
    return outcome;
}

/* Proves that sums made while others add to the same words have the same values at the same times. */
static void test_team(void **state)
{
    (void)state;
    guint8 bytes[2][128];
    outcome_same(outcome_of_team(1, bytes[0]), outcome_of_team(2, bytes[1]));
    assert_memory_equal(bytes[0], bytes[1], sizeof bytes[0]);
}

/* Proves that a fabric says why it cannot be split, and leaves nothing behind. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const close[] = {"link.flight_ps=10", NULL}, *const silent[] = {"fault.gpu_silent=gpu0", NULL};
    const struct {
        const char *const *sets;
        SimCalendar calendar;
        SimEngine engine;
        const char *says;
    } cases[] = {{close, SIM_CALENDAR_WHEEL, SIM_ENGINE_FAST, "at least 1000"},
                 {silent, SIM_CALENDAR_WHEEL, SIM_ENGINE_FAST, "gpu_silent"},
                 {NULL, SIM_CALENDAR_SYSTEMC, SIM_ENGINE_FAST, "--calendar"},
                 {NULL, SIM_CALENDAR_WHEEL, SIM_ENGINE_REFERENCE, "--engine"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Bed bed;
        GError *error = NULL;
        bed_spec(&bed, "teach-4gpu", cases[i].sets);
        Sim *sim = sim_new(
            &(SimSpec){.seed = 1, .threads = 2, .calendar = cases[i].calendar, .engine = cases[i].engine}, NULL);
        assert_null(fabric_new(sim, &bed.spec, FALSE, &error));
        assert_true(g_error_matches(error, SIM_ERROR, SIM_ERROR_DOMAINS));
        assert_non_null(strstr(error->message, cases[i].says));
        g_error_free(error);
        sim_free(sim);
        param_set_free(bed.set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_uniform), cmocka_unit_test(test_slices),
                                       cmocka_unit_test(test_team), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
