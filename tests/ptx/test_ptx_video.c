/* Video instructions: the operation itself, its saturation, the second one with c (add, min, max), and the forms on two
 * halves and four bytes. Every right value is worked out by hand from the ISA's pseudocode, beside its row. */
#include "tests/test.h"

#include "tests/ptx/flat_host.h"

typedef struct {
    const char *op; /* on %r1, %r2, %r3 to %r4 */
    guint32 a, b, c, right;
} Row;

static const Row rows[] = {
    {"vadd.u32.u32.u32 %r4,%r1,%r2", 7, 5, 0, 12},
    {"vadd.s32.u32.s32 %r4,%r1,%r2", 0xffffffff, 0xffffffff, 0, 0xfffffffe}, /* 4294967295 - 1 */
    {"vadd.u32.u32.u32.sat %r4,%r1,%r2", 0xffffffff, 2, 0, 0xffffffff},
    {"vsub.s32.u32.u32 %r4,%r1,%r2", 5, 7, 0, 0xfffffffe},
    {"vsub.u32.u32.u32.sat %r4,%r1,%r2", 5, 7, 0, 0},
    {"vabsdiff.u32.s32.s32 %r4,%r1,%r2", 0xfffffffd, 4, 0, 7}, /* -3, 4 */
    {"vmin.s32.s32.s32 %r4,%r1,%r2", 0xfffffffd, 4, 0, 0xfffffffd},
    {"vmax.s32.s32.s32 %r4,%r1,%r2", 0xfffffffd, 4, 0, 4},
    /* the second operation: 7 + 5 and c */
    {"vadd.u32.u32.u32.add %r4,%r1,%r2,%r3", 7, 5, 100, 112},
    {"vadd.u32.u32.u32.min %r4,%r1,%r2,%r3", 7, 5, 100, 12},
    {"vadd.u32.u32.u32.min %r4,%r1,%r2,%r3", 7, 5, 3, 3},
    {"vadd.u32.u32.u32.max %r4,%r1,%r2,%r3", 7, 5, 100, 100},
    {"vadd.u32.u32.u32.max %r4,%r1,%r2,%r3", 7, 5, 3, 12},
    {"vsub.s32.s32.s32.min %r4,%r1,%r2,%r3", 1, 4, 0xfffffff6, 0xfffffff6}, /* -3, -10 */
    {"vsub.s32.s32.s32.max %r4,%r1,%r2,%r3", 1, 4, 0xfffffff6, 0xfffffffd},
    {"vsub.s32.s32.s32.add %r4,%r1,%r2,%r3", 1, 4, 0xfffffff6, 0xfffffff3}, /* -13 */
    /* shifts: beyond 32 bits they are 32, or modulo 32 */
    {"vshl.u32.u32.u32.clamp %r4,%r1,%r2", 1, 40, 0, 0},
    {"vshl.u32.u32.u32.wrap %r4,%r1,%r2", 1, 33, 0, 2},
    {"vshr.u32.u32.u32.clamp %r4,%r1,%r2", 0x80000000, 31, 0, 1},
    {"vshr.s32.s32.u32.clamp %r4,%r1,%r2", 0x80000000, 40, 0, 0xffffffff},
    {"vshr.u32.u32.u32.wrap.add %r4,%r1,%r2,%r3", 64, 36, 100, 104}, /* 64 >> 4 */
    /* multiply and add */
    {"vmad.u32.u32.u32 %r4,%r1,%r2,%r3", 7, 5, 100, 135},
    {"vmad.u32.u32.u32.po %r4,%r1,%r2,%r3", 7, 5, 100, 136},
    {"vmad.u32.u32.u32.shr7 %r4,%r1,%r2,%r3", 256, 3, 130, 7}, /* 898 >> 7 */
    {"vmad.u32.u32.u32.sat %r4,%r1,%r2,%r3", 0x10000, 0x10000, 0, 0xffffffff},
    /* comparisons are 1 or 0 */
    {"vset.u32.u32.lt %r4,%r1,%r2", 5, 7, 0, 1},
    {"vset.s32.s32.gt %r4,%r1,%r2", 0xffffffff, 0, 0, 0},
    {"vset.u32.u32.gt %r4,%r1,%r2", 0xffffffff, 0, 0, 1},
    {"vset.u32.u32.ne.add %r4,%r1,%r2,%r3", 5, 7, 100, 101},
    /* two halves, four bytes; with .add the results are summed, and c */
    {"vadd2.u32.u32.u32 %r4,%r1,%r2,%r3", 0x0001fff0, 0x00020020, 0, 0x00030010},
    {"vadd4.u32.u32.u32 %r4,%r1,%r2,%r3", 0x01020304, 0x10203040, 0, 0x11223344},
    {"vadd4.u32.u32.u32.add %r4,%r1,%r2,%r3", 0x01020304, 0x10203040, 100, 270},      /* 17 + 34 + 51 + 68 + 100 */
    {"vsub2.s32.s32.s32.sat %r4,%r1,%r2,%r3", 0x80000005, 0x00010007, 0, 0x8000fffe}, /* -32768 - 1, 5 - 7 */
    {"vavrg2.u32.u32.u32 %r4,%r1,%r2,%r3", 0x00010004, 0x00020006, 0, 0x00020005},    /* 1.5, 5 */
    {"vavrg4.s32.s32.s32 %r4,%r1,%r2,%r3", 0xff000000, 0xfe000000, 0, 0xfe000000},    /* -1.5 away from 0 */
    {"vabsdiff4.u32.u32.u32.add %r4,%r1,%r2,%r3", 0x0a0b0c0d, 0x0d0c0b0a, 100, 108},  /* 3 + 1 + 1 + 3 + 100 */
    {"vmin2.s32.s32.s32 %r4,%r1,%r2,%r3", 0xffff0005, 0x00010003, 0, 0xffff0003},
    {"vmax4.u32.u32.u32 %r4,%r1,%r2,%r3", 0xff010203, 0x00020103, 0, 0xff020203},
    {"vset4.u32.u32.ge %r4,%r1,%r2,%r3", 0x05060708, 0x06060609, 0, 0x00010100},
    {"vset2.s32.s32.lt.add %r4,%r1,%r2,%r3", 0xffff0001, 0x00000000, 100, 101}, /* -1 < 0, 1 < 0 */
};

