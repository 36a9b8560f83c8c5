/* Where the time went: the parts of every request add up to its latency; those that a setting makes long are long. */
#include "tests/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "coll/coll.h"
#include "model/presets/preset.h"
#include "observe/recording.h"
#include "device/launch_time.h"

typedef struct {
    guint64 requests, latency_ps, part_ps[LATENCY_REASONS];
    LatencySum sums; /* of ld_reduce */
    char *json;
} Outcome;

/* What the fabric's own accounts say of requests to others of one kind. */
static void own_account(const Fabric *fabric, PacketKind kind, guint64 *count, guint64 *latency_ps)
{
    const OpStats *stats = fabric->op_remote.kind[kind];
    *count = stats ? stats->count : 0;
    *latency_ps = stats ? stats->latency_ps.sum : 0;
    for (guint i = 1; i < fabric->op_object->len; i++) {
        stats = ((const OpTable *)g_ptr_array_index(fabric->op_object, i))->kind[kind];
        *count += stats ? stats->count : 0;
        *latency_ps += stats ? stats->latency_ps.sum : 0;
    }
}

static void check_sums(const Fabric *fabric, const LatencyBreakdown *where, Outcome *outcome)
{
    for (int k = 0; k <= PACKET_MC_READ; k++) {
        const LatencySum *sum = latency_breakdown_sum(where, (PacketKind)k);
        guint64 count, latency_ps, parts_ps = 0;
        own_account(fabric, (PacketKind)k, &count, &latency_ps);
        for (int r = 0; r < LATENCY_REASONS; r++) {
            assert_true(sum->part_ps[r] < G_MAXINT64); /* none is less than nothing */
            parts_ps += sum->part_ps[r];
            outcome->part_ps[r] += sum->part_ps[r];
        }
        assert_int_equal(sum->requests, count);
        assert_int_equal(sum->latency_ps, latency_ps);
        assert_int_equal(parts_ps, latency_ps);
        outcome->requests += count;
        outcome->latency_ps += latency_ps;
    }
}

static Outcome run(const char *preset, CollOp op, CollAlgo algo, CollProto proto, guint64 bytes, const char *set_to)
{
    ParamSet *set = param_set_new();
    FabricSpec spec = {0};
    device_params(set, &spec);
    assert_true(preset_load(set, preset, NULL));
    if (set_to)
        assert_true(param_set_text(set, set_to, NULL));
    const SimSpec sim_spec = {.seed = 1, .engine = SIM_ENGINE_REFERENCE};
    Sim *sim = sim_new(&sim_spec, NULL);
    Fabric *fabric = fabric_new(sim, &spec, FALSE, NULL);
    CollGroup *group = coll_group_new(fabric, NULL, (guint32)spec.system.gpus, NULL);
    Recording *recording = recording_new(fabric, &(RecordingSpec){.where = TRUE}, "run");
    CollSpec coll = coll_spec_default(op);
    coll.algo = algo;
    coll.proto = proto;
    coll.bytes = bytes;
    CollResult result;
    assert_true(coll_run(group, &coll, &result, NULL));
    assert_true(recording_end(recording, NULL));
    const LatencyBreakdown *where = recording_where(recording);
    Outcome outcome = {0};
    check_sums(fabric, where, &outcome);
    outcome.sums = *latency_breakdown_sum(where, PACKET_MC_READ);
    Report *report = report_new("test", "test");
    LatencyTables tables = {.report = report};
    latency_breakdown_tables_add(&tables, where, "run");
    outcome.json = g_string_free(report_format(report, REPORT_JSON), FALSE);
    /* the run's rows are its time */
    guint64 rows_ps = 0;
    for (const char *at = outcome.json; (at = strstr(at, "\"time_us\":")); at++) {
        const char *number = at + strlen("\"time_us\":"), *dot = strchr(number, '.');
        rows_ps += g_ascii_strtoull(number, NULL, 10) * PS_PER_US + g_ascii_strtoull(dot + 1, NULL, 10);
    }
    assert_int_equal(rows_ps, sim_now_ps(sim));
    report_free(report);
    recording_free(recording);
    coll_group_free(group);
    fabric_free(fabric);
    sim_free(sim);
    param_set_free(set);
    assert_true(outcome.requests > 0);
    return outcome;
}

static double share(const Outcome *outcome, LatencyReason reason)
{
    return (double)outcome->part_ps[reason] / (double)outcome->latency_ps;
}

/* Proves that the parts of all requests add up to their latencies as the fabric itself accounts for them, to the
 * picosecond, in multicast and unicast collectives, and the rows of a run to its time. */
