#include "tests/model/link_ends.h"

#include "model/link/ack_merge.h"
#include "sim/rng.h"

/* Requests of a lane: each is answered by an acknowledgement of 4 flits with its number, `later_ps` after it was
 * served. */
typedef struct {
    Ends ends;
    SimTime later_ps;
    SimTime served_ps[64];
    guint served;
} Port;

static gboolean port_serve(void *node, Link *link, const LinkReady *request, SimTime at_ps, Packet *answer)
{
    Port *port = node;
    port->served_ps[port->served++] = at_ps;
    *answer = packet_of(PACKET_ACK, request->packet.txn, 4);
    if (!port->later_ps)
        return TRUE;
    link_push_behind(link, LINK_LANE_ANSWERS, *answer, at_ps + port->later_ps);
    return FALSE;
}

static void port_open(Port *port, guint32 gate)
{
    memset(port, 0, sizeof *port);
    ends_open(&port->ends, 16000, 1024); /* a flit takes 1 ns */
    port->ends.link.source_node = port;
    link_set_lanes(&port->ends.link, port_serve, gate, &port->ends.link);
}

/* Proves that requests known beforehand are served when they come, their answers going on the wire then and among what
 * else is pushed, in order of time. */
static void test_lane(void **state)
{
    (void)state;
    Port port;
    port_open(&port, 8);
    Link *link = &port.ends.link;
    link_push_request(link, packet_of(PACKET_MC_WRITE, 1, 9), 5000, FALSE);
    link_push_request(link, packet_of(PACKET_MC_WRITE, 2, 9), 6000, FALSE);
    link_push(link, packet_of(PACKET_WRITE, 3, 9), 0);
    link_push(link, packet_of(PACKET_WRITE, 4, 9), 0);
    sim_run(port.ends.sim, SIMTIME_NEVER);
    assert_int_equal(port.ends.n, 4);
    /* 3 from 0 to 9; 1 came at 5 and has its turn; then 4, and 2 at the end */
    static const guint32 number[] = {3, 1, 4, 2};
    static const SimTime end_ps[] = {9000, 13000, 22000, 26000};
    for (guint i = 0; i < 4; i++) {
        assert_int_equal(port.ends.got[i].txn, number[i]);
        assert_int_equal(port.ends.at_ps[i], end_ps[i] + 100000);
    }
    assert_int_equal(port.served_ps[0], 5000);
    assert_int_equal(port.served_ps[1], 6000);
    assert_true(link_is_quiet(link, 1024));
    ends_close(&port.ends);
}

/* Proves that a request which comes before others that are known already is served before them, and behind those that
 * came earlier and wait. */
static void test_lane_order(void **state)
{
    (void)state;
    Port port;
    port_open(&port, 1);
    Link *link = &port.ends.link;
    static const SimTime at_ps[] = {1000, 1001, 9000, 20000};
    static const guint32 told[] = {0, 1, 3, 2}; /* the last one is told of too late */
    for (guint i = 0; i < 4; i++)
        link_push_request(link, packet_of(PACKET_MC_WRITE, told[i], 9), at_ps[told[i]], FALSE);
    sim_run(port.ends.sim, SIMTIME_NEVER);
    assert_int_equal(port.ends.n, 4);
    static const SimTime end_ps[] = {5000, 9000, 13000, 24000};
    for (guint i = 0; i < 4; i++) {
        assert_int_equal(port.ends.got[i].txn, i);
        assert_int_equal(port.ends.at_ps[i], end_ps[i] + 100000);
    }
    assert_true(link_is_quiet(link, 1024));
    ends_close(&port.ends);
}

