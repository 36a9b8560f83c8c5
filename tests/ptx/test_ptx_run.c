/* Kernels that show one thing each: divergence and its end, locks and waits among the lanes of a warp, barriers,
 * calls, state spaces, asynchronous copies, clusters, faults. Each runs with answers at once and a turn later. */
#include "tests/test.h"

#include "tests/ptx/flat_host.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define WORDS 4096

static guint32 *words; /* what the kernel's buffer holds after the run: set by run_kernel */
static char *printed;
static char *failure;
static guint64 given_up, divergences;

typedef struct {
    const char *text, *kernel;
    guint32 ctas, threads, shared, cluster;
} Run;

/* The parameter of every kernel is one buffer of WORDS words, which are 0, but for words 0 to 31: 100, 101, ... */
static void run_once(const Run *run, gboolean late)
{
    Flat *flat = flat_new(1 << 20);
    guint64 buffer = flat_alloc(flat, WORDS * 4);
    GError *error = NULL;
    guint32 dim[3] = {run->ctas, 1, 1}, block[3] = {run->threads, 1, 1}, cluster[3] = {MAX(run->cluster, 1u), 1, 1};
    flat->late = late;
    flat->side_by_side = run->ctas > 1;
    flat->turns_max = 200000;
    flat->slice = late ? 37 : 1000;
    for (guint32 i = 0; i < 32; i++)
        ((guint32 *)flat_at(flat, buffer))[i] = 100 + i;
    FlatModule *loaded = flat_load(flat, "kernel.ptx", run->text, -1, &error);
    g_clear_pointer(&words, g_free);
    g_clear_pointer(&printed, g_free);
    g_clear_pointer(&failure, g_free);
    if (!loaded || !flat_launch_shape(loaded, run->kernel, dim, block, cluster, run->shared, &buffer, &error)) {
        failure = g_strdup(error->message);
        g_clear_error(&error);
    }
    words = g_memdup2(flat_at(flat, buffer), WORDS * 4);
    printed = g_strdup(flat->printed->str);
    given_up = flat->given_up;
    divergences = flat->divergences;
    flat_unload(loaded);
    flat_free(flat);
}

