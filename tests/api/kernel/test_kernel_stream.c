/* Kernels of PTX in the engine's streams: their order, their faults as calls are told of them, and the watchdog. */
#include "tests/test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "api/engine/kernel.h"
#include "model/presets/preset.h"
#include "sim/log.h"

#define VA G_GUINT64_CONSTANT(0x7000000000)
#define BYTES (2u << 20)

static const char text[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry add(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; mad.lo.u32 %r1, %r1, 3, 1; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry wrong()\n{\n.reg .b32 %r<3>;\ntrap;\n}\n"
    ".visible .entry endless()\n{\n$L: bra $L;\n}\n";

typedef struct {
    ParamSet *set;
    FabricSpec fabric;
    Engine *engine;
    PtxModule *module;
    PtxImage *image;
    guint32 stream;
    guint32 *words;
} Seat;

static EngineStatus ask(const Seat *seat, EngineRequest request, EngineReply *reply)
{
    memset(reply, 0, sizeof *reply);
    return engine_call(seat->engine, &request, reply);
}

#define WATCHDOG_US 1000000u

/* The engine of the process: there is one, which is never freed. */
static Seat *seat_new(void)
{
    Seat *seat = g_new0(Seat, 1);
    EngineReply reply;
    GError *error = NULL;
    int fd = memfd_create("kernel", 0);
    seat->set = param_set_new();
    fabric_params(seat->set, &seat->fabric);
    assert_true(preset_load(seat->set, "teach-4gpu", NULL));
    const EngineSpec spec = {.fabric = &seat->fabric, .seed = 1, .query_quantum_ps = 1000000, .keep_bytes = TRUE,
                             .sticky_faults = TRUE, .watchdog_us = WATCHDOG_US, .log = log_new()};
    seat->engine = engine_new(&spec, &error);
    assert_non_null(seat->engine);
    assert_true(fd >= 0 && ftruncate(fd, BYTES) == 0);
    seat->words = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_int_equal(ask(seat, (EngineRequest){.op = ENGINE_REGION_NEW, .fd = fd, .bytes = BYTES}, &reply), ENGINE_OK);
    ask(seat, (EngineRequest){.op = ENGINE_MAP, .address = VA, .bytes = BYTES, .region = (guint32)reply.value}, &reply);
    ask(seat, (EngineRequest){.op = ENGINE_ACCESS, .address = VA, .access = VAS_ACCESS_READWRITE}, &reply);
    seat->module = ptx_module_read("stream.ptx", text, sizeof text - 1, &error);
    assert_non_null(seat->module);
    seat->image = ptx_image_new(seat->module, 0, 0);
    return seat;
}

/* A stream in a context of its own, which has no faults yet. */
static Seat *seat_take(void **state, guint32 context)
{
    Seat *seat = *state;
    EngineReply reply;
    ask(seat, (EngineRequest){.op = ENGINE_STREAM_NEW, .object = context, .access = 1}, &reply);
    seat->stream = (guint32)reply.value;
    seat->words[0] = 0;
    return seat;
}

static EngineStatus launch(const Seat *seat, const char *kernel, guint32 threads, EngineReply *reply)
{
    const guint64 param = VA;
    const KernelSpec spec = {.image = seat->image, .entry = ptx_module_entry(seat->module, kernel),
                             .grid = {1, 1, 1}, .block = {threads, 1, 1}, .param = &param};
    return ask(seat, (EngineRequest){.op = ENGINE_LAUNCH_PTX, .stream = seat->stream,
                                     .argument = (guint64)(guintptr)&spec}, reply);
}

static EngineStatus wait_for(const Seat *seat, EngineReply *reply)
{
    return ask(seat, (EngineRequest){.op = ENGINE_WAIT_STREAM, .stream = seat->stream}, reply);
}

/* Proves that launches of a stream run one after the other, and that one that cannot be is refused at once. */
static void test_order(void **state)
{
    EngineReply reply;
    Seat *seat = seat_take(state, 1);
    for (guint n = 0; n < 4; n++)
        assert_int_equal(launch(seat, "add", 1, &reply), ENGINE_OK);
    assert_int_equal(launch(seat, "add", 2000, &reply), ENGINE_INVALID);
    assert_int_equal(wait_for(seat, &reply), ENGINE_OK);
    assert_int_equal(seat->words[0], 40);
}

/* Proves that a launch's own time passes beside the work before it: kernels that are queued follow each other without
 * it, and one that comes to an idle stream takes it. */
static void test_queued(void **state)
{
    EngineReply reply;
    Seat *seat = seat_take(state, 4);
    guint64 at[4], launch_ps = seat->fabric.sm.launch_ps;
    for (guint round = 0; round < 4; round++) { /* the first reads its code and data from far */
        ask(seat, (EngineRequest){.op = ENGINE_NOW}, &reply);
        guint64 from = reply.time_ps;
        for (guint n = 0; n < (round == 3 ? 5u : 1u); n++)
            assert_int_equal(launch(seat, "add", 1, &reply), ENGINE_OK);
        assert_int_equal(wait_for(seat, &reply), ENGINE_OK);
        at[round] = reply.time_ps - from;
    }
    assert_int_equal(at[1], at[2]);
    assert_true(at[2] > launch_ps);
    assert_int_equal(at[3], launch_ps + 5 * (at[2] - launch_ps));
}

/* Proves that a kernel's fault is told to those that wait and stays with its context, by kind. */
static void test_fault(void **state)
{
    EngineReply reply;
    Seat *seat = seat_take(state, 2);
    assert_int_equal(launch(seat, "wrong", 32, &reply), ENGINE_OK);
    assert_int_equal(wait_for(seat, &reply), ENGINE_DEVICE_FAULT);
    assert_int_equal(reply.fault, FAULT_TRAP);
    assert_int_equal(launch(seat, "add", 1, &reply), ENGINE_DEVICE_FAULT);
    assert_int_equal(reply.fault, FAULT_TRAP);
    assert_int_equal(seat->words[0], 0);
}

/* Proves that the watchdog ends a kernel that never does. */
static void test_watchdog(void **state)
{
    EngineReply reply;
    Seat *seat = seat_take(state, 3);
    assert_int_equal(launch(seat, "endless", 32, &reply), ENGINE_OK);
    assert_int_equal(wait_for(seat, &reply), ENGINE_DEVICE_FAULT);
    assert_int_equal(reply.fault, FAULT_HUNG);
}

static int begin(void **state)
{
    *state = seat_new();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_queued),
                                       cmocka_unit_test(test_fault),
                                       cmocka_unit_test(test_watchdog)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
