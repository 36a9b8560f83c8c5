/* traces/replay/report*.c and busy.c: every column of a replay's report, worked out by hand from operations whose times
 * are set here, not simulated.
 *
 *     time in us     0    4  5  6   10     16    20    25 27   30  34   37
 *     rank 0         computes ------]                  [----]
 *                         all_reduce ------]     all_reduce --------]send]
 *     rank 1                    all_reduce [ all_reduce ------------]recv]
 *     ranks 2 and 3          all_reduce ---[ all_reduce ------------]
 */
#include "tests/report_cells.h"
#include "tests/traces/trace_test.h"

#include "device/launch_time.h"
#include "model/presets/preset.h"
#include "traces/replay/report.h"

#define REDUCE "all_reduce bytes=1000000 dtype=f32 stream=2\n"
static const char text[] = "fanout-trace 1\nworld 4\n"
                           "rank 0\n1 compute 10us stream=1\n2 " REDUCE "3 " REDUCE "4 compute 2us stream=1\n"
                           "5 send to=1 bytes=4096 dtype=u8 stream=2\n"
                           "rank 1\n1 " REDUCE "2 " REDUCE "3 recv from=0 bytes=4096 dtype=u8 stream=2\n"
                           "rank 2\n1 " REDUCE "2 " REDUCE "rank 3\n1 " REDUCE "2 " REDUCE;

/* By record: step, start and end. */
static const struct {
    gint32 step;
    guint start_us, end_us;
} records[] = {{0, 0, 10}, {0, 4, 16},  {1, 20, 34}, {1, 25, 27}, {1, 34, 37}, /* rank 0 */
               {0, 6, 16}, {1, 16, 34}, {1, 34, 37},                           /* rank 1 */
               {0, 5, 16}, {1, 16, 34}, {0, 5, 16},  {1, 16, 34}};             /* ranks 2 and 3 */

typedef struct {
    ParamSet *set;
    FabricSpec fabric;
    ReplaySpec spec;
    ReplayJob job;
    guint16 gpu[4];
} Case;

static void open_case(Case *c)
{
    memset(c, 0, sizeof *c);
    c->set = param_set_new();
    device_params(c->set, &c->fabric);
    assert_true(preset_load(c->set, "teach-4gpu", NULL));
    c->spec.fabric = &c->fabric;
    c->job.trace = trace_test_read("folder/r.trace", text, strlen(text), FALSE, NULL);
    assert_non_null(c->job.trace);
    assert_int_equal(c->job.trace->records->len, G_N_ELEMENTS(records));
    for (guint i = 0; i < G_N_ELEMENTS(records); i++)
        g_array_index(c->job.trace->records, Record, i).step = records[i].step;
    c->job.match = match_new(c->job.trace, FALSE, NULL);
    assert_int_equal(c->job.match->items->len, 3);
    static const guint16 gpu[4] = {0, 1, 2, 2};
    memcpy(c->gpu, gpu, sizeof gpu);
    c->job.gpu = c->gpu;
}

static void close_case(Case *c)
{
    match_free(c->job.match);
    trace_free(c->job.trace);
    param_set_free(c->set);
}

/* Messages and collectives in whatever order the match has them: which of them is the first, the second all-reduce. */
static guint item_of(const Case *c, guint record) { return c->job.match->of_record[record]; }

static ReplayResult *result_new(const Case *c, CollAlgo algo, CollProto proto)
{
    const SimTime us = 1000000;
    ReplayResult *result = g_new0(ReplayResult, 1);
    result->jobs = 1;
    result->total_ps = 37 * us;
    result->simulated = 2;
    result->memoised = 1;
    result->notes = g_ptr_array_new_with_free_func(g_free);
    result->job = g_new0(ReplayJobResult, 1);
    ReplayJobResult *job = result->job;
    job->start_ps = g_new0(SimTime, G_N_ELEMENTS(records));
    job->end_ps = g_new0(SimTime, G_N_ELEMENTS(records));
    for (guint i = 0; i < G_N_ELEMENTS(records); i++) {
        job->start_ps[i] = records[i].start_us * us;
        job->end_ps[i] = records[i].end_us * us;
    }
    job->item = g_new0(ReplayItem, 3);
    job->item[item_of(c, 1)] = (ReplayItem){4 * us, 6 * us, 16 * us, 1, algo, proto, FALSE, FALSE};
    job->item[item_of(c, 2)] = (ReplayItem){16 * us, 20 * us, 34 * us, 0, algo, proto, FALSE, TRUE};
    job->item[item_of(c, 4)] = (ReplayItem){34 * us, 34 * us, 37 * us, 0, COLL_ALGOS, 0, FALSE, FALSE};
    ReplayUsage *usage = &result->usage;
    usage->gpus = 4;
    usage->links = 2;
    usage->switches = 2;
    usage->ways = 16;
    usage->flits = g_new0(guint64, 16);
    usage->busy_ps = g_new0(guint64, 16);
    usage->to_gpus = g_new0(guint64, 2);
    usage->multicast = g_new0(guint64, 2);
    usage->replicas = g_new0(guint64, 2);
    usage->stalls = g_new0(guint64, 2);
    usage->flits[(1 * 2 + 1) * 2 + 0] = 125000; /* gpu1.link1.up: 2 MB */
    usage->busy_ps[(1 * 2 + 1) * 2 + 0] = 9250000;
    usage->flits[(3 * 2 + 0) * 2 + 1] = 62500; /* gpu3.link0.down: 1 MB */
    usage->busy_ps[(3 * 2 + 0) * 2 + 1] = 3700000;
    usage->to_gpus[1] = 62500000; /* 1 GB */
    usage->multicast[1] = 7;
    usage->replicas[1] = 21;
    usage->stalls[1] = 5;
    return result;
}

