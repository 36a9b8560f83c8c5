/* Matrix instructions against an H100: every form in a kernel of its own, on numbers that tell ways of adding apart. */
#include "tests/measured.h"

#include "tests/ptx/flat_host.h"
#include "tests/ptx/matrix_kernels.h"

#define VECTORS 8u /* as docs/measurements/matrix.c has them */

/* The kernel's results on all its vectors of one style. */
static char *result_of(FlatModule *loaded, const char *entry, const MatrixKernel *kernel, guint style, guint64 in,
                       guint64 out)
{
    GError *error = NULL;
    gsize in_bytes = matrix_in_bytes(kernel), out_bytes = matrix_out_bytes(kernel);
    guint64 param[2] = {in, out};
    for (guint v = 0; v < VECTORS; v++)
        matrix_fill(kernel, style, v, (guint8 *)flat_at(loaded->flat, in) + v * in_bytes);
    memset(flat_at(loaded->flat, out), 0, out_bytes * VECTORS);
    if (!flat_launch(loaded, entry, VECTORS, kernel->threads, 0, param, &error))
        fail_msg("%s: %s", kernel->name, error->message);
    return g_strdup_printf("%016" G_GINT64_MODIFIER "x",
                           (guint64)matrix_hash(flat_at(loaded->flat, out), out_bytes * VECTORS, MATRIX_HASH));
}

/* Proves that mma, wgmma, ldmatrix, stmatrix and movmatrix give what an H100 gives, bit by bit, in all forms and with
 * numbers of all kinds: layouts of fragments, descriptors and their swizzles, sums that are cut off, infinities. */
