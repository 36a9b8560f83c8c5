/* model/flow/rates: max-min fair rates against cases solved by hand; flows of collectives against their
 * packets. */
#include "tests/test.h"

#include "coll/coll.h"
#include "device/launch_time.h"
#include "model/flow/rates.h"
#include "model/presets/preset.h"

#define UNIT 1000u /* amounts are thousandths */

typedef struct {
    FlowItem item;
    SimTime end_ps, passed_ps;
    guint64 left;    /* then */
    FlowNet *net;    /* of `then` */
    FlowClass *next; /* begun when this one ends */
    FlowItem *then;
} Work;

static void on_done(FlowItem *item, SimTime now_ps)
{
    Work *work = (Work *)(void *)item;
    work->end_ps = now_ps;
    if (work->next)
        flow_begin(work->net, work->next, work->then, 10 * FLOW_LINE);
}

static void assert_near(SimTime got, SimTime want) { assert_in_range(got, want - 10, want + 10); }

/* Two flows share a link of 10^9 lines/s; one also crosses another of 0.2 x 10^9, and the first
 * gets the rest: rates 0.2 and 0.8, and 1.0 for whoever is left. */
static void test_shares_are_max_min_fair(void **state)
{
    (void)state;
    Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    FlowNet *net = flow_new(sim, 2);
    const FlowUse one[] = {{0, UNIT, 0, 0, FLOW_HELD}};
    const FlowUse both[] = {{0, UNIT, 0, 0, FLOW_HELD}, {1, UNIT, 0, 0, FLOW_HELD}};
    Work slow = {.item.done = on_done}, fast = {.item.done = on_done};
    flow_set_capacity(net, 0, 1000000000ull * UNIT);
    flow_set_capacity(net, 1, 200000000ull * UNIT);
    FlowClass *narrow = flow_class(net, both, 2, G_MAXUINT32), *wide = flow_class(net, one, 1, G_MAXUINT32);
    flow_begin(net, narrow, &slow.item, 300ull * FLOW_LINE); /* 1.5 us at 0.2 lines/ns */
    flow_begin(net, wide, &fast.item, 800ull * FLOW_LINE);   /* 1 us at 0.8 */
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_near(fast.end_ps, 1000000);
    assert_near(slow.end_ps, 1500000);
    flow_free(net);
    sim_free(sim);
}

/* Flows of one class share alike; when the shorter one ends, the other speeds up at that instant,
 * and a flow begun by the end of another is served from then on. */
static void test_rates_change_when_a_flow_ends(void **state)
{
    (void)state;
    Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    FlowNet *net = flow_new(sim, 1);
    const FlowUse use[] = {{0, 2 * UNIT, 0, 0, FLOW_HELD}};
    Work later = {.item.done = on_done}, lone = {.item.done = on_done};
    flow_set_capacity(net, 0, 1000000000ull * UNIT); /* half a line a ns for all together */
    FlowClass *class = flow_class(net, use, 1, G_MAXUINT32);
    assert_ptr_equal(class, flow_class(net, use, 1, G_MAXUINT32));
    Work brief = {.item.done = on_done, .net = net, .next = class, .then = &later.item};
    flow_begin(net, class, &brief.item, 100ull * FLOW_LINE);
    flow_begin(net, class, &lone.item, 110ull * FLOW_LINE);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_near(brief.end_ps, 400000);
    assert_near(lone.end_ps, 440000); /* 10 more lines at a quarter, beside `later` */
    assert_near(later.end_ps, 440000);
    flow_free(net);
    sim_free(sim);
}

/* A flow's own limit binds before the link does, and what it leaves goes to the other. */
static void test_a_limited_flow_leaves_room(void **state)
{
    (void)state;
    Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    FlowNet *net = flow_new(sim, 1);
    const FlowUse use[] = {{0, UNIT, 0, 0, FLOW_HELD}};
    Work slow = {.item.done = on_done}, fast = {.item.done = on_done};
    flow_set_capacity(net, 0, 1000000000ull * UNIT);
    flow_begin(net, flow_class(net, use, 1, 100000000), &slow.item, 100ull * FLOW_LINE);
    flow_begin(net, flow_class(net, use, 1, G_MAXUINT32), &fast.item, 900ull * FLOW_LINE);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_near(slow.end_ps, 1000000);
    assert_near(fast.end_ps, 1000000);
    flow_free(net);
    sim_free(sim);
}

static void on_passed(FlowItem *item, SimTime now_ps)
{
    Work *work = (Work *)(void *)item;
    work->passed_ps = now_ps;
    work->left = flow_left(work->net, item);
}

