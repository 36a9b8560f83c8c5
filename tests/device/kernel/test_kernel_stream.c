/* Kernels of PTX in the engine's streams: their order, their faults as calls are told of them, and the watchdog. */
#include "tests/test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "machine/engine/kernel.h"
#include "device/launch_time.h"
#include "model/presets/preset.h"
#include "sim/log.h"

#define VA G_GUINT64_CONSTANT(0x7000000000)
#define BYTES (2u << 20)

static const char text[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry add(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; mad.lo.u32 %r1, %r1, 3, 1; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry chain(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\ngriddepcontrol.launch_dependents;\n"
    "griddepcontrol.wait; ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; mad.lo.u32 %r1, %r1, 3, 1;\n"
    "st.global.u32 [%rd1], %r1; ret;\n}\n"
    /* lets others start, waits for the second word, and then writes the third */
    ".visible .entry first(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %q;\n"
    "griddepcontrol.launch_dependents; ld.param.u64 %rd1, [p];\n$L: ld.relaxed.gpu.global.u32 %r1, [%rd1+4];\n"
    "setp.eq.u32 %q, %r1, 0; @%q bra $L; nanosleep.u32 20000; st.global.u32 [%rd1+8], 7; ret;\n}\n"
    /* writes the second word, waits for the kernel before it, and copies the third word to the fourth */
    ".visible .entry second(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;\nld.param.u64 %rd1, [p];\n"
    "st.relaxed.gpu.global.u32 [%rd1+4], 1; griddepcontrol.wait; ld.relaxed.gpu.global.u32 %r1, [%rd1+8];\n"
    "st.global.u32 [%rd1+12], %r1; ret;\n}\n"
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
    device_params(seat->set, &seat->fabric);
    assert_true(preset_load(seat->set, "teach-4gpu", NULL));
    const EngineSpec spec = {.fabric = &seat->fabric,
                             .seed = 1,
                             .query_quantum_ps = 1000000,
                             .keep_bytes = TRUE,
                             .sticky_faults = TRUE,
                             .watchdog_us = WATCHDOG_US,
                             .log = log_new()};
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

static EngineStatus launch_as(const Seat *seat, const char *kernel, guint32 threads, gboolean programmatic,
                              EngineReply *reply)
{
    const guint64 param = VA;
    const KernelSpec spec = {.image = seat->image,
                             .entry = ptx_module_entry(seat->module, kernel),
                             .grid = {1, 1, 1},
                             .block = {threads, 1, 1},
                             .param = &param,
                             .depends = programmatic};
    return ask(seat,
               (EngineRequest){.op = ENGINE_LAUNCH_PTX, .stream = seat->stream, .argument = (guint64)(guintptr)&spec},
               reply);
}

static EngineStatus launch(const Seat *seat, const char *kernel, guint32 threads, EngineReply *reply)
{
    return launch_as(seat, kernel, threads, FALSE, reply);
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

/* What n launches of a kernel of one thread take that are queued at once. */
static guint64 train_ps(const Seat *seat, const char *kernel, guint n, gboolean programmatic)
{
    EngineReply reply;
    ask(seat, (EngineRequest){.op = ENGINE_NOW}, &reply);
    guint64 from = reply.time_ps;
    for (guint i = 0; i < n; i++)
        assert_int_equal(launch_as(seat, kernel, 1, programmatic, &reply), ENGINE_OK);
    assert_int_equal(wait_for(seat, &reply), ENGINE_OK);
    return reply.time_ps - from;
}

/* Proves that a launch's own time passes beside the work before it: kernels that are queued follow each other
 * sm.queued_ps after the last store, those with programmatic launch sm.dependent_ps, and one that comes to an idle
 * stream takes its launch's and its end's time. */
static void test_queued(void **state)
{
    Seat *seat = seat_take(state, 4);
    const SmSpec *sm = &seat->fabric.sm;
    train_ps(seat, "add", 1, FALSE); /* reads its code and data from far */
    guint64 one = train_ps(seat, "add", 1, FALSE), six = train_ps(seat, "add", 6, FALSE);
    guint64 own = one - sm->launch_ps - MIN(sm->exit_drain_ps, sm->exit_ps); /* no less than to its last store */
    assert_int_equal(train_ps(seat, "add", 1, FALSE), one);
    assert_true(one > sm->launch_ps + sm->exit_ps);
    assert_int_equal((six - one) % 5, 0);
    assert_true((six - one) / 5 > sm->queued_ps && (six - one) / 5 <= own + sm->queued_ps);
    train_ps(seat, "chain", 1, TRUE);
    guint64 chain = train_ps(seat, "chain", 1, TRUE), chain_six = train_ps(seat, "chain", 6, TRUE);
    guint64 of_each = (chain_six - chain) / 5;
    assert_true(of_each > sm->dependent_ps && of_each < (six - one) / 5);
    guint32 word = 0;
    for (guint i = 0; i < 9 + 8; i++)
        word = word * 3 + 1;
    assert_int_equal(seat->words[0], word);
}

/* Proves that a kernel with programmatic launch starts when the one before it lets it (which waits for a word that only
 * the second one writes), that griddepcontrol.wait holds it until the first one's stores are performed, and that what
 * was queued behind both comes after both. */
static void test_programmatic(void **state)
{
    EngineReply reply;
    Seat *seat = seat_take(state, 5);
    memset(seat->words, 0, 16);
    assert_int_equal(launch_as(seat, "first", 1, FALSE, &reply), ENGINE_OK);
    assert_int_equal(launch_as(seat, "second", 1, TRUE, &reply), ENGINE_OK);
    assert_int_equal(launch_as(seat, "add", 1, FALSE, &reply), ENGINE_OK);
    assert_int_equal(wait_for(seat, &reply), ENGINE_OK);
    assert_int_equal(seat->words[1], 1);
    assert_int_equal(seat->words[3], 7);
    assert_int_equal(seat->words[0], 1);
}

/* Proves that without programmatic launch a kernel does not start early: the first one waits in vain, which is
 * reported. */
static void test_not_programmatic(void **state)
{
    EngineReply reply;
    Seat *seat = seat_take(state, 6);
    memset(seat->words, 0, 16);
    assert_int_equal(launch_as(seat, "first", 1, FALSE, &reply), ENGINE_OK);
    assert_int_equal(launch_as(seat, "second", 1, FALSE, &reply), ENGINE_OK);
    assert_int_equal(wait_for(seat, &reply), ENGINE_STUCK);
    assert_int_equal(seat->words[1], 0);
    assert_int_equal(seat->words[3], 0);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),        cmocka_unit_test(test_queued),
                                       cmocka_unit_test(test_programmatic), cmocka_unit_test(test_not_programmatic),
                                       cmocka_unit_test(test_fault),        cmocka_unit_test(test_watchdog)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
