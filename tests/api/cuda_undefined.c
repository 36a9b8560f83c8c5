/* A program that does what CUDA leaves undefined, one after the other; tests/api/test_cuda_report.sh
 * looks for each in the report. */
#include <fanout/fanout.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define GRAIN ((size_t)2 << 20)
#define FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
typedef CUmemGenericAllocationHandle Handle;

#define EXPECT(code, call) expect(call, code, #call, __LINE__)
#define OK(call) EXPECT(CUDA_SUCCESS, call)
static void expect(CUresult got, CUresult wanted, const char *call, int line)
{
    if (got == wanted)
        return;
    fprintf(stderr, "line %d: %s: %d, not %d\n", line, call, (int)got, (int)wanted);
    exit(1);
}

static void store(FoCta *cta, const void *data)
{
    FoLoop loop = {.bytes = 65536,
                   .width = 16,
                   .unroll = 1,
                   .destinations = 1,
                   .destination = {{FO_MULTIMEM_ST, *(const FoAddress *)data}}};
    fo_loop(cta, &loop);
}

static Handle team(size_t bytes)
{
    CUmulticastObjectProp prop = {.numDevices = 2, .size = bytes, .handleTypes = FD};
    Handle object;
    OK(cuMulticastCreate(&object, &prop));
    for (int i = 0; i < 2; i++)
        OK(cuMulticastAddDevice(object, i));
    return object;
}

static Handle memory(int device)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = FD,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    Handle handle;
    OK(cuMemCreate(&handle, GRAIN, &prop, 0));
    return handle;
}

static CUdeviceptr map(Handle handle, size_t bytes, int device)
{
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr va;
    OK(cuMemAddressReserve(&va, bytes, 0, 0, 0));
    OK(cuMemMap(va, bytes, 0, handle, 0));
    OK(cuMemSetAccess(va, bytes, &access, 1));
    return va;
}

static void use_device(int device)
{
    CUcontext context;
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
}

int main(void)
{
    Handle late, dead, mem[2];
    char byte;
    int fd;

    OK(cuInit(0));
    use_device(1);
    use_device(0);
    Handle object = team(2 * GRAIN);
    for (int i = 0; i < 2; i++) {
        mem[i] = memory(i);
        OK(cuMulticastBindMem(object, 0, mem[i], 0, GRAIN, 0));
    }
    CUdeviceptr va = map(mem[1], GRAIN, 1), mc = map(object, 2 * GRAIN, 0);
    CUmemAccessDesc second = {{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemSetAccess(mc, 2 * GRAIN, &second, 1));
    /* read through a multicast address */
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&byte, mc, 1));
    /* unbinding what was not bound so */
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(object, 1, 0, 2 * GRAIN));
    /* use after release */
    dead = memory(0);
    OK(cuMemRelease(dead));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemMap(va, GRAIN, 0, dead, 0));
    /* an import after the creator's release */
    late = team(GRAIN);
    OK(cuMemExportToShareableHandle(&fd, late, FD, 0));
    OK(cuMemRelease(late));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemImportFromShareableHandle(&late, (void *)(uintptr_t)fd, FD));
    /* memory that is freed while it is bound */
    OK(cuMemRelease(mem[1]));
    OK(cuMemUnmap(va, GRAIN));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(object, 1, 0, GRAIN));
    /* the slot is unbound now: a copy by device 0, a kernel on device 1 */
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemsetD32(mc, 1, GRAIN / 4));
    use_device(1);
    FoAddress at = mc + GRAIN;
    FoKernel kernel = {"stray", store, &at, sizeof at, 1, 32};
    OK(fo_launch(&kernel, NULL));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    printf("object 0x%llx, multicast address 0x%llx\n", (unsigned long long)object, (unsigned long long)mc);
    return 0;
}
