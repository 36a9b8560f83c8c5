/* What rows of [sm] and [gpu] of fences and of the way out of SMs stand for: on teach-4gpu, whose numbers are round,
 * warps go on exactly when it is worked out by hand. */
#include "model/sm/place.h"
#include "tests/model/warp_test.h"

static void note_time(void *arg, SimTime now_ps) { *(SimTime *)arg = now_ps; }

static void then_note(Warp *warp, SimTime *at_ps)
{
    Uop call = {.kind = UOP_CALL, .call = note_time, .arg = at_ps};
    warp_push(warp, &call);
}

static void delay(Warp *warp, SimTime by_ps)
{
    Uop uop = {.kind = UOP_DELAY, .value = by_ps};
    warp_push(warp, &uop);
}

static void is(SimTime got_ps, SimTime right_ps, const char *what)
{
    if (got_ps != right_ps)
        fail_msg("%s: %" G_GUINT64_FORMAT " ps, should be %" G_GUINT64_FORMAT, what, got_ps, right_ps);
}

/* Warp 0 fences at 0, another warp of its SM at delay_ps: when that one goes on. */
static SimTime second_fence_ps(guint other, SimTime delay_ps, const char *set)
{
    const char *sets[] = {set, NULL};
    const Uop fence = {.kind = UOP_FENCE};
    SimTime first_ps = 0, second_ps = 0;
    Stand stand;
    stand_open(&stand, 160, set ? sets : NULL);
    warp_push(&stand.cta->warp[0], &fence);
    then_note(&stand.cta->warp[0], &first_ps);
    if (delay_ps)
        delay(&stand.cta->warp[other], delay_ps);
    warp_push(&stand.cta->warp[other], &fence);
    then_note(&stand.cta->warp[other], &second_ps);
    stand_run(&stand);
    stand_close(&stand);
    is(first_ps, 581000, set ? set : "the first fence"); /* fence_ps */
    return second_ps;
}

/* Proves how often a scheduler issues a fence and how long a flush takes others along. A second warp ends as much later
 * as it came, in the first one's flush; else in the next, which begins 71 ns before the first one's end (510) and takes
 * 581 like it: 1,091. Warps 0 and 4 have one scheduler, warp 1 has another. */
static void test_fence_rows(void **state)
{
    (void)state;
    static const struct {
        guint other;
        SimTime delay_ps;
        const char *set;
        SimTime right_ps;
    } rows[] = {
        {1, 0, NULL, 581000},
        {4, 0, NULL, 581000 + 78000}, /* it issues 78 ns later */
        {4, 0, "sm.fence_issue_ps=50000", 631000},
        {4, 0, "sm.fence_issue_ps=0", 581000},
        {1, 0, "sm.fence_issue_ps=50000", 581000},
        {4, 0, "sm.fence_issue_ps=120000", 1091000}, /* too late for the flush */
        {1, 100000, NULL, 681000},
        {1, 100001, NULL, 1091000},
        {1, 100001, "sm.fence_join_ps=110000", 681001},
        {1, 60000, "sm.fence_join_ps=50000", 1091000},
        {1, 100001, "sm.fence_overlap_ps=0", 1162000},       /* behind the first: 2 * 581 */
        {1, 100001, "sm.fence_snapshot_ps=350000", 1091000}, /* the round is 50 later and as much shorter */
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        is(second_fence_ps(rows[i].other, rows[i].delay_ps, rows[i].set), rows[i].right_ps,
           rows[i].set ? rows[i].set : "as it is");
}

/* Proves that a fence behind a store ends fence_return_ps after the store's acknowledgement, which is there 870 ns
 * after the store went out (test_request_times), at 0. */
static void test_fence_return(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        SimTime right_ps;
    } rows[] = {
        {"sm.fence_return_ps=90000", 870000 + 90000},
        {"sm.fence_return_ps=130000", 870000 + 130000},
        {"sm.fence_return_ps=0", 870000},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *sets[] = {rows[i].set, "sm.warp_issue_ps=0", NULL};
        const Uop fence = {.kind = UOP_FENCE};
        SimTime end_ps = 0;
        Stand stand;
        stand_open(&stand, 32, sets);
        Reg *reg = reg_new(4, TRUE);
        Uop store = uop_of(UOP_STORE, FAR_VA, 4, 4, reg);
        warp_push(&stand.cta->warp[0], &store);
        warp_push(&stand.cta->warp[0], &fence);
        then_note(&stand.cta->warp[0], &end_ps);
        stand_run(&stand);
        is(end_ps, rows[i].right_ps, rows[i].set);
        reg_free(reg);
        stand_close(&stand);
    }
}

