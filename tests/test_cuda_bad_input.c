/* Bad input: every parameter of every call in turn. The documented code, outputs untouched, nothing
 * changed; and the same from many threads at once. */
#include "tests/cuda_test.h"

/* Where calls would write: must look the same after each of them. */
typedef struct {
    union {
        int i;
        unsigned u;
        size_t size;
        float f;
        void *pointer;
        Handle handle;
        CUdeviceptr va;
        CUcontext context;
        CUstream stream;
        CUevent event;
        CUmemoryPool pool;
        CUuuid uuid;
        CUdevprop properties;
        CUmemAllocationProp prop;
        CUmemFabricHandle fabric;
        CUmemAccess_flags access;
        CUstreamCaptureStatus capture;
        CUdriverProcAddressQueryResult found;
        unsigned long long u64;
        char text[256];
    } a, b;
} Out;

typedef struct {
    Handle object, memory, dead;
    CUdeviceptr va, plain;
    CUcontext context, dead_context;
    CUstream stream, dead_stream;
    CUevent event, dead_event;
    CUmemoryPool pool;
} World;

static void bad(CUresult got, CUresult expected, const Out *out, const char *call)
{
    Out fresh;
    memset(&fresh, 0x5a, sizeof fresh);
    if (got != expected)
        fail_msg("%s: %d, not %d", call, got, expected);
    if (memcmp(&fresh, out, sizeof fresh) != 0)
        fail_msg("%s wrote an output", call);
}
#define BAD(code, call) (memset(&out, 0x5a, sizeof out), bad(call, CUDA_ERROR_##code, &out, #call))
#define NOPE ((CUdevice)99)

