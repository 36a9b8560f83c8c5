/* For tests/api/test_report_rows.sh: copies, fills and kernels whose rows in the report were worked out by hand. */
#include "tests/clients/client.h"

static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    /* the first n threads: 4 B from p, and 4 B back */
    ".visible .entry move(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %d<4>; .reg .b32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r4, %r2, 256, %r3; setp.ge.u32 %p, %r4, %r1; @%p bra end;\n"
    "mul.wide.u32 %d2, %r4, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r5, [%d3]; st.global.u32 [%d3], %r5;\n"
    "end: ret;\n}\n"
    /* the first 256 threads: 4 B of the other GPU's memory and 4 B back; the first n: the same of the own */
    ".visible .entry both(.param .u64 far, .param .u64 p, .param .u32 n)\n{\n.reg .b64 %d<4>; .reg .b32 %r<6>;\n"
    ".reg .pred %p; mov.u32 %r3, %tid.x; mul.wide.u32 %d2, %r3, 4; setp.ge.u32 %p, %r3, 256; @%p bra own;\n"
    "ld.param.u64 %d1, [far]; add.s64 %d3, %d1, %d2; ld.global.u32 %r5, [%d3]; st.global.u32 [%d3], %r5;\n"
    "own: ld.param.u32 %r1, [n]; setp.ge.u32 %p, %r3, %r1; @%p bra end;\n"
    "ld.param.u64 %d1, [p]; add.s64 %d3, %d1, %d2; ld.global.u32 %r5, [%d3]; st.global.u32 [%d3], %r5;\n"
    "end: ret;\n}\n";

int main(void)
{
    CUcontext context[2];
    CUmodule module;
    CUfunction move, both;
    CUdeviceptr p, q, far;
    static char host[MIB] __attribute__((aligned(4096)));
    CHECK(cuInit(0));
    for (int g = 0; g < 2; g++)
        CHECK(cuDevicePrimaryCtxRetain(&context[g], g));
    CHECK(cuCtxSetCurrent(context[1]));
    CHECK(cuMemAlloc(&far, MIB));
    CHECK(cuCtxSetCurrent(context[0]));
    CHECK(cuMemAlloc(&p, MIB));
    CHECK(cuMemAlloc(&q, MIB));
    CHECK(cuMemcpyHtoD(p, host, MIB));
    CHECK(cuMemcpyHtoD(q, host, MIB / 4));
    CHECK(cuMemcpyDtoH(host, p, MIB / 2));
    CHECK(cuMemcpyDtoD(q, p, MIB));
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxSetCurrent(context[1])); /* whose engine it is then, which reads */
    CHECK(cuMemcpyPeer(far, context[1], p, context[0], MIB));
    CHECK(cuCtxSetCurrent(context[0]));
    CHECK(cuMemsetD32(p, 7, 1000));
    CHECK(cuCtxSynchronize());
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&move, module, "move"));
    const unsigned n[] = {1000, 985, 960, 1000};
    for (int i = 0; i < 4; i++) {
        unsigned threads = n[i];
        void *params[] = {&p, &threads};
        CHECK(cuLaunchKernel(move, 4, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
    }
    /* the same on the other GPU's memory, and on the host's */
    const unsigned some = 256;
    CUdeviceptr own;
    CHECK(cuCtxEnablePeerAccess(context[1], 0));
    CHECK(cuMemHostRegister(host, MIB, CU_MEMHOSTREGISTER_DEVICEMAP));
    CHECK(cuMemHostGetDevicePointer(&own, host, 0));
    for (int i = 0; i < 2; i++) {
        void *params[] = {i ? &own : &far, (void *)&some};
        CHECK(cuLaunchKernel(move, 1, 1, 1, 256, 1, 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
    }
    /* as much of the other GPU's, and of the own half as much */
    CHECK(cuModuleGetFunction(&both, module, "both"));
    for (unsigned i = 1; i <= 2; i++) {
        unsigned threads = 512 / i;
        void *params[] = {&far, &p, &threads};
        CHECK(cuLaunchKernel(both, 1, 1, 1, 512, 1, 1, 0, NULL, params, NULL));
        CHECK(cuCtxSynchronize());
    }
    return 0;
}
