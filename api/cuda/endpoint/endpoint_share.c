/* Logical endpoints between processes: 64 bytes that name the exporting process and its descriptor of the shared page,
 * as fabric handles of memory do (api/cuda/memory/share.c). */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api/cuda/endpoint/endpoint.h"

#define ENDPOINT_MAGIC 0x30504c45444e4146ull

typedef struct {
    guint64 magic;
    guint64 identity[2];
    gint32 pid;
    gint32 fd;
} EndpointName;
G_STATIC_ASSERT(sizeof(EndpointName) <= sizeof(CUlogicalEndpointFabricHandle));

/* From now on waits look whether another process wrote what they wait for. */
static void tell_engine(Call *call)
{
    EngineRequest request = {.op = ENGINE_SHARED};
    cuda_engine(call, &request, NULL);
}

CUresult cuLogicalEndpointExport(void *handle, CUlogicalEndpointId id, CUlogicalEndpointIpcHandleType type)
{
    CUDA_BEGIN(call);
    CUresult result = endpoint_supported(call.cuda);
    const Endpoint *entry = result == CUDA_SUCCESS ? endpoint_find(&call, id) : NULL;

    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    if (!entry || !handle || type != CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC || entry->team->handle_types == 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (entry->imported)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    tell_engine(&call);
    const Team *team = entry->team;
    EndpointName name = {ENDPOINT_MAGIC, {team->identity[0], team->identity[1]}, getpid(), team->fd};
    memset(handle, 0, sizeof(CUlogicalEndpointFabricHandle));
    memcpy(handle, &name, sizeof name);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static CUresult open_name(const void *handle, int *fd)
{
    EndpointName name;

    memcpy(&name, handle, sizeof name);
    if (name.magic != ENDPOINT_MAGIC)
        return CUDA_ERROR_INVALID_VALUE;
    *fd = shared_file_open(name.pid, name.fd, name.identity);
    if (*fd >= 0)
        return CUDA_SUCCESS;
    return errno == EACCES || errno == EPERM ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_INVALID_VALUE;
}

/* The page behind a descriptor is an endpoint that this process can have. */
static CUresult check_team(Call *call, const Team *team)
{
    if (team->kind == ENGINE_OBJECT_MULTICAST || team->handle_types == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (team->kind == ENGINE_OBJECT_ENDPOINT_MULTICAST && !call->cuda->multicast)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!team->page->closed && shared_file_holder_lives(team->creator_pid))
        return CUDA_SUCCESS;
    cuda_diagnose(call, team->handle, -1, 0, "import of an endpoint after its creator destroyed it");
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult import(Call *call, CUlogicalEndpointId id, const void *handle, CUlogicalEndpointIpcHandleType type)
{
    Team *team;
    int fd;

    if (!endpoint_room(call, id) || !handle || type != CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC)
        return CUDA_ERROR_INVALID_VALUE;
    if (!call->cuda->spec.imex_channel)
        return CUDA_ERROR_NOT_PERMITTED;
    CUresult result = open_name(handle, &fd);
    if (result != CUDA_SUCCESS)
        return result;
    result = team_import(call, fd, &team);
    close(fd);
    if (result != CUDA_SUCCESS)
        return result == CUDA_ERROR_OUT_OF_MEMORY ? result : CUDA_ERROR_INVALID_VALUE;
    result = check_team(call, team);
    if (result != CUDA_SUCCESS) {
        team_unref(call, team);
        return result;
    }
    tell_engine(call);
    endpoint_enter(call, id, team, TRUE);
    return CUDA_SUCCESS;
}

CUresult cuLogicalEndpointImport(CUlogicalEndpointId id, const void *handle, CUlogicalEndpointIpcHandleType type)
{
    CUDA_BEGIN(call);
    CUresult result = endpoint_supported(call.cuda);
    CUDA_RETURN(call, result == CUDA_SUCCESS ? import(&call, id, handle, type) : result);
}
