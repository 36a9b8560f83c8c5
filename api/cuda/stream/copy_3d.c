/* Three-dimensional copies: slices, each a two-dimensional copy. */
#include "api/cuda/memory/array.h"
#include "api/cuda/stream/copy.h"

typedef struct {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    guint64 x, y, z, pitch, height;
    CUarray array;
} End3D;

/* An array is memory of its device, whose shape is known. FALSE: no array, or the copy does not lie within. */
static gboolean end_array(Call *call, End3D *end, const CUDA_MEMCPY3D *d)
{
    if (end->type != CU_MEMORYTYPE_ARRAY)
        return TRUE;
    const Array *array = array_get(call, end->array);
    if (!array || !fits(end->x, d->WidthInBytes, array->row_bytes) || !fits(end->y, d->Height, array->rows) ||
        !fits(end->z, d->Depth, array->slices))
        return FALSE;
    end->type = CU_MEMORYTYPE_DEVICE;
    end->device = array->va;
    end->pitch = array->row_bytes;
    end->height = array->rows;
    return TRUE;
}

/* One end of slice z. FALSE: sizes that cannot be, or a type of memory that does not exist. */
static gboolean end_3d(const End3D *end, const CUDA_MEMCPY3D *d, guint64 z, CopySide *side, guint64 *address,
                       guint64 *pitch)
{
    guint64 row, rows, skip;

    if (!g_uint64_checked_add(&row, end->x, d->WidthInBytes) || !g_uint64_checked_add(&rows, end->y, d->Height))
        return FALSE;
    *pitch = end->pitch != 0 ? end->pitch : row;
    rows = end->height != 0 ? end->height : rows;
    if (*pitch < row || rows < d->Height || !g_uint64_checked_mul(&skip, end->z + z, rows) ||
        !g_uint64_checked_add(&skip, skip, end->y) || !g_uint64_checked_mul(&skip, skip, *pitch) ||
        !g_uint64_checked_add(&skip, skip, end->x))
        return FALSE;
    guint64 base = end->type == CU_MEMORYTYPE_HOST ? (guint64)end->host : end->device;
    *side = end->type == CU_MEMORYTYPE_HOST ? SIDE_HOST : end->type == CU_MEMORYTYPE_DEVICE ? SIDE_DEVICE : SIDE_ANY;
    return (end->type == CU_MEMORYTYPE_HOST || end->type == CU_MEMORYTYPE_DEVICE ||
            end->type == CU_MEMORYTYPE_UNIFIED) &&
           base != 0 && g_uint64_checked_add(address, base, skip);
}

CUresult copy_3d_slice(Call *call, const CUDA_MEMCPY3D *d, guint64 z, Copy *copy)
{
    End3D to = {d->dstMemoryType, d->dstHost,  d->dstDevice, d->dstXInBytes, d->dstY,
                d->dstZ,          d->dstPitch, d->dstHeight, d->dstArray};
    End3D from = {d->srcMemoryType, d->srcHost,  d->srcDevice, d->srcXInBytes, d->srcY,
                  d->srcZ,          d->srcPitch, d->srcHeight, d->srcArray};

    if (!end_array(call, &to, d) || !end_array(call, &from, d))
        return CUDA_ERROR_INVALID_VALUE;
    if (d->Depth > COPY_SLICES_MAX || !end_3d(&to, d, z, &copy->destination_side, &copy->destination, &copy->pitch) ||
        !end_3d(&from, d, z, &copy->source_side, &copy->source, &copy->source_pitch))
        return CUDA_ERROR_INVALID_VALUE;
    copy->bytes = d->WidthInBytes;
    copy->height = d->Height > 1 ? d->Height : 0;
    return CUDA_SUCCESS;
}

CUresult copy_3d(Call *call, const CUDA_MEMCPY3D *d, CUstream stream, CUstream standard, gboolean asynchronous)
{
    CUresult result = d ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

    if (d && (d->WidthInBytes == 0 || d->Height == 0))
        return CUDA_SUCCESS;
    for (guint64 z = 0; result == CUDA_SUCCESS && z < d->Depth; z++) {
        Copy copy = {
            .stream = stream, .standard = standard, .asynchronous = asynchronous, .peer = -1, .source_peer = -1};
        result = copy_3d_slice(call, d, z, &copy);
        if (result == CUDA_SUCCESS)
            result = copy_any(call, &copy);
    }
    return result;
}

CUDA_ALIAS_PTSZ CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, copy_3d(&call, copy, NULL, CU_STREAM_LEGACY, FALSE));
}

CUDA_ALIAS_PTSZ CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *copy);
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *copy)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, copy_3d(&call, copy, NULL, CU_STREAM_PER_THREAD, FALSE));
}

CUDA_ALIAS_PTSZ CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream);
STREAM_TWINS(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream), copy_3d,
             (&call, copy, stream, standard, TRUE))
