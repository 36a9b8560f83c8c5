/* Memory in rows of the runtime API: allocation, copies and fills. Arrays are not there. */
#include "api/cudart/runtime.h"

RT cudaMallocPitch(void **at, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr p = 0;
    CUresult result = runtime_open();
    if (!at || !pitch)
        NOTE(CUDA_ERROR_INVALID_VALUE);
    if (result == CUDA_SUCCESS)
        result = cuMemAllocPitch(&p, pitch, width, height, 4);
    if (result == CUDA_SUCCESS)
        *at = (void *)(uintptr_t)p;
    NOTE(result);
}

static CUmemorytype side(int kind, int is_source)
{
    switch (kind) {
    case MEMCPY_HOST_TO_HOST: return CU_MEMORYTYPE_HOST;
    case MEMCPY_HOST_TO_DEVICE: return is_source ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    case MEMCPY_DEVICE_TO_HOST: return is_source ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    case MEMCPY_DEVICE_TO_DEVICE: return CU_MEMORYTYPE_DEVICE;
    default: return CU_MEMORYTYPE_UNIFIED;
    }
}

static CUresult copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                     int kind, CUstream stream, int asynchronous)
{
    if (kind < MEMCPY_HOST_TO_HOST || kind > MEMCPY_DEFAULT)
        return (CUresult)21; /* cudaErrorInvalidMemcpyDirection */
    if (width == 0 || height == 0)
        return CUDA_SUCCESS;
    CUDA_MEMCPY2D c = {.srcMemoryType = side(kind, 1),
                       .srcHost = from,
                       .srcDevice = (CUdeviceptr)(uintptr_t)from,
                       .srcPitch = from_pitch,
                       .dstMemoryType = side(kind, 0),
                       .dstHost = to,
                       .dstDevice = (CUdeviceptr)(uintptr_t)to,
                       .dstPitch = to_pitch,
                       .WidthInBytes = width,
                       .Height = height};
    return asynchronous ? cuMemcpy2DAsync(&c, stream) : cuMemcpy2D(&c);
}
RT cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind)
{
    CALL(copy(to, to_pitch, from, from_pitch, width, height, kind, NULL, 0));
}
RT cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                     int kind, CUstream stream)
{
    CALL(copy(to, to_pitch, from, from_pitch, width, height, kind, stream, 1));
}
RT cudaMemset2D(void *at, size_t pitch, int value, size_t width, size_t height)
{
    CALL(width && height ? cuMemsetD2D8((CUdeviceptr)(uintptr_t)at, pitch, (unsigned char)value, width, height)
                         : CUDA_SUCCESS);
}
