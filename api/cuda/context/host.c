/* Host memory that the driver allocates or is told of. */
#include <sys/mman.h>
#include <unistd.h>

#include "api/cuda/memory/mem.h"

static guint64 page_up(guint64 bytes)
{
    guint64 page = (guint64)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Host memory is a memfd too, mapped at one address for the host and all devices. */
static CUresult host_alloc(Call *call, void **address, guint64 bytes, unsigned int flags)
{
    PhysPage page = {.bytes = page_up(bytes), .location_type = CU_MEM_LOCATION_TYPE_HOST};
    Context *context;
    Phys *phys;

    if (!address || (flags & ~7u) != 0 || page.bytes < bytes)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_need(call, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (bytes == 0) { /* as the real driver does */
        *address = NULL;
        return CUDA_SUCCESS;
    }
    result = phys_new(call, &page, &phys);
    if (result != CUDA_SUCCESS)
        return result;
    void *at = mmap(NULL, page.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, phys->fd, 0);
    if (at == MAP_FAILED) {
        phys_unref(call, phys);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    Range *range = vmm_enter(call, RANGE_HOST, (guint64)at, page.bytes, phys, NULL, 0);
    phys_unref(call, phys);
    range->context = context->id;
    range->flags = flags | CU_MEMHOSTALLOC_DEVICEMAP; /* implied under unified addressing */
    range->host_mapped = TRUE;
    range->host_access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (guint i = 0; i < call->cuda->n_devices; i++)
        vmm_set_access(call, range, (int)i, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    *address = at;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void **address, size_t bytes)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, host_alloc(&call, address, bytes, CU_MEMHOSTALLOC_PORTABLE));
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, host_alloc(&call, address, bytes, flags));
}

CUresult cuMemFreeHost(void *address)
{
    CUDA_BEGIN(call);
    Range *range = range_find(call.cuda->ranges, (guint64)address);

    if (!address || !range || range->va != (guint64)address || range->kind != RANGE_HOST)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = memory_wait_device(&call);
    range = range_find(call.cuda->ranges, (guint64)address);
    if (!range || range->va != (guint64)address)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    guint64 bytes = range->bytes;
    vmm_leave(&call, range);
    munmap(address, bytes);
    CUDA_RETURN(call, result);
}

#define REGISTER_FLAGS                                                                                                 \
    (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY |                        \
     CU_MEMHOSTREGISTER_READ_ONLY)

CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags)
{
    Context *context;
    CUDA_BEGIN(call);
    guint64 va = (guint64)address;

    if (!address || bytes == 0 || (flags & ~(unsigned)REGISTER_FLAGS) != 0 || va + bytes < va)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = context_need(&call, &context);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    if (range_any(call.cuda->ranges, va, bytes))
        CUDA_RETURN(call, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    CUDA_RETURN(call, host_register(&call, context, va, bytes, flags));
}

CUresult cuMemHostUnregister(void *address)
{
    CUDA_BEGIN(call);
    Range *range = range_find(call.cuda->ranges, (guint64)address);

    if (!address || (range && range->kind != RANGE_REGISTERED))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (!range || range->va != (guint64)address)
        CUDA_RETURN(call, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    CUresult result = memory_wait_device(&call);
    range = range_find(call.cuda->ranges, (guint64)address);
    if (range && range->kind == RANGE_REGISTERED)
        host_forget(&call, range);
    CUDA_RETURN(call, result);
}

static Range *host_range(Call *call, const void *address)
{
    Range *range = range_find(call->cuda->ranges, (guint64)address);
    return range && (range->kind == RANGE_HOST || range->kind == RANGE_REGISTERED) ? range : NULL;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned int flags)
{
    CUDA_BEGIN(call);
    if (!address || flags != 0 || !host_range(&call, host))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *address = (guint64)host; /* unified addressing */
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *host)
{
    CUDA_BEGIN(call);
    Range *range = host_range(&call, host);

    if (!flags || !range)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *flags = range->flags;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
