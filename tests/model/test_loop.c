#include "tests/model/warp_test.h"

#include "model/sm/loop.h"

static void on_end(Warp *warp, void *user, SimTime now_ps)
{
    (void)warp;
    *(SimTime *)user = now_ps;
}

static void fill_far(Stand *stand)
{
    for (guint at = 0; at < MAPPED_BYTES; at++)
        stand->far->host[at] = (guint8)(at * 3 + at / 128);
}

/* A copy of n elements of 16 B from GPU 1's memory to GPU 0's; when it ended. */
static SimTime run_copy(guint64 n, guint32 unroll, guint32 threads)
{
    Stand stand;
    stand_open(&stand, threads, NULL);
    fill_far(&stand);
    LoopSpec spec = {
        .elements = n, .step = threads, .width = 16, .unroll = unroll, .n_regs = 1, .n_parts = 2, .keep_bytes = TRUE};
    spec.part[0] = (LoopPart){.kind = UOP_LOAD, .base = FAR_VA};
    spec.part[1] = (LoopPart){.kind = UOP_STORE, .base = NEAR_VA};
    SimTime end_ps[32] = {0}, last_ps = 0;
    for (guint w = 0; w < stand.cta->n_warps; w++)
        loop_start(&stand.cta->warp[w], &spec, on_end, &end_ps[w]);
    stand_run(&stand);
    for (guint w = 0; w < stand.cta->n_warps; w++) {
        assert_true(end_ps[w] > 0 || n <= w * 32);
        last_ps = MAX(last_ps, end_ps[w]);
    }
    if (n)
        assert_memory_equal(stand.near->host, stand.far->host, n * 16);
    assert_int_equal(stand.near->host[n * 16], 0);
    stand_close(&stand);
    return last_ps;
}

/* Proves that a bulk loop touches every element once and none beyond, for counts that do and do not
 * divide evenly. */
static void test_every_element(void **state)
{
    (void)state;
    static const guint64 n[] = {0, 1, 31, 32, 33, 64, 1000, 2048, 2049};
    for (guint i = 0; i < G_N_ELEMENTS(n); i++)
        for (guint unroll = 1; unroll <= 4; unroll *= 2)
            run_copy(n[i], unroll, 64);
}

/* Proves that memory instructions of one turn follow each other as soon as the LSU has taken them, and turns a gap
 * after the last one: two turns of four stores of 4 packets, 2 ns each and 2 cycles of 505 ps a store, and
 * 21.2 ns a turn. */
static void test_gaps(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, 32, NULL);
    LoopSpec spec = {.elements = 8 * 32, .step = 32, .width = 16, .unroll = 4, .n_parts = 1};
    spec.part[0] = (LoopPart){.kind = UOP_STORE, .base = FAR_VA, .reg = LOOP_NO_REG};
    SimTime end_ps = 0;
    loop_start(&stand.cta->warp[0], &spec, on_end, &end_ps);
    stand_run(&stand);
    assert_int_equal(end_ps, 2 * (3 * (4 * 2000 + 2 * 505) + 21200));
    stand_close(&stand);
}

/* Proves that unrolling overlaps the loads: four at once take less time than one after the other.
 */
static void test_unroll(void **state)
{
    (void)state;
    assert_true(run_copy(2048, 4, 32) * 2 < run_copy(2048, 1, 32));
}

/* Proves that the loop costs what the same operations cost that a program writes out one by one. */
static void test_same_as_written_out(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, 32, NULL);
    fill_far(&stand);
    Reg *reg = reg_new(16, TRUE);
    for (guint i = 0; i < 8; i++) {
        Uop load = uop_of(UOP_LOAD, FAR_VA + i * 512, 16, 16, reg),
            store = uop_of(UOP_STORE, NEAR_VA + i * 512, 16, 16, reg);
        warp_push(&stand.cta->warp[0], &load);
        warp_push(&stand.cta->warp[0], &store);
    }
    stand_run(&stand);
    SimTime by_hand_ps = 0;
    OpStats *stats = stand.bed.fabric->op_remote.kind[PACKET_READ];
    by_hand_ps = stats->last_ps;
    assert_true(stats->count == 32);
    reg_free(reg);
    stand_close(&stand);
    stand_open(&stand, 32, NULL);
    fill_far(&stand);
    LoopSpec spec = {
        .elements = 256, .step = 32, .width = 16, .unroll = 1, .n_regs = 1, .n_parts = 2, .keep_bytes = TRUE};
    spec.part[0] = (LoopPart){.kind = UOP_LOAD, .base = FAR_VA};
    spec.part[1] = (LoopPart){.kind = UOP_STORE, .base = NEAR_VA};
    loop_start(&stand.cta->warp[0], &spec, NULL, NULL);
    stand_run(&stand);
    stats = stand.bed.fabric->op_remote.kind[PACKET_READ];
    assert_true(stats->count == 32 && stats->last_ps == by_hand_ps);
    stand_close(&stand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_element),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_unroll),
        cmocka_unit_test(test_same_as_written_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
