/* device/kernel: kernels of PTX on simulated SMs: what they compute, what they take, and how they end. */
#include "tests/device/kernel/kernel_world.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"

static const char saxpy[] = HEAD
    ".visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)\n{\n"
    ".reg .f32 %f<5>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n"
    "ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "mov.u32 %r6, %nctaid.x; mul.lo.s32 %r6, %r6, %r3;\n"
    "$L: setp.ge.s32 %p1, %r5, %r1; @%p1 bra $E;\n"
    "mul.wide.s32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
    "ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [%rd5]; fma.rn.f32 %f4, %f1, %f2, %f3;\n"
    "st.global.f32 [%rd5], %f4; add.s32 %r5, %r5, %r6; bra $L;\n"
    "$E: ret;\n}\n";

typedef struct {
    float a;
    guint64 x, y;
    guint32 n;
} Saxpy;

static float *floats(const World *world, guint gpu) { return (float *)(void *)world->region[gpu]->host; }

/* Proves that a kernel's loads and stores take the model's way and bring the right values, of its own GPU's memory and
 * of another's, which takes longer; and that a grid bigger than the GPU holds runs to its end. */
static void test_saxpy(void **state)
{
    (void)state;
    SimTime took_ps[2];
    for (guint peer = 0; peer < 2; peer++) {
        World *world = world_new(WORLD_BYTES);
        Loaded *loaded = world_load(world, 0, "saxpy.ptx", saxpy);
        const guint32 n = 1000003;
        const Saxpy param = {2, world->va[peer ? 1 : 0], world->va[peer ? 1 : 0] + (4u << 20), n};
        float *x = floats(world, peer ? 1 : 0), *y = x + (1u << 20);
        for (guint32 i = 0; i < n; i++) {
            x[i] = (float)i;
            y[i] = 1;
        }
        Ended ended = world_kernel(loaded, "saxpy", 2000, 256, 0, &param);
        assert_int_equal(ended.fault, PTX_FAULT_NONE);
        assert_int_equal(ended.stats.ctas, 2000);
        for (guint32 i = 0; i < n; i++)
            if (y[i] != 2.0f * (float)i + 1)
                fail_msg("y[%u] is %g", i, (double)y[i]);
        took_ps[peer] = ended.took_ps;
        world_unload(loaded);
        world_free(world);
    }
    print_message("own %.1f us, peer %.1f us\n", (double)took_ps[0] * 1e-6, (double)took_ps[1] * 1e-6);
    assert_true(took_ps[1] > took_ps[0]);
}

static const char again_text[] = HEAD
    ".visible .entry again(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<9>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 123; st.global.u32 [%rd1], %r2; membar.cta;\n"
    "ld.global.u32 %r3, [%rd1]; add.u32 %r3, %r3, 321; st.global.u32 [%rd1], %r3; bar.sync 0;\n"
    "ld.global.u32 %r4, [%rd1]; ld.volatile.global.u32 %r5, [%rd1]; add.u32 %r6, %r4, %r5;\n"
    "ld.global.u32 %r7, [%rd1]; add.u32 %r6, %r6, %r7; st.global.u32 [%rd1+1024], %r6; ret;\n}\n";

/* Proves that a thread's weak loads see its own earlier stores, though the SM's cache had the place before them: of the
 * GPU's own memory and of a peer's. */
static void test_own_stores(void **state)
{
    (void)state;
    for (guint peer = 0; peer < 2; peer++) {
        World *world = world_new(WORLD_BYTES);
        Loaded *loaded = world_load(world, 0, "again.ptx", again_text);
        const guint64 param = world->va[peer];
        Ended ended = world_kernel(loaded, "again", 1, 64, 0, &param);
        assert_int_equal(ended.fault, PTX_FAULT_NONE);
        for (guint32 i = 0; i < 64; i++) {
            assert_int_equal(word_of(world, peer, i), 444);
            assert_int_equal(word_of(world, peer, 256 + i), 3 * 444);
        }
        world_unload(loaded);
        world_free(world);
    }
}

