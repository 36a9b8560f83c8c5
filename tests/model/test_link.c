#include "tests/model/link_ends.h"

/* Proves that a packet arrives after its serialization and the time of flight. */
static void test_latency(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 1024);
    link_push(&ends.link, packet_of(PACKET_WRITE, 5, 9), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.n, 1);
    assert_int_equal(ends.got[0].txn, 5);
    assert_true(ends.at_ps[0] == 9000 + 100000);
    assert_true(link_flits_total(&ends.link) == 9 && link_packets_total(&ends.link) == 1);
    ends_close(&ends);
}

/* Proves that packets keep their order and the wire its rate: flit times that are no whole picoseconds do not
 * add up to an error. */
static void test_rate(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 23550, 1 << 20);
    for (guint i = 0; i < 500; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 9), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.n, 500);
    for (guint i = 0; i < 500; i++) {
        double expect_ps = (i + 1) * 9 * 16e6 / 23550 + 100000;
        assert_int_equal(ends.got[i].txn, i);
        assert_in_range(ends.at_ps[i], (guint64)expect_ps - 1, (guint64)expect_ps + 2);
    }
    ends_close(&ends);
}

/* Proves that no more flits of a VC are ever under way or in the far buffer than it has room for (the far end checks),
 * that all packets arrive all the same, and that all credits come home; for buffers down to one packet. */
static void test_credits(void **state)
{
    (void)state;
    static const guint32 credits[] = {18, 19, 36, 100, 1000};
    for (guint c = 0; c < G_N_ELEMENTS(credits); c++)
        for (guint64 batch = 1; batch <= 65536; batch *= 256) {
            Ends ends;
            ends_open(&ends, 16000, credits[c]);
            ends.link.credit_shift = g_bit_storage(batch) - 1;
            ends.hold_ps = 5000;
            for (guint i = 0; i < 200; i++)
                link_push(&ends.link, packet_of(i % 3 ? PACKET_WRITE : PACKET_READ_RSP, i, (guint8)(1 + i % 18)), 0);
            assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
            assert_int_equal(ends.n, 200);
            assert_true(link_is_quiet(&ends.link, credits[c]));
            assert_int_equal(ends.room[VC_CREQ], credits[c]);
            assert_int_equal(ends.link.credit_stalls > 0, credits[c] <= 100);
            ends_close(&ends);
        }
}

/* Proves that throughput under a small buffer is what the credit loop allows: one buffer for each round trip of
 * serialization, flight, hold and the credit's flight back (from the end of its batch of 1 ps on). */
static void test_credit_loop(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 18);
    ends.hold_ps = 5000;
    for (guint i = 0; i < 10; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 18), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    for (guint i = 1; i < 10; i++)
        assert_true(ends.at_ps[i] - ends.at_ps[i - 1] == 18000 + 100000 + 5000 + 1 + 100000);
    ends_close(&ends);
}

/* Proves that a VC without credits never holds up the other one, whichever way it waits for them. */
static void test_vcs_independent(void **state)
{
    (void)state;
    for (guint freed = 0; freed < 2; freed++) {
        Ends ends;
        ends_open(&ends, 16000, 18);
        ends.hold_ps = SIMTIME_NEVER;
        for (guint i = 0; i < 3; i++)
            link_push(&ends.link, packet_of(PACKET_WRITE, i, 18), 0); /* one goes, two wait */
        assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
        SimTime now_ps = sim_now_ps(ends.sim);
        assert_int_equal(ends.n, 1);
        if (freed) { /* the credit is on its way back: the wire is booked for its arrival */
            ends.room[VC_CREQ] += 18;
            link_credit(&ends.link, VC_CREQ, 18, now_ps);
        }
        link_push(&ends.link, packet_of(PACKET_ACK, 99, 1), 0);
        sim_run(ends.sim, now_ps + 102000);
        assert_int_equal(ends.n, 2);
        assert_int_equal(ends.got[1].txn, 99);
        assert_true(ends.at_ps[1] == now_ps + 1000 + 100000);
        sim_run(ends.sim, SIMTIME_NEVER);
        assert_int_equal(ends.n, freed ? 3 : 2);
        ends_close(&ends);
    }
}

/* Proves that two busy VCs take turns packet by packet. */
static void test_round_robin(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 10000);
    for (guint i = 0; i < 20; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 9), 0);
    for (guint i = 0; i < 20; i++)
        link_push(&ends.link, packet_of(PACKET_READ_RSP, 100 + i, 3), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.n, 40);
    for (guint i = 1; i < 40; i++)
        assert_int_not_equal(packet_vc(&ends.got[i]), packet_vc(&ends.got[i - 1]));
    ends_close(&ends);
}

/* Proves that each bit error costs a replay, that a replay may be hit again, that errors lose, double or reorder
 * nothing, and that they hit about as often as asked: at 50 % one replay a packet in the mean, at 25 % a third. */
