#include "tests/model/model_test.h"

/* One switch between fake GPUs: requests are put on real up links, what leaves is caught at the far end of the down
 * links, and the test answers for the members. */
#define CAUGHT_MAX 64
typedef struct {
    Bed bed;
    Packet packet[CAUGHT_MAX];
    guint16 gpu[CAUGHT_MAX];
    guint8 link[CAUGHT_MAX];
    SimTime at_ps[CAUGHT_MAX];
    guint n;
} Caught;

static void caught_accept(void *node, Link *link, Packet packet, SimTime now_ps)
{
    Caught *caught = node;
    g_assert(caught->n < CAUGHT_MAX);
    caught->packet[caught->n] = packet;
    caught->link[caught->n] = (guint8)link->sink_port;
    for (guint16 g = 0; g < caught->bed.spec.system.gpus; g++)
        if (link == &caught->bed.fabric->gpu[g].down[link->sink_port])
            caught->gpu[caught->n] = g;
    caught->at_ps[caught->n++] = now_ps;
    link_credit(link, packet_vc(&packet), packet.flits, now_ps);
}

static void caught_open(Caught *caught, const char *const *sets)
{
    memset(caught, 0, sizeof *caught);
    bed_open(&caught->bed, "teach-4gpu", sets, &(SimSpec){.seed = 1, .engine = SIM_ENGINE_REFERENCE});
    for (guint g = 0; g < 4; g++)
        for (guint l = 0; l < 2; l++) {
            Link *down = &caught->bed.fabric->gpu[g].down[l];
            link_set_sink(down, caught_accept, caught, l);
        }
}

/* A multicast request of GPU `src`, with the transaction it belongs to. */
static void ask(Caught *caught, guint16 src, PacketKind kind, McObject *object, guint64 offset, Answer *answer)
{
    GpuRequest request = {.kind = kind, .object = object, .offset = offset, .bytes = 128};
    bed_send(&caught->bed, src, &request, answer);
}

/* Every member that has a replica among the caught packets from `first` on acknowledges it, and all of it arrives. */
static void acknowledge(Caught *caught, guint first)
{
    for (guint i = first, n = caught->n; i < n; i++) {
        if (caught->packet[i].kind < PACKET_MC_WRITE || caught->packet[i].kind > PACKET_MC_READ)
            continue;
        Packet ack = {.txn = caught->packet[i].txn,
                      .dst = caught->gpu[i],
                      .kind = PACKET_MC_ACK,
                      .flits = 1,
                      .held_input = HELD_INPUT_NONE};
        link_push(&caught->bed.fabric->gpu[caught->gpu[i]].up[caught->link[i]], ack, 0);
    }
    sim_run(caught->bed.sim, SIMTIME_NEVER);
}

/* Proves that a unicast request leaves at its destination's port, on the link number it came by, once; that its
 * answer leaves at the requester's; and that the ingress buffers are free again. */
static void test_unicast(void **state)
{
    (void)state;
    Caught caught;
    caught_open(&caught, NULL);
    Fabric *fabric = caught.bed.fabric;
    for (guint l = 0; l < 2; l++) {
        caught.n = 0;
        Packet read = {.kind = PACKET_READ, .txn = 7, .src = 1, .dst = 3, .flits = 1, .held_input = HELD_INPUT_NONE};
        link_push(&fabric->gpu[1].up[l], read, 0);
        sim_run(caught.bed.sim, SIMTIME_NEVER);
        assert_int_equal(caught.n, 1);
        assert_int_equal(caught.gpu[0], 3);
        assert_int_equal(caught.link[0], l);
        assert_int_equal(caught.packet[0].txn, 7);
        Packet answer = {
            .kind = PACKET_READ_RSP, .txn = 7, .src = 1, .dst = 3, .flits = 9, .held_input = HELD_INPUT_NONE};
        link_push(&fabric->gpu[3].up[l], answer, 0);
        sim_run(caught.bed.sim, SIMTIME_NEVER);
        assert_int_equal(caught.n, 2);
        assert_int_equal(caught.gpu[1], 1);
        assert_int_equal(caught.packet[1].kind, PACKET_READ_RSP);
    }
    for (guint g = 0; g < 4; g++)
        for (guint l = 0; l < 2; l++)
            assert_true(link_is_quiet(&fabric->gpu[g].up[l], caught.bed.spec.link.credits_switch_flits));
    assert_true(switch_is_quiet(&fabric->sw[0]) && switch_is_quiet(&fabric->sw[1]));
    bed_close(&caught.bed);
}

