/* How fast kernels run with the fabric simulated: the loops that programs wait for, launched on one GPU of an H100
 * system. Memory is the GPU's own, so that the SMs, the L1, the L2 and HBM are what is simulated beside the
 * instructions. */
#include "cli/self/speed.h"

#include "cli/system.h"
#include "device/kernel/kernel.h"

#define SYSTEM "dgx-h100"
#define REGION_BYTES (32u << 20)
#define WORDS (REGION_BYTES / 4)

/* Parameters of all: what is read, what is written, and how many words, or turns of a loop. */
#define ENTRY(name) ".visible .entry " name "(.param .u64 from, .param .u64 to, .param .u32 n)\n{\n"
#define REGISTERS                                                                                                      \
    ".reg .b64 %a<9>; .reg .b32 %r<40>; .reg .f32 %f<70>; .reg .pred %p<3>;\n"                                         \
    "ld.param.u64 %a1, [from]; ld.param.u64 %a2, [to]; ld.param.u32 %r1, [n];\n"
/* %r2: this thread of all; %r3: how many there are. */
#define THREADS                                                                                                        \
    "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r2, %r4, %r5, %r6;\n"               \
    "mov.u32 %r7, %nctaid.x; mul.lo.u32 %r3, %r7, %r5;\n"
#define NEXT_TURN "add.u32 %r2, %r2, %r3; setp.lt.u32 %p1, %r2, %r1; @%p1 bra $L;\n"
/* A sum over the lanes of a warp, of %f1. */
#define FOLD(by) "shfl.sync.bfly.b32 %f2, %f1, " by ", 31, -1; add.f32 %f1, %f1, %f2;\n"
#define WARP_SUM FOLD("16") FOLD("8") FOLD("4") FOLD("2") FOLD("1")
/* A sum over a CTA of 256 threads, by a word for each warp in shared memory. */
#define CTA_SUM                                                                                                        \
    WARP_SUM "bar.sync 0; shr.u32 %r8, %r6, 5; shl.b32 %r8, %r8, 2; add.u32 %r8, %r9, %r8;\n"                          \
             "st.shared.f32 [%r8], %f1; bar.sync 0; and.b32 %r8, %r6, 7; shl.b32 %r8, %r8, 2;\n"                       \
             "add.u32 %r8, %r9, %r8; ld.shared.f32 %f1, [%r8];\n" FOLD("4") FOLD("2") FOLD("1")
#define MMA(d)                                                                                                         \
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {" d "}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {" d "};\n"
#define SUMS                                                                                                           \
    "%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8,%f9,%f10,%f11,%f12,%f13,%f14,%f15,%f16,%f17,%f18,%f19,%f20,%f21,%f22,%f23,%f24,"  \
    "%f25,%f26,%f27,%f28,%f29,%f30,%f31,%f32"
#define WGMMA "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" SUMS "}, %a3, %a4, 1, 1, 1, 0, 0;\n"
/* Shared memory gets 8 KiB of what is read, 16 bytes a thread and turn, of CTAs of 128 threads. */
#define TILE(at)                                                                                                       \
    "ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%a5+" at "]; st.shared.v4.u32 [%r16+" at "], {%r20, %r21, %r22, "     \
    "%r23};\n"
#define TILES                                                                                                          \
    ".shared .align 128 .b8 tile[8192];\n"                                                                             \
    "mov.u32 %r9, tile; mov.u32 %r6, %tid.x; shl.b32 %r8, %r6, 4; add.u32 %r16, %r9, %r8; cvt.u64.u32 %a6, %r8;\n"     \
    "add.s64 %a5, %a1, %a6;\n" TILE("0") TILE("2048") TILE("4096") TILE("6144") "bar.sync 0;\n"

