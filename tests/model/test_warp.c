#include "tests/model/warp_test.h"

static guint64 packets_of(UopKind kind, guint64 va, guint8 width, gint64 stride)
{
    Stand stand;
    stand_open(&stand, 32, NULL);
    Reg *reg = reg_new(width, TRUE);
    Uop uop = uop_of(kind, va, width, stride, reg);
    uop.type = NUMERIC_U32;
    warp_push(&stand.cta->warp[0], &uop);
    stand_run(&stand);
    guint64 packets = 0;
    for (guint s = 0; s < stand.bed.spec.sm.count; s++)
        packets += stand.bed.fabric->gpu[0].sm[s].packets;
    reg_free(reg);
    stand_close(&stand);
    return packets;
}

/* Proves how lanes become packets: whole lines of 128 B where they lie side by side, one packet for
 * each line they share otherwise, and one for each lane of atomics on one word. */
static void test_coalescing(void **state)
{
    (void)state;
    assert_true(packets_of(UOP_STORE, FAR_VA, 4, 4) == 1);
    assert_true(packets_of(UOP_STORE, FAR_VA, 8, 8) == 2);
    assert_true(packets_of(UOP_LOAD, FAR_VA, 16, 16) == 4);
    assert_true(packets_of(UOP_STORE, FAR_VA + 64, 4, 4) == 2); /* across a line */
    assert_true(packets_of(UOP_LOAD, FAR_VA, 4, 128) == 32);    /* a line each */
    assert_true(packets_of(UOP_STORE, FAR_VA, 4, 8) == 2);      /* 16 lanes a line */
    assert_true(packets_of(UOP_RED, FAR_VA, 4, 0) == 32);       /* one word */
    assert_true(packets_of(UOP_MC_STORE, TEAM_VA, 16, 16) == 4);
}

/* Proves that what is loaded, side by side, strided or backwards, is what lies there, lane by lane,
 * and that a store of the register waits for the load. */
static void test_load_then_store(void **state)
{
    (void)state;
    static const gint64 stride[] = {4, 12, 256, -4};
    for (guint i = 0; i < G_N_ELEMENTS(stride); i++) {
        Stand stand;
        stand_open(&stand, 32, NULL);
        for (guint at = 0; at < MAPPED_BYTES; at++)
            stand.far->host[at] = (guint8)(at * 5 + at / 256);
        Reg *reg = reg_new(4, TRUE);
        guint64 first = stride[i] < 0 ? 1024 : 128;
        Uop load = uop_of(UOP_LOAD, FAR_VA + first, 4, stride[i], reg);
        Uop store = uop_of(UOP_STORE, NEAR_VA, 4, 4, reg);
        warp_push(&stand.cta->warp[0], &load);
        warp_push(&stand.cta->warp[0], &store);
        stand_run(&stand);
        for (guint lane = 0; lane < 32; lane++)
            assert_memory_equal(stand.near->host + lane * 4, stand.far->host + (gint64)first + lane * stride[i], 4);
        reg_free(reg);
        stand_close(&stand);
    }
}

static void note_time(void *arg, SimTime now_ps) { *(SimTime *)arg = now_ps; }

/* Proves that a turn of the LSU waits, as a memory instruction would, for the stores that warps before it gave the LSU:
 * two of 512 B, 8 packets of 2.18 ns; and that a warp of a kernel which has nothing for the LSU goes on at once. */
static void test_turn(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, 4 * 32, NULL);
    Reg *reg = reg_new(16, TRUE);
    SimTime after_ps[4] = {0};
    Uop store = uop_of(UOP_STORE, NEAR_VA, 16, 16, reg), turn = {.kind = UOP_TURN, .lanes = 1};
    for (guint w = 0; w < 4; w++) {
        Warp *warp = &stand.cta->warp[w];
        Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &after_ps[w]};
        warp->issue_ps = 1000; /* of a kernel */
        after_ps[w] = SIMTIME_NEVER;
        if (w < 3)
            warp_push(warp, w < 2 ? &store : &turn);
        warp_push(warp, &call);
    }
    assert_true(stand.bed.spec.sm.local_store_ps == 2180);
    stand_run(&stand);
    assert_true(after_ps[2] == 8 * 2180);
    assert_true(after_ps[3] == 0);
    reg_free(reg);
    stand_close(&stand);
}

