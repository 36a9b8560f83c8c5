/* Virtual memory management: memory handles and their properties.
 *
 * Order of checks everywhere: initialised, handle, pointers and flags, device, sizes and alignment,
 * state, resources. Codes follow the real driver where it was probed (h200/driver.csv). */
#include "api/cuda/memory/vmm.h"

MemoryHandle *vmm_memory(Call *call, guint64 handle)
{
    return cuda_object(call, HANDLE_MEMORY, handle, "use of a released memory handle", "not a memory handle");
}

Team *vmm_team(Call *call, guint64 handle)
{
    return cuda_object(call, HANDLE_MULTICAST, handle, "use of a released multicast handle", "not a multicast handle");
}

MemoryHandle *vmm_memory_new(Phys *phys)
{
    MemoryHandle *memory = g_new0(MemoryHandle, 1);

    memory->phys = phys;
    phys_use(phys, FALSE);
    return memory;
}

void vmm_memory_free(Call *call, MemoryHandle *memory)
{
    phys_unuse(call, memory->phys);
    phys_unref(call, memory->phys);
    g_free(memory);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    CUDA_BEGIN(call);
    if (!granularity || !prop || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    *granularity = VMM_GRANULARITY;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult vmm_check_fabric(const Cuda *cuda, const CudaDevice *device, guint64 types)
{
    int fabric = 0;

    if (!(types & CU_MEM_HANDLE_TYPE_FABRIC))
        return CUDA_SUCCESS;
    if (!device)
        device = &cuda->device[0];
    cuda_class_attribute(device->kind, device->gpu, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
                         (int)cuda->spec.driver_version, &fabric);
    if (!fabric)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuda->spec.imex_channel ? CUDA_SUCCESS : CUDA_ERROR_NOT_PERMITTED;
}

/* Which sharing a creation may ask for. source: h200/driver.csv, cuMemCreate handle types 0..9 */
static CUresult check_handle_types(const Cuda *cuda, const CudaDevice *device, int types)
{
    if (types & ~(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC))
        return CUDA_ERROR_INVALID_VALUE;
    return vmm_check_fabric(cuda, device, (guint64)types);
}

static CUresult check_location(Cuda *cuda, const CUmemAllocationProp *prop, PhysPage *page)
{
    page->location_type = (gint32)prop->location.type;
    page->location_id = prop->location.id;
    switch (prop->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: {
        CudaDevice *device = cuda_device(cuda, prop->location.id);
        if (!device)
            return CUDA_ERROR_INVALID_DEVICE;
        page->location_id = device->gpu;
        return CUDA_SUCCESS;
    }
    case CU_MEM_LOCATION_TYPE_HOST:
        page->location_id = 0;
        return prop->requestedHandleTypes == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return prop->location.id >= 0 && prop->location.id < CUDA_NUMA_NODES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult check_create(Call *call, const CUmemAllocationProp *prop, size_t bytes, PhysPage *page)
{
    CUresult result;

    if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_location(call->cuda, prop, page);
    if (result != CUDA_SUCCESS)
        return result;
    if (bytes == 0 || !aligned(bytes, VMM_GRANULARITY))
        return CUDA_ERROR_INVALID_VALUE;
    result = check_handle_types(
        call->cuda,
        prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? cuda_device(call->cuda, prop->location.id) : NULL,
        (int)prop->requestedHandleTypes);
    page->bytes = bytes;
    page->handle_types = (guint32)prop->requestedHandleTypes;
    page->compression = prop->allocFlags.compressionType;
    page->rdma = prop->allocFlags.gpuDirectRDMACapable;
    page->usage = prop->allocFlags.usage;
    return result;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
    PhysPage page = {0};
    Phys *phys;
    CUDA_BEGIN(call);

    if (!handle || !prop || flags != 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = check_create(&call, prop, bytes, &page);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    team_sweep(&call);
    result = phys_new(&call, &page, &phys);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    *handle = handle_new(call.cuda->handles, HANDLE_MEMORY, vmm_memory_new(phys));
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static void release_team(Call *call, guint64 handle, Team *team)
{
    gboolean dead = handle_unref(call->cuda->handles, handle);

    if (team->creator_handle == handle && handle_refs(call->cuda->handles, handle) == 0) {
        team_lock(team);
        team->page->closed = 1;
        team_unlock(team);
    }
    if (handle_refs(call->cuda->handles, handle) == 0) { /* threads may wait by it for members */
        team_lock(team);
        team_changed(team);
        team_unlock(team);
    }
    if (dead)
        team_unref(call, team);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUDA_BEGIN(call);
    HandleTable *handles = call.cuda->handles;

    if (handle_kind(handles, handle) == HANDLE_MULTICAST) {
        release_team(&call, handle, handle_get(handles, HANDLE_MULTICAST, handle, NULL));
        CUDA_RETURN(call, CUDA_SUCCESS);
    }
    MemoryHandle *memory = vmm_memory(&call, handle);
    if (!memory)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (handle_unref(handles, handle))
        vmm_memory_free(&call, memory);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    CUDA_BEGIN(call);
    MemoryHandle *memory = vmm_memory(&call, handle);

    if (!memory || !prop)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    const PhysPage *page = &memory->phys->page;
    int id = page->location_id;
    if (page->location_type == CU_MEM_LOCATION_TYPE_DEVICE)
        id = cuda_ordinal_of_gpu(call.cuda, (guint16)page->location_id);
    *prop = (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = (CUmemAllocationHandleType)page->handle_types,
        .location = {(CUmemLocationType)page->location_type, id},
        .allocFlags = {.compressionType = page->compression, .gpuDirectRDMACapable = page->rdma, .usage = page->usage},
    };
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    CUDA_BEGIN(call);
    if (!handle)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Range *range = range_find(call.cuda->ranges, (guint64)address);
    if (!range || range->kind != RANGE_VMM)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    handle_ref(call.cuda->handles, range->handle);
    *handle = range->handle;
    CUDA_RETURN(call, CUDA_SUCCESS);
}
