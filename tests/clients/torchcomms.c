/* torchcomms prims: what its tests of CuMulticastAllocation and MultimemHandler rest on, with a
 * thread a rank in one process. One device is no team; a device is added once; a bind waits for the
 * last device, holding up no other thread's calls. Taken down: unmap, free the address, unbind
 * (with a context current), release of the object and then of the backing memory. */
#include "tests/clients/client.h"

#include <time.h>

#define RANKS 4
#define TYPE CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

typedef struct {
    int map_first;
    CUmemGenericAllocationHandle object;
    size_t bytes;
    CUdeviceptr uc[RANKS];
    pthread_barrier_t barrier;
    int n_through; /* ranks past their first blocking call */
} Team;

typedef struct {
    Team *team;
    int rank;
} Member;

static size_t backing_granularity(unsigned ranks)
{
    CUmemAllocationProp memory = device_memory(0, TYPE);
    CUmulticastObjectProp prop = {.numDevices = ranks, .handleTypes = TYPE};
    size_t own, shared;

    CHECK(cuMemGetAllocationGranularity(&own, &memory, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    prop.size = own;
    CHECK(cuMulticastGetGranularity(&shared, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    REQUIRE((own & (own - 1)) == 0 && (shared & (shared - 1)) == 0);
    return own > shared ? own : shared;
}

static void refusals(size_t bytes)
{
    CUmulticastObjectProp prop = {.numDevices = 1, .size = bytes, .handleTypes = TYPE};
    CUmemGenericAllocationHandle object = 42, other;

    REQUIRE(cuMulticastCreate(&object, &prop) == CUDA_ERROR_INVALID_VALUE && object == 42);
    prop.numDevices = 2;
    CHECK(cuMulticastCreate(&object, &prop));
    CHECK(cuMulticastCreate(&other, &prop));
    CHECK(cuMulticastAddDevice(object, 0));
    REQUIRE(cuMulticastAddDevice(object, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMulticastAddDevice(object, 1)); /* the refused one took no place */
    REQUIRE(cuMulticastAddDevice(object, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemRelease(object)); /* neither was bound: what was moved over and what moved */
    CHECK(cuMemRelease(other));
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes, int device)
{
    CUdeviceptr va;

    CHECK(cuMemAddressReserve(&va, bytes, bytes, 0, 0));
    CHECK(cuMemMap(va, bytes, 0, handle, 0));
    allow(va, bytes, device);
    return va;
}

static void unmap(CUdeviceptr va, size_t bytes)
{
    CHECK(cuMemUnmap(va, bytes));
    CHECK(cuMemAddressFree(va, bytes));
}

/* All but the last rank come here before the last device is added. */
static void *member_main(void *data)
{
    Team *team = ((Member *)data)->team;
    int rank = ((Member *)data)->rank;
    CUmemAllocationProp prop = device_memory(rank, TYPE);
    CUmemGenericAllocationHandle backing;
    CUdeviceptr mc = 0;

    use_device(rank);
    CHECK(cuMemCreate(&backing, team->bytes, &prop, 0));
    team->uc[rank] = map(backing, team->bytes, rank);
    if (rank != RANKS - 1)
        CHECK(cuMulticastAddDevice(team->object, rank));
    pthread_barrier_wait(&team->barrier);
    if (rank == RANKS - 1) {
        const struct timespec a_while = {0, 100 * 1000 * 1000};
        nanosleep(&a_while, NULL);                  /* the others have every chance to pass */
        CHECK(cuMemsetD8(team->uc[rank], 0, 4096)); /* they wait, and the library serves on */
        REQUIRE(__atomic_load_n(&team->n_through, __ATOMIC_SEQ_CST) == 0);
        CHECK(cuMulticastAddDevice(team->object, rank));
    }
    if (team->map_first)
        mc = map(team->object, team->bytes, rank);
    else
        CHECK(cuMulticastBindMem(team->object, 0, backing, 0, team->bytes, 0));
    __atomic_add_fetch(&team->n_through, 1, __ATOMIC_SEQ_CST);
    if (team->map_first)
        CHECK(cuMulticastBindMem(team->object, 0, backing, 0, team->bytes, 0));
    else
        mc = map(team->object, team->bytes, rank);
    pthread_barrier_wait(&team->barrier);
    CHECK(cuMemsetD32(mc + (size_t)rank * 4, 0x7c00u + (unsigned)rank, 1));
    pthread_barrier_wait(&team->barrier);
    for (int r = 0; r < RANKS; r++)
        REQUIRE(word_at(team->uc[rank] + (size_t)r * 4) == 0x7c00u + (unsigned)r);
    pthread_barrier_wait(&team->barrier);
    unmap(mc, team->bytes);
    CHECK(cuMulticastUnbind(team->object, rank, 0, team->bytes));
    REQUIRE(cuMulticastUnbind(team->object, rank, 0, team->bytes) == CUDA_ERROR_INVALID_VALUE);
    pthread_barrier_wait(&team->barrier);
    if (rank == 0)
        CHECK(cuMemRelease(team->object));
    unmap(team->uc[rank], team->bytes);
    CHECK(cuMemRelease(backing));
    return NULL;
}

static void exchange(size_t bytes, int map_first)
{
    CUmulticastObjectProp prop = {.numDevices = RANKS, .size = bytes, .handleTypes = TYPE};
    Team team = {.bytes = bytes, .map_first = map_first};
    Member member[RANKS];
    pthread_t thread[RANKS];

    CHECK(cuMulticastCreate(&team.object, &prop));
    pthread_barrier_init(&team.barrier, NULL, RANKS);
    for (int r = 0; r < RANKS; r++) {
        member[r] = (Member){&team, r};
        REQUIRE(pthread_create(&thread[r], NULL, member_main, &member[r]) == 0);
    }
    for (int r = 0; r < RANKS; r++)
        pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&team.barrier);
}

int main(void)
{
    size_t bytes;

    alarm(60);
    CHECK(cuInit(0));
    bytes = backing_granularity(RANKS);
    refusals(bytes);
    exchange(bytes, 0);
    exchange(bytes, 1);
    return 0;
}
