/* Memory of the runtime API: allocations, copies, fills, pools, pointers. */
#include "api/cudart/runtime.h"

#include <string.h>

RT cudaMalloc(void **at, size_t bytes)
{
    CUdeviceptr p = 0;
    CUresult result = runtime_open();
    if (!at)
        NOTE(CUDA_ERROR_INVALID_VALUE);
    if (result == CUDA_SUCCESS && bytes > 0)
        result = cuMemAlloc(&p, bytes);
    if (result == CUDA_SUCCESS)
        *at = (void *)(uintptr_t)p;
    NOTE(result);
}
RT cudaMallocManaged(void **at, size_t bytes, unsigned flags)
{
    CUdeviceptr p = 0;
    CUresult result = runtime_open();
    if (!at)
        NOTE(CUDA_ERROR_INVALID_VALUE);
    if (result == CUDA_SUCCESS)
        result = cuMemAllocManaged(&p, bytes, flags);
    if (result == CUDA_SUCCESS)
        *at = (void *)(uintptr_t)p;
    NOTE(result);
}
RT cudaFree(void *at) { CALL(cuMemFree((CUdeviceptr)(uintptr_t)at)); }
RT cudaHostAlloc(void **at, size_t bytes, unsigned flags) { CALL(cuMemHostAlloc(at, bytes, flags)); }
RT cudaMallocHost(void **at, size_t bytes) { CALL(cuMemHostAlloc(at, bytes, 0)); }
RT cudaFreeHost(void *at) { CALL(at ? cuMemFreeHost(at) : CUDA_SUCCESS); }
RT cudaHostRegister(void *at, size_t bytes, unsigned flags) { CALL(cuMemHostRegister(at, bytes, flags)); }
RT cudaHostUnregister(void *at) { CALL(cuMemHostUnregister(at)); }
RT cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    CUdeviceptr p = 0;
    CUresult result = runtime_open();
    if (result == CUDA_SUCCESS)
        result = device ? cuMemHostGetDevicePointer(&p, host, flags) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *device = (void *)(uintptr_t)p;
    NOTE(result);
}
RT cudaMemGetInfo(size_t *left, size_t *all) { CALL(cuMemGetInfo(left, all)); }

/* ---- copies and fills */

static CUresult copy(void *to, const void *from, size_t bytes, int kind, CUstream stream, int asynchronous)
{
    CUdeviceptr d = (CUdeviceptr)(uintptr_t)to, s = (CUdeviceptr)(uintptr_t)from;

    if (bytes == 0)
        return CUDA_SUCCESS;
    switch (kind) {
    case MEMCPY_HOST_TO_HOST: /* in the stream's order, as the driver's unified copy has it */
    case MEMCPY_DEFAULT: return asynchronous ? cuMemcpyAsync(d, s, bytes, stream) : cuMemcpy(d, s, bytes);
    case MEMCPY_HOST_TO_DEVICE:
        return asynchronous ? cuMemcpyHtoDAsync(d, from, bytes, stream) : cuMemcpyHtoD(d, from, bytes);
    case MEMCPY_DEVICE_TO_HOST:
        return asynchronous ? cuMemcpyDtoHAsync(to, s, bytes, stream) : cuMemcpyDtoH(to, s, bytes);
    case MEMCPY_DEVICE_TO_DEVICE:
        return asynchronous ? cuMemcpyDtoDAsync(d, s, bytes, stream) : cuMemcpyDtoD(d, s, bytes);
    default: return (CUresult)21; /* cudaErrorInvalidMemcpyDirection */
    }
}
RT cudaMemcpy(void *to, const void *from, size_t n, int kind) { CALL(copy(to, from, n, kind, NULL, 0)); }
RT cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, CUstream stream)
{
    CALL(copy(to, from, n, kind, stream, 1));
}
/* Addresses are unified: the devices follow from them. */
RT cudaMemcpyPeer(void *to, int device, const void *from, int source, size_t n)
{
    (void)device, (void)source;
    CALL(copy(to, from, n, MEMCPY_DEVICE_TO_DEVICE, NULL, 0));
}
RT cudaMemcpyPeerAsync(void *to, int device, const void *from, int source, size_t n, CUstream stream)
{
    (void)device, (void)source;
    CALL(copy(to, from, n, MEMCPY_DEVICE_TO_DEVICE, stream, 1));
}
RT cudaMemcpyBatchAsync(const void **to, const void **from, const size_t *bytes, size_t n,
                        CUmemcpyAttributes *attributes, size_t *first, size_t n_attributes, CUstream stream)
{
    CALL(cuMemcpyBatchAsync((CUdeviceptr *)to, (CUdeviceptr *)from, (size_t *)bytes, n, attributes, first, n_attributes,
                            stream));
}
static CUresult symbol_copy(const void *symbol, const void *with, size_t n, size_t offset, int kind, CUstream stream,
                            int asynchronous, int out)
{
    CUdeviceptr p;
    size_t bytes;
    CUresult result = runtime_variable(symbol, &p, &bytes);
    if (result == CUDA_SUCCESS && (offset > bytes || n > bytes - offset))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    void *at = (void *)(uintptr_t)(p + offset);
    return out ? copy((void *)(uintptr_t)with, at, n, kind, stream, asynchronous)
               : copy(at, with, n, kind, stream, asynchronous);
}
RT cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, int kind)
{
    CALL(symbol_copy(symbol, from, n, offset, kind, NULL, 0, 0));
}
RT cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t n, size_t offset, int kind, CUstream stream)
{
    CALL(symbol_copy(symbol, from, n, offset, kind, stream, 1, 0));
}
RT cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset, int kind)
{
    CALL(symbol_copy(symbol, to, n, offset, kind, NULL, 0, 1));
}
RT cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t n, size_t offset, int kind, CUstream stream)
{
    CALL(symbol_copy(symbol, to, n, offset, kind, stream, 1, 1));
}
RT cudaGetSymbolAddress(void **at, const void *symbol)
{
    CUdeviceptr p = 0;
    CUresult result = runtime_open();
    if (result == CUDA_SUCCESS)
        result = at ? runtime_variable(symbol, &p, NULL) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *at = (void *)(uintptr_t)p;
    NOTE(result);
}
RT cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    CUdeviceptr p;
    CALL(bytes ? runtime_variable(symbol, &p, bytes) : CUDA_ERROR_INVALID_VALUE);
}
RT cudaMemset(void *at, int value, size_t n)
{
    CALL(n ? cuMemsetD8((CUdeviceptr)(uintptr_t)at, (unsigned char)value, n) : CUDA_SUCCESS);
}
RT cudaMemsetAsync(void *at, int value, size_t n, CUstream stream)
{
    CALL(n ? cuMemsetD8Async((CUdeviceptr)(uintptr_t)at, (unsigned char)value, n, stream) : CUDA_SUCCESS);
}

