/* Shareable handles: a descriptor of the memfd behind memory or a multicast object, or 64 bytes
 * that name one.
 *
 * A fabric handle names the exporting process and its descriptor; the importer opens it through
 * /proc, which reaches processes of this machine only. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "api/cuda/memory/vmm.h"

#define FABRIC_MAGIC 0x3043494252424146ull

typedef struct {
    guint64 magic;
    guint64 identity[2];
    gint32 pid;
    gint32 fd;
} FabricName;
G_STATIC_ASSERT(sizeof(FabricName) <= sizeof(CUmemFabricHandle));

typedef struct {
    int fd;
    const guint64 *identity;
    guint64 types;    /* declared at creation */
    gboolean foreign; /* came by a fabric handle: only the creator may export it */
} Shared;

static gboolean find_shared(Call *call, guint64 handle, Shared *shared)
{
    if (handle_kind(call->cuda->handles, handle) == HANDLE_MULTICAST) {
        Team *team = vmm_team(call, handle);
        *shared = (Shared){team->fd, team->identity, team->handle_types, team->by_fabric};
        return TRUE;
    }
    MemoryHandle *memory = vmm_memory(call, handle);
    if (!memory)
        return FALSE;
    *shared = (Shared){memory->phys->fd, memory->phys->identity, memory->phys->page.handle_types, memory->by_fabric};
    return TRUE;
}

/* From now on waits look whether another process wrote what they wait for. */
static void tell_engine(Call *call)
{
    EngineRequest request = {.op = ENGINE_SHARED};
    cuda_engine(call, &request, NULL);
}

static gboolean one_bit(int type)
{
    return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || type == CU_MEM_HANDLE_TYPE_FABRIC;
}

CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags)
{
    Shared shared;
    CUDA_BEGIN(call);

    if (!find_shared(&call, handle, &shared) || !shareable || flags != 0 || !one_bit(type) ||
        !(shared.types & (guint64)type))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (shared.foreign)
        CUDA_RETURN(call, CUDA_ERROR_NOT_SUPPORTED);
    tell_engine(&call);
    if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        int fd = fcntl(shared.fd, F_DUPFD_CLOEXEC, 3);
        if (fd < 0)
            CUDA_RETURN(call, CUDA_ERROR_OPERATING_SYSTEM);
        memcpy(shareable, &fd, sizeof fd);
        CUDA_RETURN(call, CUDA_SUCCESS);
    }
    FabricName name = {FABRIC_MAGIC, {shared.identity[0], shared.identity[1]}, getpid(), shared.fd};
    memset(shareable, 0, sizeof(CUmemFabricHandle));
    memcpy(shareable, &name, sizeof name);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static CUresult open_fabric(const void *shareable, int *fd)
{
    FabricName name;

    memcpy(&name, shareable, sizeof name);
    if (name.magic != FABRIC_MAGIC)
        return CUDA_ERROR_INVALID_VALUE;
    *fd = shared_file_open(name.pid, name.fd, name.identity);
    if (*fd >= 0)
        return CUDA_SUCCESS;
    return errno == EACCES || errno == EPERM ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_INVALID_VALUE;
}

/* The creator gave its reference back. By cuda.h the object lives while a descriptor of it is open, and mscclpp relies
 * on that where no fabric handles are to be had: its creator releases the handle once it is exported. PyTorch says that
 * the importer gets a new, empty object, on which every rank then waits for ever. Refused, or as either says. */
static CUresult late(Call *call, Team **team, int fd)
{
    CUmulticastObjectProp prop = {
        .numDevices = (*team)->n_devices, .size = (*team)->bytes, .handleTypes = (*team)->handle_types};

    if (call->cuda->spec.late_import == CUDA_LATE_IMPORT_JOIN)
        return CUDA_SUCCESS;
    cuda_diagnose(call, (*team)->handle, -1, 0,
                  "import of a multicast object after its creator released it: descriptor %d; "
                  "cuda.late_import=join lets it join, as mscclpp needs",
                  fd);
    team_unref(call, *team);
    if (call->cuda->spec.late_import == CUDA_LATE_IMPORT_REFUSE)
        return CUDA_ERROR_INVALID_VALUE;
    return team_new(call, &prop, team);
}

static gboolean creator_lives(const Team *team) { return shared_file_holder_lives(team->creator_pid); }

/* Descriptors do not leave their host. */
static gboolean is_of_this_host(Call *call, int type, guint32 tray)
{
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || tray == call->cuda->tray)
        return TRUE;
    cuda_diagnose(call, 0, -1, 0,
                  "a descriptor of tray %u does not reach tray %u: share it by a fabric handle (cuda.imex_channel)",
                  tray, call->cuda->tray);
    return FALSE;
}

static CUresult import_team(Call *call, int fd, int type, guint64 *handle)
{
    Team *team;
    CUresult result = team_import(call, fd, &team);

    if (result != CUDA_SUCCESS)
        return result;
    if (team->kind != ENGINE_OBJECT_MULTICAST || !(team->handle_types & (guint64)type) ||
        !is_of_this_host(call, type, team->page->tray)) {
        team_unref(call, team);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (team->page->closed || !creator_lives(team))
        result = late(call, &team, fd);
    if (result != CUDA_SUCCESS)
        return result;
    team->by_fabric |= team->imported && type == CU_MEM_HANDLE_TYPE_FABRIC;
    *handle = handle_new(call->cuda->handles, HANDLE_MULTICAST, team);
    team_name(call, team, *handle);
    return CUDA_SUCCESS;
}

static CUresult import_memory(Call *call, int fd, int type, guint64 *handle)
{
    Phys *phys;
    CUresult result = phys_import(call, fd, &phys);

    if (result != CUDA_SUCCESS)
        return result;
    if (!(phys->page.handle_types & (guint32)type) || !is_of_this_host(call, type, phys->page.tray)) {
        phys_unref(call, phys);
        return CUDA_ERROR_INVALID_VALUE;
    }
    MemoryHandle *memory = vmm_memory_new(phys);
    memory->by_fabric = phys->imported && type == CU_MEM_HANDLE_TYPE_FABRIC;
    *handle = handle_new(call->cuda->handles, HANDLE_MEMORY, memory);
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                        CUmemAllocationHandleType type)
{
    CUresult result;
    guint64 made = 0;
    int fd;
    CUDA_BEGIN(call);

    if (!handle || !one_bit(type))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (type == CU_MEM_HANDLE_TYPE_FABRIC) {
        if (!shareable)
            CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
        if (!call.cuda->spec.imex_channel)
            CUDA_RETURN(call, CUDA_ERROR_NOT_PERMITTED);
        result = open_fabric(shareable, &fd);
        if (result != CUDA_SUCCESS)
            CUDA_RETURN(call, result);
    } else {
        fd = (int)(guintptr)shareable;
        if (fcntl(fd, F_GETFD) < 0)
            CUDA_RETURN(call, CUDA_ERROR_UNKNOWN); /* source: h200/driver.csv, a closed fd */
    }
    result = import_team(&call, fd, type, &made);
    if (result == CUDA_ERROR_INVALID_VALUE && made == 0 && !team_is_fd(fd))
        result = import_memory(&call, fd, type, &made);
    if (type == CU_MEM_HANDLE_TYPE_FABRIC)
        close(fd);
    if (result == CUDA_SUCCESS) {
        tell_engine(&call);
        *handle = made;
    }
    CUDA_RETURN(call, result);
}