static void test_sums(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        CollOp op;
        CollAlgo algo;
        CollProto proto;
    } cases[] = {
        {"teach-4gpu", COLL_ALL_REDUCE, COLL_NVLS, COLL_PROTO_AUTO},
        {"dgx-h100", COLL_ALL_REDUCE, COLL_NVLS, COLL_PROTO_AUTO},
        {"dgx-h100", COLL_ALL_REDUCE, COLL_RING, COLL_SIMPLE},
        {"dgx-h100", COLL_ALL_REDUCE, COLL_RING, COLL_LL},
        {"dgx-h100", COLL_ALL_REDUCE, COLL_TWOSHOT, COLL_PROTO_AUTO},
        {"hgx-b200", COLL_ALL_REDUCE, COLL_ONESHOT, COLL_PROTO_AUTO},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Outcome outcome = run(cases[i].preset, cases[i].op, cases[i].algo, cases[i].proto, 128 << 10, NULL);
        for (int r = 0; r < LATENCY_REASONS; r++)
            assert_true(outcome.part_ps[r] <= outcome.latency_ps);
        assert_true(outcome.part_ps[LATENCY_SERIAL] && outcome.part_ps[LATENCY_FLIGHT] &&
                    outcome.part_ps[LATENCY_MEMORY]);
        g_free(outcome.json);
    }
}

/* Two groups of four GPUs under spines; trunks are twice as long as links. */
static char *levels_file(void)
{
    GError *error = NULL;
    char *path = NULL;
    const int fd = g_file_open_tmp("levels-XXXXXX.ini", &path, &error);
    assert_true(fd >= 0 && g_close(fd, NULL));
    assert_true(g_file_set_contents(path,
                                    "[system]\ninherits = teach-4gpu\n# assumed: two sets\ngpus = 8\n"
                                    "[topology]\n# assumed: two\nkind = two_level\n# assumed: sets\nleaf_gpus = 4\n"
                                    "# assumed: one a plane\nspines = 1,1\n# assumed: four\ntrunks = 4\n"
                                    "# assumed: longer\ntrunk_flight_ps = 200000\n",
                                    -1, NULL));
    return path;
}

/* Proves the same over two levels of switches, where a reduction is gathered twice: each ld_reduce spends just eight
 * flights on wires, four of links and four of trunks, and all of its time has a reason that fits. */
static void test_levels(void **state)
{
    (void)state;
    g_autofree char *path = levels_file();
    static const CollAlgo algos[] = {COLL_RING, COLL_TWOSHOT, COLL_NVLS};
    for (guint i = 0; i < G_N_ELEMENTS(algos); i++) {
        Outcome outcome = run(path, COLL_ALL_REDUCE, algos[i], COLL_PROTO_AUTO, 64 << 10, NULL);
        if (algos[i] == COLL_NVLS) {
            assert_int_equal(outcome.sums.requests, 512);
            assert_int_equal(outcome.sums.part_ps[LATENCY_FLIGHT], 512 * (4 * 100000 + 4 * 200000));
            assert_int_equal(outcome.sums.part_ps[LATENCY_MERGING], 0);
        }
        g_free(outcome.json);
    }
    Outcome few = run(path, COLL_ALL_REDUCE, COLL_NVLS, COLL_PROTO_AUTO, 64 << 10, "switch.reduction_tags=2");
    if (few.sums.part_ps[LATENCY_TAGS] < few.sums.latency_ps / 2)
        fail_msg("with two tags, tags are %" G_GUINT64_FORMAT " ps", few.sums.part_ps[LATENCY_TAGS]);
    g_free(few.json);
    g_unlink(path);
}

/* Proves that what a setting makes scarce or slow is where the time goes then: tags, the reduction buffer, credits,
 * the crossbar, room for answers, the link's rate. */
static void test_reasons(void **state)
{
    (void)state;
    static const struct {
        LatencyReason reason;
        const char *set_to;
    } cases[] = {
        {LATENCY_TAGS, "switch.reduction_tags=2"},         {LATENCY_BUFFER, "switch.reduction_buffer_bytes=1024"},
        {LATENCY_CREDITS, "link.credits_switch_flits=32"}, {LATENCY_ROUNDS, "switch.crossbar_bytes=1"},
        {LATENCY_FLIGHT, "link.flight_ps=5000000"},        {LATENCY_QUEUE, "link.rate_MBps=2000"},
    };
    Outcome usual = run("teach-4gpu", COLL_ALL_REDUCE, COLL_NVLS, COLL_PROTO_AUTO, 128 << 10, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Outcome outcome = run("teach-4gpu", COLL_ALL_REDUCE, COLL_NVLS, COLL_PROTO_AUTO, 128 << 10, cases[i].set_to);
        if (share(&outcome, cases[i].reason) < 0.2 || share(&outcome, cases[i].reason) < share(&usual, cases[i].reason))
            fail_msg("%s: %s are %.1f %%, before %.1f %%", cases[i].set_to, latency_breakdown_names[cases[i].reason],
                     100 * share(&outcome, cases[i].reason), 100 * share(&usual, cases[i].reason));
        g_free(outcome.json);
    }
    g_free(usual.json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_levels),
                                       cmocka_unit_test(test_reasons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