/* Proves that a multicast write leaves once for each member and nobody else, on the link it came by, at most three a
 * round, and that exactly one answer comes when the last member has acknowledged, not before. */
static void test_replication(void **state)
{
    (void)state;
    Caught caught;
    caught_open(&caught, NULL);
    MemRegion *region[4];
    for (guint32 n = 2; n <= 4; n++) {
        McObject *object = bed_team(&caught.bed, n, 4096, region);
        Answer answer = {0};
        caught.n = 0;
        ask(&caught, 0, PACKET_MC_WRITE, object, 0, &answer);
        sim_run(caught.bed.sim, SIMTIME_NEVER);
        assert_int_equal(caught.n, n);
        guint seen = 0;
        for (guint i = 0; i < n; i++) {
            seen |= 1u << caught.gpu[i];
            assert_int_equal(caught.link[i], caught.link[0]);
            assert_true(caught.at_ps[i] == caught.at_ps[0] + (i >= 3 ? 5000 : 0)); /* a round takes 5 cycles */
        }
        assert_int_equal(seen, (1u << n) - 1);
        Packet *kept = g_memdup2(caught.packet, sizeof caught.packet);
        for (guint i = 0; i < n; i++) { /* one member after the other */
            Packet ack = {.txn = kept[i].txn,
                          .dst = caught.gpu[i],
                          .kind = PACKET_MC_ACK,
                          .flits = 1,
                          .held_input = HELD_INPUT_NONE};
            link_push(&caught.bed.fabric->gpu[caught.gpu[i]].up[caught.link[i]], ack, 0);
            sim_run(caught.bed.sim, SIMTIME_NEVER);
            assert_int_equal(caught.n, i + 1 < n ? n : n + 1);
        }
        g_free(kept);
        assert_int_equal(caught.packet[n].kind, PACKET_MC_DONE);
        assert_int_equal(caught.gpu[n], 0);
        assert_true(switch_is_quiet(&caught.bed.fabric->sw[0]) && switch_is_quiet(&caught.bed.fabric->sw[1]));
    }
    bed_close(&caught.bed);
}

/* Proves that a port with one tag has one multicast write under way; that what comes behind waits, unicast too (ingress
 * is in order), while another port is free; and that the tag's return lets them go. */
static void test_tags(void **state)
{
    (void)state;
    static const char *const sets[] = {"switch.multicast_tags=1", NULL};
    Caught caught;
    caught_open(&caught, sets);
    MemRegion *region[4];
    McObject *object = bed_team(&caught.bed, 4, 4096, region);
    Answer answer[3] = {{0}};
    ask(&caught, 0, PACKET_MC_WRITE, object, 0, &answer[0]);
    ask(&caught, 0, PACKET_MC_WRITE, object, 128, &answer[1]); /* same 256 B chunk: same link */
    sim_run(caught.bed.sim, SIMTIME_NEVER);
    guint link = caught.link[0];
    Packet read = {.kind = PACKET_READ, .src = 0, .dst = 2, .flits = 1, .held_input = HELD_INPUT_NONE};
    link_push(&caught.bed.fabric->gpu[0].up[link], read, 0);
    sim_run(caught.bed.sim, SIMTIME_NEVER);
    assert_int_equal(caught.n, 4); /* the first write's replicas only */
    Switch *sw = &caught.bed.fabric->sw[caught.bed.fabric->topology->leaf[link]];
    assert_true(sw->port[0].stalls_tag > 0);
    assert_int_equal(sw->port[0].wait.count, 2);
    g_autofree char *text = switch_waiter_text(sw);
    assert_non_null(strstr(text, "1 multicast requests wait for answers"));
    ask(&caught, 3, PACKET_MC_WRITE, object, 0, &answer[2]); /* another port has its own tag */
    sim_run(caught.bed.sim, SIMTIME_NEVER);
    assert_int_equal(caught.n, 8);
    acknowledge(&caught, 0);
    assert_int_equal(caught.n, 8 + 2 + 4 + 1); /* two answers, the second write's replicas, the read */
    acknowledge(&caught, 8);
    assert_true(switch_is_quiet(sw));
    bed_close(&caught.bed);
}