static void make_world(World *w)
{
    use_device(0);
    OK(cuCtxGetCurrent(&w->context));
    w->object = full_team(2, 2 * GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    w->memory = memory(0, 2 * GRAIN, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    w->va = mapped(w->memory, 2 * GRAIN, 0);
    w->dead = memory(0, GRAIN, 0);
    OK(cuMemRelease(w->dead));
    OK(cuMemAlloc(&w->plain, 4096));
    OK(cuStreamCreate(&w->stream, 0));
    OK(cuStreamCreate(&w->dead_stream, 0));
    OK(cuStreamDestroy(w->dead_stream));
    OK(cuEventCreate(&w->event, 0));
    OK(cuEventCreate(&w->dead_event, 0));
    OK(cuEventDestroy(w->dead_event));
    OK(cuDeviceGetDefaultMemPool(&w->pool, 0));
    OK(cuCtxCreate_v2(&w->dead_context, 0, 0));
    OK(cuCtxDestroy(w->dead_context));
}

static void bad_devices(const World *w)
{
    Out out;
    (void)w;
    BAD(INVALID_VALUE, cuInit(1));
    BAD(INVALID_VALUE, cuDriverGetVersion(NULL));
    BAD(INVALID_VALUE, cuGetErrorName(CUDA_SUCCESS, NULL));
    BAD(INVALID_VALUE, cuGetErrorString(CUDA_SUCCESS, NULL));
    BAD(INVALID_VALUE, cuGetProcAddress_v2(NULL, &out.a.pointer, 12000, 0, &out.b.found));
    BAD(INVALID_VALUE, cuGetProcAddress_v2("cuInit", NULL, 12000, 0, &out.b.found));
    BAD(INVALID_VALUE, cuGetProcAddress_v2("cuInit", &out.a.pointer, 99000, 0, &out.b.found));
    BAD(INVALID_VALUE, cuGetProcAddress_v2("cuInit", &out.a.pointer, 12000, 4, &out.b.found));
    BAD(INVALID_VALUE, cuGetExportTable(NULL, NULL));
    BAD(INVALID_VALUE, cuDeviceGet(NULL, 0));
    BAD(INVALID_DEVICE, cuDeviceGet(&out.a.i, 99));
    BAD(INVALID_DEVICE, cuDeviceGet(&out.a.i, -1));
    BAD(INVALID_VALUE, cuDeviceGetCount(NULL));
    BAD(INVALID_VALUE, cuDeviceGetName(NULL, 10, 0));
    BAD(INVALID_VALUE, cuDeviceGetName(out.a.text, 0, 0));
    BAD(INVALID_VALUE, cuDeviceGetName(out.a.text, -1, 0));
    BAD(INVALID_DEVICE, cuDeviceGetName(out.a.text, 10, NOPE));
    BAD(INVALID_VALUE, cuDeviceGetUuid(NULL, 0));
    BAD(INVALID_DEVICE, cuDeviceGetUuid(&out.a.uuid, NOPE));
    BAD(INVALID_VALUE, cuDeviceTotalMem(NULL, 0));
    BAD(INVALID_DEVICE, cuDeviceTotalMem(&out.a.size, NOPE));
    BAD(INVALID_VALUE, cuDeviceGetAttribute(NULL, 16, 0));
    BAD(INVALID_VALUE, cuDeviceGetAttribute(&out.a.i, 0, 0));
    BAD(INVALID_VALUE, cuDeviceGetAttribute(&out.a.i, CU_DEVICE_ATTRIBUTE_MAX, 0));
    BAD(INVALID_DEVICE, cuDeviceGetAttribute(&out.a.i, 16, NOPE));
    BAD(INVALID_VALUE, cuDeviceGetByPCIBusId(NULL, "0000:1b:00.0"));
    BAD(INVALID_VALUE, cuDeviceGetByPCIBusId(&out.a.i, NULL));
    BAD(INVALID_VALUE, cuDeviceGetByPCIBusId(&out.a.i, "nonsense"));
    BAD(INVALID_DEVICE, cuDeviceGetByPCIBusId(&out.a.i, "7777:77:77.0"));
    BAD(INVALID_VALUE, cuDeviceGetPCIBusId(NULL, 16, 0));
    BAD(INVALID_VALUE, cuDeviceGetPCIBusId(out.a.text, 0, 0));
    BAD(INVALID_DEVICE, cuDeviceGetPCIBusId(out.a.text, 16, NOPE));
    BAD(INVALID_VALUE, cuDeviceGetProperties(NULL, 0));
    BAD(INVALID_DEVICE, cuDeviceGetProperties(&out.a.properties, NOPE));
    BAD(INVALID_VALUE, cuDeviceComputeCapability(NULL, &out.a.i, 0));
    BAD(INVALID_DEVICE, cuDeviceComputeCapability(&out.a.i, &out.b.i, NOPE));
    BAD(INVALID_VALUE, cuDeviceCanAccessPeer(NULL, 0, 1));
    BAD(INVALID_DEVICE, cuDeviceCanAccessPeer(&out.a.i, NOPE, 1));
    BAD(INVALID_DEVICE, cuDeviceCanAccessPeer(&out.a.i, 0, NOPE));
    BAD(INVALID_VALUE,
        cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    BAD(INVALID_VALUE, cuDeviceGetP2PAttribute(&out.a.i, (CUdevice_P2PAttribute)77, 0, 1));
    BAD(INVALID_DEVICE,
        cuDeviceGetP2PAttribute(&out.a.i, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
    BAD(INVALID_VALUE, cuDevicePrimaryCtxRetain(NULL, 0));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxRetain(&out.a.context, NOPE));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxRelease(NOPE));
    BAD(INVALID_CONTEXT, cuDevicePrimaryCtxRelease(7)); /* never retained */
    BAD(INVALID_VALUE, cuDevicePrimaryCtxSetFlags(0, 1u << 30));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxSetFlags(NOPE, 0));
    BAD(INVALID_VALUE, cuDevicePrimaryCtxGetState(0, NULL, &out.a.i));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxGetState(NOPE, &out.a.u, &out.b.i));
    BAD(INVALID_DEVICE, cuDevicePrimaryCtxReset(NOPE));
}

static void bad_contexts(const World *w)
{
    Out out;
    CUcontext junk = (CUcontext)(uintptr_t)0x1230;

    BAD(INVALID_VALUE, cuCtxCreate_v2(NULL, 0, 0));
    BAD(INVALID_VALUE, cuCtxCreate_v2(&out.a.context, 1u << 20, 0));
    BAD(INVALID_DEVICE, cuCtxCreate_v2(&out.a.context, 0, NOPE));
    BAD(INVALID_VALUE, cuCtxCreate_v3(&out.a.context, NULL, 1, 0, 0));
    BAD(INVALID_VALUE, cuCtxCreate_v4(NULL, NULL, 0, 0));
    BAD(INVALID_VALUE, cuCtxDestroy(NULL));
    BAD(INVALID_CONTEXT, cuCtxDestroy(junk));
    BAD(INVALID_CONTEXT, cuCtxDestroy(w->dead_context));
    BAD(INVALID_CONTEXT, cuCtxPushCurrent(NULL));
    BAD(INVALID_CONTEXT, cuCtxPushCurrent(w->dead_context));
    BAD(INVALID_CONTEXT, cuCtxSetCurrent(junk));
    BAD(INVALID_VALUE, cuCtxGetCurrent(NULL));
    BAD(INVALID_VALUE, cuCtxGetDevice(NULL));
    BAD(INVALID_CONTEXT, cuCtxGetDevice_v2(&out.a.i, junk));
    BAD(INVALID_VALUE, cuCtxGetFlags(NULL));
    BAD(INVALID_VALUE, cuCtxSetFlags(1u << 20));
    BAD(INVALID_VALUE, cuCtxGetId(w->context, NULL));
    BAD(INVALID_CONTEXT, cuCtxGetId(junk, &out.a.u64));
    BAD(INVALID_CONTEXT, cuCtxSynchronize_v2(junk));
    BAD(INVALID_VALUE, cuCtxGetApiVersion(w->context, NULL));
    BAD(INVALID_CONTEXT, cuCtxGetApiVersion(junk, &out.a.u));
    BAD(INVALID_VALUE, cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    BAD(UNSUPPORTED_LIMIT, cuCtxGetLimit(&out.a.size, CU_LIMIT_MAX));
    BAD(UNSUPPORTED_LIMIT, cuCtxSetLimit((CUlimit)-1, 1));
    BAD(INVALID_VALUE, cuCtxGetCacheConfig(NULL));
    BAD(INVALID_VALUE, cuCtxSetCacheConfig((CUfunc_cache)9));
    BAD(INVALID_VALUE, cuCtxAttach(NULL, 0));
    BAD(INVALID_CONTEXT, cuCtxDetach(junk));
    BAD(INVALID_CONTEXT, cuCtxEnablePeerAccess(junk, 0));
    BAD(INVALID_VALUE, cuCtxEnablePeerAccess(w->context, 1));
    BAD(INVALID_CONTEXT, cuCtxDisablePeerAccess(junk));
}

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
    CUmulticastObjectProp prop = team_prop(2, GRAIN, 0), flags = prop, types = prop,
                          one = team_prop(1, GRAIN, 0);
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
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 99}};
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

