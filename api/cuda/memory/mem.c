/* cuMemAlloc and its family. Small pieces are cut from slabs of one granule, as the real driver
 * does. */
#include "api/cuda/memory/mem.h"

#include <string.h>

#include "api/cuda/multicast/team.h"

typedef struct Slab {
    guint64 va;
    Phys *phys;
    int device;
    RangeKind kind;
    guint32 handle_types;
    guint64 used; /* bytes that ranges take */
    guint8 taken[SLAB_BYTES / ALLOC_ALIGNMENT];
} Slab;

static CUresult phys_on(Call *call, int device, guint64 bytes, guint32 handle_types, Phys **phys)
{
    PhysPage page = {.bytes = bytes,
                     .location_type = CU_MEM_LOCATION_TYPE_DEVICE,
                     .location_id = call->cuda->device[device].gpu,
                     .handle_types = handle_types};
    return phys_new(call, &page, phys);
}

static guint64 round_up(guint64 bytes, guint64 to) { return (bytes + to - 1) / to * to; }

/* First fit; FALSE: no room. */
static gboolean slab_take(Slab *slab, guint64 bytes, guint64 *offset)
{
    guint n = (guint)(round_up(bytes, ALLOC_ALIGNMENT) / ALLOC_ALIGNMENT);
    guint run = 0;

    for (guint i = 0; i < G_N_ELEMENTS(slab->taken); i++) {
        run = slab->taken[i] ? 0 : run + 1;
        if (run < n)
            continue;
        guint first = i + 1 - n;
        memset(slab->taken + first, 1, n);
        slab->used += (guint64)n * ALLOC_ALIGNMENT;
        *offset = (guint64)first * ALLOC_ALIGNMENT;
        return TRUE;
    }
    return FALSE;
}

static void slab_give(Call *call, Slab *slab, guint64 offset, guint64 bytes)
{
    guint n = (guint)(round_up(bytes, ALLOC_ALIGNMENT) / ALLOC_ALIGNMENT);

    memset(slab->taken + offset / ALLOC_ALIGNMENT, 0, n);
    slab->used -= (guint64)n * ALLOC_ALIGNMENT;
    if (slab->used > 0)
        return;
    g_ptr_array_remove(call->cuda->slabs, slab);
    range_release(slab->va, SLAB_BYTES);
    phys_unref(call, slab->phys);
    g_free(slab);
}

static CUresult slab_new(Call *call, RangeKind kind, int device, guint32 handle_types, Slab **slab)
{
    Slab *made = g_new0(Slab, 1);
    CUresult result = phys_on(call, device, SLAB_BYTES, handle_types, &made->phys);

    if (result == CUDA_SUCCESS && (made->va = range_reserve(call->cuda->ranges, SLAB_BYTES, SLAB_BYTES, 0)) == 0) {
        phys_unref(call, made->phys);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS) {
        g_free(made);
        return result;
    }
    made->device = device;
    made->kind = kind;
    made->handle_types = handle_types;
    g_ptr_array_add(call->cuda->slabs, made);
    *slab = made;
    return CUDA_SUCCESS;
}

static CUresult piece_new(Call *call, RangeKind kind, int device, guint64 bytes, guint32 handle_types, Range **range)
{
    guint64 offset = 0;
    Slab *slab = NULL;

    for (guint i = 0; i < call->cuda->slabs->len && !slab; i++) {
        Slab *s = g_ptr_array_index(call->cuda->slabs, i);
        if (s->device == device && s->kind == kind && s->handle_types == handle_types && slab_take(s, bytes, &offset))
            slab = s;
    }
    if (!slab) {
        CUresult result = slab_new(call, kind, device, handle_types, &slab);
        if (result != CUDA_SUCCESS)
            return result;
        slab_take(slab, bytes, &offset);
    }
    *range = vmm_enter(call, kind, slab->va + offset, bytes, slab->phys, NULL, offset);
    (*range)->slab = slab;
    return CUDA_SUCCESS;
}

