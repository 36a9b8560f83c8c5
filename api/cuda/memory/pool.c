/* Memory pools and stream-ordered memory, the other source of memory that cuMulticastBindAddr
 * takes. */
#include "api/cuda/memory/mem.h"

Pool *pool_get(Call *call, CUmemoryPool handle)
{
    return cuda_object(call, HANDLE_POOL, (guint64)handle, "use of a destroyed pool", "not a memory pool");
}

static Pool *pool_new(Call *call, const CUmemPoolProps *props, gboolean standard)
{
    Pool *pool = g_new0(Pool, 1);

    pool->props = *props;
    pool->standard = standard;
    pool->device = props->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? props->location.id : -1;
    for (guint i = 0; i < G_N_ELEMENTS(pool->reuse); i++)
        pool->reuse[i] = 1;
    if (pool->device >= 0)
        pool->access[pool->device] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    pool->handle = handle_new(call->cuda->handles, HANDLE_POOL, pool);
    return pool;
}

Pool *pool_default(Call *call, int ordinal)
{
    CudaDevice *device = &call->cuda->device[ordinal];
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal}};

    if (!device->default_pool)
        device->default_pool = pool_new(call, &props, TRUE);
    return device->default_pool;
}

CUresult cuMemPoolCreate(CUmemoryPool *handle, const CUmemPoolProps *props)
{
    CUDA_BEGIN(call);
    if (!handle || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        (props->handleTypes & ~(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC)))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (props->location.type == CU_MEM_LOCATION_TYPE_HOST || props->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!cuda_device(call.cuda, props->location.id))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    CUresult result = vmm_check_fabric(call.cuda, cuda_device(call.cuda, props->location.id),
                                       (guint64)props->handleTypes);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    *handle = (CUmemoryPool)pool_new(&call, props, FALSE)->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* A destroyed pool lives on without a handle until its memory is back. */
static void pool_end(Pool *pool)
{
    if (pool->destroyed && pool->used_bytes == 0)
        g_free(pool);
}

CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
    CUDA_BEGIN(call);
    Pool *pool = pool_get(&call, handle);

    if (!pool || pool->standard)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (guint i = 0; i < call.cuda->n_devices; i++)
        if (call.cuda->device[i].pool == pool)
            call.cuda->device[i].pool = NULL;
    handle_unref(call.cuda->handles, pool->handle);
    pool->destroyed = TRUE;
    pool_end(pool);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep_bytes)
{
    CUDA_BEGIN(call);
    Pool *pool = pool_get(&call, handle);

    if (!pool)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    pool_sweep(&call);
    (void)keep_bytes; /* freed memory goes back at once: there is never more than is used */
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* The counter or setting behind an attribute; *wide: 64 bits. NULL: no such attribute. */
static void *pool_field(Pool *pool, CUmemPool_attribute attribute, gboolean *wide, gboolean *settable)
{
    *wide = attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    *settable = attribute <= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        return &pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return &pool->release_threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return &pool->reserved_bytes;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *settable = TRUE; return &pool->reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return &pool->used_bytes;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *settable = TRUE; return &pool->used_high;
    default: return NULL;
    }
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    gboolean wide, settable;
    CUDA_BEGIN(call);
    Pool *pool = pool_get(&call, handle);

    if (!pool || !value)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    void *field = pool_field(pool, attribute, &wide, &settable);
    if (!field || !settable)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
        if (*(const guint64 *)value != 0) /* a high-water mark can only be reset */
            CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
        *(guint64 *)field = attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ? pool->used_bytes : pool->reserved_bytes;
    } else if (wide) {
        *(guint64 *)field = *(const guint64 *)value;
    } else {
        *(gint *)field = *(const gint *)value != 0;
    }
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    gboolean wide, settable;
    CUDA_BEGIN(call);
    Pool *pool = pool_get(&call, handle);

    if (!pool || !value)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    const void *field = pool_field(pool, attribute, &wide, &settable);
    if (!field)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (wide)
        *(guint64 *)value = *(const guint64 *)field;
    else
        *(gint *)value = *(const gint *)field;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t n)
{
    CUDA_BEGIN(call);
    Pool *pool = pool_get(&call, handle);

    if (!pool || !map || n == 0 || n > 2 * CUDA_DEVICES_MAX)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < n; i++) {
        if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            (map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
             map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
            CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
        if (!cuda_device(call.cuda, map[i].location.id))
            CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
        if (map[i].location.id == pool->device && map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
            CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    }
    for (size_t i = 0; i < n; i++)
        pool->access[map[i].location.id] = (guint8)map[i].flags;
    for (Range *r = range_next(call.cuda->ranges, 0); r != NULL; r = range_next(call.cuda->ranges, r->va + r->bytes))
        for (size_t i = 0; r->pool == pool && i < n; i++)
            vmm_set_access(&call, r, map[i].location.id, (guint8)map[i].flags);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle, CUmemLocation *location)
{
    CUDA_BEGIN(call);
    Pool *pool = pool_get(&call, handle);

    if (!pool || !flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!cuda_device(call.cuda, location->id))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    *flags = (CUmemAccess_flags)pool->access[location->id];
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static CUresult device_pool(Call *call, CUmemoryPool *handle, CUdevice ordinal, gboolean current)
{
    CudaDevice *device = cuda_device(call->cuda, ordinal);

    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    Pool *pool = current && device->pool ? device->pool : pool_default(call, ordinal);
    *handle = (CUmemoryPool)pool->handle;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, device_pool(&call, pool, device, FALSE));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, device_pool(&call, pool, device, TRUE));
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle)
{
    CUDA_BEGIN(call);
    CudaDevice *device = cuda_device(call.cuda, ordinal);
    Pool *pool = pool_get(&call, handle);

    if (!pool)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!device || pool->device != ordinal)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    device->pool = pool;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

void pool_forget(Call *call, Range *range)
{
    Pool *pool = range->pool;
    (void)call;
    pool->used_bytes -= range->bytes;
    pool->reserved_bytes = pool->used_bytes;
    range->pool = NULL;
    pool_end(pool);
}
