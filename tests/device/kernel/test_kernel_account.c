/* device/kernel/account.c: what a launch's row of the report says. */
#include "tests/device/kernel/kernel_world.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"

static const char text[] = HEAD
    /* each warp's 32 lanes: 4 B from p, 8 B to q, an addition at the multicast address m by one lane */
    ".visible .entry bytes(.param .u64 p, .param .u64 q, .param .u64 m)\n{\n"
    ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [m];\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 8; add.s64 %rd1, %rd1, %rd4; add.s64 %rd2, %rd2, %rd4;\n"
    "ld.relaxed.gpu.global.u32 %r2, [%rd1]; cvt.u64.u32 %rd5, %r2; st.global.u64 [%rd2], %rd5;\n"
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra $E; multimem.red.release.sys.global.add.u32 [%rd3], 1;\n"
    "multimem.ld_reduce.relaxed.sys.global.add.u32 %r3, [%rd3]; st.global.u64 [%rd2], %rd5;\n$E: ret;\n}\n"
    /* lanes of the lower half write to the multicast address m, those of the upper half to q, in one store */
    ".visible .entry plain(.param .u64 q, .param .u64 m)\n{\n"
    ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [q]; ld.param.u64 %rd2, [m]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 8;\n"
    "setp.lt.u32 %p1, %r1, 16; selp.u64 %rd3, %rd2, %rd1, %p1; add.s64 %rd3, %rd3, %rd4;\n"
    "cvt.u64.u32 %rd5, %r1; add.u64 %rd5, %rd5, 100; st.relaxed.sys.global.u64 [%rd3], %rd5; ret;\n}\n"
    ".visible .entry plain_load(.param .u64 m)\n{\n.reg .b64 %rd<3>; ld.param.u64 %rd1, [m];\n"
    "ld.volatile.global.u64 %rd2, [%rd1]; ret;\n}\n"
    /* each lane loads its word as the SM may keep it, again, and as it may not */
    ".visible .entry twice(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<9>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, %r2; st.global.u32 [%rd1+4096], %r3;\n"
    "ld.global.u32 %r4, [%rd1]; add.u32 %r5, %r4, %r3; st.global.u32 [%rd1+8192], %r5;\n"
    "ld.global.cv.u32 %r6, [%rd1]; add.u32 %r7, %r6, %r5; st.global.u32 [%rd1+4096], %r7; ret;\n}\n"
    /* goes n times to the address that stands at p */
    ".visible .entry chase(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
    "$N: ld.global.u64 %rd1, [%rd1]; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra $N;\n"
    "st.global.u64 [%rd1+4096], %rd1; ret;\n}\n"
    /* calls a function by its address, as kernels do that serve many */
    ".func serve()\n{\nret;\n}\n.visible .entry serves()\n{\n.reg .b64 %rd<3>;\n"
    "mov.u64 %rd2, serve; call %rd2; ret;\n}\n"
    /* warp 0 sleeps for 20 us, the others wait for it */
    ".visible .entry late()\n{\n.reg .b32 %r<3>; .reg .pred %p<2>;\n"
    "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 31; @%p1 bra $B; nanosleep.u32 20000;\n$B: bar.sync 0; ret;\n}\n"
    /* lane 0 of CTA 1 polls what CTA 0 writes after 10 us */
    ".visible .entry flag(.param .u64 p)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra $L;\n"
    "nanosleep.u32 10000; st.release.gpu.global.u32 [%rd1], 1; ret;\n"
    "$L: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra $L; ret;\n}\n";

static guint64 lived_ps(const KernelStats *stats)
{
    guint64 sum = 0;
    for (guint w = 0; w < KERNEL_WAITS; w++)
        sum += stats->wait_ps[w];
    return sum;
}

/* Proves that bytes are counted once for each lane, by whose memory they are in, a multicast address apart, and that
 * the multicast instructions of warps are counted by kind. */
static void test_bytes(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "account.ptx", text);
    const guint64 param[3] = {world->va[0], world->va[1] + 4096, world->mc_va + 65536};
    Ended ended = world_kernel(loaded, "bytes", 3, 32, 0, param);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    assert_int_equal(ended.stats.bytes[KERNEL_OWN], 3 * 32 * 4);
    assert_int_equal(ended.stats.bytes[KERNEL_PEER], 3 * (32 + 1) * 8);
    assert_int_equal(ended.stats.bytes[KERNEL_MULTICAST], 3 * 2 * 4);
    assert_int_equal(ended.stats.bytes[KERNEL_HOST], 0);
    assert_int_equal(ended.stats.bytes[KERNEL_L1], 0);
    assert_int_equal(ended.stats.mc_reds, 3);
    assert_int_equal(ended.stats.mc_loads, 3);
    assert_int_equal(ended.stats.mc_stores, 0);
    assert_true(ended.stats.wait_ps[KERNEL_WAITS_MEMORY] > 0 && ended.stats.wait_ps[KERNEL_WAITS_FENCE] > 0);
    world_unload(loaded);
    world_free(world);
}

/* Proves that a load which comes again is answered by the L1, and one with .cv is not: it is fetched again. */
static void test_twice(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "account.ptx", text);
    const guint64 param = world->va[0];
    Ended ended = world_kernel(loaded, "twice", 1, 32, 0, &param);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    assert_int_equal(ended.stats.bytes[KERNEL_OWN], 5 * 32 * 4);
    assert_int_equal(ended.stats.bytes[KERNEL_L1], 32 * 4);
    world_unload(loaded);
    world_free(world);
}

