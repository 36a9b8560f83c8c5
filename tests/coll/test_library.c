/* coll: what `auto` stands for is what the program would run, and its time is near what others measured of it. */
#include <math.h>

#include "tests/coll/coll_machine.h"

/* Proves the choice, row by row of published tables and rules: NCCL without registered buffers copies through its own,
 * with them NVLS works on the user's; frameworks take their kernels up to their limits and NCCL beyond them. Sources:
 * published/FACTS.md section 4 (rings with LL up to 1 MiB and NVLS from 2 MiB on 8 GPUs, NVLS from 5 GPUs in 2.27
 * and from 6 since 2.28, 4 stay on rings), and the tables that coll/library.c names. */
static void test_choice(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        guint32 gpus;
        CollOp op;
        guint64 bytes;
        const char *program;
        CollAlgo algo;
        CollProto proto; /* AUTO: any */
        const char *why;
    } rows[] = {
        {"dgx-h200", 8, COLL_ALL_REDUCE, 1 << 20, "nccl", COLL_RING, COLL_LL, "cost model"},
        {"dgx-h200", 8, COLL_ALL_REDUCE, 2 << 20, "nccl", COLL_NVLS_BUFFERED, COLL_SIMPLE, "not registered"},
        {"dgx-h200", 8, COLL_ALL_REDUCE, 2 << 20, "nccl-registered", COLL_NVLS, COLL_SIMPLE, "which are registered"},
        {"dgx-h200", 6, COLL_ALL_REDUCE, 256 << 20, "nccl", COLL_NVLS_BUFFERED, COLL_SIMPLE, "not registered"},
        {"dgx-h200", 4, COLL_ALL_REDUCE, 256 << 20, "nccl", COLL_RING, COLL_SIMPLE, "cost model"},
        {"dgx-h200", 8, COLL_ALL_TO_ALL, 64 << 20, "nccl", COLL_P2P, COLL_SIMPLE, "sends and receives"},
        {"gb200-nvl72", 72, COLL_ALL_REDUCE, 512 << 20, "nccl", COLL_NVLS_BUFFERED, COLL_SIMPLE, "not registered"},
        {"gb200-nvl72", 72, COLL_ALL_GATHER, 512 << 20, "nccl", COLL_RING, COLL_PROTO_AUTO, "cost model"},
        {"gb200-nvl72", 72, COLL_ALL_GATHER, 512 << 20, "nccl-registered", COLL_RING, COLL_PROTO_AUTO, "cost model"},
        {"gb200-nvl72", 32, COLL_ALL_GATHER, 16 << 20, "nccl", COLL_NVLS_BUFFERED, COLL_SIMPLE, "not registered"},
        {"dgx-a100", 8, COLL_ALL_REDUCE, 64 << 20, "nccl", COLL_RING, COLL_SIMPLE, "cost model"},
        {"dgx-h200", 8, COLL_ALL_REDUCE, 4 << 10, "nccl-sym", COLL_SYM_LLMC, COLL_SIMPLE, "symmetric"},
        {"dgx-h100", 8, COLL_ALL_REDUCE, 64 << 10, "vllm", COLL_ONESHOT, COLL_SIMPLE, "vllm's own kernel"},
        {"dgx-h100", 8, COLL_ALL_REDUCE, 16 << 20, "vllm", COLL_NVLS, COLL_SIMPLE, "copies into its buffer"},
        {"dgx-h100", 8, COLL_ALL_REDUCE, 128 << 20, "vllm", COLL_NVLS_BUFFERED, COLL_SIMPLE, "has no kernel"},
        {"dgx-h100", 8, COLL_ALL_REDUCE, 2 << 20, "trtllm", COLL_TWOSHOT, COLL_SIMPLE, "trtllm's own kernel"},
        {"hgx-b200", 8, COLL_ALL_REDUCE, 2 << 20, "sglang", COLL_TWOSHOT, COLL_SIMPLE, "sglang's own kernel"},
        {"dgx-h100", 8, COLL_ALL_GATHER, 64 << 10, "vllm", COLL_RING, COLL_LL, "has no kernel"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Machine library = machine_open(rows[i].preset, rows[i].gpus, FALSE);
        CollSpec spec = coll_spec_default(rows[i].op);
        spec.type = NUMERIC_BF16;
        spec.bytes = rows[i].bytes / (rows[i].gpus * 16) * (rows[i].gpus * 16);
        assert_true(coll_library_parse(rows[i].program, &spec.library));
        g_autofree char *why = coll_library_why(library.group, &spec);
        CollAlgo algo;
        CollProto proto;
        coll_library_apply(library.group, &spec);
        coll_choice(library.group, &spec, &algo, &proto);
        if (algo != rows[i].algo || (rows[i].proto != COLL_PROTO_AUTO && proto != rows[i].proto) ||
            !strstr(why, rows[i].why))
            fail_msg("row %u, %s: %s %s, %s", i, rows[i].program, coll_algo_name(algo), coll_proto_name(proto), why);
        machine_close(&library);
    }
}

