/* model/gpu/hbm: HBM as a bandwidth server. */
#include "tests/test.h"

#include "model/gpu/hbm.h"

/* Proves that an idle HBM takes the time of the bytes alone, and that requests behind each other queue exactly. */
static void test_queue(void **state)
{
    (void)state;
    Hbm hbm;
    hbm_init(&hbm, 1000000); /* 1 TB/s: 128 B take 128 ps */
    assert_int_equal(hbm_serve(&hbm, 128, 1000), 1128);
    assert_int_equal(hbm_serve(&hbm, 128, 1000), 1256);
    assert_int_equal(hbm_serve(&hbm, 256, 1200), 1512);
    assert_int_equal(hbm_serve(&hbm, 128, 5000), 5128);
}

/* Proves that fractions of a picosecond add up: three transfers of 1/3 ps more than a whole number take one more. */
static void test_fractions(void **state)
{
    (void)state;
    Hbm hbm;
    hbm_init(&hbm, 3000000); /* 3 TB/s: 1 B takes 1/3 ps */
    assert_int_equal(hbm_serve(&hbm, 1, 0), 1);
    assert_int_equal(hbm_serve(&hbm, 1, 0), 1);
    assert_int_equal(hbm_serve(&hbm, 1, 0), 1);
    assert_int_equal(hbm_serve(&hbm, 1, 0), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queue), cmocka_unit_test(test_fractions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