#define RUN(run, ...)                                                                                                  \
    do {                                                                                                               \
        for (guint late_ = 0; late_ < 2; late_++) {                                                                    \
            run_once(run, late_);                                                                                      \
            if (failure)                                                                                               \
                fail_msg("%s (late %u)", failure, late_);                                                              \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
    } while (0)

#define KERNEL(body)                                                                                                   \
    HEAD ".visible .entry k(.param .u64 buffer)\n{\n.reg .b64 %rd<32>; .reg .b32 %r<64>; .reg .pred %p<16>; .reg "     \
         ".b16 %h<8>; .reg .f32 %f<8>;\n"                                                                              \
         "ld.param.u64 %rd0,[buffer]; mov.u32 %r0,%tid.x; mul.wide.u32 %rd1,%r0,4; add.s64 %rd1,%rd0,%rd1;\n" body     \
         "\nret;\n}\n"

/* Proves that pairs of small floating-point numbers are made of f32, saturate, and become f16 again: 1 and the largest
 * of each format, by the exponents' biases of the PTX ISA (e4m3 7, e5m2 15, e2m3 1, e3m2 3, e2m1 1), the first
 * operand in the upper half. */
static void test_small_floats(void **state)
{
    (void)state;
    static const Run run = {
        ".version 8.6\n.target sm_100a\n.address_size 64\n"
        ".visible .entry k(.param .u64 buffer)\n{\n.reg .b64 %rd<2>; .reg .b32 %r<9>; .reg .b16 %h<9>; .reg .b8 "
        "%b<3>;\n"
        ".reg .f32 %f<3>;\nld.param.u64 %rd0,[buffer]; mov.f32 %f0,0f3F800000; mov.f32 %f1,0fCE6E6B28;\n" /* 1, -1e9 */
        "cvt.rn.satfinite.e4m3x2.f32 %h0,%f0,%f1; st.global.u16 [%rd0+256],%h0;\n"
        "cvt.rn.satfinite.e5m2x2.f32 %h1,%f0,%f1; st.global.u16 [%rd0+260],%h1;\n"
        "cvt.rn.satfinite.e2m3x2.f32 %h2,%f0,%f1; st.global.u16 [%rd0+264],%h2;\n"
        "cvt.rn.satfinite.e3m2x2.f32 %h3,%f0,%f1; st.global.u16 [%rd0+268],%h3;\n"
        "cvt.rn.satfinite.e2m1x2.f32 %b0,%f0,%f1; st.global.b8 [%rd0+272],%b0;\n"
        "cvt.rn.f16x2.e4m3x2 %r0,%h0; st.global.u32 [%rd0+276],%r0;\n"
        "cvt.rn.f16x2.e5m2x2 %r1,%h1; st.global.u32 [%rd0+280],%r1;\n"
        "cvt.rn.f16x2.e2m3x2 %r2,%h2; st.global.u32 [%rd0+284],%r2;\n"
        "cvt.rn.f16x2.e3m2x2 %r3,%h3; st.global.u32 [%rd0+288],%r3;\n"
        "cvt.rn.f16x2.e2m1x2 %r4,%b0; st.global.u32 [%rd0+292],%r4;\nret;\n}\n",
        "k",
        1,
        1,
        0,
        0};
    static const guint32 right[] = {
        0x38fe,     0x3cfb,     0x083f,     0x0c3f,     0x2f,       /* -448, -57344, -7.5, -28, -6 */
        0x3c00df00, 0x3c00fb00, 0x3c00c780, 0x3c00cf00, 0x3c00c600, /* the same in f16, beside 1 */
    };
    RUN(&run, for (guint i = 0; i < G_N_ELEMENTS(right); i++) assert_int_equal(words[64 + i], right[i]));
}

/* Proves that lanes meet again in a kernel that comes to its return by nothing but the end of a loop, too: a branch to
 * the return that may not be taken is a way like others there, and a vote of all lanes in a function that all call
 * does not wait for ever. */
static void test_divergence_before_a_loop(void **state)
{
    (void)state;
    static const Run run = {
        HEAD ".func (.reg .b32 %out) all_of(.reg .b32 %in)\n{\n.reg .pred %p<2>; setp.ne.u32 %p1,%in,0;\n"
             "vote.sync.ballot.b32 %out,%p1,-1; ret;\n}\n"
             ".visible .entry k(.param .u64 buffer)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<9>;\n"
             "ld.param.u64 %rd0,[buffer]; mov.u32 %r0,%tid.x; mul.wide.u32 %rd1,%r0,4; add.s64 %rd1,%rd0,%rd1;\n"
             "setp.ne.u32 %p0,%r0,0; @%p0 bra MEET;\n"
             "ld.volatile.global.u32 %r4,[%rd0]; st.global.u32 [%rd0+512],%r4;\nMEET:\n"
             "call (%r1),all_of,(1); activemask.b32 %r2; st.global.u32 [%rd1],%r1; st.global.u32 [%rd1+128],%r2;\n"
             "setp.gt.u32 %p1,%r0,40; @%p1 bra END;\nmov.u32 %r3,0;\n"
             "LOOP: add.u32 %r3,%r3,1; setp.lt.u32 %p2,%r3,%r0; @%p2 bra LOOP;\nEND: ret;\n}\n",
        "k",
        1,
        32,
        0,
        1};
    RUN(&run, {
        for (guint i = 0; i < 32; i++) {
            assert_int_equal(words[i], 0xffffffff);
            assert_int_equal(words[32 + i], 0xffffffff);
        }
    });
}

/* Proves that lanes which take different ways of a branch, and loops of different lengths, meet again: a vote behind
 * them sees all. */
static void test_divergence(void **state)
{
    (void)state;
    static const Run run = {
        KERNEL(
            "setp.lt.u32 %p0,%r0,10; @%p0 bra LOW; mul.lo.u32 %r1,%r0,3; bra MEET;\nLOW: add.u32 %r1,%r0,1000;\nMEET:\n"
            "mov.u32 %r2,0; mov.u32 %r3,0;\nLOOP: add.u32 %r3,%r3,%r2; add.u32 %r2,%r2,1; setp.le.u32 %p1,%r2,%r0; "
            "@%p1 bra LOOP;\n"
            "activemask.b32 %r4; add.u32 %r1,%r1,%r3; st.global.u32 [%rd1],%r1; st.global.u32 [%rd1+128],%r4;"),
        "k",
        1,
        32,
        0,
        1};
    RUN(&run, {
        for (guint32 i = 0; i < 32; i++) {
            assert_int_equal(words[i], (i < 10 ? i + 1000 : 3 * i) + i * (i + 1) / 2);
            assert_int_equal(words[32 + i], 0xffffffffu);
        }
        assert_int_equal(given_up, 0);
        assert_true(divergences >= 2);
    });
}

/* Proves that tiles of one warp, which execute one instruction with masks of their own, get their own answers: of
 * redux, shfl, vote and match; also where the tiles come one after the other. */
static void test_tiles(void **state)
{
    (void)state;
    static const Run run = {
        KERNEL("and.b32 %r1,%r0,16; mov.u32 %r2,65535; shl.b32 %r2,%r2,%r1; redux.sync.add.u32 %r3,%r0,%r2;\n"
               "shfl.sync.idx.b32 %r4,%r0,3,4127,%r2; setp.eq.u32 %p0,%r0,20; vote.sync.any.pred %p1,%p0,%r2;\n"
               "selp.u32 %r5,1,0,%p1; and.b32 %r6,%r0,7; match.any.sync.b32 %r7,%r6,%r2;\n"
               "setp.lt.u32 %p2,%r0,16; @%p2 bra LOW; mov.u32 %r8,7; bra BOTH;\nLOW: mov.u32 %r8,5;\n"
               "BOTH: setp.lt.u32 %p3,%r0,24; @%p3 bra FIRST; add.u32 %r8,%r8,0; bra HERE;\n"
               "FIRST: add.u32 %r8,%r8,100;\nHERE: redux.sync.max.u32 %r9,%r8,%r2;\n"
               "st.global.u32 [%rd1],%r3; st.global.u32 [%rd1+128],%r4; st.global.u32 [%rd1+256],%r5;\n"
               "st.global.u32 [%rd1+384],%r7; st.global.u32 [%rd1+512],%r9;"),
        "k",
        1,
        32,
        0,
        1};
    RUN(&run, {
        for (guint32 i = 0; i < 32; i++) {
            guint32 high = i >= 16;
            assert_int_equal(words[i], high ? 376 : 120); /* 16 + ... + 31, 0 + ... + 15 */
            assert_int_equal(words[32 + i], high ? 19 : 3);
            assert_int_equal(words[64 + i], high);
            assert_int_equal(words[96 + i], 0x0101u << (i % 8) << (high ? 16 : 0));
            assert_int_equal(words[128 + i], high ? 107 : 105);
        }
    });
}

/* Proves that shared variables of functions that a kernel calls lie apart from its own, from each other's, and from
 * dynamic ones. */
static void test_shared_of_functions(void **state)
{
    (void)state;
#define FUNCTION(name, value)                                                                                          \
    ".func (.reg .u32 out) " name "(.reg .u32 at)\n{\n.shared .align 4 .b8 v[128]; .reg .b32 %r<4>;\n"                 \
    "mov.u32 %r1, v; add.u32 %r1, %r1, at; mov.u32 %r2, " value "; st.shared.u32 [%r1], %r2; bar.warp.sync -1;\n"      \
    "ld.shared.u32 out, [%r1]; ret;\n}\n.func (.reg .u32 out) " name "_again(.reg .u32 at)\n{\n"                       \
    ".shared .align 4 .b8 w[64]; .reg .b32 %r<4>; mov.u32 %r1, w; st.shared.u32 [%r1], at; mov.u32 out, %r1; "         \
    "ret;\n}\n"
    static const Run run = {
        HEAD ".extern .shared .align 16 .b8 dynamic[];\n" FUNCTION("one", "11") FUNCTION(
            "two",
            "22") ".visible .entry k(.param .u64 buffer)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<16>;\n"
                  ".shared .align 4 .b8 own[128]; ld.param.u64 %rd1, [buffer]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, "
                  "2;\n"
                  "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; mov.u32 %r3, own; add.u32 %r3, %r3, %r2;\n"
                  "mov.u32 %r4, 33; st.shared.u32 [%r3], %r4; mov.u32 %r5, dynamic; add.u32 %r5, %r5, %r2;\n"
                  "mov.u32 %r6, 44; st.shared.u32 [%r5], %r6; call (%r7), one, (%r2); call (%r8), two, (%r2);\n"
                  "call (%r9), one_again, (%r2); call (%r10), two_again, (%r2); call (%r11), one, (%r2);\n"
                  "ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd3], %r4;\n"
                  "st.global.u32 [%rd3+128], %r6; st.global.u32 [%rd3+256], %r11; st.global.u32 [%rd3+384], %r8;\n"
                  "sub.u32 %r12, %r10, %r9; st.global.u32 [%rd3+512], %r12; ret;\n}\n",
        "k",
        1,
        32,
        128,
        1};
    RUN(&run, {
        for (guint32 i = 0; i < 32; i++) {
            assert_int_equal(words[i], 33);
            assert_int_equal(words[32 + i], 44);
            assert_int_equal(words[64 + i], 11);
            assert_int_equal(words[96 + i], 22);
            assert_true(words[128 + i] >= 64 && words[128 + i] < 4096);
        }
    });
}

/* Proves that names may be as long as C++ makes them: two parameters that differ at their ends alone. */
static void test_long_names(void **state)
{
    (void)state;
    g_autofree char *name = g_strnfill(300, 'n');
    g_autofree char *text = g_strdup_printf(
        HEAD ".visible .entry k(.param .u64 %s_param_0)\n{\n.reg .b64 %%rd<3>; .reg .b32 %%r<3>; .reg .pred %%p;\n"
             "ld.param.u64 %%rd0,[%s_param_0]; mov.u32 %%r0,%%tid.x; setp.eq.u32 %%p,%%r0,0;\n"
             "@%%p bra %s_a; bra %s_b;\n%s_a: st.global.u32 [%%rd0],7;\n%s_b: ret;\n}\n",
        name, name, name, name, name, name);
    const Run run = {text, "k", 1, 32, 0, 1};
    RUN(&run, assert_int_equal(words[0], 7));
}

/* Proves that a lock passes among all lanes of one warp: the lane that holds it goes on though the others, with whom it
 * would meet behind the loop, still wait. */
static void test_lock_among_siblings(void **state)
{
    (void)state;
    static const Run run = {
        KERNEL("TRY: atom.global.cas.b32 %r1,[%rd0+1024],0,1; setp.ne.u32 %p0,%r1,0; @%p0 bra TRY;\n"
               "ld.mmio.relaxed.sys.global.u32 %r2,[%rd0+1028]; add.u32 %r2,%r2,%r0;\n"
               "st.mmio.relaxed.sys.global.u32 [%rd0+1028],%r2;\n"
               "membar.gl; atom.global.exch.b32 %r3,[%rd0+1024],0;"),
        "k",
        1,
        64,
        0,
        1};
    RUN(&run, {
        assert_int_equal(words[257], 63 * 64 / 2);
        assert_int_equal(words[256], 0);
        assert_true(given_up > 0);
    });
}

/* Proves that two lanes of one warp can wait for each other in different branches. */
static void test_lanes_wait_for_each_other(void **state)
{
    (void)state;
    static const Run run = {
        KERNEL("mov.u32 %r5,0;\nROUND: add.u32 %r5,%r5,1; setp.eq.u32 %p0,%r0,0; @%p0 bra FIRST; setp.ne.u32 "
               "%p1,%r0,1; @%p1 bra MEET;\n"
               "WAIT1: ld.volatile.global.u32 %r1,[%rd0+1024]; setp.lt.u32 %p2,%r1,%r5; @%p2 nanosleep.u32 100; @%p2 "
               "bra WAIT1;\n"
               "st.volatile.global.u32 [%rd0+1028],%r5; bra MEET;\n"
               "FIRST: st.volatile.global.u32 [%rd0+1024],%r5;\nWAIT0: ld.volatile.global.u32 %r1,[%rd0+1028]; "
               "setp.lt.u32 %p2,%r1,%r5; @%p2 bra WAIT0;\n"
               "MEET: bar.warp.sync 0xffffffff; setp.lt.u32 %p3,%r5,5; @%p3 bra ROUND;\nst.global.u32 [%rd1],%r5;"),
        "k",
        1,
        32,
        0,
        1};
    RUN(&run, {
        for (guint32 i = 0; i < 32; i++)
            assert_int_equal(words[i], 5);
    });
}

/* Proves that threads that return early are not waited for, and that what they leave out is left out. */
static void test_early_return(void **state)
{
    (void)state;
    static const Run run = {
        KERNEL("setp.ge.u32 %p0,%r0,40; @%p0 bra END; setp.lt.u32 %p1,%r0,5; @%p1 st.global.u32 [%rd1],7; bar.sync 0;\n"
               "activemask.b32 %r1; st.global.u32 [%rd1+1024],%r1;\nEND:"),
        "k",
        1,
        48,
        0,
        1};
    RUN(&run, {
        assert_int_equal(words[4], 7);
        assert_int_equal(words[5], 105);
        assert_int_equal(words[256], 0xffffffffu);
        assert_int_equal(words[256 + 32], 0xffu);
        assert_int_equal(words[256 + 40], 0);
    });
}

/* Proves shared memory, static and dynamic, with a barrier between warps. */
static void test_shared(void **state)
{
    (void)state;
    static const Run run = {
        HEAD ".extern .shared .align 16 .b8 more[];\n.shared .align 4 .b32 fixed[64];\n"
             ".visible .entry k(.param .u64 buffer)\n{"
             ".reg .b64 %d<8>; .reg .b32 %r<16>; .shared .align 8 .b32 own[2];\n"
             "ld.param.u64 %d0,[buffer]; mov.u32 %r0,%tid.x; mul.wide.u32 %d1,%r0,4; add.s64 %d0,%d0,%d1;\n"
             "mov.u32 %r1,fixed; shl.b32 %r2,%r0,2; add.u32 %r1,%r1,%r2; st.shared.u32 [%r1],%r0;\n"
             "mov.u64 %d2,more; cvta.shared.u64 %d3,%d2; add.s64 %d3,%d3,%d1; mul.lo.u32 %r3,%r0,7; st.u32 [%d3],%r3; "
             "st.shared.u32 [own+4],3;\n"
             "bar.sync 0;\nxor.b32 %r4,%r2,252; mov.u32 %r5,fixed; add.u32 %r5,%r5,%r4; ld.shared.u32 %r6,[%r5];\n"
             "cvta.to.shared.u64 %d4,%d3; ld.shared.u32 %r7,[%d4]; ld.shared.u32 %r8,[own+4]; mad.lo.u32 "
             "%r6,%r6,1000,%r7; add.u32 %r6,%r6,%r8;\n"
             "st.global.u32 [%d0],%r6; ret;\n}\n",
        "k",
        1,
        64,
        256,
        1};
    RUN(&run, {
        for (guint32 i = 0; i < 64; i++)
            assert_int_equal(words[i], (63 - i) * 1000 + 7 * i + 3);
    });
}

/* Proves named barriers: two warps arrive, two others wait for them, with counts; and reductions over a CTA. */
static void test_barriers(void **state)
{
    (void)state;
    static const Run run = {
        KERNEL("shr.u32 %r1,%r0,5; setp.lt.u32 %p0,%r1,2; @%p0 bra PRODUCE;\n"
               "barrier.sync 3,128; ld.global.u32 %r2,[%rd1+768]; st.global.u32 [%rd1],%r2; bra DONE;\n"
               "PRODUCE: add.u32 %r3,%r0,500; st.global.u32 [%rd1+1024],%r3; barrier.arrive 3,128;\nDONE:\n"
               "setp.lt.u32 %p1,%r0,50; barrier.cta.red.popc.aligned.u32 %r4,0,%p1; bar.red.or.pred %p2,0,%p1; "
               "bar.red.and.pred %p3,1,128,%p1;\n"
               "selp.u32 %r5,10,20,%p2; selp.u32 %r6,1,2,%p3; add.u32 %r4,%r4,%r5; add.u32 %r4,%r4,%r6; st.global.u32 "
               "[%rd1+2048],%r4;"),
        "k",
        1,
        128,
        0,
        1};
    RUN(&run, {
        for (guint32 i = 64; i < 128; i++)
            assert_int_equal(words[i], 500 + i - 64);
        for (guint32 i = 0; i < 128; i++)
            assert_int_equal(words[512 + i], 50 + 10 + 2);
    });
}

#define FUNCTIONS                                                                                                      \
    ".func (.reg .u32 out) twice(.reg .u32 in)\n{ add.u32 out,in,in; ret; }\n"                                         \
    ".func (.param .b32 out) square(.param .b32 in)\n{ .reg .b32 %r<3>; ld.param.u32 %r1,[in]; mul.lo.u32 "            \
    "%r2,%r1,%r1; st.param.b32 [out],%r2; ret; }\n"                                                                    \
    ".func (.param .b32 out) plus(.param .b32 in)\n{ .reg .b32 %r<3>; ld.param.u32 %r1,[in]; add.u32 %r2,%r1,9; "      \
    "st.param.b32 [out],%r2; ret; }\n"                                                                                 \
    ".func (.param .b32 out) sum(.param .b32 in)\n{ .reg .b32 %r<6>; .reg .pred %p; .local .align 4 .b32 mine[2]; "    \
    "ld.param.u32 %r1,[in]; st.local.u32 [mine+4],%r1;\n"                                                              \
    " mov.u32 %r4,0; setp.eq.u32 %p,%r1,0; @%p bra END; sub.u32 %r2,%r1,1;\n{ .param .b32 a; .param .b32 b; "          \
    "st.param.b32 [a],%r2; call.uni (b),sum,(a); ld.param.b32 %r3,[b]; }\n"                                            \
    " ld.local.u32 %r5,[mine+4]; add.u32 %r4,%r3,%r5;\nEND: st.param.b32 [out],%r4; ret; }\n"                          \
    ".global .align 8 .u64 table[2] = {square, plus};\n"

/* Proves calls: register and .param parameters, recursion with local memory of its own, and a table of functions with
 * lanes that call different ones. */
static void test_calls(void **state)
{
    (void)state;
    static const Run run = {
        HEAD FUNCTIONS
        ".visible .entry k(.param .u64 buffer)\n{ .reg .b64 %d<8>; .reg .b32 %r<16>; .reg .pred %p<4>;\n"
        "ld.param.u64 %d0,[buffer]; mov.u32 %r0,%tid.x; mul.wide.u32 %d1,%r0,4; add.s64 %d0,%d0,%d1;\ncall "
        "(%r1),twice,(%r0);\n"
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a],%r0; call.uni (b),sum,(a); ld.param.b32 %r2,[b]; }\n"
        "and.b32 %r3,%r0,1; mul.wide.u32 %d2,%r3,8; mov.u64 %d3,table; add.s64 %d3,%d3,%d2; ld.global.u64 %d4,[%d3];\n"
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a],%r0; P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "call (b),%d4,(a),P; ld.param.b32 %r4,[b]; }\nactivemask.b32 %r5; st.global.u32 [%d0],%r1; st.global.u32 "
        "[%d0+128],%r2;"
        " st.global.u32 [%d0+256],%r4; st.global.u32 [%d0+384],%r5; ret; }\n",
        "k",
        1,
        32,
        0,
        1};
    RUN(&run, {
        for (guint32 i = 0; i < 32; i++) {
            assert_int_equal(words[i], 2 * i);
            assert_int_equal(words[32 + i], i * (i + 1) / 2);
            assert_int_equal(words[64 + i], i % 2 ? i + 9 : i * i);
            assert_int_equal(words[96 + i], 0xffffffffu);
        }
    });
}

