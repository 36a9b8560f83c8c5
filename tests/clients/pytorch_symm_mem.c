/* PyTorch symmetric memory: objects sized by the allocation granularity alone (the multicast one is
 * never asked for); peers map each other's memory; rank 0 imports its own descriptor. Taken down:
 * unmap, unbind, release, and the addresses are not freed. */
#include "tests/clients/client.h"

#define RANKS 4

static void exchange(const Rank *me, CUmemGenericAllocationHandle own, CUdeviceptr *peer, size_t bytes)
{
    for (int root = 0; root < me->ranks; root++) {
        CUmemGenericAllocationHandle handle = share(me, root, own);
        CHECK(cuMemAddressReserve(&peer[root], bytes, 0, 0, 0));
        CHECK(cuMemMap(peer[root], bytes, 0, handle, 0));
        allow(peer[root], bytes, me->rank);
        barrier(me);
    }
}

static CUmemGenericAllocationHandle make_object(const Rank *me, size_t bytes)
{
    CUmulticastObjectProp prop = {
        .numDevices = (unsigned)me->ranks, .size = bytes, .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    CUmemGenericAllocationHandle object = 0, again;
    int fd;

    if (me->rank == 0) {
        CHECK(cuMulticastCreate(&object, &prop));
        CHECK(cuMemExportToShareableHandle(&fd, object, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        CHECK(cuMemImportFromShareableHandle(&again, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        close(fd);
        share(me, 0, object);
        return again; /* the creating reference stays: without it late importers are lost */
    }
    return share(me, 0, 0);
}

static void one_buffer(const Rank *me, int map_first)
{
    CUmemAllocationProp prop = device_memory(me->rank, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CUmemGenericAllocationHandle memory, object;
    CUdeviceptr peer[RANKS], mc;
    size_t grain, bytes;

    CHECK(cuMemGetAllocationGranularity(&grain, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    bytes = round_up(5 * MIB, grain);
    CHECK(cuMemCreate(&memory, bytes, &prop, 0));
    exchange(me, memory, peer, bytes);
    object = make_object(me, bytes);
    CHECK(cuMulticastAddDevice(object, me->rank));
    barrier(me);
    CHECK(cuMemAddressReserve(&mc, bytes, 0, 0, 0));
    if (!map_first)
        CHECK(cuMulticastBindMem(object, 0, memory, 0, bytes, 0));
    CHECK(cuMemMap(mc, bytes, 0, object, 0));
    allow(mc, bytes, me->rank);
    if (map_first)
        CHECK(cuMulticastBindMem(object, 0, memory, 0, bytes, 0));
    barrier(me);
    if (me->rank == 2) { /* memcpy_to_multicast */
        uint32_t data[32];
        for (unsigned i = 0; i < 32; i++)
            data[i] = i * 7;
        CHECK(cuMemcpyHtoD(mc + 512, data, sizeof data));
    }
    barrier(me);
    for (int r = 0; r < me->ranks; r++)
        REQUIRE(word_at(peer[r] + 512 + 31 * 4) == 31 * 7);
    barrier(me);
    CHECK(cuMemUnmap(mc, bytes));
    CHECK(cuMulticastUnbind(object, me->rank, 0, bytes));
    CHECK(cuMemRelease(object));
    for (int r = 0; r < me->ranks; r++)
        CHECK(cuMemUnmap(peer[r], bytes));
    CHECK(cuMemRelease(memory));
    barrier(me);
}

static void rank_main(const Rank *me)
{
    use_device(me->rank);
    one_buffer(me, 0);
    one_buffer(me, 1);
}

int main(void) { return run_ranks(RANKS, rank_main); }
