/* Copies of bytes to and from arrays of one dimension. */
#include "api/cuda/stream/copy.h"

#define ARRAY_COPY(name, parameters, stream, standard, asynchronous, ...)                                              \
    CUDA_ALIAS_PTSZ CUresult name parameters;                                                                          \
    CUresult name parameters                                                                                           \
    {                                                                                                                  \
        CUDA_BEGIN(call);                                                                                              \
        const CUDA_MEMCPY3D copy = {.WidthInBytes = bytes, .Height = 1, .Depth = 1, __VA_ARGS__};                      \
        CUDA_RETURN(call, copy_3d(&call, &copy, stream, standard, asynchronous));                                      \
    }
#define ARRAY_COPIES(name, parameters, ...)                                                                            \
    ARRAY_COPY(name, parameters, NULL, CU_STREAM_LEGACY, FALSE, __VA_ARGS__)                                           \
    ARRAY_COPY(name##_ptds, parameters, NULL, CU_STREAM_PER_THREAD, FALSE, __VA_ARGS__)
#define ARRAY_COPIES_ASYNC(name, parameters, ...)                                                                      \
    ARRAY_COPY(name, parameters, stream, CU_STREAM_LEGACY, TRUE, __VA_ARGS__)                                          \
    ARRAY_COPY(name##_ptsz, parameters, stream, CU_STREAM_PER_THREAD, TRUE, __VA_ARGS__)

#define TO_ARRAY .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = to, .dstXInBytes = to_offset
#define FROM_ARRAY .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = from, .srcXInBytes = from_offset

ARRAY_COPIES(cuMemcpyHtoA_v2, (CUarray to, size_t to_offset, const void *from, size_t bytes), TO_ARRAY,
             .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = from)
ARRAY_COPIES(cuMemcpyAtoH_v2, (void *to, CUarray from, size_t from_offset, size_t bytes), FROM_ARRAY,
             .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = to)
ARRAY_COPIES(cuMemcpyDtoA_v2, (CUarray to, size_t to_offset, CUdeviceptr from, size_t bytes), TO_ARRAY,
             .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from)
ARRAY_COPIES(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t from_offset, size_t bytes), FROM_ARRAY,
             .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = to)
ARRAY_COPIES(cuMemcpyAtoA_v2, (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes), TO_ARRAY,
             FROM_ARRAY)
ARRAY_COPIES_ASYNC(cuMemcpyHtoAAsync_v2,
                   (CUarray to, size_t to_offset, const void *from, size_t bytes, CUstream stream), TO_ARRAY,
                   .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = from)
ARRAY_COPIES_ASYNC(cuMemcpyAtoHAsync_v2, (void *to, CUarray from, size_t from_offset, size_t bytes, CUstream stream),
                   FROM_ARRAY, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = to)
