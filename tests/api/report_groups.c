/* For tests/api/test_report_groups.sh: kernels whose groups in the report were worked out by hand. */
#include "tests/clients/client.h"

#define WARPS 128u

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    /* each warp loads sixteen words from p on, all lanes the same: a packet each */
    ".visible .entry same(.param .u64 p)\n{\n.reg .b64 %d<2>; .reg .b32 %r<3>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, 16;\n"
    "next: ld.volatile.global.u32 %r2, [%d1]; add.s64 %d1, %d1, 4;\n"
    "sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra next; ret;\n}\n"
    /* one lane: a store at the multicast address m, two additions and three reductions */
    ".visible .entry team(.param .u64 m)\n{\n.reg .b64 %d<2>; .reg .b32 %r<3>; ld.param.u64 %d1, [m];\n"
    "multimem.st.relaxed.sys.global.u32 [%d1], 7;\n"
    "multimem.red.relaxed.sys.global.add.u32 [%d1+128], 1; multimem.red.relaxed.sys.global.add.u32 [%d1+128], 1;\n"
    "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%d1+256];\n"
    "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%d1+256];\n"
    "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%d1+256]; ret;\n}\n"
    /* warp 0 sleeps for 20 us, the others wait for it; and lane 0 of CTA 1 polls what CTA 0 writes after 50 us */
    ".visible .entry late()\n{\n.reg .b32 %r<3>; .reg .pred %p<2>;\n"
    "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 31; @%p1 bra $B; nanosleep.u32 20000;\n$B: bar.sync 0; ret;\n}\n"
    ".visible .entry flag(.param .u64 p)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra $L;\n"
    "nanosleep.u32 50000; st.release.gpu.global.u32 [%rd1], 1; ret;\n"
    "$L: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra $L; ret;\n}\n";

static CUdeviceptr team_of_two(void)
{
    CUmulticastObjectProp prop;
    CUmemGenericAllocationHandle object, memory;
    CUdeviceptr va;
    memset(&prop, 0, sizeof prop);
    prop.numDevices = 2;
    prop.size = 2 * MIB;
    CHECK(cuMulticastCreate(&object, &prop));
    printf("handle 0x%llx\n", object);
    for (int g = 0; g < 2; g++)
        CHECK(cuMulticastAddDevice(object, g));
    for (int g = 0; g < 2; g++) {
        CUmemAllocationProp own = device_memory(g, 0);
        CHECK(cuMemCreate(&memory, 2 * MIB, &own, 0));
        CHECK(cuMulticastBindMem(object, 0, memory, 0, 2 * MIB, 0));
    }
    CHECK(cuMemAddressReserve(&va, 2 * MIB, 0, 0, 0));
    CHECK(cuMemMap(va, 2 * MIB, 0, object, 0));
    allow(va, 2 * MIB, 0);
    return va;
}

int main(void)
{
    CUcontext context[2];
    CUmodule module;
    CUfunction same, team, late, flag;
    CUdeviceptr far, own, m;
    CHECK(cuInit(0));
    for (int g = 0; g < 2; g++)
        CHECK(cuDevicePrimaryCtxRetain(&context[g], g));
    CHECK(cuCtxSetCurrent(context[1]));
    CHECK(cuMemAlloc(&far, MIB));
    CHECK(cuMemsetD8(far, 0, MIB));
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxSetCurrent(context[0]));
    CHECK(cuCtxEnablePeerAccess(context[1], 0));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&same, module, "same"));
    CHECK(cuModuleGetFunction(&team, module, "team"));
    for (int i = 0; i < 3; i++) {
        void *params[] = {&far};
        CHECK(cuLaunchKernel(same, WARPS / 32, 1, 1, 32, 32, 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
    }
    m = team_of_two();
    void *at_team[] = {&m}, *at_flag[] = {&own};
    CHECK(cuLaunchKernel(team, 1, 1, 1, 1, 1, 1, 0, NULL, at_team, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuModuleGetFunction(&late, module, "late"));
    CHECK(cuModuleGetFunction(&flag, module, "flag"));
    CHECK(cuLaunchKernel(late, 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuMemAlloc(&own, MIB));
    CHECK(cuMemsetD8(own, 0, MIB));
    CHECK(cuLaunchKernel(flag, 2, 1, 1, 1, 1, 1, 0, NULL, at_flag, NULL));
    CHECK(cuCtxSynchronize());
    return 0;
}
