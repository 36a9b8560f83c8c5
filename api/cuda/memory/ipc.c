/* Memory of cuMemAlloc in other processes of the machine: 64 bytes name the process, its descriptor of the memory, and
 * where in it the allocation lies. A process that opens them maps the same bytes, as an import of a fabric handle does.
 * Events between processes are in api/cuda/stream/event_ipc.c. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api/cuda/memory/mem.h"
#include "api/cuda/memory/vmm.h"

#define IPC_MAGIC 0x304350494e4146ull

typedef struct {
    guint64 magic;
    guint64 identity[2];
    guint64 offset, bytes;
    gint32 pid, fd;
} IpcName;
G_STATIC_ASSERT(sizeof(IpcName) <= sizeof(CUipcMemHandle));

/* From now on waits look whether another process wrote what they wait for. */
static void tell_engine(Call *call)
{
    EngineRequest request = {.op = ENGINE_SHARED};
    cuda_engine(call, &request, NULL);
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    Context *context;
    CUDA_BEGIN(call);

    CUresult result = context_need(&call, &context);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    const Range *range = range_find(call.cuda->ranges, address);
    if (!handle || !range || range->kind != RANGE_ALLOC || range->of_module || range->managed || range->opened != 0 ||
        range->freed)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    tell_engine(&call);
    IpcName name = {IPC_MAGIC,     {range->phys->identity[0], range->phys->identity[1]},
                    range->offset, range->bytes,
                    getpid(),      range->phys->fd};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &name, sizeof name);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

/* What this context has opened already of the same allocation; NULL: nothing. */
static Range *opened_before(Call *call, const IpcName *name, const Context *context)
{
    for (Range *range = range_next(call->cuda->ranges, 0); range; range = range_next(call->cuda->ranges, range->va + 1))
        if (range->opened != 0 && range->context == context->id && range->offset == name->offset &&
            identity_equal(range->phys->identity, name->identity))
            return range;
    return NULL;
}

static CUresult map_opened(Call *call, const IpcName *name, Phys *phys, const Context *context, Range **range)
{
    guint64 whole = (name->bytes + VMM_GRANULARITY - 1) / VMM_GRANULARITY * VMM_GRANULARITY;

    if (!phys_is_device(phys) || name->bytes == 0 || name->offset > phys->page.bytes ||
        name->bytes > phys->page.bytes - name->offset)
        return CUDA_ERROR_INVALID_VALUE;
    guint64 va = range_reserve(call->cuda->ranges, whole, VMM_GRANULARITY, 0);
    if (va == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *range = vmm_enter(call, RANGE_ALLOC, va, name->bytes, phys, NULL, name->offset);
    (*range)->context = context->id;
    vmm_set_access(call, *range, context->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags)
{
    Context *context;
    IpcName name;
    Phys *phys;
    CUDA_BEGIN(call);

    CUresult result = context_need(&call, &context);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    memcpy(&name, &handle, sizeof name);
    if (!address || (flags & ~CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != 0 || name.magic != IPC_MAGIC)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (name.pid == getpid())
        CUDA_RETURN(call, CUDA_ERROR_INVALID_CONTEXT); /* its own memory: as real drivers answer */
    Range *range = opened_before(&call, &name, context);
    if (!range) {
        int fd = shared_file_open(name.pid, name.fd, name.identity);
        if (fd < 0)
            CUDA_RETURN(call, errno == EACCES || errno == EPERM ? CUDA_ERROR_NOT_PERMITTED : CUDA_ERROR_INVALID_VALUE);
        result = phys_import(&call, fd, &phys);
        close(fd);
        if (result != CUDA_SUCCESS)
            CUDA_RETURN(call, result);
        if (phys->page.tray != call.cuda->tray) { /* of another host: cuIpc is for one */
            phys_unref(&call, phys);
            CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
        }
        tell_engine(&call);
        result = map_opened(&call, &name, phys, context, &range);
        phys_unref(&call, phys);
        if (result != CUDA_SUCCESS)
            CUDA_RETURN(call, result);
    }
    range->opened++;
    *address = range->va;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

#undef cuIpcOpenMemHandle
CUDA_ALIAS_PTSZ CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags);
CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags)
{
    return cuIpcOpenMemHandle_v2(address, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    CUDA_BEGIN(call);

    Range *range = range_find(call.cuda->ranges, address);
    if (!range || range->va != address || range->opened == 0)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = memory_wait_device(&call);
    range = range_find(call.cuda->ranges, address);
    if (!range || range->va != address || range->opened == 0) /* closed by another thread meanwhile */
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (--range->opened == 0)
        memory_free_range(&call, range);
    CUDA_RETURN(call, result);
}