/* clang-format off */
static const char text[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n" /**/
    ENTRY("fill") REGISTERS THREADS
    "$L: mul.wide.u32 %a3, %r2, 4; add.s64 %a3, %a2, %a3; xor.b32 %r8, %r2, 77; st.global.u32 [%a3], %r8;\n" NEXT_TURN
    "ret;\n}\n" /**/
    ENTRY("compare") REGISTERS THREADS
    "$L: mul.wide.u32 %a3, %r2, 4; add.s64 %a4, %a2, %a3; xor.b32 %r8, %r2, 77; ld.global.u32 %r9, [%a4];\n"
    "setp.ne.u32 %p2, %r8, %r9; @%p2 red.global.add.u32 [%a1], 1;\n" NEXT_TURN "ret;\n}\n" /**/
    ENTRY("copy") REGISTERS THREADS
    "shr.u32 %r1, %r1, 2;\n"
    "$L: mul.wide.u32 %a3, %r2, 16; add.s64 %a4, %a1, %a3; ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%a4];\n"
    "add.s64 %a4, %a2, %a3; st.global.v4.u32 [%a4], {%r8, %r9, %r10, %r11};\n" NEXT_TURN "ret;\n}\n" /**/
    ENTRY("sum") REGISTERS THREADS
    "shr.u32 %r1, %r1, 2;\n"
    "$L: mul.wide.u32 %a3, %r2, 16; add.s64 %a4, %a1, %a3; ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%a4];\n"
    "add.s64 %a4, %a2, %a3; ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%a4]; add.rn.bf16x2 %r8, %r8, %r12;\n"
    "add.rn.bf16x2 %r9, %r9, %r13; add.rn.bf16x2 %r10, %r10, %r14; add.rn.bf16x2 %r11, %r11, %r15;\n"
    "st.global.v4.u32 [%a4], {%r8, %r9, %r10, %r11};\n" NEXT_TURN "ret;\n}\n" /**/
    ENTRY("reduce") REGISTERS THREADS
    "mov.f32 %f1, 0f00000000;\n"
    "$L: mul.wide.u32 %a3, %r2, 4; add.s64 %a4, %a1, %a3; ld.global.f32 %f2, [%a4]; add.f32 %f1, %f1, %f2;\n" NEXT_TURN
    WARP_SUM "and.b32 %r8, %r6, 31; setp.eq.u32 %p2, %r8, 0; @%p2 red.global.add.f32 [%a2], %f1; ret;\n}\n" /**/
    ENTRY("norm") REGISTERS THREADS
    ".shared .align 16 .b8 part[32]; mov.u32 %r9, part; shr.u32 %r1, %r1, 2;\n"
    "$L: mul.wide.u32 %a3, %r2, 16; add.s64 %a4, %a1, %a3; ld.global.v4.f32 {%f10, %f11, %f12, %f13}, [%a4];\n"
    "add.f32 %f1, %f10, %f11; add.f32 %f2, %f12, %f13; add.f32 %f1, %f1, %f2;\n" CTA_SUM
    "mul.f32 %f1, %f1, 0f3A800000; sub.f32 %f10, %f10, %f1; sub.f32 %f11, %f11, %f1; sub.f32 %f12, %f12, %f1;\n"
    "sub.f32 %f13, %f13, %f1; mul.f32 %f1, %f10, %f10; fma.rn.f32 %f1, %f11, %f11, %f1;\n"
    "fma.rn.f32 %f1, %f12, %f12, %f1; fma.rn.f32 %f1, %f13, %f13, %f1;\n" CTA_SUM
    "fma.rn.f32 %f1, %f1, 0f3A800000, 0f3727C5AC; rsqrt.approx.f32 %f1, %f1; mul.f32 %f10, %f10, %f1;\n"
    "mul.f32 %f11, %f11, %f1; mul.f32 %f12, %f12, %f1; mul.f32 %f13, %f13, %f1; add.s64 %a4, %a2, %a3;\n"
    "st.global.v4.f32 [%a4], {%f10, %f11, %f12, %f13};\n" NEXT_TURN "ret;\n}\n" /**/
    ENTRY("mma") REGISTERS TILES
    "and.b32 %r8, %r6, 31; shl.b32 %r8, %r8, 4; add.u32 %r8, %r9, %r8;\n"
    "$L: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r8];\n"
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14, %r15}, [%r8+1024];\n" MMA("%f1, %f2, %f3, %f4")
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14, %r15}, [%r8+2048];\n" MMA("%f5, %f6, %f7, %f8")
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14, %r15}, [%r8+3072];\n" MMA("%f9, %f10, %f11, %f12")
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r14, %r15}, [%r8+4096];\n" MMA("%f13, %f14, %f15, %f16")
    "sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra $L;\n"
    "add.s64 %a4, %a2, %a6; st.global.v4.f32 [%a4], {%f1, %f5, %f9, %f13}; ret;\n}\n" /**/
    ENTRY("wgmma") REGISTERS TILES
    "shr.u32 %r8, %r9, 4; cvt.u64.u32 %a3, %r8; or.b64 %a3, %a3, 0x800400000; add.s64 %a4, %a3, 256;\n"
    "$L: wgmma.fence.sync.aligned;\n" WGMMA WGMMA WGMMA WGMMA
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    "sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra $L;\n"
    "add.s64 %a4, %a2, %a6; st.global.v4.f32 [%a4], {%f1, %f5, %f9, %f13}; ret;\n}\n";