/* Proves that a full queue holds requests up, each until an answer has left. */
static void test_lane_gate(void **state)
{
    (void)state;
    Port port;
    port_open(&port, 2);
    Link *link = &port.ends.link;
    for (guint32 i = 0; i < 5; i++)
        link_push_request(link, packet_of(PACKET_MC_WRITE, i, 9), 1000, FALSE);
    assert_false(link_is_quiet(link, 1024));
    sim_run(port.ends.sim, SIMTIME_NEVER);
    assert_int_equal(port.ends.n, 5);
    /* the first goes on the wire, two wait; then one more whenever the wire gets free */
    static const SimTime served_ps[] = {1000, 1000, 1000, 5000, 9000};
    for (guint i = 0; i < 5; i++) {
        assert_int_equal(port.served_ps[i], served_ps[i]);
        assert_int_equal(port.ends.got[i].txn, i);
        assert_int_equal(port.ends.at_ps[i], 1000 + 4000 * (i + 1) + 100000);
    }
    ends_close(&port.ends);
}

/* Proves that answers which take some time wait for nothing but the wire, and that others overtake them. */
static void test_lane_later(void **state)
{
    (void)state;
    Port port;
    port_open(&port, 1);
    port.later_ps = 50000;
    Link *link = &port.ends.link;
    for (guint32 i = 0; i < 3; i++)
        link_push_request(link, packet_of(PACKET_MC_READ, i, 2), 1000 + i, FALSE);
    link_push(link, packet_of(PACKET_ACK, 9, 1), 0);
    sim_run(port.ends.sim, SIMTIME_NEVER);
    assert_int_equal(port.ends.n, 4);
    static const guint32 number[] = {9, 0, 1, 2};
    static const SimTime end_ps[] = {1000, 55000, 59000, 63000};
    for (guint i = 0; i < 4; i++) {
        assert_int_equal(port.ends.got[i].txn, number[i]);
        assert_int_equal(port.ends.at_ps[i], end_ps[i] + 100000);
    }
    ends_close(&port.ends);
}

static gboolean port_early(void *node, Link *link, Packet packet, SimTime at_ps)
{
    Port *port = node;
    (void)link;
    port->served_ps[port->served++] = at_ps;
    (void)packet;
    return TRUE;
}

/* Proves that a sink learns at once when a packet of its kinds will arrive, which then makes no event. */
static void test_early(void **state)
{
    (void)state;
    Port port;
    port_open(&port, 1);
    Link *link = &port.ends.link;
    link->sink_node = &port;
    link_set_early(link, port_early, 1u << PACKET_MC_ACK);
    link_push(link, packet_of(PACKET_MC_ACK, 1, 1), 0);
    assert_int_equal(port.served, 1);
    assert_int_equal(port.served_ps[0], 101000);
    link->sink_node = &port.ends;
    link_set_early(link, NULL, 0);
    sim_run(port.ends.sim, SIMTIME_NEVER);
    assert_int_equal(port.ends.n, 0);
    ends_close(&port.ends);
}

/* Packets of four links for one port, as events push them or as they are told of beforehand. */
#define FROMS 4u
#define COMINGS 400u
typedef struct {
    Event event; /* with `pushed`, of the packet's arrival; else when it is told of */
    struct InboxRun *inbox;
    Packet packet;
    SimTime at_ps;
    guint32 from;
} Coming;
typedef struct InboxRun {
    Ends ends;
    Link from[FROMS];
    Coming coming[COMINGS];
    gboolean pushed;
} InboxRun;

static void inbox_on_event(Event *event, SimTime now_ps)
{
    Coming *coming = EVENT_OWNER(event, Coming, event);
    InboxRun *inbox = coming->inbox;
    if (inbox->pushed)
        link_push(&inbox->ends.link, coming->packet, now_ps);
    else
        link_push_coming(&inbox->ends.link, coming->packet, coming->at_ps, &inbox->from[coming->from]);
}

/* The same packets for the same seed, whether pushed or told. Times lie on a grid of half a flit, so that many are
 * equal: to others' and to the port's decisions. */
