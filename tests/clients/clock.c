/* A program that times itself by the host's clocks: under `fanout exec --clock simulated` they show simulated time, the
 * same as events measure, and a wait for a time ends although nothing is simulated. Prints ok. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include <cuda.h>

#define DRIVER(call)                                                                                                   \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            printf("line %d: %d\n", __LINE__, r_);                                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static double now_us(clockid_t id)
{
    struct timespec at;
    clock_gettime(id, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}
static double day_us(void)
{
    struct timeval at;
    gettimeofday(&at, NULL);
    return (double)at.tv_sec * 1e6 + (double)at.tv_usec;
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUdeviceptr a, b;
    CUevent start, end;
    float ms;

    (void)argv;
    DRIVER(cuInit(0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuMemAlloc(&a, 64 << 20));
    DRIVER(cuMemAlloc(&b, 64 << 20));
    DRIVER(cuEventCreate(&start, 0));
    DRIVER(cuEventCreate(&end, 0));
    DRIVER(cuCtxSynchronize());
    double from = now_us(CLOCK_MONOTONIC), day = day_us();
    DRIVER(cuEventRecord(start, NULL));
    DRIVER(cuMemcpyDtoDAsync(a, b, 64 << 20, NULL));
    DRIVER(cuEventRecord(end, NULL));
    DRIVER(cuStreamSynchronize(NULL));
    double clock = now_us(CLOCK_MONOTONIC) - from, calendar = day_us() - day;
    DRIVER(cuEventElapsedTime(&ms, start, end));
    printf("clock %.3f us, events %.3f us\n", clock, (double)ms * 1e3);
    int good = clock - ms * 1e3 < 1 && clock - ms * 1e3 > -1 && calendar - clock < 2 && calendar - clock > -2;
    if (argc > 1) { /* the time of nothing is nothing; but a wait ends */
        double before = now_us(CLOCK_MONOTONIC_RAW);
        good = good && now_us(CLOCK_MONOTONIC_RAW) == before;
        while (now_us(CLOCK_MONOTONIC) < from + clock + 20000)
            continue;
    }
    puts(good ? "ok" : "not ok");
    return !good;
}
