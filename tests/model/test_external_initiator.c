/* An external initiator requester among the GPUs of a real fabric. */
#include "tests/model/model_test.h"

#include "model/gpu/external_initiator.h"

#define WINDOW (1u << 20)
#define VA_UNICAST 0x10000000u
#define VA_MULTICAST 0x20000000u

typedef struct {
    Bed bed;
    Vas *vas;
    ExternalInitiator *initiator;
    MemRegion *far;
    MemRegion *member[8];
    guint32 done;
    FaultKind fault;
    SimTime at_ps;
} Stage;

static void stage_done(void *user, FaultKind fault)
{
    Stage *stage = user;
    stage->done++;
    stage->fault = fault;
    stage->at_ps = sim_now_ps(stage->bed.sim);
}

/* GPU 0's initiator sees memory of GPU 3, and a multicast object of all eight, in one address space. */
static void stage_open(Stage *stage)
{
    memset(stage, 0, sizeof *stage);
    bed_open(&stage->bed, "dgx-h100", NULL, NULL);
    stage->vas = vas_new(stage->bed.fabric->memory, (guint32)stage->bed.fabric->spec.system.gpus);
    stage->far = bed_region(&stage->bed, 3, WINDOW);
    VasMapping *unicast = vas_map(stage->vas, VA_UNICAST, WINDOW, stage->far, NULL, 0);
    vas_set_access(unicast, 0, VAS_ACCESS_READWRITE);
    McObject *object = bed_team(&stage->bed, 8, WINDOW, stage->member);
    VasMapping *multicast = vas_map(stage->vas, VA_MULTICAST, WINDOW, NULL, object, 0);
    vas_set_access(multicast, 0, VAS_ACCESS_READWRITE);
    stage->initiator = external_initiator_new(stage->bed.fabric, stage->vas, 0);
}

static void stage_close(Stage *stage)
{
    external_initiator_free(stage->initiator);
    vas_unmap(stage->vas, VA_UNICAST, WINDOW);
    vas_unmap(stage->vas, VA_MULTICAST, WINDOW);
    vas_free(stage->vas);
    memory_region_unref(stage->bed.fabric->memory, stage->far);
    for (int i = 0; i < 8; i++)
        memory_region_unref(stage->bed.fabric->memory, stage->member[i]);
    bed_close(&stage->bed);
}

static void fill(guint8 *data, gsize n)
{
    for (gsize i = 0; i < n; i++)
        data[i] = (guint8)(i * 7 + i / 256);
}

/* Proves that a long, crooked write arrives byte for byte, and reads back the same. */
static void test_write_and_read(void **state)
{
    (void)state;
    Stage stage;
    static guint8 out[100001], in[100001];
    stage_open(&stage);

    fill(out, sizeof out);
    external_initiator_access(stage.initiator, TRUE, VA_UNICAST + 77, out, sizeof out, stage_done, &stage);
    assert_int_equal(sim_run(stage.bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(stage.done, 1);
    assert_int_equal(stage.fault, FAULT_NONE);
    assert_memory_equal(stage.far->host + 77, out, sizeof out);
    assert_int_equal(stage.far->host[76] + stage.far->host[77 + sizeof out], 0);
    external_initiator_access(stage.initiator, FALSE, VA_UNICAST + 77, in, sizeof in, stage_done, &stage);
    assert_int_equal(sim_run(stage.bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_memory_equal(in, out, sizeof out);
    assert_true(fabric_is_quiet(stage.bed.fabric));
    stage_close(&stage);
}

/* Proves that an external initiator's single packet takes exactly as long as the same request of an SM's. */
static void test_same_time_as_an_sm(void **state)
{
    (void)state;
    Stage stage;
    guint8 word[4] = {1, 2, 3, 4};
    stage_open(&stage);

    external_initiator_access(stage.initiator, FALSE, VA_UNICAST + 512, word, 4, stage_done, &stage);
    sim_run(stage.bed.sim, SIMTIME_NEVER);
    SimTime start_ps = sim_now_ps(stage.bed.sim);
    SimTime initiator_ps = stage.at_ps;
    Answer answer = {0};
    GpuRequest request = {.kind = PACKET_READ, .region = stage.far, .offset = 512, .bytes = 4};
    bed_send(&stage.bed, 0, &request, &answer);
    sim_run(stage.bed.sim, SIMTIME_NEVER);
    assert_int_equal(answer.times, 1);
    assert_true(initiator_ps > 100000);
    assert_int_equal(answer.at_ps - start_ps, initiator_ps);
    stage_close(&stage);
}

/* Proves that a write to a multicast address lands in every member's memory. */
static void test_multicast_write(void **state)
{
    (void)state;
    Stage stage;
    guint8 out[300];
    stage_open(&stage);

    fill(out, sizeof out);
    external_initiator_access(stage.initiator, TRUE, VA_MULTICAST + 64, out, sizeof out, stage_done, &stage);
    assert_int_equal(sim_run(stage.bed.sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(stage.fault, FAULT_NONE);
    for (int i = 0; i < 8; i++)
        assert_memory_equal(stage.member[i]->host + 64, out, sizeof out);
    stage_close(&stage);
}

/* Proves that accesses with nothing behind them, without right, or that read from a multicast address are
 * refused and recorded, and that what lay before the fault was written. */
static void test_faults(void **state)
{
    (void)state;
    Stage stage;
    guint8 out[64] = {9, 9, 9};
    stage_open(&stage);
    static const struct {
        gboolean write;
        guint64 va;
        FaultKind fault;
    } cases[] = {
        {TRUE, 0x999, FAULT_UNMAPPED},
        {TRUE, VA_UNICAST + WINDOW - 3, FAULT_UNMAPPED},
        {FALSE, VA_MULTICAST, FAULT_PLAIN_ON_MULTICAST},
        {TRUE, VA_UNICAST, FAULT_ACCESS},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        if (cases[i].fault == FAULT_ACCESS)
            vas_set_access(vas_find(stage.vas, VA_UNICAST), 0, VAS_ACCESS_READ);
        external_initiator_access(stage.initiator, cases[i].write, cases[i].va, out, sizeof out, stage_done, &stage);
        sim_run(stage.bed.sim, SIMTIME_NEVER);
        assert_int_equal(stage.done, i + 1);
        assert_int_equal(stage.fault, cases[i].fault);
        assert_int_equal(stage.bed.fabric->n_faults, i + 1);
    }
    assert_int_equal(stage.far->host[WINDOW - 1], 9);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_same_time_as_an_sm),
        cmocka_unit_test(test_multicast_write),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