static CUresult whole_new(Call *call, RangeKind kind, int device, guint64 bytes, guint32 handle_types, Range **range)
{
    guint64 whole = round_up(bytes, VMM_GRANULARITY);
    Phys *phys;
    CUresult result = phys_on(call, device, whole, handle_types, &phys);

    if (result != CUDA_SUCCESS)
        return result;
    guint64 va = range_reserve(call->cuda->ranges, whole, VMM_GRANULARITY, 0);
    if (va != 0)
        *range = vmm_enter(call, kind, va, bytes, phys, NULL, 0);
    phys_unref(call, phys);
    return va != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult device_memory_new(Call *call, RangeKind kind, int device, guint64 bytes, guint32 handle_types, Range **range)
{
    CUresult result;

    if (bytes > call->cuda->device[device].total_bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = bytes <= SLAB_BYTES / 2 ? piece_new(call, kind, device, bytes, handle_types, range)
                                     : whole_new(call, kind, device, bytes, handle_types, range);
    if (result != CUDA_SUCCESS)
        return result;
    vmm_set_access(call, *range, device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    for (guint i = 0; i < call->cuda->n_devices; i++)
        if (kind == RANGE_ALLOC && call->cuda->device[device].peer_access[i])
            vmm_set_access(call, *range, (int)i, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    return CUDA_SUCCESS;
}

void memory_free_range(Call *call, Range *range)
{
    Slab *slab = range->slab;
    guint64 va = range->va, bytes = range->bytes, offset = range->offset;

    vmm_leave(call, range);
    if (slab)
        slab_give(call, slab, offset, bytes);
    else
        range_release(va, round_up(bytes, VMM_GRANULARITY));
}

CUresult memory_wait_device(Call *call)
{
    EngineRequest request = {.op = ENGINE_WAIT_CONTEXT}; /* of every context */
    return engine_wait(call, &request);
}

static CUresult alloc(Call *call, CUdeviceptr *address, guint64 bytes)
{
    Context *context;
    Range *range;

    if (!address || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = context_need(call, &context);
    if (result == CUDA_SUCCESS)
        result = device_memory_new(call, RANGE_ALLOC, context->device, bytes, 0, &range);
    if (result != CUDA_SUCCESS)
        return result;
    range->context = context->id;
    *address = range->va;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    CUDA_BEGIN(call);
    CUDA_RETURN(call, alloc(&call, address, bytes));
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned int element_bytes)
{
    CUDA_BEGIN(call);
    if (!pitch || width == 0 || height == 0 || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    guint64 row = round_up(width, ALLOC_ALIGNMENT);
    if (row < width || height > G_MAXUINT64 / row)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = alloc(&call, address, row * height);
    if (result == CUDA_SUCCESS)
        *pitch = row;
    CUDA_RETURN(call, result);
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    Context *context;
    CUDA_BEGIN(call);

    if (address == 0)
        CUDA_RETURN(call, CUDA_SUCCESS);
    CUresult result = context_need(&call, &context);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    Range *range = range_find(call.cuda->ranges, address);
    if (!range || range->va != address || range->freed || range->of_module || range->opened != 0 ||
        (range->kind != RANGE_ALLOC && range->kind != RANGE_POOL)) {
        cuda_diagnose(&call, 0, -1, address, "not the start of an allocation");
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    }
    result = memory_wait_device(&call);
    range = range_find(call.cuda->ranges, address);
    if (!range || range->va != address) /* freed by another thread meanwhile */
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    if (range->kind == RANGE_POOL)
        pool_forget(&call, range);
    memory_free_range(&call, range);
    CUDA_RETURN(call, result);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    Context *context;
    CUDA_BEGIN(call);

    if (!free_bytes || !total_bytes)
        CUDA_RETURN(call, CUDA_ERROR_INVALID_VALUE);
    CUresult result = context_need(&call, &context);
    if (result != CUDA_SUCCESS)
        CUDA_RETURN(call, result);
    const CudaDevice *device = &call.cuda->device[context->device];
    team_sweep(&call);
    *total_bytes = device->total_bytes;
    *free_bytes = device->total_bytes - MIN(cuda_device_used(call.cuda, device), device->total_bytes);
    CUDA_RETURN(call, CUDA_SUCCESS);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    CUDA_BEGIN(call);
    Range *range = range_find(call.cuda->ranges, address);

    if (!range || range->freed)
        CUDA_RETURN(call, CUDA_ERROR_NOT_FOUND); /* source: h200/driver.csv */
    if (base)
        *base = range->va;
    if (bytes)
        *bytes = range->bytes;
    CUDA_RETURN(call, CUDA_SUCCESS);
}

static gboolean visit_peer(gpointer key, gpointer value, gpointer user)
{
    Range *range = value;
    GPtrArray *found = user;
    (void)key;
    g_ptr_array_add(found, range);
    return FALSE;
}

void memory_peer_access(Call *call, int home, int accessor, gboolean on)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    guint32 *count = &call->cuda->device[home].peer_access[accessor];

    *count += on ? 1u : -1u;
    g_tree_foreach(call->cuda->ranges->mapped, visit_peer, all);
    for (guint i = 0; i < all->len; i++) {
        Range *range = g_ptr_array_index(all, i);
        if (range->kind == RANGE_ALLOC && range->device == home)
            vmm_set_access(call, range, accessor, *count > 0 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : 0);
    }
}

void memory_context_gone(Call *call, Context *context)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();

    g_tree_foreach(call->cuda->ranges->mapped, visit_peer, all);
    for (guint i = 0; i < all->len; i++) {
        Range *range = g_ptr_array_index(all, i);
        if (range->kind == RANGE_ALLOC && range->context == context->id)
            memory_free_range(call, range);
    }
}
