#include "tests/model/model_test.h"

#include "bench/traffic.h"
#include "observe/walk/walk.h"

/* Proves for every operation, on a small and on a full-size system, that its steps come in order of time, from
 * the issue to the answer, name source files that exist, that it leaves the right bytes, and that the fabric
 * can be walked again. */
static void test_every_op(void **state)
{
    (void)state;
    const char *top = g_getenv("TOP_SRCDIR");
    static const char *const systems[] = {"teach-4gpu", "dgx-h100"};
    for (guint s = 0; s < G_N_ELEMENTS(systems); s++) {
        Bed bed;
        bed_open(&bed, systems[s], NULL, &(SimSpec){.seed = 1, .engine = SIM_ENGINE_REFERENCE});
        for (guint op = 0; op < WALK_OPS; op++) {
            gboolean right = FALSE;
            GError *error = NULL;
            GArray *steps = walk_run(bed.fabric, (WalkOp)op, (guint32)bed.spec.system.gpus, NULL, &right, &error);
            assert_non_null(steps);
            if (!right)
                fail_msg("%s left wrong bytes", walk_ops[op]);
            SimTime at_ps = 0;
            for (guint i = 0; i < steps->len; i++) {
                const WalkStep *step = &g_array_index(steps, WalkStep, i);
                assert_true(step->at_ps >= at_ps);
                assert_true(step->text && *step->text && step->unit && *step->unit);
                at_ps = step->at_ps;
                g_autofree char *path = g_build_filename(top ? top : ".", step->file, NULL);
                if (!g_file_test(path, G_FILE_TEST_EXISTS))
                    fail_msg("%s does not exist", path);
            }
            const WalkStep *first = &g_array_index(steps, WalkStep, 0), *last = first + steps->len - 1;
            if (op == WALK_FABRIC_PUT ||
                op == WALK_FABRIC_PULLRED) { /* no warp: the fabric engine begins and ends it */
                assert_string_equal(first->file, "model/gpu/fabric_engine.c");
                assert_string_equal(last->file, "model/gpu/fabric_engine.c");
            } else {
                assert_int_equal(first->stage, PROBE_COALESCE);
                assert_int_equal(last->stage, PROBE_ANSWER);
            }
            walk_free(steps);
        }
        bed_close(&bed);
    }
}

/* Proves that a multicast walk shows each of n replicas leaving, being served and being counted once. */
static void test_replicas(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, &(SimSpec){.seed = 1, .engine = SIM_ENGINE_REFERENCE});
    for (guint32 n = 2; n <= 4; n++) {
        gboolean right = FALSE;
        GArray *steps = walk_run(bed.fabric, WALK_MC_LOAD_REDUCE, n, NULL, &right, NULL);
        guint count[PROBE_STAGES] = {0};
        for (guint i = 0; i < steps->len; i++) {
            const WalkStep *step = &g_array_index(steps, WalkStep, i);
            count[step->stage]++;
            if (step->stage == PROBE_SERVE || step->stage == PROBE_GATHER)
                assert_int_equal(step->depth, 1);
        }
        assert_int_equal(count[PROBE_WIRE], 1 + n + n + 1);
        assert_int_equal(count[PROBE_SERVE], n);
        assert_int_equal(count[PROBE_GATHER], n);
        assert_int_equal(count[PROBE_RESULT], 1);
        assert_true(right);
        walk_free(steps);
    }
    bed_close(&bed);
}

/* Proves that a walk changes no time: the answer comes when it does without an observer. */
static void test_observes_only(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, &(SimSpec){.seed = 1, .engine = SIM_ENGINE_REFERENCE});
    gboolean right = FALSE;
    GArray *steps = walk_run(bed.fabric, WALK_LOAD, 4, NULL, &right, NULL);
    SimTime took_ps = g_array_index(steps, WalkStep, steps->len - 1).at_ps;
    walk_free(steps);
    MemRegion *region = bed_region(&bed, 1, 4096);
    GpuRequest request = {.kind = PACKET_READ, .region = region, .bytes = 128};
    Answer answer = {0};
    SimTime start_ps = sim_now_ps(bed.sim);
    bed_send(&bed, 0, &request, &answer);
    sim_run(bed.sim, SIMTIME_NEVER);
    assert_true(answer.at_ps - start_ps == took_ps);
    bed_close(&bed);
}

static void stop_traffic(void *traffic) { traffic_stop(traffic); }

