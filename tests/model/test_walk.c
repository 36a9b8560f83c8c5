#include "tests/model/model_test.h"

#include "model/walk/walk.h"

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
            GArray *steps = walk_run(bed.fabric, (WalkOp)op, (guint32)bed.spec.system.gpus, &right, &error);
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
            assert_int_equal(g_array_index(steps, WalkStep, 0).stage, PROBE_COALESCE);
            assert_int_equal(g_array_index(steps, WalkStep, steps->len - 1).stage, PROBE_ANSWER);
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
        GArray *steps = walk_run(bed.fabric, WALK_MC_LOAD_REDUCE, n, &right, NULL);
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
    GArray *steps = walk_run(bed.fabric, WALK_LOAD, 4, &right, NULL);
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

/* Proves that impossible walks are refused with a reason: too many GPUs, one GPU, no multicast. */
static void test_refused(void **state)
{
    (void)state;
    Bed bed;
    gboolean right;
    GError *error = NULL;
    bed_open(&bed, "teach-4gpu", NULL, &(SimSpec){.seed = 1, .engine = SIM_ENGINE_REFERENCE});
    assert_null(walk_run(bed.fabric, WALK_MC_STORE, 5, &right, &error));
    assert_non_null(strstr(error->message, "5 GPUs: the system has 4"));
    g_clear_error(&error);
    assert_null(walk_run(bed.fabric, WALK_MC_STORE, 1, &right, &error));
    g_clear_error(&error);
    bed_close(&bed);
    bed_open(&bed, "dgx-a100", NULL, &(SimSpec){.seed = 1, .engine = SIM_ENGINE_REFERENCE});
    assert_null(walk_run(bed.fabric, WALK_MC_STORE, 8, &right, &error));
    assert_non_null(strstr(error->message, "no multicast"));
    g_clear_error(&error);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_op),
        cmocka_unit_test(test_replicas),
        cmocka_unit_test(test_observes_only),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
