/* NCCL: one process a rank; the classic NVLS buffers bind first, then map; the symmetric ones map
 * first. Taken down: unbind, unmap, free the address, release. */
#include "tests/clients/client.h"

#define RANKS 4

static size_t granularity(const Rank *me, size_t raw_bytes)
{
    CUmulticastObjectProp prop = {0};
    size_t got;
    int multicast;

    CHECK(cuDeviceGetAttribute(&multicast, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, me->rank));
    REQUIRE(multicast == 1);
    prop.numDevices = (unsigned)me->ranks;
    prop.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.size = raw_bytes; /* not rounded yet */
    CHECK(cuMulticastGetGranularity(&got, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    return got;
}

static void buffers(const Rank *me, int map_first)
{
    size_t grain = granularity(me, 24576), bytes = round_up(3 * MIB + 24576, grain);
    CUmulticastObjectProp prop = {0};
    CUmemGenericAllocationHandle object = 0, memory;
    CUdeviceptr uc, mc;

    prop.numDevices = (unsigned)me->ranks;
    prop.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.size = bytes;
    if (me->rank == 0)
        CHECK(cuMulticastCreate(&object, &prop));
    object = share(me, 0, object);
    CHECK(cuMulticastAddDevice(object, me->rank));

    CUmemAllocationProp memory_prop = device_memory(me->rank, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CHECK(cuMemCreate(&memory, bytes, &memory_prop, 0));
    CHECK(cuMemAddressReserve(&uc, bytes, grain, 0, 0));
    CHECK(cuMemMap(uc, bytes, 0, memory, 0));
    allow(uc, bytes, me->rank);
    CHECK(cuMemsetD8(uc, 0, bytes));
    CHECK(cuMemAddressReserve(&mc, bytes, grain, 0, 0));
    barrier(me); /* a rank that fails before this point would leave the others in the bind */
    if (map_first) {
        CHECK(cuMemMap(mc, bytes, 0, object, 0));
        allow(mc, bytes, me->rank);
        CHECK(cuMulticastBindAddr(object, 0, uc, bytes, 0));
    } else {
        CHECK(cuMulticastBindMem(object, 0, memory, 0, bytes, 0));
        CHECK(cuMemMap(mc, bytes, 0, object, 0));
        allow(mc, bytes, me->rank);
    }
    barrier(me);
    for (int r = 0; r < me->ranks; r++) { /* each rank stores one word to everybody */
        if (r == me->rank)
            CHECK(cuMemsetD32(mc + (size_t)r * 4, 0x100u + (unsigned)r, 1));
        barrier(me);
    }
    for (int r = 0; r < me->ranks; r++)
        REQUIRE(word_at(uc + (size_t)r * 4) == 0x100u + (unsigned)r);
    barrier(me);
    CHECK(cuMulticastUnbind(object, me->rank, 0, bytes));
    CHECK(cuMemUnmap(mc, bytes));
    CHECK(cuMemAddressFree(mc, bytes));
    CHECK(cuMemUnmap(uc, bytes));
    CHECK(cuMemAddressFree(uc, bytes));
    CHECK(cuMemRelease(memory));
    CHECK(cuMemRelease(object));
    barrier(me);
}

static void rank_main(const Rank *me)
{
    use_device(me->rank);
    buffers(me, 0);
    buffers(me, 1);
}

int main(void) { return run_ranks(RANKS, rank_main); }