static const char words_text[] = HEAD
    ".global .align 4 .u32 counter = 7;\n.const .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
    /* each lane by itself: a byte at a stride of 3, a half at a stride of 6, a word at a stride of 132 */
    ".visible .entry narrow(.param .u64 p)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .b16 %h<5>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; cvt.u16.u32 %h1, %r1;\n"
    "mul.wide.u32 %rd2, %r1, 3; add.s64 %rd2, %rd2, %rd1; st.global.u8 [%rd2], %h1;\n"
    "mul.wide.u32 %rd3, %r1, 6; add.s64 %rd3, %rd3, %rd1; st.global.u16 [%rd3+256], %h1;\n"
    "mul.wide.u32 %rd4, %r1, 132; add.s64 %rd4, %rd4, %rd1; ld.global.u32 %r2, [%rd4+4096]; "
    "add.u32 %r2, %r2, %r1; st.global.u32 [%rd4+4096], %r2; ret;\n}\n"
    /* every thread: an exchange chain is not needed; inc wraps at 9, cas by half words, adds to one word and to many */
    ".visible .entry atomics(.param .u64 p)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .b16 %h<5>; .reg .f32 %f<3>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n"
    "atom.global.add.u32 %r2, [%rd1], 1; atom.global.inc.u32 %r3, [%rd1+4], 9;\n"
    "red.global.add.f32 [%rd1+8], 0f3F800000; atom.global.add.u32 %r4, [counter], 1;\n"
    "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+256], %r3;\n"
    "mov.b16 %h1, 5; cvt.u16.u32 %h2, %r1; atom.global.cas.b16 %h3, [%rd1+14], %h1, %h2;\n"
    "and.b32 %r5, %r1, 3; mul.wide.u32 %rd3, %r5, 4; mov.u64 %rd4, table; add.s64 %rd4, %rd4, %rd3;\n"
    "ld.const.u32 %r6, [%rd4]; red.global.max.u32 [%rd1+16], %r6; ret;\n}\n";

/* Proves that lanes with bytes and halves of their own change no others, and that lanes may lie anywhere. */
static void test_narrow(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "words.ptx", words_text);
    guint8 *memory = world->region[0]->host;
    memset(memory, 0xee, 16384);
    for (guint l = 0; l < 32; l++)
        *(guint32 *)(void *)(memory + 4096 + l * 132) = 1000;
    Ended ended = world_kernel(loaded, "narrow", 1, 32, 0, &world->va[0]);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    for (guint b = 0; b < 96; b++)
        assert_int_equal(memory[b], b % 3 ? 0xee : b / 3);
    for (guint b = 0; b < 192; b++)
        assert_int_equal(memory[256 + b], b % 6 > 1 ? 0xee : b % 6 ? 0 : b / 6);
    for (guint l = 0; l < 32; l++)
        assert_int_equal(*(guint32 *)(void *)(memory + 4096 + l * 132), 1000 + l);
    world_unload(loaded);
    world_free(world);
}

/* Proves that atomics of all forms are done one after the other where the memory is, on variables of the module too. */
static void test_atomics(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "words.ptx", words_text);
    guint32 *words = (guint32 *)(void *)world->region[1]->host;
    memset(words, 0, 65536);
    ((guint16 *)words)[7] = 5;
    guint32 times[10] = {0};
    Ended ended = world_kernel(loaded, "atomics", 5, 100, 0, &world->va[1]);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    assert_int_equal(words[0], 500);
    assert_int_equal(words[1], 0); /* 500 times from 0 to 9 */
    assert_true(*(float *)&words[2] == 500);
    assert_int_equal(((guint16 *)words)[6], 0);
    assert_true(((guint16 *)words)[7] != 5 || words[64] == 5);
    assert_int_equal(words[4], 40);
    for (guint i = 0; i < 500; i++) /* each thread had a number of its own, and wrote what its inc saw */
        times[words[64 + i]]++;
    for (guint i = 0; i < 10; i++)
        assert_int_equal(times[i], 50);
    assert_int_equal(*(guint32 *)(void *)loaded->bank[0]->host, 507);
    world_unload(loaded);
    world_free(world);
}

static const char bad[] = HEAD
    ".visible .entry wild(.param .u64 p)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "setp.eq.u32 %p1, %r1, 37; setp.eq.and.u32 %p2, %r2, 3, %p1;\n"
    "@%p2 mov.u64 %rd1, 64; bar.sync 0;\nst.global.u32 [%rd1], %r1;\n"
    "$L: bra $L;\n}\n"
    ".visible .entry trap(.param .u64 p)\n{\ntrap;\n}\n"
    ".visible .entry odd(.param .u64 p)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
    "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1+2]; st.global.u32 [%rd1], %r1; ret;\n}\n";

/* Proves that a fault ends the whole grid, also CTAs that would go on for ever, and says where it was. */
static void test_faults(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "bad.ptx", bad);
    Ended ended = world_kernel(loaded, "wild", 8, 64, 0, &world->va[0]);
    assert_int_equal(ended.fault, PTX_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(ended.cta, 3);
    assert_int_equal(ended.warp, 1);
    assert_int_equal(ended.lane, 5);
    assert_int_equal(ended.va, 64);
    assert_int_equal(ended.line, 10);
    g_free(ended.text);
    ended = world_kernel(loaded, "trap", 2, 64, 0, &world->va[0]);
    assert_int_equal(ended.fault, PTX_FAULT_TRAP);
    g_free(ended.text);
    ended = world_kernel(loaded, "odd", 2, 64, 0, &world->va[0]);
    assert_int_equal(ended.fault, PTX_FAULT_MISALIGNED);
    g_free(ended.text);
    world_unload(loaded);
    world_free(world);
}