/* Proves constants with values, addresses in initialisers, generic addresses of local memory, vectors and narrow loads.
 */
static void test_spaces(void **state)
{
    (void)state;
    static const Run run = {
        HEAD
        ".const .align 4 .b32 table[4] = {11, 22, -3, 0x40};\n.global .align 2 .b16 small[4] = {1, 0xffff, 3, 4};\n"
        ".global .align 8 .u64 where[2] = {generic(small)+2, table};\n"
        ".visible .entry k(.param .u64 buffer)\n{"
        ".reg .b64 %d<16>; .reg .b32 %r<16>; .reg .b16 %h<4>; .local .align 16 .b8 depot[32];\n"
        "ld.param.u64 %d0,[buffer]; mov.u32 %r0,%tid.x; mul.wide.u32 %d1,%r0,16; add.s64 %d0,%d0,%d1;\n"
        "ld.const.u32 %r1,[table+8]; ld.global.u64 %d2,[where]; ld.s16 %r2,[%d2]; ld.u16 %r3,[%d2];\n"
        "mov.u64 %d3,depot; cvta.local.u64 %d4,%d3; st.v4.u32 [%d4+16],{%r0,1,2,%r3}; ld.local.v2.u32 "
        "{%r4,%r5},[%d3+16]; ld.v2.b32 {_,%r6},[%d4+24];\n"
        "mov.b64 %d5,{%r4,%r6}; mov.b64 {%r7,%r8},%d5; st.global.v4.b32 [%d0],{%r1,%r2,%r7,%r8}; ret; }\n",
        "k",
        1,
        32,
        0,
        1};
    RUN(&run, {
        for (guint32 i = 0; i < 32; i++) {
            assert_int_equal(words[4 * i], (guint32)-3);
            assert_int_equal(words[4 * i + 1], 0xffffffffu);
            assert_int_equal(words[4 * i + 2], i);
            assert_int_equal(words[4 * i + 3], 0xffff);
        }
    });
}

