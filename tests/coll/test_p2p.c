/* coll/algo/p2p.c: whose turn it is among NCCL's rounds, and what a slice takes beside its copy. */
#include "tests/coll/coll_machine.h"

#include "coll/internal.h"

/* Proves that rounds have their channels in the order of their numbers with the bits reversed: of eight rounds 0 (000),
 * 4 (100, at 001), 2, 6, 1, 5, 3, 7; of five those that there are of these; of one that one. */
static void test_order(void **state)
{
    (void)state;
    static const struct {
        guint32 rounds, order[8];
    } rows[] = {
        {8, {0, 4, 2, 6, 1, 5, 3, 7}}, {5, {0, 4, 2, 1, 3}}, {4, {0, 2, 1, 3}}, {3, {0, 2, 1}}, {2, {0, 1}}, {1, {0}}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        for (guint32 turn = 0; turn < rows[i].rounds; turn++)
            assert_int_equal(coll_p2p_round(turn, rows[i].rounds), rows[i].order[turn]);
}

/* What a message takes in Simple, by one CTA. */
static SimTime message_ps(CollOp op, guint64 bytes, SimTime clock_ps)
{
    Machine machine = machine_open("dgx-h100", 2, FALSE);
    machine.fabric->spec.sm.clock_ps = clock_ps;
    CollSpec spec = coll_spec_default(op);
    spec.algo = COLL_P2P;
    spec.proto = COLL_SIMPLE;
    spec.bytes = op == COLL_SCATTER ? 2 * bytes : bytes;
    spec.ctas = op == COLL_SCATTER ? 2 : 1; /* of two rounds one is the root's copy */
    spec.check = FALSE;
    CollResult result = {0};
    assert_true(coll_run(machine.group, &spec, &result, NULL));
    machine_close(&machine);
    return result.kernel_ps;
}

/* Proves that a slice takes 1.5 us more while the other group of its CTA copies, and that it is so many cycles. A
 * message each way (sendrecv) is compared with one way (scatter). One slice of 1 KiB: while it is sent the receivers
 * wait, while it is received nothing is left to send: 0.0. One slice of 512 KiB and 1 KiB: the second one is sent while
 * the first is received, each 1.5 later; the second's sender is done 10 us before the first's receiver, which alone
 * shows: 1.5, and 3.0 where a cycle takes 1010 ps instead of 505. */
static void test_beside(void **state)
{
    (void)state;
    static const struct {
        guint64 bytes;
        SimTime clock_ps, more_ps;
    } rows[] = {{1 << 10, 505, 0}, {513 << 10, 505, 1500000}, {513 << 10, 1010, 3000000}};
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        SimTime one_ps = message_ps(COLL_SCATTER, rows[i].bytes, rows[i].clock_ps);
        SimTime both_ps = message_ps(COLL_SENDRECV, rows[i].bytes, rows[i].clock_ps);
        print_message("one way %.3f us, each way %.3f\n", one_ps * 1e-6, both_ps * 1e-6);
        assert_in_range(both_ps + 100000, one_ps + rows[i].more_ps, one_ps + rows[i].more_ps + 200000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_beside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
