/* Unbinding memory from multicast objects. */
#include "api/cuda/multicast/bind.h"

/* The object of a handle that the program has released, while a mapping keeps it: nothing says that its number is void,
 * since the mapping gives the same one back, and programs that ship release first, unbind then, and unmap last. */
static CUresult released_head(Call *call, guint64 object, int device, Team **team)
{
    *team = handle_get_released(call->cuda->handles, HANDLE_MULTICAST, object);
    if (!*team || call->cuda->spec.unbind_released != CUDA_RELEASED_ACCEPT)
        return bind_check_head(call, object, device, 0, team);
    if (!cuda_device(call->cuda, device))
        return CUDA_ERROR_INVALID_DEVICE;
    cuda_diagnose(call, object, device, 0,
                  "unbind by a multicast handle that was released; its mapping keeps the object");
    return CUDA_SUCCESS;
}

/* The bind that an unbind means: the same range, or with the knob the same start. Page locked. */
static gint find_bind(Call *call, Team *team, guint16 gpu, guint64 offset, guint64 bytes)
{
    TeamPage *page = team->page;

    for (guint32 i = 0; i < team_binds(team); i++) {
        const TeamBind *b = &page->bind[i];
        if (b->gpu == gpu && b->offset == offset && b->bytes == bytes)
            return (gint)i;
    }
    for (guint32 i = 0; i < team_binds(team); i++) {
        const TeamBind *b = &page->bind[i];
        if (!bind_overlaps(call->cuda, team, b, gpu, offset, bytes))
            continue;
        cuda_diagnose(call, team->handle, cuda_ordinal_of_gpu(call->cuda, gpu), 0,
                      "UB: unbind mismatch: [0x%" G_GINT64_MODIFIER "x, +0x%" G_GINT64_MODIFIER
                      "x) was asked, [0x%" G_GINT64_MODIFIER "x, +0x%" G_GINT64_MODIFIER "x) is bound",
                      offset, bytes, b->offset, b->bytes);
        if (call->cuda->spec.unbind_mismatch == CUDA_UNBIND_BY_OFFSET && b->offset == offset)
            return (gint)i;
        return -1;
    }
    cuda_diagnose(call, team->handle, cuda_ordinal_of_gpu(call->cuda, gpu), 0,
                  "UB: nothing is bound at [0x%" G_GINT64_MODIFIER "x, +0x%" G_GINT64_MODIFIER "x)", offset, bytes);
    return -1;
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle object, CUdevice ordinal, size_t object_offset, size_t bytes)
{
    Team *team;
    CUDA_BEGIN(call);
    call.device = ordinal;
    guint64 granularity = call.cuda->spec.multicast_min_bytes;
    CUresult result = released_head(&call, object, ordinal == DEVICE_OF_MEMORY ? CU_DEVICE_INVALID : ordinal, &team);

    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    guint16 gpu = call.cuda->device[ordinal].gpu;
    if (!bind_is_member(team, gpu))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    if (bytes == 0 || !aligned(bytes, granularity) || !aligned(object_offset, granularity) ||
        !fits(object_offset, bytes, team->bytes))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    team_lock(team);
    gint at = find_bind(&call, team, gpu, object_offset, bytes);
    if (at >= 0) {
        team_drop_bind(team, (guint32)at);
        team_changed(team);
    }
    team_unlock(team);
    team_sync(&call, team);
    CUDA_RETURN(call, at >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