/* Proves cp.async with groups, with bytes that are filled with zero, and with an mbarrier. */
static void test_cp_async(void **state)
{
    (void)state;
    static const Run run = {
        KERNEL(
            ".shared .align 16 .b32 tile[64]; .shared .align 8 .b64 bar;\nmov.u32 %r1,tile; mad.lo.u32 %r2,%r0,4,%r1;\n"
            "setp.ne.u32 %p0,%r0,0; @!%p0 mbarrier.init.shared.b64 [bar],32; bar.sync 0;\n"
            "cp.async.ca.shared.global [%r2],[%rd1],4; cp.async.commit_group; and.b32 %r3,%r0,1; shl.b32 %r3,%r3,2;\n"
            "cp.async.ca.shared.global [%r2+128],[%rd1],4,%r3; cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
            "cp.async.commit_group; cp.async.wait_group 1; bar.sync 0; xor.b32 %r4,%r0,31; mad.lo.u32 %r5,%r4,4,%r1; "
            "ld.shared.u32 %r6,[%r5];\n"
            "WAIT: mbarrier.try_wait.parity.shared.b64 %p1,[bar],0; @!%p1 bra WAIT;\nld.shared.u32 %r7,[%r5+128]; "
            "mad.lo.u32 %r6,%r6,1000,%r7; st.global.u32 [%rd1],%r6;"),
        "k",
        1,
        32,
        0,
        1};
    RUN(&run, {
        for (guint32 i = 0; i < 32; i++)
            assert_int_equal(words[i], (131 - i) * 1000 + ((31 - i) % 2 ? 131 - i : 0));
    });
}

