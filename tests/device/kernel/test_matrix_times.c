/* What each row of ptx/translate/cost_matrix.c stands for: a kernel with ten instructions more takes exactly ten times
 * as long more as the row says, of one warp for its latency, of many for the unit that they share. A clock cycle has
 * 500 ps here, of which a hundredth is a whole number. What the rows should be was measured on an H100
 * (docs/measurements/matrix_times.csv); test_kernel_rows.c compares whole kernels. */
#include "tests/model/warp_test.h"

#include "device/kernel/kernel.h"

#define CLOCK "sm.clock_ps=500"
#define MORE 10u

static const char head[] = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                           ".reg .b32 %r<64>; .reg .b64 %d<32>; .reg .b64 %a,%b; .reg .pred %p;\n"
                           ".shared .align 1024 .b8 sh[16384];\nmov.u32 %r0,%tid.x; shl.b32 %r0,%r0,4; and.b32 "
                           "%r0,%r0,511; mov.u32 %r1,sh; add.u32 %r0,%r0,%r1; mov.b64 %a,0x4000004000010000; "
                           "mov.b64 %b,0x4000004000010000; setp.eq.b32 %p,%r1,%r1;\n";

static void note_kernel(const KernelLaunch *launch, void *user)
{
    if (kernel_fault(launch)->kind != PTX_FAULT_NONE)
        fail_msg("%s", kernel_fault(launch)->text);
    *(SimTime *)user = kernel_end_ps(launch);
}

static SimTime kernel_ps(const char *line, guint n, guint warps)
{
    static const char *const sets[] = {CLOCK, "sm.code_ps=0", NULL};
    GString *text = g_string_new(head);
    Stand stand;
    SimTime took_ps = 0;
    GError *error = NULL;
    guint64 param = NEAR_VA;
    for (guint i = 0; i < n; i++)
        g_string_append(text, line);
    g_string_append(text, "ret;\n}\n");
    stand_open(&stand, 32, sets);
    PtxModule *module = ptx_module_read("times.ptx", text->str, text->len, &error);
    if (!module)
        fail_msg("%s", error->message);
    PtxImage *image = ptx_image_new(module, 0, 0);
    const KernelSpec spec = {.image = image,
                             .entry = ptx_module_entry(module, "k"),
                             .grid = {1, 1, 1},
                             .block = {32 * warps, 1, 1},
                             .param = &param};
    if (!kernel_launch(stand.bed.fabric, 0, stand.vas, &spec, 0, note_kernel, &took_ps, &error))
        fail_msg("%s", error->message);
    stand_run(&stand);
    ptx_image_free(image);
    ptx_module_free(module);
    stand_close(&stand);
    g_string_free(text, TRUE);
    return took_ps;
}

typedef struct {
    const char *line;
    guint warps;
    double clk; /* that each more takes */
} Time;

