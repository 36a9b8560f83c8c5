/* Flags, attributes and choices of the runtime API: of devices, functions, streams, pools and managed memory. */
#include "api/cudart/runtime.h"

#include <stdio.h>

cudaError_t runtime_missing(const char *name, int *said)
{
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "fanout: %s is not supported by this runtime library\n", name);
    NOTE(CUDA_ERROR_NOT_SUPPORTED);
}

/* ---- devices */

static CUresult set_flags(unsigned flags)
{
    CUdevice device;
    CUresult result = runtime_open();
    if (result == CUDA_SUCCESS)
        result = cuCtxGetDevice(&device);
    return result == CUDA_SUCCESS ? cuDevicePrimaryCtxSetFlags(device, flags) : result;
}
RT cudaSetDeviceFlags(unsigned flags) { NOTE(set_flags(flags)); }
RT cudaGetDeviceFlags(unsigned *flags) { CALL(cuCtxGetFlags(flags)); }
RT cudaInitDevice(int device, unsigned flags, unsigned valid)
{
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS && valid)
        result = cuDevicePrimaryCtxSetFlags(device, flags);
    NOTE(result);
}
RT cudaDeviceGetP2PAttribute(int *value, int attribute, int device, int peer)
{
    CALL(cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, device, peer));
}
/* Caches are as they are: a preference is a wish. */
static int cache_preference;
RT cudaDeviceGetCacheConfig(int *preference)
{
    if (!preference)
        NOTE(CUDA_ERROR_INVALID_VALUE);
    *preference = cache_preference;
    NOTE(CUDA_SUCCESS);
}
RT cudaDeviceSetCacheConfig(int preference)
{
    cache_preference = preference;
    NOTE(CUDA_SUCCESS);
}
RT cudaProfilerStart(void) { NOTE(CUDA_SUCCESS); }
RT cudaProfilerStop(void) { NOTE(CUDA_SUCCESS); }

/* ---- functions */

static CUresult function_of(const void *host, CUfunction *function)
{
    CUkernel kernel;
    CUresult result = runtime_kernel(host, &kernel);
    return result == CUDA_SUCCESS ? cuKernelGetFunction(function, kernel) : result;
}
static CUresult prefer(const void *host)
{
    CUfunction function;
    return function_of(host, &function);
}
RT cudaFuncSetCacheConfig(const void *host, int preference)
{
    (void)preference;
    CALL(prefer(host));
}
static CUresult name_of(const char **name, const void *host)
{
    CUfunction function;
    CUresult result = name ? function_of(host, &function) : CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? cuFuncGetName(name, function) : result;
}
RT cudaFuncGetName(const char **name, const void *host) { CALL(name_of(name, host)); }
static CUresult room(size_t *bytes, const void *host, int blocks, int threads)
{
    CUfunction function;
    CUresult result = function_of(host, &function);
    return result == CUDA_SUCCESS ? cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads) : result;
}
RT cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads)
{
    CALL(room(bytes, host, blocks, threads));
}

/* ---- streams */

RT cudaStreamGetFlags(CUstream s, unsigned *flags) { CALL(cuStreamGetFlags(s, flags)); }
RT cudaStreamGetPriority(CUstream s, int *priority) { CALL(cuStreamGetPriority(s, priority)); }
RT cudaStreamGetDevice(CUstream s, int *device) { CALL(cuStreamGetDevice(s, device)); }
/* Numbers and values of attributes are the driver API's. */
RT cudaStreamSetAttribute(CUstream s, int attribute, const CUstreamAttrValue *value)
{
    CALL(cuStreamSetAttribute(s, (CUstreamAttrID)attribute, value));
}
RT cudaStreamGetAttribute(CUstream s, int attribute, CUstreamAttrValue *value)
{
    CALL(cuStreamGetAttribute(s, (CUstreamAttrID)attribute, value));
}
RT cudaStreamCopyAttributes(CUstream to, CUstream from) { CALL(cuStreamCopyAttributes(to, from)); }
RT cudaCtxResetPersistingL2Cache(void) { CALL(cuCtxResetPersistingL2Cache()); }
RT cudaStreamAddCallback(CUstream s, CUstreamCallback callback, void *user, unsigned flags)
{
    CALL(cuStreamAddCallback(s, callback, user, flags));
}
RT cudaStreamAttachMemAsync(CUstream s, void *at, size_t bytes, unsigned flags)
{
    CALL(cuStreamAttachMemAsync(s, (CUdeviceptr)(uintptr_t)at, bytes, flags));
}
RT cudaEventRecordWithFlags(CUevent e, CUstream s, unsigned flags) { CALL(cuEventRecordWithFlags(e, s, flags)); }

/* ---- pools */

RT cudaDeviceGetMemPool(CUmemoryPool *pool, int device) { CALL(cuDeviceGetMemPool(pool, device)); }
RT cudaDeviceSetMemPool(int device, CUmemoryPool pool) { CALL(cuDeviceSetMemPool(device, pool)); }
RT cudaMemPoolTrimTo(CUmemoryPool pool, size_t keep_bytes) { CALL(cuMemPoolTrimTo(pool, keep_bytes)); }
RT cudaMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value)
{
    CALL(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
}
RT cudaMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, size_t n)
{
    CALL(cuMemPoolSetAccess(pool, list, n));
}
RT cudaMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    CALL(cuMemPoolGetAccess(flags, pool, location));
}

/* ---- managed memory: until 12 the plain names took a device's number, -1 being the host */

#ifdef CUDART_12
static CUmemLocation place(int device)
{
    return device < 0 ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                      : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}
RT cudaMemPrefetchAsync(const void *at, size_t bytes, int device, CUstream s)
{
    CALL(cuMemPrefetchAsync_v2((CUdeviceptr)(uintptr_t)at, bytes, place(device), 0, s));
}
RT cudaMemAdvise(const void *at, size_t bytes, int advice, int device)
{
    CALL(cuMemAdvise_v2((CUdeviceptr)(uintptr_t)at, bytes, (CUmem_advise)advice, place(device)));
}
#endif
RT V2(cudaMemPrefetchAsync)(const void *at, size_t bytes, CUmemLocation location, unsigned flags, CUstream s)
{
    CALL(cuMemPrefetchAsync_v2((CUdeviceptr)(uintptr_t)at, bytes, location, flags, s));
}
RT V2(cudaMemAdvise)(const void *at, size_t bytes, int advice, CUmemLocation location)
{
    CALL(cuMemAdvise_v2((CUdeviceptr)(uintptr_t)at, bytes, (CUmem_advise)advice, location));
}
RT cudaMemGetLocationInfo(const void *at, size_t bytes, size_t summary, size_t sampling, CUmemLocation *locations)
{
    CALL(cuMemGetLocationInfo((CUdeviceptr)(uintptr_t)at, bytes, summary, sampling, locations));
}
RT cudaMemRangeGetAttribute(void *data, size_t data_bytes, int attribute, const void *at, size_t bytes)
{
    CUdeviceptr p = (CUdeviceptr)(uintptr_t)at;
    CALL(cuMemRangeGetAttribute(data, data_bytes, (CUmem_range_attribute)attribute, p, bytes));
}
