/* model/flow/head_of_line: who waits for a full link down, against cases solved by hand; and what stores to several
 * GPUs take as flows, against their packets. */
#include <math.h>

#include "tests/model/model_test.h"

#include "bench/world.h"
#include "model/flow/head_of_line.h"

#define PACKET_PS 6114u /* of 9 flits */
#define SETTLED_PS 20000000u

typedef struct {
    Bed bed;
    PortHolds *holds;
    guint64 flits; /* a second, of a GPU's links */
    double round;  /* of the buffers behind a link up, what is under way while it is busy */
} Holds;

static void holds_open(Holds *holds)
{
    bed_open(&holds->bed, "dgx-h100", NULL, NULL);
    const FabricSpec *spec = &holds->bed.fabric->spec;
    holds->holds = port_holds_new(holds->bed.fabric);
    holds->flits = spec->link.rate_MBps * 1000000u / FLIT_BYTES * holds->bed.fabric->links;
    double turn_ps = (double)(2 * spec->link.flight_ps + spec->link.credit_batch_ps / 2 + spec->sw.latency_ps);
    holds->round = turn_ps * 1e-12 * (double)holds->flits /
                   (double)(spec->link.credits_switch_flits * holds->bed.fabric->links);
}

static void holds_close(Holds *holds)
{
    port_holds_free(holds->holds);
    bed_close(&holds->bed);
}

/* GPUs that each send what they may, evenly to the others named, until nothing changes any more. share: by GPU, of the
 * links up. */
static SimTime settle(Holds *holds, const guint32 (*to)[2], guint32 senders, double *share)
{
    SimTime now_ps = 0, next_ps = 0;
    while (next_ps != SIMTIME_NEVER && next_ps < SETTLED_PS) {
        now_ps = MAX(next_ps, now_ps + 1);
        for (guint32 g = 0; g < senders; g++)
            share[g] = port_holds_share(holds->holds, g, PORT_FREE, now_ps) / (double)PORT_FREE;
        port_holds_begin(holds->holds, now_ps);
        for (guint32 g = 0; g < senders; g++)
            for (guint32 t = 0; t < 2; t++)
                port_holds_send(holds->holds, g, to[g][t], (guint64)((double)holds->flits * share[g] / 2), PACKET_PS,
                                0);
        next_ps = port_holds_end(holds->holds);
    }
    return now_ps;
}

/* Proves that a GPU which has its receiver for itself is not held up: all but what acknowledgements take is its. */
static void test_alone(void **state)
{
    Holds holds;
    double share[1];
    const guint32 to[][2] = {{1, 1}};
    (void)state;
    holds_open(&holds);
    settle(&holds, to, 1, share);
    assert_true(share[0] == 1);
    assert_int_equal(port_holds_wait_ps(holds.holds, 0), 0);
    /* the receiver sends too: 9 flits of each 9 and a flit of acknowledgements for as many as are merged */
    double merged = (double)port_acks_merged(&holds.bed.fabric->spec, PACKET_PS) / 1000;
    double left = port_holds_share(holds.holds, 1, PORT_FREE, SETTLED_PS) / (double)PORT_FREE;
    assert_true(fabs(1 - left - 1 / (9 * merged)) < 0.001);
    holds_close(&holds);
}

/* Proves that three GPUs which send to one get a third of its links each, once their buffers are full and not
 * before. */
static void test_many_to_one(void **state)
{
    Holds holds;
    double share[3];
    const guint32 to[][2] = {{3, 3}, {3, 3}, {3, 3}};
    (void)state;
    holds_open(&holds);
    port_holds_begin(holds.holds, 0);
    for (guint32 g = 0; g < 3; g++)
        port_holds_send(holds.holds, g, 3, holds.flits, PACKET_PS, 0);
    SimTime full_ps = port_holds_end(holds.holds);
    assert_int_equal(port_holds_share(holds.holds, 0, PORT_FREE, full_ps / 2), PORT_FREE);
    assert_true(port_holds_share(holds.holds, 0, PORT_FREE, full_ps + 10000) < PORT_FREE);
    port_holds_free(holds.holds);
    holds.holds = port_holds_new(holds.bed.fabric);
    assert_true(settle(&holds, to, 3, share) > full_ps);
    for (guint32 g = 0; g < 3; g++)
        assert_true(fabs(share[g] - 1.0 / 3) < 0.01);
    /* three windows less what is under way, served by one link */
    double wait_ps = (double)port_holds_wait_ps(holds.holds, 0);
    double window_ps = 1e12 / (double)holds.flits * 1024 * (double)holds.bed.fabric->links;
    assert_true(fabs(wait_ps / ((3 - holds.round) * window_ps) - 1) < 0.02);
    holds_close(&holds);
}

/* Proves that what a GPU sends to a free receiver is held up by what it sends to a full one, as its window says: with q
 * the full link's queue and r a round trip, both over the window's time, the GPU that also sends elsewhere sends x to
 * each: x (2 r + q) = 1; the other y (r + q) = 1; and the link takes x + y = 1. */
