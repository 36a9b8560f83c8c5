/* What each time in the tables [sm] and [gpu] stands for: on teach-4gpu, whose numbers are round, a small piece of work
 * takes exactly as much longer as a row says, times how often the row is on the way, worked out by hand. */
#include "tests/model/warp_test.h"

#include "device/kernel/kernel.h"

static void note_time(void *arg, SimTime now_ps) { *(SimTime *)arg = now_ps; }

/* ---- warps: what one or several do on GPU 0; when the last of it is there */

typedef struct {
    UopKind kind;
    guint64 va;
    gint64 stride;
    guint n; /* of them, 4 KiB apart */
    guint warps;
    gboolean cached;
    guint8 width;
} Work;

static SimTime warps_ps(const Work *work, const char *const *sets)
{
    Stand stand;
    SimTime end_ps[4][8] = {{0}}, last_ps = 0;
    Reg *reg[4][8];
    stand_open(&stand, work->warps * 32, sets);
    memory_set_cached(stand.bed.fabric->memory, stand.near, work->cached);
    memory_set_cached(stand.bed.fabric->memory, stand.far, work->cached);
    for (guint w = 0; w < work->warps; w++) {
        for (guint i = 0; i < work->n; i++) {
            reg[w][i] = reg_new(work->width, TRUE);
            Uop uop = uop_of(work->kind, work->va + w * 0x8000 + i * 4096, work->width, work->stride, reg[w][i]);
            if (work->kind == UOP_FENCE || work->kind == UOP_BARRIER)
                uop = (Uop){.kind = (guint8)work->kind};
            warp_push(&stand.cta->warp[w], &uop);
        }
        for (guint i = 0; i < work->n; i++) {
            Uop call = {.kind = UOP_CALL,
                        .src = work->kind == UOP_LOAD ? reg[w][i] : NULL,
                        .call = note_time,
                        .arg = &end_ps[w][i]};
            warp_push(&stand.cta->warp[w], &call);
        }
    }
    stand_run(&stand);
    for (guint w = 0; w < work->warps; w++)
        for (guint i = 0; i < work->n; i++) {
            last_ps = MAX(last_ps, end_ps[w][i]);
            reg_free(reg[w][i]);
        }
    stand_close(&stand);
    return last_ps;
}

static const Work near_load = {UOP_LOAD, NEAR_VA, 4, 1, 1, TRUE, 4};
static const Work near_dram = {UOP_LOAD, NEAR_VA, 4, 1, 1, FALSE, 4};
static const Work near_loads = {UOP_LOAD, NEAR_VA, 128, 1, 1, TRUE, 4}; /* 32 lines */
static const Work far_load = {UOP_LOAD, FAR_VA, 4, 1, 1, TRUE, 4};
static const Work far_dram = {UOP_LOAD, FAR_VA, 4, 1, 1, FALSE, 4};
static const Work far_stores = {UOP_STORE, FAR_VA, 128, 1, 1, TRUE, 4};
static const Work near_stores = {UOP_STORE, NEAR_VA, 128, 1, 1, TRUE, 4};
static const Work same_stores = {UOP_STORE, FAR_VA, 0, 1, 1, TRUE, 16}; /* 512 B of 32 lanes to 16 B of a line */
static const Work two_loads = {UOP_LOAD, NEAR_VA, 4, 5, 1, TRUE, 4};
static const Work fence = {UOP_FENCE, 0, 0, 1, 1, TRUE, 4};
static const Work barrier = {UOP_BARRIER, 0, 0, 1, 2, TRUE, 4};

static const struct {
    const char *row;
    guint64 from, to;
    const Work *work;
    gint64 times; /* on the way */
} warp_rows[] = {
    {"gpu.local_ps", 200000, 250000, &near_load, 1},
    {"gpu.local_dram_ps", 193000, 200000, &near_dram, 1},
    {"gpu.local_dram_ps", 193000, 200000, &near_load, 0},
    {"sm.load_ps", 10000, 15000, &near_loads, 32}, /* a packet each, of which the last one counts */
    {"sm.store_ps", 2000, 2500, &far_stores, 32},  /* to the last one's issue */
    {"sm.store_ps", 2000, 2500, &near_stores, 0},
    {"sm.local_store_ps", 2180, 3000, &near_stores, 32},
    {"sm.local_store_ps", 2180, 3000, &far_stores, 0},
    {"sm.conflict_ps", 30000, 40000, &same_stores, 3}, /* of four times 128 B */
    {"sm.conflict_ps", 30000, 40000, &far_stores, 0},
    {"sm.warp_issue_ps", 21200, 30000, &two_loads, 4}, /* between five */
    {"gpu.out_ps", 50000, 60000, &far_load, 1},
    {"gpu.in_ps", 50000, 60000, &far_load, 1},
    {"gpu.l2_ps", 100000, 130000, &far_load, 1},
    {"gpu.dram_ps", 200000, 230000, &far_dram, 1},
    {"gpu.dram_ps", 200000, 230000, &far_load, 0},
    {"link.flight_ps", 100000, 110000, &far_load, 4},    /* to the switch, from it, and back */
    {"switch.latency_ps", 100000, 110000, &far_load, 2}, /* there and back */
    {"sm.fence_ps", 581000, 600000, &fence, 1},
    {"sm.barrier_ps", 20000, 25000, &barrier, 1},
};

