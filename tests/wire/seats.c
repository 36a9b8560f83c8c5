/* Two processes that no launcher has numbered take memory of one GPU, for tests/wire/test_seats.sh: one computes for a
 * while first, the first or the second, as the host may have it. Each then copies as many bytes as are its own from GPU
 * 1, over the links that its memory's addresses choose. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fanout/cuda.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            printf("line %d: %d\n", __LINE__, r_);                                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define COMPUTES_S 0.3

static double processor_s(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static int process(int number, int computes)
{
    CUcontext here, there;
    CUdeviceptr own, far, pinned;
    void *host;
    const size_t bytes = number == 0 ? 256 : 1280; /* one and five of the pieces that each have a link */

    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&there, 1));
    CHECK(cuDevicePrimaryCtxRetain(&here, 0));
    CHECK(cuCtxSetCurrent(here));
    CHECK(cuCtxEnablePeerAccess(there, 0));
    for (double begin = processor_s(); computes && processor_s() - begin < COMPUTES_S;)
        ;
    CHECK(cuMemAlloc_v2(&own, bytes));
    CHECK(cuMemHostAlloc(&host, bytes, 0));
    CHECK(cuMemHostGetDevicePointer_v2(&pinned, host, 0));
    CHECK(cuCtxSetCurrent(there));
    CHECK(cuMemAlloc_v2(&far, bytes));
    CHECK(cuCtxSetCurrent(here));
    for (int i = 0; i < 3; i++) {
        CHECK(cuMemcpyPeerAsync(own, here, far, there, bytes, NULL));
        CHECK(cuMemcpyPeerAsync(far, there, own, here, bytes, NULL));
        CHECK(cuMemcpyDtoHAsync_v2(host, own, bytes, NULL));
        CHECK(cuCtxSynchronize());
    }
    return 0;
}

int main(int argc, char **argv)
{
    int late = argc > 1 ? (int)strtol(argv[1], NULL, 10) : -1, bad = 0, status;

    for (int p = 0; p < 2; p++)
        if (fork() == 0)
            _exit(process(p, p == late));
    while (wait(&status) > 0)
        bad |= status;
    return bad != 0;
}
