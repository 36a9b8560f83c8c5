/* mscclpp: both handle types asked for at once; slabs bound by address at several offsets; less
 * than the object mapped; the memory's handle found by its address and given back at once. Taken
 * down: unmap, free, unbind, release. */
#include "tests/clients/client.h"

#define RANKS 2

/* Is it memory that can be bound? Asked by retaining its handle. */
static int is_mapped_memory(CUdeviceptr va)
{
    CUmemGenericAllocationHandle handle;
    if (cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)va) != CUDA_SUCCESS)
        return 0;
    CHECK(cuMemRelease(handle));
    return 1;
}

static CUdeviceptr allocate(int device, size_t bytes)
{
    CUmemAllocationProp prop = device_memory(device,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr va;

    if (cuMemCreate(&handle, bytes, &prop, 0) != CUDA_SUCCESS) { /* no fabric here */
        prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        CHECK(cuMemCreate(&handle, bytes, &prop, 0));
    }
    CHECK(cuMemAddressReserve(&va, bytes, 0, 0, 0));
    CHECK(cuMemMap(va, bytes, 0, handle, 0));
    allow(va, bytes, device);
    CHECK(cuMemRelease(handle));
    return va;
}

static void slabs(const Rank *me, int map_first)
{
    CUmulticastObjectProp prop = {.numDevices = (unsigned)me->ranks,
                                  .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC};
    CUmemGenericAllocationHandle object = 0;
    CUdeviceptr mc, plain, slab[2];
    size_t least, best, bytes, base;

    CHECK(cuMulticastGetGranularity(&least, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    CHECK(cuMulticastGetGranularity(&best, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    prop.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.size = 4 * round_up(MIB, best);
    bytes = prop.size / 4;
    if (me->rank == 0)
        CHECK(cuMulticastCreate(&object, &prop));
    object = share(me, 0, object);
    CHECK(cuMulticastAddDevice(object, me->rank));
    barrier(me);
    CHECK(cuMemAlloc(&plain, bytes));
    REQUIRE(!is_mapped_memory(plain));
    REQUIRE(cuMulticastBindAddr(object, 0, plain, bytes, 0) == CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 2; i++) {
        slab[i] = allocate(me->rank, bytes);
        REQUIRE(is_mapped_memory(slab[i] + 100));
    }
    CHECK(cuMemAddressReserve(&mc, 3 * bytes, least, 0, 0));
    if (map_first)
        CHECK(cuMemMap(mc, 3 * bytes, 0, object, 0)); /* [0, offset + size) of the object */
    for (int i = 0; i < 2; i++)
        CHECK(cuMulticastBindAddr(object, (size_t)(i + 1) * bytes, slab[i], bytes, 0));
    if (!map_first)
        CHECK(cuMemMap(mc, 3 * bytes, 0, object, 0));
    allow(mc, 3 * bytes, me->rank);
    CHECK(cuMemGetAddressRange(&plain, &base, slab[1] + 4096));
    REQUIRE(plain == slab[1] && base == bytes);
    barrier(me);
    if (me->rank == 1)
        CHECK(cuMemsetD32(mc + 2 * bytes, 77, 8));
    barrier(me);
    REQUIRE(word_at(slab[1] + 28) == 77 && word_at(slab[0]) != 77);
    barrier(me);
    CHECK(cuMemUnmap(mc, 3 * bytes));
    CHECK(cuMemAddressFree(mc, 3 * bytes));
    for (int i = 0; i < 2; i++)
        CHECK(cuMulticastUnbind(object, me->rank, (size_t)(i + 1) * bytes, bytes));
    CHECK(cuMemRelease(object));
    barrier(me);
}

static void rank_main(const Rank *me)
{
    use_device(me->rank);
    slabs(me, 0);
    slabs(me, 1);
}

int main(void) { return run_ranks(RANKS, rank_main); }
