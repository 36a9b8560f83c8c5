/* NVSHMEM: functions by dlopen and cuGetProcAddress; a symmetric heap that grows by chunks, each
 * bound at its own offset of one object; fabric handles tried first, descriptors when they are not
 * permitted. */
#include <dlfcn.h>

#include "tests/clients/client.h"

#define RANKS 4
#define CHUNKS 3

typedef CUresult (*Bind)(CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t,
                         unsigned long long);
typedef CUresult (*GetProcAddress)(const char *, void **, int, cuuint64_t);

static Bind load_bind(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *found = NULL;
    REQUIRE(library != NULL);
    GetProcAddress look_up;
    void *symbol = dlsym(library, "cuGetProcAddress");
    memcpy(&look_up, &symbol, sizeof look_up);
    REQUIRE(look_up != NULL);
    CHECK(look_up("cuMulticastBindMem", &found, 12010, 0));
    REQUIRE(look_up("cuNoSuchFunction", &found, 12010, 0) != CUDA_SUCCESS);
    CHECK(look_up("cuMulticastBindMem", &found, 12010, 0));
    Bind bind;
    memcpy(&bind, &found, sizeof bind);
    return bind;
}

/* Which handle type works: asked by a trial. */
static int handle_type(int device)
{
    CUmemGenericAllocationHandle trial;
    CUmemAllocationProp prop = device_memory(device, CU_MEM_HANDLE_TYPE_FABRIC);
    CUresult result = cuMemCreate(&trial, 2 * MIB, &prop, 0);

    if (result == CUDA_SUCCESS) {
        CHECK(cuMemRelease(trial));
        return CU_MEM_HANDLE_TYPE_FABRIC;
    }
    REQUIRE(result == CUDA_ERROR_NOT_PERMITTED || result == CUDA_ERROR_NOT_SUPPORTED);
    return CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

static void heap(const Rank *me, Bind bind, int map_first)
{
    int type = handle_type(me->rank);
    CUmulticastObjectProp prop = {.numDevices = (unsigned)me->ranks, .handleTypes = (unsigned)type};
    CUmemAllocationProp memory_prop = device_memory(me->rank, type);
    CUmemGenericAllocationHandle object = 0, chunk[CHUNKS];
    CUdeviceptr uc, mc;
    size_t grain, step;

    CHECK(cuMulticastGetGranularity(&grain, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
    step = round_up(2 * MIB, grain);
    prop.size = CHUNKS * step;
    if (me->rank == 0)
        CHECK(cuMulticastCreate(&object, &prop));
    object = share(me, 0, object);
    CHECK(cuMulticastAddDevice(object, me->rank));
    barrier(me);
    CHECK(cuMemAddressReserve(&uc, CHUNKS * step, grain, 0, 0));
    CHECK(cuMemAddressReserve(&mc, CHUNKS * step, grain, 0, 0));
    if (map_first) {
        CHECK(cuMemMap(mc, CHUNKS * step, 0, object, 0));
        allow(mc, CHUNKS * step, me->rank);
    }
    for (int i = 0; i < CHUNKS; i++) {
        CHECK(cuMemCreate(&chunk[i], step, &memory_prop, 0));
        CHECK(cuMemMap(uc + (size_t)i * step, step, 0, chunk[i], 0));
        CHECK(bind(object, (size_t)i * step, chunk[i], 0, step, 0));
    }
    allow(uc, CHUNKS * step, me->rank); /* over all chunks at once */
    if (!map_first) {
        CHECK(cuMemMap(mc, CHUNKS * step, 0, object, 0));
        allow(mc, CHUNKS * step, me->rank);
    }
    barrier(me);
    if (me->rank == 1)
        CHECK(cuMemsetD32(mc + step - 64, 0x51u, 32)); /* across a chunk's border */
    barrier(me);
    REQUIRE(word_at(uc + step - 64) == 0x51u && word_at(uc + step + 60) == 0x51u);
    barrier(me);
    for (int i = 0; i < CHUNKS; i++)
        CHECK(cuMulticastUnbind(object, me->rank, (size_t)i * step, step));
    CHECK(cuMemUnmap(mc, CHUNKS * step));
    CHECK(cuMemUnmap(uc, CHUNKS * step));
    for (int i = 0; i < CHUNKS; i++)
        CHECK(cuMemRelease(chunk[i]));
    CHECK(cuMemRelease(object));
    barrier(me);
}

static void rank_main(const Rank *me)
{
    Bind bind = load_bind();
    use_device(me->rank);
    heap(me, bind, 0);
    heap(me, bind, 1);
}

int main(void) { return run_ranks(RANKS, rank_main); }
