/* model/gpu/hbm: HBM as a bandwidth server. */
#include "tests/test.h"

#include "model/gpu/hbm.h"

/* Proves that an idle HBM takes the time of the bytes alone, and that requests behind each other queue exactly. */
static void test_queue(void **state)
{
    (void)state;
    Hbm hbm = {0};
    hbm_set(&hbm, 1000000, 100, 0); /* 1 TB/s: 128 B take 128 ps */
    assert_int_equal(hbm_serve(&hbm, 128, 1000), 1128);
    assert_int_equal(hbm_serve(&hbm, 128, 1000), 1256);
    assert_int_equal(hbm_serve(&hbm, 256, 1200), 1512);
    assert_int_equal(hbm_serve(&hbm, 128, 5000), 5128);
}

/* Proves that fractions of a picosecond add up: three transfers of 1/3 ps more than a whole number take one more. */
static void test_fractions(void **state)
{
    (void)state;
    Hbm hbm = {0};
    hbm_set(&hbm, 3000000, 100, 0); /* 3 TB/s: 1 B takes 1/3 ps */
    assert_int_equal(hbm_serve(&hbm, 1, 0), 1);
    assert_int_equal(hbm_serve(&hbm, 1, 0), 1);
    assert_int_equal(hbm_serve(&hbm, 1, 0), 1);
    assert_int_equal(hbm_serve(&hbm, 1, 0), 2);
}

/* Proves that a slower HBM takes its share more for what comes from then on, and that what is read after a fall of the
 * latency is ready behind what was read before it, at the distance of its bytes, until the fall is made up for. */
static void test_slow(void **state)
{
    (void)state;
    Hbm hbm = {0};
    hbm_set(&hbm, 1000000, 25, 4000); /* 128 B take 512 ps, and 4 ns more */
    assert_int_equal(hbm_serve(&hbm, 128, 1000), 1512);
    assert_int_equal(hbm_ready_ps(&hbm), 5512);
    hbm_set(&hbm, 1000000, 100, 1000);
    assert_int_equal(hbm_serve(&hbm, 128, 2000), 2128); /* not at 3128 */
    assert_int_equal(hbm_ready_ps(&hbm), 5640);
    assert_int_equal(hbm_serve(&hbm, 128, 4600), 4728);
    assert_int_equal(hbm_ready_ps(&hbm), 5768); /* not at 5728 */
    assert_int_equal(hbm_serve(&hbm, 128, 5000), 5128);
    assert_int_equal(hbm_ready_ps(&hbm), 6128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queue), cmocka_unit_test(test_fractions),
                                       cmocka_unit_test(test_slow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
