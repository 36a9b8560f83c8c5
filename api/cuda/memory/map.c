/* Virtual memory management: reserved addresses, mappings, access rights. */
#include <sys/mman.h>

#include "api/cuda/memory/vmm.h"

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags)
{
    CUDA_BEGIN(call);
    if (!address || flags != 0 || (alignment & (alignment - 1)) != 0 || bytes == 0 || !aligned(bytes, VMM_GRANULARITY))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    guint64 va = range_reserve(call.cuda->ranges, bytes, MAX(alignment, VMM_GRANULARITY), hint);
    if (va == 0)
        CUDA_RETURN(call, CUDA_ERROR_OUT_OF_MEMORY);
    Reservation *reservation = g_new(Reservation, 1);
    *reservation = (Reservation){va, bytes};
    g_tree_insert(call.cuda->ranges->reserved, &reservation->va, reservation);
    *address = va;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    CUDA_BEGIN(call);
    Ranges *ranges = call.cuda->ranges;
    Reservation *reservation = reservation_find(ranges, address);

    if (!reservation || reservation->va != address || reservation->bytes != bytes || range_any(ranges, address, bytes))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    g_tree_remove(ranges->reserved, &reservation->va);
    range_release(address, bytes);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

Range *vmm_enter(Call *call, RangeKind kind, guint64 va, guint64 bytes, Phys *phys, Team *team, guint64 offset)
{
    EngineRequest request = {.op = ENGINE_MAP,
                             .address = va,
                             .bytes = bytes,
                             .offset = offset,
                             .region = phys ? phys->region : 0,
                             .object = team ? team->object : 0};
    const Range as = {.va = va,
                      .bytes = bytes,
                      .kind = kind,
                      .phys = phys,
                      .team = team,
                      .offset = offset,
                      .device = -1,
                      .buffer_id = call->cuda->next_id++};
    Range *range = range_new(&as, call->cuda->n_devices);
    if (phys) {
        phys_ref(phys);
        phys_use(phys, kind == RANGE_VMM || kind == RANGE_POOL);
        if (phys_is_device(phys))
            range->device = cuda_ordinal_of_gpu(call->cuda, (guint16)phys->page.location_id);
    }
    if (team) {
        team_ref(team);
        range->device = 0; /* what the real driver reports for a multicast address */
    }
    cuda_engine(call, &request, NULL);
    range_insert(call->cuda->ranges, range);
    return range;
}

void vmm_leave(Call *call, Range *range)
{
    EngineRequest request = {.op = ENGINE_UNMAP, .address = range->va, .bytes = range->bytes};
    Phys *phys = range->phys;
    Team *team = range->team;

    cuda_engine(call, &request, NULL);
    if (range->region) {
        EngineRequest gone = {.op = ENGINE_REGION_FREE, .region = range->region};
        cuda_engine(call, &gone, NULL);
    }
    range_remove(call->cuda->ranges, range);
    if (phys) {
        phys_unuse(call, phys);
        phys_unref(call, phys);
    }
    if (team)
        team_unref(call, team);
}

static CUresult check_place(Ranges *ranges, guint64 va, guint64 bytes)
{
    Reservation *reservation = reservation_find(ranges, va);

    if (!reservation || !fits(va - reservation->va, bytes, reservation->bytes) || range_any(ranges, va, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* A multicast object may be mapped in part, from its start. source: mscclpp; cuda.h on the offset
 */
static CUresult map_team(Call *call, guint64 va, guint64 bytes, guint64 offset, guint64 handle)
{
    Team *team = vmm_team(call, handle);
    CUresult result;

    if (!team)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fits(offset, bytes, team->bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (offset != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    team_ref(team);
    result = team_wait_ready(call, team, handle);
    if (result == CUDA_SUCCESS && vmm_team(call, handle) != team)
        result = CUDA_ERROR_INVALID_VALUE; /* released by another thread while this one waited */
    if (result == CUDA_SUCCESS)
        result = check_place(call->cuda->ranges, va, bytes);
    if (result == CUDA_SUCCESS) {
        Range *range = vmm_enter(call, RANGE_VMM, va, bytes, NULL, team, offset);
        range->handle = handle;
        handle_pin(call->cuda->handles, handle);
    }
    team_unref(call, team);
    return result;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    CUDA_BEGIN(call);
    call.address = address;
    HandleKind kind = handle_kind(call.cuda->handles, handle);
    guint64 granularity = kind == HANDLE_MULTICAST ? call.cuda->spec.multicast_min_bytes : VMM_GRANULARITY;
    MemoryHandle *memory = NULL;

    if (kind != HANDLE_MULTICAST && !(memory = vmm_memory(&call, handle)))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (flags != 0 || bytes == 0 || !aligned(address, granularity) || !aligned(bytes, granularity) ||
        !aligned(offset, granularity))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = check_place(call.cuda->ranges, address, bytes);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (kind == HANDLE_MULTICAST)
        CUDA_RETURN(call, map_team(&call, address, bytes, offset, handle));
    /* source: h200/driver.csv: memory is mapped whole, or the call is not supported */
    if (offset != 0 || bytes != memory->phys->page.bytes)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    Range *range = vmm_enter(&call, RANGE_VMM, address, bytes, memory->phys, NULL, 0);
    range->handle = handle;
    handle_pin(call.cuda->handles, handle);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static void unmap_one(Call *call, Range *range)
{
    HandleTable *handles = call->cuda->handles;
    guint64 handle = range->handle, va = range->va, bytes = range->bytes;
    MemoryHandle *memory = NULL;
    Team *team = range->team;

    if (!team) /* the handle's object outlives the user's references while it is mapped */
        memory = handle_object_pinned(handles, handle);
    if (range->host_mapped)
        mmap((void *)va, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    vmm_leave(call, range);
    if (!handle_unpin(handles, handle))
        return;
    if (memory)
        vmm_memory_free(call, memory);
    else
        team_unref(call, team);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    CUDA_BEGIN(call);
    Ranges *ranges = call.cuda->ranges;

    if (bytes == 0 || !aligned(address, VMM_GRANULARITY) || !aligned(bytes, VMM_GRANULARITY))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (check_place(ranges, address, bytes) == CUDA_SUCCESS) {
        /* source: h200/driver.csv: a reserved range with nothing in it is no error */
        cuda_diagnose(&call, 0, -1, address, "nothing is mapped in the range");
        CUDA_RETURN(call, CUDA_SUCCESS);
    }
    if (!range_whole(ranges, address, bytes))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (guint64 at = address; at - address < bytes;) {
        Range *range = range_find(ranges, at);
        at += range->bytes;
        unmap_one(&call, range);
    }
    CUDA_RETURN(call, CUDA_SUCCESS);
}

void vmm_set_access(Call *call, Range *range, int device, guint8 flags)
{
    EngineRequest request = {
        .op = ENGINE_ACCESS, .address = range->va, .access = flags, .gpu = call->cuda->device[device].gpu};

    range->access[device] = flags;
    cuda_engine(call, &request, NULL);
}

/* What one descriptor may ask of one mapping. source: h200/driver.csv; for teams the kernel module
 */
static CUresult check_access(Call *call, const Range *range, const CUmemAccessDesc *desc)
{
    gboolean on_host = !range->team && range->device < 0;

    switch (desc->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: {
        CudaDevice *device = cuda_device(call->cuda, desc->location.id);
        gboolean member = TRUE;
        if (!device)
            return CUDA_ERROR_INVALID_VALUE;
        if (range->team) {
            team_lock(range->team);
            member = team_has(range->team, device->gpu);
            team_unlock(range->team);
        }
        if (!member) /* source: what hardware answers, as users report it */
            cuda_diagnose(call, range->handle, desc->location.id, range->va,
                          "access to a multicast object for a device that is not in its team");
        return member ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
    }
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: return on_host ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static void host_access(Range *range, CUmemAccess_flags flags)
{
    int protection = flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE
                     : flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? PROT_READ
                                                                 : PROT_NONE;

    mmap((void *)range->va, range->bytes, protection, MAP_SHARED | MAP_FIXED, range->phys->fd, (off_t)range->offset);
    range->host_mapped = TRUE;
    range->host_access = (guint8)flags;
}

static gboolean desc_is_sound(const CUmemAccessDesc *desc)
{
    return desc->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
           desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *desc, size_t n)
{
    CUDA_BEGIN(call);
    Ranges *ranges = call.cuda->ranges;

    if (!desc || n == 0 || n > 2 * CUDA_DEVICES_MAX || !range_whole(ranges, address, bytes))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < n; i++)
        if (!desc_is_sound(&desc[i]))
            CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < n; i++)
        for (guint64 at = address; at - address < bytes;) {
            Range *range = range_find(ranges, at);
            CUresult result = check_access(&call, range, &desc[i]);
            if (result != CUDA_SUCCESS)
                CUDA_RETURN(call, result);
            at += range->bytes;
        }
    for (size_t i = 0; i < n; i++)
        for (guint64 at = address; at - address < bytes;) {
            Range *range = range_find(ranges, at);
            if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
                vmm_set_access(&call, range, desc[i].location.id, (guint8)desc[i].flags);
            else
                host_access(range, desc[i].flags);
            at += range->bytes;
        }
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    CUDA_BEGIN(call);
    if (!flags || !location)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    Range *range = range_find(call.cuda->ranges, address);
    if (!range || range->kind != RANGE_VMM) {
        *flags = 0; /* as the real driver leaves it */
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    }
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (!cuda_device(call.cuda, location->id))
            CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
        *flags = range->access[location->id];
        CUDA_RETURN(call, CUDA_SUCCESS);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: *flags = range->host_access; CUDA_RETURN(call, CUDA_SUCCESS);
    default: CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    }
}