static const char spin[] = HEAD
    /* thread 0 waits for a word of the CTA's GPU, and stores to another; the count of its turns goes to [out] */
    ".visible .entry wait(.param .u64 flag, .param .u64 next, .param .u64 out, .param .u32 count)\n{\n"
    ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<5>;\n"
    "ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [next]; ld.param.u64 %rd3, [out]; ld.param.u32 %r5, [count];\n"
    "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra $E; mov.u32 %r3, 0;\n"
    "$L: ld.acquire.sys.global.u32 %r2, [%rd1]; add.u32 %r3, %r3, %r5; setp.eq.u32 %p2, %r2, 0; @%p2 bra $L;\n"
    "fence.acq_rel.sys; st.global.u32 [%rd2], %r2; st.global.u32 [%rd3], %r3;\n$E: ret;\n}\n"
    ".visible .entry late(.param .u64 flag, .param .u32 ns)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
    "ld.param.u64 %rd1, [flag]; ld.param.u32 %r1, [ns]; nanosleep.u32 %r1; st.volatile.global.u32 [%rd1], 9; ret;\n}\n";

typedef struct {
    guint64 flag, next, out;
    guint32 count;
} Wait;
typedef struct {
    guint64 flag;
    guint32 ns;
} Late;

/* Proves that a loop that polls sees a store at its time without a packet a poll, whether it counts its turns or not,
 * and that the turns of one that does are those that the time allows. */
static void test_poll(void **state)
{
    (void)state;
    guint64 polls[2], turns = 0;
    SimTime took_ps[2];
    for (guint count = 0; count < 2; count++) {
        World *world = world_new(WORLD_BYTES);
        Loaded *waits = world_load(world, 0, "spin.ptx", spin), *stores = world_load(world, 1, "spin.ptx", spin);
        const Wait wait = {world->va[0], world->va[0] + 64, world->va[0] + 128, count};
        const Late late = {world->va[0], 500000};
        Ended waited = {0}, stored = {0};
        world_start(waits, "wait", 1, 32, 0, &wait, &waited);
        world_start(stores, "late", 1, 1, 0, &late, &stored);
        assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_IDLE);
        assert_true(waited.done && stored.done);
        assert_int_equal(word_of(world, 0, 16), 9);
        turns = word_of(world, 0, 32);
        polls[count] = waited.stats.polls;
        took_ps[count] = waited.took_ps;
        assert_true(waited.stats.accesses < 10);
        world_unload(waits);
        world_unload(stores);
        world_free(world);
    }
    print_message("polls %u, %u; turns %u; %u, %u ns\n", (guint)polls[0], (guint)polls[1], (guint)turns,
                  (guint)(took_ps[0] / 1000), (guint)(took_ps[1] / 1000));
    assert_true(polls[1] > 400 && polls[0] == polls[1]);
    assert_int_equal(turns, polls[1] + 2);
    assert_int_equal(took_ps[0], took_ps[1]);
}

/* Proves that a wait that nothing ends is said to be stuck, with the kernel, the line and the address; and that a
 * launch can be ended from outside. */
static void test_stuck(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "spin.ptx", spin);
    const Wait wait = {world->va[0], world->va[0] + 64, world->va[0] + 128, 0};
    Ended ended = {0};
    KernelLaunch *launch = world_start(loaded, "wait", 2, 32, 0, &wait, &ended);
    assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_STUCK);
    assert_false(ended.done);
    g_autofree char *text = sim_waiters_text(world->sim);
    print_message("%s\n", text);
    assert_non_null(strstr(text, "wait"));
    assert_non_null(strstr(text, "line 9"));
    kernel_abort(launch, PTX_FAULT_TRAP, "the user has ended it");
    assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(ended.done);
    assert_int_equal(ended.fault, PTX_FAULT_TRAP);
    g_free(ended.text);
    world_unload(loaded);
    world_free(world);
}

