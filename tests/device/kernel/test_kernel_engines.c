/* Kernels give the same bytes, times and counts with both engines, on several cores, and each time. */
#include "tests/device/kernel/kernel_world.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define GPUS 4u

/* Four GPUs: each stores its part to all by multimem.st, counts itself in by multimem.red, waits for all, sums all four
 * parts of a neighbour by multimem.ld_reduce, takes numbers from a counter of GPU 0, and locks a word of it by
 * compare-and-swap; diverged lanes on the way. */
static const char text[] = HEAD
    ".visible .entry mix(.param .u64 own, .param .u64 mc, .param .u64 far, .param .u32 rank)\n{\n"
    ".reg .b64 %rd<20>; .reg .b32 %r<40>; .reg .f32 %f<9>; .reg .pred %p<9>;\n"
    "ld.param.u64 %rd1, [own]; ld.param.u64 %rd2, [mc]; ld.param.u64 %rd3, [far]; ld.param.u32 %r1, [rank];\n"
    "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r2;\n"
    "shl.b32 %r6, %r1, 16; shl.b32 %r7, %r5, 4; add.u32 %r8, %r6, %r7; cvt.u64.u32 %rd4, %r8;\n"
    "add.s64 %rd5, %rd2, %rd4; cvt.rn.f32.u32 %f1, %r5; cvt.rn.f32.u32 %f2, %r1;\n"
    "multimem.st.relaxed.sys.global.v4.f32 [%rd5], {%f1, %f2, %f1, %f2};\n"
    "bar.sync 0; setp.ne.u32 %p1, %r2, 0; @%p1 bra $W;\n"
    "multimem.red.release.sys.global.add.u32 [%rd2+1048576], 1;\n"
    "$L: ld.acquire.sys.global.u32 %r9, [%rd1+1048576]; setp.lt.u32 %p2, %r9, 8; @%p2 bra $L;\n"
    "$W: bar.sync 0; xor.b32 %r10, %r1, 1; shl.b32 %r10, %r10, 16; add.u32 %r10, %r10, %r7; cvt.u64.u32 %rd6, %r10;\n"
    "add.s64 %rd7, %rd2, %rd6;\n"
    "multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f3, %f4, %f5, %f6}, [%rd7];\n"
    "cvt.u64.u32 %rd8, %r7; add.s64 %rd9, %rd1, %rd8; st.global.v4.f32 [%rd9+2097152], {%f3, %f4, %f5, %f6};\n"
    "atom.global.add.u32 %r11, [%rd3+4194304], 1; mul.wide.u32 %rd10, %r11, 4; add.s64 %rd11, %rd3, %rd10;\n"
    "st.global.u32 [%rd11+4198400], %r5; and.b32 %r12, %r2, 3; setp.ne.u32 %p3, %r12, 1; @%p3 bra $E;\n"
    "$C: atom.global.cas.b32 %r13, [%rd3+4194308], 0, 1; setp.ne.u32 %p4, %r13, 0; @%p4 bra $C;\n"
    "ld.volatile.global.u32 %r14, [%rd3+4194312]; add.u32 %r14, %r14, 1; st.volatile.global.u32 [%rd3+4194312], %r14;\n"
    "fence.acq_rel.sys; atom.global.exch.b32 %r15, [%rd3+4194308], 0;\n$E: ret;\n}\n";

typedef struct {
    guint64 own, mc, far;
    guint32 rank;
} Mix;

static char *run(SimSpec sim)
{
    GString *told = g_string_new(NULL);
    World *world = world_new_on(WORLD_BYTES, sim);
    Loaded *loaded[GPUS];
    Ended ended[GPUS] = {0};
    for (guint16 g = 0; g < GPUS; g++) {
        const Mix mix = {world->va[g], world->mc_va, world->va[0], g};
        loaded[g] = world_load(world, g, "mix.ptx", text);
        world_start(loaded[g], "mix", 2, 96, 0, &mix, &ended[g]);
    }
    assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_int_equal(word_of(world, 0, 4194304 / 4), GPUS * 192);
    assert_int_equal(word_of(world, 0, 4194312 / 4), GPUS * 48);
    for (guint g = 0; g < GPUS; g++) {
        assert_true(ended[g].done && ended[g].fault == PTX_FAULT_NONE);
        g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, world->region[g]->host,
                                                           world->region[g]->bytes);
        g_string_append_printf(told,
                               "%u: %" G_GUINT64_FORMAT " ps, %" G_GUINT64_FORMAT " instructions, %" G_GUINT64_FORMAT
                               " accesses, %" G_GUINT64_FORMAT " polls, %s\n",
                               g, ended[g].took_ps, ended[g].stats.instructions, ended[g].stats.accesses,
                               ended[g].stats.polls, sum);
        world_unload(loaded[g]);
    }
    world_free(world);
    return g_string_free(told, FALSE);
}

/* Proves that nothing but the program decides what a kernel does, when, and how often. */
static void test_same(void **state)
{
    (void)state;
    const SimSpec plain = {.seed = 1}, reference = {.seed = 1, .engine = SIM_ENGINE_REFERENCE},
                  cores = {.seed = 1, .threads = 2};
    g_autofree char *first = run(plain), *again = run(plain), *slow = run(reference), *many = run(cores);
    print_message("%s", first);
    assert_string_equal(first, again);
    assert_string_equal(first, slow);
    assert_string_equal(first, many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
