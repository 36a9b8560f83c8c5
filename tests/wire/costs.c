/* Prints what calls cost on the host: costs [PROCESSES [THREADS]], each process with so many threads that sleep. The
 * first of them measures, by the host's clock read past the library that shows simulated time, the others sleep for a
 * second of simulated time. A synchronisation of a stream waits, and so holds a proof that all are quiet. */
#include <fanout/cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RUNS 2000

static const char *text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n";
static CUfunction nothing;
static CUevent event;
static CUstream stream;
static CUdeviceptr memory;

static double host_us(void)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static int record(void) { return cuEventRecord(event, stream); }
static int set(void) { return cuMemsetD8Async(memory, 0, 64, stream); }
static int launch(void) { return cuLaunchKernel(nothing, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL); }
static int synchronize(void) { return cuEventRecord(event, stream) || cuStreamSynchronize(stream); }

static const struct {
    const char *name;
    int (*call)(void);
} CALLS[] = {{"cuEventRecord", record},
             {"cuMemsetD8Async", set},
             {"cuLaunchKernel", launch},
             {"cuEventRecord, cuStreamSynchronize", synchronize}};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void *sleep_for_ever(void *unused)
{
    pause();
    return unused;
}

static void measure(void)
{
    static double us[RUNS];

    for (size_t k = 0; k < sizeof CALLS / sizeof CALLS[0]; k++) {
        for (int i = 0; i < RUNS; i++) {
            const double begin = host_us();
            if (CALLS[k].call() != CUDA_SUCCESS)
                exit(1);
            us[i] = host_us() - begin;
            if (i % 100 == 99)
                cuStreamSynchronize(stream);
        }
        qsort(us, RUNS, sizeof us[0], compare);
        printf("%-36s %8.1f us in the median, %.1f in nine of ten\n", CALLS[k].name, us[RUNS / 2], us[RUNS * 9 / 10]);
    }
}

int main(int argc, char **argv)
{
    const int processes = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    const int threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    int rank = 0;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    pthread_t thread;

    for (int i = 1; i < processes && rank == 0; i++)
        if (fork() == 0)
            rank = i;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread, NULL, sleep_for_ever, NULL) != 0)
            return 1;
    if (cuInit(0) || cuDeviceGet(&device, rank) || cuCtxCreate(&context, NULL, 0, device) ||
        cuModuleLoadData(&module, text) || cuModuleGetFunction(&nothing, module, "nothing") ||
        cuStreamCreate(&stream, 0) || cuEventCreate(&event, 0) || cuMemAlloc(&memory, 64))
        return 1;
    if (rank == 0)
        measure();
    else
        sleep(1);
    fflush(stdout);
    _exit(0); /* with the threads that sleep */
}
