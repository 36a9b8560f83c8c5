/* Bad input to the calls for memory and multicast objects: see tests/api/cuda_bad.h. */
#include "tests/api/cuda_bad.h"

static void bad_virtual_memory(const World *w)
{
    Out out;
    CUmemAllocationProp prop = memory_prop(CU_MEM_LOCATION_TYPE_DEVICE, 0, 0);
    CUmemAllocationProp wrong = memory_prop((CUmemLocationType)9, 0, 0);
    CUmemAccessDesc desc = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemLocation nowhere = {(CUmemLocationType)9, 0}, far = {CU_MEM_LOCATION_TYPE_DEVICE, 99};

    BAD(INVALID_VALUE, cuMemGetAllocationGranularity(NULL, &prop, 0));
    BAD(INVALID_VALUE, cuMemGetAllocationGranularity(&out.a.size, NULL, 0));
    BAD(INVALID_VALUE, cuMemGetAllocationGranularity(&out.a.size, &prop, 2));
    BAD(INVALID_VALUE, cuMemCreate(NULL, GRAIN, &prop, 0));
    BAD(INVALID_VALUE, cuMemCreate(&out.a.handle, 1, &prop, 0));
    BAD(INVALID_VALUE, cuMemCreate(&out.a.handle, ~(size_t)0, &prop, 0));
    BAD(INVALID_VALUE, cuMemCreate(&out.a.handle, GRAIN, NULL, 0));
    BAD(INVALID_VALUE, cuMemCreate(&out.a.handle, GRAIN, &wrong, 0));
    BAD(INVALID_VALUE, cuMemCreate(&out.a.handle, GRAIN, &prop, 1));
    BAD(INVALID_VALUE, cuMemRelease(0));
    BAD(INVALID_VALUE, cuMemRelease(w->dead));
    BAD(INVALID_VALUE, cuMemRelease((Handle)(uintptr_t)w->stream));
    BAD(INVALID_VALUE, cuMemAddressReserve(NULL, GRAIN, 0, 0, 0));
    BAD(INVALID_VALUE, cuMemAddressReserve(&out.a.va, 1, 0, 0, 0));
    BAD(INVALID_VALUE, cuMemAddressReserve(&out.a.va, GRAIN, 5, 0, 0));
    BAD(INVALID_VALUE, cuMemAddressReserve(&out.a.va, GRAIN, 0, 0, 1));
    BAD(OUT_OF_MEMORY, cuMemAddressReserve(&out.a.va, ~(size_t)0 / GRAIN * GRAIN, 0, 0, 0));
    BAD(INVALID_VALUE, cuMemAddressFree(0, GRAIN));
    BAD(INVALID_VALUE, cuMemAddressFree(w->va, GRAIN));
    BAD(INVALID_VALUE, cuMemMap(0, GRAIN, 0, w->memory, 0));
    BAD(INVALID_VALUE, cuMemMap(w->va, 2 * GRAIN, 0, w->memory, 0));
    BAD(INVALID_VALUE, cuMemMap(w->va, 1, 0, w->memory, 0));
    BAD(INVALID_VALUE, cuMemMap(w->va, 2 * GRAIN, 1, w->memory, 0));
    BAD(INVALID_VALUE, cuMemMap(w->va, 2 * GRAIN, 0, w->dead, 0));
    BAD(INVALID_VALUE, cuMemMap(w->va, 2 * GRAIN, 0, w->memory, 1));
    BAD(INVALID_VALUE, cuMemUnmap(0, GRAIN));
    BAD(INVALID_VALUE, cuMemUnmap(w->va, GRAIN));
    BAD(INVALID_VALUE, cuMemUnmap(w->va, ~(size_t)0 / GRAIN * GRAIN));
    BAD(INVALID_VALUE, cuMemSetAccess(0, GRAIN, &desc, 1));
    BAD(INVALID_VALUE, cuMemSetAccess(w->va, GRAIN, &desc, 1));
    BAD(INVALID_VALUE, cuMemSetAccess(w->va, 2 * GRAIN, NULL, 1));
    BAD(INVALID_VALUE, cuMemSetAccess(w->va, 2 * GRAIN, &desc, 0));
    BAD(INVALID_VALUE, cuMemSetAccess(w->va, 2 * GRAIN, &desc, ~(size_t)0));
    BAD(INVALID_VALUE, cuMemGetAccess(NULL, &prop.location, w->va));
    BAD(INVALID_VALUE, cuMemGetAccess(&out.a.u64, NULL, w->va));
    BAD(INVALID_VALUE, cuMemGetAccess(&out.a.u64, &nowhere, w->va));
    BAD(INVALID_DEVICE, cuMemGetAccess(&out.a.u64, &far, w->va));
    BAD(INVALID_VALUE, cuMemExportToShareableHandle(NULL, w->memory, 1, 0));
    BAD(INVALID_VALUE, cuMemExportToShareableHandle(&out.a.i, w->dead, 1, 0));
    BAD(INVALID_VALUE, cuMemExportToShareableHandle(&out.a.i, w->memory, 0, 0));
    BAD(INVALID_VALUE, cuMemExportToShareableHandle(&out.a.i, w->memory, 1, 1));
    BAD(INVALID_VALUE, cuMemImportFromShareableHandle(NULL, (void *)0, 1));
    BAD(INVALID_VALUE, cuMemImportFromShareableHandle(&out.a.handle, (void *)0, 0));
    BAD(UNKNOWN, cuMemImportFromShareableHandle(&out.a.handle, (void *)(intptr_t)99999, 1));
    BAD(UNKNOWN, cuMemImportFromShareableHandle(&out.a.handle, (void *)(intptr_t)-1, 1));
    BAD(INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(NULL, w->memory));
    BAD(INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(&out.a.prop, w->object));
    BAD(INVALID_VALUE, cuMemRetainAllocationHandle(NULL, (void *)(uintptr_t)w->va));
    BAD(INVALID_VALUE, cuMemRetainAllocationHandle(&out.a.handle, NULL));
}

