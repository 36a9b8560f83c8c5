/* Managed memory: one address that the host and every device read and write.
 *
 * Its bytes have their home on the device that was current, and stay there: pages do not migrate, advice and
 * prefetches are remembered for those who ask, and change no time. The host touches the bytes directly. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/cuda/memory/mem.h"

static CUresult alloc_managed(Call *call, CUdeviceptr *address, guint64 bytes, unsigned int flags)
{
    Context *context;
    Range *range;

    if (!address || bytes == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_need(call, &context);
    if (result == CUDA_SUCCESS)
        result = managed_new(call, context->device, bytes, &range);
    if (result != CUDA_SUCCESS)
        return result;
    range->context = context->id;
    range->flags = flags;
    *address = range->va;
    return CUDA_SUCCESS;
}

CUresult managed_new(Call *call, int device, guint64 bytes, Range **range)
{
    /* more than half a slab, so that it has a file of its own, which the host can map */
    CUresult result = device_memory_new(call, RANGE_ALLOC, device, MAX(bytes, SLAB_BYTES / 2 + 1), 0, range);

    if (result != CUDA_SUCCESS)
        return result;
    Range *made = *range;
    if (mmap((void *)made->va, made->phys->page.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, made->phys->fd,
             0) == MAP_FAILED) {
        memory_free_range(call, made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->host_mapped = made->managed = TRUE;
    made->asked_bytes = bytes;
    made->host_access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    made->advice = (Advice){.preferred = {CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID},
                            .prefetched = {CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID},
                            .accessed_by = made->advice.accessed_by};
    for (guint i = 0; i < call->cuda->n_devices; i++)
        vmm_set_access(call, made, (int)i, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, alloc_managed(&call, address, bytes, flags));
}

/* The managed range that holds all of it, or NULL. */
static Range *managed_span(Call *call, guint64 va, guint64 bytes)
{
    Range *range = range_find(call->cuda->ranges, va);

    return range && range->managed && bytes > 0 && bytes <= range->bytes - (va - range->va) ? range : NULL;
}

static CUresult check_location(Call *call, CUmemLocation location)
{
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return cuda_device(call->cuda, location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return location.id >= 0 && location.id < CUDA_NUMA_NODES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUmemLocation location_of(CUdevice device)
{
    return device == CU_DEVICE_CPU ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                                   : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/* ---- prefetch */

static CUresult prefetch(Call *call, CUstream handle, CUstream standard, guint64 va, guint64 bytes,
                         CUmemLocation location, unsigned int flags)
{
    Stream stream;
    Range *range = managed_span(call, va, bytes);

    if (flags != 0 || !range)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_location(call, location);
    if (result == CUDA_SUCCESS)
        result = stream_get(call, handle, standard, &stream);
    if (result == CUDA_SUCCESS)
        range->advice.prefetched = location;
    return result;
}

STREAM_TWINS(cuMemPrefetchAsync_v2,
             (CUdeviceptr va, size_t bytes, CUmemLocation location, unsigned int flags, CUstream stream), prefetch,
             (&call, stream, standard, va, bytes, location, flags))
#undef cuMemPrefetchAsync
CUDA_ALIAS_PTSZ CUresult cuMemPrefetchAsync(CUdeviceptr va, size_t bytes, CUdevice device, CUstream stream);
STREAM_TWINS(cuMemPrefetchAsync, (CUdeviceptr va, size_t bytes, CUdevice device, CUstream stream), prefetch,
             (&call, stream, standard, va, bytes, location_of(device), 0))

/* Only whole allocations of a single stream could be attached; every stream sees all memory here anyway. */
static CUresult attach(Call *call, CUstream handle, CUstream standard, guint64 va, guint64 bytes, unsigned int flags)
{
    Stream stream;
    Range *range = range_find(call->cuda->ranges, va);

    if (!range || !range->managed || va != range->va || (bytes != 0 && bytes != range->asked_bytes) ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = stream_get(call, handle, standard, &stream);
    if (result == CUDA_SUCCESS && flags == CU_MEM_ATTACH_SINGLE && stream.handle == 0)
        result = CUDA_ERROR_INVALID_VALUE;
    return result;
}

STREAM_TWINS(cuStreamAttachMemAsync, (CUstream stream, CUdeviceptr va, size_t bytes, unsigned int flags), attach,
             (&call, stream, standard, va, bytes, flags))

/* ---- advice */

static CUresult advise(Call *call, guint64 va, guint64 bytes, CUmem_advise advice, CUmemLocation location)
{
    Range *range = managed_span(call, va, bytes);
    CUresult result = CUDA_SUCCESS;

    if (!range || (unsigned)advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
        (unsigned)advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        return CUDA_ERROR_INVALID_VALUE;
    if (advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice >= CU_MEM_ADVISE_SET_ACCESSED_BY)
        result = check_location(call, location);
    if (result != CUDA_SUCCESS)
        return result;
    Advice *a = &range->advice;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: a->read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: a->preferred = location; break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        a->preferred = (CUmemLocation){CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID};
        break;
    default:
        if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            a->accessed_by[location.id] = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
        else
            a->accessed_by_host = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemAdvise_v2(CUdeviceptr va, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, advise(&call, va, bytes, advice, location));
}

#undef cuMemAdvise
CUDA_ALIAS_PTSZ CUresult cuMemAdvise(CUdeviceptr va, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult cuMemAdvise(CUdeviceptr va, size_t bytes, CUmem_advise advice, CUdevice device)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, advise(&call, va, bytes, advice, location_of(device)));
}

/* A place as the older attributes have it: an ordinal, the CPU, or none. */
static gint32 ordinal_of(CUmemLocation location)
{
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE    ? location.id
           : location.type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID
                                                           : CU_DEVICE_CPU;
}

static void accessed_by(const Cuda *cuda, const Advice *advice, gint32 *list, gsize n)
{
    gsize at = 0;

    for (guint i = 0; i < cuda->n_devices && at < n; i++)
        if (advice->accessed_by[i])
            list[at++] = (gint32)i;
    if (advice->accessed_by_host && at < n)
        list[at++] = CU_DEVICE_CPU;
    while (at < n)
        list[at++] = CU_DEVICE_INVALID;
}

static CUresult range_attribute(Call *call, void *data, gsize bytes, CUmem_range_attribute attribute, guint64 va,
                                guint64 span)
{
    Range *range = managed_span(call, va, span);
    gint32 value = 0;

    if (!data || !range || bytes == 0 || bytes % 4 != 0 ||
        (attribute != CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY && bytes != 4))
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: value = range->advice.read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: value = ordinal_of(range->advice.preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        accessed_by(call->cuda, &range->advice, data, bytes / 4);
        return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: value = ordinal_of(range->advice.prefetched); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: value = (gint32)range->advice.preferred.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: value = range->advice.preferred.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: value = (gint32)range->advice.prefetched.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: value = range->advice.prefetched.id; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttribute(void *data, size_t bytes, CUmem_range_attribute attribute, CUdeviceptr va, size_t span)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, range_attribute(&call, data, bytes, attribute, va, span));
}

CUresult cuMemRangeGetAttributes(void **data, size_t *bytes, CUmem_range_attribute *attributes, size_t n,
                                 CUdeviceptr va, size_t span)
{
    CUDA_BEGIN(call);
    CUresult result = data && bytes && attributes && n > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++)
        result = range_attribute(&call, data[i], bytes[i], attributes[i], va, span);
    CUDA_RETURN(call, result);
}

/* ---- where memory is */

/* Pages of the host's, of this program and not registered. */
static gboolean is_pageable(Call *call, guint64 va, guint64 bytes)
{
    const guint64 page = (guint64)sysconf(_SC_PAGESIZE), first = va / page * page, end = va + bytes;
    unsigned char resident[1024];

    if (va == 0 || end < va || range_any(call->cuda->ranges, va, bytes) || reservation_find(call->cuda->ranges, va))
        return FALSE;
    for (guint64 at = first; at < end; at += sizeof resident * page) /* ENOMEM: nothing is mapped there */
        if (mincore((void *)(guintptr)at, MIN(end - at, sizeof resident * page), resident) != 0)
            return FALSE;
    return TRUE;
}

/* Managed memory does not move: all of a range is at its home. */
CUresult cuMemGetLocationInfo(CUdeviceptr va, size_t bytes, size_t summary, size_t sampling, CUmemLocation *location)
{
    CUmemLocation where = {CU_MEM_LOCATION_TYPE_HOST, 0};
    CUDA_BEGIN(call);
    call.address = va;

    if (!location || summary == 0 || summary > bytes || sampling > summary)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    const Range *range = managed_span(&call, va, bytes);
    if (!range && !is_pageable(&call, va, bytes))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (range && range->device >= 0)
        where = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, range->device};
    for (size_t i = 0; i < (bytes - 1) / summary + 1; i++)
        location[i] = where;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
