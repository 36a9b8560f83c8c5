#include "tests/model/model_test.h"

#include "model/memory/numeric.h"

/* The sums of an ld_reduce, through a whole small fabric. */

/* One ld_reduce of `bytes` by GPU 1 over members whose memory starts with the given values. */
static void reduce(Bed *bed, guint n, NumericType type, NumericOp op, NumericPrecision acc, const double *value,
                   guint bytes, Answer *answer)
{
    MemRegion *region[4];
    McObject *object = bed_team(bed, n, 4096, region);
    for (guint g = 0; g < n; g++)
        for (guint at = 0; at < bytes; at += numeric_type_bytes(type))
            numeric_set(type, region[g]->host + at, value[g]);
    GpuRequest request = {.kind = PACKET_MC_READ,
                          .object = object,
                          .bytes = (guint16)bytes,
                          .type = (guint8)type,
                          .op = (guint8)op,
                          .acc = (guint8)acc};
    *answer = (Answer){0};
    bed_send(bed, 1, &request, answer);
    assert_int_equal(sim_run(bed->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(answer->times, 1);
    assert_true(fabric_is_quiet(bed->fabric));
}

/* Proves that the answer is the operation over all members' values, the requester's own among them,
 * for every request size up to a line. */
static void test_sum(void **state)
{
    (void)state;
    static const double value[4] = {1, 20, 300, 4000};
    static const struct {
        NumericType type;
        NumericOp op;
        double want;
    } row[] = {{NUMERIC_F32, NUMERIC_ADD, 4321},
               {NUMERIC_U32, NUMERIC_ADD, 4321},
               {NUMERIC_F64, NUMERIC_ADD, 4321},
               {NUMERIC_U32, NUMERIC_MIN, 1},
               {NUMERIC_S32, NUMERIC_MAX, 4000},
               {NUMERIC_B32, NUMERIC_OR, 1 | 20 | 300 | 4000},
               {NUMERIC_B32, NUMERIC_XOR, 1 ^ 20 ^ 300 ^ 4000}};
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        for (guint bytes = 16; bytes <= 128; bytes *= 2) {
            Bed bed;
            Answer answer;
            bed_open(&bed, "teach-4gpu", NULL, NULL);
            reduce(&bed, 4, row[i].type, row[i].op, NUMERIC_NATIVE, value, bytes, &answer);
            for (guint at = 0; at < bytes; at += numeric_type_bytes(row[i].type))
                assert_true(numeric_get(row[i].type, answer.bytes + at) == row[i].want);
            bed_close(&bed);
        }
}

/* Proves that a wider accumulator keeps what native precision rounds away: in f16, 2048 + 1 + 1 + 1
 * is 2048 when rounded after each addition and 2052 (2051 to even) when rounded once. */
static void test_precision(void **state)
{
    (void)state;
    static const double value[4] = {2048, 1, 1, 1};
    static const char *const sets[] = {"switch.reduction_order=rank", NULL};
    Bed bed;
    Answer answer;
    bed_open(&bed, "teach-4gpu", sets, NULL);
    reduce(&bed, 4, NUMERIC_F16, NUMERIC_ADD, NUMERIC_NATIVE, value, 32, &answer);
    assert_true(numeric_get(NUMERIC_F16, answer.bytes) == 2048);
    reduce(&bed, 4, NUMERIC_F16, NUMERIC_ADD, NUMERIC_ACC_F32, value, 32, &answer);
    assert_true(numeric_get(NUMERIC_F16, answer.bytes) == 2052);
    bed_close(&bed);
}

/* Proves that the order of operands is a knob: with member 0's answer delayed (its memory misses
 * the L2), arrival order adds the 2048 last and keeps the three ones, rank order adds it first and
 * loses them. */
static void test_order(void **state)
{
    (void)state;
    static const double value[4] = {2048, 1, 1, 1};
    for (guint rank = 0; rank < 2; rank++) {
        const char *sets[] = {rank ? "switch.reduction_order=rank" : "switch.reduction_order=arrival", NULL};
        Bed bed;
        bed_open(&bed, "teach-4gpu", sets, NULL);
        MemRegion *region[4];
        McObject *object = bed_team(&bed, 4, 4096, region);
        for (guint g = 0; g < 4; g++)
            numeric_set(NUMERIC_F16, region[g]->host, value[g]);
        memory_set_cached(bed.fabric->memory, region[0], FALSE);
        GpuRequest request = {
            .kind = PACKET_MC_READ, .object = object, .bytes = 16, .type = NUMERIC_F16, .op = NUMERIC_ADD};
        Answer answer = {0};
        bed_send(&bed, 1, &request, &answer);
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        assert_true(numeric_get(NUMERIC_F16, answer.bytes) == (rank ? 2048 : 2052));
        bed_close(&bed);
    }
}

/* Proves that a member without memory behind the address is told as a fault, that the answer brings
 * no bytes rather than a wrong sum, and that nothing stays behind. */
static void test_unbound_member(void **state)
{
    (void)state;
    Bed bed;
    bed_open(&bed, "teach-4gpu", NULL, NULL);
    MemRegion *region[4];
    McObject *object = bed_team(&bed, 4, 4096, region);
    assert_true(mcobject_unbind(object, 2, 0, 4096));
    GpuRequest request = {
        .kind = PACKET_MC_READ, .object = object, .bytes = 128, .type = NUMERIC_F32, .op = NUMERIC_ADD};
    Answer answer = {0};
    bed_send(&bed, 0, &request, &answer);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(answer.times, 1);
    assert_int_equal(answer.state, TXN_UNBOUND);
    assert_false(answer.has_bytes);
    assert_true(bed.fabric->n_faults == 1);
    assert_int_equal(g_array_index(bed.fabric->faults, FabricFault, 0).kind, FAULT_UNBOUND);
    assert_true(fabric_is_quiet(bed.fabric));
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_precision),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_unbound_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
