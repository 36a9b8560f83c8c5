/* What the driver tells about an address. */
#include <string.h>

#include "api/cuda/memory/mem.h"

#define WRITE(type, value) (*(type *)data = (type)(value), CUDA_SUCCESS)

static guint64 context_handle(Call *call, const Range *range)
{
    for (guint i = 0; i < call->cuda->n_devices; i++) {
        const Context *primary = call->cuda->device[i].primary;
        if (primary && primary->id == range->context)
            return primary->handle;
    }
    Context *current = context_current(call, NULL);
    return current && current->id == range->context ? current->handle : 0;
}

/* Of the addressable range around the mapping: the reservation, for virtual memory management. */
static void whole_range(Call *call, const Range *range, guint64 *base, guint64 *bytes)
{
    Reservation *reservation = reservation_find(call->cuda->ranges, range->va);

    *base = reservation ? reservation->va : range->va;
    *bytes = reservation ? reservation->bytes : range->bytes;
}

static CUresult of_range(Call *call, void *data, CUpointer_attribute attribute, Range *range, guint64 address)
{
    gboolean host = !range->team && range->device < 0;
    guint64 base, bytes;

    whole_range(call, range, &base, &bytes);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return WRITE(CUcontext, context_handle(call, range));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return WRITE(unsigned int, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return WRITE(CUdeviceptr, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (range->host_access == 0)
            return CUDA_ERROR_INVALID_VALUE;
        return WRITE(guint64, address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return WRITE(unsigned int, range->sync_memops);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return WRITE(unsigned long long, range->buffer_id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return WRITE(unsigned int, range->managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return WRITE(int, host ? 0 : range->device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return WRITE(unsigned int, range->kind == RANGE_ALLOC);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return WRITE(guint64, base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return WRITE(size_t, bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED: return WRITE(unsigned int, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return WRITE(guint64, range->phys   ? range->phys->page.handle_types
                              : range->team ? range->team->handle_types
                                            : 0);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return WRITE(unsigned int, range->phys && range->phys->page.rdma);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: {
        Context *context = context_current(call, NULL);
        return WRITE(unsigned int, context ? range->access[context->device] : 0);
    }
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return WRITE(guint64, range->pool ? range->pool->handle : 0);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return WRITE(size_t, range->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return WRITE(guint64, range->va);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return WRITE(unsigned long long, range->phys ? range->phys->identity[1] : range->buffer_id);
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return WRITE(unsigned int, 0);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Addresses that nothing is mapped at: reserved ones know their range, others only whether they
 * are. */
static CUresult of_nothing(Call *call, void *data, CUpointer_attribute attribute, guint64 address)
{
    Reservation *reservation = reservation_find(call->cuda->ranges, address);

    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MAPPED: return WRITE(unsigned int, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return reservation ? WRITE(guint64, reservation->va) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return reservation ? WRITE(size_t, reservation->bytes) : CUDA_ERROR_INVALID_VALUE;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult get(Call *call, void *data, CUpointer_attribute attribute, guint64 address)
{
    Range *range = range_find(call->cuda->ranges, address);

    return range && !range->freed ? of_range(call, data, attribute, range, address)
                                  : of_nothing(call, data, attribute, address);
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    CUDA_BEGIN(call);
    if (!data)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUDA_RETURN(call, get(&call, data, attribute, address));
}

static gsize attribute_bytes(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return 4;
    default: return 8;
    }
}

/* One that an address does not have is 0, and no error. source: cuda.h */
CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **data, CUdeviceptr address)
{
    CUDA_BEGIN(call);
    if (n == 0 || !attributes || !data)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (unsigned int i = 0; i < n; i++)
        if (!data[i] || (unsigned)attributes[i] < CU_POINTER_ATTRIBUTE_CONTEXT ||
            (unsigned)attributes[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
            CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (unsigned int i = 0; i < n; i++)
        if (get(&call, data[i], attributes[i], address) != CUDA_SUCCESS) {
            if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
                *(int *)data[i] = CU_DEVICE_INVALID;
            else
                memset(data[i], 0, attribute_bytes(attributes[i]));
        }
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    CUDA_BEGIN(call);
    Range *range = range_find(call.cuda->ranges, address);

    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !range)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    range->sync_memops = *(const unsigned int *)value != 0;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