/* Proves that a port has as many ld_reduce under way as it has tags: of three, whose operands of four members each are
 * asked for, the others wait. */
static void test_reduction_tags(void **state)
{
    (void)state;
    for (guint tags = 1; tags <= 3; tags++) {
        g_autofree char *set = g_strdup_printf("switch.reduction_tags=%u", tags);
        const char *sets[] = {set, "switch.multicast_tags=1", NULL}; /* which writes alone have */
        Caught caught;
        caught_open(&caught, sets);
        MemRegion *region[4];
        McObject *object = bed_team(&caught.bed, 4, 4096, region);
        Answer answer[3] = {{0}};
        for (guint i = 0; i < 3; i++)
            ask(&caught, 0, PACKET_MC_READ, object, i % 2 * 128, &answer[i]);
        sim_run(caught.bed.sim, SIMTIME_NEVER);
        assert_int_equal(caught.n, 4 * tags);
        Switch *sw = &caught.bed.fabric->sw[caught.bed.fabric->topology->leaf[caught.link[0]]];
        assert_int_equal(sw->port[0].stalls_tag > 0, tags < 3);
        for (guint from = 0, seen; from < caught.n; from = seen) {
            seen = caught.n;
            acknowledge(&caught, from);
        }
        assert_int_equal(caught.n, 12 + 3);
        assert_true(switch_is_quiet(sw));
        bed_close(&caught.bed);
    }
}

/* Proves that ld_reduce requests wait for reduction buffer: with room for one team's operands, one at a time. */
static void test_reduction_buffer(void **state)
{
    (void)state;
    static const char *const sets[] = {"switch.reduction_buffer_bytes=1024", "switch.reduction_hold=hold", NULL};
    Caught caught;
    caught_open(&caught, sets);
    MemRegion *region[4];
    McObject *object = bed_team(&caught.bed, 4, 4096, region);
    Answer answer[3] = {{0}};
    for (guint i = 0; i < 3; i++) /* 4 operands of 128 B each; two fit */
        ask(&caught, 0, PACKET_MC_READ, object, i % 2 * 128, &answer[i]);
    sim_run(caught.bed.sim, SIMTIME_NEVER);
    assert_int_equal(caught.n, 8);
    Switch *sw = &caught.bed.fabric->sw[caught.bed.fabric->topology->leaf[caught.link[0]]];
    assert_true(sw->port[0].stalls_buffer > 0);
    assert_true(sw->port[0].reduction_peak_bytes == 1024);
    acknowledge(&caught, 0);
    acknowledge(&caught, 8);
    assert_int_equal(caught.n, 12 + 3);
    assert_true(switch_is_quiet(sw));
    bed_close(&caught.bed);
}

/* Proves that a replication holds its ingress for its rounds: a request right behind starts that much later. */
static void test_rounds_hold_ingress(void **state)
{
    (void)state;
    static const char *const sets[] = {"switch.crossbar_bytes=8", NULL}; /* 18 beats a write: 2 rounds, 36 ns */
    Caught caught;
    caught_open(&caught, sets);
    MemRegion *region[4];
    McObject *object = bed_team(&caught.bed, 4, 4096, region);
    Answer answer[2] = {{0}};
    ask(&caught, 0, PACKET_MC_WRITE, object, 0, &answer[0]);
    ask(&caught, 0, PACKET_MC_WRITE, object, 128, &answer[1]);
    sim_run(caught.bed.sim, SIMTIME_NEVER);
    assert_int_equal(caught.n, 8);
    assert_true(caught.at_ps[3] - caught.at_ps[0] == 18000);
    assert_true(caught.at_ps[4] - caught.at_ps[0] == 36000);
    guint link = caught.link[0];
    assert_true(caught.bed.fabric->sw[caught.bed.fabric->topology->leaf[link]].port[0].stalls_rounds > 0);
    bed_close(&caught.bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unicast),
        cmocka_unit_test(test_replication),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_reduction_tags),
        cmocka_unit_test(test_reduction_buffer),
        cmocka_unit_test(test_rounds_hold_ingress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