/* Proves that a fence ends only after the warp's stores are acknowledged, and costs its own time
 * when there are none. */
static void test_fence(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, 32, NULL);
    Reg *reg = reg_new(4, TRUE);
    SimTime empty_ps = 0, after_ps = 0;
    Uop fence = {.kind = UOP_FENCE}, store = uop_of(UOP_STORE, FAR_VA, 4, 4, reg);
    Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &empty_ps};
    warp_push(&stand.cta->warp[0], &fence);
    warp_push(&stand.cta->warp[0], &call);
    stand_run(&stand);
    assert_true(empty_ps == stand.bed.spec.sm.fence_ps);
    call.arg = &after_ps;
    warp_push(&stand.cta->warp[0], &store);
    warp_push(&stand.cta->warp[0], &fence);
    warp_push(&stand.cta->warp[0], &call);
    SimTime start_ps = sim_now_ps(stand.bed.sim);
    stand_run(&stand);
    assert_true(after_ps - start_ps >= 870000); /* the store alone takes that long (tests/golden/walk-store) */
    reg_free(reg);
    stand_close(&stand);
}

/* Proves that fences of an SM's warps that come close together take one flush, that one that comes later takes the
 * next, and that a fence waits for a remote store of another warp. */
static void test_fence_shares(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, 128, NULL);
    const SmSpec *sm = &stand.bed.spec.sm;
    static const guint64 delay_ps[4] = {0, 60000, 150000, 5000000};
    SimTime end_ps[4] = {0};
    Reg *reg = reg_new(4, TRUE);
    Uop store = uop_of(UOP_STORE, FAR_VA, 4, 4, reg);
    for (guint w = 0; w < 4; w++) {
        Uop delay = {.kind = UOP_DELAY, .value = delay_ps[w]}, fence = {.kind = UOP_FENCE};
        Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &end_ps[w]};
        warp_push(&stand.cta->warp[w], &delay);
        if (w == 0) { /* its store is under way when warp 3 fences */
            Uop wait = {.kind = UOP_DELAY, .value = 4990000};
            warp_push(&stand.cta->warp[w], &fence);
            warp_push(&stand.cta->warp[w], &call);
            wait.value -= sm->fence_ps;
            warp_push(&stand.cta->warp[w], &wait);
            warp_push(&stand.cta->warp[w], &store);
            continue;
        }
        warp_push(&stand.cta->warp[w], &fence);
        warp_push(&stand.cta->warp[w], &call);
    }
    stand_run(&stand);
    assert_true(end_ps[0] == sm->fence_ps);
    assert_true(end_ps[1] == sm->fence_ps + 60000);
    assert_true(end_ps[2] == 2 * sm->fence_ps - sm->fence_overlap_ps);
    assert_true(end_ps[3] > 5000000 + 800000);
    reg_free(reg);
    stand_close(&stand);
}

/* Proves that a GPU's rounds of flushes last fence_round_ps: a fence of another SM that comes 10 ns after the first one
 * finds its round under way, and begins its own at that one's end. */
