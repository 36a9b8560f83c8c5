/* Waits for what only the warps of one cluster could do: told to be stuck when none of them ever will, and over at
 * their time when one does, however long that takes. */
#include "tests/test.h"

#include "tests/device/kernel/kernel_world.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define VARIABLES ".reg .b64 %o, %x; .reg .b32 %a, %t, %v, %w; .reg .pred %p, %q, %r; .shared .align 8 .b64 s;\n"
#define BEGIN "ld.param.u64 %o, [out]; mov.u32 %a, s; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;\n"
/* Each kernel has its loop in its line 8, and the mbarrier, if any, is for more arrivals than come. */
#define STUCK(name, loop)                                                                                              \
    HEAD ".visible .entry " name "(.param .u64 out) {\n" VARIABLES BEGIN                                               \
         "@%p mbarrier.init.shared.b64 [%a], 5; bar.sync 0;\n" loop "\n$E: ret; }\n"

static const struct {
    const char *name, *text, *says;
} stuck[] = {
    {"try", STUCK("try", "$L: mbarrier.try_wait.parity.shared.b64 %q, [%a], 0; @!%q bra $L;"),
     "polls 0x0 of shared memory"},
    {"test", STUCK("test", "$L: mbarrier.test_wait.parity.shared.b64 %q, [%a], 0; @!%q bra $L;"),
     "polls 0x0 of shared memory"},
    {"flag", STUCK("flag", "$L: ld.volatile.shared.u32 %v, [%a+4]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x4 of shared memory"},
    {"acquire", STUCK("acquire", "$L: ld.acquire.cta.shared.u32 %v, [%a]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x0 of shared memory"},
    {"lock", STUCK("lock", "$L: atom.shared.cas.b32 %v, [%a], 9, 1; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x0 of shared memory"},
    {"same",
     STUCK("same", "$L: st.shared.u32 [%a], 3; ld.volatile.shared.u32 %v, [%a]; setp.eq.u32 %q, %v, 3; "
                   "@%q bra $L;"),
     "polls 0x0 of shared memory"},
    {"nap", STUCK("nap", "$L: nanosleep.u32 300; ld.volatile.shared.u32 %v, [%a]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x0 of shared memory"},
    {"fenced", STUCK("fenced", "$L: fence.acq_rel.gpu; ld.shared.u32 %v, [%a]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x0 of shared memory"},
    {"absent",
     STUCK("absent", "@%p bra $L; bar.warp.sync -1; bra $E; $L: ld.volatile.global.u32 %v, [%o]; "
                     "setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x"},
    {"absent_too",
     STUCK("absent_too", "@%p bra $L; bar.warp.sync -1; bra $E; $L: ld.volatile.shared.u32 %v, [%a]; "
                         "setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x0 of shared memory"},
    {"both",
     STUCK("both", "$L: ld.volatile.shared.u32 %v, [%a]; ld.volatile.global.u32 %w, [%o]; or.b32 %v, %v, %w; "
                   "setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x"},
    {"two",
     STUCK("two", "$L: ld.acquire.sys.global.u32 %v, [%o]; setp.eq.u32 %q, %v, 9; @%q bra $E; "
                  "ld.acquire.sys.global.u32 %v, [%o+512]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x"},
    {"behind_a_fence",
     STUCK("behind_a_fence",
           "$L: ld.volatile.global.u32 %v, [%o]; fence.acq_rel.sys; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x"},
    {"pair",
     STUCK("pair", "$L: ld.volatile.global.v2.u32 {%v, %w}, [%o]; ld.volatile.global.v2.u32 {%t, %w}, [%o+64]; "
                   "or.b32 %v, %v, %t; setp.ne.u32 %q, %v, 9; vote.sync.any.pred %q, %q, -1; @%q bra $L;"),
     "polls 0x"},
    {"three",
     STUCK("three", "$L: ld.volatile.global.u32 %v, [%o]; ld.volatile.global.u32 %w, [%o+256]; or.b32 %v, %v, %w; "
                    "ld.volatile.shared.u32 %w, [%a]; nanosleep.u32 40; ld.volatile.global.u32 %w, [%o+512]; "
                    "or.b32 %v, %v, %w; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x"},
    {"given_up",
     STUCK("given_up", "$L: mbarrier.try_wait.parity.shared.b64 %q, [%a], 0; @%q bra $E; "
                       "ld.volatile.global.u32 %v, [%o]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     "polls 0x"},
};

/* Proves that each of these waits ends the run as stuck, with the kernel, its CTA, the line and the address. */
static void test_stuck(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(stuck); i++) {
        World *world = world_new(WORLD_BYTES);
        Loaded *loaded = world_load(world, 0, "stuck.ptx", stuck[i].text);
        Ended ended = {0};
        KernelLaunch *launch = world_start(loaded, stuck[i].name, 1, 64, 0, &world->va[0], &ended);
        assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_STUCK);
        assert_false(ended.done);
        g_autofree char *text = sim_waiters_text(world->sim);
        g_autofree char *kernel = g_strdup_printf("kernel %s on gpu0: CTA (0,0,0) warp 0 %s", stuck[i].name,
                                                  stuck[i].says);
        if (!strstr(text, kernel) || !strstr(text, "stuck.ptx line 8"))
            fail_msg("%s: %s", stuck[i].name, text);
        kernel_abort(launch, PTX_FAULT_TRAP, "the user has ended it");
        assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_IDLE);
        assert_true(ended.done);
        g_free(ended.text);
        world_unload(loaded);
        world_free(world);
    }
}

/* The first warp sleeps for %v ns, eight times, and then does `does`; the other one waits. */
#define ENDS(name, does, waits)                                                                                        \
    HEAD ".visible .entry " name "(.param .u64 out, .param .u32 ns) {\n" VARIABLES BEGIN                               \
         "ld.param.u32 %v, [ns]; @%p st.shared.u64 [%a], 0; @%p mbarrier.init.shared.b64 [%a], 1; bar.sync 0;\n"       \
         "setp.ge.u32 %q, %t, 32; @%q bra $L; mov.u32 %w, 0;\n"                                                        \
         "$S: nanosleep.u32 %v; add.u32 %w, %w, 1; setp.lt.u32 %q, %w, 8; @%q bra $S;\n" does "\nret;\n" waits         \
         "\n$E: ret; }\n"

#define SLICE_NS 10000 /* what others wrote to shared memory is seen at a slice's end, after 1,024 instructions */
#define READ_NS 700    /* a turn is a read of global memory, or less */
static const struct {
    const char *name, *text;
    guint late_ns;
} ends[] = {
    {"try",
     ENDS("try", "@%p mbarrier.arrive.shared.b64 %x, [%a];",
          "$L: mbarrier.try_wait.parity.shared.b64 %q, [%a], 0; @!%q bra $L;"),
     READ_NS},
    {"test",
     ENDS("test", "@%p mbarrier.arrive.shared.b64 %x, [%a];",
          "$L: mbarrier.test_wait.parity.shared.b64 %q, [%a], 0; @!%q bra $L;"),
     READ_NS},
    {"flag",
     ENDS("flag", "@%p st.shared.u32 [%a+4], 9;",
          "$L: ld.volatile.shared.u32 %v, [%a+4]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     SLICE_NS},
    {"lock",
     ENDS("lock", "@%p atom.shared.exch.b32 %v, [%a+4], 9;",
          "$L: atom.shared.or.b32 %v, [%a+4], 0; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     SLICE_NS},
    {"both",
     ENDS("both", "@%p st.shared.u32 [%a+4], 9;",
          "$L: ld.volatile.shared.u32 %v, [%a+4]; ld.volatile.global.u32 %w, [%o]; or.b32 %v, %v, %w; "
          "setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     READ_NS},
    {"global",
     ENDS("global", "@%p st.volatile.global.u32 [%o], 9;",
          "$L: ld.volatile.shared.u32 %v, [%a+4]; ld.volatile.global.u32 %w, [%o]; or.b32 %v, %v, %w; "
          "setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     READ_NS},
    {"given_up",
     ENDS("given_up", "@%p mbarrier.arrive.shared.b64 %x, [%a];",
          "$L: mbarrier.try_wait.parity.shared.b64 %q, [%a], 0; @%q bra $E; "
          "ld.volatile.global.u32 %v, [%o]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     READ_NS},
    {"two",
     ENDS("two", "@%p st.volatile.global.u32 [%o+512], 9;",
          "$L: ld.acquire.sys.global.u32 %v, [%o]; setp.eq.u32 %q, %v, 9; @%q bra $E; "
          "ld.acquire.sys.global.u32 %v, [%o+512]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     2 * READ_NS},
    {"behind_a_fence",
     ENDS("behind_a_fence", "@%p st.volatile.global.u32 [%o], 9;",
          "$L: ld.volatile.global.u32 %v, [%o]; fence.acq_rel.sys; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     2 * READ_NS},
    {"first_of_two",
     ENDS("first_of_two", "@%p st.volatile.global.u32 [%o], 9;",
          "$L: ld.volatile.global.u32 %v, [%o]; ld.volatile.global.u32 %w, [%o+512]; or.b32 %v, %v, %w; "
          "setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     2 * READ_NS},
    /* the lane that waits is let go by one that comes behind its loop */
    {"behind",
     HEAD ".visible .entry behind(.param .u64 out, .param .u32 ns) {\n" VARIABLES BEGIN
          "ld.param.u32 %w, [ns]; setp.lt.u32 %r, %t, 2; @!%r bra $E; @!%p bra $J;\n"
          "$L: ld.volatile.global.u32 %v, [%o]; setp.ne.u32 %q, %v, 9; @%q bra $L;\n"
          "$J: @%p bra $E; shl.b32 %w, %w, 3; nanosleep.u32 %w; st.volatile.global.u32 [%o], 9;\n$E: ret; }\n",
     READ_NS},
    {"nap",
     ENDS("nap", "@%p st.shared.u32 [%a+4], 9;",
          "$L: nanosleep.u32 50000; ld.volatile.shared.u32 %v, [%a+4]; setp.ne.u32 %q, %v, 9; @%q bra $L;"),
     50000 + SLICE_NS},
};

static SimTime time_of(guint at, guint32 ns)
{
    World *world = world_new(WORLD_BYTES);
    Loaded *loaded = world_load(world, 0, "ends.ptx", ends[at].text);
    const struct {
        guint64 out;
        guint32 ns;
    } param = {world->va[0], ns};
    Ended ended = world_kernel(loaded, ends[at].name, 1, 64, 0, &param);
    assert_int_equal(ended.fault, PTX_FAULT_NONE);
    world_unload(loaded);
    world_free(world);
    return ended.took_ps;
}

/* Proves that a wait of 960 us, in which the warp rests, ends 900 us after one of 60 us, in which it does not, but for
 * the turn of its loop that it happens to be in. */
static void test_ends(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
        gint64 apart_ps = (gint64)time_of(i, 120000) - (gint64)time_of(i, 7500);
        gint64 late_ns = (apart_ps - (gint64)(900 * PS_PER_US)) / (gint64)PS_PER_NS;
        if (ABS(late_ns) > ends[i].late_ns)
            fail_msg("%s: %" G_GINT64_FORMAT " ns late", ends[i].name, late_ns);
    }
}

/* Proves that a warp that rests between looks 50 us apart, and is told of a change, sees it when it would have looked:
 * at the 81st look, whether the flag is written 4,016 or 4,028 us after the start. */
static void test_rhythm(void **state)
{
    (void)state;
    const guint nap = G_N_ELEMENTS(ends) - 1;
    SimTime early_ps = time_of(nap, 502000), late_ps = time_of(nap, 503500);
    assert_int_equal(early_ps, late_ps);
    assert_true(early_ps > 81 * 50 * PS_PER_US && early_ps < 82 * 50 * PS_PER_US);
}

/* Proves that a wait at an mbarrier that nothing completes is over when the time is that it was given: of 30 and of
 * 50 us the one takes 20 us less. */
static void test_time_limit(void **state)
{
    (void)state;
    static const char text[] = HEAD
        ".visible .entry limit(.param .u64 out, .param .u32 ns) {\n" VARIABLES BEGIN
        "@%p mbarrier.init.shared.b64 [%a], 5; bar.sync 0; ld.param.u32 %v, [ns];\n"
        "mbarrier.try_wait.parity.shared.b64 %q, [%a], 0, %v; selp.u32 %w, 1, 0, %q; st.global.u32 [%o], %w; ret; }\n";
    SimTime took_ps[2];
    for (guint i = 0; i < 2; i++) {
        World *world = world_new(WORLD_BYTES);
        Loaded *loaded = world_load(world, 0, "limit.ptx", text);
        const struct {
            guint64 out;
            guint32 ns;
        } param = {world->va[0], i ? 50000 : 30000};
        Ended ended = world_kernel(loaded, "limit", 1, 32, 0, &param);
        assert_int_equal(ended.fault, PTX_FAULT_NONE);
        assert_int_equal(word_of(world, 0, 0), 0);
        took_ps[i] = ended.took_ps;
        world_unload(loaded);
        world_free(world);
    }
    assert_int_equal(took_ps[1] - took_ps[0], 20 * PS_PER_US);
}

/* Proves that a loop that looks at a clock, and one that counts, in a register or not, are not taken for ones that
 * nothing can end. */
static void test_goes_on(void **state)
{
    (void)state;
    static const char *const loops[] = {
        "mov.u64 %x, %globaltimer; add.u64 %x, %x, 400000; $L: mov.u64 %o, %globaltimer; setp.lt.u64 %q, %o, %x; "
        "@%q bra $L;",
        "mov.u32 %v, 0; $L: ld.volatile.shared.u32 %w, [%a]; add.u32 %v, %v, 1; setp.lt.u32 %q, %v, 20000; "
        "@%q bra $L;",
        "mov.u32 %v, 0; $L: ld.volatile.global.u32 %w, [%o]; ld.volatile.global.u32 %w, [%o+256]; add.u32 %v, %v, 1; "
        "setp.lt.u32 %q, %v, 1500; @%q bra $L;",
        /* the count is in a parameter, and no register tells of it */
        "{ .param .b32 n; st.param.b32 [n], 0; $L: ld.volatile.shared.u32 %w, [%a]; ld.param.b32 %v, [n]; "
        "add.u32 %v, %v, 1; st.param.b32 [n], %v; setp.lt.u32 %q, %v, 20000; mov.u32 %v, 0; @%q bra $L; }"};
    for (guint i = 0; i < G_N_ELEMENTS(loops); i++) {
        g_autofree char *text = g_strdup_printf("%s.visible .entry goes(.param .u64 out) {\n%s%s%s ret; }\n", HEAD,
                                                VARIABLES, BEGIN, loops[i]);
        World *world = world_new(WORLD_BYTES);
        Loaded *loaded = world_load(world, 0, "goes.ptx", text);
        Ended ended = world_kernel(loaded, "goes", 1, 64, 0, &world->va[0]);
        assert_int_equal(ended.fault, PTX_FAULT_NONE);
        assert_true(ended.took_ps > 200 * PS_PER_US);
        world_unload(loaded);
        world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stuck), cmocka_unit_test(test_ends),
                                       cmocka_unit_test(test_rhythm), cmocka_unit_test(test_time_limit),
                                       cmocka_unit_test(test_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
