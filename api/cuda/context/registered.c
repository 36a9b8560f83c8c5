/* Host memory that the program registers: its own bytes, which kernels reach where they are.
 *
 * Left out: a lock of read-modify-writes between processes that have registered the same file, whose atomics from
 * devices are those of a bus, not of an L2. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/cuda/memory/mem.h"

static guint64 page_bytes(void) { return (guint64)sysconf(_SC_PAGESIZE); }
static guint64 page_down(guint64 va) { return va / page_bytes() * page_bytes(); }

/* A line of /proc/PID/maps. */
typedef struct {
    guint64 from, to;
    char rights[5], device[16];
    guint64 inode;
} Line;

/* The line at *text, which goes on behind it; FALSE: that was the last one. */
static gboolean maps_next(const char **text, Line *line)
{
    while (*text != NULL && **text != '\0') {
        int fields =
            sscanf(*text, "%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x %4s %*x %15s %" G_GINT64_MODIFIER "u",
                   &line->from, &line->to, line->rights, line->device, &line->inode);
        const char *end = strchr(*text, '\n');
        *text = end != NULL ? end + 1 : NULL;
        if (fields == 5)
            return TRUE;
    }
    return FALSE;
}

/* Whether the program may read (and write) all bytes, and whether other processes may have some of them. */
static gboolean host_has(guint64 va, guint64 bytes, gboolean write, gboolean *shared)
{
    g_autofree char *text = NULL;
    guint64 at = va;
    Line line;

    *shared = FALSE;
    if (!g_file_get_contents("/proc/self/maps", &text, NULL, NULL)) /* then it is believed */
        return TRUE;
    for (const char *rest = text; at < va + bytes && maps_next(&rest, &line);) {
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
    EngineRequest request = {.op = ENGINE_REGION_NEW, .source = first, .gpu = MEMORY_HOST,
                             .bytes = page_down(va + bytes - 1) - first + page_bytes()};
    EngineReply reply;
    gboolean shared;

    if (!host_has(va, bytes, write, &shared)) {
        cuda_diagnose(call, 0, -1, va, "registration of memory that the program itself may not read and write");
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!cuda_engine(call, &request, &reply))
        return CUDA_ERROR_OUT_OF_MEMORY;
    const Range as = {.va = va, .bytes = bytes, .kind = RANGE_REGISTERED, .device = -1, .context = context->id,
                      .buffer_id = call->cuda->next_id++, .flags = flags | CU_MEMHOSTALLOC_DEVICEMAP,
                      .region = (guint32)reply.value, .host_access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    Range *range = range_new(&as, call->cuda->n_devices);
    EngineRequest map = {.op = ENGINE_MAP, .address = va, .bytes = bytes, .offset = va - first,
                         .region = range->region};
    cuda_engine(call, &map, NULL);
    range_insert(call->cuda->ranges, range);
    call->cuda->n_registered++;
    for (guint i = 0; i < call->cuda->n_devices; i++)
        vmm_set_access(call, range, (int)i,
                       write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ);
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

/* ---- other processes */

static gboolean add_shared(gpointer va, gpointer data, gpointer user)
{
    const Range *range = data;
    gpointer *with = user; /* text of the own mappings, GPtrArray of "DEVICE INODE" */
    Line line;

    (void)va;
    for (const char *rest = with[0]; range->kind == RANGE_REGISTERED && maps_next(&rest, &line);)
        if (line.rights[3] == 's' && line.from < range->va + range->bytes && line.to > range->va)
            g_ptr_array_add(with[1], g_strdup_printf("%s %" G_GUINT64_FORMAT, line.device, line.inode));
    return FALSE;
}

static gboolean has_one(const char *maps, const GPtrArray *files)
{
    Line line;

    while (maps_next(&maps, &line)) {
        char file[40];
        g_snprintf(file, sizeof file, "%s %" G_GUINT64_FORMAT, line.device, line.inode);
        for (guint i = 0; line.rights[3] == 's' && i < files->len; i++)
            if (!strcmp(file, g_ptr_array_index(files, i)))
                return TRUE;
    }
    return FALSE;
}

gboolean host_held_elsewhere(const Cuda *cuda)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *own = NULL, *self = g_strdup_printf("%d", getpid());
    gpointer with[] = {NULL, files};
    const char *name;
    gboolean found = FALSE;

    if (cuda->n_registered == 0 || !g_file_get_contents("/proc/self/maps", &own, NULL, NULL))
        return FALSE;
    with[0] = own;
    g_tree_foreach(cuda->ranges->mapped, add_shared, with);
    GDir *processes = files->len > 0 ? g_dir_open("/proc", 0, NULL) : NULL;
    while (processes != NULL && !found && (name = g_dir_read_name(processes)) != NULL) {
        g_autofree char *path = g_strdup_printf("/proc/%s/maps", name), *maps = NULL;
        if (g_ascii_isdigit(name[0]) && strcmp(name, self) != 0 && g_file_get_contents(path, &maps, NULL, NULL))
            found = has_one(maps, files);
    }
    g_clear_pointer(&processes, g_dir_close);
    return found;
}