/* A flow tells when no more than the rest of it is left, at whatever rate it got there, and then goes on to its end. */
static void test_tells_of_the_rest(void **state)
{
    (void)state;
    Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    FlowNet *net = flow_new(sim, 1);
    const FlowUse use[] = {{0, UNIT, 0, 0, FLOW_HELD}};
    Work brief = {.item.done = on_done};
    Work lone = {.net = net, .item = {.done = on_done, .passed = on_passed, .rest = 300ull * FLOW_LINE}};
    flow_set_capacity(net, 0, 1000000000ull * UNIT);
    FlowClass *class = flow_class(net, use, 1, G_MAXUINT32);
    flow_begin(net, class, &lone.item, 1000ull * FLOW_LINE);
    flow_begin(net, class, &brief.item, 100ull * FLOW_LINE);
    sim_run(sim, 100000); /* half a line a ns for each */
    assert_in_range(flow_left(net, &lone.item), 949ull * FLOW_LINE, 951ull * FLOW_LINE);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_near(brief.end_ps, 200000);
    assert_near(lone.passed_ps, 200000 + 600000);
    assert_in_range(lone.left, 299ull * FLOW_LINE, 300ull * FLOW_LINE);
    assert_near(lone.end_ps, 200000 + 900000);
    flow_free(net);
    sim_free(sim);
}

/* Where one resource limits both, rates are as the weights; the rest of a flow that a limit holds up goes to the other;
 * and a flow that changes its class takes what is left of it along. */
static void test_weights(void **state)
{
    (void)state;
    Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    FlowNet *net = flow_new(sim, 1);
    const FlowUse use[] = {{0, UNIT, 1, 0, FLOW_HELD}};
    Work light = {.item.done = on_done}, heavy = {.item.done = on_done};
    flow_set_capacity(net, 0, 1000000000ull * UNIT);
    FlowClass *class = flow_class(net, use, 1, G_MAXUINT32);
    FlowClass *half = flow_class_like(net, class, G_MAXUINT32, FLOW_WEIGHT / 2);
    FlowClass *slow = flow_class_like(net, class, 100000000, FLOW_WEIGHT);
    assert_ptr_equal(class, flow_class_like(net, half, G_MAXUINT32, FLOW_WEIGHT));
    flow_begin(net, half, &light.item, 600ull * FLOW_LINE);
    flow_begin(net, class, &heavy.item, 1000ull * FLOW_LINE);
    sim_run(sim, 900000); /* a third and two thirds of a line a ns */
    flow_change(net, &heavy.item, slow);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_near(light.end_ps, 900000 + 333333);  /* 300 lines at 0.9 */
    assert_near(heavy.end_ps, 900000 + 4000000); /* 400 at 0.1 */
    flow_change(net, &heavy.item, class);        /* over: nothing happens */
    flow_free(net);
    sim_free(sim);
}

/* Who takes turns with those that queue does so by its weight where it is this that holds it up, and by none where
 * something else does. */
static void test_turns(void **state)
{
    (void)state;
    for (guint32 other = 0; other < 2; other++) {
        Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
        FlowNet *net = flow_new(sim, 2);
        const FlowUse queues[] = {{0, UNIT, 1, 0, FLOW_HELD}};
        const FlowUse turns[] = {{0, UNIT, 0, 0, FLOW_TURNS}, {1, UNIT, 0, 0, FLOW_HELD}};
        Work store = {.item.done = on_done}, load = {.item.done = on_done};
        flow_set_capacity(net, 0, 1000000000ull * UNIT);
        flow_set_capacity(net, 1, (other ? 250000000ull : 1000000000ull) * UNIT);
        flow_begin(net, flow_class(net, queues, 1, G_MAXUINT32), &store.item, 750ull * FLOW_LINE);
        FlowClass *class = flow_class(net, turns, 2, G_MAXUINT32);
        flow_begin(net, flow_class_like(net, class, G_MAXUINT32, FLOW_WEIGHT / 4), &load.item, 200ull * FLOW_LINE);
        assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
        assert_near(store.end_ps, other ? 950000 : 937500); /* 0.75 and 0.25 lines a ns; 0.8 and 0.2 */
        flow_free(net);
        sim_free(sim);
    }
}

/* An acknowledgement takes of a full link what it takes, and its flow is not held up; all others share the rest. */
static void test_riders_are_not_held_up(void **state)
{
    (void)state;
    Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    FlowNet *net = flow_new(sim, 2);
    const FlowUse data[] = {{0, UNIT, 0, 0, FLOW_HELD}};
    const FlowUse other[] = {{0, UNIT / 10, 0, 0, FLOW_RIDES}, {1, UNIT, 0, 0, FLOW_HELD}};
    Work one = {.item.done = on_done}, two = {.item.done = on_done};
    flow_set_capacity(net, 0, 100000000ull * UNIT); /* 0.1 lines a ns */
    flow_set_capacity(net, 1, 1000000000ull * UNIT);
    flow_begin(net, flow_class(net, data, 1, G_MAXUINT32), &one.item, 100ull * FLOW_LINE);
    flow_begin(net, flow_class(net, other, 2, G_MAXUINT32), &two.item, 500ull * FLOW_LINE);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_near(two.end_ps, 500000);
    assert_in_range(one.end_ps, 1000000, 1100000);
    flow_free(net);
    sim_free(sim);
}