static void test_golden(void **state)
{
    const MatrixKernel *list;
    const char *only = g_getenv("FANOUT_MATRIX"); /* a part of the names that are wanted */
    gsize n = matrix_kernels(&list), wrong = 0;
    GHashTable *table = measured_table("matrix.csv");
    GString *text = g_string_new(matrix_head);
    (void)state;
    for (gsize i = 0; i < n; i++) {
        g_autofree char *entry = g_strdup_printf("k%" G_GSIZE_FORMAT, i);
        char *kernel = matrix_kernel_text(&list[i], entry);
        g_string_append(text, kernel);
        free(kernel);
    }
    Flat *flat = flat_new(16 << 20);
    GError *error = NULL;
    guint64 in = flat_alloc(flat, 4 << 20), out = flat_alloc(flat, 4 << 20);
    FlatModule *loaded = flat_load(flat, "matrix.ptx", text->str, -1, &error);
    if (!loaded)
        fail_msg("%s", error->message);
    for (gsize i = 0; i < n; i++) {
        g_autofree char *entry = g_strdup_printf("k%" G_GSIZE_FORMAT, i);
        if (only && !strstr(list[i].name, only))
            continue;
        for (guint style = 0; style < STYLES; style++) {
            g_autofree char *key = g_strdup_printf("%s,%s", list[i].name, matrix_styles[style]);
            g_autofree char *have = result_of(loaded, entry, &list[i], style, in, out);
            const char *want = g_hash_table_lookup(table, key);
            if (g_strcmp0(have, want)) {
                print_error("%s: %s, measured %s\n", key, have, want ? want : "nothing");
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
    flat_unload(loaded);
    flat_free(flat);
    g_string_free(text, TRUE);
    g_hash_table_unref(table);
}

/* ---- what is wrong */

#define BODY(target, text)                                                                                             \
    ".version 8.7\n.target " target "\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"      \
    ".reg .b32 %r<16>; .reg .b64 %d<4>; .reg .b16 %h<2>; .reg .pred %p; .shared .align 1024 .b8 sh[1024];\n"           \
    "mov.b64 %d0,0; mov.u32 %r0,sh; setp.ne.b64 %p,%d0,0;\n" text "\nret;\n}\n"
#define MMA_F16 "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#define WGMMA_F16 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1,%r2,%r3,%r4},"

/* The text is refused when it is loaded or, with `loads` only then, when its kernel runs, with a message that has these
 * words. */
static void expect_error(guint number, const char *text, gboolean loads, guint threads, const char *says)
{
    GError *error = NULL;
    Flat *flat = flat_new(1 << 16);
    guint64 param[2] = {0};
    FlatModule *loaded = flat_load(flat, "a.ptx", text, -1, &error);

    if (loads && !loaded)
        fail_msg("case %u: %s", number, error->message);
    if (loaded && flat_launch(loaded, "k", 1, threads, 0, param, &error))
        fail_msg("case %u was taken", number);
    if (!strstr(error->message, says))
        fail_msg("case %u: %s, should say: %s", number, error->message, says);
    g_error_free(error);
    flat_unload(loaded);
    flat_free(flat);
}

/* Proves that a form which the architecture lacks is refused with line and column, as ptxas refuses it, and that the
 * message says what there is. */
static void test_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {BODY("sm_75", MMA_F16 "{%r1,%r2,%r3,%r4},{%r5,%r6,%r7,%r8},{%r9,%r10},{%r1,%r2,%r3,%r4};"),
         "a.ptx:8:1: this form of mma needs sm_80; the target is sm_75"},
        {BODY("sm_89",
              "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d0,%d1,%d2,%d3},{%d0,%d1},{%d2},{%d0,%d1,%d2,%d3};"),
         "a.ptx:8:1: this form of mma needs sm_90; the target is sm_89"},
        {BODY("sm_75", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r1,%r2},{%r3},{%r4},{%r1,%r2};"),
         "a.ptx:8:1: this form of mma needs sm_80; the target is sm_75"},
        {BODY("sm_90",
              "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4},{%r5,%r6,%r7,%r8},{%r9,%r10},{%r1,"
              "%r2,%r3,%r4};"),
         "a.ptx:8:1: mma has no shape .m16n8k32 of .f16: it has m8n8k4, m16n8k8, m16n8k16"},
        {BODY("sm_90",
              "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r1,%r2,%r3,%r4},{%r5,%r6,%r7,%r8},{%r9,%r10},{%r1,"
              "%r2,%r3,%r4};"),
         "a.ptx:8:1: mma of this shape takes .row.col alone"},
        {BODY("sm_90",
              "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {%r1,%r2},{%r5,%r6,%r7,%r8},{%r9,%r10},{%r1,%r2,%r3,"
              "%r4};"),
         "a.ptx:8:1: mma's first and last types must be alike"},
        {BODY("sm_90", MMA_F16 "{%r1,%r2,%r3,%r4},{%r5,%r6},{%r9,%r10},{%r1,%r2,%r3,%r4};"),
         "a.ptx:8:69: operand 2 must have 4 registers for this shape, not 2"},
        {BODY("sm_90", MMA_F16 "{%r1,%r2,%r3,%h1},{%r5,%r6,%r7,%r8},{%r9,%r10},{%r1,%r2,%r3,%r4};"),
         "operand 1 must be {registers} of 32 bits"},
        {BODY("sm_90",
              "mma.sync.aligned.m16n8k16.row.col.s32.s8.s4.s32 {%r1,%r2,%r3,%r4},{%r5,%r6},{%r9},{%r1,%r2,%r3,%r4};"),
         "a.ptx:8:1: mma does not take the type .s4 here"},
        {BODY("sm_90", WGMMA_F16 "%d0,%d0,%p,1,1,0,0;"), "a.ptx:8:1: wgmma is of sm_90a alone; the target is sm_90"},
        {BODY("sm_100a", WGMMA_F16 "%d0,%d0,%p,1,1,0,0;"),
         "a.ptx:8:1: wgmma is of sm_90a alone; the target is sm_100a"},
        {BODY("sm_90", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor {%r1,%r2},{%r3},{%r4},{%r1,%r2};"),
         "mma of .b1 takes .xor.popc or .and.popc"},
        {BODY("sm_90a", WGMMA_F16 "%d0,%d0,%p,1,1,0;"), "this form of wgmma.mma_async has 8 operands, not 7"},
        {BODY("sm_90a", WGMMA_F16 "%d0,%d0,%p,2,1,0,0;"), "operand 5 must be 1 or -1"},
        {BODY("sm_90a", WGMMA_F16 "%r5,%d0,%p,1,1,0,0;"), "operand 2 must be a descriptor in a register of 64 bits"},
        {BODY("sm_90a",
              "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r1,%r2,%r3,%r4,%r5,%r6},%d0,%d0,%p,1,1,0,0;"),
         "a.ptx:8:1: wgmma has no shape .m64n12k16 of .f16: it has m64nNk16"},
        {BODY("sm_90a", "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r1,%r2},%d0,%d0,%p;"),
         "wgmma has no shape .m64n40k32 of .s8: it has m64nNk32"},
        {BODY("sm_90a",
              "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r1,%r2,%r3,%r4},%d0,%d0,%r9,0,%p,1,1,0,0;"),
         "sparse matrices are not simulated"},
        {BODY("sm_90a", "setmaxnreg.inc.sync.aligned.u32 60;"), "setmaxnreg takes a multiple of 8 from 24 to 256"},
        {BODY("sm_90", "setmaxnreg.dec.sync.aligned.u32 64;"),
         "setmaxnreg needs a target as sm_90a; the target is sm_90"},
        {BODY("sm_80", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0],{%r1};"), "needs sm_90; the target is sm_80"},
        {BODY("sm_100a", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1,%r2},[%r0];"),
         "matrices are moved as .m8n8 of .b16; .m16n16 of .b8 is not simulated"},
        {BODY("sm_90", "movmatrix.sync.aligned.m8n8.b16 %r1,%r2;"), "movmatrix: modifiers or types are missing"},
    };
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        expect_error(i, cases[i].text, FALSE, 32, cases[i].says);
}

/* Proves that what only a running kernel does wrong ends it with a message that names the line and what is wrong: lanes
 * that are missing, a product without its fence, matrices outside of shared memory, rows that are not aligned. */
static void test_faults(void **state)
{
    static const struct {
        const char *text;
        guint threads;
        const char *says;
    } cases[] = {
        {BODY("sm_90", MMA_F16 "{%r1,%r2,%r3,%r4},{%r5,%r6,%r7,%r8},{%r9,%r10},{%r1,%r2,%r3,%r4};"), 16,
         "line 8, cta 0, warp 0, lane 16: a matrix instruction takes all lanes of its warp; lanes 0xffff0000 are not "
         "there"},
        {BODY("sm_90a", WGMMA_F16 "%d0,%d0,%p,1,1,0,0;"), 128,
         "line 8, cta 0, warp 0, lane 0: wgmma.mma_async without a wgmma.fence before it"},
        {BODY("sm_90a", "wgmma.fence.sync.aligned; mov.b64 %d0,0x3fff;" WGMMA_F16 "%d0,%d0,%p,1,1,0,0;"), 128,
         "line 8, cta 0, warp 0, lane 0: matrix A of wgmma reaches 0x3fff0, outside the 1024 bytes of shared memory"},
        {BODY("sm_90a", "wgmma.fence.sync.aligned; mov.b64 %d0,0x4002000000000000;" WGMMA_F16 "%d0,%d0,%p,1,1,0,0;"),
         128, "the descriptor 0x4002000000000000 has a base offset"},
        {BODY("sm_90a",
              "wgmma.fence.sync.aligned; mov.u32 %r5,%laneid; cvt.u64.u32 %d0,%r5;" WGMMA_F16 "%d0,%d0,%p,1,1,0,0;"),
         128, "lane 1: the lanes of a warp give wgmma different descriptors, 0x0 and 0x1"},
        {BODY("sm_90", "add.u32 %r0,%r0,8; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1},[%r0];"), 32,
         "line 8, cta 0, warp 0, lane 0: an access of 16 bytes at 0x8 is not aligned"},
        {BODY("sm_90", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0+1024],{%r1};"), 32,
         "an access of 16 bytes at 0x400 lies outside the 1024 bytes of shared memory"},
        {BODY("sm_90", "mov.b64 %d1,0x700000000000; ldmatrix.sync.aligned.m8n8.x1.b16 {%r1},[%d1];"), 32,
         "a row of a matrix at 0x700000000000, which is not in shared memory"},
    };
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        expect_error(i, cases[i].text, TRUE, cases[i].threads, cases[i].says);
}

/* Proves that the lanes of a warp that came by different ways meet at a matrix instruction: half of them take a branch
 * that the others do not, and the transposed matrix is whole. */
static void test_diverged(void **state)
{
    static const char text[] =
        BODY("sm_90", "ld.param.u64 %d1,[out]; mov.u32 %r1,%laneid; setp.lt.u32 %p,%r1,16; mov.u32 %r2,0;\n"
                      "@%p bra MEET; add.u32 %r2,%r2,%r1; bar.warp.sync 0xffff0000;\n"
                      "MEET: shl.b32 %r3,%r1,17; or.b32 %r3,%r3,%r1; movmatrix.sync.aligned.m8n8.trans.b16 %r4,%r3;\n"
                      "mul.wide.u32 %d2,%r1,4; add.u64 %d1,%d1,%d2; st.global.u32 [%d1],%r4;");
    GError *error = NULL;
    Flat *flat = flat_new(1 << 16);
    guint64 param[2] = {0, flat_alloc(flat, 128)};
    FlatModule *loaded = flat_load(flat, "a.ptx", text, -1, &error);
    (void)state;
    if (!loaded || !flat_launch(loaded, "k", 1, 32, 0, param, &error))
        fail_msg("%s", error->message);
    const guint32 *have = flat_at(flat, param[1]);
    for (guint lane = 0; lane < 32; lane++) { /* element (r, c) was of lane 4 r + c / 2: its number, or twice that */
        guint row = lane / 4, col = 2 * (lane % 4);
        guint32 want[2];
        for (guint e = 0; e < 2; e++)
            want[e] = (4 * (col + e) + row / 2) << (row % 2);
        assert_int_equal(have[lane], want[0] | want[1] << 16);
    }
    flat_unload(loaded);
    flat_free(flat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_faults), cmocka_unit_test(test_diverged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