/* When a warp is through with so many stores to one line of GPU 1, one after the other, which all take one wire. */
static SimTime stored_ps(guint stores, const char *const *sets, guint64 *packets)
{
    SimTime end_ps = 0;
    Stand stand;
    stand_open(&stand, 32, sets);
    Reg *reg = reg_new(4, TRUE);
    for (guint i = 0; i < stores; i++) {
        Uop store = uop_of(UOP_STORE, FAR_VA, 4, 4, reg);
        warp_push(&stand.cta->warp[0], &store);
    }
    then_note(&stand.cta->warp[0], &end_ps);
    stand_run(&stand);
    if (packets)
        *packets = stand.bed.fabric->gpu[0].requests;
    reg_free(reg);
    stand_close(&stand);
    return end_ps;
}

/* Proves that no more stores of an SM are under way than it may have: with one, they go out one round trip of 870 ns
 * apart, and the LSU is at the last one for 2 ns. */
static void test_stores_max(void **state)
{
    (void)state;
    static const char *const one[] = {"sm.stores_max=1", "sm.warp_issue_ps=0", NULL};
    is(stored_ps(1, one, NULL), 2000, "one store");
    is(stored_ps(4, one, NULL), 3 * 870000 + 2000, "four, one at a time");
}

#define NARROW "gpu.source_queue_packets=1", "sm.warp_issue_ps=0"

/* Proves how many packets wait between an SM and a port that has room for one. Each store takes the LSU 2 ns and its
 * wire 9 (9 flits): the first is on the wire, the second at the port, the next `places` wait behind it; store n > 2 +
 * places has a place when store n - 2 - places leaves the port, (n - 2 - places) * 9 ns after the first did. */
static void test_places(void **state)
{
    (void)state;
    static const char *const usual[] = {NARROW, "sm.merge_stores=false", NULL}; /* 80 of an SM, 280 of a queue */
    static const char *const limits[] = {"sm.out_packets", "gpu.out_packets"};
    is(stored_ps(12, usual, NULL), 12 * 2000, "12 stores with room");
    for (guint i = 0; i < 6; i++) {
        const guint places = 1 + i / 2 * 2;
        g_autofree char *limit = g_strdup_printf("%s=%u", limits[i % 2], places);
        const char *sets[] = {NARROW, "sm.merge_stores=false", limit, NULL};
        is(stored_ps(2 + places, sets, NULL), (2 + places) * 2000, limit);
        is(stored_ps(12, sets, NULL), (12 - 2 - places) * 9000 + 2000, limit);
    }
}

/* Proves that a store to the bytes of one that waits takes its place, and the LSU 1.8 ns instead of 2. Store 3 waits
 * from 4 ns to 9; stores 4 and 5 merge with it, 6, which comes at 9.6, waits until 18, and so on. */
static void test_merge(void **state)
{
    (void)state;
    static const char *const merged[] = {NARROW, NULL}, *const slow[] = {NARROW, "sm.merge_ps=500", NULL};
    static const char *const apart[] = {NARROW, "sm.merge_stores=false", NULL};
    guint64 packets;
    is(stored_ps(5, merged, &packets), 3 * 2000 + 2 * 1800, "two of five merge");
    assert_int_equal(packets, 3);
    is(stored_ps(6, merged, &packets), 4 * 2000 + 2 * 1800, "the sixth waits");
    assert_int_equal(packets, 4);
    is(stored_ps(10, merged, &packets), 4 * 2000 + 6 * 1800, "four merge with it");
    assert_int_equal(packets, 4);
    is(stored_ps(9, slow, &packets), 3 * 2000 + 6 * 500, "six of nine merge at 0.5 ns each, until 9");
    assert_int_equal(packets, 3);
    is(stored_ps(10, apart, &packets), 10 * 2000, "none merges");
    assert_int_equal(packets, 10);
}

