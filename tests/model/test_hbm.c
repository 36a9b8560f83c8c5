#include "tests/model/model_test.h"

#include "model/gpu/hbm.h"

#define EPOCH_PS ((SimTime)1 << HBM_EPOCH_SHIFT)

/* Proves that requests in order of time queue behind each other at the rate, and that an idle HBM serves at once. */
static void test_order(void **state)
{
    (void)state;
    Hbm hbm;
    hbm_init(&hbm, 1000000, 0); /* 1 TB/s: 128 B take 128 ps */
    assert_int_equal(hbm_serve(&hbm, 128, 1000), 1128);
    assert_int_equal(hbm_serve(&hbm, 128, 1000), 1256);
    assert_int_equal(hbm_serve(&hbm, 128, 5000), 5128);
}

/* Proves that requests which are told of out of order take as long whatever the order, and that all feel the queue
 * of others three epochs later. */
static void test_about(void **state)
{
    (void)state;
    Hbm a, b;
    hbm_init(&a, 1000000, 0);
    hbm_init(&b, 1000000, 0);
    SimTime t = 10 * EPOCH_PS;
    /* a: first the later one; b: the other way round; both with as much as takes four epochs */
    assert_int_equal(hbm_serve_about(&a, 128, t + 900), t + 1028);
    assert_int_equal(hbm_serve_about(&a, 4 << HBM_EPOCH_SHIFT, t + 100), t + 100 + 4 * EPOCH_PS);
    assert_int_equal(hbm_serve_about(&b, 4 << HBM_EPOCH_SHIFT, t + 100), t + 100 + 4 * EPOCH_PS);
    assert_int_equal(hbm_serve_about(&b, 128, t + 900), t + 1028);
    SimTime later = t + 3 * EPOCH_PS;
    SimTime a_ps = hbm_serve_about(&a, 128, later), b_ps = hbm_serve_about(&b, 128, later);
    assert_int_equal(a_ps, b_ps);
    assert_int_equal(a_ps, later + 2 * EPOCH_PS + 128 + 128); /* what was left two epochs after t */
    assert_int_equal(hbm_serve_about(&a, 128, later - EPOCH_PS), later - EPOCH_PS + 128);
}

/* Proves that the GPU's own accesses wait for what replicas take, from the epoch after the next on. */
static void test_share(void **state)
{
    (void)state;
    Hbm hbm;
    hbm_init(&hbm, 1000000, 0);
    SimTime t = 100 * EPOCH_PS;
    hbm_serve_about(&hbm, 3 << HBM_EPOCH_SHIFT, t);
    assert_int_equal(hbm_serve(&hbm, 128, t + EPOCH_PS), t + EPOCH_PS + 128);
    assert_int_equal(hbm_serve(&hbm, 128, t + 2 * EPOCH_PS), t + 4 * EPOCH_PS + 256);
}

/* Proves that a long idle time leaves no queue, and that nothing of an epoch long ago comes back. */
static void test_idle(void **state)
{
    (void)state;
    Hbm hbm;
    hbm_init(&hbm, 1000000, 0);
    hbm_serve_about(&hbm, 3 << HBM_EPOCH_SHIFT, 0);
    for (SimTime epoch = 1000; epoch < 1000 + 2 * HBM_EPOCHS; epoch++)
        assert_int_equal(hbm_serve_about(&hbm, 64, epoch * EPOCH_PS), epoch * EPOCH_PS + 64);
    assert_int_equal(hbm_serve(&hbm, 64, 5000 * EPOCH_PS), 5000 * EPOCH_PS + 64);
}

/* Proves that those told of out of order may be as far apart as hbm_init() was told, an epoch being longer then. */
static void test_apart(void **state)
{
    (void)state;
    Hbm a, b;
    const SimTime apart_ps = 3 * EPOCH_PS, t = 100 * EPOCH_PS;
    hbm_init(&a, 1000000, apart_ps);
    hbm_init(&b, 1000000, apart_ps);
    hbm_serve_about(&a, 16 << HBM_EPOCH_SHIFT, t);
    hbm_serve_about(&a, 128, t + apart_ps);
    hbm_serve_about(&b, 128, t + apart_ps);
    hbm_serve_about(&b, 16 << HBM_EPOCH_SHIFT, t);
    for (SimTime later = t + apart_ps; later < t + 40 * EPOCH_PS; later += apart_ps)
        assert_int_equal(hbm_serve_about(&a, 128, later), hbm_serve_about(&b, 128, later));
    assert_int_equal(hbm_serve(&a, 128, t + 16 * EPOCH_PS), hbm_serve(&b, 128, t + 16 * EPOCH_PS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_about),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
