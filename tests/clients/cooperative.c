/* A cooperative kernel that meets as the device runtime library has it: cuLink adds a library of that name, whose
 * machine code is not looked at, and the kernel calls cudaCGSynchronize(). Only a cooperative launch has a grid's
 * handle. Prints ok. */
#include "tests/clients/client.h"

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b64 out) cudaCGGetIntrinsicHandle(.param .b32 scope);\n"
    ".extern .func (.param .b32 out) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);\n"
    ".visible .entry meet(.param .u64 p)\n{\n.reg .b64 %d<8>; .reg .b32 %r<16>; .reg .pred %p<4>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r10, 0; mul.wide.u32 %d2, %r2, 4;\n"
    "add.s64 %d3, %d1, %d2; { .param .b64 h; .param .b32 s; st.param.b32 [s], 1;\n"
    "call.uni (h), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %d4, [h]; }\n"
    "$ROUND: or.b32 %r3, %r1, %r2; setp.ne.u32 %p1, %r1, 0; @%p1 bra $SYNC; add.u32 %r4, %r10, %r2;\n"
    "st.global.u32 [%d3], %r4;\n"
    "$SYNC: { .param .b64 h; .param .b32 f; .param .b32 o; st.param.b64 [h], %d4; st.param.b32 [f], 0;\n"
    "call.uni (o), cudaCGSynchronize, (h, f); }\n"
    "setp.ne.u32 %p2, %r3, 0; @%p2 bra $NEXT; mov.u32 %r5, 0;\n" /* thread 0 of CTA 0 adds what all have written */
    "$SUM: mul.wide.u32 %d5, %r5, 4; add.s64 %d6, %d1, %d5; ld.volatile.global.u32 %r6, [%d6];\n"
    "red.global.add.u32 [%d1+1024], %r6; add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 40; @%p3 bra $SUM;\n"
    "$NEXT: { .param .b64 h; .param .b32 f; .param .b32 o; st.param.b64 [h], %d4; st.param.b32 [f], 0;\n"
    "call.uni (o), cudaCGSynchronize, (h, f); }\n"
    "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 3; @%p1 bra $ROUND; ret;\n}\n";

int main(void)
{
    static char archive[] = "!<arch>\n";
    CUcontext context;
    CUlinkState link;
    CUmodule module;
    CUfunction function;
    CUdeviceptr p;
    void *image;
    size_t bytes;
    unsigned sum = 0;

    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuLinkCreate(0, NULL, NULL, &link));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, sizeof text, "meet.ptx", 0, NULL, NULL));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, archive, sizeof archive - 1, "libcudadevrt.a", 0, NULL, NULL));
    CHECK(cuLinkComplete(link, &image, &bytes));
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuLinkDestroy(link));
    CHECK(cuModuleGetFunction(&function, module, "meet"));
    CHECK(cuMemAlloc(&p, 4096));
    CHECK(cuMemsetD8(p, 0, 4096));
    void *params[] = {&p};
    CHECK(cuLaunchCooperativeKernel(function, 40, 1, 1, 64, 1, 1, 0, NULL, params));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(&sum, p + 1024, sizeof sum));
    REQUIRE(sum == 3 * 780 + 40 * (0 + 1 + 2));
    CHECK(cuLaunchKernel(function, 40, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    REQUIRE(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
    puts("ok");
    return 0;
}
