/* device/kernel: atomics that many lanes ask for at once, of the own GPU's memory and of another's. */
#include "tests/device/kernel/kernel_world.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
/* n times: each thread its word, `stride` bytes from the one before (0: all the same), within 64 KiB */
#define KERNEL(name, instruction)                                                                                      \
    ".visible .entry " name "(.param .u64 p, .param .u32 stride, .param .u32 n)\n{\n"                                  \
    ".reg .b64 %rd<5>; .reg .b32 %r<9>; .reg .f32 %f<3>; .reg .pred %p<2>;\n"                                          \
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [stride]; ld.param.u32 %r2, [n];\n"                                     \
    "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r5, %r3, %r4, %r5;\n"               \
    "mul.lo.u32 %r5, %r5, %r1; and.b32 %r5, %r5, 65535; cvt.u64.u32 %rd2, %r5; add.s64 %rd1, %rd1, %rd2;\n"            \
    "mov.f32 %f1, 0f3F800000;\n"                                                                                       \
    "$L: " instruction " sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra $L; ret;\n}\n"

static const char text[] = HEAD KERNEL("integers", "atom.global.add.u32 %r7, [%rd1], 1; add.u32 %r8, %r8, %r7;")
    KERNEL("swaps", "atom.global.cas.b32 %r7, [%rd1], %r8, %r2; add.u32 %r8, %r8, %r7;")
        KERNEL("floats", "atom.global.add.f32 %f2, [%rd1], %f1; add.f32 %f1, %f1, 0f00000000;")
            KERNEL("reductions", "red.global.add.u32 [%rd1], 1;");

typedef struct {
    guint64 p;
    guint32 stride, n;
} Args;

#define CTAS 16u
#define THREADS 1024u

/* Thousandths of a clock cycle that one lane's operation takes all of the GPU, from the difference of two launches. */
static double lane_clk(Loaded *loaded, const char *kernel, guint64 va, guint32 stride, guint32 n)
{
    Args few = {va, stride, n}, many = {va, stride, 2 * n};
    Ended first = world_kernel(loaded, kernel, CTAS, THREADS, 0, &few);
    Ended second = world_kernel(loaded, kernel, CTAS, THREADS, 0, &many);
    assert_true(first.done && second.done && !first.fault && !second.fault);
    guint64 clock_ps = loaded->world->fabric->spec.sm.clock_ps;
    return 1000.0 * (double)(second.took_ps - first.took_ps) / (double)(CTAS * THREADS * n) / (double)clock_ps;
}

static void expect(double got, double wanted)
{
    if (got < wanted * 0.97 || got > wanted * 1.05)
        fail_msg("%.1f thousandths of a clock cycle a lane, and not %.1f", got, wanted);
}

/* Proves that atomics on one word of the own memory go one after the other, integers faster than sums of floats, as an
 * H100 does them (h100/memory.csv: 1.358 and 0.568 thousand million a second); and that none is lost. */
static void test_one_word(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "atomics.ptx", text);
    expect(lane_clk(loaded, "integers", world->va[0], 0, 4), 1458);
    guint32 count;
    memcpy(&count, world->region[0]->host, 4);
    assert_int_equal(count, CTAS * THREADS * 12);
    expect(lane_clk(loaded, "swaps", world->va[0] + 128, 0, 4), 1458);
    expect(lane_clk(loaded, "floats", world->va[0] + 256, 0, 4), 3487);
    expect(lane_clk(loaded, "reductions", world->va[0] + 512, 0, 4), 1458);
    world_unload(loaded);
    world_free(world);
}

/* Proves that a word that many want does not hold up the others: while CTAs meet at one word, another kernel's atomics
 * on words of their own take no longer than alone, within what the units of the L2 are busy. */
static void test_beside(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "atomics.ptx", text);
    Args busy = {world->va[0], 0, 8}, own = {world->va[0] + 131072, 128, 8};
    Ended alone = world_kernel(loaded, "integers", 1, 32, 0, &own), beside = {0}, other = {0};
    world_start(loaded, "integers", 4, THREADS, 0, &busy, &other);
    world_start(loaded, "integers", 1, 32, 0, &own, &beside);
    assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(other.done && beside.done);
    assert_true(other.took_ps > 2 * beside.took_ps);
    assert_true(beside.took_ps < alone.took_ps * 3 / 2);
    world_unload(loaded);
    world_free(world);
}

