/* coll/buffer.c: when what goes through NCCL's slots is written back to HBM, and that it is counted there. */
#include "tests/coll/coll_machine.h"

#include "coll/internal.h"
#include "model/gpu/gpu.h"

/* Proves when slots are written back: a reduce_scatter of 64 MiB between two H100, whose L2 holds 4/5 of 50 MiB, sweeps
 * over 96 MiB of buffers, a quarter of it while it fills 16 MiB of slots: 40 MiB stay. Of 20 MiB of slots 50 do not;
 * nor do 96 MiB of slots that 1 MiB goes through in each call; 32 MiB of them do then, with 1.5 MiB of buffers; of
 * 16 MiB of slots and an all_reduce (128 MiB of buffers) 48 do not. */
static void test_written_back(void **state)
{
    (void)state;
    static const struct {
        CollOp op;
        guint64 mib, slots_mib;
        gboolean written_back;
    } rows[] = {{COLL_REDUCE_SCATTER, 64, 16, FALSE}, {COLL_REDUCE_SCATTER, 64, 20, TRUE},
                {COLL_REDUCE_SCATTER, 1, 96, TRUE},   {COLL_REDUCE_SCATTER, 1, 32, FALSE},
                {COLL_ALL_REDUCE, 64, 16, TRUE},      {COLL_ALL_REDUCE, 64, 12, FALSE}};
    Machine machine = machine_open("dgx-h100", 2, FALSE);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        CollSpec spec = coll_spec_default(rows[i].op);
        spec.bytes = rows[i].mib << 20;
        assert_int_equal(coll_slots_are_written_back(machine.group, &spec, rows[i].slots_mib << 20),
                         rows[i].written_back);
        spec.as_bytes = spec.bytes; /* a part of it that stands for it */
        spec.bytes = 1u << 20;
        assert_int_equal(coll_slots_are_written_back(machine.group, &spec, rows[i].slots_mib << 20),
                         rows[i].written_back);
    }
    machine_close(&machine);
}

/* MiB that go to and from the HBM of GPU 0 in a reduce_scatter of that many by NCCL's Simple. */
static double hbm_MiB(guint64 mib, guint32 ctas)
{
    Machine machine = machine_open("dgx-h100", 2, FALSE);
    CollSpec spec = coll_spec_default(COLL_REDUCE_SCATTER);
    spec.algo = COLL_RING;
    spec.proto = COLL_SIMPLE;
    spec.bytes = mib << 20;
    spec.ctas = ctas;
    spec.check = FALSE;
    CollResult result = {0};
    assert_true(coll_run(machine.group, &spec, &result, NULL));
    const double moved = (double)machine.fabric->gpu[0].hbm_bytes / (1 << 20);
    machine_close(&machine);
    return moved;
}

/* Proves that HBM moves what is written back: 32 MiB that are read, 16 that are written, and the 16 that the other GPU
 * writes into the slots of eight channels, 32 MiB, but not those of two, 8 MiB; of 1 MiB, which stays in the L2 with
 * its sums, the half through the 96 MiB of 24 channels alone. */
static void test_counted(void **state)
{
    (void)state;
    assert_true(hbm_MiB(32, 8) == 64);
    assert_true(hbm_MiB(32, 2) == 48);
    assert_true(hbm_MiB(1, 24) == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_written_back), cmocka_unit_test(test_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