/* ---- stream-ordered memory */

RT cudaMallocAsync(void **at, size_t bytes, CUstream stream)
{
    CUdeviceptr p = 0;
    CUresult result = runtime_open();
    if (result == CUDA_SUCCESS)
        result = at ? cuMemAllocAsync(&p, bytes, stream) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *at = (void *)(uintptr_t)p;
    NOTE(result);
}
RT cudaMallocFromPoolAsync(void **at, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    CUdeviceptr p = 0;
    CUresult result = runtime_open();
    if (result == CUDA_SUCCESS)
        result = at ? cuMemAllocFromPoolAsync(&p, bytes, pool, stream) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *at = (void *)(uintptr_t)p;
    NOTE(result);
}
RT cudaFreeAsync(void *at, CUstream stream) { CALL(cuMemFreeAsync((CUdeviceptr)(uintptr_t)at, stream)); }
RT cudaMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) { CALL(cuMemPoolCreate(pool, props)); }
RT cudaMemPoolDestroy(CUmemoryPool pool) { CALL(cuMemPoolDestroy(pool)); }
RT cudaMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value)
{
    CALL(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
}
RT cudaDeviceGetDefaultMemPool(CUmemoryPool *pool, int device) { CALL(cuDeviceGetDefaultMemPool(pool, device)); }

/* ---- pointers: memory that the driver does not know is ordinary host memory */
RT cudaPointerGetAttributes(cudaPointerAttributes *a, const void *at)
{
    CUdeviceptr p = (CUdeviceptr)(uintptr_t)at;
    unsigned type = 0, managed = 0;
    CUresult result = runtime_open();

    if (!a)
        NOTE(CUDA_ERROR_INVALID_VALUE);
    if (result != CUDA_SUCCESS)
        NOTE(result);
    memset(a, 0, sizeof *a);
    a->device = -2; /* none */
    a->host_pointer = (void *)(uintptr_t)at;
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) != CUDA_SUCCESS)
        return 0; /* type 0: unregistered */
    cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p);
    cuPointerGetAttribute(&a->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p);
    a->type = managed ? 3 : (int)type;
    a->device_pointer = (void *)(uintptr_t)at;
    a->host_pointer = managed || type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)at : NULL;
    return 0;
}

/* ---- memory of other processes */

RT cudaIpcGetMemHandle(CUipcMemHandle *handle, void *at)
{
    CALL(cuIpcGetMemHandle(handle, (CUdeviceptr)(uintptr_t)at));
}
RT cudaIpcOpenMemHandle(void **at, CUipcMemHandle handle, unsigned flags)
{
    CUdeviceptr p = 0;
    CUresult result = runtime_open();
    if (!at)
        NOTE(CUDA_ERROR_INVALID_VALUE);
    if (result == CUDA_SUCCESS)
        result = cuIpcOpenMemHandle(&p, handle, flags);
    if (result == CUDA_SUCCESS)
        *at = (void *)(uintptr_t)p;
    NOTE(result);
}
RT cudaIpcCloseMemHandle(void *at) { CALL(cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)at)); }