/* Proves for each row how often it is on the way of what a warp does. */
static void test_warps(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(warp_rows); i++) {
        g_autofree char *from = g_strdup_printf("%s=%" G_GUINT64_FORMAT, warp_rows[i].row, warp_rows[i].from);
        g_autofree char *to = g_strdup_printf("%s=%" G_GUINT64_FORMAT, warp_rows[i].row, warp_rows[i].to);
        const char *const sets[2][2] = {{from, NULL}, {to, NULL}};
        gint64 more_ps = (gint64)warps_ps(warp_rows[i].work, sets[1]) - (gint64)warps_ps(warp_rows[i].work, sets[0]);
        gint64 right_ps = warp_rows[i].times * (gint64)(warp_rows[i].to - warp_rows[i].from);
        if (more_ps != right_ps)
            fail_msg("%s: %" G_GINT64_FORMAT " ps more, should be %" G_GINT64_FORMAT, warp_rows[i].row, more_ps,
                     right_ps);
    }
}

/* ---- kernels */

static const char text[] = ".version 8.6\n.target sm_90\n.address_size 64\n"
                           ".visible .entry empty(.param .u64 p)\n{\nret;\n}\n"
                           ".visible .entry store(.param .u64 p)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p]; "
                           "st.global.u64 [%rd1], %rd1; ret;\n}\n"
                           ".visible .entry fence(.param .u64 p)\n{\nfence.acq_rel.gpu; ret;\n}\n"
                           ".visible .entry acquire(.param .u64 p)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\n"
                           "ld.acquire.gpu.global.u64 %rd2, [%rd1]; st.global.u64 [%rd1+8], %rd2; ret;\n}\n"
                           ".visible .entry half(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<2>; .reg .pred %p;\n"
                           "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, 16; @%p bra away;\n"
                           "ld.acquire.gpu.global.u64 %rd2, [%rd1]; st.global.u64 [%rd1+8], %rd2;\n"
                           "away: st.global.u64 [%rd1+16], %rd1; ret;\n}\n";

typedef struct {
    const char *kernel;
    guint32 ctas, threads;
    guint64 va;
} Launch;

static void note_kernel(const KernelLaunch *launch, void *user)
{
    *(SimTime *)user = kernel_end_ps(launch); /* launched at 0 */
    assert_int_equal(kernel_fault(launch)->kind, PTX_FAULT_NONE);
}

static SimTime kernel_ps(const Launch *what, const char *const *sets)
{
    Stand stand;
    SimTime took_ps = 0;
    GError *error = NULL;
    stand_open(&stand, 32, sets);
    PtxModule *module = ptx_module_read("times.ptx", text, strlen(text), &error);
    assert_non_null(module);
    PtxImage *image = ptx_image_new(module, 0, 0);
    const KernelSpec spec = {.image = image,
                             .entry = ptx_module_entry(module, what->kernel),
                             .grid = {what->ctas, 1, 1},
                             .block = {what->threads, 1, 1},
                             .param = &what->va};
    assert_non_null(kernel_launch(stand.bed.fabric, 0, stand.vas, &spec, 0, note_kernel, &took_ps, &error));
    stand_run(&stand);
    assert_true(took_ps > 0);
    ptx_image_free(image);
    ptx_module_free(module);
    stand_close(&stand);
    return took_ps;
}

static const Launch empty = {"empty", 1, 32, 0};
static const Launch many = {"empty", 9, 64, 0};
static const Launch stores = {"store", 1, 32, FAR_VA};
static const Launch fences = {"fence", 1, 32, 0};
static const Launch halves = {"half", 1, 32, NEAR_VA};
static const Launch acquires = {"acquire", 1, 32, NEAR_VA};