static InboxRun *inbox_run(guint64 seed, gboolean pushed)
{
    InboxRun *inbox = g_aligned_alloc0(1, sizeof *inbox, _Alignof(InboxRun));
    Rng rng;
    SimTime last_ps[FROMS] = {0};
    rng_init(&rng, seed, "inbox");
    guint32 credits = 36 + (guint32)rng_below(&rng, 200);
    ends_open(&inbox->ends, 16000, credits); /* a flit takes 1 ns */
    inbox->ends.hold_ps = rng_below(&rng, 3) * 20000;
    inbox->pushed = pushed;
    for (guint32 f = 0; f < FROMS; f++)
        link_init(&inbox->from[f], inbox->ends.sim, &inbox->ends.spec, 1000, f + 1, "test.from");
    for (guint32 c = 0; c < COMINGS; c++) {
        Coming *coming = &inbox->coming[c];
        gboolean request = rng_below(&rng, 2);
        coming->inbox = inbox;
        coming->from = (guint32)rng_below(&rng, FROMS);
        coming->packet = packet_of(request ? PACKET_WRITE : PACKET_READ_RSP, c, (guint8)(1 + rng_below(&rng, 17)));
        coming->at_ps = last_ps[coming->from] = MAX(last_ps[coming->from], 100000) + 500 * (1 + rng_below(&rng, 60));
        SimTime told_ps = coming->at_ps - 1 - rng_below(&rng, 99000);
        event_init(&coming->event, inbox_on_event);
        sim_set_key(&coming->event, (guint32)inbox->from[coming->from].vc[packet_vc(&coming->packet)].arrive.order);
        sim_at_key(inbox->ends.sim, &coming->event, pushed ? coming->at_ps : told_ps);
    }
    assert_int_equal(sim_run(inbox->ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(inbox->ends.n, COMINGS);
    assert_true(link_is_quiet(&inbox->ends.link, credits));
    return inbox;
}

static void inbox_free(InboxRun *inbox)
{
    for (guint32 f = 0; f < FROMS; f++)
        link_clear(&inbox->from[f]);
    ends_close(&inbox->ends);
    g_aligned_free(inbox);
}

/* Proves that packets told beforehand, in any order, leave a port when they would if each were pushed as it arrives:
 * with both channels busy, equal times, and buffers from two packets up. */
static void test_inbox(void **state)
{
    (void)state;
    for (guint64 seed = 1; seed <= 200; seed++) {
        InboxRun *pushed = inbox_run(seed, TRUE), *told = inbox_run(seed, FALSE);
        for (guint32 c = 0; c < COMINGS; c++)
            if (pushed->ends.got[c].txn != told->ends.got[c].txn || pushed->ends.at_ps[c] != told->ends.at_ps[c])
                fail_msg("seed %" G_GUINT64_FORMAT ", arrival %u: packet %u at %" G_GUINT64_FORMAT
                         " ps pushed, packet %u at %" G_GUINT64_FORMAT " ps told", seed, c,
                         (guint)pushed->ends.got[c].txn, pushed->ends.at_ps[c], (guint)told->ends.got[c].txn,
                         told->ends.at_ps[c]);
        inbox_free(pushed);
        inbox_free(told);
    }
}

/* Proves that an inbox which is never empty takes times that lie milliseconds apart, over more than 32 bits hold. */
static void test_inbox_long(void **state)
{
    (void)state;
    Ends ends;
    Link from;
    const SimTime step_ps = 2000000000; /* 2 ms */
    ends_open(&ends, 16000, 1024);
    link_init(&from, ends.sim, &ends.spec, 1000, 1, "test.from");
    link_push_coming(&ends.link, packet_of(PACKET_WRITE, 0, 9), step_ps, &from);
    for (guint32 i = 1; i < 10; i++) {
        link_push_coming(&ends.link, packet_of(PACKET_WRITE, i, 9), (i + 1) * step_ps, &from);
        sim_run(ends.sim, i * step_ps + step_ps / 2);
    }
    sim_run(ends.sim, SIMTIME_NEVER);
    assert_int_equal(ends.n, 10);
    for (guint i = 0; i < 10; i++) {
        assert_int_equal(ends.got[i].txn, i);
        assert_true(ends.at_ps[i] == (i + 1) * step_ps + 9000 + 100000);
    }
    link_clear(&from);
    ends_close(&ends);
}

/* A port with one accumulator of acknowledgements. */
typedef struct {
    Ends ends;
    AckMerge ack;
    Packet as;
    guint32 next[8];
} Merge;

static gboolean merge_serve(void *node, Link *link, const LinkReady *timer, SimTime at_ps, Packet *answer)
{
    Merge *merge = node;
    (void)link;
    assert_int_equal(timer->packet.bits, merge->as.bits);
    return ack_expire(&merge->ack, merge->as, at_ps, answer);
}

static void merge_open(Merge *merge)
{
    memset(merge, 0, sizeof *merge);
    ends_open(&merge->ends, 16000, 1024);
    merge->ends.link.source_node = merge;
    link_set_lanes(&merge->ends.link, merge_serve, 0, &merge->ends.link);
    merge->as = packet_new(PACKET_ACK, 0, 0, 5, 6, 1);
}

/* Proves that writes acknowledged within the timer leave in one packet when it is over, that a full one leaves at once
 * and its timer then does nothing to the next one, and that the packet leads to all its writes, the last one first. */
static void test_ack(void **state)
{
    (void)state;
    Merge merge;
    merge_open(&merge);
    static const SimTime at_ps[] = {1000, 2000, 3000, 4000, 50000};
    for (guint32 w = 0; w < 5; w++) {
        sim_run(merge.ends.sim, at_ps[w]);
        ack_add(&merge.ack, merge.as, &merge.ends.link, (Packet){.txn = w + 1}, &merge.next[w + 1], 3, 20000,
                at_ps[w]);
    }
    sim_run(merge.ends.sim, SIMTIME_NEVER);
    assert_int_equal(merge.ends.n, 3);
    /* 1 to 3 as soon as they are three; 4 when its own timer is over, not that of 1; 5 likewise */
    static const guint32 head[] = {3, 4, 5};
    static const SimTime end_ps[] = {4000, 25000, 71000};
    for (guint i = 0; i < 3; i++) {
        assert_int_equal(merge.ends.got[i].txn, head[i]);
        assert_int_equal(merge.ends.at_ps[i], end_ps[i] + 100000);
        assert_int_equal(merge.ends.got[i].src, 5);
        assert_int_equal(merge.ends.got[i].dst, 6);
    }
    assert_int_equal(merge.next[3], 2);
    assert_int_equal(merge.next[2], 1);
    assert_int_equal(merge.next[1], 0);
    assert_true(link_is_quiet(&merge.ends.link, 1024));
    ends_close(&merge.ends);
}

/* Proves that a timer which comes behind a later one, as links that decide ahead can bring about, is over with that one
 * and not lost. */
static void test_ack_late(void **state)
{
    (void)state;
    Merge merge;
    merge_open(&merge);
    ack_add(&merge.ack, merge.as, &merge.ends.link, (Packet){.txn = 1}, &merge.next[1], 3, 20000, 5000);
    link_push(&merge.ends.link, ack_close(&merge.ack, merge.as, FALSE), 0);
    ack_add(&merge.ack, merge.as, &merge.ends.link, (Packet){.txn = 2}, &merge.next[2], 3, 20000, 1000);
    sim_run(merge.ends.sim, SIMTIME_NEVER);
    assert_int_equal(merge.ends.n, 2);
    assert_int_equal(merge.ends.got[1].txn, 2);
    assert_int_equal(merge.ends.at_ps[1], 25000 + 1000 + 100000);
    ends_close(&merge.ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lane),      cmocka_unit_test(test_lane_order),
        cmocka_unit_test(test_lane_gate), cmocka_unit_test(test_lane_later),
        cmocka_unit_test(test_early), cmocka_unit_test(test_inbox),      cmocka_unit_test(test_inbox_long),
        cmocka_unit_test(test_ack),   cmocka_unit_test(test_ack_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
