#include "tests/model_test.h"

#include "model/link.h"

/* A link between a fake port and a fake far end with a bounded buffer for each VC, which it frees after `hold_ps`. */
typedef struct {
    Sim *sim;
    LinkSpec spec;
    Link link;
    guint32 room[VCS]; /* flits the far end has */
    SimTime hold_ps;   /* SIMTIME_NEVER: it frees nothing */
    Packet got[512];
    SimTime at_ps[512];
    guint n;
    guint drained[VCS];
    Event free_event[512];
} Ends;

static void ends_on_free(Event *event, SimTime now_ps)
{
    /* the event's number is that of its packet; the array leads back to the Ends */
    Ends *ends = (Ends *)((char *)(event - event->spare) - G_STRUCT_OFFSET(Ends, free_event));
    const Packet *packet = &ends->got[event->spare];
    ends->room[packet_vc(packet)] += packet->flits;
    link_credit(&ends->link, packet_vc(packet), packet->flits, now_ps);
}

static void ends_accept(void *node, Link *link, Packet packet, SimTime now_ps)
{
    Ends *ends = node;
    assert_ptr_equal(link, &ends->link);
    if (ends->room[packet_vc(&packet)] < packet.flits)
        fail_msg("a packet came without room for it");
    ends->room[packet_vc(&packet)] -= packet.flits;
    ends->got[ends->n] = packet;
    ends->at_ps[ends->n] = now_ps;
    if (ends->hold_ps != SIMTIME_NEVER) {
        event_init(&ends->free_event[ends->n], ends_on_free);
        ends->free_event[ends->n].spare = ends->n;
        sim_after(ends->sim, &ends->free_event[ends->n], ends->hold_ps, EVENT_PRIORITY_FABRIC);
    }
    ends->n++;
}

static void ends_drained(void *node, Link *link, Vc vc)
{
    (void)link;
    ((Ends *)node)->drained[vc]++;
}

static void ends_open(Ends *ends, guint64 rate_MBps, guint32 credits)
{
    memset(ends, 0, sizeof *ends);
    ends->sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    ends->spec = (LinkSpec){.rate_MBps = rate_MBps, .flight_ps = 100000, .credit_batch_ps = 1, .replay_ps = 7000};
    link_init(&ends->link, ends->sim, &ends->spec, credits, 0, "test.link");
    link_set_sink(&ends->link, ends_accept, ends, 0);
    ends->link.source_node = ends;
    ends->link.drained = ends_drained;
    ends->room[0] = ends->room[1] = credits;
}

static void ends_close(Ends *ends)
{
    link_clear(&ends->link);
    sim_free(ends->sim);
}

static Packet packet_of(PacketKind kind, guint32 number, guint8 flits)
{
    return (Packet){.kind = (guint8)kind, .txn = number, .flits = flits, .hold = HOLD_NONE};
}

/* Proves that a packet arrives after its serialization and the time of flight. */
static void test_latency(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 1024);
    link_push(&ends.link, packet_of(PACKET_WRITE, 5, 9), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.n, 1);
    assert_int_equal(ends.got[0].txn, 5);
    assert_true(ends.at_ps[0] == 9000 + 100000);
    assert_true(link_flits_total(&ends.link) == 9 && link_packets_total(&ends.link) == 1);
    ends_close(&ends);
}

/* Proves that packets keep their order and the wire its rate: flit times that are no whole picoseconds do not
 * add up to an error. */
static void test_rate(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 23550, 1 << 20);
    for (guint i = 0; i < 500; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 9), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.n, 500);
    for (guint i = 0; i < 500; i++) {
        double expect_ps = (i + 1) * 9 * 16e6 / 23550 + 100000;
        assert_int_equal(ends.got[i].txn, i);
        assert_in_range(ends.at_ps[i], (guint64)expect_ps - 1, (guint64)expect_ps + 2);
    }
    ends_close(&ends);
}

/* Proves that no more flits of a VC are ever under way or in the far buffer than it has room for (the far end checks),
 * that all packets arrive all the same, and that all credits come home; for buffers down to one packet. */
static void test_credits(void **state)
{
    (void)state;
    static const guint32 credits[] = {18, 19, 36, 100, 1000};
    for (guint c = 0; c < G_N_ELEMENTS(credits); c++)
        for (guint64 batch = 1; batch <= 65536; batch *= 256) {
            Ends ends;
            ends_open(&ends, 16000, credits[c]);
            ends.link.credit_mask = batch - 1;
            ends.hold_ps = 5000;
            for (guint i = 0; i < 200; i++)
                link_push(&ends.link, packet_of(i % 3 ? PACKET_WRITE : PACKET_READ_RSP, i, (guint8)(1 + i % 18)), 0);
            assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
            assert_int_equal(ends.n, 200);
            assert_true(link_is_quiet(&ends.link, credits[c]));
            assert_int_equal(ends.room[VC_CREQ], credits[c]);
            assert_int_equal(ends.link.credit_stalls > 0, credits[c] <= 100);
            ends_close(&ends);
        }
}

/* Proves that throughput under a small buffer is what the credit loop allows: one buffer for each round trip of
 * serialization, flight, hold and the credit's flight back (from the end of its batch of 1 ps on). */
static void test_credit_loop(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 18);
    ends.hold_ps = 5000;
    for (guint i = 0; i < 10; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 18), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    for (guint i = 1; i < 10; i++)
        assert_true(ends.at_ps[i] - ends.at_ps[i - 1] == 18000 + 100000 + 5000 + 1 + 100000);
    ends_close(&ends);
}