/* A load (one packet there, one back) under traffic; what it waited in all, and how often for each reason. */
static SimTime walk_loaded(guint32 load_per_mille, guint64 seed, SimTime *waited_ps, guint *reasons)
{
    Bed bed;
    static const char *const sets[] = {"link.credits_gpu_flits=48",    "link.credits_switch_flits=48",
                                       "gpu.response_queue_packets=1", "gpu.ack_merge_max=1",
                                       "gpu.source_queue_packets=8",   NULL};
    bed_open(&bed, "teach-4gpu", sets, &(SimSpec){.seed = seed, .engine = SIM_ENGINE_REFERENCE});
    const TrafficSpec spec = {.packets = G_MAXUINT64, .load_per_mille = MAX(load_per_mille, 1), .bytes = 128};
    Traffic *traffic = traffic_new(bed.fabric, &spec);
    const WalkBackground background = {2 * PS_PER_US, stop_traffic, traffic};
    gboolean right = FALSE;
    if (load_per_mille == 0)
        traffic_stop(traffic);
    GArray *steps = walk_run(bed.fabric, WALK_LOAD, 4, &background, &right, NULL);
    assert_true(right);
    *waited_ps = 0;
    for (guint i = 0; i < steps->len; i++) {
        const WalkStep *step = &g_array_index(steps, WalkStep, i);
        *waited_ps += step->wait_ps;
        reasons[step->reason]++;
        assert_true((step->wait_ps != 0) == (step->reason != WALK_WAIT_NONE));
    }
    SimTime took_ps = g_array_index(steps, WalkStep, steps->len - 1).at_ps;
    walk_free(steps);
    traffic_free(traffic);
    bed_close(&bed);
    return took_ps;
}

/* Proves that every nanosecond that traffic costs a load is in a wait with a reason: what it takes is what it takes
 * alone and the sum of its waits, and over a few runs each reason that a load can have occurs. */
static void test_waits_sum(void **state)
{
    (void)state;
    guint reasons[WALK_REASONS] = {0}, none[WALK_REASONS] = {0};
    SimTime waited_ps = 0, idle_ps = walk_loaded(0, 1, &waited_ps, none);
    assert_true(waited_ps == 0);
    for (guint64 seed = 1; seed <= 12; seed++) {
        SimTime took_ps = walk_loaded(seed % 2 ? 800 : 1000, seed, &waited_ps, reasons);
        assert_true(took_ps >= idle_ps);
        SimTime extra_ps = took_ps - idle_ps, apart_ps = MAX(extra_ps, waited_ps) - MIN(extra_ps, waited_ps);
        if (apart_ps > 200) /* rounding, at each of the waits */
            fail_msg("seed %" G_GUINT64_FORMAT ": %" G_GUINT64_FORMAT " ps more, waits of %" G_GUINT64_FORMAT " ps",
                     seed, extra_ps, waited_ps);
    }
    assert_true(reasons[WALK_WAIT_PACKETS] && reasons[WALK_WAIT_CREDITS] && reasons[WALK_WAIT_ANSWERS] &&
                reasons[WALK_WAIT_ROOM]);
    assert_int_equal(reasons[WALK_WAIT_MERGE], 0); /* stores alone have it */
}

/* Proves that impossible walks are refused with a reason: too many GPUs, one GPU, no multicast. */
static void test_refused(void **state)
{
    (void)state;
    Bed bed;
    gboolean right;
    GError *error = NULL;
    bed_open(&bed, "teach-4gpu", NULL, &(SimSpec){.seed = 1, .engine = SIM_ENGINE_REFERENCE});
    assert_null(walk_run(bed.fabric, WALK_MC_STORE, 5, NULL, &right, &error));
    assert_non_null(strstr(error->message, "5 GPUs: the system has 4"));
    g_clear_error(&error);
    assert_null(walk_run(bed.fabric, WALK_MC_STORE, 1, NULL, &right, &error));
    g_clear_error(&error);
    bed_close(&bed);
    bed_open(&bed, "dgx-a100", NULL, &(SimSpec){.seed = 1, .engine = SIM_ENGINE_REFERENCE});
    assert_null(walk_run(bed.fabric, WALK_MC_STORE, 8, NULL, &right, &error));
    assert_non_null(strstr(error->message, "no multicast"));
    g_clear_error(&error);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_op),  cmocka_unit_test(test_replicas), cmocka_unit_test(test_observes_only),
        cmocka_unit_test(test_waits_sum), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