/* What goes on from where it queues to a resource of half its capacity is not held up there, unless others are who do
 * not queue: then as they are. */
static void test_behind_is_held_up_where_it_queues(void **state)
{
    (void)state;
    Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    FlowNet *net = flow_new(sim, 2);
    const FlowUse stored[] = {{0, UNIT, 1, 0, FLOW_HELD}, {1, UNIT, 0, 0, FLOW_BEHIND}};
    const FlowUse other[] = {{1, UNIT, 0, 0, FLOW_HELD}};
    Work one = {.item.done = on_done}, two = {.item.done = on_done};
    flow_set_capacity(net, 0, 1000000000ull * UNIT); /* a line a ns */
    flow_set_capacity(net, 1, 500000000ull * UNIT);
    flow_begin(net, flow_class(net, stored, 2, G_MAXUINT32), &one.item, 1000ull * FLOW_LINE);
    sim_run(sim, 400000);
    assert_true(flow_is_behind(net, 1));
    flow_begin(net, flow_class(net, other, 1, G_MAXUINT32), &two.item, 100ull * FLOW_LINE);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_near(two.end_ps, 400000 + 400000); /* a quarter of a line a ns */
    assert_near(one.end_ps, 800000 + 500000);
    assert_false(flow_is_full(net, 1));
    flow_free(net);
    sim_free(sim);
}

/* crossings: of links, beyond which AUTO is flows; 0: its own choice. */
static guint64 time_among(guint32 gpus, CollOp op, CollAlgo algo, guint64 bytes, CollFidelity fidelity,
                          guint64 crossings, guint64 *events, guint64 *flits)
{
    FabricSpec spec;
    ParamSet *set = param_set_new();
    memset(&spec, 0, sizeof spec);
    device_params(set, &spec);
    assert_true(preset_load(set, "dgx-h100", NULL));
    Sim *sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    Fabric *fabric = fabric_new(sim, &spec, FALSE, NULL);
    CollGroup *group = coll_group_new(fabric, NULL, gpus, NULL);
    CollSpec what = coll_spec_default(op);
    CollResult result;
    what.algo = algo;
    what.bytes = bytes;
    what.fidelity = fidelity;
    what.crossings = crossings;
    assert_true(coll_run(group, &what, &result, NULL));
    assert_true(fabric_is_quiet(fabric));
    assert_null(fabric->flow);
    *events = sim_events_fired(sim);
    *flits = 0;
    for (guint32 g = 0; g < gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++)
            for (guint32 k = 0; k < PACKET_KINDS; k++)
                if (k != PACKET_ACK && k != PACKET_MC_DONE) /* these merge as they come */
                    *flits += fabric->gpu[g].up[l].count[k].flits + fabric->gpu[g].down[l].count[k].flits;
    coll_group_free(group);
    fabric_free(fabric);
    sim_free(sim);
    param_set_free(set);
    return result.time_ps;
}

static guint64 time_of(CollOp op, CollAlgo algo, guint64 bytes, CollFidelity fidelity, guint64 *events)
{
    guint64 flits;
    return time_among(8, op, algo, bytes, fidelity, 0, events, &flits);
}

/* Collectives of 12 MiB in flows take what they take in packets, within 6 %, with few of their
 * events. */
static void test_collectives_agree_with_their_packets(void **state)
{
    static const struct {
        CollOp op;
        CollAlgo algo;
    } cases[] = {{COLL_ALL_REDUCE, COLL_NVLS},
                 {COLL_ALL_GATHER, COLL_NVLS},
                 {COLL_REDUCE_SCATTER, COLL_NVLS},
                 {COLL_BROADCAST, COLL_NVLS},
                 {COLL_ALL_GATHER, COLL_PUSH}};
    (void)state;
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint64 events[2];
        guint64 packets = time_of(cases[i].op, cases[i].algo, 12u << 20, COLL_PACKET, &events[0]);
        guint64 flows = time_of(cases[i].op, cases[i].algo, 12u << 20, COLL_FLOW, &events[1]);
        assert_in_range(flows, packets * 94 / 100, packets * 106 / 100);
        assert_true(events[1] * 20 < events[0]);
    }
}

