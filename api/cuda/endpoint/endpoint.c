/* Logical endpoints: identifiers, creation, members, readiness. See endpoint.h. */
#include "api/cuda/endpoint/endpoint.h"

#include "api/cuda/stream/submit.h"

#include <unistd.h>

#define KNOWN_TYPES ((unsigned)CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC)
#define KNOWN_FLAGS ((unsigned)CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS)
#define FIRST_ID 1u /* 0, which a program has that forgot to reserve, leads nowhere */

CUresult endpoint_supported(const Cuda *cuda)
{
    return cuda_spec_endpoints(&cuda->spec) ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- identifiers */

static Endpoint *entry_of(const Cuda *cuda, guint64 id)
{
    if (!cuda->endpoints || id >= cuda->endpoints->len)
        return NULL;
    Endpoint *entry = &g_array_index(cuda->endpoints, Endpoint, id);
    return entry->reserved ? entry : NULL;
}

Endpoint *endpoint_find(Call *call, CUlogicalEndpointId id)
{
    Endpoint *entry = entry_of(call->cuda, id);

    if (entry && entry->team)
        return entry;
    cuda_diagnose(call, 0, -1, 0, "endpoint %u %s", id,
                  entry ? "was reserved, but neither created nor imported" : "was not reserved");
    return NULL;
}

Endpoint *endpoint_room(Call *call, CUlogicalEndpointId id)
{
    Endpoint *entry = entry_of(call->cuda, id);

    if (entry && !entry->team)
        return entry;
    cuda_diagnose(call, 0, -1, 0, "endpoint %u %s", id, entry ? "is there already" : "was not reserved");
    return NULL;
}

void endpoint_tell(Call *call, CUlogicalEndpointId id)
{
    const Endpoint *entry = entry_of(call->cuda, id);
    const Team *team = entry->team;
    guint32 flags = (team && team->kind == ENGINE_OBJECT_ENDPOINT_MULTICAST ? ENDPOINT_MULTICAST : 0) |
                    (team && (team->flags & CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS) ? ENDPOINT_COUNTED : 0) |
                    (entry->ready ? ENDPOINT_READY : 0);
    EngineRequest request = {
        .op = ENGINE_ENDPOINT_SET, .value = id, .object = team ? team->object : 0, .access = flags};

    cuda_engine(call, &request, NULL);
}

void endpoint_enter(Call *call, CUlogicalEndpointId id, Team *team, gboolean imported)
{
    Endpoint *entry = entry_of(call->cuda, id);

    *entry = (Endpoint){.reserved = TRUE, .imported = imported, .team = team};
    team_name(call, team, id);
    team_sync(call, team);
    endpoint_tell(call, id);
}

/* The lowest identifier from which on so many are free; ENDPOINT_IDS_MAX: there is none. */
static guint32 find_row(const Cuda *cuda, guint32 count)
{
    guint32 first = FIRST_ID;

    for (guint32 id = FIRST_ID; id < ENDPOINT_IDS_MAX && id - first < count; id++)
        if (entry_of(cuda, id))
            first = id + 1;
    return count <= ENDPOINT_IDS_MAX - first ? first : ENDPOINT_IDS_MAX;
}

CUresult cuLogicalEndpointIdReserve(CUlogicalEndpointId *id, cuuint32_t count)
{
    CUDA_BEGIN(call);
    Cuda *cuda = call.cuda;
    CUresult result = endpoint_supported(cuda);

    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (!id || count == 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    guint32 first = find_row(cuda, count);
    if (first == ENDPOINT_IDS_MAX)
        CUDA_RETURN(call, CUDA_ERROR_OUT_OF_MEMORY);
    if (!cuda->endpoints)
        cuda->endpoints = g_array_new(FALSE, TRUE, sizeof(Endpoint));
    if (cuda->endpoints->len < first + count)
        g_array_set_size(cuda->endpoints, first + count);
    for (guint32 i = first; i < first + count; i++)
        g_array_index(cuda->endpoints, Endpoint, i) = (Endpoint){.reserved = TRUE};
    EngineRequest request = {.op = ENGINE_ENDPOINT_RESERVE, .value = first, .bytes = count};
    cuda_engine(&call, &request, NULL);
    *id = first;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuLogicalEndpointIdRelease(CUlogicalEndpointId first, cuuint32_t count)
{
    CUDA_BEGIN(call);
    CUresult result = endpoint_supported(call.cuda);

    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (count == 0 || count > ENDPOINT_IDS_MAX)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (guint64 id = first; id < (guint64)first + count; id++) {
        const Endpoint *entry = entry_of(call.cuda, id);
        if (entry && !entry->team)
            continue;
        cuda_diagnose(&call, 0, -1, 0, "release of endpoint %" G_GUINT64_FORMAT ", which %s", id,
                      entry ? "lives: destroy it first" : "was not reserved");
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    }
    for (guint32 i = 0; i < count; i++)
        g_array_index(call.cuda->endpoints, Endpoint, first + i) = (Endpoint){0};
    EngineRequest request = {.op = ENGINE_ENDPOINT_RELEASE, .value = first, .bytes = count};
    cuda_engine(&call, &request, NULL);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* ---- creation */

CUresult endpoint_check(Call *call, const CUlogicalEndpointProp *prop, EngineObjectKind *kind, guint *team)
{
    Cuda *cuda = call->cuda;

    if ((prop->ipcHandleTypes & ~KNOWN_TYPES) != 0 || (prop->flags & ~KNOWN_FLAGS) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->type == CU_LOGICAL_ENDPOINT_TYPE_UNICAST) {
        if (!cuda_device(cuda, prop->unicast.device))
            return CUDA_ERROR_INVALID_VALUE; /* the pages list no INVALID_DEVICE */
        *kind = ENGINE_OBJECT_ENDPOINT_UNICAST;
        *team = 1;
    } else if (prop->type == CU_LOGICAL_ENDPOINT_TYPE_MULTICAST) {
        *team = prop->multicast.numDevices;
        if (*team == 0 || *team > TEAM_MEMBERS_MAX || (*team == 1 && !cuda->spec.multicast_single_member))
            return CUDA_ERROR_INVALID_VALUE;
        if (!cuda->multicast)
            return CUDA_ERROR_NOT_SUPPORTED;
        *kind = ENGINE_OBJECT_ENDPOINT_MULTICAST;
    } else {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return vmm_check_fabric(cuda, NULL, prop->ipcHandleTypes != 0 ? CU_MEM_HANDLE_TYPE_FABRIC : 0);
}

CUresult cuLogicalEndpointGetLimits(cuuint64_t *alignment, cuuint64_t *max_bytes, const CUlogicalEndpointProp *prop)
{
    EngineObjectKind kind;
    guint team;
    CUDA_BEGIN(call);
    CUresult result = endpoint_supported(call.cuda);

    if (result == CUDA_SUCCESS)
        result = alignment && max_bytes && prop ? endpoint_check(&call, prop, &kind, &team) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    *alignment = call.cuda->spec.endpoint_align_bytes;
    *max_bytes = call.cuda->spec.endpoint_max_bytes / *alignment * *alignment;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static CUresult create(Call *call, CUlogicalEndpointId id, const CUlogicalEndpointProp *prop)
{
    const CudaSpec *spec = &call->cuda->spec;
    EngineObjectKind kind = ENGINE_OBJECT_MULTICAST;
    guint members = 0;
    Team *team;

    if (!endpoint_room(call, id) || !prop)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = endpoint_check(call, prop, &kind, &members);
    if (result != CUDA_SUCCESS)
        return result;
    if (prop->size == 0 || !aligned(prop->size, spec->endpoint_align_bytes) || prop->size > spec->endpoint_max_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    const CUmulticastObjectProp as = {.numDevices = members,
                                      .size = prop->size,
                                      .handleTypes = prop->ipcHandleTypes != 0 ? CU_MEM_HANDLE_TYPE_FABRIC : 0};
    guint16 gpu = kind == ENGINE_OBJECT_ENDPOINT_UNICAST ? call->cuda->device[prop->unicast.device].gpu : 0;
    result = team_new_endpoint(call, &as, kind, prop->flags, gpu, &team);
    if (result != CUDA_SUCCESS)
        return result;
    team->creator_handle = id;
    endpoint_enter(call, id, team, FALSE);
    return CUDA_SUCCESS;
}

CUresult cuLogicalEndpointCreate(CUlogicalEndpointId id, const CUlogicalEndpointProp *prop)
{
    CUDA_BEGIN(call);
    CUresult result = endpoint_supported(call.cuda);
    CUDA_RETURN(call, result == CUDA_SUCCESS ? create(&call, id, prop) : result);
}

static CUresult add_device(Call *call, CUlogicalEndpointId id, CUdevice ordinal)
{
    Endpoint *entry = endpoint_find(call, id);
    gboolean complete;

    if (!entry || entry->team->kind != ENGINE_OBJECT_ENDPOINT_MULTICAST)
        return CUDA_ERROR_INVALID_VALUE;
    CudaDevice *device = cuda_device(call->cuda, ordinal);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!device->multicast)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (team_is_lost(call, entry->team) || cuda_manager(call->cuda, device->gpu) == CUDA_FM_RESTARTED)
        return CUDA_ERROR_INVALID_VALUE; /* as with multicast objects */
    CUresult result = team_add_member(call, entry->team, device->gpu, &complete);
    if (result == CUDA_ERROR_INVALID_DEVICE)
        cuda_diagnose(call, id, ordinal, 0, "endpoint %u: the device is of another clique (cuda.clique_gpus)", id);
    if (result != CUDA_SUCCESS)
        return result;
    team_sync(call, entry->team);
    if (complete)
        team_ask_manager(call, entry->team);
    return CUDA_SUCCESS;
}

CUresult cuLogicalEndpointAddDevice(CUlogicalEndpointId id, CUdevice ordinal)
{
    CUDA_BEGIN(call);
    call.device = ordinal;
    CUresult result = endpoint_supported(call.cuda);
    CUDA_RETURN(call, result == CUDA_SUCCESS ? add_device(&call, id, ordinal) : result);
}

/* ---- the end */

/* What this process has bound, on any device. */
static void unbind_own(Call *call, Team *team)
{
    gboolean any = FALSE;

    team_lock(team);
    for (guint32 i = 0; i < team_binds(team); i++) {
        if (team->page->bind[i].pid != getpid())
            continue;
        team_drop_bind(team, i--);
        any = TRUE;
    }
    if (any)
        team_changed(team);
    team_unlock(team);
    team_sync(call, team);
}

CUresult cuLogicalEndpointDestroy(CUlogicalEndpointId id)
{
    CUDA_BEGIN(call);
    CUresult result = endpoint_supported(call.cuda);
    Endpoint *entry = result == CUDA_SUCCESS ? endpoint_find(&call, id) : NULL;

    if (!entry)
        CUDA_RETURN(call, result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result);
    Team *team = entry->team;
    if (team->creator_handle == id && !entry->imported) { /* who imports from now on comes too late */
        team_lock(team);
        team->page->closed = 1;
        team_unlock(team);
    }
    *entry = (Endpoint){.reserved = TRUE};
    endpoint_tell(&call, id);
    unbind_own(&call, team);
    team_unref(&call, team);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* ---- readiness */

/* A device of this process that may use the endpoint: all of its devices are of one clique, and it is, too. */
static gboolean can_access(Call *call, Team *team)
{
    const CudaSpec *spec = &call->cuda->spec;
    gboolean any = FALSE;

    if (!team_is_one_clique(call, team))
        return FALSE;
    team_lock(team);
    const guint16 member = team->page->member[0];
    team_unlock(team);
    for (guint i = 0; i < call->cuda->n_devices && !any; i++)
        any = cuda_spec_clique(spec, call->cuda->device[i].gpu) == cuda_spec_clique(spec, member);
    return any;
}

static CUresult query_one(Call *call, CUlogicalEndpointId id, gboolean *ready)
{
    Endpoint *entry = endpoint_find(call, id);

    *ready = FALSE;
    if (!entry)
        return CUDA_ERROR_INVALID_VALUE;
    Team *team = entry->team;
    team_sync(call, team);
    *ready = entry->ready;
    if (*ready)
        return CUDA_SUCCESS;
    CUresult result = team_is_ready(call, team, ready);
    if (result != CUDA_SUCCESS || !*ready)
        return result;
    if (!can_access(call, team)) {
        cuda_diagnose(call, id, -1, 0, "endpoint %u cannot be reached by any device of this process", id);
        *ready = FALSE;
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    entry->ready = TRUE;
    endpoint_tell(call, id);
    return CUDA_SUCCESS;
}

/* What is not ready yet may be after the time of a query, so that loops which ask again and again end. */
static CUresult let_time_pass(Call *call)
{
    EngineRequest request = {.op = ENGINE_SLEEP};
    return engine_wait(call, &request);
}

CUresult cuLogicalEndpointQuery(CUlogicalEndpointId first, cuuint32_t count, int *status)
{
    gboolean all = TRUE;
    CUDA_BEGIN(call);
    CUresult result = endpoint_supported(call.cuda);

    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (!status || count == 0 || count > ENDPOINT_IDS_MAX || first >= ENDPOINT_IDS_MAX)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    for (guint32 i = 0; i < count && result == CUDA_SUCCESS; i++) {
        gboolean ready;
        result = query_one(&call, first + i, &ready);
        all &= ready;
    }
    if (result == CUDA_SUCCESS && !all)
        result = let_time_pass(&call);
    if (result == CUDA_SUCCESS)
        *status = all;
    CUDA_RETURN(call, result);
}
