#include "tests/model/warp_test.h"

static void note_time(void *arg, SimTime now_ps) { *(SimTime *)arg = now_ps; }

static SimTime issue_50_stores(const char *const *sets, SimTime *each_ps)
{
    Stand stand;
    stand_open(&stand, 32, sets);
    Reg *reg = reg_new(4, TRUE);
    SimTime end_ps = 0;
    for (guint i = 0; i < 50; i++) {
        Uop store = uop_of(UOP_STORE, FAR_VA + i * 128, 4, 4, reg);
        warp_push(&stand.cta->warp[0], &store);
    }
    Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &end_ps};
    warp_push(&stand.cta->warp[0], &call);
    stand_run(&stand);
    *each_ps = MAX(stand.bed.spec.sm.store_ps, stand.bed.spec.sm.warp_issue_ps);
    reg_free(reg);
    stand_close(&stand);
    return end_ps;
}

/* Proves that one SM's load/store unit spends its time on each packet: n stores issue in n times
 * store_ps; and that a single warp issues no faster than its own interval. */
static void test_issue_rate(void **state)
{
    (void)state;
    static const char *const unit_only[] = {"sm.warp_issue_ps=0", NULL};
    SimTime each_ps, end_ps = issue_50_stores(unit_only, &each_ps);
    assert_int_equal(end_ps, 50 * each_ps);
    end_ps = issue_50_stores(NULL, &each_ps);
    assert_int_equal(end_ps, 50 * each_ps);
}

static void issue_by_four(const char *const *sets, SimTime end_ps[4])
{
    Stand stand;
    stand_open(&stand, 128, sets);
    Reg *reg = reg_new(4, TRUE);
    for (guint w = 4; w-- > 0;) { /* the oldest one comes last */
        for (guint i = 0; i < 8; i++) {
            Uop store = uop_of(UOP_STORE, FAR_VA + (w * 8 + i) * 128, 4, 4, reg);
            warp_push(&stand.cta->warp[w], &store);
        }
        Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &end_ps[w]};
        warp_push(&stand.cta->warp[w], &call);
    }
    stand_run(&stand);
    reg_free(reg);
    stand_close(&stand);
}

/* Proves that greedy arbitration lets one warp go on as long as it can, then the oldest one; and that round robin
 * brings all to their end at about the same time. */
static void test_arbitration(void **state)
{
    (void)state;
    static const char *const greedy[] = {"sm.warp_issue_ps=0", "sm.arbitration=greedy", NULL};
    static const char *const turns[] = {"sm.warp_issue_ps=0", NULL};
    SimTime end_ps[4];
    issue_by_four(greedy, end_ps);
    for (guint w = 0; w < 3; w++)
        assert_true(end_ps[w + 1] - end_ps[w] > 7 * (end_ps[3] / 32));
    issue_by_four(turns, end_ps);
    for (guint w = 0; w < 4; w++)
        assert_true(end_ps[w] > end_ps[0] / 8 * 7 && end_ps[w] < end_ps[0] / 8 * 9);
}

/* Proves that no more loads of an SM are in flight than it may have: with one, they come one round
 * trip apart. */
static void test_loads_max(void **state)
{
    (void)state;
    static const char *const sets[] = {"sm.loads_max=1", NULL};
    Stand stand;
    stand_open(&stand, 32, sets);
    Reg *reg[4];
    SimTime end_ps[4];
    for (guint i = 0; i < 4; i++) {
        reg[i] = reg_new(4, TRUE);
        Uop load = uop_of(UOP_LOAD, FAR_VA + i * 128, 4, 4, reg[i]);
        warp_push(&stand.cta->warp[0], &load);
    }
    for (guint i = 0; i < 4; i++) {
        Uop wait = {.kind = UOP_CALL, .src = reg[i], .call = note_time, .arg = &end_ps[i]};
        warp_push(&stand.cta->warp[0], &wait);
    }
    stand_run(&stand);
    guint64 stalls = 0;
    for (guint s = 0; s < stand.bed.spec.sm.count; s++)
        stalls += stand.bed.fabric->gpu[0].sm[s].stalls_limit;
    assert_true(stalls >= 3);
    assert_in_range(end_ps[3], 4 * 820000, 4 * 830000); /* 820 ns each: tests/golden/walk-load */
    for (guint i = 0; i < 4; i++)
        reg_free(reg[i]);
    stand_close(&stand);
}

/* Proves that CTAs fill the SMs evenly up to their limits, wait in order beyond them, and take the
 * place of those that end. */
static void test_placement(void **state)
{
    (void)state;
    static const char *const sets[] = {"sm.ctas_max=2", NULL};
    Stand stand;
    stand_open(&stand, 32, sets); /* one CTA is there already; 4 SMs x 2 */
    Cta *cta[9];
    for (guint i = 0; i < 9; i++) {
        cta[i] = cta_new(&stand.bed.fabric->gpu[0], stand.vas, i + 1, 64, "more");
        cta[i]->user = &stand;
        cta_place(cta[i], stand_on_placed);
    }
    assert_int_equal(stand.placed, 8);
    for (guint s = 0; s < 4; s++)
        assert_int_equal(stand.bed.fabric->gpu[0].sm[s].ctas, 2);
    assert_null(cta[7]->sm);
    cta_free(cta[0]);
    sim_run(stand.bed.sim, SIMTIME_NEVER);
    assert_int_equal(stand.placed, 9);
    assert_non_null(cta[7]->sm);
    assert_null(cta[8]->sm);
    cta_free(cta[1]);
    sim_run(stand.bed.sim, SIMTIME_NEVER);
    assert_int_equal(stand.placed, 10);
    for (guint i = 2; i < 9; i++)
        cta_free(cta[i]);
    stand_close(&stand);
}

/* Proves that the warps of an SM's CTAs are no more than it has room for, all of a CTA counted. */
static void test_warps_max(void **state)
{
    (void)state;
    static const char *const sets[] = {"sm.warps_max=3", "sm.count=1", NULL};
    Stand stand;
    Cta *cta[2];
    stand_open(&stand, 64, sets); /* two warps are there */
    for (guint i = 0; i < 2; i++) {
        cta[i] = cta_new(&stand.bed.fabric->gpu[0], stand.vas, i + 1, 32 + 32 * !i, "more");
        cta[i]->user = &stand;
        cta_place(cta[i], stand_on_placed);
    }
    assert_int_equal(stand.placed, 1); /* two more do not fit, and one waits its turn */
    assert_int_equal(stand.bed.fabric->gpu[0].sm[0].warps, 2);
    cta_free(stand.cta);
    sim_run(stand.bed.sim, SIMTIME_NEVER);
    assert_int_equal(stand.placed, 3);
    assert_int_equal(stand.bed.fabric->gpu[0].sm[0].warps, 3);
    stand.cta = cta[0];
    cta_free(cta[1]);
    stand_close(&stand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_issue_rate), cmocka_unit_test(test_arbitration), cmocka_unit_test(test_loads_max),
        cmocka_unit_test(test_placement),  cmocka_unit_test(test_warps_max),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
