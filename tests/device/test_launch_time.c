/* device/launch_time.c: every row of the table [launch] and the rows of [sm] that a launch is made of, each in its
 * place. */
#include "tests/model/model_test.h"

/* All rows different, so that one in another's place is seen. */
static const char *const sets[] = {
    "launch.stream_nccl_ps=1",
    "launch.kernel_kernel_ps=20",
    "launch.graph_kernel_ps=300",
    "launch.eager_kernel_ps=4000",
    "launch.graph_nccl_sym_ps=50000",
    "launch.eager_nccl_sym_rank_ps=600000",
    "launch.graph_nccl_ps=7000000",
    "launch.eager_nccl_ps=80000000",
    "launch.thread_nccl_ps=900000000",
    "launch.thread_nccl_rank_ps=11",
    "launch.thread_p2p_ps=13000",
    "launch.eager_torch_ps=170000",
    "sm.launch_ps=1000",
    "sm.exit_ps=200",
    "sm.exit_drain_ps=30",
    "sm.queued_ps=40",
    "sm.graph_break_ps=100",
    "sm.graph_event_ps=3",
    "sm.dependent_ps=7",
    "sm.next_ps=500",
    "sm.cta_ps=60",
    "sm.cta_warp_ps=5",
    "sm.code_ps=800",
    NULL,
};

static const struct {
    LaunchTiming timing;
    LaunchMeasured right;
} measured[] = {
    {{"kernel", "kernel", 8, FALSE, FALSE}, {20, 0, 0}},
    {{"kernel", "graph", 8, FALSE, FALSE}, {300, 0, 0}},
    {{"trtllm", "graph", 8, FALSE, FALSE}, {300, 0, 0}},
    {{"vllm", "graph", 8, FALSE, FALSE}, {300, 0, 0}},
    {{"sglang", "graph", 8, FALSE, FALSE}, {300, 0, 0}},
    {{"kernel", "eager", 8, FALSE, FALSE}, {4000, 0, 0}},
    {{"nccl-sym", "graph", 8, FALSE, FALSE}, {50000, 0, 0}},
    {{"nccl-sym", "eager", 8, FALSE, FALSE}, {50000, 8 * 600000, 0}}, /* kernels run beside the launches */
    {{"nccl-sym", "eager", 3, FALSE, FALSE}, {50000, 3 * 600000, 0}},
    {{"nccl-sym", "eager", 8, TRUE, TRUE}, {50000, 8 * 600000, 0}},
    {{"nccl", "graph", 8, TRUE, TRUE}, {7000000, 0, 0}},
    {{"nccl-registered", "graph", 8, FALSE, FALSE}, {7000000, 0, 0}},
    {{"nccl", "eager", 8, FALSE, FALSE}, {80000000, 0, 0}},
    {{"nccl-registered", "eager", 8, FALSE, FALSE}, {80000000, 0, 0}},
    {{"nccl", "eager", 8, FALSE, TRUE}, {900000000 + 8 * 11, 0, 13000}},
    {{"nccl-registered", "eager", 2, FALSE, TRUE}, {900000000 + 2 * 11, 0, 13000}},
    {{"nccl", "eager", 8, TRUE, FALSE}, {170000, 0, 0}},
    {{"nccl", "eager", 8, TRUE, TRUE}, {170000, 0, 0}}, /* PyTorch's time has its threads in it */
};

/* Proves what each way of timing adds to a kernel, and below what it does not go. */
static void test_measured(void **state)
{
    (void)state;
    Bed bed;
    bed_spec(&bed, "teach-4gpu", sets);
    for (guint i = 0; i < G_N_ELEMENTS(measured); i++) {
        const LaunchTiming *timing = &measured[i].timing;
        const LaunchMeasured *right = &measured[i].right;
        LaunchMeasured got;
        assert_true(launch_time_measured(&bed.spec, timing, &got));
        if (got.add_ps != right->add_ps || got.least_ps != right->least_ps || got.p2p_least_ps != right->p2p_least_ps)
            fail_msg("%s, %s, %u GPUs: adds %" G_GUINT64_FORMAT ", at least %" G_GUINT64_FORMAT
                     ", p2p %" G_GUINT64_FORMAT,
                     timing->program, timing->timing, timing->gpus, got.add_ps, got.least_ps, got.p2p_least_ps);
    }
    assert_int_equal(launch_spec(&bed.spec)->stream_nccl_ps, 1);
    param_set_free(bed.set);
}

/* Proves that a program or a way that nobody measured has no time, instead of another's. */
static void test_unknown(void **state)
{
    (void)state;
    static const LaunchTiming unknown[] = {{"kernel", "stream", 8, FALSE, FALSE},
                                           {"vllm", "eager", 8, FALSE, FALSE},
                                           {"nccl", "kernel", 8, FALSE, FALSE},
                                           {"", "", 8, FALSE, FALSE},
                                           {"ncc", "graph", 8, FALSE, FALSE}};
    Bed bed;
    LaunchMeasured got;
    bed_spec(&bed, "teach-4gpu", sets);
    for (guint i = 0; i < G_N_ELEMENTS(unknown); i++)
        assert_false(launch_time_measured(&bed.spec, &unknown[i], &got));
    param_set_free(bed.set);
}

/* Proves the parts of a launch on the device. */
static void test_on_device(void **state)
{
    (void)state;
    Bed bed;
    bed_spec(&bed, "teach-4gpu", sets);
    const FabricSpec *spec = &bed.spec;
    assert_int_equal(launch_time_alone_ps(spec), 1000);
    assert_int_equal(launch_time_first_ps(spec, 5000, 0, 5000), 1000);
    assert_int_equal(launch_time_first_ps(spec, 5000, 5900, 5600), 400); /* 600 of its time have passed */
    assert_int_equal(launch_time_first_ps(spec, 5000, 6300, 5600), 700); /* what it waits for is ready later */
    assert_int_equal(launch_time_first_ps(spec, 5000, 5100, 6001), 0);   /* all of it has passed */
    assert_int_equal(launch_time_end_ps(spec, 10000, 10100), 10200);     /* stores are there before the end is */
    assert_int_equal(launch_time_end_ps(spec, 10000, 10171), 10201);     /* they are what takes longest */
    assert_int_equal(launch_time_behind_ps(spec, FALSE, 0, 10000), 10040);
    assert_int_equal(launch_time_behind_ps(spec, TRUE, 0, 10000), 10007);
    assert_int_equal(launch_time_behind_ps(spec, FALSE, 2, 10000), 10040 + 100 + 2 * 3);
    assert_int_equal(launch_time_next_ps(spec, 10000), 10500);
    assert_int_equal(launch_time_cta_ps(spec, 4), 60 + 4 * 5);
    assert_int_equal(launch_time_code_ps(spec, 3), 300); /* 384 B, of which 1 KiB takes 800 */
    param_set_free(bed.set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measured), cmocka_unit_test(test_unknown),
                                       cmocka_unit_test(test_on_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
