#include "tests/model/warp_test.h"

static void note_time(void *arg, SimTime now_ps) { *(SimTime *)arg = now_ps; }

/* A poll of a flag that GPU 1 writes after `write_ps`; when it was seen. acquire_ps 0: a relaxed one. */
static SimTime seen_with(const char *row, SimTime write_ps, PollTest test, guint32 want, guint32 put,
                         guint32 acquire_ps)
{
    Stand stand;
    g_autofree char *set = g_strdup_printf("sm.acquire_ps=%u", acquire_ps);
    const char *const sets[] = {set, row, NULL};
    stand_open(&stand, 64, sets);
    SimTime seen_ps = 0;
    Uop poll = {.kind = UOP_POLL,
                .va = NEAR_VA,
                .width = 4,
                .lanes = 1,
                .test = (guint8)test,
                .acquire = acquire_ps > 0,
                .value = want};
    Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &seen_ps};
    warp_push(&stand.cta->warp[0], &poll);
    warp_push(&stand.cta->warp[0], &call);
    sim_run(stand.bed.sim, write_ps);
    assert_true(seen_ps == 0 || write_ps == 0);
    Reg *reg = reg_new(4, TRUE);
    memcpy(reg->bytes, &put, 4);
    Uop delay = {.kind = UOP_DELAY, .value = write_ps};
    Uop store = uop_of(UOP_STORE, NEAR_VA, 4, 4, reg);
    store.lanes = 1;
    warp_push(&stand.cta->warp[1], &delay);
    warp_push(&stand.cta->warp[1], &store);
    const SimStatus status = sim_run(stand.bed.sim, SIMTIME_NEVER);
    assert_int_equal(status, seen_ps == 0 ? SIM_STUCK : SIM_IDLE);
    SimTime result_ps = seen_ps;
    if (seen_ps == 0) { /* let the warp go, so that its CTA can end */
        g_autofree char *waiters = sim_waiters_text(stand.bed.sim);
        assert_non_null(strstr(waiters, "gpu0: test CTA 0 polls for 0x"));
        memcpy(stand.near->host, &want, 4);
        memory_written(stand.bed.fabric->memory, stand.near->id, 0, 4, sim_now_ps(stand.bed.sim));
        stand_run(&stand);
    }
    reg_free(reg);
    stand_close(&stand);
    return result_ps;
}

static SimTime seen_at(SimTime write_ps, PollTest test, guint32 want, guint32 put, guint32 acquire_ps)
{
    return seen_with(NULL, write_ps, test, want, put, acquire_ps);
}

/* Proves that a poll ends after the write that makes its condition true, within one round of the
 * loop, for each kind of condition. */
static void test_conditions(void **state)
{
    (void)state;
    static const struct {
        PollTest test;
        guint32 want, put;
    } row[] = {{POLL_EQ, 7, 7},     {POLL_NE, 0, 9},          {POLL_GE, 5, 6},
               {POLL_GE, 5, 5},     {POLL_GE, 5, 0xffffffff}, {POLL_DIFF_GE, 0x7fffffff, 0x80000001},
               {POLL_DIFF_GE, 9, 9}};
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        SimTime seen_ps = seen_at(5000000, row[i].test, row[i].want, row[i].put, 0);
        assert_true(seen_ps > 5000000);
        assert_true(seen_ps < 5000000 + 200000 + 2 * 200000 + 10000); /* the store, then at most two rounds */
    }
}

/* Proves that a poll whose condition never comes true leaves the warp waiting and the run without
 * anything due, and that the run says who polls. */
static void test_never(void **state)
{
    (void)state;
    assert_true(seen_at(1000000, POLL_EQ, 7, 8, 0) == 0);
    assert_true(seen_at(1000000, POLL_GE, 7, 0, 0) == 0);
    assert_true(seen_at(1000000, POLL_DIFF_GE, 1, 0x80000002, 0) == 0); /* behind by 2^31 - 1, not ahead */
}

/* Proves that an acquire costs what it says: each reading of the loop takes so much longer, of which half is waited for
 * in the mean, and so does the last one. */
static void test_acquire(void **state)
{
    (void)state;
    SimTime relaxed_ps = seen_at(5000000, POLL_EQ, 7, 7, 0);
    assert_int_equal(seen_at(5000000, POLL_EQ, 7, 7, 100000), relaxed_ps + 150000);
}

/* Proves what a reading of the loop takes: a load (local_ps) and its instructions (poll_ps). Of it half is waited for
 * in the mean, and half a load until the reading that sees the flag is back. */
static void test_period(void **state)
{
    (void)state;
    SimTime usual_ps = seen_at(5000000, POLL_EQ, 7, 7, 0);
    assert_int_equal(seen_with("sm.poll_ps=9000", 5000000, POLL_EQ, 7, 7, 0), usual_ps + 2000); /* 5000 before */
    assert_int_equal(seen_with("sm.poll_ps=9000", 5000000, POLL_EQ, 7, 7, 100000), usual_ps + 152000);
}

/* Proves that a flag already there costs one load. */
static void test_at_once(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, 32, NULL);
    SimTime seen_ps = 0;
    stand.near->host[0] = 3;
    Uop poll = {.kind = UOP_POLL, .va = NEAR_VA, .width = 4, .lanes = 1, .test = POLL_EQ, .value = 3};
    Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &seen_ps};
    warp_push(&stand.cta->warp[0], &poll);
    warp_push(&stand.cta->warp[0], &call);
    stand_run(&stand);
    assert_true(seen_ps == stand.bed.spec.gpu.local_ps);
    stand_close(&stand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions), cmocka_unit_test(test_never),   cmocka_unit_test(test_acquire),
        cmocka_unit_test(test_period),     cmocka_unit_test(test_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
