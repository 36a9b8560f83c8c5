/* FlashInfer (and TensorRT-LLM): all peers' memory side by side in one reservation, access set once
 * over it; the object mapped right after its device was added, bound afterwards. Taken down:
 * unbind, unmap, release; bound again for a checkpoint. */
#include "tests/clients/client.h"

#define RANKS 4

static void workspace(const Rank *me, int map_first)
{
    const int type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmulticastObjectProp prop = {.numDevices = (unsigned)me->ranks, .handleTypes = (unsigned)type};
    CUmemAllocationProp memory_prop = device_memory(me->rank, type);
    CUmemGenericAllocationHandle object = 0, own, peer;
    CUdeviceptr all, mc;
    size_t grain, bytes;

    prop.size = 4 * MIB;
    CHECK(cuMulticastGetGranularity(&grain, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    bytes = prop.size = round_up(4 * MIB, grain);
    CHECK(cuMemCreate(&own, bytes, &memory_prop, 0));
    CHECK(cuMemAddressReserve(&all, bytes * (size_t)me->ranks, grain, 0, 0));
    for (int r = 0; r < me->ranks; r++) {
        peer = share(me, r, own);
        CHECK(cuMemMap(all + (size_t)r * bytes, bytes, 0, peer, 0));
        barrier(me);
    }
    allow(all, bytes * (size_t)me->ranks, me->rank);
    if (me->rank == 0)
        CHECK(cuMulticastCreate(&object, &prop));
    object = share(me, 0, object);
    CHECK(cuMulticastAddDevice(object, me->rank));
    CHECK(cuMemAddressReserve(&mc, bytes, grain, 0, 0));
    if (map_first) {
        CHECK(cuMemMap(mc, bytes, 0, object, 0));
        allow(mc, bytes, me->rank);
    }
    CHECK(cuMulticastBindMem(object, 0, own, 0, bytes, 0));
    if (!map_first) {
        CHECK(cuMemMap(mc, bytes, 0, object, 0));
        allow(mc, bytes, me->rank);
    }
    for (int round = 0; round < 2; round++) { /* the second time after unbinding and binding again */
        barrier(me);
        if (me->rank == 3)
            CHECK(cuMemsetD16(mc + 64, (unsigned short)(0x1230 + round), 2));
        barrier(me);
        for (int r = 0; r < me->ranks; r++)
            REQUIRE(word_at(all + (size_t)r * bytes + 64) == (0x1230u + (unsigned)round) * 0x10001u);
        barrier(me);
        CHECK(cuMulticastUnbind(object, me->rank, 0, bytes));
        if (round == 0)
            CHECK(cuMulticastBindMem(object, 0, own, 0, bytes, 0));
    }
    CHECK(cuMemUnmap(mc, bytes));
    CHECK(cuMemUnmap(all, bytes * (size_t)me->ranks));
    CHECK(cuMemRelease(own));
    CHECK(cuMemRelease(object));
    barrier(me);
}

static void rank_main(const Rank *me)
{
    use_device(me->rank);
    workspace(me, 1);
    workspace(me, 0);
}

int main(void) { return run_ranks(RANKS, rank_main); }