static void test_replay(void **state)
{
    (void)state;
    static const struct {
        guint64 error_ppb;
        guint least, most; /* replays of 200 packets */
    } cases[] = {{500000000, 150, 260}, {250000000, 40, 95}, {0, 0, 0}};
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        Ends ends;
        guint64 most = 0;
        ends_open(&ends, 16000, 10000);
        link_set_errors(&ends.link, cases[c].error_ppb);
        for (guint i = 0; i < 200; i++) {
            SimTime now_ps = sim_now_ps(ends.sim);
            guint64 replays = ends.link.replays;
            link_push(&ends.link, packet_of(PACKET_WRITE, i, 9), 0);
            assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
            replays = ends.link.replays - replays;
            most = MAX(most, replays);
            assert_int_equal(ends.n, i + 1);
            assert_int_equal(ends.got[i].txn, i);
            assert_int_equal(ends.at_ps[i], now_ps + 9000 + replays * (7000 + 9000) + 100000);
        }
        assert_in_range(ends.link.replays, cases[c].least, cases[c].most);
        assert_true(cases[c].error_ppb == 0 || most >= 2);
        ends_close(&ends);
    }
}

/* Proves that [link] error_ppb is that of every link: of 200 writes by one link to another GPU half of the packets up
 * are hit, with the bounds of test_replay. */
static void test_error_row(void **state)
{
    static const struct {
        const char *set;
        guint least, most;
    } cases[] = {{"link.error_ppb=500000000", 150, 260}, {"link.error_ppb=250000000", 40, 95}, {NULL, 0, 0}};
    (void)state;
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        const char *const sets[] = {cases[c].set, NULL};
        Bed bed;
        bed_open(&bed, "teach-4gpu", sets, NULL);
        MemRegion *region = bed_region(&bed, 1, 4096);
        for (guint i = 0; i < 200; i++) {
            Answer answer = {0};
            GpuRequest write = {.kind = PACKET_WRITE, .region = region, .bytes = 128};
            bed_send(&bed, 0, &write, &answer);
            assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
            assert_int_equal(answer.times, 1);
        }
        assert_in_range(bed.fabric->gpu[0].up[0].replays + bed.fabric->gpu[0].up[1].replays, cases[c].least,
                        cases[c].most);
        bed_close(&bed);
    }
}

/* Proves that the port tells when its queue falls below the mark, once for each packet that leaves below it. */
static void test_drained(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 10000);
    link_set_low_water(&ends.link, VC_CREQ, 3);
    for (guint i = 0; i < 10; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 9), 0);
    guint before = ends.drained[VC_CREQ];
    assert_int_equal(before, 1); /* the first one left at once: who waits is told of that too */
    assert_int_equal(link_queued(&ends.link, VC_CREQ), 9);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.drained[VC_CREQ] - before, 3); /* 2, 1, 0 left */
    assert_int_equal(ends.drained[VC_RSP], 0);
    ends_close(&ends);
}

/* Proves that a later crossbar round is waited for. */
static void test_not_before(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 1024);
    link_push(&ends.link, packet_of(PACKET_WRITE, 0, 9), 20000);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(ends.at_ps[0] == 20000 + 9000 + 100000);
    ends_close(&ends);
}

/* Proves that a link that waits says for what, and an idle one says nothing. */
static void test_waiter_text(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 18);
    ends.hold_ps = SIMTIME_NEVER;
    assert_null(link_waiter_text(&ends.link));
    for (guint i = 0; i < 3; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 18), 0);
    g_autofree char *early = link_waiter_text(&ends.link);
    assert_string_equal(early, "test.link: 2 packets wait for the wire");
    sim_run(ends.sim, SIMTIME_NEVER);
    g_autofree char *text = link_waiter_text(&ends.link);
    assert_string_equal(text, "test.link: 2 packets wait for credits of the far end");
    assert_false(link_is_quiet(&ends.link, 18));
    ends_close(&ends);
}

/* Proves that a link that is down keeps what it is given, says so, and sends it all when it comes up. */
static void test_down(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 1024);
    link_push(&ends.link, packet_of(PACKET_WRITE, 0, 9), 0); /* already on the wire: it arrives */
    link_set_state(&ends.link, LINK_DOWN);
    link_push(&ends.link, packet_of(PACKET_WRITE, 1, 9), 0);
    link_push(&ends.link, packet_of(PACKET_ACK, 2, 1), 0);
    sim_run(ends.sim, SIMTIME_NEVER);
    assert_int_equal(ends.n, 1);
    g_autofree char *text = link_waiter_text(&ends.link);
    assert_string_equal(text, "test.link: 2 packets wait for the link to come up");
    link_set_state(&ends.link, LINK_UP);
    sim_run(ends.sim, SIMTIME_NEVER);
    assert_int_equal(ends.n, 3);
    assert_null(link_waiter_text(&ends.link));
    ends_close(&ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency),         cmocka_unit_test(test_rate),
        cmocka_unit_test(test_credits),         cmocka_unit_test(test_credit_loop),
        cmocka_unit_test(test_vcs_independent), cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_replay),          cmocka_unit_test(test_error_row),
        cmocka_unit_test(test_drained),         cmocka_unit_test(test_not_before),
        cmocka_unit_test(test_waiter_text),     cmocka_unit_test(test_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