static void expect_times(const Time *times, guint n)
{
    guint wrong = 0;
    for (guint i = 0; i < n; i++) {
        const Time *t = &times[i];
        gint64 more_ps = (gint64)kernel_ps(t->line, 2 * MORE, t->warps) - (gint64)kernel_ps(t->line, MORE, t->warps);
        gint64 right_ps = (gint64)(t->clk * 500 * MORE + 0.5);
        if (more_ps != right_ps) {
            print_error("%u warps, %s: %g clk, should be %g\n", t->warps, t->line, (double)more_ps / 500 / MORE,
                        t->clk);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* A chain: each product is added to the one before. D and C are %r8..., A %r24..., B %r32...; f64: of %d. */
#define C2 "{%r8,%r9}"
#define C4 "{%r8,%r9,%r10,%r11}"
#define C8 "{%r8,%r9,%r10,%r11,%r12,%r13,%r14,%r15}"
#define A1 "{%r24}"
#define A2 "{%r24,%r25}"
#define A4 "{%r24,%r25,%r26,%r27}"
#define B1 "{%r32}"
#define B2 "{%r32,%r33}"
#define D2 "{%d8,%d9}"
#define D4 "{%d8,%d9,%d10,%d11}"
#define E1 "{%d16}"
#define E2 "{%d16,%d17}"
#define E4 "{%d16,%d17,%d18,%d19}"
#define E8 "{%d16,%d17,%d18,%d19,%d20,%d21,%d22,%d23}"
#define MMA(form, c, a, b) "mma.sync.aligned." form " " c "," a "," b "," c ";\n"

/* Proves for each shape and type of mma what one warp waits for its result, and what eight warps of each quarter of an
 * SM need of its tensor core, or of its issue slots where an H100 makes many instructions of one. */
static void test_mma(void **state)
{
    static const Time times[] = {
        {MMA("m16n8k8.row.col.f32.f16.f16.f32", C4, A2, B1), 1, 16.8},
        {MMA("m16n8k8.row.col.f32.f16.f16.f32", C4, A2, B1), 32, 8 * 4.1},
        {MMA("m16n8k16.row.col.f32.f16.f16.f32", C4, A4, B2), 1, 24.1},
        {MMA("m16n8k16.row.col.f16.f16.f16.f16", C2, A4, B2), 32, 8 * 6.15},
        {MMA("m16n8k8.row.col.f32.bf16.bf16.f32", C4, A2, B1), 1, 16.8},
        {MMA("m16n8k8.row.col.f32.bf16.bf16.f32", C4, A2, B1), 32, 8 * 4.1},
        {MMA("m16n8k16.row.col.f32.bf16.bf16.f32", C4, A4, B2), 1, 24.1},
        {MMA("m16n8k16.row.col.f32.bf16.bf16.f32", C4, A4, B2), 32, 8 * 6.15},
        {MMA("m16n8k4.row.col.f32.tf32.tf32.f32", C4, A2, B1), 1, 16.8},
        {MMA("m16n8k4.row.col.f32.tf32.tf32.f32", C4, A2, B1), 32, 8 * 4.1},
        {MMA("m16n8k8.row.col.f32.tf32.tf32.f32", C4, A4, B2), 1, 24.1},
        {MMA("m16n8k8.row.col.f32.tf32.tf32.f32", C4, A4, B2), 32, 8 * 6.15},
        {MMA("m16n8k16.row.col.f32.e4m3.e5m2.f32", C4, A2, B1), 1, 9.45},
        {MMA("m16n8k16.row.col.f32.e4m3.e5m2.f32", C4, A2, B1), 32, 8 * 4.9},
        {MMA("m16n8k32.row.col.f32.e5m2.e4m3.f32", C4, A4, B2), 1, 11.3},
        {MMA("m16n8k32.row.col.f32.e5m2.e4m3.f32", C4, A4, B2), 32, 8 * 5.7},
        {MMA("m8n8k4.row.col.f64.f64.f64.f64", D2, E1, E1), 1, 28.8},
        {MMA("m8n8k4.row.col.f64.f64.f64.f64", D2, E1, E1), 32, 8 * 16.3},
        {MMA("m16n8k4.row.col.f64.f64.f64.f64", D4, E2, E1), 1, 36.8},
        {MMA("m16n8k4.row.col.f64.f64.f64.f64", D4, E2, E1), 32, 8 * 16.6},
        {MMA("m16n8k8.row.col.f64.f64.f64.f64", D4, E4, E2), 1, 52.2},
        {MMA("m16n8k8.row.col.f64.f64.f64.f64", D4, E4, E2), 32, 8 * 32.6},
        {MMA("m16n8k16.row.col.f64.f64.f64.f64", D4, E8, E4), 1, 84.2},
        {MMA("m16n8k16.row.col.f64.f64.f64.f64", D4, E8, E4), 32, 8 * 64.4},
        {MMA("m8n8k16.row.col.s32.s8.u8.s32", C2, A1, B1), 1, 14.1},
        {MMA("m8n8k16.row.col.s32.u8.s8.s32", C2, A1, B1), 32, 8 * 4.1},
        {MMA("m16n8k16.row.col.s32.s8.s8.s32", C4, A2, B1), 1, 16.8},
        {MMA("m16n8k16.row.col.s32.s8.s8.s32", C4, A2, B1), 32, 8 * 4.1},
        {MMA("m16n8k32.row.col.s32.s8.s8.s32", C4, A4, B2), 1, 24.1},
        {MMA("m16n8k32.row.col.s32.s8.s8.s32", C4, A4, B2), 32, 8 * 6.15},
        {MMA("m8n8k32.row.col.s32.s4.u4.s32", C2, A1, B1), 1, 179},
        {MMA("m8n8k32.row.col.s32.s4.s4.s32", C2, A1, B1), 32, 8 * 106},
        {MMA("m16n8k32.row.col.s32.u4.s4.s32", C4, A2, B1), 1, 235},
        {MMA("m16n8k32.row.col.s32.s4.s4.s32", C4, A2, B1), 32, 8 * 169},
        {MMA("m16n8k64.row.col.s32.s4.s4.s32", C4, A4, B2), 1, 381},
        {MMA("m16n8k64.row.col.s32.s4.s4.s32", C4, A4, B2), 32, 8 * 307},
        {MMA("m8n8k32.row.col.s32.u4.u4.s32", C2, A1, B1), 1, 100},
        {MMA("m8n8k32.row.col.s32.u4.u4.s32", C2, A1, B1), 32, 8 * 24},
        {MMA("m16n8k32.row.col.s32.u4.u4.s32", C4, A2, B1), 1, 110},
        {MMA("m16n8k32.row.col.s32.u4.u4.s32", C4, A2, B1), 32, 8 * 38},
        {MMA("m16n8k64.row.col.s32.u4.u4.s32", C4, A4, B2), 1, 139},
        {MMA("m16n8k64.row.col.s32.u4.u4.s32", C4, A4, B2), 32, 8 * 69.6},
        {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc " C2 "," A1 "," B1 "," C2 ";\n", 1, 14.1},
        {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc " C4 "," A2 "," B1 "," C4 ";\n", 1, 16.8},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc " C4 "," A4 "," B2 "," C4 ";\n", 1, 24.1},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc " C4 "," A4 "," B2 "," C4 ";\n", 32, 8 * 6.15},
        {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc " C2 "," A1 "," B1 "," C2 ";\n", 1, 92.6},
        {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc " C2 "," A1 "," B1 "," C2 ";\n", 32, 8 * 28.2},
        {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc " C4 "," A2 "," B1 "," C4 ";\n", 1, 98.7},
        {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc " C4 "," A2 "," B1 "," C4 ";\n", 32, 8 * 35.8},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc " C4 "," A4 "," B2 "," C4 ";\n", 1, 115},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc " C4 "," A4 "," B2 "," C4 ";\n", 32, 8 * 44.8},
        {MMA("m8n8k4.row.col.f32.f16.f16.f32", C8, A2, B2), 1, 239},
        {MMA("m8n8k4.row.col.f32.f16.f16.f32", C8, A2, B2), 32, 8 * 133},
        {MMA("m8n8k4.row.col.f16.f16.f16.f16", C4, A2, B2), 1, 283},
        {MMA("m8n8k4.row.col.f16.f16.f16.f16", C4, A2, B2), 32, 8 * 167},
    };
    (void)state;
    expect_times(times, G_N_ELEMENTS(times));
}

#define GROUP(products)                                                                                                \
    "wgmma.fence.sync.aligned;\n" products "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
#define C16 "{%r8,%r9,%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17,%r18,%r19,%r20,%r21,%r22,%r23}"
#define C32                                                                                                            \
    "{%r8,%r9,%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17,%r18,%r19,%r20,%r21,%r22,%r23,%r28,%r29,%r30,%r31,%r34,%r35,"    \
    "%r36,%r37,%r38,%r39,%r40,%r41,%r42,%r43,%r44,%r45}"
#define N8 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " C4 ",%a,%b,%p,1,1,0,0;\n"
#define N8_A "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " C4 "," A4 ",%b,%p,1,1,0;\n"
#define N32 "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " C16 ",%a,%b,%p,1,1,0,0;\n"
#define N64 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " C32 ",%a,%b,%p,1,1,0,0;\n"
#define N64_A "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " C32 "," A4 ",%b,%p,1,1,0;\n"
#define FOUR(x) x x x x

/* Proves what a group of wgmma takes until it has been waited for: 54.4 clk (44.3 with A in registers) and N / 2 of
 * one, and for each more of its group what the unit or shared memory is busy. */
static void test_wgmma(void **state)
{
    static const Time times[] = {
        {GROUP(N8), 4, 54.4 + 4},
        {GROUP(N8_A), 4, 44.3 + 4},
        {GROUP(N32), 4, 54.4 + 16},
        {GROUP(N64), 4, 54.4 + 32},
        {GROUP(N64_A), 4, 44.3 + 32},
        {GROUP(FOUR(N64)), 4, 54.4 + 4 * 32},
        {GROUP(FOUR(N64_A)), 4, 44.3 + 4 * 32},
    };
    (void)state;
    expect_times(times, G_N_ELEMENTS(times));
}

/* Proves what matrices cost on their way between registers and shared memory: in a chain, an address depends on what
 * was loaded before, by way of two integer instructions of 4.4 clk each. */
static void test_moves(void **state)
{
    static const Time times[] = {
        {"movmatrix.sync.aligned.m8n8.trans.b16 %r8,%r8;\n", 1, 24.2},
        {"movmatrix.sync.aligned.m8n8.trans.b16 %r8,%r8;\n", 32, 32 * 1.02},
        {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8},[%r0];\n", 32, 32 * 1.02},
        {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r8,%r9},[%r0];\n", 32, 32 * 2 * 1.02},
        {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 " C4 ",[%r0];\n", 32, 32 * 4 * 1.02},
        {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0],{%r8};\n", 32, 32 * 1.02},
        {"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r0]," C4 ";\n", 32, 32 * 4 * 1.02},
        {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8},[%r0]; and.b32 %r8,%r8,0; add.u32 %r0,%r0,%r8;\n", 1,
         23.2 + 8.8},
        {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 " C4 ",[%r0]; and.b32 %r8,%r8,0; add.u32 %r0,%r0,%r8;\n", 1,
         29.2 + 8.8},
    };
    (void)state;
    expect_times(times, G_N_ELEMENTS(times));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mma), cmocka_unit_test(test_wgmma),
                                       cmocka_unit_test(test_moves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