static void bad_multicast(const World *w)
{
    Out out;
    CUmulticastObjectProp prop = team_prop(2, GRAIN, 0), flags = prop, types = prop, one = team_prop(1, GRAIN, 0);
    flags.flags = 1;
    types.handleTypes = 1ull << 60;

    BAD(INVALID_VALUE, cuMulticastGetGranularity(NULL, &prop, 0));
    BAD(INVALID_VALUE, cuMulticastGetGranularity(&out.a.size, NULL, 0));
    BAD(INVALID_VALUE, cuMulticastGetGranularity(&out.a.size, &flags, 0));
    BAD(INVALID_VALUE, cuMulticastGetGranularity(&out.a.size, &types, 0));
    BAD(INVALID_VALUE, cuMulticastGetGranularity(&out.a.size, &prop, 3));
    BAD(INVALID_VALUE, cuMulticastCreate(NULL, &prop));
    BAD(INVALID_VALUE, cuMulticastCreate(&out.a.handle, NULL));
    BAD(INVALID_VALUE, cuMulticastCreate(&out.a.handle, &flags));
    BAD(INVALID_VALUE, cuMulticastCreate(&out.a.handle, &types));
    BAD(INVALID_VALUE, cuMulticastCreate(&out.a.handle, &one));
    BAD(INVALID_VALUE, cuMulticastAddDevice(0, 0));
    BAD(INVALID_VALUE, cuMulticastAddDevice(w->memory, 0));
    BAD(INVALID_DEVICE, cuMulticastAddDevice(w->object, NOPE));
    BAD(INVALID_VALUE, cuMulticastAddDevice(w->object, 0));
    BAD(INVALID_VALUE, cuMulticastBindMem(0, 0, w->memory, 0, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindMem(w->object, 1, w->memory, 0, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindMem(w->object, 0, w->dead, 0, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindMem(w->object, 0, w->memory, 1, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindMem(w->object, 0, w->memory, 0, 1, 0));
    BAD(INVALID_VALUE, cuMulticastBindMem(w->object, 0, w->memory, 0, GRAIN, 1));
    BAD(INVALID_VALUE, cuMulticastBindMem_v2(0, 0, 0, w->memory, 0, GRAIN, 0));
    BAD(INVALID_DEVICE, cuMulticastBindMem_v2(w->object, NOPE, 0, w->memory, 0, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindMem_v2(w->object, 1, 0, w->memory, 0, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindMem_v2(w->object, 0, 1, w->memory, 0, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindAddr(0, 0, w->va, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindAddr(w->object, 1, w->va, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindAddr(w->object, 0, 0, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindAddr(w->object, 0, w->plain, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindAddr(w->object, 0, w->va, 0, 0));
    BAD(INVALID_VALUE, cuMulticastBindAddr(w->object, 0, w->va, ~(size_t)0 / GRAIN * GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindAddr(w->object, 0, w->va, GRAIN, 2));
    BAD(INVALID_DEVICE, cuMulticastBindAddr_v2(w->object, NOPE, 0, w->va, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastBindAddr_v2(w->object, 1, 0, w->va, GRAIN, 0));
    BAD(INVALID_VALUE, cuMulticastUnbind(0, 0, 0, GRAIN));
    BAD(INVALID_DEVICE, cuMulticastUnbind(w->object, NOPE, 0, GRAIN));
    BAD(INVALID_DEVICE, cuMulticastUnbind(w->object, 5, 0, GRAIN));
    BAD(INVALID_VALUE, cuMulticastUnbind(w->object, 0, 1, GRAIN));
    BAD(INVALID_VALUE, cuMulticastUnbind(w->object, 0, 0, 1));
    BAD(INVALID_VALUE, cuMulticastUnbind(w->object, 0, 0, GRAIN)); /* nothing bound */
}

static void bad_memory(const World *w)
{
    Out out;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 99}};
    CUmemPoolProps untyped = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, 99}, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUmemoryPool junk = (CUmemoryPool)(uintptr_t)0x1230;

    BAD(INVALID_VALUE, cuMemGetInfo(NULL, &out.a.size));
    BAD(INVALID_VALUE, cuMemGetInfo(&out.a.size, NULL));
    BAD(INVALID_VALUE, cuMemAlloc(NULL, 1));
    BAD(INVALID_VALUE, cuMemAlloc(&out.a.va, 0));
    BAD(OUT_OF_MEMORY, cuMemAlloc(&out.a.va, ~(size_t)0));
    BAD(INVALID_VALUE, cuMemAllocPitch(&out.a.va, NULL, 4, 4, 4));
    BAD(INVALID_VALUE, cuMemAllocPitch(&out.a.va, &out.b.size, 0, 4, 4));
    BAD(INVALID_VALUE, cuMemAllocPitch(&out.a.va, &out.b.size, 4, 4, 3));
    BAD(INVALID_VALUE, cuMemAllocPitch(&out.a.va, &out.b.size, ~(size_t)0, 4, 4));
    BAD(INVALID_VALUE, cuMemAllocPitch(&out.a.va, &out.b.size, GIB, ~(size_t)0, 4));
    BAD(INVALID_VALUE, cuMemFree(0x1234));
    BAD(INVALID_VALUE, cuMemFree(w->plain + 1));
    BAD(INVALID_VALUE, cuMemFree(w->va));
    BAD(NOT_FOUND, cuMemGetAddressRange(&out.a.va, &out.b.size, 0x1234));
    BAD(INVALID_VALUE, cuMemAllocHost(NULL, 1));
    BAD(INVALID_VALUE, cuMemHostAlloc(NULL, 1, 0));
    BAD(INVALID_VALUE, cuMemHostAlloc(&out.a.pointer, 1, 64));
    BAD(INVALID_VALUE, cuMemHostAlloc(&out.a.pointer, ~(size_t)0, 0));
    BAD(INVALID_VALUE, cuMemFreeHost(NULL));
    BAD(INVALID_VALUE, cuMemFreeHost(&out));
    BAD(INVALID_VALUE, cuMemHostRegister(NULL, 1, 0));
    BAD(INVALID_VALUE, cuMemHostRegister(&out, 0, 0));
    BAD(INVALID_VALUE, cuMemHostRegister(&out, ~(size_t)0, 0));
    BAD(INVALID_VALUE, cuMemHostRegister(&out, 16, 1u << 9));
    BAD(INVALID_VALUE, cuMemHostUnregister(NULL));
    BAD(HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(&out));
    BAD(INVALID_VALUE, cuMemHostGetDevicePointer(NULL, &out, 0));
    BAD(INVALID_VALUE, cuMemHostGetDevicePointer(&out.a.va, &out, 0));
    BAD(INVALID_VALUE, cuMemHostGetFlags(NULL, &out));
    BAD(INVALID_VALUE, cuMemHostGetFlags(&out.a.u, &out));
    BAD(INVALID_VALUE, cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MAPPED, w->va));
    BAD(INVALID_VALUE, cuPointerGetAttribute(&out.a.u64, (CUpointer_attribute)999, w->va));
    BAD(INVALID_VALUE, cuPointerGetAttribute(&out.a.u64, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x1234));
    BAD(INVALID_VALUE, cuPointerGetAttributes(0, NULL, NULL, w->va));
    BAD(INVALID_VALUE, cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, w->va));
    BAD(INVALID_VALUE, cuPointerSetAttribute(&w->va, CU_POINTER_ATTRIBUTE_MAPPED, w->va));
    BAD(INVALID_VALUE, cuMemAllocAsync(NULL, 1, NULL));
    BAD(INVALID_VALUE, cuMemAllocAsync(&out.a.va, 0, NULL));
    BAD(INVALID_HANDLE, cuMemAllocAsync(&out.a.va, 1, w->dead_stream));
    BAD(INVALID_VALUE, cuMemAllocFromPoolAsync(&out.a.va, 1, junk, NULL));
    BAD(INVALID_HANDLE, cuMemAllocFromPoolAsync(&out.a.va, 1, w->pool, w->dead_stream));
    BAD(INVALID_VALUE, cuMemFreeAsync(0, NULL));
    BAD(INVALID_VALUE, cuMemFreeAsync(0x1234, NULL));
    BAD(INVALID_HANDLE, cuMemFreeAsync(w->plain, w->dead_stream));
    BAD(INVALID_VALUE, cuMemPoolCreate(NULL, &props));
    BAD(INVALID_VALUE, cuMemPoolCreate(&out.a.pool, NULL));
    BAD(INVALID_VALUE, cuMemPoolCreate(&out.a.pool, &untyped));
    BAD(INVALID_DEVICE, cuMemPoolCreate(&out.a.pool, &props));
    BAD(INVALID_VALUE, cuMemPoolDestroy(junk));
    BAD(INVALID_VALUE, cuMemPoolTrimTo(junk, 0));
    BAD(INVALID_VALUE, cuMemPoolSetAttribute(w->pool, (CUmemPool_attribute)99, &out));
    BAD(INVALID_VALUE, cuMemPoolSetAttribute(w->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL));
    BAD(INVALID_VALUE, cuMemPoolGetAttribute(w->pool, (CUmemPool_attribute)99, &out.a));
    BAD(INVALID_VALUE, cuMemPoolGetAttribute(junk, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &out.a));
    BAD(INVALID_VALUE, cuMemPoolSetAccess(w->pool, NULL, 1));
    BAD(INVALID_DEVICE, cuMemPoolSetAccess(w->pool, &desc, 1));
    BAD(INVALID_VALUE, cuMemPoolGetAccess(NULL, w->pool, &desc.location));
    BAD(INVALID_DEVICE, cuMemPoolGetAccess(&out.a.access, w->pool, &desc.location));
    BAD(INVALID_VALUE, cuDeviceGetDefaultMemPool(NULL, 0));
    BAD(INVALID_DEVICE, cuDeviceGetMemPool(&out.a.pool, NOPE));
    BAD(INVALID_VALUE, cuDeviceSetMemPool(0, junk));
    BAD(INVALID_DEVICE, cuDeviceSetMemPool(1, w->pool));
}

static void all_bad(const World *w)
{
    bad_virtual_memory(w);
    bad_multicast(w);
    bad_memory(w);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {BAD_TESTS, CUDA_TEST_END};
    return cuda_test_main(tests, argc, argv);
}
