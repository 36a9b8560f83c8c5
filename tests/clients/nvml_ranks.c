/* NVML of a process that does not use the driver, beside two that do: both are listed on the GPU that they have a
 * context on, with the memory that each has taken, and on no other; one that is killed is there no more, nor is its
 * memory. Prints ok. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

#define MIB (1ull << 20)
#define GPU 1

typedef struct {
    unsigned pid;
    unsigned long long used;
    unsigned gi, ci;
} Process;
typedef struct {
    unsigned long long total, free, used;
} Memory;

static int failed;
#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            printf("line %d: %s\n", __LINE__, #what);                                                                  \
            failed = 1;                                                                                                \
        }                                                                                                              \
    } while (0)
#define NVML(name, ...) (((int (*)())dlsym(library, #name))(__VA_ARGS__))

/* Holds that much until it is told to end. */
static void hold(int ready, int stop, unsigned long long bytes)
{
    CUcontext context;
    CUdeviceptr at;
    char byte = 0;

    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, GPU) || cuCtxSetCurrent(context) || cuMemAlloc_v2(&at, bytes))
        _exit(1);
    if (write(ready, &byte, 1) != 1 || read(stop, &byte, 1) < 0)
        _exit(1);
    exit(0);
}

int main(void)
{
    int ready[2], stop[2];
    pid_t child[2];
    char byte;
    Process list[4];
    Memory memory;
    void *device, *other;
    unsigned n = 4;

    if (pipe(ready) || pipe(stop))
        return 1;
    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            close(stop[1]);
            hold(ready[1], stop[0], (64 << i) * MIB);
        }
        CHECK(read(ready[0], &byte, 1) == 1);
    }
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library || NVML(nvmlInit_v2) || NVML(nvmlDeviceGetHandleByIndex_v2, GPU, &device) ||
        NVML(nvmlDeviceGetHandleByIndex_v2, GPU + 1, &other))
        return 1;
    CHECK(NVML(nvmlDeviceGetComputeRunningProcesses_v3, device, &n, list) == 0 && n == 2);
    int first = list[0].pid == (unsigned)child[0] ? 0 : 1;
    CHECK(list[first].pid == (unsigned)child[0] && list[first].used == 64 * MIB);
    CHECK(list[!first].pid == (unsigned)child[1] && list[!first].used == 128 * MIB);
    CHECK(NVML(nvmlDeviceGetMemoryInfo, device, &memory) == 0 && memory.used == 192 * MIB);
    CHECK(memory.free == memory.total - memory.used);
    n = 1;
    CHECK(NVML(nvmlDeviceGetComputeRunningProcesses_v3, device, &n, list) == 7 && n == 2);
    n = 4;
    CHECK(NVML(nvmlDeviceGetComputeRunningProcesses_v3, other, &n, list) == 0 && n == 0);
    CHECK(NVML(nvmlDeviceGetMemoryInfo, other, &memory) == 0 && memory.used == 0);

    kill(child[0], SIGKILL);
    waitpid(child[0], NULL, 0);
    for (int tries = 0; tries < 5000; tries++) { /* its owner hears of it a moment later */
        n = 4;
        if (NVML(nvmlDeviceGetComputeRunningProcesses_v3, device, &n, list) == 0 && n == 1)
            break;
    }
    CHECK(n == 1 && list[0].pid == (unsigned)child[1]);
    CHECK(NVML(nvmlDeviceGetMemoryInfo, device, &memory) == 0 && memory.used == 128 * MIB);
    close(stop[1]);
    close(stop[0]);
    CHECK(waitpid(child[1], NULL, 0) == child[1]);
    NVML(nvmlShutdown);
    if (!failed)
        puts("ok");
    return failed;
}