static const struct {
    const char *row;
    guint64 from, to;
    const Launch *launch;
    double times;
} kernel_rows[] = {
    {"sm.exit_ps", 1000000, 1100000, &empty, 1},
    {"sm.code_ps", 500000, 580000, &empty, 0.125}, /* of 1 KiB, its line of 128 B */
    {"sm.cta_ps", 600, 900, &empty, 0},
    {"sm.cta_ps", 100000, 103000, &many, 8},   /* before the ninth CTA */
    {"sm.cta_warp_ps", 6000, 9000, &many, 16}, /* of two warps each */
    {"sm.exit_drain_ps", 2000000, 2100000, &stores, 1},
    {"sm.exit_drain_ps", 600000, 700000, &empty, 0},
    {"sm.fence_gpu_ps", 313000, 413000, &fences, 1},
    {"sm.acquire_ps", 0, 50000, &acquires, 1},
    {"sm.acquire_ps", 0, 50000, &halves, 0}, /* the other lanes of the warp are elsewhere */
    {"sm.acquire_diverged_ps", 53500, 93500, &halves, 1},
    {"sm.acquire_diverged_ps", 53500, 93500, &acquires, 0},
};

/* Proves the same of what a kernel takes from its launch to its end. */
static void test_kernels(void **state)
{
    (void)state;
    for (guint i = 0; i < G_N_ELEMENTS(kernel_rows); i++) {
        g_autofree char *from = g_strdup_printf("%s=%" G_GUINT64_FORMAT, kernel_rows[i].row, kernel_rows[i].from);
        g_autofree char *to = g_strdup_printf("%s=%" G_GUINT64_FORMAT, kernel_rows[i].row, kernel_rows[i].to);
        const char *const sets[2][2] = {{from, NULL}, {to, NULL}};
        gint64 more_ps = (gint64)kernel_ps(kernel_rows[i].launch, sets[1]) -
                         (gint64)kernel_ps(kernel_rows[i].launch, sets[0]);
        gint64 right_ps = (gint64)(kernel_rows[i].times * (double)(kernel_rows[i].to - kernel_rows[i].from));
        if (more_ps != right_ps)
            fail_msg("%s: %" G_GINT64_FORMAT " ps more, should be %" G_GINT64_FORMAT, kernel_rows[i].row, more_ps,
                     right_ps);
    }
}

/* ---- occupancy */

/* A CTA takes whole units: 128 B of shared memory and shared_reserved beside them, and for every four warps four units
 * of 256 registers (eight of them here, for 16 a thread). Source: CUDA's occupancy calculator, compute capability
 * 9.0. */
static const struct {
    const char *set;
    guint32 threads, shared, right;
} fits[] = {
    {"sm.arch=90", 128, 0, 8}, /* 32 warps of four; 8 CTAs, too */
    {"sm.arch=90", 129, 0, 6}, /* five warps */
    {"sm.warps_max=31", 128, 0, 7},
    {"sm.ctas_max=3", 128, 0, 3},
    {"sm.ctas_max=40", 32, 0, 32},            /* as many as warps */
    {"sm.arch=90", 32, 57344, 4},             /* 4 (56 KiB + 1 KiB) are 228 KiB, all there is */
    {"sm.arch=90", 32, 57345, 3},             /* a unit more */
    {"sm.shared_bytes=233471", 32, 57344, 3}, /* a byte short */
    {"sm.shared_reserved=1152", 32, 57344, 3},
    {"sm.shared_reserved=0", 32, 58368, 4}, /* 57 KiB */
    {"sm.shared_cta_bytes=57344", 32, 57344, 4},
    {"sm.shared_cta_bytes=57343", 32, 57344, 0},
    {"sm.registers=8192", 32, 0, 4}, /* 2,048 each */
    {"sm.registers=8191", 32, 0, 3},
    {"sm.registers=8192", 160, 0, 2}, /* five warps take as much as eight */
};

/* Proves how many CTAs fit on an SM by each of what they take of it. */
static void test_occupancy(void **state)
{
    (void)state;
    GError *error = NULL;
    PtxModule *module = ptx_module_read("fits.ptx", text, strlen(text), &error);
    assert_non_null(module);
    PtxFunction *entry = ptx_module_entry(module, "empty");
    PtxUsage usage;
    assert_true(ptx_function_usage(entry, &usage, &error));
    assert_int_equal(usage.registers, 16);
    for (guint i = 0; i < G_N_ELEMENTS(fits); i++) {
        const char *const sets[] = {fits[i].set, NULL};
        Bed bed;
        bed_spec(&bed, "teach-4gpu", sets);
        const guint32 got = kernel_occupancy(&bed.spec, entry, fits[i].threads, fits[i].shared, &error);
        if (got != fits[i].right)
            fail_msg("%s, %u threads, %u B: %u fit, should be %u", fits[i].set, fits[i].threads, fits[i].shared, got,
                     fits[i].right);
        param_set_free(bed.set);
    }
    ptx_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_warps), cmocka_unit_test(test_kernels),
                                       cmocka_unit_test(test_occupancy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
