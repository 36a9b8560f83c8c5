/* One rank of eight on two trays of four GPUs (RANK is set): what it sees of its host; a team of all by a fabric
 * handle, whose sum a kernel reads through the switch; and memory of rank 0 by a descriptor, which is for its own tray
 * alone. Ranks meet by files in the folder that the argument names. Prints "rank N: ok". */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cuda.h>

#define RANKS 8
#define TRAY 4
#define BYTES (2u << 20)

static int rank;
static const char *folder;
#define EXPECT(code, call) expect(code, call, #call, __LINE__)
#define OK(call) EXPECT(CUDA_SUCCESS, call)
#define NEED(good)                                                                                                     \
    do {                                                                                                               \
        if (!(good)) {                                                                                                 \
            printf("rank %d, line %d: %s\n", rank, __LINE__, #good);                                                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void expect(CUresult wanted, CUresult result, const char *call, int line)
{
    if (result == wanted)
        return;
    printf("rank %d, line %d: %s: %d, not %d\n", rank, line, call, result, wanted);
    exit(1);
}

static int number(const char *name)
{
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 10) : -1;
}

static const char *path(const char *what, int of)
{
    static char text[512];
    snprintf(text, sizeof text, "%s/%s.%d", folder, what, of);
    return text;
}

static void put(const char *what, const void *bytes, size_t n)
{
    char made[512];
    snprintf(made, sizeof made, "%s/new.%d", folder, rank);
    FILE *file = fopen(made, "w");
    NEED(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0 && rename(made, path(what, rank)) == 0);
}

static void get(const char *what, int of, void *bytes, size_t n)
{
    struct stat is;
    while (stat(path(what, of), &is) != 0)
        usleep(200);
    FILE *file = fopen(path(what, of), "r");
    NEED(file && fread(bytes, 1, n, file) == n);
    fclose(file);
}

static void meet(const char *what)
{
    char byte = 1;
    put(what, &byte, 1);
    for (int i = 0; i < RANKS; i++)
        get(what, i, &byte, 1);
}

static void see_host(void)
{
    char name[65], wanted[65];
    struct utsname of;
    int count;

    snprintf(wanted, sizeof wanted, "fanout-tray%d", rank / TRAY);
    NEED(gethostname(name, sizeof name) == 0 && strcmp(name, wanted) == 0);
    NEED(uname(&of) == 0 && strcmp(of.nodename, wanted) == 0);
    NEED(getenv("NCCL_HOSTID") && strcmp(getenv("NCCL_HOSTID"), wanted) == 0);
    NEED(number("LOCAL_RANK") == rank % TRAY && number("LOCAL_WORLD_SIZE") == TRAY);
    NEED(gethostname(name, 3) == -1);
    OK(cuDeviceGetCount(&count));
    NEED(count == TRAY);
}

/* No two ranks have the same GPU, though their numbers and PCI addresses are. */
static void see_device(int device)
{
    CUuuid mine, other;
    char address[32], others[32];

    OK(cuDeviceGetUuid_v2(&mine, device));
    OK(cuDeviceGetPCIBusId(address, sizeof address, device));
    put("uuid", &mine, sizeof mine);
    put("pci", address, sizeof address);
    for (int i = 0; i < RANKS; i++) {
        get("uuid", i, &other, sizeof other);
        get("pci", i, others, sizeof others);
        NEED((memcmp(&mine, &other, sizeof mine) == 0) == (i == rank));
        NEED((strcmp(address, others) == 0) == (i % TRAY == rank % TRAY));
    }
}

static CUmemGenericAllocationHandle memory(int device, int types)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = types,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemGenericAllocationHandle handle;
    OK(cuMemCreate(&handle, BYTES, &prop, 0));
    return handle;
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, int device)
{
    CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, device},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at;
    OK(cuMemAddressReserve(&at, BYTES, BYTES, 0, 0));
    OK(cuMemMap(at, BYTES, 0, handle, 0));
    OK(cuMemSetAccess(at, BYTES, &access, 1));
    return at;
}

static void by_descriptor(int device)
{
    struct {
        int pid, fd;
    } name;
    char file[64];
    CUmemGenericAllocationHandle handle;

    if (rank == 0) {
        OK(cuMemExportToShareableHandle(&name.fd, memory(device, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        name.pid = getpid();
        put("descriptor", &name, sizeof name);
        return;
    }
    get("descriptor", 0, &name, sizeof name);
    snprintf(file, sizeof file, "/proc/%d/fd/%d", name.pid, name.fd);
    int fd = open(file, O_RDWR);
    NEED(fd >= 0);
    EXPECT(rank < TRAY ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE,
           cuMemImportFromShareableHandle(&handle, (void *)(size_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

static const char code[] = ".version 8.1\n.target sm_90\n.address_size 64\n"
                           ".visible .entry sum(.param .u64 from, .param .u64 to)\n{\n"
                           " .reg .u64 %a<3>; .reg .u32 %v;\n"
                           " ld.param.u64 %a1, [from]; ld.param.u64 %a2, [to];\n"
                           " multimem.ld_reduce.relaxed.sys.global.add.u32 %v, [%a1];\n"
                           " st.global.u32 [%a2], %v;\n ret;\n}\n";

static void by_fabric(int device)
{
    CUmulticastObjectProp prop = {.numDevices = RANKS, .size = BYTES, .handleTypes = CU_MEM_HANDLE_TYPE_FABRIC};
    CUmemGenericAllocationHandle object, own = memory(device, CU_MEM_HANDLE_TYPE_FABRIC);
    CUmemFabricHandle name;
    CUdeviceptr at, everywhere, answer;
    CUmodule module;
    CUfunction function;
    unsigned value = (unsigned)rank + 1;

    if (rank == 0) {
        OK(cuMulticastCreate(&object, &prop));
        OK(cuMemExportToShareableHandle(&name, object, CU_MEM_HANDLE_TYPE_FABRIC, 0));
        put("team", &name, sizeof name);
    } else {
        get("team", 0, &name, sizeof name);
        OK(cuMemImportFromShareableHandle(&object, &name, CU_MEM_HANDLE_TYPE_FABRIC));
    }
    OK(cuMulticastAddDevice(object, device));
    OK(cuMulticastBindMem(object, 0, own, 0, BYTES, 0));
    at = map(own, device);
    everywhere = map(object, device);
    OK(cuMemcpyHtoD_v2(at, &value, sizeof value));
    meet("written");
    OK(cuMemAlloc_v2(&answer, 4));
    OK(cuModuleLoadData(&module, code));
    OK(cuModuleGetFunction(&function, module, "sum"));
    void *params[] = {&everywhere, &answer};
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH_v2(&value, answer, sizeof value));
    NEED(value == RANKS * (RANKS + 1) / 2);
}

int main(int argc, char **argv)
{
    CUcontext context;

    rank = number("RANK");
    folder = argv[1];
    setvbuf(stdout, NULL, _IOLBF, 0);
    OK(cuInit(0));
    see_host();
    int device = rank % TRAY;
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    see_device(device);
    by_descriptor(device);
    meet("described"); /* rank 0 lives until all have tried */
    by_fabric(device);
    meet("done");
    printf("rank %d: ok\n", rank);
    return argc != 2;
}