static void test_fence_round(void **state)
{
    (void)state;
    for (guint longer = 0; longer < 2; longer++) {
        const char *sets[] = {longer ? "sm.fence_round_ps=90000" : "sm.fence_round_ps=65000", NULL};
        const SimTime round_ps = longer ? 90000 : 65000;
        Stand stand;
        stand_open(&stand, 32, sets);
        Cta *other = cta_new(&stand.bed.fabric->gpu[0], stand.vas, 1, 32, "other");
        other->user = &stand;
        cta_place(other, stand_on_placed);
        assert_true(stand.placed == 2 && other->sm != stand.cta->sm);
        SimTime end_ps[2] = {0};
        for (guint w = 0; w < 2; w++) {
            Warp *warp = w ? &other->warp[0] : &stand.cta->warp[0];
            Uop delay = {.kind = UOP_DELAY, .value = 10000}, fence = {.kind = UOP_FENCE};
            Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &end_ps[w]};
            if (w)
                warp_push(warp, &delay);
            warp_push(warp, &fence);
            warp_push(warp, &call);
        }
        stand_run(&stand);
        assert_true(end_ps[0] == 581000); /* fence_ps */
        /* its flush is there at 10 + 300 ns (fence_snapshot_ps); the round from 300 ns on ends; 581 - 300 ns follow */
        assert_true(end_ps[1] == 300000 + round_ps + 281000);
        cta_free(other);
        stand_close(&stand);
    }
}

/* Proves that the instructions between two memory instructions run while the first one waits for the LSU, that what
 * uses its registers waits for it, and that a warp between its instructions holds up no other. */
static void test_work(void **state)
{
    (void)state;
    for (guint after = 0; after < 2; after++) {
        Stand stand;
        stand_open(&stand, 96, NULL);
        const SmSpec *sm = &stand.bed.spec.sm;
        SimTime end_ps[3] = {0};
        Reg *reg = reg_new(16, TRUE);
        Uop store = uop_of(UOP_STORE, FAR_VA, 16, 16, reg);
        Uop work = {.kind = UOP_WORK, .value = 60000, .after_ps = after ? 60000 : 0};
        for (guint w = 0; w < 3; w++) {
            Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &end_ps[w]};
            store.va = FAR_VA + w * 512;
            warp_push(&stand.cta->warp[w], &store);
            warp_push(&stand.cta->warp[w], &work);
            warp_push(&stand.cta->warp[w], &call);
        }
        stand_run(&stand);
        SimTime each_ps = 4 * sm->store_ps;
        for (guint w = 0; w < 3; w++)
            assert_true(end_ps[w] == 60000 + (after ? w * each_ps : 0));
        reg_free(reg);
        stand_close(&stand);
    }
    Stand stand;
    stand_open(&stand, 64, NULL);
    stand.bed.fabric->spec.sm.warp_issue_ps = 21200;
    SimTime end_ps = 0;
    Reg *reg = reg_new(16, TRUE);
    Uop store = uop_of(UOP_STORE, FAR_VA, 16, 16, reg), late = {.kind = UOP_DELAY, .value = 2000};
    Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &end_ps};
    warp_push(&stand.cta->warp[0], &store);
    warp_push(&stand.cta->warp[0], &store); /* not before sm.warp_issue_ps */
    warp_push(&stand.cta->warp[1], &late);
    warp_push(&stand.cta->warp[1], &call);
    stand_run(&stand);
    assert_true(end_ps == 4 * stand.bed.spec.sm.store_ps + 2000);
    reg_free(reg);
    stand_close(&stand);
}

/* Proves that instructions that end at a time of their own run while the warp's next memory instruction must wait. */
static void test_until(void **state)
{
    (void)state;
    static const SimTime until_ps[] = {60000, 20000};
    for (guint k = 0; k < G_N_ELEMENTS(until_ps); k++) {
        Stand stand;
        stand_open(&stand, 32, NULL);
        stand.bed.fabric->spec.sm.warp_issue_ps = 50000;
        SimTime end_ps = 0;
        Reg *reg = reg_new(16, TRUE);
        Uop store = uop_of(UOP_STORE, FAR_VA, 16, 16, reg), until = {.kind = UOP_UNTIL, .value = until_ps[k]};
        Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &end_ps};
        warp_push(&stand.cta->warp[0], &store);
        warp_push(&stand.cta->warp[0], &until);
        warp_push(&stand.cta->warp[0], &call);
        stand_run(&stand);
        assert_true(end_ps == MAX(until_ps[k], 50000));
        reg_free(reg);
        stand_close(&stand);
    }
}

