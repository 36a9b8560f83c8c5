/* A two-shot all-reduce by multimem on 8 GPUs, as a kernel of PTX and as a device program in C: `twoshot [MiB]`, a
 * multiple of 8. Both must give the same sums; what each took of the simulated machine and of this one's processor is
 * printed, and ok. */
#include <fanout/fanout.h>

#include "tests/clients/client.h"

#include <time.h>

#define GPUS 8
#define CTAS 32u
#define THREADS 512u

/* Each GPU sums its eighth, 16 bytes a lane and four in flight, and stores it to all. */
#define LOAD(v, at)                                                                                                    \
    "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.bf16x2 {%r" #v "0, %r" #v "1, %r" #v "2, %r" #v "3}, [" at  \
    "];\n"
#define STORE(v, at)                                                                                                   \
    "multimem.st.relaxed.sys.global.v4.bf16x2 [" at "], {%r" #v "0, %r" #v "1, %r" #v "2, %r" #v "3};\n"
static const char text[] =
    ".version 8.1\n.target sm_90\n.address_size 64\n"
    ".visible .entry twoshot(.param .u64 slice, .param .u64 bytes)\n{\n"
    ".reg .b64 %d<12>; .reg .b32 %r<60>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [slice]; ld.param.u64 %d2, [bytes]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n"
    "mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3; mul.wide.u32 %d3, %r4, 16; mov.u32 %r5, %nctaid.x;\n"
    "mul.lo.u32 %r5, %r5, %r2; mul.wide.u32 %d4, %r5, 16; shl.b64 %d5, %d4, 2; add.s64 %d6, %d1, %d3;\n"
    "$L: add.s64 %d7, %d6, %d4; add.s64 %d8, %d7, %d4; add.s64 %d9, %d8, %d4;\n" LOAD(1, "%d6") LOAD(2, "%d7")
        LOAD(3, "%d8") LOAD(4, "%d9") STORE(1, "%d6") STORE(2, "%d7") STORE(3, "%d8")
            STORE(4, "%d9") "add.s64 %d6, %d6, %d5; add.s64 %d3, %d3, %d5; setp.lt.u64 %p, %d3, %d2; @%p bra $L; "
                            "fence.acq_rel.sys; ret;\n}\n";

typedef struct {
    uint64_t slice, bytes;
} Args;

static void program(FoCta *cta, const void *data)
{
    const Args *args = data;
    FoLoop loop = {.bytes = args->bytes,
                   .width = 16,
                   .unroll = 4,
                   .sources = 1,
                   .destinations = 1,
                   .source = {{FO_LD_REDUCE, args->slice}},
                   .destination = {{FO_MULTIMEM_ST, args->slice}},
                   .type = FO_BF16X2,
                   .op = FO_ADD,
                   .acc = FO_ACC_F32};
    fo_loop(cta, &loop);
    fo_fence(cta);
}

typedef struct {
    CUcontext context[GPUS];
    CUstream stream[GPUS];
    CUfunction function[GPUS];
    CUdeviceptr own[GPUS], mc;
    size_t bytes;
} Team;

static void team_open(Team *team, size_t bytes)
{
    CUmulticastObjectProp prop = {.numDevices = GPUS, .size = bytes};
    CUmemGenericAllocationHandle object, memory;
    team->bytes = bytes;
    CHECK(cuInit(0));
    CHECK(cuMulticastCreate(&object, &prop));
    for (int i = 0; i < GPUS; i++)
        CHECK(cuMulticastAddDevice(object, i));
    for (int i = 0; i < GPUS; i++) {
        CUmemAllocationProp of = device_memory(i, 0);
        CUmodule module;
        CHECK(cuDevicePrimaryCtxRetain(&team->context[i], i));
        CHECK(cuCtxSetCurrent(team->context[i]));
        CHECK(cuStreamCreate(&team->stream[i], CU_STREAM_NON_BLOCKING));
        CHECK(cuModuleLoadData(&module, text));
        CHECK(cuModuleGetFunction(&team->function[i], module, "twoshot"));
        CHECK(cuMemCreate(&memory, bytes, &of, 0));
        CHECK(cuMemAddressReserve(&team->own[i], bytes, 0, 0, 0));
        CHECK(cuMemMap(team->own[i], bytes, 0, memory, 0));
        allow(team->own[i], bytes, i);
        CHECK(cuMulticastBindMem(object, 0, memory, 0, bytes, 0));
    }
    CHECK(cuMemAddressReserve(&team->mc, bytes, 0, 0, 0));
    CHECK(cuMemMap(team->mc, bytes, 0, object, 0));
    for (int i = 0; i < GPUS; i++)
        allow(team->mc, bytes, i);
}

/* Every GPU gives 1.0; returns what it took of the processor. */
static double run(Team *team, int in_c)
{
    struct timespec from, to;
    unsigned seen[2];
    uint64_t from_ps, to_ps;

    for (int i = 0; i < GPUS; i++) {
        CHECK(cuCtxSetCurrent(team->context[i]));
        CHECK(cuMemsetD32(team->own[i], 0x3f803f80u, team->bytes / 4));
    }
    CHECK(fo_now_ps(&from_ps));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (int i = 0; i < GPUS; i++) {
        Args args = {team->mc + team->bytes / GPUS * (unsigned)i, team->bytes / GPUS};
        void *params[] = {&args.slice, &args.bytes};
        const FoKernel kernel = {"twoshot in C", program, &args, sizeof args, CTAS, THREADS};
        CHECK(cuCtxSetCurrent(team->context[i]));
        if (in_c)
            CHECK(fo_launch(&kernel, team->stream[i]));
        else
            CHECK(cuLaunchKernel(team->function[i], CTAS, 1, 1, THREADS, 1, 1, 0, team->stream[i], params, NULL));
    }
    for (int i = 0; i < GPUS; i++)
        CHECK(cuStreamSynchronize(team->stream[i]));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    CHECK(fo_now_ps(&to_ps));
    for (int i = 0; i < GPUS; i++) {
        CHECK(cuMemcpyDtoH(&seen[0], team->own[i], 4));
        CHECK(cuMemcpyDtoH(&seen[1], team->own[i] + team->bytes - 4, 4));
        REQUIRE(seen[0] == 0x41004100u && seen[1] == 0x41004100u); /* 8.0 */
    }
    double cpu_s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    printf("%s: %.1f us simulated, %.2f s of the processor\n", in_c ? "in C" : "PTX", (double)(to_ps - from_ps) * 1e-6,
           cpu_s);
    return cpu_s;
}

int main(int argc, char **argv)
{
    Team team;
    size_t mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 8;

    REQUIRE(mib >= 8 && mib % 8 == 0 && mib <= 1024); /* whole groups of the unrolled loop */
    team_open(&team, mib * MIB);
    double ptx_s = run(&team, 0), c_s = run(&team, 1);
    printf("PTX over C: %.2f\n", ptx_s / c_s);
    puts("ok");
    return 0;
}