/* Proves that a peer's word is as slow as its link: 0.36 to 0.48 thousand million a second on an H100 (h100/README). */
static void test_peer(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "atomics.ptx", text);
    double clk = lane_clk(loaded, "integers", world->va[1], 0, 2) / 1000;
    double per_second = 1e3 / (clk * (double)world->fabric->spec.sm.clock_ps);
    assert_true(per_second > 0.34 && per_second < 0.50);
    guint32 count;
    memcpy(&count, world->region[1]->host, 4);
    assert_int_equal(count, CTAS * THREADS * 6);
    world_unload(loaded);
    world_free(world);
}

static const char halves[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry halves(.param .u64 p)\n{\n.reg .b64 %d<5>; .reg .b32 %r<5>; .reg .pred %p;\n"
    ".shared .align 16 .b32 tile[16];\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;\n"
    "mov.u32 %r4, 0x40004000; st.shared.u32 [%r3], %r4; fence.proxy.async.shared::cta; bar.sync 0;\n"
    "setp.ne.u32 %p, %r1, 0; @%p bra $E; add.s64 %d2, %d1, 64; add.s64 %d3, %d1, 128;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%d1], [%r2], 64;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%d2], [%r2], 64;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f16 [%d3], [%r2], 64;\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n$E: ret;\n}\n";

/* Proves that reductions in bulk reach every element of 16 bits: 10 and 2 in bf16 and f16 make 12, and the least 2. */
static void test_bulk_halves(void **state)
{
    (void)state;
    static const guint16 was[3] = {0x4120, 0x4900, 0x4900}, is[3] = {0x4140, 0x4a00, 0x4000};
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "halves.ptx", halves);
    guint16 *at = (guint16 *)(void *)world->region[0]->host;
    for (guint i = 0; i < 96; i++)
        at[i] = was[i / 32];
    assert_int_equal(world_kernel(loaded, "halves", 1, 16, 0, &world->va[0]).fault, PTX_FAULT_NONE);
    for (guint i = 0; i < 96; i++)
        assert_int_equal(at[i], is[i / 32]);
    world_unload(loaded);
    world_free(world);
}

static const char vectors[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry vectors(.param .u64 own, .param .u64 peer)\n{\n"
    ".reg .b64 %d<5>; .reg .b32 %r<5>; .reg .b16 %h<20>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [own]; ld.param.u64 %d2, [peer]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1;\n"
    "mul.wide.u32 %d3, %r2, 4; add.s64 %d3, %d1, %d3; mov.b16 %h1, 0x3f80; mov.b16 %h2, 0x4000;\n"
    "red.global.add.noftz.v2.bf16 [%d3], {%h1, %h2};\n"
    "mov.b16 %h3, 0x3c00; mov.b16 %h4, 0x4000; mov.b16 %h5, 0x4200; mov.b16 %h6, 0x4400;\n"
    "red.global.add.noftz.v4.f16 [%d1+16], {%h3, %h4, %h5, %h6};\n"
    "red.global.add.noftz.v8.bf16 [%d2], {%h1, %h2, %h1, %h2, %h1, %h2, %h1, %h2};\n"
    "setp.ne.u32 %p, %r1, 0; @%p bra $E; add.s64 %d4, %d1, 32;\n"
    "red.global.add.noftz.v2.bf16 [%d4], {%h1, %h2};\n"
    "atom.global.add.noftz.v2.bf16 {%h7, %h8}, [%d4], {%h1, %h2}; st.global.v2.b16 [%d4+4], {%h7, %h8};\n$E: ret;\n}\n";

/* Proves that atomics on vectors of 16-bit elements reach every element, of the own memory and a peer's, and bring what
 * each held: 1 and 2 of 16 lanes make 16 and 32, 1 to 4 of 32 lanes 32, 64, 96 and 128; one lane's twice 2 and 4, and
 * its second brings 1 and 2. */
static void test_vector_halves(void **state)
{
    (void)state;
    static const guint16 own[] = {0x4180, 0x4200, 0x4180, 0x4200, 0, 0, 0,      0,      0x5000, 0x5400,
                                  0x5600, 0x5800, 0,      0,      0, 0, 0x4000, 0x4080, 0x3f80, 0x4000};
    static const guint16 peer[] = {0x4200, 0x4280, 0x4200, 0x4280, 0x4200, 0x4280, 0x4200, 0x4280, 0};
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "vectors.ptx", vectors);
    guint64 args[2] = {world->va[0], world->va[1]};
    assert_int_equal(world_kernel(loaded, "vectors", 1, 32, 0, args).fault, PTX_FAULT_NONE);
    assert_memory_equal(world->region[0]->host, own, sizeof own);
    assert_memory_equal(world->region[1]->host, peer, sizeof peer);
    world_unload(loaded);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_word), cmocka_unit_test(test_beside),
                                       cmocka_unit_test(test_peer), cmocka_unit_test(test_bulk_halves),
                                       cmocka_unit_test(test_vector_halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
