/* Arrays and copies of three dimensions. Included by <fanout/cuda.h>.
 * source of names, values and layouts: the published ABI, compared by tests/api/test_cuda_abi.sh. */
#ifndef FANOUT_CUDA_ARRAY_H
#define FANOUT_CUDA_ARRAY_H

#include <fanout/cuda_graph.h>

typedef enum CUarray_format_enum {
    CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
    CU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
    CU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
    CU_AD_FORMAT_SIGNED_INT8 = 0x08,
    CU_AD_FORMAT_SIGNED_INT16 = 0x09,
    CU_AD_FORMAT_SIGNED_INT32 = 0x0a,
    CU_AD_FORMAT_HALF = 0x10,
    CU_AD_FORMAT_FLOAT = 0x20,
} CUarray_format;

typedef struct CUDA_ARRAY_DESCRIPTOR_st {
    size_t Width;
    size_t Height;
    CUarray_format Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
    size_t Width;
    size_t Height;
    size_t Depth;
    CUarray_format Format;
    unsigned int NumChannels;
    unsigned int Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

#define cuArrayCreate cuArrayCreate_v2
#define cuArray3DCreate cuArray3DCreate_v2
#define cuArrayGetDescriptor cuArrayGetDescriptor_v2
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#define cuMemcpyHtoA cuMemcpyHtoA_v2
#define cuMemcpyAtoH cuMemcpyAtoH_v2
#define cuMemcpyDtoA cuMemcpyDtoA_v2
#define cuMemcpyAtoD cuMemcpyAtoD_v2
#define cuMemcpyAtoA cuMemcpyAtoA_v2
#define cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2
#define cuMemcpyAtoHAsync cuMemcpyAtoHAsync_v2
#define cuMemcpy3D cuMemcpy3D_v2
#define cuMemcpy3DAsync cuMemcpy3DAsync_v2

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Arrays of plain formats, one to three dimensions, for copies: also named by CUDA_MEMCPY2D and CUDA_MEMCPY3D. `Flags`
 * (layers, cube maps, sparse arrays, ...): 0, others are NOT_SUPPORTED, as are textures and surfaces. */
CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor);
CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array);
CUresult cuArrayDestroy(CUarray array);
CUresult cuMemcpyHtoA_v2(CUarray destination, size_t offset, const void *source, size_t bytes);
CUresult cuMemcpyAtoH_v2(void *destination, CUarray source, size_t offset, size_t bytes);
CUresult cuMemcpyDtoA_v2(CUarray destination, size_t offset, CUdeviceptr source, size_t bytes);
CUresult cuMemcpyAtoD_v2(CUdeviceptr destination, CUarray source, size_t offset, size_t bytes);
CUresult cuMemcpyAtoA_v2(CUarray destination, size_t offset, CUarray source, size_t source_offset, size_t bytes);
CUresult cuMemcpyHtoAAsync_v2(CUarray destination, size_t offset, const void *source, size_t bytes, CUstream stream);
CUresult cuMemcpyAtoHAsync_v2(void *destination, CUarray source, size_t offset, size_t bytes, CUstream stream);
/* Arrays, memory of devices, and of the host, in slices of rows; see cuda_graph.h for the description. */
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