/* Proves that a framework whose CTAs go by tokens keeps its kernel where the user gives the threads of a CTA. */
static void test_threads(void **state)
{
    (void)state;
    Machine library = machine_open("dgx-h100", 8, FALSE);
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    spec.type = NUMERIC_BF16;
    spec.bytes = 4 << 20;
    spec.threads = 256;
    assert_true(coll_library_parse("trtllm", &spec.library));
    coll_library_apply(library.group, &spec);
    assert_int_equal(spec.algo, COLL_TWOSHOT);
    assert_int_equal(spec.threads, 256);
    assert_in_range(spec.ctas, 1, library.spec->sm.count);
    machine_close(&library);
}

/* Proves that coll_run takes that choice, and that it is the one that was measured: all-reduces of bf16 by NCCL inside
 * of vLLM, in CUDA graphs, without registration (vllm-project/vllm pull 42324). Registered, 16 MiB would take 84 us. */
static void test_measured(void **state)
{
    (void)state;
    static const struct {
        guint64 bytes;
        double us;
    } rows[] = {{2 << 20, 37}, {16 << 20, 121}};
    Machine library = machine_open("dgx-h100", 8, FALSE);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
        CollResult result, registered;
        spec.type = NUMERIC_BF16;
        spec.bytes = rows[i].bytes;
        spec.check = FALSE;
        assert_true(coll_run(library.group, &spec, &result, NULL));
        assert_int_equal(result.algo, COLL_NVLS_BUFFERED);
        double us = (double)(result.kernel_ps + launch_spec(library.spec)->graph_nccl_ps) / 1e6;
        if (fabs(us / rows[i].us - 1) > 0.12)
            fail_msg("%u MiB: %.1f us, measured %.0f", (guint)(rows[i].bytes >> 20), us, rows[i].us);
        spec.library = COLL_NCCL_REGISTERED;
        assert_true(coll_run(library.group, &spec, &registered, NULL));
        assert_int_equal(registered.algo, COLL_NVLS);
        assert_true(registered.time_ps < result.time_ps * 8 / 10);
    }
    machine_close(&library);
}

static CollSpec vllm_spec(guint64 bytes, gboolean check)
{
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    spec.type = NUMERIC_BF16;
    spec.bytes = bytes;
    spec.check = check;
    spec.library = COLL_VLLM;
    return spec;
}

/* Proves that the copies of a library that owns the buffers are in the time, and not in the kernel's. */
static void test_copies(void **state)
{
    (void)state;
    Machine library = machine_open("dgx-h100", 8, FALSE);
    CollSpec spec = vllm_spec(4 << 20, FALSE);
    CollResult with, without;
    CollSpec taken = spec;
    coll_library_apply(library.group, &taken);
    assert_int_equal(taken.copies, 2);
    guint64 copies_ps = coll_copies_ps(library.group, &taken);
    assert_true(copies_ps > 2 * PS_PER_US);
    assert_true(coll_run(library.group, &spec, &with, NULL));
    taken.copies = 0;
    assert_true(coll_run(library.group, &taken, &without, NULL));
    assert_int_equal(with.time_ps - with.kernel_ps, without.time_ps - without.kernel_ps + copies_ps);
    machine_close(&library);
}

/* Proves that PyTorch's kernel in the switch, which vLLM takes, sums right, one run after the other, and that each
 * of its two barriers takes longer than one reduction in the switch does: the answer of a compare-and-swap. */
static void test_swaps(void **state)
{
    (void)state;
    Machine library = machine_open("dgx-h100", 8, TRUE);
    CollSpec spec = vllm_spec(512 << 10, TRUE);
    CollResult swaps, plain;
    coll_library_apply(library.group, &spec);
    assert_int_equal(spec.kernel, COLL_KERNEL_TORCH);
    assert_true(coll_run(library.group, &spec, &swaps, NULL));
    assert_int_equal(swaps.check, COLL_VERIFIED);
    assert_true(coll_run(library.group, &spec, &swaps, NULL));
    assert_int_equal(swaps.check, COLL_VERIFIED);
    spec.kernel = COLL_KERNEL_PLAIN;
    assert_true(coll_run(library.group, &spec, &plain, NULL));
    if (swaps.kernel_ps < plain.kernel_ps + 2 * 50000 || swaps.kernel_ps > plain.kernel_ps + 2 * 1500000)
        fail_msg("%" G_GUINT64_FORMAT " against %" G_GUINT64_FORMAT " ps", swaps.kernel_ps, plain.kernel_ps);
    machine_close(&library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_measured),
                                       cmocka_unit_test(test_copies), cmocka_unit_test(test_swaps),
                                       cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