/* Proves bulk copies both ways: bytes expected at an mbarrier, and groups. */
static void test_bulk(void **state)
{
    (void)state;
    static const Run run = {
        KERNEL(".shared .align 16 .b32 tile[32]; .shared .align 8 .b64 bar; mov.u32 %r1,tile; mov.u32 %r2,bar; "
               "setp.ne.u32 %p0,%r0,0; @%p0 bra WAIT;\n"
               "mbarrier.init.shared::cta.b64 [%r2],1; mbarrier.arrive.expect_tx.shared::cta.b64 _,[%r2],128;\n"
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],[%rd0],128,[%r2];\nWAIT: "
               "bar.sync 0;\n"
               "POLL: mbarrier.try_wait.parity.shared::cta.b64 %p1,[%r2],0; @!%p1 bra POLL;\n"
               "mad.lo.u32 %r3,%r0,4,%r1; ld.shared.u32 %r4,[%r3]; add.u32 %r4,%r4,1; st.shared.u32 [%r3],%r4; "
               "fence.proxy.async.shared::cta; bar.sync 0;\n"
               "@%p0 bra DONE; add.s64 %rd2,%rd0,1024; cp.async.bulk.global.shared::cta.bulk_group [%rd2],[%r1],128;\n"
               "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0],[%r1],128; "
               "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nDONE:"),
        "k",
        1,
        32,
        0,
        1};
    RUN(&run, {
        for (guint32 i = 0; i < 32; i++) {
            assert_int_equal(words[256 + i], 101 + i);
            assert_int_equal(words[i], 201 + 2 * i);
        }
    });
}

