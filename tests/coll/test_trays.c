/* coll: what serving frameworks run on several trays of a rack, and all-to-all of a mixture of experts. */
#include "tests/coll/coll_machine.h"

#define RACK "gb300-nvl72"

/* Proves that kernels for the peers of one host stop at a tray of four: TensorRT-LLM takes one-shot by multicast while
 * all ranks' data are 1 MiB (128 KiB of 8 ranks), two-shot above, vLLM takes PyTorch's kernel in the switch where one
 * host would take its one-shot, SGLang NCCL's rings. */
static void test_choice(void **state)
{
    (void)state;
    static const struct {
        guint32 gpus;
        const char *program;
        guint64 bytes;
        CollAlgo algo;
        CollKernel kernel;
    } rows[] = {
        {4, "trtllm", 64 << 10, COLL_LAMPORT, COLL_KERNEL_TRTLLM},
        {8, "trtllm", 128 << 10, COLL_LAMPORT, COLL_KERNEL_MNNVL_ONESHOT},
        {8, "trtllm", 256 << 10, COLL_LAMPORT, COLL_KERNEL_MNNVL_TWOSHOT},
        {16, "trtllm", 128 << 10, COLL_LAMPORT, COLL_KERNEL_MNNVL_TWOSHOT},
        {8, "trtllm", 64 << 20, COLL_NVLS_BUFFERED, COLL_KERNEL_PLAIN},
        {4, "vllm", 64 << 10, COLL_ONESHOT, COLL_KERNEL_VLLM},
        {8, "vllm", 64 << 10, COLL_NVLS, COLL_KERNEL_TORCH},
        {4, "sglang", 64 << 10, COLL_LAMPORT, COLL_KERNEL_SGLANG},
        {8, "sglang", 64 << 10, COLL_RING, COLL_KERNEL_PLAIN},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Machine rack = machine_open(RACK, rows[i].gpus, TRUE);
        CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
        CollAlgo algo;
        CollProto proto;
        spec.type = NUMERIC_BF16;
        spec.bytes = rows[i].bytes;
        assert_true(coll_library_parse(rows[i].program, &spec.library));
        coll_library_apply(rack.group, &spec);
        coll_choice(rack.group, &spec, &algo, &proto);
        if (algo != rows[i].algo || spec.kernel != rows[i].kernel)
            fail_msg("row %u: %s, kernel %d", i, coll_algo_name(algo), (int)spec.kernel);
        machine_close(&rack);
    }
}

/* Proves that both kernels by multicast sum right, call after call, that one-shot sends a line once where Lamport's
 * sends it to every rank, and that two-shot is refused where a slice is no whole number of units of a warp. */
static void test_sums(void **state)
{
    (void)state;
    Machine rack = machine_open(RACK, 8, TRUE);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    CollResult result;
    spec.algo = COLL_LAMPORT;
    spec.type = NUMERIC_BF16;
    spec.bytes = 64 << 10;
    spec.threads = 128;
    spec.ctas = 4;
    spec.iterations = 3;
    for (guint kernel = COLL_KERNEL_MNNVL_ONESHOT; kernel <= COLL_KERNEL_MNNVL_TWOSHOT; kernel++) {
        spec.kernel = (CollKernel)kernel;
        assert_true(coll_run(rack.group, &spec, &result, NULL));
        if (result.check != COLL_VERIFIED)
            fail_msg("kernel %u: %s", kernel, result.wrong);
    }
    g_autoptr(GError) error = NULL;
    spec.bytes = (64 << 10) + 64;
    assert_false(coll_check(rack.group, &spec, &error));
    assert_non_null(strstr(error->message, "multiples of 4096 bytes"));
    machine_close(&rack);
}

/* Proves that all-to-all by loads brings every rank's part to its place, plain and by the kernels for experts, where
 * sizes are no whole tokens, and that dispatch takes its places one behind the other: eight of them longer than two. */
static void test_all_to_all(void **state)
{
    (void)state;
    CollResult result;
    guint64 dispatch_ps[2];
    for (guint pass = 0; pass < 2; pass++) {
        Machine rack = machine_open(RACK, pass ? 8 : 2, TRUE);
        CollSpec spec = coll_spec_default(COLL_ALL_TO_ALL);
        spec.bytes = 2 * 8 * 20000;
        spec.algo = COLL_PULL;
        assert_true(coll_run(rack.group, &spec, &result, NULL));
        assert_int_equal(result.check, COLL_VERIFIED);
        spec.kernel = COLL_KERNEL_MOE;
        assert_true(coll_run(rack.group, &spec, &result, NULL));
        assert_int_equal(result.check, COLL_VERIFIED);
        spec.algo = COLL_DIRECT;
        spec.token_bytes = 4032;
        assert_true(coll_run(rack.group, &spec, &result, NULL));
        assert_int_equal(result.check, COLL_VERIFIED);
        dispatch_ps[pass] = result.kernel_ps;
        machine_close(&rack);
    }
    assert_true(dispatch_ps[1] > dispatch_ps[0] + 6 * 250 * PS_PER_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_sums),
                                       cmocka_unit_test(test_all_to_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