static const char bulk[] = HEAD
    /* each CTA of a cluster of two: 4 KiB to shared memory in bulk, doubled, back in bulk; then the sum of the other
     * CTA's words goes to the end of the output */
    ".visible .entry bulk(.param .u64 in, .param .u64 out)\n.explicitcluster .reqnctapercluster 2, 1, 1\n{\n"
    ".reg .b64 %rd<12>; .reg .b32 %r<24>; .reg .pred %p<6>;\n"
    ".shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bar;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "mul.wide.u32 %rd3, %r2, 4096; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
    "mov.u32 %r3, tile; mov.u32 %r4, bar; setp.ne.u32 %p1, %r1, 0;\n"
    "@%p1 bra $W; mbarrier.init.shared.b64 [%r4], 1; mbarrier.arrive.expect_tx.shared.b64 %rd6, [%r4], 4096;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd4], 4096, [%r4];\n"
    "$W: bar.sync 0;\n"
    "$T: mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0; @!%p2 bra $T;\n"
    "shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r3; mov.u32 %r6, 0;\n"
    "$D: ld.shared.u32 %r7, [%r5]; add.u32 %r7, %r7, %r7; st.shared.u32 [%r5], %r7; add.u32 %r5, %r5, 512;\n"
    "add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 8; @%p3 bra $D;\n"
    "fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait; @%p1 bra $E;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r3], 4096; cp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group 0; mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1; "
    "mapa.shared::cluster.u32 %r9, %r3, %r8; mov.u32 %r10, 0; mov.u32 %r11, 0;\n"
    "$S: ld.shared::cluster.u32 %r12, [%r9]; add.u32 %r10, %r10, %r12; add.u32 %r9, %r9, 4; add.u32 %r11, %r11, 1;\n"
    "setp.lt.u32 %p4, %r11, 1024; @%p4 bra $S; mul.wide.u32 %rd7, %r2, 4; add.s64 %rd7, %rd7, %rd2;\n"
    "st.global.u32 [%rd7+65536], %r10;\n$E: barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";

/* Proves that bulk copies bring the right bytes both ways, from a peer's memory too, and that the CTAs of a cluster run
 * side by side and see each other's shared memory. */
static void test_bulk_and_clusters(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "bulk.ptx", bulk);
    guint32 *in = (guint32 *)(void *)world->region[1]->host;
    const guint64 param[2] = {world->va[1], world->va[0]};
    for (guint32 i = 0; i < 16384; i++)
        in[i] = i * 7 + 1;
    Ended ended = world_kernel(loaded, "bulk", 16, 128, 0, param);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    for (guint32 i = 0; i < 16384; i++)
        assert_int_equal(word_of(world, 0, i), 2 * in[i]);
    for (guint32 c = 0; c < 16; c++) {
        guint32 sum = 0;
        for (guint32 i = 0; i < 1024; i++)
            sum += 2 * in[(c ^ 1) * 1024 + i];
        assert_int_equal(word_of(world, 0, 16384 + c), sum);
    }
    assert_true(ended.took_ps > 2000000);
    world_unload(loaded);
    world_free(world);
}

static const char heap[] = HEAD
    ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n"
    ".visible .entry heap(.param .u64 out)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
    ".param .b64 a; .param .b64 b;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u64 %rd2, 24; st.param.b64 [a], %rd2;\n"
    "call (b), malloc, (a); ld.param.b64 %rd3, [b]; st.u32 [%rd3+16], %r1; ld.u32 %r2, [%rd3+16];\n"
    "mul.wide.u32 %rd4, %r1, 8; add.s64 %rd4, %rd4, %rd1; st.global.u64 [%rd4], %rd3;\n"
    "mul.wide.u32 %rd5, %r1, 4; add.s64 %rd5, %rd5, %rd1; st.global.u32 [%rd5+4096], %r2;\n"
    "st.param.b64 [a], %rd3; call free, (a); ret;\n}\n";

/* Proves that malloc gives each thread memory of its own, and that what is freed serves later launches: a heap of 2 KiB
 * is enough for a hundred launches of 64 threads. */
static void test_heap(void **state)
{
    (void)state;
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "heap.ptx", heap);
    const guint64 *given = (const guint64 *)(const void *)world->region[0]->host;
    for (guint n = 0; n < 100; n++) {
        Ended ended = {0};
        const KernelSpec spec = {.image = loaded->image,
                                 .entry = ptx_module_entry(loaded->module, "heap"),
                                 .grid = {1, 1, 1},
                                 .block = {64, 1, 1},
                                 .param = &world->va[0],
                                 .heap = world->va[0] + (1u << 20),
                                 .heap_bytes = 2048};
        assert_non_null(kernel_launch(world->fabric, 0, world->vas, &spec, 0, note_kernel, &ended, NULL));
        assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_IDLE);
        assert_int_equal(ended.fault, PTX_FAULT_NONE);
        for (guint t = 0; t < 64; t++) {
            assert_in_range(given[t], world->va[0] + (1u << 20), world->va[0] + (1u << 20) + 2024);
            assert_int_equal(word_of(world, 0, 1024 + t), t);
            for (guint other = 0; other < t; other++)
                assert_true(given[t] != given[other]);
        }
    }
    world_unload(loaded);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_saxpy),  cmocka_unit_test(test_own_stores),
                                       cmocka_unit_test(test_narrow), cmocka_unit_test(test_atomics),
                                       cmocka_unit_test(test_faults), cmocka_unit_test(test_poll),
                                       cmocka_unit_test(test_stuck),  cmocka_unit_test(test_bulk_and_clusters),
                                       cmocka_unit_test(test_heap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