static void test_held_up(void **state)
{
    Holds holds;
    double share[2], low = 0, high = 3;
    const guint32 to[][2] = {{2, 3}, {2, 2}};
    (void)state;
    holds_open(&holds);
    settle(&holds, to, 2, share);
    for (guint i = 0; i < 60; i++) {
        double q = (low + high) / 2;
        *(1 / (2 * holds.round + q) + 1 / (holds.round + q) > 1 ? &low : &high) = q;
    }
    assert_true(fabs(share[0] - 2 / (2 * holds.round + low)) < 0.02);
    assert_true(fabs(share[1] - 1 / (holds.round + low)) < 0.02);
    holds_close(&holds);
}

/* Proves that buffers empty when nobody sends any more. */
static void test_empties(void **state)
{
    Holds holds;
    double share[2];
    const guint32 to[][2] = {{2, 2}, {2, 2}};
    (void)state;
    holds_open(&holds);
    SimTime now_ps = settle(&holds, to, 2, share);
    port_holds_begin(holds.holds, now_ps);
    port_holds_end(holds.holds);
    assert_true(port_holds_share(holds.holds, 0, PORT_FREE, now_ps + 100000) < PORT_FREE);
    SimTime wait_ps = port_holds_wait_ps(holds.holds, 0);
    assert_true(wait_ps > 0);
    port_holds_begin(holds.holds, now_ps + wait_ps + 1000);
    assert_int_equal(port_holds_end(holds.holds), SIMTIME_NEVER);
    assert_int_equal(port_holds_wait_ps(holds.holds, 0), 0);
    assert_int_equal(port_holds_share(holds.holds, 0, PORT_FREE, now_ps + wait_ps + 1000), PORT_FREE);
    holds_close(&holds);
}

/* ---- against packets */

typedef struct {
    guint32 from, to;
} Stream;

typedef struct {
    FoAddress to;
    guint64 bytes;
} StoreArgs;

static void store_program(FoCta *cta, const void *args)
{
    const StoreArgs *a = args;
    FoLoop loop = {.bytes = a->bytes, .width = 16, .unroll = 4, .destinations = 1};
    loop.destination[0] = (FoStream){FO_ST, a->to};
    fo_loop(cta, &loop);
    fo_fence(cta);
}

/* 4 MiB by 16 CTAs for each stream; when each ends. */
static void run_streams(const Stream *stream, guint n, gboolean flows, SimTime *end_ps)
{
    Bed bed;
    GError *error = NULL;
    const BenchRequest request = {.test = "hold"};
    bed_open(&bed, "dgx-h100", NULL, NULL);
    const BenchSetup setup = {.spec = &bed.fabric->spec, .seed = 1};
    BenchWorld *world = bench_world_new(&setup, bench_find(request.test), &request, 4u << 20, flows, &error);
    assert_non_null(world);
    for (guint s = 0; s < n; s++) {
        StoreArgs args = {bench_memory(world, stream[s].to, 4u << 20, 1u << 20), 4u << 20};
        bench_launch(world, stream[s].from, "", store_program, &args, sizeof args, 16, 512, args.bytes);
    }
    assert_true(bench_go(world, &error));
    for (guint s = 0; s < n; s++) {
        const BenchFlow *flow = g_ptr_array_index(world->flows, s);
        end_ps[s] = flow->end_ps - flow->begin_ps;
    }
    bench_world_free(world);
    bed_close(&bed);
}

/* Proves that stores to several GPUs take as flows what they take in packets, within 4 %: with a receiver that two send
 * to, of whom one also sends elsewhere (both its streams take equally long: max-min fair rates would let the second one
 * go on with what the first one leaves, and end it a fifth sooner); with all sending to all; with three to one. */
static void test_flows_are_held_up_as_packets(void **state)
{
    static const Stream held[] = {{0, 1}, {0, 2}, {3, 1}}, all[] = {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}},
                        one[] = {{0, 3}, {1, 3}, {2, 3}};
    static const struct {
        const Stream *stream;
        guint n;
    } cases[] = {{held, G_N_ELEMENTS(held)}, {all, G_N_ELEMENTS(all)}, {one, G_N_ELEMENTS(one)}};
    (void)state;
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
        SimTime packets_ps[6], flows_ps[6];
        run_streams(cases[c].stream, cases[c].n, FALSE, packets_ps);
        run_streams(cases[c].stream, cases[c].n, TRUE, flows_ps);
        for (guint s = 0; s < cases[c].n; s++) {
            double off = (double)flows_ps[s] / (double)packets_ps[s] - 1;
            print_message("%u>%u: %.1f us, %.1f %%\n", cases[c].stream[s].from, cases[c].stream[s].to,
                          (double)packets_ps[s] * 1e-6, off * 100);
            assert_true(fabs(off) < 0.04);
        }
        if (c == 0)
            assert_true(fabs((double)flows_ps[1] / (double)flows_ps[0] - 1) < 0.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone), cmocka_unit_test(test_many_to_one),
                                       cmocka_unit_test(test_held_up), cmocka_unit_test(test_empties),
                                       cmocka_unit_test(test_flows_are_held_up_as_packets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