static JsonNode *report_of(const Case *c, const ReplayResult *result, const ReplayPair *pair)
{
    Report *report = report_new("replay", "");
    replay_report_add(report, &c->spec, &c->job, 1, result, pair);
    JsonNode *root = cells_of(report);
    report_free(report);
    return root;
}

/* Proves each column of the rows: two all-reduces of 1 MB that took 10 and 14 us, and a message; of the skews of 2 and
 * 4 us ranks 1 and 0 were the cause, once each, of which the lower one is named. */
static void test_rows(void **state)
{
    (void)state;
    Case c;
    open_case(&c);
    ReplayResult *result = result_new(&c, COLL_RING, COLL_SIMPLE);
    JsonNode *root = report_of(&c, result, &(ReplayPair){0});
    static const char *const reduce[][2] = {
        {"job", "r.trace"},  {"op", "all_reduce"},       {"algo", "ring"},         {"gpus", "4"},
        {"dtype", "f32"},    {"bytes", "1000000"},       {"bytes_in", "1000000"},  {"bytes_out", "1000000"},
        {"count", "2"},      {"total_bytes", "2000000"}, {"time_us", "12.00"},     {"time_max_us", "14.00"},
        {"sum_us", "24.00"}, {"algbw_GBps", "83.33"},    {"busbw_GBps", "125.00"}, {"slowest_rank", "0"},
        {"skew_us", "3.00"}, {"verified", "null"},
    };
    static const char *const send[][2] = {
        {"op", "sendrecv"},      {"algo", "null"},         {"gpus", "2"},
        {"dtype", "u8"},         {"bytes", "4096"},        {"count", "1"},
        {"total_bytes", "4096"}, {"time_us", "3.00"},      {"algbw_GBps", "1.37"},
        {"busbw_GBps", "1.37"},  {"slowest_rank", "null"}, {"skew_us", "0.00"},
    };
    assert_int_equal(cells_rows(root, "rows"), 2);
    for (guint i = 0; i < G_N_ELEMENTS(reduce); i++)
        cell_is(root, "rows", 0, reduce[i][0], reduce[i][1]);
    for (guint i = 0; i < G_N_ELEMENTS(send); i++)
        cell_is(root, "rows", 1, send[i][0], send[i][1]);
    json_node_unref(root);
    replay_result_free(result);
    close_case(&c);
}

/* Proves each column of jobs and steps. Exposed: 6 + 12 + 3 of rank 0, whose second computation hides 2 us, 10 + 18 + 3
 * of rank 1, 11 + 18 of the others. */
