/* Fences of the system on a host that answers later than the one on which sm.fence_ps was measured. */
#include "tests/model/model_test.h"

#include "bench/world.h"

#define LATER_PS 200000u /* the second CTA's fence begins while the first one's round lasts */

typedef struct {
    guint64 *fence_ps; /* by CTA: what its fence takes */
} FenceArgs;

static void fence_program(FoCta *cta, const void *args)
{
    const FenceArgs *a = args;
    fo_only(cta, 0, 1);
    if (fo_cta(cta) == 1)
        fo_sleep_ps(cta, LATER_PS);
    fo_wait(cta);
    const uint64_t begin_ps = fo_time_ps(cta);
    fo_fence(cta);
    fo_wait(cta);
    a->fence_ps[fo_cta(cta)] = fo_time_ps(cta) - begin_ps;
    fo_all(cta);
}

static void run_fences(guint64 host_fence_ps, guint64 fence_ps[2])
{
    Bed bed;
    GError *error = NULL;
    const BenchRequest request = {.test = "stores"};
    bed_open(&bed, "dgx-h100", NULL, NULL);
    FabricSpec spec = bed.fabric->spec;
    spec.system.host_fence_ps = host_fence_ps;
    const BenchSetup setup = {.spec = &spec, .seed = 1};
    BenchWorld *world = bench_world_new(&setup, bench_find(request.test), &request, 4096, FALSE, &error);
    assert_non_null(world);
    const FenceArgs args = {fence_ps};
    bench_launch(world, 0, "", fence_program, &args, sizeof args, 2, 32, 4096);
    assert_true(bench_go(world, &error));
    bench_world_free(world);
    bed_close(&bed);
}

/* Proves that two fences which do not meet take 581 ns each on the host that was measured: the second one's flush
 * gets to the GPU's unit 300 ns after its start, when the first round of 65 ns is over. */
static void test_fast_host(void **state)
{
    (void)state;
    guint64 fence_ps[2];
    run_fences(0, fence_ps);
    assert_int_equal(fence_ps[0], 581000);
    assert_int_equal(fence_ps[1], 581000);
}

/* Proves that a host which answers 959 ns later makes a fence and its round as much longer, so that a fence which
 * comes 200 ns after another one waits for the next round: that one begins 300 + 65 + 959 ns after the first
 * fence, and a fence ends 281 + 959 ns after its round's begin. */
static void test_slow_host(void **state)
{
    (void)state;
    guint64 fence_ps[2];
    run_fences(959000, fence_ps);
    assert_int_equal(fence_ps[0], 581000 + 959000);
    assert_int_equal(fence_ps[1], 300000 + 65000 + 959000 + 281000 + 959000 - LATER_PS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fast_host), cmocka_unit_test(test_slow_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