/* Proves clusters: each CTA writes into its neighbour's shared memory, by address and by generic address. */
static void test_cluster(void **state)
{
    (void)state;
    static const Run run = {
        KERNEL(".shared .align 4 .b32 box[2]; mov.u32 %r1,%cluster_ctarank; mov.u32 %r2,%cluster_nctarank; add.u32 "
               "%r3,%r1,1; rem.u32 %r3,%r3,%r2;\n"
               "mov.u32 %r4,box; mapa.shared::cluster.u32 %r5,%r4,%r3; mov.u32 %r6,%ctaid.x; add.u32 %r7,%r6,70; "
               "st.shared::cluster.u32 [%r5],%r7;\n"
               "mov.u64 %rd2,box; cvta.shared.u64 %rd2,%rd2; mapa.u64 %rd3,%rd2,%r3; st.u32 [%rd3+4],%r1; "
               "getctarank.u64 %r8,%rd3;\n"
               "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\nld.shared.u32 "
               "%r9,[box]; ld.shared.u32 %r10,[box+4];\n"
               "mad.lo.u32 %r9,%r9,100,%r10; mad.lo.u32 %r9,%r8,10,%r9; mul.wide.u32 %rd4,%r6,4; add.s64 "
               "%rd4,%rd0,%rd4; st.global.u32 [%rd4],%r9;"),
        "k",
        8,
        32,
        0,
        4};
    RUN(&run, {
        for (guint32 c = 0; c < 8; c++) {
            guint32 rank = c % 4, from = (rank + 3) % 4, cta = c / 4 * 4 + from;
            assert_int_equal(words[c], (cta + 70) * 100 + from + (rank + 1) % 4 * 10);
        }
    });
}

