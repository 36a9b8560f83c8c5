/* How fast instructions of kernels are executed: two loops that kernels of collectives consist of, on flat memory and
 * without time, so that the figure is the executor's alone. With the fabric simulated beside, packets decide. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* what the host does here is no part of the figure */
#endif
#include "cli/self/speed.h"

#include <string.h>

#include "ptx/run/warp.h"

#define FLAT_VA G_GUINT64_CONSTANT(0x10000000)
#define FLAT_BYTES (1u << 20)
#define LOOPS 2000u
#define WARPS 8u

/* A copy of 16 bytes a lane: 8 instructions. A sum of two operands of 8 halves each: 12. */
static const char text[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry copy(.param .u64 from, .param .u64 to, .param .u32 n)\n{\n"
    ".reg .b64 %rd<9>; .reg .b32 %r<12>; .reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %rd3, %r2, 16; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; mov.u32 %r3, 0;\n"
    "$L: ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1]; st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};\n"
    "xor.b64 %rd1, %rd1, 4096; xor.b64 %rd2, %rd2, 4096; add.u32 %r3, %r3, 1; and.b32 %r8, %r3, 1023;\n"
    "setp.lt.u32 %p1, %r3, %r1; @%p1 bra $L; ret;\n}\n"
    ".visible .entry sum(.param .u64 from, .param .u64 to, .param .u32 n)\n{\n"
    ".reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %rd3, %r2, 16; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3; mov.u32 %r3, 0;\n"
    "$L: ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1]; ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd1+8192];\n"
    "add.rn.bf16x2 %r4, %r4, %r8; add.rn.bf16x2 %r5, %r5, %r9; add.rn.bf16x2 %r6, %r6, %r10; "
    "add.rn.bf16x2 %r7, %r7, %r11; st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};\n"
    "xor.b64 %rd1, %rd1, 4096; xor.b64 %rd2, %rd2, 4096; add.u32 %r3, %r3, 1;\n"
    "setp.lt.u32 %p1, %r3, %r1; @%p1 bra $L; ret;\n}\n";

typedef struct {
    guint8 *bytes;
} Flat;

static guint64 flat_now(void *host)
{
    (void)host;
    return 0;
}

/* The C library's function: what the compiler puts in its place (rep movs) takes several times as long. */
static void *(*const volatile flat_copy)(void *, const void *, size_t) = memcpy;

/* Lanes side by side move in one piece, as a host with coalescing would have it. */
static void flat_access(const Flat *flat, PtxAccess *access)
{
    guint64 apart = ~access->mask, width = access->width;
    for (guint l = 1; l < PTX_LANES; l++)
        apart |= access->va[l] - access->va[l - 1] - width;
    gboolean together = apart == 0, load = access->kind == PTX_ACCESS_LOAD;
    gsize bytes = together ? PTX_LANES * width : width;
    for (guint l = 0; l < PTX_LANES; l += together ? PTX_LANES : 1) {
        guint8 *memory = flat->bytes + (access->va[l] - FLAT_VA), *lane = access->bytes + l * width;
        if (access->mask >> l & 1)
            flat_copy(load ? lane : memory, load ? memory : lane, bytes);
    }
    ptx_access_complete(access);
}

static void run_cluster(const Flat *flat, PtxGrid *grid)
{
    const guint32 index[3] = {0, 0, 0};
    PtxCluster *cluster = ptx_cluster_new(grid, index);
    for (guint32 w = 0; w < grid->n_warps; w++) {
        PtxAccess *access;
        while (ptx_warp_run(&cluster->cta[0]->warp[w], 1000, &access) != PTX_RUN_EXIT)
            if (access)
                flat_access(flat, access);
    }
    ptx_cluster_free(cluster);
}

double speed_kernel_Minstructions_per_s(const char *loop)
{
    const PtxHost host = {.now_ps = flat_now, .clock_ps = 505};
    const guint32 one[3] = {1, 1, 1}, block[3] = {WARPS * PTX_LANES, 1, 1};
    struct {
        guint64 from, to;
        guint32 n;
    } param = {FLAT_VA, FLAT_VA + FLAT_BYTES / 2, LOOPS};
    Flat flat = {g_malloc0(FLAT_BYTES)};
    PtxModule *module = ptx_module_read("speed.ptx", text, sizeof text - 1, NULL);
    PtxImage *image = ptx_image_new(module, 0, 0);
    guint64 instructions = 0;
    double start_s = speed_cpu_s(), past_s = 0;
    while (past_s < SPEED_ROUND_S) {
        PtxGrid *grid = ptx_grid_new(image, ptx_module_entry(module, loop), one, block, NULL, 0, &param, &host, &flat,
                                     NULL);
        run_cluster(&flat, grid);
        instructions += grid->instructions;
        ptx_grid_free(grid);
        past_s = speed_cpu_s() - start_s;
    }
    ptx_image_free(image);
    ptx_module_free(module);
    g_free(flat.bytes);
    return (double)instructions / past_s * 1e-6;
}