/* Proves that a named barrier holds only the warps that it counts, and each barrier its own. */
static void test_named_barrier(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, 128, NULL);
    SimTime passed_ps[4] = {0};
    for (guint w = 0; w < 4; w++) {
        Uop delay = {.kind = UOP_DELAY, .value = w * 1000000};
        Uop barrier = {.kind = UOP_BARRIER, .value = UOP_BARRIER_VALUE(1 + w / 2, 2)};
        Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &passed_ps[w]};
        warp_push(&stand.cta->warp[w], &delay);
        warp_push(&stand.cta->warp[w], &barrier);
        warp_push(&stand.cta->warp[w], &call);
    }
    stand_run(&stand);
    for (guint w = 0; w < 4; w++)
        assert_true(passed_ps[w] == (w / 2 * 2 + 1) * 1000000 + stand.bed.spec.sm.barrier_ps);
    stand_close(&stand);
}

/* Proves that no warp of a CTA passes a barrier before the last one has come. */
static void test_barrier(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, 128, NULL);
    SimTime passed_ps[4] = {0};
    for (guint w = 0; w < 4; w++) {
        Uop delay = {.kind = UOP_DELAY, .value = w * 1000000}, barrier = {.kind = UOP_BARRIER};
        Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &passed_ps[w]};
        warp_push(&stand.cta->warp[w], &delay);
        warp_push(&stand.cta->warp[w], &barrier);
        warp_push(&stand.cta->warp[w], &call);
    }
    stand_run(&stand);
    for (guint w = 0; w < 4; w++)
        assert_true(passed_ps[w] == 3000000 + stand.bed.spec.sm.barrier_ps);
    stand_close(&stand);
}

/* Proves that each access CUDA leaves undefined is reported with its kind, GPU and address, does
 * not happen, and does not stop the warp. */
static void test_faults(void **state)
{
    (void)state;
    static const struct {
        UopKind uop;
        guint64 va;
        FaultKind fault;
    } row[] = {{UOP_LOAD, 0x900000, FAULT_UNMAPPED},
               {UOP_STORE, LOCKED_VA, FAULT_ACCESS},
               {UOP_STORE, TEAM_VA, FAULT_PLAIN_ON_MULTICAST},
               {UOP_MC_STORE, FAR_VA, FAULT_MULTIMEM_ON_UNICAST}};
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        Stand stand;
        stand_open(&stand, 32, NULL);
        Reg *reg = reg_new(4, TRUE);
        SimTime after_ps = SIMTIME_NEVER;
        Uop bad = uop_of(row[i].uop, row[i].va, 4, 4, reg);
        Uop call = {.kind = UOP_CALL, .call = note_time, .arg = &after_ps};
        warp_push(&stand.cta->warp[0], &bad);
        warp_push(&stand.cta->warp[0], &call);
        stand_run(&stand);
        assert_true(stand.bed.fabric->n_faults == 1);
        const FabricFault *fault = &g_array_index(stand.bed.fabric->faults, FabricFault, 0);
        assert_int_equal(fault->kind, row[i].fault);
        assert_true(fault->va == row[i].va && fault->gpu == 0);
        assert_string_equal(fault->who, "test");
        assert_true(after_ps != SIMTIME_NEVER);
        reg_free(reg);
        stand_close(&stand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coalescing),    cmocka_unit_test(test_load_then_store),
        cmocka_unit_test(test_fence),         cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_fence_shares),  cmocka_unit_test(test_work),
        cmocka_unit_test(test_fence_round),   cmocka_unit_test(test_until),
        cmocka_unit_test(test_named_barrier), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