/* Proves that bytes of the host's memory are the host's, and not a peer's. */
static void test_host(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "account.ptx", text);
    MemRegion *host = memory_region_new(world->fabric->memory, MEMORY_HOST, 1u << 21, NULL);
    const guint64 va = vas_choose(world->vas, 1u << 21, 1u << 21);
    world_map(world, va, 1u << 21, host, NULL);
    const guint64 param[3] = {va, va + 4096, world->mc_va + 65536};
    Ended ended = world_kernel(loaded, "bytes", 1, 32, 0, param);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    assert_int_equal(ended.stats.bytes[KERNEL_HOST], 32 * 4 + (32 + 1) * 8); /* loads of 4 B, stores of 8, one twice */
    assert_int_equal(ended.stats.bytes[KERNEL_PEER], 0);
    assert_int_equal(ended.stats.bytes[KERNEL_OWN], 0);
    assert_true(vas_unmap(world->vas, va, 1u << 21));
    memory_region_unref(world->fabric->memory, host);
    world_unload(loaded);
    world_free(world);
}

/* Proves that a load that hits the L1 takes 37 clk behind the one in which it is issued, to the picosecond: 64 loads
 * more, each of which needs the one before it for its address, take 64 times as long; what the loop does beside them
 * fits into that. */
static void test_hit(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "account.ptx", text);
    const guint64 self = world->va[0];
    memcpy(world->region[0]->host, &self, sizeof self);
    SimTime took_ps[3];
    for (guint32 i = 0; i < 3; i++) { /* the first brings the code */
        const guint64 param[2] = {self, i == 2 ? 80 : 16};
        Ended ended = world_kernel(loaded, "chase", 1, 1, 0, param);
        assert_int_equal(ended.fault, PTX_FAULT_NONE);
        assert_int_equal(ended.stats.bytes[KERNEL_L1], (param[1] - 1) * 8);
        took_ps[i] = ended.took_ps;
    }
    assert_int_equal(took_ps[2] - took_ps[1], 64 * (1 + 37) * world->spec.sm.clock_ps);
    world_unload(loaded);
    world_free(world);
}

/* Proves that a plain store to a multicast address reaches every member, as on hardware, also where other lanes of the
 * same instruction write to one GPU alone; and that a plain load of one is refused. */
static void test_plain_store(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "account.ptx", text);
    const guint64 param[2] = {world->va[1] + 4096, world->mc_va + 65536};
    Ended ended = world_kernel(loaded, "plain", 1, 32, 0, param);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    assert_int_equal(ended.stats.mc_stores, 1);
    assert_int_equal(ended.stats.bytes[KERNEL_MULTICAST], 16 * 8);
    assert_int_equal(ended.stats.bytes[KERNEL_PEER], 16 * 8);
    for (guint g = 0; g < 4; g++)
        for (guint lane = 0; lane < 32; lane++) {
            guint64 upper = lane >= 16 && g == 1 ? lane + 100 : 0;
            assert_int_equal(word_of(world, g, (65536 + lane * 8) / 4), lane < 16 ? lane + 100 : 0);
            assert_int_equal(word_of(world, g, (4096 + lane * 8) / 4), upper);
        }
    Ended refused = world_kernel(loaded, "plain_load", 1, 1, 0, &param[1]);
    assert_int_equal(refused.fault, PTX_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(refused.text, "plain access to a multicast"));
    g_free(refused.text);
    world_unload(loaded);
    world_free(world);
}

/* Proves that the function that a kernel called by its address is told, and of others none. */
static void test_called(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "account.ptx", text);
    Ended ended = world_kernel(loaded, "serves", 2, 64, 0, NULL);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    assert_string_equal(ended.stats.called, "serve");
    assert_null(world_kernel(loaded, "late", 1, 64, 0, NULL).stats.called);
    world_unload(loaded);
    world_free(world);
}

/* Proves that the parts of a warp's time add up to its life: of a CTA of one warp, to the time that its SM had it; and
 * that three of four warps wait as long at the barrier as the fourth sleeps. */
static void test_parts(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "account.ptx", text);
    Ended one = world_kernel(loaded, "late", 1, 32, 0, NULL), four = world_kernel(loaded, "late", 1, 128, 0, NULL);
    assert_int_equal(lived_ps(&one.stats), one.stats.sm_ps);
    assert_true(one.stats.wait_ps[KERNEL_SLEEPS] >= 20000 * PS_PER_NS);
    assert_true(four.stats.sm_ps < one.stats.sm_ps + 1000 * PS_PER_NS);
    guint64 three_ps = four.stats.wait_ps[KERNEL_WAITS_BARRIER], sleep_ps = four.stats.wait_ps[KERNEL_SLEEPS];
    assert_true(three_ps > 29 * sleep_ps / 10 && three_ps < 32 * sleep_ps / 10);
    assert_true(lived_ps(&four.stats) <= 4 * four.stats.sm_ps && lived_ps(&four.stats) > 39 * four.stats.sm_ps / 10);
    world_unload(loaded);
    world_free(world);
}

/* Proves that a loop that polls is called so, and that its reads without packets are no bytes. */
static void test_poll(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "account.ptx", text);
    const guint64 param = world->va[0];
    Ended ended = world_kernel(loaded, "flag", 2, 1, 0, &param);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    assert_true(ended.stats.polls > 5);
    assert_true(ended.stats.wait_ps[KERNEL_WAITS_POLL] > 8000 * PS_PER_NS);
    assert_true(ended.stats.bytes[KERNEL_OWN] <= 4 * 4);
    world_unload(loaded);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes), cmocka_unit_test(test_twice),       cmocka_unit_test(test_host),
        cmocka_unit_test(test_hit),   cmocka_unit_test(test_plain_store), cmocka_unit_test(test_called),
        cmocka_unit_test(test_parts), cmocka_unit_test(test_poll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
