/* Binding memory to multicast objects.
 *
 * The four binds are one: the v1 calls take the device from the memory, the v2 calls name it; by
 * address they find the memory behind it. All wait until the team is complete. The binding is to
 * the memory: it survives the handle and the mapping that named it. */
#include <unistd.h>

#include "api/cuda/multicast/bind.h"

/* How far memory may begin from a multiple of the granularity, on models that take it. source: the driver's page */
#define UNALIGNED_BYTES 256u

static gboolean takes_unaligned(const Cuda *cuda) { return cuda->spec.gpu == CUDA_GPU_VR200; }

/* Bytes of the object that a bind takes: one granule more where its memory does not begin on one. */
static guint64 taken_bytes(const Cuda *cuda, const Team *team, guint64 memory_offset, guint64 bytes)
{
    guint64 granularity = bind_alignment(cuda, team);

    return aligned(memory_offset, granularity) ? bytes : bytes + granularity;
}

guint64 bind_alignment(const Cuda *cuda, const Team *team)
{
    return team->kind == ENGINE_OBJECT_MULTICAST ? cuda->spec.multicast_min_bytes : cuda->spec.endpoint_align_bytes;
}

CUresult bind_check_sizes(const Cuda *cuda, const Team *team, const Bind *bind)
{
    guint64 granularity = bind_alignment(cuda, team);
    guint64 start = takes_unaligned(cuda) && team->kind == ENGINE_OBJECT_MULTICAST ? UNALIGNED_BYTES : granularity;

    if (bind->bytes == 0 || !aligned(bind->bytes, granularity) || !aligned(bind->offset, granularity) ||
        !aligned(bind->memory_offset, start) || !fits(bind->offset, bind->bytes, team->bytes) ||
        !fits(bind->offset, taken_bytes(cuda, team, bind->memory_offset, bind->bytes), team->bytes) ||
        !fits(bind->memory_offset, bind->bytes, bind->phys->page.bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Binds of that kind that the GPU has, in all objects that this process knows. No page locked. */
static guint64 count_unaligned(Call *call, guint16 gpu)
{
    GHashTableIter iter;
    gpointer value;
    guint64 n = 0;

    g_hash_table_iter_init(&iter, call->cuda->teams);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Team *team = value;
        team_lock(team);
        for (guint32 i = 0; i < team_binds(team); i++)
            n += team->page->bind[i].gpu == gpu &&
                 !aligned(team->page->bind[i].memory_offset, bind_alignment(call->cuda, team));
        team_unlock(team);
    }
    return n;
}

CUresult bind_gpu(const Cuda *cuda, const Bind *bind, guint16 *gpu)
{
    const PhysPage *page = &bind->phys->page;
    int numa;

    if (bind->device == DEVICE_OF_MEMORY) {
        if (page->location_type != CU_MEM_LOCATION_TYPE_DEVICE)
            return CUDA_ERROR_INVALID_VALUE;
        *gpu = (guint16)page->location_id;
        return CUDA_SUCCESS;
    }
    const CudaDevice *device = &cuda->device[bind->device];
    *gpu = device->gpu;
    if (page->location_type == CU_MEM_LOCATION_TYPE_DEVICE)
        return page->location_id == device->gpu ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (page->location_type != CU_MEM_LOCATION_TYPE_HOST_NUMA)
        return CUDA_ERROR_INVALID_VALUE;
    cuda_class_attribute(device->kind, device->gpu, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, (int)cuda->spec.driver_version,
                         &numa);
    return page->location_id == numa ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

gboolean bind_is_member(Team *team, guint16 gpu)
{
    team_lock(team);
    gboolean member = team_has(team, gpu);
    team_unlock(team);
    return member;
}

/* Everything that can be said before waiting. Membership is final only when the team is complete,
 * but a v1 or v2 bind for a device that is not a member yet is an error at once, as the kernel
 * module has it. */
static CUresult check_bind(Call *call, Team *team, const Bind *bind, guint16 *gpu)
{
    CUresult result = bind_gpu(call->cuda, bind, gpu);

    if (result == CUDA_SUCCESS && !bind_is_member(team, *gpu))
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        result = bind_check_sizes(call->cuda, team, bind);
    if (result == CUDA_SUCCESS && (team->handle_types != 0 || team->imported) && bind->phys->page.handle_types == 0)
        result = CUDA_ERROR_INVALID_VALUE;
    return result;
}

gboolean bind_overlaps(const Cuda *cuda, const Team *team, const TeamBind *b, guint16 gpu, guint64 offset,
                       guint64 bytes)
{
    return b->gpu == gpu && b->offset < offset + bytes &&
           offset < b->offset + taken_bytes(cuda, team, b->memory_offset, b->bytes);
}

/* Drops the binds that a new one lies over; FALSE: not allowed. Page locked. */
static gboolean make_room(Call *call, Team *team, const Bind *bind, guint16 gpu)
{
    const guint64 taken = taken_bytes(call->cuda, team, bind->memory_offset, bind->bytes);
    TeamPage *page = team->page;

    for (guint32 i = 0; i < team_binds(team); i++) {
        const TeamBind *b = &page->bind[i];
        if (!bind_overlaps(call->cuda, team, b, gpu, bind->offset, taken))
            continue;
        cuda_diagnose(call, bind->handle, cuda_ordinal_of_gpu(call->cuda, gpu), 0,
                      "bind over a bind: offset 0x%" G_GINT64_MODIFIER "x overlaps the one at 0x%" G_GINT64_MODIFIER
                      "x",
                      bind->offset, b->offset);
        if (call->cuda->spec.overlapping_binds == CUDA_OVERLAP_REJECT || b->offset == bind->offset)
            return FALSE;
        team_drop_bind(team, i--);
    }
    return TRUE;
}

/* Takes a bind back that the fabric did not make; one that another process has taken back meanwhile was made. */
static CUresult check_made(Call *call, Team *team, guint32 serial)
{
    if (team_mirrors(team, serial))
        return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    team_lock(team);
    for (guint32 i = 0; i < team_binds(team) && result == CUDA_SUCCESS; i++) {
        if (team->page->bind[i].serial != serial)
            continue;
        team_drop_bind(team, i);
        team_changed(team);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    team_unlock(team);
    team_sync(call, team);
    return result;
}

CUresult bind_enter(Call *call, Team *team, const Bind *bind, guint16 gpu)
{
    const guint64 room = call->cuda->spec.multicast_unaligned_binds;
    const gboolean is_aligned = aligned(bind->memory_offset, bind_alignment(call->cuda, team));
    const gboolean full = !is_aligned && count_unaligned(call, gpu) >= room;
    TeamPage *page = team->page;
    CUresult result = CUDA_SUCCESS;
    guint32 serial = 0;

    team_lock(team);
    if (team_binds(team) == TEAM_BINDS_MAX)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    else if (!make_room(call, team, bind, gpu))
        result = CUDA_ERROR_INVALID_VALUE;
    else if (full) {
        cuda_diagnose(
            call, bind->handle, cuda_ordinal_of_gpu(call->cuda, gpu), 0,
            "the GPU has no room for another bind of memory that begins on no granule: it has %" G_GUINT64_FORMAT
            " (cuda.multicast_unaligned_binds)",
            room);
        result = CUDA_ERROR_MULTICAST_RESOURCE_FULL;
    }
    if (result == CUDA_SUCCESS) {
        guint32 n = team_binds(team);
        serial = ++page->serials;
        page->bind[n] = (TeamBind){.offset = bind->offset,
                                   .bytes = bind->bytes,
                                   .memory_offset = bind->memory_offset,
                                   .identity = {bind->phys->identity[0], bind->phys->identity[1]},
                                   .pid = getpid(),
                                   .fd = bind->phys->fd,
                                   .gpu = gpu,
                                   .serial = serial};
        page->n_binds = n + 1;
        team_changed(team);
    }
    team_unlock(team);
    team_sync(call, team);
    return result == CUDA_SUCCESS ? check_made(call, team, serial) : result;
}

static CUresult bind_any(Call *call, Team *team, const Bind *bind)
{
    guint16 gpu;
    CUresult result = check_bind(call, team, bind, &gpu);

    if (result != CUDA_SUCCESS)
        return result;
    team_ref(team);
    phys_ref(bind->phys);
    result = team_wait_ready(call, team, bind->handle);
    if (result == CUDA_SUCCESS && vmm_team(call, bind->handle) != team)
        result = CUDA_ERROR_INVALID_VALUE; /* released by another thread while this one waited */
    if (result == CUDA_SUCCESS)
        result = bind_enter(call, team, bind, gpu);
    phys_unref(call, bind->phys);
    team_unref(call, team);
    return result;
}

CUresult bind_check_head(Call *call, guint64 object, int device, unsigned long long flags, Team **team)
{
    if (!call->cuda->multicast)
        return CUDA_ERROR_NOT_SUPPORTED;
    *team = vmm_team(call, object);
    if (!*team || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (device == DEVICE_OF_MEMORY)
        return CUDA_SUCCESS;
    if (!cuda_device(call->cuda, device))
        return CUDA_ERROR_INVALID_DEVICE;
    return call->cuda->device[device].multicast ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult bind_memory(Call *call, Bind bind, guint64 memory_handle, unsigned long long flags)
{
    Team *team;
    CUresult result = bind_check_head(call, bind.handle, bind.device, flags, &team);

    if (result != CUDA_SUCCESS)
        return result;
    MemoryHandle *memory = vmm_memory(call, memory_handle);
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    bind.phys = memory->phys;
    return bind_any(call, team, &bind);
}

CUresult bind_find_memory(Call *call, Bind *bind, guint64 address, guint64 alignment)
{
    Range *range = range_find(call->cuda->ranges, address);

    if (!range || (range->kind != RANGE_VMM && range->kind != RANGE_POOL) || !range->phys || range->freed ||
        !aligned(address, alignment) || !fits(address - range->va, bind->bytes, range->bytes)) {
        cuda_diagnose(call, bind->handle, bind->device, address,
                      "the address is not within one mapping of bindable memory");
        return CUDA_ERROR_INVALID_VALUE;
    }
    bind->phys = range->phys;
    bind->memory_offset = range->offset + (address - range->va);
    return CUDA_SUCCESS;
}

static CUresult bind_address(Call *call, Bind bind, guint64 address, unsigned long long flags)
{
    Team *team;
    CUresult result = bind_check_head(call, bind.handle, bind.device, flags, &team);

    if (result == CUDA_SUCCESS)
        result = bind_find_memory(call, &bind, address,
                                  takes_unaligned(call->cuda) ? UNALIGNED_BYTES : bind_alignment(call->cuda, team));
    return result == CUDA_SUCCESS ? bind_any(call, team, &bind) : result;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle object, size_t object_offset,
                            CUmemGenericAllocationHandle memory, size_t memory_offset, size_t bytes,
                            unsigned long long flags)
{
    CUDA_BEGIN(call);
    Bind bind = {object, DEVICE_OF_MEMORY, object_offset, NULL, memory_offset, bytes};
    CUDA_RETURN(call, bind_memory(&call, bind, memory, flags));
}

CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle object, CUdevice device, size_t object_offset,
                               CUmemGenericAllocationHandle memory, size_t memory_offset, size_t bytes,
                               unsigned long long flags)
{
    CUDA_BEGIN(call);
    call.device = device;
    Bind bind = {object, device == DEVICE_OF_MEMORY ? CU_DEVICE_INVALID : device, object_offset, NULL, memory_offset,
                 bytes};
    CUDA_RETURN(call, bind_memory(&call, bind, memory, flags));
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle object, size_t object_offset, CUdeviceptr address,
                             size_t bytes, unsigned long long flags)
{
    CUDA_BEGIN(call);
    call.address = address;
    Bind bind = {object, DEVICE_OF_MEMORY, object_offset, NULL, 0, bytes};
    CUDA_RETURN(call, bind_address(&call, bind, address, flags));
}

CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle object, CUdevice device, size_t object_offset,
                                CUdeviceptr address, size_t bytes, unsigned long long flags)
{
    CUDA_BEGIN(call);
    call.device = device;
    call.address = address;
    Bind bind = {object, device == DEVICE_OF_MEMORY ? CU_DEVICE_INVALID : device, object_offset, NULL, 0, bytes};
    CUDA_RETURN(call, bind_address(&call, bind, address, flags));
}
