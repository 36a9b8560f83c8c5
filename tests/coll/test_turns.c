/* coll/flow.c: of a pipeline of many turns and ranks some turns stand for all. */
#include "tests/coll/coll_machine.h"

#include "device/device.h"

#define TURNS 48u

static void note_result(Coll *coll, const CollResult *result, void *user)
{
    (void)coll;
    *(CollResult *)user = *result;
}

/* So many turns of an all_reduce through NCCL's own buffers, as flows. */
static CollSpec turns_spec(const Machine *machine, guint32 turns, guint64 more_kib)
{
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    spec.algo = COLL_NVLS_BUFFERED;
    spec.fidelity = COLL_FLOW;
    spec.check = FALSE;
    spec.ctas = 5;
    spec.nvls_chunk_bytes = 64u << 10; /* which these sizes leave as they are */
    spec.bytes = 1u << 30;
    spec.bytes = turns * coll_turn_bytes(machine->group, &spec, spec.algo) + (more_kib << 10);
    return spec;
}

static CollResult turns_run(guint32 gpus, guint32 turns, guint64 more_kib, gboolean all)
{
    Machine machine = machine_open("gb200-nvl72", gpus, FALSE);
    CollSpec spec = turns_spec(&machine, turns, more_kib);
    CollResult result = {0};
    if (!all) {
        assert_true(coll_run(machine.group, &spec, &result, NULL));
    } else {
        device_flow_begin(machine.fabric);
        assert_non_null(coll_start(machine.group, &spec, note_result, &result, NULL));
        assert_int_equal(sim_run(machine.sim, SIMTIME_NEVER), SIM_IDLE);
        device_flow_end(machine.fabric);
    }
    machine_close(&machine);
    return result;
}

/* Proves that with 17 ranks 16 turns stand for 48, and for 48 and a third, within 1 % of what all of them take (that
 * this is not the run itself is what few_turns says), that rates are those of all bytes, and that 31 turns, or 16
 * ranks, run whole. */
static void test_few_turns(void **state)
{
    (void)state;
    for (guint64 more_kib = 0; more_kib <= 1700; more_kib += 1700) {
        CollResult few = turns_run(17, TURNS, more_kib, FALSE), all = turns_run(17, TURNS, more_kib, TRUE);
        print_message("%u turns and %u KiB: %.2f us, by 16 of them %.2f\n", TURNS, (guint)more_kib, all.time_ps * 1e-6,
                      few.time_ps * 1e-6);
        assert_true(few.few_turns && !all.few_turns);
        assert_int_equal(few.fidelity, COLL_FLOW);
        assert_true(few.time_ps != all.time_ps);
        assert_in_range(few.time_ps, all.time_ps / 100 * 99, all.time_ps / 100 * 101);
        assert_in_range(few.algbw_MBps, all.algbw_MBps / 100 * 99, all.algbw_MBps / 100 * 101);
    }
    assert_false(turns_run(17, 31, 0, FALSE).few_turns);
    assert_false(turns_run(16, TURNS, 0, FALSE).few_turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