/* Proves that a VC without credits never holds up the other one, whichever way it waits for them. */
static void test_vcs_independent(void **state)
{
    (void)state;
    for (guint freed = 0; freed < 2; freed++) {
        Ends ends;
        ends_open(&ends, 16000, 18);
        ends.hold_ps = SIMTIME_NEVER;
        for (guint i = 0; i < 3; i++)
            link_push(&ends.link, packet_of(PACKET_WRITE, i, 18), 0); /* one goes, two wait */
        assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
        SimTime now_ps = sim_now_ps(ends.sim);
        assert_int_equal(ends.n, 1);
        if (freed) { /* the credit is on its way back: the wire is booked for its arrival */
            ends.room[VC_CREQ] += 18;
            link_credit(&ends.link, VC_CREQ, 18, now_ps);
        }
        link_push(&ends.link, packet_of(PACKET_ACK, 99, 1), 0);
        sim_run(ends.sim, now_ps + 102000);
        assert_int_equal(ends.n, 2);
        assert_int_equal(ends.got[1].txn, 99);
        assert_true(ends.at_ps[1] == now_ps + 1000 + 100000);
        sim_run(ends.sim, SIMTIME_NEVER);
        assert_int_equal(ends.n, freed ? 3 : 2);
        ends_close(&ends);
    }
}

/* Proves that two busy VCs take turns packet by packet. */
static void test_round_robin(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 10000);
    for (guint i = 0; i < 20; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 9), 0);
    for (guint i = 0; i < 20; i++)
        link_push(&ends.link, packet_of(PACKET_READ_RSP, 100 + i, 3), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.n, 40);
    for (guint i = 1; i < 40; i++)
        assert_int_not_equal(packet_vc(&ends.got[i]), packet_vc(&ends.got[i - 1]));
    ends_close(&ends);
}

/* Proves that bit errors cost a replay each and lose, double or reorder nothing, and hit about as often as asked. */
static void test_replay(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 10000);
    link_set_errors(&ends.link, 1000000000);
    link_push(&ends.link, packet_of(PACKET_WRITE, 0, 9), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(ends.at_ps[0] == 9000 + 7000 + 9000 + 100000);
    link_set_errors(&ends.link, 250000000);
    for (guint i = 1; i < 500; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 9), 0);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.n, 500);
    for (guint i = 0; i < 500; i++)
        assert_int_equal(ends.got[i].txn, i);
    assert_in_range(ends.link.replays, 90, 160);
    ends_close(&ends);
}

/* Proves that the port tells when its queue falls below the mark, once for each packet that leaves below it. */
static void test_drained(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 10000);
    link_set_drained(&ends.link, VC_CREQ, 3);
    for (guint i = 0; i < 10; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 9), 0);
    guint before = ends.drained[VC_CREQ];
    assert_int_equal(before, 1); /* the first one left at once: who waits is told of that too */
    assert_int_equal(link_queued(&ends.link, VC_CREQ), 9);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(ends.drained[VC_CREQ] - before, 3); /* 2, 1, 0 left */
    assert_int_equal(ends.drained[VC_RSP], 0);
    ends_close(&ends);
}

/* Proves that a later crossbar round is waited for. */
static void test_not_before(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 1024);
    link_push(&ends.link, packet_of(PACKET_WRITE, 0, 9), 20000);
    assert_int_equal(sim_run(ends.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(ends.at_ps[0] == 20000 + 9000 + 100000);
    ends_close(&ends);
}

/* Proves that a link that waits says for what, and an idle one says nothing. */
static void test_waiter_text(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 18);
    ends.hold_ps = SIMTIME_NEVER;
    assert_null(link_waiter_text(&ends.link));
    for (guint i = 0; i < 3; i++)
        link_push(&ends.link, packet_of(PACKET_WRITE, i, 18), 0);
    sim_run(ends.sim, SIMTIME_NEVER);
    g_autofree char *text = link_waiter_text(&ends.link);
    assert_string_equal(text, "test.link: 2 packets wait for credits of the far end");
    assert_false(link_is_quiet(&ends.link, 18));
    ends_close(&ends);
}

/* Proves that a link that is down keeps what it is given, says so, and sends it all when it comes up. */
static void test_down(void **state)
{
    (void)state;
    Ends ends;
    ends_open(&ends, 16000, 1024);
    link_push(&ends.link, packet_of(PACKET_WRITE, 0, 9), 0); /* already on the wire: it arrives */
    link_set_down(&ends.link, TRUE);
    link_push(&ends.link, packet_of(PACKET_WRITE, 1, 9), 0);
    link_push(&ends.link, packet_of(PACKET_ACK, 2, 1), 0);
    sim_run(ends.sim, SIMTIME_NEVER);
    assert_int_equal(ends.n, 1);
    g_autofree char *text = link_waiter_text(&ends.link);
    assert_string_equal(text, "test.link: 2 packets wait for the link to come up");
    link_set_down(&ends.link, FALSE);
    sim_run(ends.sim, SIMTIME_NEVER);
    assert_int_equal(ends.n, 3);
    assert_null(link_waiter_text(&ends.link));
    ends_close(&ends);
}

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
    link_push_later(link, *answer, at_ps + port->later_ps);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency),     cmocka_unit_test(test_rate),        cmocka_unit_test(test_credits),
        cmocka_unit_test(test_credit_loop), cmocka_unit_test(test_vcs_independent),
        cmocka_unit_test(test_round_robin), cmocka_unit_test(test_replay),      cmocka_unit_test(test_drained),
        cmocka_unit_test(test_not_before),  cmocka_unit_test(test_waiter_text),
        cmocka_unit_test(test_down),        cmocka_unit_test(test_lane),        cmocka_unit_test(test_lane_gate),
        cmocka_unit_test(test_lane_later),  cmocka_unit_test(test_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
