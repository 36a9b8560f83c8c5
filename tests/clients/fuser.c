/* Fuser (IpcNvlsMulticast, SymmetricTensor): a tensor's memory is judged before it is used (access,
 * properties, range); one exported descriptor serves all ranks and stays open to the end. The root
 * copies from the host to the multicast address; each rank reads its unicast address and nobody the
 * multicast one. Taken down: unmap, free the address, release of the object without unbinding, and
 * the tensor after it. */
#include "tests/clients/client.h"

#define RANKS 4
#define EXPORTER 0
#define ROOT 1
#define LIVES 150 /* more than a switch has multicast IDs */
#define WORDS (2 * MIB / sizeof(uint32_t))

static size_t granularity(const Rank *me, const CUmemAllocationProp *memory, size_t bytes)
{
    CUmulticastObjectProp prop = {
        .numDevices = (unsigned)me->ranks, .size = bytes, .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    size_t own, least, best;

    CHECK(cuMemGetAllocationGranularity(&own, memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cuMulticastGetGranularity(&least, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
    CHECK(cuMulticastGetGranularity(&best, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    REQUIRE(least <= bytes && best <= bytes); /* the client would skip */
    return own > least ? own : least;
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes, size_t grain, int device)
{
    CUdeviceptr va;

    CHECK(cuMemAddressReserve(&va, bytes, grain, 0, 0));
    CHECK(cuMemMap(va, bytes, 0, handle, 0));
    allow(va, bytes, device);
    return va;
}

static void unmap(CUdeviceptr va, size_t bytes)
{
    CHECK(cuMemUnmap(va, bytes));
    CHECK(cuMemAddressFree(va, bytes));
}

/* May this tensor be bound? What is returned is one more reference on its memory. */
static CUmemGenericAllocationHandle validate(const Rank *me, CUdeviceptr tensor, size_t bytes)
{
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, me->rank};
    CUmemLocation there = {CU_MEM_LOCATION_TYPE_DEVICE, (me->rank + 1) % me->ranks};
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop;
    unsigned long long flags;
    CUdeviceptr base;
    size_t size;

    CHECK(cuMemGetAccess(&flags, &here, tensor));
    REQUIRE(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CHECK(cuMemGetAccess(&flags, &there, tensor));
    REQUIRE(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CHECK(cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)tensor));
    CHECK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    REQUIRE(prop.type == CU_MEM_ALLOCATION_TYPE_PINNED);
    REQUIRE(prop.location.type == CU_MEM_LOCATION_TYPE_DEVICE && prop.location.id == me->rank);
    REQUIRE(prop.requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CHECK(cuMemGetAddressRange(&base, &size, tensor + 12));
    REQUIRE(base == tensor && size == bytes);
    return handle;
}

/* The object's handle at this rank, and the descriptor that it came by. */
static CUmemGenericAllocationHandle exchange(const Rank *me, size_t bytes, int *fd)
{
    const CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmulticastObjectProp prop = {.numDevices = (unsigned)me->ranks, .size = bytes, .handleTypes = (unsigned)type};
    CUmemGenericAllocationHandle object;

    if (me->rank != EXPORTER) {
        *fd = take_fd(me->socket[me->rank][1]);
        CHECK(cuMemImportFromShareableHandle(&object, (void *)(uintptr_t)*fd, type));
        return object;
    }
    CHECK(cuMulticastCreate(&object, &prop));
    CHECK(cuMemExportToShareableHandle(fd, object, type, 0));
    for (int r = 0; r < me->ranks; r++)
        if (r != EXPORTER)
            give_fd(me->socket[r][0], *fd);
    return object;
}

static void broadcast(const Rank *me, CUdeviceptr mc, CUdeviceptr uc, uint32_t seed)
{
    uint32_t *host = calloc(WORDS, sizeof *host);

    if (me->rank == ROOT) {
        for (uint32_t i = 0; i < WORDS; i++)
            host[i] = i * 5 + seed;
        CHECK(cuMemcpyHtoD(mc, host, WORDS * sizeof *host));
    }
    barrier(me);
    memset(host, 0, WORDS * sizeof *host);
    CHECK(cuMemcpyDtoH(host, uc, WORDS * sizeof *host));
    for (uint32_t i = 0; i < WORDS; i++)
        REQUIRE(host[i] == i * 5 + seed);
    free(host);
}

static void symmetric_tensor(const Rank *me, int map_first, int with_data)
{
    CUmemAllocationProp prop = device_memory(me->rank, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    size_t bytes = WORDS * sizeof(uint32_t), grain = granularity(me, &prop, bytes);
    CUmemGenericAllocationHandle memory, retained, object;
    size_t before, after, total;
    CUdeviceptr uc, mc = 0;
    int fd;

    CHECK(cuMemGetInfo(&before, &total));
    CHECK(cuMemCreate(&memory, bytes, &prop, 0));
    uc = map(memory, bytes, grain, me->rank);
    retained = validate(me, uc, bytes);
    object = exchange(me, bytes, &fd);
    CHECK(cuMulticastAddDevice(object, me->rank)); /* no barrier: the bind waits for the others */
    if (map_first)
        mc = map(object, bytes, grain, me->rank);
    CHECK(cuMulticastBindMem(object, 0, retained, 0, bytes, 0));
    if (!map_first)
        mc = map(object, bytes, grain, me->rank);
    barrier(me);
    if (with_data)
        broadcast(me, mc, uc, map_first ? 11 : 17);
    barrier(me);
    unmap(mc, bytes);
    CHECK(cuMemRelease(object));
    close(fd);
    CHECK(cuMemRelease(retained));
    unmap(uc, bytes);
    CHECK(cuMemRelease(memory));
    barrier(me);
    CHECK(cuMemGetInfo(&after, &total));
    REQUIRE(before == after);
}

static void rank_main(const Rank *me)
{
    use_device(me->rank);
    symmetric_tensor(me, 0, 1);
    symmetric_tensor(me, 1, 1);
    for (int i = 0; i < LIVES; i++)
        symmetric_tensor(me, i % 2, 0);
}

int main(void) { return run_ranks(RANKS, rank_main); }