static void test_jobs_and_steps(void **state)
{
    (void)state;
    Case c;
    open_case(&c);
    ReplayResult *result = result_new(&c, COLL_RING, COLL_SIMPLE);
    JsonNode *root = report_of(&c, result, &(ReplayPair){0});
    static const char *const job[][2] = {
        {"job", "r.trace"},
        {"ranks", "4"},
        {"recorded_ranks", "4"},
        {"gpus", "3"},
        {"operations", "12"},
        {"communications", "3"},
        {"groups", "1"},
        {"time_us", "37.00"},
        {"exposed_us", "27.50"},
        {"exposed_max_us", "31.00"},
        {"communicating_us", "29.50"},
        {"computing_us", "3.00"},
        {"skipped", "0"},
    };
    static const char *const step[2][5][2] = {
        {{"step", "0"}, {"begin_us", "0.00"}, {"end_us", "16.00"}, {"time_us", "16.00"}, {"exposed_us", "9.50"}},
        {{"step", "1"}, {"begin_us", "16.00"}, {"end_us", "37.00"}, {"time_us", "21.00"}, {"exposed_us", "18.00"}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(job); i++)
        cell_is(root, "jobs", 0, job[i][0], job[i][1]);
    assert_int_equal(cells_rows(root, "steps"), 2);
    for (guint s = 0; s < 2; s++)
        for (guint i = 0; i < 5; i++)
            cell_is(root, "steps", s, step[s][i][0], step[s][i][1]);
    json_node_unref(root);
    replay_result_free(result);
    close_case(&c);
}

/* Proves each column of links and switches: a flit is 16 B, busy a share of the replay's 37 us, and only links that
 * carried something are there, the one that carried most first. */
static void test_fabric(void **state)
{
    (void)state;
    Case c;
    open_case(&c);
    ReplayResult *result = result_new(&c, COLL_RING, COLL_SIMPLE);
    JsonNode *root = report_of(&c, result, &(ReplayPair){0});
    static const char *const link[2][4] = {{"gpu1.link1.up", "125000", "2.000", "25.00"},
                                           {"gpu3.link0.down", "62500", "1.000", "10.00"}};
    static const char *const sw[2][5] = {{"switch0", "0.000", "0", "0", "0"}, {"switch1", "1.000", "7", "21", "5"}};
    static const char *const link_key[] = {"link", "flits", "MB", "busy_pct"};
    static const char *const sw_key[] = {"name", "GB", "multicast_requests", "replicas", "stalls"};
    assert_int_equal(cells_rows(root, "hot_links"), 2);
    for (guint row = 0; row < 2; row++) {
        for (guint i = 0; i < 4; i++)
            cell_is(root, "hot_links", row, link_key[i], link[row][i]);
        for (guint i = 0; i < 5; i++)
            cell_is(root, "switches", row, sw_key[i], sw[row][i]);
    }
    JsonObject *facts = json_node_get_object(root);
    assert_true(json_object_get_double_member(facts, "total_us") == 37.0);
    assert_int_equal(json_object_get_int_member(facts, "simulated"), 2);
    assert_int_equal(json_object_get_int_member(facts, "remembered"), 1);
    json_node_unref(root);
    replay_result_free(result);
    close_case(&c);
}

/* Proves each column of multicast against unicast: 37 us with it, of which 27 communicate, and 47 us without it, where
 * the first all-reduce took 20 us instead of 10; so the two save 10 of 34 us. */
static void test_pair(void **state)
{
    (void)state;
    Case c;
    open_case(&c);
    ReplayResult *with = result_new(&c, COLL_NVLS, COLL_SIMPLE), *without = result_new(&c, COLL_RING, COLL_LL);
    without->total_ps = 47000000;
    without->job[0].item[item_of(&c, 1)].end_ps += 10000000;
    without->usage.flits[0] = 125000000; /* gpu0.link0.up: 2 GB */
    without->usage.flits[1] = 62500000;  /* and down: 1 GB */
    JsonNode *root = report_of(&c, with, &(ReplayPair){with, without});
    static const char *const saves[2][5] = {{"multicast", "37.00", "27.00", "0.002", "0.001"},
                                            {"unicast", "47.00", "37.00", "2.002", "1.001"}};
    static const char *const saves_key[] = {"kind", "total_us", "communication_us", "up_GB", "down_GB"};
    for (guint row = 0; row < 2; row++)
        for (guint i = 0; i < 5; i++)
            cell_is(root, "multicast_saves", row, saves_key[i], saves[row][i]);
    static const char *const advice[][2] = {
        {"job", "r.trace"},     {"op", "all_reduce"},    {"gpus", "4"},
        {"dtype", "f32"},       {"bytes", "1000000"},    {"count", "2"},
        {"unicast", "ring/ll"}, {"unicast_us", "17.00"}, {"best", "nvls"},
        {"best_us", "12.00"},   {"saves_pct", "29.4"},   {"advice", "take nvls, which the switches multicast"},
    };
    assert_int_equal(cells_rows(root, "advice"), 1); /* a message has no algorithm */
    for (guint i = 0; i < G_N_ELEMENTS(advice); i++)
        cell_is(root, "advice", 0, advice[i][0], advice[i][1]);
    cells_says(root, "answer", "multicast saves 10.00 us of 47.00 us (21.3 %)");
    json_node_unref(root);
    with->total_ps = 50000000;
    root = report_of(&c, with, &(ReplayPair){with, without});
    cells_says(root, "answer",
               "multicast saves nothing: taken where it is faster alone, the whole takes 3.00 us longer, as "
               "communications overlap; without it 47.00 us is best");
    json_node_unref(root);
    replay_result_free(with);
    replay_result_free(without);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_jobs_and_steps),
        cmocka_unit_test(test_fabric),
        cmocka_unit_test(test_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