static FlatModule *load(Flat *flat, const char *op, GError **error)
{
    g_autofree char *text =
        g_strdup_printf(".version 8.6\n.target sm_90\n.address_size 64\n"
                        ".visible .entry k(.param .u64 to, .param .u32 a, .param .u32 b, .param .u32 c)\n{\n"
                        ".reg .b64 %%rd<2>; .reg .b32 %%r<5>;\nld.param.u64 %%rd0,[to]; ld.param.u32 %%r1,[a];\n"
                        "ld.param.u32 %%r2,[b]; ld.param.u32 %%r3,[c]; %s; st.global.u32 [%%rd0],%%r4; ret;\n}\n",
                        op);

    return flat_load(flat, "kernel.ptx", text, -1, error);
}

/* Each row gives the value beside it. */
static void test_rows(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const Row *row = &rows[i];
        Flat *flat = flat_new(1 << 20);
        struct {
            guint64 to;
            guint32 a, b, c;
        } parameters = {flat_alloc(flat, 256), row->a, row->b, row->c};
        guint32 one[3] = {1, 1, 1}, got;
        GError *error = NULL;
        FlatModule *loaded = load(flat, row->op, &error);
        if (!loaded || !flat_launch_shape(loaded, "k", one, one, one, 0, &parameters, &error))
            fail_msg("%s: %s", row->op, error->message);
        memcpy(&got, flat_at(flat, parameters.to), sizeof got);
        if (got != row->right)
            fail_msg("%s of %x, %x, %x: %x, not %x", row->op, row->a, row->b, row->c, got, row->right);
        flat_unload(loaded);
        flat_free(flat);
    }
}

/* Bytes and halves of operands are refused by name, and not read as the whole register. */
static void test_selectors(void **state)
{
    static const char *const refused[] = {"vadd.u32.u32.u32 %r4,%r1.b1,%r2.h1", "vadd.u32.u32.u32 %r4.b0,%r1,%r2,%r3"};
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        Flat *flat = flat_new(1 << 20);
        GError *error = NULL;
        FlatModule *loaded = load(flat, refused[i], &error);
        guint64 parameters[3] = {0};
        const guint32 one[3] = {1, 1, 1};
        if (loaded) /* a function is translated when it is launched */
            assert_false(flat_launch_shape(loaded, "k", one, one, one, 0, parameters, &error));
        assert_non_null(strstr(error->message, "selectors of bytes are not supported"));
        g_error_free(error);
        if (loaded)
            flat_unload(loaded);
        flat_free(flat);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_selectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
