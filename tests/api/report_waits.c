/* For tests/api/test_report_waits.sh: kernels whose warps wait for one thing for most of their time. */
#include "tests/clients/client.h"

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".func (.param .b32 r) work(.param .b32 x)\n{\n.reg .b32 %r<2>;\n"
    "ld.param.u32 %r1, [x]; add.u32 %r1, %r1, 1; st.param.b32 [r], %r1; ret;\n}\n"
    ".global .u64 table[1] = {work};\n"
    /* a hundred fences of the system behind no store at all */
    ".visible .entry fences()\n{\n.reg .b32 %r<2>; .reg .pred %p;\nmov.u32 %r1, 100;\n"
    "next: fence.acq_rel.sys; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra next; ret;\n}\n"
    /* a call by an address from memory */
    ".visible .entry calls()\n{\n.reg .b32 %r<3>; .reg .b64 %d<3>;\nmov.u64 %d1, table; ld.global.u64 %d2, [%d1];\n"
    "{\n.param .b32 x; .param .b32 r;\nst.param.b32 [x], 1;\n"
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (r), %d2, (x), proto;\nld.param.b32 %r1, "
    "[r];\n}\nret;\n}\n"
    /* 2,000 counts of bits, each of the result of the one before */
    ".visible .entry counts()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %tid.x;\n";

int main(void)
{
    static const char count[] = "popc.b32 %r1, %r1;\n", tail[] = "ret;\n}\n";
    enum { COUNTS = 2000, COUNT = sizeof count - 1 };
    static char text[sizeof head + COUNTS * COUNT + sizeof tail];
    CUcontext context;
    CUmodule module;
    CUfunction fences, calls, counts;
    memcpy(text, head, sizeof head - 1);
    for (int i = 0; i < COUNTS; i++)
        memcpy(text + sizeof head - 1 + i * COUNT, count, COUNT);
    memcpy(text + sizeof head - 1 + COUNTS * COUNT, tail, sizeof tail);
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&fences, module, "fences"));
    CHECK(cuModuleGetFunction(&calls, module, "calls"));
    CHECK(cuModuleGetFunction(&counts, module, "counts"));
    CHECK(cuLaunchKernel(fences, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuLaunchKernel(calls, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuCtxSynchronize());
    const unsigned warps[] = {1, 1, 32};
    for (int i = 0; i < 3; i++) {
        CHECK(cuLaunchKernel(counts, 1, 1, 1, warps[i] * 32, 1, 1, 0, NULL, NULL, NULL));
        CHECK(cuCtxSynchronize());
    }
    return 0;
}
