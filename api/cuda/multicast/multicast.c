/* Multicast objects: granularity, creation, members. Binding is in bind.c. */
#include "api/cuda/memory/vmm.h"

#define KNOWN_TYPES                                                                                                    \
    (CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT |              \
     CU_MEM_HANDLE_TYPE_FABRIC)

/* What both calls that take properties look at. The padding of the structure is never read. */
static CUresult check_properties(const Cuda *cuda, const CUmulticastObjectProp *prop)
{
    if (prop->flags != 0 || (prop->handleTypes & ~(unsigned long long)KNOWN_TYPES) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->numDevices == 0 || (prop->numDevices < 2 && !cuda->spec.multicast_single_member))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop,
                                   CUmulticastGranularity_flags option)
{
    CUDA_BEGIN(call);
    const CudaSpec *spec = &call.cuda->spec;

    if (!call.cuda->multicast)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    if (!granularity || !prop || (unsigned)option > CU_MULTICAST_GRANULARITY_RECOMMENDED || prop->numDevices == 0 ||
        prop->flags != 0 || (prop->handleTypes & ~(unsigned long long)KNOWN_TYPES) != 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (option == CU_MULTICAST_GRANULARITY_MINIMUM)
        *granularity = spec->multicast_min_bytes;
    else
        *granularity = prop->size >= spec->multicast_large_bytes ? spec->multicast_large_bytes
                                                                 : spec->multicast_recommended_bytes;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *object, const CUmulticastObjectProp *prop)
{
    Team *team;
    CUDA_BEGIN(call);

    if (!call.cuda->multicast)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    if (!object || !prop)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = check_properties(call.cuda, prop);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (prop->size == 0 || !aligned(prop->size, call.cuda->spec.multicast_min_bytes) ||
        prop->numDevices > TEAM_MEMBERS_MAX)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    result = vmm_check_fabric(call.cuda, NULL, prop->handleTypes);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    result = team_new(&call, prop, &team);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    *object = team->creator_handle = handle_new(call.cuda->handles, HANDLE_MULTICAST, team);
    team_name(&call, team, *object);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult team_add_member(Call *call, Team *team, guint16 gpu, gboolean *complete)
{
    const CudaSpec *spec = &call->cuda->spec;
    TeamPage *page = team->page;
    CUresult result = CUDA_ERROR_INVALID_VALUE;

    team_lock(team);
    guint32 n = team_members(team);
    if (spec->clique_check == CUDA_CLIQUE_AT_ADD && n > 0 &&
        cuda_spec_clique(spec, gpu) != cuda_spec_clique(spec, page->member[0])) {
        result = CUDA_ERROR_INVALID_DEVICE;
    } else if (!team_has(team, gpu) && n < team->n_devices) {
        page->member[n++] = gpu;
        page->n_members = n;
        team_changed(team);
        result = CUDA_SUCCESS;
    }
    *complete = n == team->n_devices;
    team_unlock(team);
    return result;
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle object, CUdevice ordinal)
{
    gboolean complete;
    CUDA_BEGIN(call);

    if (!call.cuda->multicast)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    call.device = ordinal;
    Team *team = vmm_team(&call, object);
    if (!team)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CudaDevice *device = cuda_device(call.cuda, ordinal);
    if (!device)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_DEVICE);
    if (!device->multicast)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    if (team_is_lost(&call, team))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (cuda_manager(call.cuda, device->gpu) == CUDA_FM_RESTARTED) { /* source: users' reports */
        cuda_diagnose(&call, object, ordinal, 0,
                      "the fabric manager was restarted, and the GPU was not reset since (cuda.fm_state; fanout fabric "
                      "gpu-reset %u mends it)",
                      device->gpu);
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    }
    CUresult result = team_add_member(&call, team, device->gpu, &complete);
    if (result == CUDA_ERROR_INVALID_DEVICE)
        cuda_diagnose(&call, object, ordinal, 0, "the device is of another clique than the members (cuda.clique_gpus)");
    if (result == CUDA_SUCCESS)
        team_sync(&call, team);
    if (result == CUDA_SUCCESS && complete)
        team_ask_manager(&call, team); /* one request, answered later: adding never waits */
    CUDA_RETURN(call, result);
}
