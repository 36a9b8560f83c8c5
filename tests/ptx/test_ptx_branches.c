/* Branches by an index (brx.idx): each lane goes where its index says, lanes that went apart meet again, and a table
 * may name a label twice. Each kernel runs with answers at once and a turn later. */
#include "tests/test.h"

#include "tests/ptx/flat_host.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
#define BEGIN                                                                                                          \
    HEAD ".visible .entry k(.param .u64 buffer)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .pred %p<4>;\n"            \
         "ld.param.u64 %rd0,[buffer]; mov.u32 %r0,%tid.x; mul.wide.u32 %rd1,%r0,4; add.s64 %rd1,%rd0,%rd1;\n"
#define WORDS 256

static guint32 words[WORDS];

/* One warp of 32 lanes. The parameter is a buffer of WORDS words, which are 0. */
static void run(const char *text, gboolean late)
{
    Flat *flat = flat_new(1 << 20);
    guint64 buffer = flat_alloc(flat, WORDS * 4);
    guint32 dim[3] = {1, 1, 1}, block[3] = {32, 1, 1}, cluster[3] = {1, 1, 1};
    GError *error = NULL;
    flat->late = late;
    flat->turns_max = 200000;
    flat->slice = late ? 37 : 1000;
    FlatModule *loaded = flat_load(flat, "kernel.ptx", text, -1, &error);
    if (!loaded || !flat_launch_shape(loaded, "k", dim, block, cluster, 0, &buffer, &error))
        fail_msg("%s", error->message);
    memcpy(words, flat_at(flat, buffer), sizeof words);
    flat_unload(loaded);
    flat_free(flat);
}

/* Lane l goes to the place of l % 4, of which the last is the first's label again; behind them all 32 lanes are
 * there. */
static void test_by_lane(void **state)
{
    static const char text[] = BEGIN
        "T: .branchtargets A, B, C, A;\nand.b32 %r1,%r0,3; brx.idx %r1,T;\n"
        "A: add.u32 %r2,%r0,1000; bra D;\nB: add.u32 %r2,%r0,2000; bra D;\nC: add.u32 %r2,%r0,3000;\n"
        "D: st.global.u32 [%rd1],%r2; activemask.b32 %r3; st.global.u32 [%rd1+128],%r3; ret;\n}\n";
    static const guint32 added[] = {1000, 2000, 3000, 1000};
    (void)state;
    for (guint late = 0; late < 2; late++) {
        run(text, late);
        for (guint l = 0; l < 32; l++) {
            assert_int_equal(words[l], l + added[l % 4]);
            assert_int_equal(words[32 + l], 0xffffffff);
        }
    }
}

/* All lanes go the same way, and lanes whose guard is false go on behind the branch. */
static void test_together(void **state)
{
    static const char text[] = BEGIN
        "T: .branchtargets A, B;\nmov.u32 %r1,1; setp.lt.u32 %p1,%r0,16; mov.u32 %r2,7;\n@%p1 brx.idx %r1,T;\n"
        "add.u32 %r2,%r2,100; bra C;\nA: mov.u32 %r2,8; bra C;\nB: add.u32 %r2,%r2,20;\n"
        "C: st.global.u32 [%rd1],%r2; ret;\n}\n";
    (void)state;
    for (guint late = 0; late < 2; late++) {
        run(text, late);
        for (guint l = 0; l < 32; l++)
            assert_int_equal(words[l], l < 16 ? 27 : 107);
    }
}

/* A machine of states in a loop: each lane doubles l + 1 and adds 1 by turns, four times: ((l + 1) * 2 + 1) * 2 + 1. */
static void test_loop(void **state)
{
    static const char text[] = BEGIN
        "T: .branchtargets DOUBLE, MORE, END;\nadd.u32 %r2,%r0,1; mov.u32 %r1,0; mov.u32 %r4,0;\n"
        "NEXT: brx.idx %r1,T;\nDOUBLE: shl.b32 %r2,%r2,1; mov.u32 %r1,1; bra NEXT;\n"
        "MORE: add.u32 %r2,%r2,1; add.u32 %r4,%r4,1; setp.eq.u32 %p1,%r4,2; selp.u32 %r1,2,0,%p1; bra NEXT;\n"
        "END: st.global.u32 [%rd1],%r2; ret;\n}\n";
    (void)state;
    for (guint late = 0; late < 2; late++) {
        run(text, late);
        for (guint l = 0; l < 32; l++)
            assert_int_equal(words[l], 4 * (l + 1) + 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_lane), cmocka_unit_test(test_together),
                                       cmocka_unit_test(test_loop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