/* Proves that printf formats as C does, from buffers in local memory, strings from global memory. */
static void test_print(void **state)
{
    (void)state;
    static const Run run = {
        HEAD
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".global .align 1 .b8 format[29] = "
        "{37,100,32,37,53,46,50,102,32,37,108,108,100,32,37,99,32,37,37,32,37,115,32,37,120,10,0,0,0};\n"
        ".global .align 1 .b8 word[4] = {97,98,99,0};\n"
        ".visible .entry k(.param .u64 buffer)\n{ .reg .b64 %d<8>; .reg .b32 %r<8>; .local .align 8 .b8 depot[48];\n"
        "mov.u64 %d0,depot; cvta.local.u64 %d1,%d0; mov.u32 %r0,%tid.x; sub.u32 %r1,%r0,7; st.local.u32 [depot],%r1; "
        "st.local.f64 [depot+8],0d4009000000000000;\n"
        "st.local.u64 [depot+16],-1099511627776; st.local.u32 [depot+24],65; mov.u64 %d2,word; cvta.global.u64 "
        "%d2,%d2; st.local.u64 [depot+32],%d2; st.local.u32 [depot+40],255;\n"
        "{ .param .b64 a; .param .b64 b; .param .b32 c; mov.u64 %d3,format; cvta.global.u64 %d3,%d3; st.param.b64 "
        "[a],%d3; st.param.b64 [b],%d1; call.uni (c),vprintf,(a,b); }\nret; }\n",
        "k",
        1,
        2,
        0,
        1};
    RUN(&run, assert_string_equal(printed, "-7  3.12 -1099511627776 A % abc ff\n-6  3.12 -1099511627776 A % abc ff\n"));
}

