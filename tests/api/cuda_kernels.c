/* Kernels for a look at what the report says of their launches. `cuda_kernels`: three launches on two GPUs;
 * `cuda_kernels forever`: one that never ends, and "runs" is said before it is waited for; `cuda_kernels forever deaf`:
 * the same, and SIGINT is ignored; `cuda_kernels idle`: two launches, "runs", and nothing more, for ever;
 * `cuda_kernels spin`: two launches, and a look at memory, without a call, until a copy has come there;
 * `cuda_kernels together`: three times two launches that run at once on two GPUs and write to each other's memory, the
 * last time to fewer numbers. */
#include <fanout/cuda.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult result = (call);                                                                                      \
        if (result != CUDA_SUCCESS) {                                                                                  \
            fprintf(stderr, "%s: %d\n", #call, (int)result);                                                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const char text[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                           ".visible .entry _Z5scalePfi(.param .u64 p, .param .u32 n)\n"
                           "{\n"
                           ".reg .b64 %d<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .pred %p;\n"
                           "ld.param.u64 %d1, [p];\n"
                           "ld.param.u32 %r5, [n];\n"
                           "mov.u32 %r1, %ctaid.x;\n"
                           "mov.u32 %r2, %ntid.x;\n"
                           "mov.u32 %r3, %tid.x;\n"
                           "mad.lo.u32 %r4, %r1, %r2, %r3;\n"
                           "setp.ge.u32 %p, %r4, %r5;\n"
                           "@%p bra $E;\n"
                           "mul.wide.u32 %d2, %r4, 4;\n"
                           "add.s64 %d3, %d1, %d2;\n"
                           "ld.global.f32 %f1, [%d3];\n"
                           "fma.rn.f32 %f2, %f1, 0f3F000000, 0f3F800000;\n"
                           "st.global.f32 [%d3], %f2;\n"
                           "$E: ret;\n"
                           "}\n"
                           ".visible .entry forever()\n"
                           "{\n"
                           ".reg .b32 %r<2>;\n"
                           "$L: add.u32 %r1, %r1, 1;\n"
                           "bra $L;\n"
                           "}\n";

#define N 1000

static CUfunction load(int device, CUcontext *context, const char *kernel)
{
    CUmodule module;
    CUfunction function;

    CHECK(cuDevicePrimaryCtxRetain(context, device));
    CHECK(cuCtxSetCurrent(*context));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&function, module, kernel));
    return function;
}

static void scale(int device, int launches)
{
    CUcontext context;
    CUfunction function = load(device, &context, "_Z5scalePfi");
    CUstream stream;
    CUdeviceptr p;
    float host[N];
    unsigned n = N;
    void *params[] = {&p, &n};

    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&p, sizeof host));
    for (int i = 0; i < N; i++)
        host[i] = (float)(2 * i);
    CHECK(cuMemcpyHtoD(p, host, sizeof host));
    for (int i = 0; i < launches; i++)
        CHECK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, params, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(host, p, sizeof host));
    if (host[10] != (launches == 1 ? 11.0f : 6.5f)) {
        fprintf(stderr, "%g\n", (double)host[10]);
        exit(1);
    }
}

static void together(void)
{
    CUcontext context[2];
    CUfunction function[2];
    CUstream stream[2];
    CUdeviceptr p[2];

    for (int i = 0; i < 2; i++) {
        function[i] = load(i, &context[i], "_Z5scalePfi");
        CHECK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
        CHECK(cuMemAlloc(&p[i], N * sizeof(float)));
    }
    for (int i = 0; i < 2; i++) {
        CHECK(cuCtxSetCurrent(context[i]));
        CHECK(cuCtxEnablePeerAccess(context[!i], 0));
    }
    for (int times = 0; times < 3; times++) {
        unsigned n = times < 2 ? N : N / 2;
        for (int i = 0; i < 2; i++) {
            void *params[] = {&p[!i], &n};
            CHECK(cuCtxSetCurrent(context[i]));
            CHECK(cuLaunchKernel(function[i], 4, 1, 1, 256, 1, 1, 0, stream[i], params, NULL));
        }
        for (int i = 0; i < 2; i++)
            CHECK(cuStreamSynchronize(stream[i]));
    }
}

int main(int argc, char **argv)
{
    CHECK(cuInit(0));
    if (argc > 1 && strcmp(argv[1], "together") == 0) {
        together();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "forever") == 0) {
        if (argc > 2)
            signal(SIGINT, SIG_IGN);
        CUcontext context;
        CUfunction function = load(0, &context, "forever");
        CHECK(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
        puts("runs");
        fflush(stdout);
        CUresult result = cuCtxSynchronize();
        printf("ended by %d\n", (int)result);
        return 3;
    }
    scale(0, 2);
    if (argc > 1 && strcmp(argv[1], "spin") == 0) {
        CUdeviceptr p;
        unsigned *seen;
        CHECK(cuMemAlloc(&p, 4));
        CHECK(cuMemsetD32(p, 77, 1));
        CHECK(cuMemHostAlloc((void **)&seen, 4, 0));
        *seen = 0;
        CHECK(cuMemcpyDtoHAsync(seen, p, 4, NULL));
        while (*(volatile unsigned *)seen != 77)
            usleep(1000);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "idle") == 0) {
        puts("runs");
        fflush(stdout);
        pause();
    }
    scale(1, 1);
    return 0;
}
