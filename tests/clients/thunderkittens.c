/* ThunderKittens: memory handles released as soon as they are mapped; a bind takes the handle back
 * by the address and releases it again, so that the binding and the mapping alone keep the memory;
 * access set for all GPUs by one call. Taken down: unmap, free the address, release of the object
 * without unbinding, which must give back memory and table entries all the same. */
#include "tests/clients/client.h"

#define GPUS 4
#define LIVES 200 /* more than a switch has multicast IDs */

/* The client turns one device down itself; so does the driver. */
static CUresult create(CUmemGenericAllocationHandle *object, size_t *bytes, size_t wanted, int gpus, int as_client)
{
    CUmulticastObjectProp prop = {.numDevices = (unsigned)gpus,
                                  .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    size_t grain;

    if (as_client && gpus <= 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (gpus > 1) {
        CHECK(cuMulticastGetGranularity(&grain, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
        *bytes = round_up(wanted, grain);
    }
    prop.size = *bytes;
    return cuMulticastCreate(object, &prop);
}

static CUdeviceptr map_for_all(CUmemGenericAllocationHandle handle, size_t bytes)
{
    CUmemAccessDesc desc[GPUS];
    CUdeviceptr va;

    for (int i = 0; i < GPUS; i++)
        desc[i] = (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, i}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cuMemAddressReserve(&va, bytes, 0, 0, 0));
    CHECK(cuMemMap(va, bytes, 0, handle, 0));
    CHECK(cuMemSetAccess(va, bytes, desc, GPUS));
    return va;
}

static CUdeviceptr allocate(int device, size_t bytes)
{
    CUmemAllocationProp prop = device_memory(device, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr va;
    size_t grain;

    CHECK(cuMemGetAllocationGranularity(&grain, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    REQUIRE(bytes % grain == 0);
    CHECK(cuMemCreate(&handle, bytes, &prop, 0));
    va = map_for_all(handle, bytes);
    CHECK(cuMemRelease(handle));
    return va;
}

static void bind_address(CUmemGenericAllocationHandle object, CUdeviceptr va, size_t bytes)
{
    CUmemGenericAllocationHandle memory;

    CHECK(cuMemRetainAllocationHandle(&memory, (void *)(uintptr_t)va));
    CHECK(cuMulticastBindMem(object, 0, memory, 0, bytes, 0));
    CHECK(cuMemRelease(memory));
}

static void unmap(CUdeviceptr va, size_t bytes)
{
    CHECK(cuMemUnmap(va, bytes));
    CHECK(cuMemAddressFree(va, bytes));
}

static void whole_life(int map_first, int with_data)
{
    CUmemGenericAllocationHandle object;
    CUdeviceptr uc[GPUS], mc = 0;
    uint32_t data[256];
    size_t bytes = 0;

    CHECK(create(&object, &bytes, 3 * MIB / 2, GPUS, 1));
    for (int i = 0; i < GPUS; i++)
        uc[i] = allocate(i, bytes);
    for (int i = 0; i < GPUS; i++)
        CHECK(cuMulticastAddDevice(object, i));
    if (map_first)
        mc = map_for_all(object, bytes);
    for (int i = 0; i < GPUS; i++)
        bind_address(object, uc[i], bytes);
    if (!map_first)
        mc = map_for_all(object, bytes);
    for (unsigned i = 0; i < 256; i++)
        data[i] = i * 3 + 1;
    if (with_data) {
        CHECK(cuMemcpyHtoD(mc + 4096, data, sizeof data));
        for (int i = 0; i < GPUS; i++)
            REQUIRE(word_at(uc[i] + 4096 + 255 * 4) == data[255]);
    }
    unmap(mc, bytes);
    for (int i = 0; i < GPUS; i++)
        unmap(uc[i], bytes);
    CHECK(cuMemRelease(object));
}

int main(void)
{
    CUmemGenericAllocationHandle object;
    size_t bytes = 2 * MIB, before, after, total;
    int supported;

    CHECK(cuInit(0));
    for (int i = 0; i < GPUS; i++) {
        CHECK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, i));
        REQUIRE(supported);
    }
    use_device(0);
    REQUIRE(create(&object, &bytes, bytes, 1, 1) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(create(&object, &bytes, bytes, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemGetInfo(&before, &total));
    whole_life(0, 1);
    whole_life(1, 1);
    for (int i = 0; i < LIVES; i++)
        whole_life(i % 2, 0);
    CHECK(cuMemGetInfo(&after, &total));
    REQUIRE(before == after);
    return 0;
}
