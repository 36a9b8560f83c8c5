/* Host memory that the program registers: its own bytes, which kernels reach where they are.
 *
 * Left out: a lock of read-modify-writes between processes that have registered the same file, whose atomics from
 * devices are those of a bus, not of an L2. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/cuda/memory/host_maps.h"
#include "api/cuda/memory/mem.h"

static guint64 page_bytes(void) { return (guint64)sysconf(_SC_PAGESIZE); }
static guint64 page_down(guint64 va) { return va / page_bytes() * page_bytes(); }

/* Whether the program may read (and write) all bytes, and whether other processes may have some of them. */
static gboolean host_has(guint64 va, guint64 bytes, gboolean write, gboolean *shared)
{
    g_autofree char *text = NULL;
    guint64 at = va;
    HostMapsLine line;

    *shared = FALSE;
    if (!g_file_get_contents("/proc/self/maps", &text, NULL, NULL)) /* then it is believed */
        return TRUE;
    for (const char *rest = text; at < va + bytes && host_maps_next(&rest, &line);) {
        if (line.to <= at)
            continue;
        if (line.from > at || line.rights[0] != 'r' || (write && line.rights[1] != 'w'))
            return FALSE;
        *shared |= line.rights[3] == 's';
        at = line.to;
    }
    return at >= va + bytes;
}

/* The program's own bytes are what kernels reach: no copy could be as current. They are given to the engine by pages,
 * which a sector never leaves. */
CUresult host_register(Call *call, const Context *context, guint64 va, guint64 bytes, unsigned int flags)
{
    gboolean write = !(flags & CU_MEMHOSTREGISTER_READ_ONLY);
    guint64 first = page_down(va);
    EngineRequest request = {.op = ENGINE_REGION_NEW,
                             .source = first,
                             .gpu = MEMORY_HOST,
                             .bytes = page_down(va + bytes - 1) - first + page_bytes()};
    EngineReply reply;
    gboolean shared;

    if (!host_has(va, bytes, write, &shared)) {
        cuda_diagnose(call, 0, -1, va, "registration of memory that the program itself may not read and write");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!cuda_engine(call, &request, &reply))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const Range as = {.va = va,
                      .bytes = bytes,
                      .kind = RANGE_REGISTERED,
                      .device = -1,
                      .context = context->id,
                      .buffer_id = call->cuda->next_id++,
                      .flags = flags | CU_MEMHOSTALLOC_DEVICEMAP,
                      .region = (guint32)reply.value,
                      .host_access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    Range *range = range_new(&as, call->cuda->n_devices);
    EngineRequest map = {
        .op = ENGINE_MAP, .address = va, .bytes = bytes, .offset = va - first, .region = range->region};
    cuda_engine(call, &map, NULL);
    range_insert(call->cuda->ranges, range);
    call->cuda->n_registered++;
    for (guint i = 0; i < call->cuda->n_devices; i++)
        vmm_set_access(call, range, (int)i, write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ);
    EngineRequest others = {.op = ENGINE_SHARED};
    if (shared)
        cuda_engine(call, &others, NULL);
    return CUDA_SUCCESS;
}

void host_forget(Call *call, Range *range)
{
    call->cuda->n_registered--;
    vmm_leave(call, range);
}

static gboolean add_unmapped(gpointer va, gpointer data, gpointer gone)
{
    const Range *range = data;
    guint64 first = page_down(range->va);

    (void)va;
    if (range->kind == RANGE_REGISTERED &&
        msync((void *)(guintptr)first, range->va + range->bytes - first, MS_ASYNC) != 0 && errno == ENOMEM)
        g_ptr_array_add(gone, data);
    return FALSE;
}

/* Pages stay pinned on real machines; here they are the program's, and gone. */
void host_look_at_registered(Call *call)
{
    g_autoptr(GPtrArray) gone = g_ptr_array_new();

    if (call->cuda->n_registered == 0)
        return;
    g_tree_foreach(call->cuda->ranges->mapped, add_unmapped, gone);
    for (guint i = 0; i < gone->len; i++) {
        Range *range = g_ptr_array_index(gone, i);
        cuda_diagnose(call, 0, -1, range->va, "registered memory was unmapped before cuMemHostUnregister");
        host_forget(call, range);
    }
}
