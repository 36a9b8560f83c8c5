/* Tensor maps: the driver's checks, and 128 bytes that a kernel's copies read (ptx/tensor_map.h). */
#include "ptx/tensor_map.h"

#include "api/cuda/memory/mem.h"

#define MAP_ALIGNMENT 64u

static gboolean has_maps(const Call *call, const Context *context)
{
    int value = 0;
    return cuda_device_attribute(call->cuda, &call->cuda->device[context->device],
                                 CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, &value) &&
           value;
}

/* A context whose GPU has tensor maps, and a place for one. */
static CUresult begin(Call *call, const CUtensorMap *to)
{
    Context *context;
    CUresult result = context_need(call, &context);
    if (result != CUDA_SUCCESS)
        return result;
    call->device = context->device;
    if (!has_maps(call, context))
        return CUDA_ERROR_NOT_SUPPORTED;
    return to && (guintptr)to % MAP_ALIGNMENT == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* What both kinds of maps have. FALSE: an array is missing. */
static gboolean take_tensor(PtxTensorMap *map, const cuuint64_t *dim, const cuuint64_t *stride,
                            const cuuint32_t *element)
{
    guint n = MIN(map->rank, PTX_TENSOR_DIMS);
    if (!dim || !element || (!stride && n > 1))
        return FALSE;
    for (guint i = 0; i < n; i++) {
        map->dim[i] = dim[i];
        map->element[i] = element[i];
        if (i + 1 < n)
            map->stride[i] = stride[i];
    }
    return TRUE;
}

static CUresult finish(Call *call, const PtxTensorMap *map, CUtensorMap *to)
{
    const char *broken = ptx_tensor_map_broken(map);
    call->address = map->address;
    if (broken) {
        cuda_diagnose(call, 0, call->device, map->address, "the tensor map is wrong: %s", broken);
        return CUDA_ERROR_INVALID_VALUE;
    }
    ptx_tensor_map_pack(map, (guint8 *)to);
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *to, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *dim, const cuuint64_t *stride, const cuuint32_t *box,
                                const cuuint32_t *element, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    PtxTensorMap map = {.mode = PTX_TENSOR_TILED,
                        .type = (guint32)type,
                        .rank = rank,
                        .address = (guintptr)address,
                        .interleave = (guint32)interleave,
                        .swizzle = (guint32)swizzle,
                        .promotion = (guint32)promotion,
                        .fill = (guint32)fill};
    CUDA_BEGIN(call);
    CUresult result = begin(&call, to);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (!box || !take_tensor(&map, dim, stride, element))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (guint i = 0; i < MIN(rank, PTX_TENSOR_DIMS); i++)
        map.box[i] = box[i];
    CUDA_RETURN(call, finish(&call, &map, to));
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *to, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                 const cuuint64_t *dim, const cuuint64_t *stride, const int *lower, const int *upper,
                                 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *element,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    PtxTensorMap map = {.mode = PTX_TENSOR_IM2COL,
                        .type = (guint32)type,
                        .rank = rank,
                        .address = (guintptr)address,
                        .interleave = (guint32)interleave,
                        .swizzle = (guint32)swizzle,
                        .promotion = (guint32)promotion,
                        .fill = (guint32)fill,
                        .channels = channels,
                        .pixels = pixels};
    CUDA_BEGIN(call);
    CUresult result = begin(&call, to);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (!lower || !upper || !take_tensor(&map, dim, stride, element))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (guint i = 0; i + 2 < MIN(rank, PTX_TENSOR_DIMS); i++) {
        map.lower[i] = lower[i];
        map.upper[i] = upper[i];
    }
    CUDA_RETURN(call, finish(&call, &map, to));
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *to, void *address)
{
    PtxTensorMap map;
    CUDA_BEGIN(call);
    CUresult result = begin(&call, to);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (!ptx_tensor_map_unpack((const guint8 *)to, &map))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    map.address = (guintptr)address;
    CUDA_RETURN(call, finish(&call, &map, to));
}

/* The simulated copies look at no more than the tensor: the class, by which hardware would bound what it reads beside
 * it, changes nothing, as on GPUs that have none. */
CUresult cuTensorMapSetAllocationClass(CUtensorMap *to, CUtensorMapAllocClass wanted, CUtensorMapAllocClass *got)
{
    PtxTensorMap map;
    CUDA_BEGIN(call);

    if (got)
        *got = CU_TENSOR_MAP_ALLOC_CLASS_SMALL; /* on errors, too */
    CUresult result = begin(&call, to);
    if (result == CUDA_ERROR_NOT_SUPPORTED)
        result = CUDA_SUCCESS; /* the page does not list it */
    if (result == CUDA_SUCCESS &&
        (!to || (unsigned)wanted > CU_TENSOR_MAP_ALLOC_CLASS_LARGE || !ptx_tensor_map_unpack((const guint8 *)to, &map)))
        result = CUDA_ERROR_INVALID_VALUE;
    CUDA_RETURN(call, result);
}
