/* Memory of logical endpoints: what is bound where, and unbinding of several binds at once. See endpoint.h. */
#include "api/cuda/endpoint/endpoint.h"

/* Whether this process may bind memory of that device there; *gpu: the device's. */
static CUresult check_place(Call *call, CUlogicalEndpointId id, CUdevice ordinal, Endpoint **entry, guint16 *gpu)
{
    CUresult result = endpoint_supported(call->cuda);

    if (result != CUDA_SUCCESS)
        return result;
    *entry = endpoint_find(call, id);
    const CudaDevice *device = *entry ? cuda_device(call->cuda, ordinal) : NULL;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *gpu = device->gpu;
    if ((*entry)->imported && (*entry)->team->kind == ENGINE_OBJECT_ENDPOINT_UNICAST) {
        cuda_diagnose(call, id, ordinal, 0, "endpoint %u is unicast and imported: its owner's process binds its memory",
                      id);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!bind_is_member((*entry)->team, *gpu)) {
        cuda_diagnose(call, id, ordinal, 0, "endpoint %u is not of this device", id);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* A range, or the place in memory, that cannot be: not on the alignment, or beyond what is there. */
static CUresult refuse_range(Call *call, CUlogicalEndpointId id, const Team *team, guint64 offset, guint64 bytes,
                             guint64 place)
{
    cuda_diagnose(call, id, call->device, 0,
                  "endpoint %u of 0x%" G_GINT64_MODIFIER "x bytes: [0x%" G_GINT64_MODIFIER "x, +0x%" G_GINT64_MODIFIER
                  "x), memory at 0x%" G_GINT64_MODIFIER "x: they are multiples of 0x%" G_GINT64_MODIFIER
                  "x (cuda.endpoint_align_bytes), not 0 bytes, and within the endpoint and the memory",
                  id, team->bytes, offset, bytes, place, bind_alignment(call->cuda, team));
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult bind_any(Call *call, const Endpoint *entry, const Bind *bind)
{
    Team *team = entry->team;
    guint16 gpu;
    CUresult result = bind_gpu(call->cuda, bind, &gpu);

    if (result == CUDA_SUCCESS && bind_check_sizes(call->cuda, team, bind) != CUDA_SUCCESS)
        result = refuse_range(call, (CUlogicalEndpointId)bind->handle, team, bind->offset, bind->bytes,
                              bind->memory_offset);
    if (result == CUDA_SUCCESS && (team->handle_types != 0 || entry->imported) && bind->phys->page.handle_types == 0)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !entry->ready) {
        cuda_diagnose(call, bind->handle, bind->device, 0,
                      "endpoint %u: cuLogicalEndpointQuery has not said yet that it is ready", (guint)bind->handle);
        result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result != CUDA_SUCCESS)
        return result;
    if (team_is_lost(call, team) || cuda_manager(call->cuda, -1) == CUDA_FM_BROKEN ||
        cuda_manager(call->cuda, -1) == CUDA_FM_ABSENT)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (cuda_manager(call->cuda, -1) == CUDA_FM_STOPPED)
        return CUDA_ERROR_SYSTEM_NOT_READY;
    return bind_enter(call, team, bind, gpu);
}

CUresult cuLogicalEndpointBindAddr(CUlogicalEndpointId id, CUdevice device, cuuint64_t offset, void *address,
                                   cuuint64_t bytes, unsigned long long flags)
{
    Bind bind = {id, device, offset, NULL, 0, bytes};
    Endpoint *entry;
    guint16 gpu;
    CUDA_BEGIN(call);
    call.device = device;
    call.address = (guint64)(guintptr)address;
    CUresult result = check_place(&call, id, device, &entry, &gpu);

    if (result == CUDA_SUCCESS && flags != 0)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !aligned(call.address, bind_alignment(call.cuda, entry->team)))
        result = refuse_range(&call, id, entry->team, offset, bytes, call.address);
    if (result == CUDA_SUCCESS)
        result = bind_find_memory(&call, &bind, (guint64)(guintptr)address, bind_alignment(call.cuda, entry->team));
    CUDA_RETURN(call, result == CUDA_SUCCESS ? bind_any(&call, entry, &bind) : result);
}

CUresult cuLogicalEndpointBindMem(CUlogicalEndpointId id, CUdevice device, cuuint64_t offset,
                                  CUmemGenericAllocationHandle memory, cuuint64_t memory_offset, cuuint64_t bytes,
                                  unsigned long long flags)
{
    Bind bind = {id, device, offset, NULL, memory_offset, bytes};
    Endpoint *entry;
    guint16 gpu;
    CUDA_BEGIN(call);
    call.device = device;
    CUresult result = check_place(&call, id, device, &entry, &gpu);

    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    MemoryHandle *found = flags == 0 ? vmm_memory(&call, memory) : NULL;
    if (!found)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    bind.phys = found->phys;
    CUDA_RETURN(call, bind_any(&call, entry, &bind));
}

/* Whether the binds of the GPU within the range begin at its start and fill it, none of them cut. Page locked. */
static gboolean fills(const Cuda *cuda, const Team *team, guint16 gpu, guint64 offset, guint64 bytes)
{
    guint64 sum = 0;
    gboolean begins = FALSE;

    for (guint32 i = 0; i < team_binds(team); i++) {
        const TeamBind *b = &team->page->bind[i];
        if (!bind_overlaps(cuda, team, b, gpu, offset, bytes))
            continue;
        if (b->offset < offset || b->offset + b->bytes > offset + bytes)
            return FALSE;
        begins |= b->offset == offset;
        sum += b->bytes;
    }
    return begins && sum == bytes;
}

CUresult cuLogicalEndpointUnbind(CUlogicalEndpointId id, CUdevice device, cuuint64_t offset, cuuint64_t bytes)
{
    Endpoint *entry;
    guint16 gpu;
    CUDA_BEGIN(call);
    call.device = device;
    CUresult result = check_place(&call, id, device, &entry, &gpu);

    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    Team *team = entry->team;
    guint64 alignment = bind_alignment(call.cuda, team);
    if (bytes == 0 || !aligned(bytes, alignment) || !aligned(offset, alignment) || !fits(offset, bytes, team->bytes))
        CUDA_RETURN(call, refuse_range(&call, id, team, offset, bytes, 0));
    team_lock(team);
    gboolean whole = fills(call.cuda, team, gpu, offset, bytes);
    for (guint32 i = 0; whole && i < team_binds(team); i++)
        if (bind_overlaps(call.cuda, team, &team->page->bind[i], gpu, offset, bytes))
            team_drop_bind(team, i--);
    if (whole)
        team_changed(team);
    team_unlock(team);
    team_sync(&call, team);
    if (!whole)
        cuda_diagnose(&call, id, device, 0,
                      "endpoint %u: no binds of the device fill exactly [0x%" G_GINT64_MODIFIER
                      "x, +0x%" G_GINT64_MODIFIER "x)",
                      id, offset, bytes);
    CUDA_RETURN(call, whole ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
