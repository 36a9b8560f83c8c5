/* A program of NVML beside one of the driver API: both must describe the same machine, the links of each GPU must be
 * those that the system has, and NVML must see the memory and the context of this process. Prints ok. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda.h>

/* clang-format off */
typedef struct { char old[16]; unsigned domain, bus, device, id, subsystem; char text[32]; } Pci;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned pid; unsigned long long used; unsigned gi, ci; } Process;
typedef struct { unsigned id, scope; long long at, latency; int type, result;
                 union { unsigned u; unsigned long long l; } v; } Field;
typedef struct { unsigned version; unsigned char cluster[16]; int status; unsigned clique; unsigned char state;
                 unsigned health; } Fabric;
typedef struct { unsigned version; char guid[16], chassis[16]; unsigned char slot, tray, host, peer, module; } Platform;
/* clang-format on */

static void *library;
static int failed;
#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            printf("line %d: %s\n", __LINE__, #what);                                                                  \
            failed = 1;                                                                                                \
        }                                                                                                              \
    } while (0)
/* Calls a function by name: NVML's are all of integers and pointers, and answer an int. */
#define NVML(name, ...) (((int (*)())dlsym(library, #name))(__VA_ARGS__))
#define DRIVER(call)                                                                                                   \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            printf("line %d: %d\n", __LINE__, r_);                                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void device(int i, void *h, unsigned links, unsigned up)
{
    char a[96], b[96];
    CUuuid uuid;
    Pci pci;
    Memory memory;
    int major, minor, x, y;
    size_t total;

    DRIVER(cuDeviceGetName(a, sizeof a, i));
    CHECK(NVML(nvmlDeviceGetName, h, b, 96) == 0 && strcmp(a, b) == 0);
    CHECK(NVML(nvmlDeviceGetName, h, b, 3) == 7); /* insufficient size */
    DRIVER(cuDeviceGetUuid_v2(&uuid, i));
    CHECK(NVML(nvmlDeviceGetUUID, h, b, 96) == 0 && strlen(b) == 40);
    snprintf(a, sizeof a, "GPU-%02x%02x%02x%02x-", uuid.bytes[0] & 255, uuid.bytes[1] & 255, uuid.bytes[2] & 255,
             uuid.bytes[3] & 255);
    CHECK(strncmp(a, b, strlen(a)) == 0);
    void *again = NULL;
    CHECK(NVML(nvmlDeviceGetHandleByUUID, b, &again) == 0 && again == h);
    DRIVER(cuDeviceGetPCIBusId(a, sizeof a, i));
    CHECK(NVML(nvmlDeviceGetHandleByPciBusId_v2, a, &again) == 0 && again == h);
    CHECK(NVML(nvmlDeviceGetPciInfo_v3, h, &pci) == 0 && strcasecmp(pci.old, a) == 0 && strlen(pci.text) == 16);
    DRIVER(cuDeviceGetAttribute(&x, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i));
    DRIVER(cuDeviceGetAttribute(&y, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i));
    CHECK(NVML(nvmlDeviceGetCudaComputeCapability, h, &major, &minor) == 0 && major == x && minor == y);
    DRIVER(cuDeviceTotalMem(&total, i));
    CHECK(NVML(nvmlDeviceGetMemoryInfo, h, &memory) == 0 && memory.total == total);
    unsigned n = 0;
    for (unsigned l = 0; l < links; l++) {
        int active = -1;
        Field field = {.id = 165, .scope = l};
        CHECK(NVML(nvmlDeviceGetNvLinkState, h, l, &active) == 0);
        CHECK(NVML(nvmlDeviceGetFieldValues, h, 1, &field) == 0 && field.result == 0 && (int)field.v.u == active);
        CHECK(NVML(nvmlDeviceGetNvLinkRemotePciInfo_v2, h, l, &pci) == (active ? 0 : 3));
        n += active == 1;
    }
    CHECK(n == up);
    int active;
    CHECK(NVML(nvmlDeviceGetNvLinkState, h, links, &active) == 2);
}

