#include "tests/model/model_test.h"

#include "model/flow/load_rate.h"

#define TRIP_PS 860000u

static guint32 share_of(guint32 ctas, const LoadKind *kind, guint64 *limit)
{
    Bed bed;
    bed_open(&bed, "dgx-h100", NULL, NULL);
    LoadShares *shares = load_shares_new(bed.fabric);
    guint32 share = load_share_links(shares, ctas, load_kind(shares, kind));
    *limit = load_share_limit(shares, load_kind(shares, kind)); /* known by what it says */
    load_shares_free(shares);
    bed_close(&bed);
    return share;
}

/* Proves that one warp alone takes what its instructions, the trip and its own packets on one link take. */
static void test_one_warp(void **state)
{
    Bed bed;
    guint64 limit;
    LoadKind kind = {
        .trip_ps = TRIP_PS, .ctas = 1, .warps = 1, .unroll = 1, .peers = 1, .own = 1, .stores = 1, .strided = TRUE};
    (void)state;
    bed_open(&bed, "dgx-h100", NULL, NULL);
    const FabricSpec *spec = &bed.fabric->spec;
    guint64 flit_fs = FLIT_BYTES * 1000000000ull / spec->link.rate_MBps;
    /* two loads of 4 packets, one behind the other; the trip; the second packet behind the first; from the store to the
     * next turn */
    guint64 load_ps = 2 * spec->sm.clock_ps + 2 * 4 * spec->sm.load_ps;
    guint64 turn_ps = load_ps + TRIP_PS + 9 * flit_fs / 1000 + spec->sm.warp_issue_ps;
    bed_close(&bed);
    assert_int_equal(share_of(1, &kind, &limit), LOAD_ALL); /* links have nothing to do */
    assert_in_range(limit, 4 * PS_PER_S / turn_ps * 99 / 100, 4 * PS_PER_S / turn_ps * 101 / 100);
}

/* Proves that few CTAs are not held up by links, that many cannot use all of them, since each warp waits for the
 * fullest queue, and that the fewer that are left of these at the end are no worse. What a CTA gets by itself is what
 * it gets among three others, within 2 %. */
static void test_more(void **state)
{
    guint64 limit, same;
    LoadKind kind = {
        .trip_ps = TRIP_PS, .ctas = 4, .warps = 16, .unroll = 1, .peers = 3, .own = 1, .stores = 1, .strided = TRUE};
    (void)state;
    assert_int_equal(share_of(4, &kind, &limit), LOAD_ALL);
    /* 16 warps are 16 times one, less what they queue at their LSU */
    assert_in_range(limit, 14 * 4 * PS_PER_S / 1000000, 16 * 4 * PS_PER_S / TRIP_PS);
    kind.ctas = 36;
    guint32 many = share_of(36, &kind, &same);
    assert_in_range(many, 900000, 995000);
    assert_in_range(same, limit * 98 / 100, limit * 102 / 100);
    assert_int_equal(share_of(24, &kind, &same), many);
    assert_int_equal(share_of(2, &kind, &same), LOAD_ALL);
}

/* Proves that a warp's other work is part of its turn: before the loads and when they are there in full, meanwhile only
 * as far as it takes longer than they do. */
static void test_other_work(void **state)
{
    guint64 plain, limit;
    LoadKind kind = {
        .trip_ps = TRIP_PS, .ctas = 1, .warps = 1, .unroll = 1, .peers = 1, .own = 1, .stores = 1, .strided = TRUE};
    (void)state;
    share_of(1, &kind, &plain);
    guint64 turn_ps = 4 * PS_PER_S / plain;
    kind.meanwhile_ps = TRIP_PS / 2;
    share_of(1, &kind, &limit);
    assert_int_equal(limit, plain);
    kind.work_ps = 200000;
    kind.then_ps = 100000;
    share_of(1, &kind, &limit);
    assert_in_range(4 * PS_PER_S / limit, turn_ps + 299000, turn_ps + 301000);
    kind.meanwhile_ps = TRIP_PS + 300000;
    share_of(1, &kind, &limit);
    assert_in_range(4 * PS_PER_S / limit, turn_ps + 595000, turn_ps + 605000);
}

/* Proves that many CTAs which links do not hold up are a little slower each than one, for their packets still meet. */
static void test_far_from_full(void **state)
{
    guint64 one, limit;
    LoadKind kind = {.trip_ps = TRIP_PS,
                     .ctas = 1,
                     .warps = 16,
                     .unroll = 1,
                     .peers = 1,
                     .own = 1,
                     .stores = 1,
                     .work_ps = 300000,
                     .strided = TRUE};
    (void)state;
    share_of(1, &kind, &one);
    kind.ctas = 36;
    assert_int_equal(share_of(36, &kind, &limit), LOAD_ALL);
    assert_in_range(limit, one * 95 / 100, one * 99 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_warp), cmocka_unit_test(test_more),
                                       cmocka_unit_test(test_other_work), cmocka_unit_test(test_far_from_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
