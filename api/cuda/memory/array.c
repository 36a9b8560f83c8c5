/* Arrays: memory of a device that has a shape and a format, for copies. Rows lie one behind the other without gaps; on
 * hardware their order is not told. Textures and surfaces, which arrays are for, are not there, nor are layers, cube
 * maps, mipmaps, formats of several planes, and arrays that are sparse or mapped later. */
#include "api/cuda/memory/array.h"

/* Of the plain formats; 0: another. */
static guint64 format_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

Array *array_get(Call *call, CUarray handle)
{
    return cuda_object(call, HANDLE_ARRAY, (guint64)handle, "use of a destroyed array", "not an array");
}

/* Height and depth 0: there is no such dimension. source: CUDA driver API, cuArray3DCreate */
static CUresult create(Call *call, CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    Array made = {.descriptor = *d, .rows = MAX(d->Height, 1), .slices = MAX(d->Depth, 1)};
    guint64 bytes = format_bytes(d->Format) * d->NumChannels;
    Context *context;
    Range *range;

    CUresult result = context_need(call, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (d->Flags != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (bytes == 0 || (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4) || d->Width == 0 ||
        (d->Depth != 0 && d->Height == 0) || !g_uint64_checked_mul(&made.row_bytes, bytes, d->Width) ||
        !g_uint64_checked_mul(&bytes, made.row_bytes, made.rows) || !g_uint64_checked_mul(&bytes, bytes, made.slices))
        return CUDA_ERROR_INVALID_VALUE;
    result = device_memory_new(call, RANGE_ALLOC, context->device, bytes, 0, &range);
    if (result != CUDA_SUCCESS)
        return result;
    range->context = context->id;
    range->of_module = TRUE; /* the array's, not cuMemFree's */
    made.context = context->id;
    made.va = range->va;
    Array *array = g_memdup2(&made, sizeof made);
    array->handle = handle_new(call->cuda->handles, HANDLE_ARRAY, array);
    *handle = (CUarray)array->handle;
    return CUDA_SUCCESS;
}

CUresult cuArray3DCreate_v2(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    CUDA_BEGIN(call);
    if (!handle || !descriptor)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUDA_RETURN(call, create(&call, handle, descriptor));
}

CUresult cuArrayCreate_v2(CUarray *handle, const CUDA_ARRAY_DESCRIPTOR *d)
{
    CUDA_BEGIN(call);
    if (!handle || !d)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = {d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
    CUDA_RETURN(call, create(&call, handle, &descriptor));
}

/* Of an array that is asked for its descriptor; wanted: where to write it. */
static CUresult described(Call *call, const void *wanted, CUarray handle, const CUDA_ARRAY3D_DESCRIPTOR **d)
{
    const Array *array = array_get(call, handle);

    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!wanted)
        return CUDA_ERROR_INVALID_VALUE;
    *d = &array->descriptor;
    return CUDA_SUCCESS;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray handle)
{
    CUDA_BEGIN(call);
    const CUDA_ARRAY3D_DESCRIPTOR *d;
    CUresult result = described(&call, descriptor, handle, &d);

    if (result == CUDA_SUCCESS)
        *descriptor = *d;
    CUDA_RETURN(call, result);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray handle)
{
    CUDA_BEGIN(call);
    const CUDA_ARRAY3D_DESCRIPTOR *d;
    CUresult result = described(&call, descriptor, handle, &d);

    if (result == CUDA_SUCCESS)
        *descriptor = (CUDA_ARRAY_DESCRIPTOR){d->Width, d->Height, d->Format, d->NumChannels};
    CUDA_RETURN(call, result);
}

CUresult cuArrayDestroy(CUarray handle)
{
    CUDA_BEGIN(call);

    if (!array_get(&call, handle))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    CUresult result = memory_wait_device(&call);
    Array *array = array_get(&call, handle);
    if (!array) /* destroyed by another thread meanwhile */
        CUDA_RETURN(call, CUDA_ERROR_INVALID_HANDLE);
    memory_free_range(&call, range_find(call.cuda->ranges, array->va));
    handle_unref(call.cuda->handles, array->handle);
    g_free(array);
    CUDA_RETURN(call, result);
}

static gboolean of_context(const void *array, const void *context)
{
    return ((const Array *)array)->context == ((const Context *)context)->id;
}

void array_context_gone(Call *call, Context *context)
{
    HandleTable *handles = call->cuda->handles;
    g_autoptr(GArray) found = handle_collect(handles, HANDLE_ARRAY, of_context, context);

    for (guint i = 0; i < found->len; i++) {
        guint64 handle = g_array_index(found, guint64, i);
        void *array = handle_get(handles, HANDLE_ARRAY, handle, NULL);
        handle_unref(handles, handle);
        g_free(array);
    }
}