/* Auto is packets, to the last digit, as long as packets are cheap. */
static void test_auto_is_packets_when_small(void **state)
{
    guint64 events[2];
    (void)state;
    assert_int_equal(time_of(COLL_ALL_GATHER, COLL_NVLS, 1u << 20, COLL_FIDELITY_AUTO, &events[0]),
                     time_of(COLL_ALL_GATHER, COLL_NVLS, 1u << 20, COLL_PACKET, &events[1]));
    assert_int_equal(events[0], events[1]);
}

static int compare_errors(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

#define FLOW_SMALL 4u /* cases that are always run */

/* The first four always, all with FANOUT_FLOW_ALL (make check-flow). Beyond its crossings auto is flows: within
 * 4.5 % of the packets (the most is 4.3, a pulled reduce_scatter, which is 3.1 % fast if no load is late), of the
 * large ones 1 % in the median, with all their flits but acknowledgements on the links, and the flows in fewer
 * than a hundredth of their events. */
static void test_auto_is_flows_when_large(void **state)
{
    static const struct {
        CollOp op;
        CollAlgo algo;
        guint64 bytes;
    } cases[] = {{COLL_ALL_REDUCE, COLL_NVLS, 64u << 20},      {COLL_ALL_REDUCE, COLL_RING, 64u << 20},
                 {COLL_BROADCAST, COLL_NVLS, 64u << 20},       {COLL_REDUCE_SCATTER, COLL_PULL, 64u << 20},
                 {COLL_ALL_REDUCE, COLL_NVLS, 256u << 20},     {COLL_ALL_REDUCE, COLL_TWOSHOT, 256u << 20},
                 {COLL_ALL_REDUCE, COLL_RING, 256u << 20},     {COLL_ALL_REDUCE, COLL_TREE, 256u << 20},
                 {COLL_ALL_GATHER, COLL_NVLS, 256u << 20},     {COLL_ALL_GATHER, COLL_PUSH, 256u << 20},
                 {COLL_ALL_GATHER, COLL_RING, 256u << 20},     {COLL_REDUCE_SCATTER, COLL_NVLS, 256u << 20},
                 {COLL_REDUCE_SCATTER, COLL_PULL, 256u << 20}, {COLL_REDUCE_SCATTER, COLL_RING, 256u << 20},
                 {COLL_BROADCAST, COLL_NVLS, 256u << 20},      {COLL_BROADCAST, COLL_RING, 256u << 20},
                 {COLL_ALL_TO_ALL, COLL_DIRECT, 256u << 20},   {COLL_SENDRECV, COLL_DIRECT, 256u << 20}};
    gsize n = g_getenv("FANOUT_FLOW_ALL") ? G_N_ELEMENTS(cases) : FLOW_SMALL, large = n - FLOW_SMALL;
    double error[G_N_ELEMENTS(cases)];
    (void)state;
    for (gsize i = 0; i < n; i++) {
        guint64 events[2], flits[2];
        double packets = (double)time_among(4, cases[i].op, cases[i].algo, cases[i].bytes, COLL_PACKET, 0, &events[0],
                                            &flits[0]);
        double more = (double)time_among(4, cases[i].op, cases[i].algo, cases[i].bytes, COLL_FIDELITY_AUTO, 1,
                                         &events[1], &flits[1]);
        error[i] = more > packets ? more / packets - 1 : 1 - more / packets;
        print_message("%s %s: %.2f %%, flits %.4f, events 1/%.0f\n", coll_op_name(cases[i].op),
                      coll_algo_name(cases[i].algo), (more / packets - 1) * 100, (double)flits[1] / (double)flits[0],
                      (double)events[0] / (double)events[1]);
        assert_in_range(flits[1], flits[0] * 999 / 1000, flits[0] * 1001 / 1000);
        assert_true(events[1] * 100 < events[0]);
    }
    for (gsize i = 0; i < n; i++)
        assert_true(error[i] < 0.045);
    qsort(error + FLOW_SMALL, large, sizeof *error, compare_errors);
    assert_true(large == 0 || (error[FLOW_SMALL + (large - 1) / 2] + error[FLOW_SMALL + large / 2]) / 2 < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_are_max_min_fair),
        cmocka_unit_test(test_rates_change_when_a_flow_ends),
        cmocka_unit_test(test_a_limited_flow_leaves_room),
        cmocka_unit_test(test_tells_of_the_rest),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_riders_are_not_held_up),
        cmocka_unit_test(test_behind_is_held_up_where_it_queues),
        cmocka_unit_test(test_collectives_agree_with_their_packets),
        cmocka_unit_test(test_auto_is_packets_when_small),
        cmocka_unit_test(test_auto_is_flows_when_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