/* Proves that a kernel which does wrong ends with what, where and by whom. */
static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {KERNEL("setp.eq.u32 %p0,%r0,9; @%p0 trap;"), "line 8, cta 0, warp 0, lane 9: the kernel executed trap"},
        {KERNEL("\nld.global.u32 %r1,[%rd0+2];"),
         "line 9, cta 0, warp 0, lane 0: an access of 4 bytes at 0x700000000002 is not aligned"},
        {KERNEL("mov.u64 %rd2,16; ld.global.u32 %r1,[%rd2]; st.global.u32 [%rd0],%r1;"), "nothing lies there"},
        {KERNEL("mov.u32 %r1,4096; ld.shared.u32 %r2,[%r1];"), "outside the 0 bytes of shared memory"},
        {KERNEL("bar.sync 0,40;"), "a multiple of 32"},
        {KERNEL("mov.u64 %rd2,77; call %rd2;"), "0x4d is no function's address"},
        {KERNEL("L: bra L;"), "stuck"},
        {KERNEL("setp.eq.u32 %p0,%r0,0; @%p0 bra L; bar.warp.sync 0xffffffff; bra E;\nL: bar.sync 1,32;\nE:"),
         "stuck: a warp waits"},
        {HEAD ".func f() { call f; ret; }\n.visible .entry k(.param .u64 b) { call f; ret; }\n", "nested too deep"},
        {HEAD ".extern .func (.param .b32 r) nowhere(.param .b64 f);\n.visible .entry k(.param .u64 b) { .param .b64 "
              "a; .param .b32 c; call (c),nowhere,(a); ret; }\n",
         "kernel.ptx:5:75: nowhere is declared, but no unit of the module defines it"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Run run = {cases[i].text, "k", 1, 32, 0, 1};
        run_once(&run, i % 2);
        if (!failure || !strstr(failure, cases[i].says))
            fail_msg("case %u: %s, should say: %s", i, failure ? failure : "no failure", cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_floats),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_divergence_before_a_loop),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_shared_of_functions),
        cmocka_unit_test(test_lock_among_siblings),
        cmocka_unit_test(test_lanes_wait_for_each_other),
        cmocka_unit_test(test_early_return),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_cp_async),
        cmocka_unit_test(test_bulk),
        cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
