/* model/gpu/hbm: HBM as a bandwidth server, and how late its reads are. */
#include "tests/test.h"

#include <math.h>

#include "model/gpu/hbm.h"

/* All of its rate is reached, and turns take nothing. */
static void whole_set(Hbm *hbm, guint64 rate_MBps, guint64 percent, SimTime latency_ps)
{
    const HbmRate rate = {.MBps = rate_MBps, .reached_permille = {1000, 1000}};
    hbm_set(hbm, &rate, percent, latency_ps);
}

/* Proves that an idle HBM takes the time of the bytes alone, and that requests behind each other queue exactly. */
static void test_queue(void **state)
{
    (void)state;
    Hbm hbm = {0};
    whole_set(&hbm, 1000000, 100, 0); /* 1 TB/s: 128 B take 128 ps */
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
    whole_set(&hbm, 3000000, 100, 0); /* 3 TB/s: 1 B takes 1/3 ps */
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
    whole_set(&hbm, 1000000, 25, 4000); /* 128 B take 512 ps, and 4 ns more */
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 1000), 1512);
    assert_int_equal(hbm_ready_ps(&hbm), 5512);
    whole_set(&hbm, 1000000, 100, 1000);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 2000), 2128); /* not at 3128 */
    assert_int_equal(hbm_ready_ps(&hbm), 5640);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 4600), 4728);
    assert_int_equal(hbm_ready_ps(&hbm), 5768); /* not at 5728 */
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 128, 5000), 5128);
    assert_int_equal(hbm_ready_ps(&hbm), 6128);
}

/* Proves what reads, writes and turns between them take of a rate of 1 B a ps, of which reads reach 800 thousandths
 * (gpu.hbm_read_permille) and writes 500 (gpu.hbm_write_permille), with 300 for gpu.hbm_turns_permille and 500 for
 * gpu.hbm_batch_permille: 1000 B that are read take 1250 ps; then of 1000 B that are written each takes 2 ps and its
 * part of the turns, 0.3 * (1/2 * 1/2) / (1/2 + 0.5 * 1/2) = 0.1, together 2100 ps; three microseconds later both are
 * forgotten. Of three times as many reads turns take 0.3 * (3/4 * 1/4) / (3/4 + 0.5 * 1/4) = 0.064 of all bytes' time,
 * of three times as many writes 0.3 * (1/4 * 3/4) / (1/4 + 0.5 * 3/4) = 0.09, and of either alone nothing. */
static void test_reached(void **state)
{
    (void)state;
    Hbm hbm = {0};
    const HbmRate rate = {1000000, {[HBM_READ] = 800, [HBM_WRITE] = 500}, 300, 500};
    hbm_set(&hbm, &rate, 100, 0);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 1000, 0), 1250);
    assert_int_equal(hbm_serve(&hbm, HBM_WRITE, 1000, 0), 3350);
    assert_int_equal(hbm_serve(&hbm, HBM_READ, 1000, 3u << 20), (3u << 20) + 1250);
    assert_int_equal(hbm_turns_permille(&rate, 3000, 1000), 64);
    assert_int_equal(hbm_turns_permille(&rate, 1000, 3000), 90);
    assert_int_equal(hbm_turns_permille(&rate, 1000, 0), 0);
    assert_int_equal(hbm_turns_permille(&rate, 0, 1000), 0);
}

/* Proves that an H200's HBM moves what was measured of seven mixtures (docs/measurements/hbm_mix.csv), within 0.4 %:
 * lines that are asked for at once, in such an order, take their bytes at that rate. */
static void test_mixtures(void **state)
{
    (void)state;
    static const struct {
        guint reads, writes;
        double GBps;
    } rows[] = {{1, 0, 4530}, {3, 1, 4192}, {2, 1, 4098}, {1, 1, 3954}, {1, 2, 3846}, {1, 3, 3804}, {0, 1, 4317}};
    const HbmRate rate = {4800000, {[HBM_READ] = 944, [HBM_WRITE] = 899}, 292, 122};
    for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
        Hbm hbm = {0};
        hbm_set(&hbm, &rate, 100, 0);
        const guint of = rows[r].reads + rows[r].writes, lines = of * 10000;
        SimTime end_ps = 0;
        for (guint i = 0; i < lines; i++)
            end_ps = hbm_serve(&hbm, i % of < rows[r].reads ? HBM_READ : HBM_WRITE, 128, 0);
        const double GBps = lines * 128e3 / (double)end_ps;
        print_message("%u:%u %.0f GB/s, measured %.0f\n", rows[r].reads, rows[r].writes, GBps, rows[r].GBps);
        assert_true(fabs(GBps / rows[r].GBps - 1) < 0.004);
    }
}

/* Proves that a read that meets a refresh waits until its end: of a refresh as long as its period, the period's end; of
 * one of 200 in each 1000 ps, 200 of 1000 instants, from 200 ps down to 1, in the mean 0.2 * 100.5; the other lines'
 * are at other times. */
static void test_refresh(void **state)
{
    (void)state;
    Hbm hbm = {.late = {.refresh_ps = 1000, .refresh_period_ps = 1000}};
    whole_set(&hbm, 1000000, 100, 0);
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
    whole_set(&hbm, 1000000, 100, 0); /* 1 B takes 1 ps */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queue),    cmocka_unit_test(test_fractions),
                                       cmocka_unit_test(test_slow),     cmocka_unit_test(test_reached),
                                       cmocka_unit_test(test_mixtures), cmocka_unit_test(test_refresh),
                                       cmocka_unit_test(test_turns),    cmocka_unit_test(test_latest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
