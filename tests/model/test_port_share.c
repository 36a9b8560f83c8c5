#include <math.h>

#include "tests/model/model_test.h"

#include "model/flow/egress_share.h"

#define PACKET_PS 6000u

static PortShares *shares_open(Bed *bed, const char *depth)
{
    const char *sets[] = {depth, NULL};
    bed_open(bed, "dgx-h100", depth ? sets : NULL, NULL);
    return port_shares_new(bed->fabric);
}

static void shares_close(Bed *bed, PortShares *shares)
{
    port_shares_free(shares);
    bed_close(bed);
}

static PortKind kind_of(guint32 link_ps, guint32 packet_ps)
{
    return (PortKind){
        .link_ps = link_ps, .packet_ps = packet_ps, .warps = 16, .unroll = 4, .copies = 1, .strided = TRUE};
}

/* Proves that ports hold up nobody who is far from filling them. */
static void test_few(void **state)
{
    Bed bed;
    PortShares *shares = shares_open(&bed, NULL);
    PortKind kind = kind_of(PACKET_PS, PACKET_PS);
    guint32 k = port_kind(shares, &kind);
    (void)state;
    assert_int_equal(k, port_kind(shares, &kind)); /* known by what it says */
    for (guint32 sms = 1; sms <= 6; sms++)         /* 6 x 6 / 3 of 18 links */
        assert_int_equal(port_share_links(shares, sms, 3000, k), PORT_ALL);
    shares_close(&bed, shares);
}

/* Proves that ports with deep queues are kept busy by SMs that have enough, the less so the shorter the queues are, and
 * that packets wait about as long as full queues take. */
static void test_depth(void **state)
{
    static const char *const depth[] = {"gpu.source_queue_packets=2000", "gpu.source_queue_packets=64",
                                        "gpu.source_queue_packets=8"};
    PortShare share[3];
    (void)state;
    for (guint i = 0; i < 3; i++) {
        Bed bed;
        PortShares *shares = shares_open(&bed, depth[i]);
        PortKind kind = kind_of(PACKET_PS, PACKET_PS);
        share[i] = port_share(shares, 36, 3000, port_kind(shares, &kind));
        shares_close(&bed, shares);
    }
    assert_in_range(share[0].per_mille, 985, 1000);
    assert_in_range(share[1].per_mille, 900, share[0].per_mille);
    assert_in_range(share[2].per_mille, 600, share[1].per_mille - 20);
    /* 8 queues of 270 and 18 of 64 packets leave by 18 links */
    assert_in_range(share[1].wait_ps, (8 * 270 + 18 * 8) * PACKET_PS / 18, (8 * 270 + 18 * 64) * PACKET_PS / 18);
    assert_true(share[1].worst_ps > share[1].wait_ps);
}

/* Proves that packets wait for others at ports that are not full either: 12 SMs that take two thirds of the links' time
 * get all they want, their packets wait, and less than those of SMs that fill the ports. */
static void test_partly_busy(void **state)
{
    Bed bed;
    PortShares *shares = shares_open(&bed, NULL);
    PortKind kind = kind_of(PACKET_PS, PACKET_PS);
    guint32 k = port_kind(shares, &kind);
    (void)state;
    PortShare part = port_share(shares, 12, 6000, k), full = port_share(shares, 36, 3000, k);
    assert_in_range(part.per_mille, 990, 1000);
    assert_in_range(part.wait_ps, 1, full.wait_ps / 4);
    assert_in_range(part.worst_ps, part.wait_ps, full.worst_ps / 2);
    shares_close(&bed, shares);
}

/* Proves that where the switch takes longer than the link, links are busy for so much less. */
static void test_slow_switch(void **state)
{
    Bed bed;
    PortShares *shares = shares_open(&bed, NULL);
    PortKind kind = kind_of(PACKET_PS, 2 * PACKET_PS);
    guint32 share = port_share_links(shares, 36, 3000, port_kind(shares, &kind));
    (void)state;
    assert_in_range(share, PORT_ALL * 45 / 100, PORT_ALL / 2);
    shares_close(&bed, shares);
}

/* Of so many packets, how much SMs that share their queue with equally many others differ. */
static double apart(const PortShare *share, double packets)
{
    return hypot(share->queues_per_mille, share->spread_per_mille) / 1000 * sqrt(packets) / packets;
}

/* Proves that SMs which share their queue with others differ less among themselves the more packets they have sent:
 * the figure is of a random walk, not of those in fuller queues falling behind; and that queues differ less than SMs of
 * one queue do, since ports give their room to the one that has had the fewest turns. */
static void test_spread(void **state)
{
    Bed bed;
    PortShares *shares = shares_open(&bed, NULL);
    PortKind kind = kind_of(PACKET_PS, PACKET_PS);
    guint32 k = port_kind(shares, &kind);
    (void)state;
    /* 12 SMs: queues of one to four, which as one group would be 30 % and more apart */
    PortShare share = port_share(shares, 12, 3000, k);
    double sms_packets = 40960.0 / 12;
    assert_true(apart(&share, sms_packets) < 0.15);
    assert_true(share.spread_per_mille > 0);
    assert_true(share.queues_per_mille < share.spread_per_mille);
    shares_close(&bed, shares);
}

/* Proves that places go round among the SMs of one queue, whatever their numbers: of 36 that each write an array of
 * their own, those with equally many neighbours are 0.07 apart; 0.13 when at one instant the highest number always
 * goes first. */
static void test_turns(void **state)
{
    Bed bed;
    PortShares *shares = shares_open(&bed, NULL);
    PortKind kind = kind_of(6199, 6199);
    kind.strided = FALSE;
    (void)state;
    PortShare share = port_share(shares, 36, 3000, port_kind(shares, &kind));
    double sms_packets = 40960.0 / 36;
    assert_true(apart(&share, sms_packets) < 0.1);
    shares_close(&bed, shares);
}

/* 32 SMs that load, so many packets at once, and 32 that store. */
static PortShare mixed(PortShares *shares, guint32 ask_ps, guint32 window)
{
    PortKind write = kind_of(6115, 6115), read = kind_of(679, 679);
    read.answer_ps = 6115;
    read.window = window;
    PortSide stores = {32, 2500, port_kind(shares, &write)}, loads = {32, ask_ps, port_kind(shares, &read)};
    return port_share_mixed(shares, &stores, &loads);
}

/* Proves that SMs that load and SMs that store get as many packets through a queue, also when one needs the LSU
 * less for a packet, since each SM has its part of the queue's places; and that loads that fill the links back
 * leave stores theirs, as on hardware (h200 mixed_single: 649 of 678 GB/s). */
static void test_mixed(void **state)
{
    Bed bed;
    PortShares *shares = shares_open(&bed, NULL);
    (void)state;
    PortShare alike = mixed(shares, 2500, 64), fast = mixed(shares, 500, 64), full = mixed(shares, 500, 1024);
    assert_in_range(alike.loads_per_mille, 930, 1070);
    assert_in_range(fast.loads_per_mille, 1000, 1200);
    assert_in_range(alike.per_mille, 930, 1000);
    assert_in_range(fast.per_mille, 930, 1000);
    assert_in_range(full.per_mille, 930, 1000); /* links back are full of 32 SMs' answers */
    shares_close(&bed, shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few),         cmocka_unit_test(test_depth),
                                       cmocka_unit_test(test_partly_busy), cmocka_unit_test(test_slow_switch),
                                       cmocka_unit_test(test_spread),      cmocka_unit_test(test_turns),
                                       cmocka_unit_test(test_mixed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
