#include "tests/model_test.h"

#include "model/load_share.h"

#define TRIP_PS 860000u

static guint32 share_of(guint32 ctas, const LoadKind *kind)
{
    Bed bed;
    bed_open(&bed, "dgx-h100", NULL, NULL);
    LoadShares *shares = load_shares_new(bed.fabric);
    guint32 share = load_share_links(shares, ctas, load_kind(shares, kind));
    assert_int_equal(share, load_share_links(shares, ctas, load_kind(shares, kind)));
    load_shares_free(shares);
    bed_close(&bed);
    return share;
}

/* Proves that one warp alone takes what its instructions, the trip and its own packets on one link take. */
static void test_one_warp(void **state)
{
    Bed bed;
    LoadKind kind = {.trip_ps = TRIP_PS, .ctas = 1, .warps = 1, .unroll = 1, .peers = 1, .own = 1, .stores = 1,
                     .strided = TRUE};
    (void)state;
    bed_open(&bed, "dgx-h100", NULL, NULL);
    const FabricSpec *spec = &bed.fabric->spec;
    guint64 flit_fs = FLIT_BYTES * 1000000000ull / spec->link.rate_MBps, links = bed.fabric->links;
    /* two loads and a store, a gap apart; the trip; the second packet behind the first */
    guint64 turn_ps = 2 * spec->sm.warp_issue_ps + TRIP_PS + 9 * flit_fs / 1000;
    guint64 share = 4ull * 10 * flit_fs / 1000 * LOAD_ALL / links / turn_ps; /* of 10 flits a packet */
    bed_close(&bed);
    assert_in_range(share_of(1, &kind), share * 99 / 100, share * 101 / 100);
}

/* Proves that links get busier with more CTAs, less than in proportion, and are not quite busy with any number: each
 * warp waits for the fullest queue. */
static void test_more(void **state)
{
    LoadKind kind = {.trip_ps = TRIP_PS, .ctas = 1, .warps = 16, .unroll = 1, .peers = 3, .own = 1, .stores = 1,
                     .strided = TRUE};
    guint32 last = 0, one = share_of(1, &kind);
    (void)state;
    static const guint32 ctas[] = {4, 8, 12, 16};
    for (guint i = 0; i < G_N_ELEMENTS(ctas); i++) {
        kind.ctas = ctas[i];
        guint32 share = share_of(ctas[i], &kind);
        assert_true(share > last && share <= ctas[i] * one);
        last = share;
    }
    kind.ctas = 36;
    assert_in_range(share_of(36, &kind), 900000, 990000);
    /* fewer than all get what as many single ones do */
    assert_in_range(share_of(2, &kind), 2 * one - one / 20, 2 * one + one / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_warp), cmocka_unit_test(test_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
