/* UCC tl/cuda: memory bound by its address; rank 0 alone unbinds for all that it can; the object's
 * handle is released while it is still mapped. */
#include "tests/clients/client.h"

#define RANKS 4

static void team(const Rank *me, int map_first)
{
    const int type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmulticastObjectProp prop = {.numDevices = (unsigned)me->ranks, .handleTypes = (unsigned)type};
    CUmemAllocationProp memory_prop = device_memory(me->rank, type);
    CUmemGenericAllocationHandle object = 0, memory;
    CUdeviceptr uc, mc;
    size_t least, grain, bytes;

    prop.size = MIB;
    CHECK(cuMulticastGetGranularity(&least, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    CHECK(cuMulticastGetGranularity(&grain, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    bytes = prop.size = round_up(2 * MIB, grain);
    if (me->rank == 0)
        CHECK(cuMulticastCreate(&object, &prop));
    object = share(me, 0, object);
    CHECK(cuMulticastAddDevice(object, me->rank));
    CHECK(cuMemCreate(&memory, bytes, &memory_prop, 0));
    CHECK(cuMemAddressReserve(&uc, bytes, least, 0, 0));
    CHECK(cuMemMap(uc, bytes, 0, memory, 0));
    allow(uc, bytes, me->rank);
    CHECK(cuMemAddressReserve(&mc, bytes, least, 0, 0));
    if (!map_first)
        CHECK(cuMulticastBindAddr(object, 0, uc, bytes, 0));
    CHECK(cuMemMap(mc, bytes, 0, object, 0));
    allow(mc, bytes, me->rank);
    if (map_first)
        CHECK(cuMulticastBindAddr(object, 0, uc, bytes, 0));
    barrier(me);
    if (me->rank == 0)
        CHECK(cuMemsetD32(mc, 0xcafe, 4));
    barrier(me);
    REQUIRE(word_at(uc + 12) == 0xcafe);
    barrier(me);
    if (me->rank == 0)
        CHECK(cuMulticastUnbind(object, 0, 0, bytes));
    CHECK(cuMemRelease(object));
    CHECK(cuMemUnmap(mc, bytes));
    CHECK(cuMemAddressFree(mc, bytes));
    CHECK(cuMemUnmap(uc, bytes));
    CHECK(cuMemAddressFree(uc, bytes));
    CHECK(cuMemRelease(memory));
    barrier(me);
}

static void rank_main(const Rank *me)
{
    use_device(me->rank);
    team(me, 0);
    team(me, 1);
}

int main(void) { return run_ranks(RANKS, rank_main); }
