/* model/gpu/hbm: HBM as a bandwidth server, and how late its reads are. */
#include "tests/test.h"

#include "model/gpu/hbm.h"

/* Proves that an idle HBM takes the time of the bytes alone, and that requests behind each other queue exactly. */
static void test_queue(void **state)
{
    (void)state;
    Hbm hbm = {0};
    hbm_set(&hbm, 1000000, 100, 0); /* 1 TB/s: 128 B take 128 ps */
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 1000), 1128);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 1000), 1256);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 256, 1200), 1512);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 5000), 5128);
}

/* Proves that fractions of a picosecond add up: three transfers of 1/3 ps more than a whole number take one more. */
static void test_fractions(void **state)
{
    (void)state;
    Hbm hbm = {0};
    hbm_set(&hbm, 3000000, 100, 0); /* 3 TB/s: 1 B takes 1/3 ps */
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 1, 0), 1);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 1, 0), 1);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 1, 0), 1);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 1, 0), 2);
}

/* Proves that a slower HBM takes its share more for what comes from then on, and that what is read after a fall of the
 * latency is ready behind what was read before it, at the distance of its bytes, until the fall is made up for. */
static void test_slow(void **state)
{
    (void)state;
    Hbm hbm = {0};
    hbm_set(&hbm, 1000000, 25, 4000); /* 128 B take 512 ps, and 4 ns more */
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 1000), 1512);
    assert_int_equal(hbm_ready_ps(&hbm), 5512);
    hbm_set(&hbm, 1000000, 100, 1000);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 2000), 2128); /* not at 3128 */
    assert_int_equal(hbm_ready_ps(&hbm), 5640);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 4600), 4728);
    assert_int_equal(hbm_ready_ps(&hbm), 5768); /* not at 5728 */
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 5000), 5128);
    assert_int_equal(hbm_ready_ps(&hbm), 6128);
}

/* Proves that a read that meets a refresh waits until its end: of a refresh as long as its period, the period's end; of
 * one of 200 in each 1000 ps, 200 of 1000 instants, from 200 ps down to 1, in the mean 0.2 * 100.5; the other lines'
 * are at other times. */
static void test_refresh(void **state)
{
    (void)state;
    Hbm hbm = {.late = {.refresh_ps = 1000, .refresh_period_ps = 1000}};
    hbm_set(&hbm, 1000000, 100, 0);
    assert_int_equal(hbm_late_ps(&hbm, 7, 1250), 750);
    assert_int_equal(hbm_late_ps(&hbm, 7, 2000), 1000);
    assert_int_equal(hbm_late_ps(&hbm, 8, 2999), 1);
    hbm.late.refresh_ps = 200;
    guint differ = 0;
    for (guint64 period = 0; period < 8; period++) {
        SimTime sum_ps = 0;
        guint late = 0;
        for (SimTime t = period * 1000; t < (period + 1) * 1000; t++) {
            late += hbm_late_ps(&hbm, 7, t) > 0;
            sum_ps += hbm_late_ps(&hbm, 7, t);
            differ += hbm_late_ps(&hbm, 7, t) != hbm_late_ps(&hbm, 8, t);
        }
        assert_int_equal(late, 200);
        assert_int_equal(sum_ps, 20100);
    }
    assert_true(differ > 8 * 200);
}

/* Turns are of that length: at so many instants a read waits for each time below it once. */
static void turn_is(const Hbm *hbm, SimTime now_ps, SimTime turn_ps)
{
    SimTime sum_ps = 0;
    for (SimTime t = 0; t < turn_ps; t++) {
        assert_true(hbm_late_ps(hbm, 5, now_ps + t) < turn_ps);
        sum_ps += hbm_late_ps(hbm, 5, now_ps + t);
    }
    assert_int_equal(sum_ps, turn_ps * (turn_ps - MIN(turn_ps, 1)) / 2);
}

/* Proves how long a channel's turns are: of reads and writes that take a quarter of the last window of 2^20 ps each,
 * three quarters of which count as taken, 1000 * 1/4 / (1 - 3/8) = 400 ps; half a window later 1000 * 1/8 / (1 - 3/16)
 * = 153, whole windows later and of reads or writes alone 0; where both take all of it 1000 * 1/2 / (1/4). A read waits
 * for a part of one, evenly. */
static void test_turns(void **state)
{
    (void)state;
    const SimTime window_ps = 1u << 20;
    Hbm hbm = {.late = {.refresh_period_ps = 1000, .turn_ps = 1000}};
    hbm_set(&hbm, 1000000, 100, 0); /* 1 B takes 1 ps */
    turn_is(&hbm, 0, 0);
    hbm_serve(&hbm, HBM_READ, window_ps / 4, 1000);
    turn_is(&hbm, 1000, 0);
    hbm_serve(&hbm, HBM_WRITE, window_ps / 4, 1000);
    turn_is(&hbm, 1000, 400);
    hbm_serve(&hbm, HBM_READ, 0, window_ps + window_ps / 2);
    turn_is(&hbm, window_ps + window_ps / 2, 153);
    hbm_serve(&hbm, HBM_WRITE, window_ps / 4, 3 * window_ps);
    turn_is(&hbm, 3 * window_ps, 0);
    assert_int_equal(hbm_turn_ps(&hbm.late, 50, 50, 100), 2000);
    assert_int_equal(hbm_turn_ps(&hbm.late, 500, 500, 100), 4000); /* more than it has room for */
}

/* Means of 64 parts. */
static SimTime latest_ps(const HbmLateness *late, SimTime turn_ps, guint32 lines)
{
    SimTime sum_ps = 0;
    for (guint32 i = 0; i < 64; i++)
        sum_ps += hbm_latest_ps(late, turn_ps, lines, i, 64);
    return sum_ps / 64;
}

/* Proves how late the latest of several lines is: of n within a turn of 100 ns in the mean n / (n + 1) of it, and of
 * two the half of all cases up to its square root; if a quarter of them meet a refresh of 100 ns, in the mean 12.5 and,
 * of two, 100 - 400 * (1 - 27/64) / 3 = 22.9; with both, of one line, the sum of both. */
static void test_latest(void **state)
{
    (void)state;
    const HbmLateness refresh = {.refresh_ps = 100000, .refresh_period_ps = 400000}, none = {.refresh_period_ps = 1};
    assert_in_range(latest_ps(&none, 100000, 1), 49800, 50200);
    assert_in_range(latest_ps(&none, 100000, 3), 74800, 75200);
    assert_in_range(hbm_latest_ps(&none, 100000, 2, 0, 1), 70600, 70800);
    assert_in_range(latest_ps(&refresh, 0, 1), 12300, 12700);
    assert_in_range(latest_ps(&refresh, 0, 2), 22700, 23100);
    assert_in_range(latest_ps(&refresh, 100000, 1), 62300, 62700);
    assert_in_range(latest_ps(&none, 0, 3), 0, 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queue), cmocka_unit_test(test_fractions),
                                       cmocka_unit_test(test_slow),  cmocka_unit_test(test_refresh),
                                       cmocka_unit_test(test_turns), cmocka_unit_test(test_latest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