/* An address of GPU 1 to which GPU 0 takes another link than to FAR_VA. */
static guint64 other_link(const Stand *stand)
{
    const Gpu *gpu = &stand->bed.fabric->gpu[0];
    GpuRequest request = {.kind = PACKET_WRITE, .region = stand->far, .bytes = 128};
    const guint32 link = gpu_link_of(gpu, &request);
    while (gpu_link_of(gpu, &request) == link)
        request.offset += 256;
    return FAR_VA + request.offset;
}

/* Proves that SMs which share a queue wait for each other, and others do not. SM 0 stores ten times to one port; at
 * 5 ns SM 1 loads by another one, which takes 820. In the queue of SM 0 its request leaves behind store 3, at 9. */
static void test_queues(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        SimTime right_ps;
    } rows[] = {
        {"sm.gpcs=2", 5000 + 820000},       /* SMs 0 and 1 are of two TPCs, each of a GPC of its own, */
        {"sm.gpcs=1", 5000 + 820000},       /* or of one GPC, but two CPCs */
        {"sm.first_tpcs=1", 9000 + 820000}, /* of one TPC, which gets CTAs first */
        {"sm.tpc_sms=4", 9000 + 820000},    /* of one, as all are */
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *sets[] = {NARROW, "sm.merge_stores=false", "gpu.half_gpcs=0", rows[i].set, NULL};
        Stand stand;
        SimTime end_ps = 0;
        stand_open(&stand, 32, sets);
        memory_set_cached(stand.bed.fabric->memory, stand.far, TRUE);
        Cta *other = cta_new(&stand.bed.fabric->gpu[0], stand.vas, 1, 32, "other");
        other->user = &stand;
        cta_place(other, stand_on_placed);
        assert_true(stand.cta->sm == &stand.bed.fabric->gpu[0].sm[0] && other->sm == &stand.bed.fabric->gpu[0].sm[1]);
        Reg *reg = reg_new(4, TRUE), *loaded = reg_new(4, TRUE);
        Uop store = uop_of(UOP_STORE, FAR_VA, 4, 4, reg), load = uop_of(UOP_LOAD, other_link(&stand), 4, 4, loaded);
        for (guint n = 0; n < 10; n++)
            warp_push(&stand.cta->warp[0], &store);
        delay(&other->warp[0], 5000);
        warp_push(&other->warp[0], &load);
        Uop wait = {.kind = UOP_CALL, .src = loaded, .call = note_time, .arg = &end_ps};
        warp_push(&other->warp[0], &wait);
        stand_run(&stand);
        is(end_ps, rows[i].right_ps, rows[i].set);
        reg_free(reg);
        reg_free(loaded);
        cta_free(other);
        stand_close(&stand);
    }
}

/* Proves of which GPC an SM is. 12 SMs in TPCs of two are 6 TPCs; of 4 GPCs the last two have one TPC more, and the
 * first SM of each TPC is numbered before the second ones. Where the first GPC's TPC comes first, both its SMs do. */
static void test_gpcs(void **state)
{
    (void)state;
    static const struct {
        guint64 tpc_sms, first_tpcs;
        guint32 gpc[12];
    } rows[] = {
        {2, 0, {0, 1, 2, 3, 2, 3, 0, 1, 2, 3, 2, 3}},
        {1, 0, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}}, /* 12 TPCs, three of each GPC */
        {4, 0, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}}, /* 3 TPCs: the first GPC has none */
        {2, 1, {0, 0, 1, 2, 3, 2, 3, 1, 2, 3, 2, 3}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const FabricSpec spec = {
            .sm = {.count = 12, .tpc_sms = rows[i].tpc_sms, .gpcs = 4, .first_tpcs = rows[i].first_tpcs}};
        for (guint s = 0; s < 12; s++)
            assert_int_equal(place_of(&spec, s).gpc, rows[i].gpc[s]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence_rows), cmocka_unit_test(test_fence_return), cmocka_unit_test(test_stores_max),
        cmocka_unit_test(test_places),     cmocka_unit_test(test_merge),        cmocka_unit_test(test_queues),
        cmocka_unit_test(test_gpcs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
