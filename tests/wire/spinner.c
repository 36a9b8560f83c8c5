/* A kernel and a thread hand a number to and fro through pinned memory, ROUNDS times; the thread polls and calls
 * nothing. A second thread sleeps for a second meanwhile, so that there is something that time could run on to. Prints
 * how long the kernel took in simulated ns. */
#include <fanout/cuda.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <fanout/fanout.h>

#define ROUNDS 20

static const char *text = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry hand(.param .u64 to, .param .u32 rounds) {\n"
                          "  .reg .pred %p; .reg .b32 %i, %n, %r; .reg .b64 %a;\n"
                          "  ld.param.u64 %a, [to];\n"
                          "  ld.param.u32 %n, [rounds];\n"
                          "  mov.u32 %i, 0;\n"
                          "round:\n"
                          "  add.u32 %i, %i, 1;\n"
                          "  st.relaxed.sys.global.u32 [%a], %i;\n"
                          "poll:\n"
                          "  ld.relaxed.sys.global.u32 %r, [%a+128];\n"
                          "  setp.ne.u32 %p, %r, %i;\n"
                          "  @%p bra poll;\n"
                          "  setp.lt.u32 %p, %i, %n;\n"
                          "  @%p bra round;\n"
                          "  ret;\n"
                          "}\n";
static uint32_t *shared; /* [0]: the kernel's, [32]: the thread's */

static void *answer(void *unused)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        while (__atomic_load_n(&shared[0], __ATOMIC_ACQUIRE) != i)
            continue;
        __atomic_store_n(&shared[32], i, __ATOMIC_RELEASE);
    }
    return unused;
}

static void *sleep_a_second(void *unused)
{
    sleep(1);
    return unused;
}

#define DRIVER(call)                                                                                                   \
    if ((call) != CUDA_SUCCESS) {                                                                                      \
        printf("line %d\n", __LINE__);                                                                                 \
        exit(1);                                                                                                       \
    }

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction hand;
    CUdeviceptr to;
    pthread_t answers, sleeps;
    uint32_t rounds = ROUNDS;
    void *parameters[] = {&to, &rounds};
    uint64_t begin_ps, end_ps;

    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuCtxCreate(&context, NULL, 0, device));
    DRIVER(cuModuleLoadData(&module, text));
    DRIVER(cuModuleGetFunction(&hand, module, "hand"));
    DRIVER(cuMemHostAlloc((void **)&shared, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    DRIVER(cuMemHostGetDevicePointer(&to, shared, 0));
    if (pthread_create(&sleeps, NULL, sleep_a_second, NULL) || pthread_create(&answers, NULL, answer, NULL))
        return 1;
    DRIVER(fo_now_ps(&begin_ps));
    DRIVER(cuLaunchKernel(hand, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    DRIVER(cuCtxSynchronize());
    DRIVER(fo_now_ps(&end_ps));
    printf("%.0f\n", (double)(end_ps - begin_ps) / 1000);
    fflush(stdout);
    _exit(0);
}