static void bad_work(const World *w)
{
    Out out;
    guint32 word = 1;
    FoKernel none = {.name = "none"};

    BAD(INVALID_VALUE, cuMemcpyHtoD(0, &word, 4));
    BAD(INVALID_VALUE, cuMemcpyHtoD(0x1234, &word, 4));
    BAD(INVALID_VALUE, cuMemcpyHtoD(w->va, NULL, 4));
    BAD(INVALID_VALUE, cuMemcpyHtoD(w->va, &word, ~(size_t)0));
    BAD(INVALID_VALUE, cuMemcpyDtoH(NULL, w->va, 4));
    BAD(INVALID_VALUE, cuMemcpyDtoH(&out.a, 0x1234, 4));
    BAD(INVALID_VALUE, cuMemcpyDtoD(w->va, 0x1234, 4));
    BAD(INVALID_VALUE, cuMemcpyDtoD(0x1234, w->va, 4));
    BAD(INVALID_VALUE, cuMemcpyDtoD(w->va + 2 * GRAIN - 2, w->va, 4));
    BAD(INVALID_HANDLE, cuMemcpyAsync(w->va, w->va, 4, w->dead_stream));
    BAD(INVALID_HANDLE, cuMemcpyHtoDAsync(w->va, &word, 4, (CUstream)(uintptr_t)w->event));
    BAD(INVALID_CONTEXT, cuMemcpyPeer(w->va, NULL, w->va, w->context, 4));
    BAD(INVALID_VALUE, cuMemcpy2D(NULL));
    BAD(INVALID_VALUE, cuMemsetD8(0, 1, 1));
    BAD(INVALID_VALUE, cuMemsetD8(w->va, 1, ~(size_t)0));
    BAD(INVALID_VALUE, cuMemsetD16(w->va + 1, 1, 1));
    BAD(INVALID_VALUE, cuMemsetD32(w->va + 2, 1, 1));
    BAD(INVALID_VALUE, cuMemsetD32(w->va, 1, ~(size_t)0));
    BAD(INVALID_HANDLE, cuMemsetD8Async(w->va, 1, 1, w->dead_stream));
    BAD(INVALID_VALUE, cuMemsetD2D8(w->va, 4, 1, 8, 2));
    BAD(INVALID_VALUE, cuStreamCreate(NULL, 0));
    BAD(INVALID_VALUE, cuStreamCreate(&out.a.stream, 2));
    BAD(INVALID_VALUE, cuStreamCreateWithPriority(NULL, 0, 0));
    BAD(INVALID_HANDLE, cuStreamDestroy(NULL));
    BAD(INVALID_HANDLE, cuStreamDestroy(w->dead_stream));
    BAD(INVALID_HANDLE, cuStreamSynchronize(w->dead_stream));
    BAD(INVALID_HANDLE, cuStreamQuery((CUstream)(uintptr_t)0x1230));
    BAD(INVALID_HANDLE, cuStreamWaitEvent(w->stream, NULL, 0));
    BAD(INVALID_HANDLE, cuStreamWaitEvent(w->stream, w->dead_event, 0));
    BAD(INVALID_VALUE, cuStreamWaitEvent(w->stream, w->event, 8));
    BAD(INVALID_VALUE, cuStreamGetFlags(w->stream, NULL));
    BAD(INVALID_HANDLE, cuStreamGetFlags(w->dead_stream, &out.a.u));
    BAD(INVALID_VALUE, cuStreamGetPriority(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamGetCtx(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamGetId(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamGetDevice(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamIsCapturing(w->stream, NULL));
    BAD(INVALID_VALUE, cuStreamAddCallback(w->stream, NULL, NULL, 0));
    BAD(INVALID_VALUE, cuLaunchHostFunc(w->stream, NULL, NULL));
    BAD(INVALID_VALUE, cuStreamWriteValue32(w->stream, 0x1230, 1, 0));
    BAD(INVALID_VALUE, cuStreamWriteValue32(w->stream, w->va + 1, 1, 0));
    BAD(INVALID_VALUE, cuStreamWaitValue64(w->stream, w->va, 1, 64));
    BAD(INVALID_VALUE, cuEventCreate(NULL, 0));
    BAD(INVALID_VALUE, cuEventCreate(&out.a.event, 64));
    BAD(INVALID_VALUE, cuEventCreate(&out.a.event, CU_EVENT_INTERPROCESS));
    BAD(INVALID_HANDLE, cuEventRecord(NULL, w->stream));
    BAD(INVALID_HANDLE, cuEventRecord(w->event, w->dead_stream));
    BAD(INVALID_VALUE, cuEventRecordWithFlags(w->event, w->stream, 64));
    BAD(INVALID_HANDLE, cuEventQuery(w->dead_event));
    BAD(INVALID_HANDLE, cuEventSynchronize(NULL));
    BAD(INVALID_HANDLE, cuEventDestroy(w->dead_event));
    BAD(INVALID_HANDLE, cuEventElapsedTime(&out.a.f, NULL, w->event));
    BAD(INVALID_VALUE, cuEventElapsedTime(NULL, w->event, w->event));
    BAD(INVALID_VALUE, fo_launch(NULL, w->stream));
    BAD(INVALID_VALUE, fo_launch(&none, w->stream));
    BAD(INVALID_VALUE, fo_now_ps(NULL));
}

static void all_bad(const World *w)
{
    bad_devices(w);
    bad_contexts(w);
    bad_virtual_memory(w);
    bad_multicast(w);
    bad_memory(w);
    bad_work(w);
}

/* Each wrong parameter gets its code, and nothing has changed afterwards: memory, time, a working
 * object. */
static void test_every_parameter(void)
{
    World w;
    size_t before, after, total;
    uint64_t time_before, time_after;

    start();
    make_world(&w);
    OK(cuMemGetInfo(&before, &total));
    OK(fo_now_ps(&time_before));
    all_bad(&w);
    OK(cuMemGetInfo(&after, &total));
    OK(fo_now_ps(&time_after));
    assert_int_equal(before, after);
    assert_int_equal(time_before, time_after);
    OK(cuMulticastBindMem(w.object, 0, w.memory, 0, 2 * GRAIN, 0));
    OK(cuMulticastBindMem(w.object, 0, memory(1, 2 * GRAIN, 1), 0, 2 * GRAIN, 0));
    CUdeviceptr mc = mapped(w.object, 2 * GRAIN, 0);
    OK(cuMemsetD32(mc, 0x77, 4));
    assert_int_equal(word_at(w.va), 0x77);
}

static gpointer one_of_many(gpointer data)
{
    const World *w = data;
    OK(cuCtxSetCurrent(w->context));
    for (int i = 0; i < 3; i++)
        all_bad(w);
    return NULL;
}

/* The same from eight threads at once, while another makes and drops teams. */
static void test_from_many_threads(void)
{
    World w;
    GThread *thread[8];

    start();
    make_world(&w);
    for (gsize i = 0; i < G_N_ELEMENTS(thread); i++)
        thread[i] = g_thread_new("bad", one_of_many, &w);
    for (int i = 0; i < 30; i++) {
        Handle object = full_team(2, GRAIN, 0), mem = memory(1, GRAIN, 0);
        OK(cuMulticastBindMem(object, 0, mem, 0, GRAIN, 0));
        CUdeviceptr mc = mapped(object, GRAIN, 1);
        OK(cuMemUnmap(mc, GRAIN));
        OK(cuMemRelease(object));
        OK(cuMemRelease(mem));
    }
    for (gsize i = 0; i < G_N_ELEMENTS(thread); i++)
        g_thread_join(thread[i]);
}

/* Calls that need a context say so when there is none, or when it was destroyed. */
static void test_without_context(void)
{
    CUcontext context;
    CUdeviceptr va = 77;
    CUstream stream;

    start();
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&va, 1));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&context));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyHtoD(4096, &va, 1));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuCtxPushCurrent(context));
    OK(cuCtxDestroy(context));
    EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&va, 1));
    assert_int_equal(va, 77);
}

int main(int argc, char **argv)
{
    static const CudaTest tests[] = {
        CUDA_TEST(test_every_parameter, ""),
        CUDA_TEST(test_from_many_threads, ""),
        CUDA_TEST(test_without_context, ""),
        CUDA_TEST_END,
    };
    return cuda_test_main(tests, argc, argv);
}
