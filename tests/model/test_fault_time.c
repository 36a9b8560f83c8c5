/* Faults that come and go while packets fly: times and errors worked out by hand on teach-4gpu, whose numbers are
 * round: 1 ns a flit (16 GB/s), two switches with a link of each GPU. */
#include "tests/model/model_test.h"

#include "model/fabric/fault_plan.h"

/* A fast fabric manager, and time-outs of a size that can be read. */
#define TIMES                                                                                                          \
    "fault.manager_ps=5000000", "fault.request_timeout_ps=3000000", "fault.multicast_timeout_ps=2000000",              \
        "fault.reduction_timeout_ps=1000000"

typedef struct {
    Bed bed;
    Answer answer;
    MemRegion *region;
} Stand;

static void stand_on_event(Event *event, SimTime now_ps)
{
    (void)event;
    (void)now_ps;
}

/* Nothing of the fabric is due: the clock goes on nevertheless. */
static void stand_wait(Sim *sim, SimTime until_ps)
{
    Event event;
    event_init(&event, stand_on_event);
    sim_at(sim, &event, until_ps, EVENT_PRIORITY_LAST);
    assert_int_equal(sim_run(sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(sim_now_ps(sim) == until_ps);
}

static void stand_open(Stand *stand, const char *fault)
{
    const char *sets[] = {fault, TIMES, NULL};
    memset(stand, 0, sizeof *stand);
    bed_open(&stand->bed, "teach-4gpu", sets, NULL);
    stand->region = bed_region(&stand->bed, 1, 65536);
}

static void stand_close(Stand *stand)
{
    assert_true(fabric_is_quiet(stand->bed.fabric));
    bed_close(&stand->bed);
}

/* The first offset of the region whose chunk goes by that link. */
static guint64 stand_offset(const Stand *stand, guint32 link)
{
    GpuRequest request = {.kind = PACKET_READ, .region = stand->region, .bytes = 128};
    while (gpu_link_of(&stand->bed.fabric->gpu[0], &request) != link)
        request.offset += 256;
    return request.offset;
}

/* GPU 0 asks for 128 bytes of GPU 1 by a link, at at_ps; when the answer is there. */
static SimTime stand_read(Stand *stand, guint32 link, SimTime at_ps)
{
    GpuRequest request = {.kind = PACKET_READ, .region = stand->region, .bytes = 128};
    request.offset = stand_offset(stand, link);
    stand_wait(stand->bed.sim, at_ps);
    memset(&stand->answer, 0, sizeof stand->answer);
    bed_send(&stand->bed, 0, &request, &stand->answer);
    assert_int_equal(sim_run(stand->bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(stand->answer.times, 1);
    return stand->answer.at_ps;
}

static FaultLink *stand_cost(const Stand *stand, guint item, guint direction)
{
    return &g_array_index(fault_plan_item(stand->bed.fabric->plan, item)->links, FaultLink, direction);
}

static SimTime read_ps(void)
{
    Stand whole;
    stand_open(&whole, "fault.link_down=none");
    const SimTime took_ps = stand_read(&whole, 0, 0);
    stand_close(&whole);
    return took_ps;
}

/* Proves that a link that is down for less than the manager's reaction costs just the time until it is up, and nothing
 * else: the request waits at its port, goes on, and is answered. */
static void test_flap(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, "fault.link_down=gpu0.link0@1us-4us");
    assert_true(stand_read(&stand, 0, 2000000) == 4000000 + read_ps());
    assert_int_equal(stand.answer.state, TXN_OK);
    assert_true(stand_cost(&stand, 0, 0)->waited_ps == 4000000 - 2000000);
    assert_true(stand_cost(&stand, 0, 0)->lost == 0 && stand.bed.fabric->n_faults == 0);
    assert_true(stand_read(&stand, 0, 20000000) == 20000000 + read_ps()); /* as before, by the same link */
    stand_close(&stand);
}

/* Proves that what waits for a link that stays down is lost when the manager reacts, that its requester is told ATO_ERR
 * a time-out later, that requests after that take the other link, and the old one again once the manager has seen that
 * it is up. */
static void test_link_lost(void **state)
{
    (void)state;
    Stand stand;
    const SimTime took_ps = read_ps();
    stand_open(&stand, "fault.link_down=gpu0.link0@1us-20us");
    const guint64 offset = stand_offset(&stand, 0);
    assert_true(stand_read(&stand, 0, 2000000) == 1000000 + 5000000 + 3000000); /* came, reaction, time-out */
    assert_int_equal(stand.answer.state, TXN_LOST);
    assert_true(stand_cost(&stand, 0, 0)->waited_ps == 6000000 - 2000000);
    assert_true(stand_cost(&stand, 0, 0)->lost == 1 && stand_cost(&stand, 0, 1)->lost == 0);
    assert_true(stand.bed.fabric->n_faults == 1);
    assert_int_equal(g_array_index(stand.bed.fabric->faults, FabricFault, 0).kind, FAULT_LOST);
    GpuRequest request = {.kind = PACKET_READ, .region = stand.region, .offset = offset, .bytes = 128};
    /* at 15 us it is down, at 22 and 23.5 us up, which is known as of 20 + 5 us */
    static const SimTime times_ps[] = {15000000, 22000000, 23500000, 25000000};
    for (guint i = 0; i < G_N_ELEMENTS(times_ps); i++) {
        const SimTime at_ps = times_ps[i];
        stand_wait(stand.bed.sim, at_ps);
        assert_int_equal(gpu_link_of(&stand.bed.fabric->gpu[0], &request), at_ps < 25000000);
        bed_send(&stand.bed, 0, &request, &stand.answer);
        assert_int_equal(sim_run(stand.bed.sim, SIMTIME_NEVER), SIM_IDLE);
        assert_true(stand.answer.at_ps == at_ps + took_ps);
    }
    stand_close(&stand);
}

/* Proves that an answer that is lost on its way back ends its request in the same way: the request was on the wire when
 * the link broke, and the GPU that answers finds the way back dead. */
static void test_answer_lost(void **state)
{
    (void)state;
    Stand stand;
    stand_open(&stand, "fault.link_down=gpu1.link0@100ns");
    /* it starts at 0, is on GPU 0's wire, and reaches the switch; GPU 1's link is down by then */
    assert_true(stand_read(&stand, 0, 0) == 100000 + 5000000 + 3000000);
    assert_int_equal(stand.answer.state, TXN_LOST);
    assert_true(stand_cost(&stand, 0, 0)->lost + stand_cost(&stand, 0, 1)->lost == 1);
    stand_close(&stand);
}

/* Proves that lanes lost during a run cost flits on that link their part, while they last: a request of one flit and an
 * answer of nine at a quarter of the rate take four times as long, and none before or after. */
static void test_lanes_lost(void **state)
{
    (void)state;
    Stand stand;
    const SimTime took_ps = read_ps();
    stand_open(&stand, "fault.link_degraded=gpu0.link0:25@10us-20us");
    assert_true(stand_read(&stand, 0, 0) == took_ps);
    assert_true(stand_read(&stand, 0, 12000000) == 12000000 + took_ps + 3 * 1000 + 3 * 9000);
    assert_true(stand_read(&stand, 1, 14000000) == 14000000 + took_ps);
    assert_true(stand_read(&stand, 0, 25000000) == 25000000 + took_ps);
    assert_true(stand_cost(&stand, 0, 0)->waited_ps == 3000 && stand_cost(&stand, 0, 1)->waited_ps == 27000);
    stand_close(&stand);
}

/* Proves that bit errors of one link cost replays there and then: some of 200 reads by it take longer by whole replays
 * of their request or answer, none by the other link, and none once they are over. */
static void test_errors(void **state)
{
    (void)state;
    Stand stand;
    const SimTime took_ps = read_ps();
    stand_open(&stand, "fault.link_errors=gpu0.link0:300000000@1us-900us");
    const guint64 replay_ps = stand.bed.spec.link.replay_ps;
    guint64 replays = 0, more_ps = 0;
    for (guint i = 1; i <= 200; i++) {
        const SimTime at_ps = i * 4000000;
        more_ps += stand_read(&stand, 0, at_ps) - at_ps - took_ps;
        assert_int_equal(stand.answer.state, TXN_OK);
    }
    const guint64 up = stand.bed.fabric->gpu[0].up[0].replays, down = stand.bed.fabric->gpu[0].down[0].replays;
    replays = up + down;
    assert_true(replays > 100 && replays < 240); /* 400 packets, 0.3 / 0.7 replays each: 171 */
    assert_true(more_ps == replays * replay_ps + up * 1000 + down * 9000);
    assert_true(stand_read(&stand, 1, 850000000) == 850000000 + took_ps);
    for (guint i = 0; i < 50; i++)
        assert_true(stand_read(&stand, 0, 1000000000 + i * 4000000) == 1000000000 + i * 4000000 + took_ps);
    assert_true(stand_cost(&stand, 0, 0)->replays == up && stand_cost(&stand, 0, 1)->replays == down);
    stand_close(&stand);
}

/* Proves that a switch that is down takes its links with it, for as long as the manager takes to route back, and that a
 * team goes on by the other switch with half of its link numbers: half the bandwidth. */
static void test_switch_lost(void **state)
{
    (void)state;
    const char *sets[] = {"fault.switch_down=switch0@10us-30us", TIMES, NULL};
    Bed bed;
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *region[4];
    McObject *object = bed_team(&bed, 4, 65536, region);
    guint expected[] = {2, 1, 2}; /* link numbers of the team: at 14, 16, and 36 us */
    static const SimTime at_ps[] = {14000000, 16000000, 36000000};
    SimTime took_ps[3];
    for (guint i = 0; i < 3; i++) {
        Answer answer = {0};
        stand_wait(bed.sim, at_ps[i]);
        assert_int_equal(bed.fabric->mc_route[object->mcid].n, expected[i]);
        for (guint at = 0; i > 0 && at < 65536; at += 128) {
            GpuRequest request = {.kind = PACKET_MC_WRITE, .object = object, .offset = at, .bytes = 128};
            bed_send(&bed, 0, &request, &answer);
        }
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        assert_int_equal(answer.times, i ? 512 : 0);
        assert_true(i == 0 || answer.state == TXN_OK);
        took_ps[i] = answer.at_ps - at_ps[i];
    }
    /* 512 stores of nine flits by one link, or 256 by each of two (within what the hash gives): the loss is half */
    assert_true(took_ps[1] > 512 * 9000 && took_ps[1] < 512 * 9000 + 5000000);
    assert_true(took_ps[2] * 100 > took_ps[1] * 50 && took_ps[2] * 100 < took_ps[1] * 62);
    assert_true(bed.fabric->n_faults == 0 && fabric_is_quiet(bed.fabric));
    bed_close(&bed);
}

/* Proves that a GPU that falls silent loses what reaches it from then on: a read ends with ATO_ERR, a multicast write
 * with CRUMBSTORE_MCTO_ERR and an ld_reduce with CRUMBSTORE_RTO_ERR, each after its own time-out; and that all is well
 * before and after. */
static void test_gpu_falls_silent(void **state)
{
    (void)state;
    Stand stand;
    const SimTime took_ps = read_ps();
    stand_open(&stand, "fault.gpu_silent=gpu1@10us-30us");
    Bed *bed = &stand.bed;
    MemRegion *region[4];
    McObject *object = bed_team(bed, 4, 4096, region);
    const Switch *sw = bed->fabric->sw;
    assert_true(stand_read(&stand, 0, 0) == took_ps);
    static const guint8 expected[2][3] = {{TXN_LOST, TXN_TIMEOUT, TXN_TIMEOUT}, {TXN_OK, TXN_OK, TXN_OK}};
    for (guint i = 0; i < 2; i++) {
        const SimTime at_ps = i ? 35000000 : 12000000;
        guint8 data[128] = {1};
        Answer stored = {0}, loaded = {0};
        GpuRequest store = {.kind = PACKET_MC_WRITE, .object = object, .bytes = 128, .data = data};
        GpuRequest load = {.kind = PACKET_MC_READ, .object = object, .bytes = 128, .offset = 512};
        GpuRequest read = {.kind = PACKET_READ, .region = stand.region, .bytes = 128};
        Answer answer = {0};
        stand_wait(bed->sim, at_ps);
        bed_send(bed, 2, &store, &stored);
        bed_send(bed, 3, &load, &loaded);
        bed_send(bed, 0, &read, &answer);
        assert_int_equal(sim_run(bed->sim, SIMTIME_NEVER), SIM_IDLE);
        const SimTime read_at_ps = answer.at_ps;
        assert_int_equal(answer.state, expected[i][0]);
        assert_int_equal(stored.state, expected[i][1]);
        assert_int_equal(loaded.state, expected[i][2]);
        /* a request is lost when it reaches the GPU, which is a part of a round trip after it left */
        assert_true(i || (read_at_ps > at_ps + 3000000 && read_at_ps < at_ps + 3000000 + took_ps));
        assert_true(i || (stored.at_ps > at_ps + 2000000 && stored.at_ps < at_ps + 2000000 + 2 * took_ps));
        assert_true(i || (loaded.at_ps > at_ps + 1000000 && loaded.at_ps < at_ps + 1000000 + 2 * took_ps));
    }
    assert_true(sw[0].crumbstore_mcto_err + sw[1].crumbstore_mcto_err == 1);
    assert_true(sw[0].crumbstore_rto_err + sw[1].crumbstore_rto_err == 1);
    assert_true(bed->fabric->gpu[1].dropped == 3 && bed->fabric->n_faults == 3);
    stand_close(&stand);
}

/* Proves that a run that waits for a GPU that fell silent, without a time-out, names it before all who wait. */
static void test_stuck(void **state)
{
    (void)state;
    const char *sets[] = {"fault.gpu_silent=gpu2@1us", "fault.request_timeout_ps=0", NULL};
    Bed bed;
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *region = bed_region(&bed, 2, 4096);
    GpuRequest load = {.kind = PACKET_READ, .region = region, .bytes = 128};
    Answer answer = {0};
    stand_wait(bed.sim, 2000000);
    bed_send(&bed, 0, &load, &answer);
    assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_STUCK);
    g_auto(GStrv) waiters = sim_waiters(bed.sim);
    assert_non_null(strstr(waiters[0], "gpu2: is silent (fault.gpu_silent), 1 requests to it were lost"));
    bed_close(&bed);
}

/* Proves that requests to a member that has left its teams end with the error of unbound memory, that the others get
 * their copies, and that it takes part again when it is back. */
static void test_member_leaves(void **state)
{
    (void)state;
    const char *sets[] = {"fault.member_leaves=gpu2@10us-20us", NULL};
    Bed bed;
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *region[4];
    McObject *object = bed_team(&bed, 4, 4096, region);
    for (guint8 i = 1; i <= 3; i++) {
        guint8 data[128] = {i};
        Answer answer = {0};
        GpuRequest store = {.kind = PACKET_MC_WRITE, .object = object, .bytes = 128, .data = data};
        stand_wait(bed.sim, i * 8000000 - 1000000); /* 7, 15, 23 us */
        bed_send(&bed, 0, &store, &answer);
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        assert_int_equal(answer.state, i == 2 ? TXN_UNBOUND : TXN_OK);
        assert_int_equal(region[1]->host[0], i);
        assert_int_equal(region[2]->host[0], i == 2 ? 1 : i);
    }
    bed_close(&bed);
}

/* Proves that a GPU at a quarter of its clocks takes four times as long for what its L2 gives it, while that lasts:
 * 128 ns of the bytes and 200 ns beside. Of two faults at a time the slower counts. */
static void test_gpu_slow(void **state)
{
    (void)state;
    const char *sets[] = {"fault.gpu_slow=gpu1:25@10us-20us,gpu1:50@12us-18us", "gpu.local_MBps=1000", NULL};
    Bed bed;
    bed_open(&bed, "teach-4gpu", sets, NULL);
    MemRegion *region = bed_region(&bed, 1, 4096);
    region->cached = TRUE;
    SimTime took_ps[3];
    for (guint i = 0; i < 3; i++) {
        Answer answer = {0};
        GpuRequest load = {.kind = PACKET_READ, .region = region, .bytes = 128};
        stand_wait(bed.sim, 5000000 + i * 10000000);
        assert_true(bed.fabric->gpu[1].sm_spec->load_ps == bed.spec.sm.load_ps * (i == 1 ? 4 : 1));
        bed_send(&bed, 1, &load, &answer);
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        took_ps[i] = answer.at_ps - (5000000 + i * 10000000);
    }
    assert_true(took_ps[1] == took_ps[0] + 3 * (128000 + 200000) && took_ps[2] == took_ps[0]);
    bed_close(&bed);
}

/* Proves that others wait for a slow GPU's L2 (100 ns) and HBM (200 ns, 16 ns of the bytes at 8 GB/s) four times as
 * long, too, and that while it lasts HBM gives them a quarter: of 256 lines at once the last comes as many times
 * later. */
static void test_gpu_slow_for_others(void **state)
{
    (void)state;
    static const struct {
        gboolean cached;
        SimTime at_ps;
        guint lines, moves; /* moves: of 16 ns more */
        SimTime more_ps;    /* beside them */
    } row[] = {{TRUE, 0, 1, 0, 0},    {TRUE, 110000000, 1, 0, 300000},     {TRUE, 210000000, 1, 0, 0},
               {FALSE, 0, 1, 0, 0},   {FALSE, 110000000, 1, 3, 900000},    {FALSE, 210000000, 1, 0, 0},
               {FALSE, 0, 256, 0, 0}, {FALSE, 110000000, 256, 768, 900000}};
    const char *sets[] = {"fault.gpu_slow=gpu1:25@100us-200us", "gpu.hbm_MBps=8000", NULL};
    SimTime took_ps[G_N_ELEMENTS(row)];
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        Bed bed;
        Answer answer = {0};
        bed_open(&bed, "teach-4gpu", sets, NULL);
        MemRegion *region = bed_region(&bed, 1, 65536);
        memory_set_cached(bed.fabric->memory, region, row[i].cached);
        GpuRequest load = {.kind = PACKET_READ, .region = region, .bytes = 128};
        stand_wait(bed.sim, row[i].at_ps);
        for (guint k = 0; k < row[i].lines; k++, load.offset += 128)
            bed_send(&bed, 0, &load, &answer);
        assert_int_equal(sim_run(bed.sim, SIMTIME_NEVER), SIM_IDLE);
        assert_int_equal(answer.times, row[i].lines);
        took_ps[i] = answer.at_ps - row[i].at_ps;
        const SimTime usual_ps = took_ps[row[i].lines > 1 ? 6 : row[i].cached ? 0 : 3];
        assert_true(took_ps[i] == usual_ps + row[i].moves * 16000 + row[i].more_ps);
        assert_true(fabric_is_quiet(bed.fabric));
        bed_close(&bed);
    }
    assert_true(took_ps[3] == took_ps[0] + 16000 + 200000); /* HBM instead of L2 */
}

/* Proves that a slow GPU's answers keep their order when it recovers: each takes its usual time from then on, but comes
 * no earlier than a wire's nine flits behind the one before it, which was slow. One read each 20 ns, by one link. */
static void test_gpu_recovers(void **state)
{
    (void)state;
    enum { READS = 80 };
    Stand stand;
    Answer answer[READS] = {{0}};
    const SimTime took_ps = read_ps();
    stand_open(&stand, "fault.gpu_slow=gpu1:25@10us-20us");
    const FabricSpec *spec = &stand.bed.spec;
    /* an answer's nine flits go over two wires; it is slow if it is on the first one before 20 us */
    const SimTime back_ps = spec->gpu.l2_ps + 2 * (9000 + spec->link.flight_ps) + spec->sw.latency_ps + spec->gpu.in_ps;
    SimTime last_ps = 0;
    guint slow = 0, late = 0;
    GpuRequest request = {.kind = PACKET_READ, .region = stand.region, .bytes = 128};
    request.offset = stand_offset(&stand, 0);
    for (guint i = 0; i < READS; i++) {
        Event event; /* up to then, while answers of those before fly */
        event_init(&event, stand_on_event);
        sim_at(stand.bed.sim, &event, 19000000 + i * 20000, EVENT_PRIORITY_LAST);
        sim_run(stand.bed.sim, 19000000 + i * 20000);
        bed_send(&stand.bed, 0, &request, &answer[i]);
    }
    assert_int_equal(sim_run(stand.bed.sim, SIMTIME_NEVER), SIM_IDLE);
    for (guint i = 0; i < READS; i++) {
        const SimTime at_ps = 19000000 + i * 20000, usual_ps = at_ps + took_ps;
        const gboolean is_slow = usual_ps - back_ps < 20000000;
        const SimTime expected_ps = MAX(usual_ps + (is_slow ? 300000 : 0), last_ps + 9000);
        assert_int_equal(answer[i].times, 1);
        assert_true(answer[i].at_ps == expected_ps);
        slow += is_slow;
        late += !is_slow && expected_ps > usual_ps;
        last_ps = expected_ps;
    }
    /* the first one that is not slow comes 300 - 20 + 9 ns late, and each next one 20 - 9 ns less */
    assert_true(slow > 10 && late == (280000 + 9000) / 11000 + 1 && slow + late < READS);
    stand_close(&stand);
}

/* A team made while others have all extended entries gets the 4 of 5 link numbers that fit a main entry on a switch of
 * 5 (8 GPUs x 4 = 32 directives): 16 of 18, and all 18 made when they have none. Multicast IDs that others have are not
 * given out, and a team which finds none is told how many would do. */
static void tables_taken(guint threads)
{
    const char *sets[] = {"fault.extended_taken=switch1:16@10us,switch2:16@10us", "multicast.overflow=extended",
                          "fault.entries_taken=switch0:127@20us", NULL};
    Bed bed;
    GError *error = NULL;
    bed_open(&bed, "dgx-h100", sets, &(SimSpec){.seed = 1, .threads = threads});
    MemRegion *region[8];
    guint expected[] = {18, 16}; /* switches 1 and 2 have five links of each GPU, 0 and 3 have four */
    assert_int_equal(bed.spec.system.links_per_switch.value[1], 5);
    assert_int_equal(bed.spec.system.links_per_switch.value[2], 5);
    for (guint i = 0; i < 2; i++) {
        stand_wait(bed.sim, i * 11000000);
        McObject *object = bed_team(&bed, 8, 4096, region);
        assert_int_equal(bed.fabric->mc_route[object->mcid].n, expected[i]);
    }
    stand_wait(bed.sim, 21000000);
    McObject *object = fabric_mc_object(bed.fabric, 1, 4096);
    mcobject_add_member(object, 0);
    assert_false(fabric_mc_attach(bed.fabric, object, &error));
    assert_non_null(strstr(error->message, "entries = 128, set 130 or more")); /* 2 of ours, 127 of others, one more */
    g_clear_error(&error);
    mcobject_free(object);
    bed_close(&bed);
}

/* Proves that what others have of tables counts, on one core and on two. */
static void test_tables_taken(void **state)
{
    (void)state;
    tables_taken(1);
    tables_taken(2);
}

/* Proves that times and amounts that make no sense are refused with key and example, and faults that would cut two GPUs
 * apart with the time at which they would. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"fault.link_down=gpu0.link0@20", "'20' is no time"},
        {"fault.link_down=gpu0.link0@20us-", "'' is no time"},
        {"fault.link_down=gpu0.link0@0.0001ns", "'0.0001ns' is no time"},
        {"fault.link_down=gpu0.link0@20us-10us", "it ends before it begins"},
        {"fault.link_down=gpu0.link0:50", "'link_down' has no amount; write it as gpu0.link3@20us"},
        {"fault.link_degraded=gpu0.link0:101@1us", "behind ':' stands a whole number from 1 to 100"},
        {"fault.link_errors=gpu0.link0@1us", "as in gpu0.link3:1000000@20us-50us"},
        {"fault.gpu_slow=gpu0", "behind ':' stands a whole number from 1 to 100"},
        {"fault.entries_taken=switch9:1", "'switch9' is nothing this system has"},
        {"fault.link_down=gpu0.link0@1us,gpu1.link1@3us",
         "gpu0 and gpu1 have no link left to a common switch port at 8000000 ps"},
        {"fault.multicast_timeout_ps=1", "is less than one flight"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        const char *sets[] = {TIMES, "fault.switch_down=switch1@1s", bad[i][0], NULL};
        bed_refused("teach-4gpu", sets, bad[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flap),
        cmocka_unit_test(test_link_lost),
        cmocka_unit_test(test_answer_lost),
        cmocka_unit_test(test_lanes_lost),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_switch_lost),
        cmocka_unit_test(test_gpu_falls_silent),
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_member_leaves),
        cmocka_unit_test(test_tables_taken),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_gpu_slow),
        cmocka_unit_test(test_gpu_slow_for_others),
        cmocka_unit_test(test_gpu_recovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