/* Where a GPU stands: GPUs since Blackwell say it, all of one chassis. */
static void platform(void *const *h)
{
    int major, minor;
    Platform one = {.version = (unsigned)sizeof one | 2u << 24}, other = one;
    CHECK(NVML(nvmlDeviceGetCudaComputeCapability, h[0], &major, &minor) == 0);
    CHECK(NVML(nvmlDeviceGetPlatformInfo, h[0], &one) == (major >= 10 ? 0 : 3));
    if (major < 10)
        return;
    CHECK(NVML(nvmlDeviceGetPlatformInfo, h[1], &other) == 0 && one.module == 1 && other.module == 2);
    CHECK(memcmp(one.chassis, other.chassis, sizeof one.chassis) == 0 && strlen(one.chassis) == 13);
    other.version = 7;
    CHECK(NVML(nvmlDeviceGetPlatformInfo, h[1], &other) == 25);
}

/* What a context and an allocation of this process change. */
static void process(void *h)
{
    CUcontext context;
    CUdeviceptr at;
    Memory memory;
    Process one[4];
    unsigned n = 4;

    CHECK(NVML(nvmlDeviceGetComputeRunningProcesses_v3, h, &n, one) == 0 && n == 0);
    DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuMemAlloc(&at, 64 << 20));
    n = 4;
    CHECK(NVML(nvmlDeviceGetComputeRunningProcesses_v3, h, &n, one) == 0 && n == 1);
    CHECK(one[0].pid == (unsigned)getpid() && one[0].used >= 64 << 20);
    n = 0;
    CHECK(NVML(nvmlDeviceGetComputeRunningProcesses_v3, h, &n, NULL) == 7 && n == 1);
    CHECK(NVML(nvmlDeviceGetMemoryInfo, h, &memory) == 0 && memory.used >= 64 << 20);
    DRIVER(cuMemFree(at));
}

/* As many SMs as are simulated, which programs size their grids by. */
static void multiprocessors(void *h, int sms)
{
    int count, major, cores;
    DRIVER(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    CHECK(count == sms);
    CHECK(NVML(nvmlDeviceGetNumGpuCores, h, &cores) == 0 && cores == sms * (major == 8 ? 64 : 128));
}

/* Links of each GPU in all, those of GPU 1 that are down, and SMs of each come as arguments. */
int main(int argc, char **argv)
{
    unsigned links = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 18, count = 0;
    unsigned down = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    int devices, status = -1;
    void *h[2];

    library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library) {
        puts(dlerror());
        return 1;
    }
    CHECK(NVML(nvmlDeviceGetCount_v2, &count) == 1); /* not initialized */
    CHECK(NVML(nvmlInit_v2) == 0 && NVML(nvmlInit_v2) == 0);
    CHECK(NVML(nvmlDeviceGetCount_v2, &count) == 0);
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGetCount(&devices));
    CHECK((int)count == devices);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(NVML(nvmlDeviceGetHandleByIndex_v2, i, &h[i]) == 0);
        device((int)i, h[i], links, i == 1 ? links - down : links);
    }
    multiprocessors(h[0], argc > 3 ? (int)strtol(argv[3], NULL, 10) : 132);
    CHECK(NVML(nvmlDeviceGetHandleByIndex_v2, count, &h[0]) == 2);
    for (int index = 0; index < 4; index++)
        CHECK(NVML(nvmlDeviceGetP2PStatus, h[0], h[1], index, &status) == 0 && status == 0);
    Fabric fabric = {.version = (unsigned)sizeof fabric | 2u << 24};
    CHECK(NVML(nvmlDeviceGetGpuFabricInfoV, h[1], &fabric) == 0 && fabric.state == 3 && fabric.status == 0);
    CHECK(fabric.health == (down ? 1 : 2));
    fabric.version = 7;
    CHECK(NVML(nvmlDeviceGetGpuFabricInfoV, h[1], &fabric) == 25);
    platform(h);
    process(h[0]);
    CHECK(NVML(nvmlDeviceGetTemperature, h[0], 0, &status) == 3); /* nothing is warm here */
    CHECK(NVML(nvmlShutdown) == 0 && NVML(nvmlDeviceGetCount_v2, &count) == 0);
    CHECK(NVML(nvmlShutdown) == 0 && NVML(nvmlDeviceGetCount_v2, &count) == 1 && NVML(nvmlShutdown) == 1);
    puts(failed ? "not ok" : "ok");
    return failed;
}