/* clang-format on */

/* Grids as programs have them; n of mma and wgmma: turns that make a product of 512^3 in all. */
const SpeedKernel speed_fabric_kernels[] = {
    {"fill", "kernels on an H100 over what they were: fill 32 MiB, 4 bytes a lane", .151, 512, 512, WORDS, NULL},
    {"compare", "the same: compare 32 MiB, 4 bytes a lane", .122, 512, 512, WORDS, "fill"},
    {"copy", "the same: copy 32 MiB, 16 bytes a lane", .068, 264, 512, WORDS, NULL},
    {"sum", "the same: sum 32 MiB of bf16, 16 bytes a lane", .069, 264, 512, WORDS, NULL},
    {"reduce", "the same: reduce 32 MiB of f32 by shuffles", .130, 264, 512, WORDS, NULL},
    {"norm", "the same: layer norm of 8,192 rows of 1,024", .212, 512, 256, WORDS, NULL},
    {"mma", "the same: mma.sync, as many as 512^3 takes", .0152, 64, 128, 64, NULL},
    {"wgmma", "the same: wgmma, as many as 512^3 takes", .0019, 64, 128, 8, NULL},
    {NULL, NULL, 0, 0, 0, 0, NULL}};

typedef struct {
    gboolean good;
    guint64 instructions;
} Ended;

static void on_done(const KernelLaunch *launch, void *user)
{
    Ended *ended = user;
    ended->good = kernel_fault(launch)->kind == PTX_FAULT_NONE;
    ended->instructions = kernel_stats(launch).instructions;
}

static gboolean run_kernel(Fabric *fabric, Vas *vas, PtxImage *image, const char *entry, const SpeedKernel *kernel,
                           const guint64 va[2], double *Minstructions_per_s, GError **error)
{
    const struct {
        guint64 from, to;
        guint32 n;
    } param = {va[0], va[1], kernel->n};
    const KernelSpec spec = {.image = image,
                             .entry = ptx_module_entry(image->module, entry),
                             .grid = {kernel->ctas, 1, 1},
                             .block = {kernel->threads, 1, 1},
                             .param = &param};
    Ended ended = {0};
    double start_s = speed_cpu_s();
    if (!kernel_launch(fabric, 0, vas, &spec, 0, on_done, &ended, error))
        return FALSE;
    sim_run(fabric->sim, SIMTIME_NEVER);
    if (!ended.good) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_STUCK, "the kernel %s does not end well on this system", entry);
        return FALSE;
    }
    *Minstructions_per_s = (double)ended.instructions * 1e-6 / (speed_cpu_s() - start_s);
    return TRUE;
}

gboolean speed_fabric_kernel(const Options *options, const SpeedKernel *kernel, double *Minstructions_per_s,
                             GError **error)
{
    System system;
    gboolean good = FALSE;
    if (!system_load(&system, SYSTEM, options, error))
        return FALSE;
    Sim *sim = sim_new(&(SimSpec){.seed = options->seed, .calendar = options->calendar, .engine = options->engine},
                       NULL);
    Fabric *fabric = fabric_new(sim, &system.spec, TRUE, error);
    if (fabric) {
        Vas *vas = vas_new(fabric->memory, (guint32)system.spec.system.gpus);
        MemRegion *region[2];
        guint64 va[2];
        for (guint i = 0; i < 2; i++) {
            region[i] = memory_region_new(fabric->memory, 0, REGION_BYTES, NULL);
            va[i] = vas_choose(vas, REGION_BYTES, 1u << 21);
            vas_set_access(vas_map(vas, va[i], REGION_BYTES, region[i], NULL, 0), 0, VAS_ACCESS_READWRITE);
        }
        PtxModule *module = ptx_module_read("speed.ptx", text, sizeof text - 1, NULL);
        PtxImage *image = ptx_image_new(module, 0, 0);
        good = !kernel->before ||
               run_kernel(fabric, vas, image, kernel->before, kernel, va, Minstructions_per_s, error);
        good = good && run_kernel(fabric, vas, image, kernel->name, kernel, va, Minstructions_per_s, error);
        ptx_image_free(image);
        ptx_module_free(module);
        vas_free(vas);
        for (guint i = 0; i < 2; i++)
            memory_region_unref(fabric->memory, region[i]);
        fabric_free(fabric);
    }
    sim_free(sim);
    system_clear(&system);
    return good;
}
